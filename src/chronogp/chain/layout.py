"""Where the places of a chain lie: lanes of blocks, cut into segments.

n places become B lanes, each a block of K segments of S places: array axes [K, S, ..., B]. All small-matrix
work is then vector work over the B lanes. Only the states at the K segment edges are stored on the way out;
the way back recomputes a segment from its edge, so memory stays near n/S states where a tape would hold n.
"""

import math
from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from .types import Chain


class Layout(NamedTuple):
    length: int
    lanes: int
    segments: int
    places: int  # a segment

    @staticmethod
    def of(length: int, lanes: int) -> "Layout":
        block = -(-length // lanes)
        places = math.isqrt(block - 1) + 1
        return Layout(length, lanes, -(-block // places), places)

    def spread(self, x: Float[Array, "n ..."]) -> Float[Array, "k s ... b"]:
        """Rows into lanes; the places that are left over hold zeros, which say nothing."""
        total = self.lanes * self.segments * self.places
        padded = jnp.pad(x, [(0, total - self.length)] + [(0, 0)] * (x.ndim - 1))
        return jnp.moveaxis(padded.reshape(self.lanes, self.segments, self.places, *x.shape[1:]), 0, -1)

    def gather(self, x: Float[Array, "k s ... b"]) -> Float[Array, "n ..."]:
        """Lanes back into rows."""
        rows = jnp.moveaxis(x, -1, 0)
        return rows.reshape(-1, *rows.shape[3:])[: self.length]


class Steps(NamedTuple):
    """The transitions of a chain in a layout, and where their derivatives are summed.

    One entry for all steps: summed in every lane. One entry a step: sliced and stacked by the scan itself.
    Otherwise the table stays as it is, read and added to by index.
    """

    A: Float[Array, "d d k"]
    Q: Float[Array, "d d k"]
    along: Any  # what the scans run along: None, (A, Q) of every place, or the index of every place
    layout: Layout

    @staticmethod
    def of(chain: Chain, layout: Layout) -> "Steps":
        tables = jnp.moveaxis(chain.A, 0, -1), jnp.moveaxis(chain.Q, 0, -1)
        if chain.index is not None:
            return Steps(*tables, layout.spread(chain.index), layout)
        if chain.A.shape[0] == 1:
            return Steps(*tables, None, layout)
        return Steps(*tables, (layout.spread(chain.A), layout.spread(chain.Q)), layout)

    def at(self, x: Any) -> tuple[Float[Array, "d d b"], Float[Array, "d d b"]]:
        """A and Q of one place in every lane."""
        if x is None:
            return self.A, self.Q
        return x if isinstance(x, tuple) else (self.A[:, :, x], self.Q[:, :, x])

    def sums(self) -> Any:
        """Where the derivatives start: at zero."""
        if isinstance(self.along, tuple):
            return None
        width = self.layout.lanes if self.along is None else self.A.shape[-1]
        zero = jnp.zeros((*self.A.shape[:2], width), self.A.dtype)
        return zero, zero

    def add(self, sums: Any, x: Any, slopes: tuple[Array, Array]) -> tuple[Any, Any]:
        """Take in one place's derivatives: the new sums, and what the scan is to stack."""
        if x is None:
            return (sums[0] + slopes[0], sums[1] + slopes[1]), None
        if isinstance(x, tuple):
            return None, slopes
        return (sums[0].at[:, :, x].add(slopes[0]), sums[1].at[:, :, x].add(slopes[1])), None

    def total(self, sums: Any, stacked: Any) -> tuple[Float[Array, "k d d"], Float[Array, "k d d"]]:
        """The derivatives in the shape of the chain's tables."""
        if self.along is None:
            return sums[0].sum(-1)[None], sums[1].sum(-1)[None]
        if isinstance(self.along, tuple):
            return self.layout.gather(stacked[0]), self.layout.gather(stacked[1])
        return jnp.moveaxis(sums[0], -1, 0), jnp.moveaxis(sums[1], -1, 0)
