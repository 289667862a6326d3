"""Joint draws of a chain given its sites: information from behind, draws from the front.

What the future knows of x_i is exp(eta_i' x - x' J_i x / 2). Going back, with D = I + J Q,

    J <- H'WH + A' D^-1 J A          eta <- H' l + A' D^-1 eta

and going forward, with Q = S S' and R'R = I + S'JS,

    x_{i+1} = A x_i + S (R'R)^-1 S' (eta - J A x_i) + S R^-1 N(0, I)

The first state is such a step too, from nothing with Q = P0. Nothing is inverted that may be singular, so
deterministic parts (Q = 0) are ordinary, and sites with negative precision are too.
"""

from functools import partial

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float, PRNGKeyArray

from ..linalg import semidefinite_root
from .types import Chain, Sites


@partial(jax.jit, static_argnames="draws")
def sample(
    key: PRNGKeyArray, chain: Chain, sites: Sites, look: Float[Array, "q d"], draws: int
) -> Float[Array, "n q draws"]:
    """Draws of look @ x at all instants, jointly; `sites` in natural parameters."""
    h = chain.H
    which = chain.entries()
    w = -2 * sites.quadratic

    def back(carry: tuple[Array, Array], along: tuple) -> tuple[tuple, tuple]:
        eta, j = carry
        k, linear, precision = along
        a = chain.A[k]
        system = jnp.eye(h.shape[1]) + j @ chain.Q[k]
        carried = jnp.linalg.solve(system, jnp.concatenate([j @ a, eta[:, None]], axis=1))
        j = a.T @ carried[:, :-1] + h.T @ precision @ h
        known = a.T @ carried[:, -1] + h.T @ linear, (j + j.T) / 2
        return known, known

    nothing = jnp.zeros(h.shape[1], h.dtype), jnp.zeros((h.shape[1], h.shape[1]), h.dtype)
    future = lax.scan(back, nothing, (which, sites.linear, w), reverse=True)[1]

    def move(x: Array, root: Array, eta: Array, j: Array, key: PRNGKeyArray) -> Array:
        lower = jnp.linalg.cholesky(jnp.eye(root.shape[0]) + root.T @ j @ root)
        pull = jax.scipy.linalg.cho_solve((lower, True), root.T @ (eta[:, None] - j @ x))
        noise = jax.random.normal(key, x.shape, x.dtype)
        return x + root @ (pull + jax.scipy.linalg.solve_triangular(lower, noise, lower=True, trans="T"))

    roots, first = lax.map(semidefinite_root, chain.Q), semidefinite_root(chain.P0)

    def place(x: Array, along: tuple) -> tuple[Array, Array]:
        k, eta, j, key = along
        x = move(chain.A[k] @ x, roots[k], eta, j, key)
        return x, look @ x

    keys = jax.random.split(key, chain.length)
    start = move(jnp.zeros((h.shape[1], draws), h.dtype), first, future[0][0], future[1][0], keys[0])
    rest = lax.scan(place, start, (which[:-1], future[0][1:], future[1][1:], keys[1:]))[1]
    return jnp.concatenate([(look @ start)[None], rest])
