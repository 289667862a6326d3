"""Small dense matrices, many at a time, as vector operations.

The engine keeps its matrices "lanes last": [i, j, lane]. A product is then d fused multiply-adds over whole
vectors, which XLA compiles to wide instructions, where a batched [lane, i, j] product of 3 x 3 matrices would
be a loop of tiny calls.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float

from .typing import Numbers

UNROLLED = 8  # beyond this dimension a real matrix product is faster than d vector operations


def mm(a: Float[Array, "i j lanes"], b: Float[Array, "j k lanes"]) -> Float[Array, "i k lanes"]:
    """Matrix product in every lane; one lane of one factor may serve all lanes of the other."""
    size = a.shape[1]
    if size <= UNROLLED:
        return sum((a[:, j, None] * b[None, j] for j in range(1, size)), a[:, 0, None] * b[None, 0])
    if a.shape[2] == 1:
        return jnp.einsum("ij,jkl->ikl", a[:, :, 0], b)
    if b.shape[2] == 1:
        return jnp.einsum("ijl,jk->ikl", a, b[:, :, 0])
    return jnp.einsum("ijl,jkl->ikl", a, b)


def mv(a: Float[Array, "i j lanes"], x: Float[Array, "j lanes"]) -> Float[Array, "i lanes"]:
    """Matrix times vector in every lane."""
    return mm(a, x[:, None])[:, 0]


def turn(a: Float[Array, "i j lanes"]) -> Float[Array, "j i lanes"]:
    """Transpose in every lane."""
    return jnp.swapaxes(a, 0, 1)


def even(a: Float[Array, "i i lanes"]) -> Float[Array, "i i lanes"]:
    """The symmetric part, so that rounding cannot grow into asymmetry over 10^6 steps."""
    return (a + turn(a)) / 2


def outer(x: Float[Array, "i lanes"], y: Float[Array, "j lanes"]) -> Float[Array, "i j lanes"]:
    return x[:, None] * y[None, :]


def invert(
    s: Float[Array, "p p lanes"],
) -> tuple[Float[Array, "p p lanes"], Float[Array, " lanes"], Bool[Array, " lanes"]]:
    """Inverse, log |determinant|, and whether the determinant is positive."""
    if s.shape[0] == 1:
        return 1 / s, jnp.log(jnp.abs(s[0, 0])), s[0, 0] > 0
    batch = jnp.moveaxis(s, -1, 0)
    sign, log_det = jnp.linalg.slogdet(batch)
    return jnp.moveaxis(jnp.linalg.inv(batch), 0, -1), log_det, sign > 0


def semidefinite_root(q: Float[Numbers, "d d"]) -> Float[Array, "d d"]:
    """Lower triangular L with L L' = q, for q semi-definite, singular and badly scaled alike.

    Cholesky does not mind how rows and columns are scaled, so the tiny leading entries of a Q(dt) keep all
    their digits; a pivot that is only rounding is an exact zero.
    """
    size = q.shape[0]
    q = jnp.asarray(q)
    floor = jnp.finfo(q.dtype).eps * size * jnp.diagonal(q)
    rows = jnp.arange(size)

    def column(j: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        rest, root = state
        pivot = rest[j, j]
        real = pivot > floor[j]
        entries = jnp.where(real & (rows >= j), rest[:, j] / jnp.sqrt(jnp.where(real, pivot, 1.0)), 0.0)
        return rest - jnp.outer(entries, entries), root.at[:, j].set(entries)

    return lax.fori_loop(0, size, column, (q, jnp.zeros_like(q)))[1]


def triangle(a: Float[Array, "rows cols"]) -> Float[Array, "cols cols"]:
    """Upper triangular R with R'R = a'a, by QR: never forms the product, so keeps twice the digits."""
    missing = max(a.shape[1] - a.shape[0], 0)
    return jnp.linalg.qr(jnp.pad(a, ((0, missing), (0, 0))), mode="r")


def solve_triangular(r: Float[Array, "d d"], b: Float[Array, "d c"], *, transpose: bool = False) -> Float[Array, "d c"]:
    """Solve r x = b (or r' x = b) with r upper triangular."""
    return jax.scipy.linalg.solve_triangular(r, b, trans="T" if transpose else "N")


def lyapunov(xp: Any, f: Any, w: Any) -> Any:
    """The stationary covariance P of dx = f x dt + noise of density w: f P + P f' + w = 0. `xp`: numpy or jax.numpy."""
    eye = xp.eye(f.shape[0])
    flat = xp.linalg.solve(xp.kron(f, eye) + xp.kron(eye, f), -w.reshape(-1))
    found = flat.reshape(f.shape)
    return (found + found.T) / 2
