"""The engine where precision is short: a square-root pass, one place after the other.

The plain smoother takes a variance as a difference and loses eps v / variance of its digits. Here every
covariance is a product of roots, and no difference is taken:

    P = S S'                   across a step by QR, through a site by Potter's update
    J = U U'                   the information of the future, U <- A' G R^-1 with R'R = I + G'QG, G = [U, H' W^(1/2)]
    variance = T'T             with R'R = I + S'JS and T = R^-T S' look'

Relative errors of variances stay near eps sqrt(signal / noise variance): 1e-7 at a ratio of 1e18, 1e-4 at 1e24.
Sites need W >= 0; a chain with others keeps the plain pass (`partition.py`).
"""

import dataclasses

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from ..linalg import semidefinite_root, solve_triangular, triangle
from .types import Chain, Sites, Sweep


@dataclasses.dataclass(frozen=True)
class Careful:
    """The square-root engine: slower by an order of magnitude, right where the plain one runs out of digits."""

    def sweep(self, chain: Chain, sites: Sites, centre: Float[Array, "n p"], look: Float[Array, "q d"]) -> Sweep:
        return sweep(chain, sites, centre, look)


@jax.jit
def sweep(chain: Chain, sites: Sites, centre: Array, look: Array) -> Sweep:
    """One filter and smoother pass in square-root form; `sites` are measured from `centre`."""
    h, d = chain.H, chain.H.shape[1]
    roots_q = roots(chain.Q)
    which = chain.entries()
    shape_w = roots(-2 * sites.quadratic)
    data = (sites.linear, shape_w, centre)

    def filter_place(state: tuple, along: tuple) -> tuple[tuple, tuple]:
        m, s = state
        k, datum = along
        after, shrunk, *_ = through_site(m, s, h, datum)
        log_z, contrast = site_value(m, s, h, datum)
        stacked = jnp.concatenate([(chain.A[k] @ shrunk).T, roots_q[k].T])
        return (chain.A[k] @ after, triangle(stacked).T), (m, s, log_z, contrast)

    start = jnp.zeros(d, h.dtype), semidefinite_root(chain.P0)
    _, (means, spreads, log_z, contrast) = lax.scan(filter_place, start, (which, data))

    def smooth_place(carry: tuple, along: tuple) -> tuple[tuple, tuple]:
        r, n, u, grads = carry
        (k, datum), m, s = along
        linear, root_w, g = datum
        a = chain.A[k]
        after, shrunk, c, pull, weight = through_site(m, s, h, datum)
        psi = (jnp.outer(r, r) - n) / 2
        grads = grads[0].at[k].add(jnp.outer(r, after) + 2 * psi @ a @ (shrunk @ shrunk.T)), grads[1].at[k].add(psi)
        r, n = a.T @ r, a.T @ n @ a
        u = across_step(u, a, roots_q[k])

        keep = jnp.eye(d) - h.T @ weight @ c.T
        r = h.T @ pull + keep @ r
        n = h.T @ weight @ h + keep @ n @ keep.T
        u = triangle(jnp.concatenate([u.T, root_w.T @ h])).T

        root = triangle(jnp.concatenate([jnp.eye(d), u.T @ s]))
        look_back = solve_triangular(root, s.T @ look.T, transpose=True)
        state_back = solve_triangular(root, s.T, transpose=True)  # V = state_back' state_back
        level = m + s @ (s.T @ r)
        delta = h @ level - g
        w = root_w @ root_w.T
        seen = state_back.T @ (state_back @ h.T)
        slope_h = jnp.outer(linear - w @ delta, level) - w @ seen.T
        found = (look @ level, look_back.T @ look_back, delta, h @ seen + jnp.outer(delta, delta), slope_h)
        return (r, n, u, grads), found

    zero = jnp.zeros((d, d), h.dtype)
    ends = jnp.zeros(d, h.dtype), zero, zero, (jnp.zeros_like(chain.A), jnp.zeros_like(chain.Q))
    (r, n, _, grads), found = lax.scan(smooth_place, ends, ((which, data), means, spreads), reverse=True)
    mean, variance, first, second, slope_h = found
    return Sweep(
        log_z=log_z.sum(),
        mean=mean,
        variance=variance,
        chain=Chain(*grads, None, (jnp.outer(r, r) - n) / 2, slope_h.sum(0), chain.length),
        sites=Sites(first, second),
        loss=jnp.finfo(h.dtype).eps * jnp.sqrt(contrast.max()),
        contrast=contrast.max(),
        refined=jnp.asarray(True),
    )


def roots(matrices: Float[Array, "k d d"]) -> Float[Array, "k d d"]:
    """A lower root of each positive semi-definite matrix."""
    return lax.map(semidefinite_root, matrices)


def site_value(m: Array, s: Array, h: Array, datum: tuple) -> tuple[Array, Array]:
    """log Z of one site, and the largest 1 + w v."""
    linear, root_w, g = datum
    phi = h @ s
    v = phi @ phi.T
    w = root_w @ root_w.T
    total = jnp.eye(h.shape[0]) + w @ v
    inverse = jnp.linalg.inv(total)
    delta = h @ m - g
    tilt = inverse @ linear
    log_z = linear @ v @ tilt / 2 + delta @ (tilt - inverse @ w @ delta / 2) - jnp.linalg.slogdet(total)[1] / 2
    return log_z, jnp.max(jnp.diagonal(total))


def through_site(m: Array, s: Array, h: Array, datum: tuple) -> tuple[Array, Array, Array, Array, Array]:
    """The filtered mean and root; c = P H', S^-1 e and S^-1 W of the site."""
    linear, root_w, g = datum
    phi = h @ s
    c = s @ phi.T
    w = root_w @ root_w.T
    inverse = jnp.linalg.inv(jnp.eye(h.shape[0]) + w @ phi @ phi.T)
    weight = inverse @ w
    pull = inverse @ linear - weight @ (h @ m - g)
    shrunk = s
    for j in range(h.shape[0]):  # Potter: one unit of precision along each column of H' W^(1/2)
        along = shrunk.T @ (h.T @ root_w[:, j])
        total = 1 + along @ along
        shrunk = shrunk - jnp.outer(shrunk @ along, along) / (total + jnp.sqrt(total))
    return m + c @ pull, shrunk, c, pull, (weight + weight.T) / 2


def across_step(u: Array, a: Array, root_q: Array) -> Array:
    """The root of the future's information, carried back over x' = A x + q."""
    root = triangle(jnp.concatenate([jnp.eye(u.shape[1]), root_q.T @ u]))
    return a.T @ solve_triangular(root, u.T, transpose=True).T
