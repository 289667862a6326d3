"""The engine in JAX: filter and smoother over lanes of blocks; one lane is the sequential algorithm.

1. Every block is summarised without knowing its start (`element.py`), all blocks at once.
2. The summaries, joined, give each block its starting state and what the future knows behind it.
3. All blocks are filtered at once, keeping the states at segment edges.
4. All blocks are smoothed at once, backward: the smoother is the derivative of the filter. With r and -N the
   first and second derivative of the future's log Z in the predicted mean, and L = I - H' S^-1 W c',

       r <- H' S^-1 e + L r          N <- H' S^-1 W H + L N L'          at a site
       r <- A' r                     N <- A' N A                        across a step

   and every gradient is a product of these with the filter's states; no tape.
"""

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from ..linalg import even, invert, mm, mv, outer, turn
from ..params import whole
from .element import Element, before_each, behind_each, future_at, start_through
from .layout import Layout, Steps
from .types import Chain, Sites, Sweep

LONG = 4096  # places; a chain is cut into blocks only from here on
LANES = {"cpu": 256}  # vector units full, states in cache
MANY_LANES = 16384


@dataclasses.dataclass(frozen=True)
class Blocked:
    """The JAX engine: the series in `lanes` blocks side by side, 1 for a sequential pass, None to suit the machine.

    >>> import chronogp as cgp
    >>> cgp.Blocked(lanes=64)
    Blocked(lanes=64)
    """

    lanes: int | None = None

    def __post_init__(self) -> None:
        if self.lanes is not None:
            object.__setattr__(self, "lanes", whole("Blocked", "lanes", self.lanes, 1))

    def lanes_for(self, length: int) -> int:
        if self.lanes is not None:
            return min(self.lanes, length)
        if length < LONG:
            return 1
        return min(LANES.get(jax.default_backend(), MANY_LANES), length // 64)

    def sweep(self, chain: Chain, sites: Sites, centre: Float[Array, "n p"], look: Float[Array, "q d"]) -> Sweep:
        return sweep(chain, sites, centre, look, self.lanes_for(chain.length))


class Datum(NamedTuple):
    """One place of the scans: its site measured from its centre, in every lane."""

    linear: Float[Array, "p b"]
    quadratic: Float[Array, "p p b"]
    centre: Float[Array, "p b"]


class Update(NamedTuple):
    """What a site does to a predicted state N(m, P): with c = P H', V = H c, W = -2 quadratic, S = I + W V."""

    c: Float[Array, "d p b"]
    v: Float[Array, "p p b"]
    pull: Float[Array, "p b"]  # S^-1 e, e = linear - W (H m - centre)
    weight: Float[Array, "p p b"]  # S^-1 W
    log_z: Float[Array, " b"]
    loss: Float[Array, " b"]
    contrast: Float[Array, " b"]


def update(m: Float[Array, "d b"], c: Float[Array, "d p b"], h: Float[Array, "p d b"], datum: Datum) -> Update:
    """The site's effect, written so that it never divides by W and loses no digits where W V is large.

    log Z_i = l' V S^-1 l / 2 + delta' S^-1 l - delta' S^-1 W delta / 2 - log det(S) / 2 with delta = H m - centre:
    each term is of the size of the answer.
    """
    w = -2 * datum.quadratic
    v = even(mm(h, c))
    s = jnp.eye(h.shape[0])[:, :, None] + mm(w, v)
    inverse, log_det, possible = invert(s)
    weight = even(mm(inverse, w))
    delta = mv(h, m) - datum.centre
    tilt = mv(inverse, datum.linear)
    log_z = dot(datum.linear, mv(v, tilt)) / 2 + dot(delta, tilt - mv(weight, delta) / 2) - log_det / 2
    contrast = jnp.max(jnp.abs(jnp.diagonal(s)), axis=-1)
    return Update(c, v, tilt - mv(weight, delta), weight, log_z, jnp.where(possible, 0.0, jnp.inf), contrast)


def dot(x: Float[Array, "i b"], y: Float[Array, "i b"]) -> Float[Array, " b"]:
    return jnp.sum(x * y, axis=0)


@partial(jax.jit, static_argnames="lanes")
def sweep(chain: Chain, sites: Sites, centre: Array, look: Float[Array, "q d"], lanes: int) -> Sweep:
    """One filter and smoother pass; `sites` are measured from `centre`, and `look` is what to report of the state."""
    layout = Layout.of(chain.length, lanes)
    steps = Steps.of(chain, layout)
    data = Datum(layout.spread(sites.linear), layout.spread(sites.quadratic), layout.spread(centre))
    h = chain.H[:, :, None]

    mean, cov = jnp.zeros((chain.P0.shape[0], 1), chain.P0.dtype), chain.P0[:, :, None]
    blocks = None
    if lanes > 1:
        blocks = summarise(steps, h, data)
        mean, cov = start_through(before_each(blocks), chain.P0)
    edges, (last_mean, last_cov), log_z, loss, contrast = run_filter(steps, h, data, mean, cov)
    ahead = jnp.zeros_like(last_mean), jnp.zeros_like(last_cov)
    if blocks is not None:
        ahead = future_at(behind_each(blocks), last_mean, last_cov)
    found, slopes = run_smoother(steps, h, look[:, :, None], data, edges, ahead)

    slope_a, slope_q = slopes.steps
    return Sweep(
        log_z=log_z.sum(),
        mean=layout.gather(found.mean),
        variance=layout.gather(found.variance),
        chain=Chain(slope_a, slope_q, None, slopes.start, slopes.readout, chain.length),
        sites=Sites(layout.gather(found.first), layout.gather(found.second)),
        loss=jnp.maximum(loss.max(), found.loss.max()),
        contrast=contrast.max(),
        refined=jnp.asarray(False),
    )


def walk(body: Callable, start: Any, along: Any, *, reverse: bool = False) -> tuple[Any, Any]:
    """`lax.scan`, with every place handed over in the carry.

    XLA fuses a scan's own slices into the arithmetic that reads them, and an address computed inside a loop keeps that
    loop scalar. From the carry, all arithmetic is over plain buffers, in wide vector instructions.
    """
    first = jax.tree.map(lambda x: x[-1 if reverse else 0], along)
    next_ones = jax.tree.map(lambda x: jnp.roll(x, 1 if reverse else -1, axis=0), along)

    def step(carry: tuple, next_one: Any) -> tuple[tuple, Any]:
        state, here = carry
        state, out = body(state, here)
        return (state, next_one), out

    (state, _), outs = lax.scan(step, (start, first), next_ones, reverse=reverse)
    return state, outs


def summarise(steps: Steps, h: Array, data: Datum) -> Element:
    """Every block as one element: a filter started at a known but unnamed state x, with its derivatives in x."""

    def place(block: Element, along: tuple) -> tuple[Element, None]:
        x, datum = along
        seen = mm(h, block.A)  # d f / d x
        u = update(block.b, mm(block.C, turn(h)), h, datum)
        gain = mm(u.c, u.weight)
        eta = block.eta + mv(turn(seen), u.pull)
        j = block.J + mm(turn(seen), mm(u.weight, seen))
        a, q = steps.at(x)
        b = mv(a, block.b + mv(u.c, u.pull))
        c = even(mm(mm(a, block.C - mm(gain, turn(u.c))), turn(a)) + q)
        return Element(mm(a, block.A - mm(gain, seen)), b, c, eta, j), None

    def segment(block: Element, along: tuple) -> tuple[Element, None]:
        return walk(place, block, along)

    d = h.shape[1]
    start = Element.nothing(d, steps.layout.lanes, steps.A.dtype)
    return lax.scan(segment, start, (steps.along, data))[0]


def advance(steps: Steps, h: Array, m: Array, p: Array, along: tuple) -> tuple[Array, Array, Update]:
    """A predicted state through its site and across the step that follows."""
    x, datum = along
    u = update(m, mm(p, turn(h)), h, datum)
    a, q = steps.at(x)
    after, spread = filtered(m, p, u)
    return mv(a, after), even(mm(mm(a, spread), turn(a)) + q), u


def filtered(m: Array, p: Array, u: Update) -> tuple[Array, Array]:
    """The predicted state with its site taken in."""
    return m + mv(u.c, u.pull), p - mm(mm(u.c, u.weight), turn(u.c))


def run_filter(steps: Steps, h: Array, data: Datum, mean: Array, cov: Array) -> tuple:
    """All blocks filtered: the states at segment edges and at the end, log Z, rounding loss and contrast by lane."""
    lanes = steps.layout.lanes
    zero = jnp.zeros(lanes, cov.dtype)
    mean, cov = jnp.broadcast_to(mean, (*mean.shape[:1], lanes)), jnp.broadcast_to(cov, (*cov.shape[:2], lanes))

    def place(state: tuple, along: tuple) -> tuple[tuple, None]:
        m, p, log_z, loss, contrast = state
        m, p, u = advance(steps, h, m, p, along)
        return (m, p, log_z + u.log_z, jnp.maximum(loss, u.loss), jnp.maximum(contrast, u.contrast)), None

    def segment(state: tuple, along: tuple) -> tuple[tuple, tuple]:
        return walk(place, state, along)[0], state[:2]

    (m, p, log_z, loss, contrast), edges = lax.scan(segment, (mean, cov, zero, zero, zero), (steps.along, data))
    return edges, (m, p), log_z, loss, contrast


class Found(NamedTuple):
    """What the smoother reports of a place."""

    mean: Array
    variance: Array
    first: Array
    second: Array
    loss: Array


class Slopes(NamedTuple):
    """The chain's derivatives."""

    steps: tuple[Array, Array]
    start: Float[Array, "d d"]
    readout: Float[Array, "p d"]


def run_smoother(
    steps: Steps, h: Array, look: Array, data: Datum, edges: tuple, ahead: tuple[Array, Array]
) -> tuple[Found, Slopes]:
    """All blocks smoothed from what the future knows behind them, a segment refiltered at a time."""

    def forward(state: tuple, along: tuple) -> tuple[tuple, tuple]:
        m, p = state
        m, p, _ = advance(steps, h, m, p, along)
        return (m, p), state

    def backward(carry: tuple, along: tuple) -> tuple[tuple, tuple]:
        r, n, readout, sums = carry
        (x, datum), (m, p) = along
        u = update(m, mm(p, turn(h)), h, datum)
        after, spread = filtered(m, p, u)
        a, _ = steps.at(x)
        psi = (outer(r, r) - n) / 2
        sums, stacked = steps.add(sums, x, (outer(r, after) + 2 * mm(mm(psi, a), spread), psi))
        r, n = mv(turn(a), r), mm(mm(turn(a), n), a)

        pulled = u.pull - mv(u.weight, mv(turn(u.c), r))
        r = r + mv(turn(h), pulled)
        gain = mm(turn(h), u.weight)
        n = n - mm(gain, mm(turn(u.c), n))
        n = even(n - mm(mm(n, u.c), turn(gain)) + mm(gain, h))

        seen = u.c - mm(p, mm(n, u.c))  # cov(x, f) given all sites
        level = m + mv(p, r)
        delta = mv(h, level) - datum.centre
        w = -2 * datum.quadratic
        readout = readout + outer(datum.linear - mv(w, delta), level) - mm(w, turn(seen))
        found = Found(*report(m, p, r, n, look), delta, mm(h, seen) + outer(delta, delta), jnp.zeros(()))
        prior, variance = diagonals(mm(look, mm(p, turn(look)))), diagonals(found.variance)
        return (r, n, readout, sums), (found._replace(loss=rounding(prior, variance)), stacked)

    def segment(carry: tuple, along: tuple) -> tuple[tuple, tuple]:
        places, edge = along
        states = walk(forward, edge, places)[1]
        return walk(backward, carry, (places, states), reverse=True)

    lanes = steps.layout.lanes
    readout = jnp.zeros((*h.shape[:2], lanes), h.dtype)
    (r, n, readout, sums), (found, stacked) = lax.scan(
        segment, (*ahead, readout, steps.sums()), ((steps.along, data), edges), reverse=True
    )
    start = (jnp.outer(r[:, 0], r[:, 0]) - n[:, :, 0]) / 2
    return found, Slopes(steps.total(sums, stacked), start, readout.sum(-1))


def report(m: Array, p: Array, r: Array, n: Array, look: Array) -> tuple[Array, Array]:
    """Mean and variance of look @ x at a predicted state N(m, p), given what r and n know."""
    c = mm(p, turn(look))
    return mv(look, m) + mv(turn(c), r), even(mm(look, c) - mm(turn(c), mm(n, c)))


def diagonals(v: Float[Array, "q q b"]) -> Float[Array, "q b"]:
    return jnp.moveaxis(jnp.diagonal(v), -1, 0)


def rounding(prior: Float[Array, "q b"], variance: Float[Array, "q b"]) -> Float[Array, " b"]:
    """The relative error that `variance`, a difference from `prior`, may have; infinite where it is no variance."""
    lost = jnp.finfo(prior.dtype).eps * prior / jnp.where(variance > 0, variance, 1.0)
    return jnp.max(jnp.where(variance > 0, lost, jnp.where(prior == 0, 0.0, jnp.inf)), axis=0)
