"""From kernels and steps to a chain: one process a latent function, side by side in one state."""

from functools import partial

import jax
import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np
from jax import lax
from jaxtyping import Array, Float, Int

from ..chain import Chain
from .base import Kernel
from .combine import terms

CHUNK = 512  # steps whose transitions are computed together: what a reverse-mode tape may hold at a time


@partial(jax.jit, static_argnames="length")
def chain_of(
    kernels: tuple[Kernel, ...], steps: Float[np.ndarray, " k"], index: Int[np.ndarray, " n"] | None, length: int
) -> Chain:
    """The chain of independent kernels, one a latent function, over `length` instants.

    `steps` is a table of durations. With an `index`, entry `index[i]` follows instant i; without one the table has a
    single entry that serves all, or one an instant.
    """

    def transition(dt: Array) -> tuple[Array, Array]:
        moves, noises = zip(*[kernel.transition(dt) for kernel in kernels], strict=True)
        return jsp.linalg.block_diag(*moves), jsp.linalg.block_diag(*noises)

    table = jnp.asarray(steps, dtype=jnp.float64)
    if table.size <= CHUNK:
        move, noise = jax.vmap(transition)(table)
    else:
        move, noise = lax.map(jax.checkpoint(transition), table, batch_size=CHUNK)
    start = jsp.linalg.block_diag(*[kernel.start() for kernel in kernels])
    return Chain(move, noise, None if index is None else jnp.asarray(index), start, readout(kernels), length)


def readout(kernels: tuple[Kernel, ...]) -> Float[Array, "p d"]:
    """H: one row a latent function."""
    return jsp.linalg.block_diag(*[kernel.readout()[None] for kernel in kernels])


def terms_of(kernels: tuple[Kernel, ...]) -> tuple[list[str], Float[Array, "q d"]]:
    """The top-level terms of all kernels: their names, numbered where they clash, and a row of H each."""
    parts = [terms(kernel) for kernel in kernels]
    rows = jsp.linalg.block_diag(*[jsp.linalg.block_diag(*[t.readout()[None] for _, t in part]) for part in parts])
    names = [name for part in parts for name, _ in part]
    return _numbered(names), rows


def _numbered(names: list[str]) -> list[str]:
    counts: dict[str, int] = {}
    numbered = []
    for name in names:
        counts[name] = counts.get(name, 0) + 1
        numbered.append(name if counts[name] == 1 else f"{name} {counts[name]}")
    return numbered
