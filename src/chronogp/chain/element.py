"""What a block of a chain says, whatever state it starts from, and how blocks join.

A block with its data maps the state before it, x, to the state behind it, y (Sarkka and Garcia-Fernandez 2021):

    y given x  ~  N(A x + b, C)          the data's density in x  ~  exp(eta' x - x' J x / 2)

Two blocks join to one, and joining is associative: with D = I + C1 J2,

    A = A2 D^-1 A1          eta = A1' D^-T (eta2 - J2 b1) + eta1
    b = A2 D^-1 (b1 + C1 eta2) + b2          J = A1' D^-T J2 A1 + J1
    C = A2 D^-1 C1 A2' + C2

Joined from the left, the blocks give the state at each edge; from the right, all that the future knows there.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from ..linalg import even, mm, mv, turn


class Element(NamedTuple):
    A: Float[Array, "d d b"]
    b: Float[Array, "d b"]
    C: Float[Array, "d d b"]
    eta: Float[Array, "d b"]
    J: Float[Array, "d d b"]

    @staticmethod
    def nothing(d: int, lanes: int, dtype: jnp.dtype) -> "Element":
        """The empty block: y = x, no data."""
        eye = jnp.broadcast_to(jnp.eye(d, dtype=dtype)[:, :, None], (d, d, lanes))
        return Element(eye, jnp.zeros((d, lanes), dtype), 0 * eye, jnp.zeros((d, lanes), dtype), 0 * eye)


def join(first: Element, second: Element) -> Element:
    """Two neighbouring blocks as one, in every lane."""
    through = solve_plus_one(first.C, second.J, jnp.concatenate([first.A, first.C, first.b[:, None]], axis=1))
    d = first.A.shape[0]
    moved, spread, level = through[:, :d], through[:, d:-1], through[:, -1]  # D^-1 A1, D^-1 C1, D^-1 b1
    known = second.eta - mv(second.J, first.b)
    # D^-T J2 = J2 D^-1, and D^-T (eta2 - J2 b1) = (I - J2 D^-1 C1) (eta2 - J2 b1)
    return Element(
        A=mm(second.A, moved),
        b=mv(second.A, level + mv(spread, second.eta)) + second.b,
        C=even(mm(mm(second.A, spread), turn(second.A)) + second.C),
        eta=mv(turn(moved), known) + first.eta,
        J=even(mm(turn(first.A), mm(second.J, moved)) + first.J),
    )


def start_through(element: Element, start: Float[Array, "d d"]) -> tuple[Float[Array, "d b"], Float[Array, "d d b"]]:
    """Mean and covariance behind each block, if the state before it is N(0, start)."""
    start = jnp.broadcast_to(start[:, :, None], element.C.shape)
    spread = solve_plus_one(start, element.J, start)
    mean = mv(element.A, mv(spread, element.eta)) + element.b
    return mean, even(mm(mm(element.A, spread), turn(element.A)) + element.C)


def future_at(
    element: Element, mean: Float[Array, "d b"], cov: Float[Array, "d d b"]
) -> tuple[Float[Array, "d b"], Float[Array, "d d b"]]:
    """r and N, the first and minus the second derivative of the future's log Z at a state N(mean, cov) before it."""
    known = element.eta - mv(element.J, mean)
    both = solve_plus_one(element.J, cov, jnp.concatenate([element.J, known[:, None]], axis=1))
    return both[:, -1], even(both[:, :-1])


def solve_plus_one(
    a: Float[Array, "d d b"], b: Float[Array, "d d b"], right: Float[Array, "d c b"]
) -> Float[Array, "d c b"]:
    """(I + a b)^-1 right in every lane, for a and b positive semi-definite."""
    system = jnp.eye(a.shape[0])[:, :, None] + mm(a, b)
    return jnp.moveaxis(jnp.linalg.solve(jnp.moveaxis(system, -1, 0), jnp.moveaxis(right, -1, 0)), 0, -1)


def before_each(blocks: Element) -> Element:
    """For each block, all blocks before it as one."""
    return _doubling(blocks, 1, join)


def behind_each(blocks: Element) -> Element:
    """For each block, all blocks behind it as one."""
    return _doubling(blocks, -1, lambda far, near: join(near, far))


def _doubling(blocks: Element, way: int, put: Callable[[Element, Element], Element]) -> Element:
    """Joined with the neighbour at distance 1, 2, 4, ...: log2(B) rounds of one loop, so one body to compile."""
    d, lanes = blocks.b.shape
    nothing = Element.nothing(d, lanes, blocks.b.dtype)
    place = jnp.arange(lanes) if way > 0 else jnp.arange(lanes)[::-1]

    def shifted(x: Element, by: Array | int) -> Element:
        return Element(*[jnp.where(place < by, n, jnp.roll(v, way * by, -1)) for v, n in zip(x, nothing, strict=True)])

    def round_(i: int, x: Element) -> Element:
        return put(shifted(x, 1 << i), x)

    return lax.fori_loop(0, (lanes - 1).bit_length(), round_, shifted(blocks, 1))
