"""Sums, products and multiples of kernels.

sum       x = (x1, x2): blocks on the diagonal
product   x = x1 (x) x2: A = A1 (x) A2, and Q = Q1 (x) P2 + (A1 P1 A1') (x) Q2,
          which is P1 (x) P2 - (A1 P1 A1') (x) (A2 P2 A2') without the difference of close matrices
multiple  the same states with a scaled covariance
"""

import functools
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np
from jaxtyping import Array, Float

from ..errors import ModelError
from ..params import Marked, Parameter, format_number, parameter
from .base import Kernel


class Sum(Kernel):
    """k(tau) = k1(tau) + k2(tau) + ...: written `k1 + k2`; `kernel[0]` is its first term."""

    terms: tuple[Kernel, ...] = eqx.field(metadata={"numbered": True})

    def __getitem__(self, k: int) -> Kernel:
        return self.terms[k]

    @property
    def label(self) -> str:
        return "+".join(term.label for term in self.terms)

    @property
    def stationary(self) -> bool:
        return all(term.stationary for term in self.terms)

    def start(self) -> Float[Array, "d d"]:
        return jsp.linalg.block_diag(*[term.start() for term in self.terms])

    def transition(self, dt: Float[Array, ""]) -> tuple[Float[Array, "d d"], Float[Array, "d d"]]:
        moves, noises = zip(*[term.transition(dt) for term in self.terms], strict=True)
        return jsp.linalg.block_diag(*moves), jsp.linalg.block_diag(*noises)

    def readout(self) -> Float[Array, " d"]:
        return jnp.concatenate([term.readout() for term in self.terms])

    def check_steps(self, steps: np.ndarray) -> None:
        for term in self.terms:
            term.check_steps(steps)

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.terms))


class Product(Kernel):
    """k(tau) = k1(tau) k2(tau) ..., of stationary kernels: written `k1 * k2`; `kernel[0]` is its first factor."""

    stationary = True
    factors: tuple[Kernel, ...] = eqx.field(metadata={"numbered": True})

    def __check_init__(self) -> None:
        for factor in self.factors:
            if not factor.stationary:
                raise ModelError(
                    f"{factor.label} starts at a given time and cannot be multiplied: products are of stationary "
                    "kernels; add it to the product instead"
                )

    def __getitem__(self, k: int) -> Kernel:
        return self.factors[k]

    @property
    def label(self) -> str:
        return "*".join(f"({f.label})" if isinstance(f, Sum) else f.label for f in self.factors)

    def start(self) -> Float[Array, "d d"]:
        return functools.reduce(jnp.kron, [factor.start() for factor in self.factors])

    def transition(self, dt: Float[Array, ""]) -> tuple[Float[Array, "d d"], Float[Array, "d d"]]:
        move, noise = self.factors[0].transition(dt)
        state = self.factors[0].start()
        for factor in self.factors[1:]:
            next_move, next_noise = factor.transition(dt)
            kept = move @ state @ move.T
            noise = jnp.kron(noise, factor.start()) + jnp.kron(kept, next_noise)
            move = jnp.kron(move, next_move)
            state = jnp.kron(state, factor.start())
        return move, noise

    def readout(self) -> Float[Array, " d"]:
        return functools.reduce(jnp.kron, [factor.readout() for factor in self.factors])

    def check_steps(self, steps: np.ndarray) -> None:
        for factor in self.factors:
            factor.check_steps(steps)

    def __repr__(self) -> str:
        return " * ".join(f"({f!r})" if isinstance(f, Sum) else repr(f) for f in self.factors)


class Scaled(Kernel):
    """k(tau) = scale k1(tau): written `number * k1`. The number is learned unless it is `fixed(...)`."""

    kernel: Kernel
    scale: Parameter = parameter()

    @property
    def label(self) -> str:
        return f"({self.kernel.label})" if isinstance(self.kernel, Sum) else self.kernel.label

    @property
    def stationary(self) -> bool:
        return self.kernel.stationary

    def start(self) -> Float[Array, "d d"]:
        return self.scale * self.kernel.start()

    def transition(self, dt: Float[Array, ""]) -> tuple[Float[Array, "d d"], Float[Array, "d d"]]:
        move, noise = self.kernel.transition(dt)
        return move, self.scale * noise

    def readout(self) -> Float[Array, " d"]:
        return self.kernel.readout()

    def check_steps(self, steps: np.ndarray) -> None:
        self.kernel.check_steps(steps)

    def __repr__(self) -> str:
        scale = format_number(self.scale)
        scale = f"fixed({scale})" if ("scale", "fixed") in self.notes else scale
        return f"{scale} * ({self.kernel!r})" if isinstance(self.kernel, Sum) else f"{scale} * {self.kernel!r}"


def add(left: Any, right: Any) -> Kernel:
    """`left + right`, flat: a sum of a sum has all the terms side by side."""
    if not isinstance(left, Kernel) or not isinstance(right, Kernel):
        other = left if isinstance(right, Kernel) else right
        raise ModelError(f"a kernel and {other!r} cannot be added: for a constant level add Constant(variance)")
    return Sum(_parts(left, Sum) + _parts(right, Sum))


def multiply(left: Any, right: Any) -> Kernel:
    """`left * right` of two kernels, or of a kernel and a number on either side."""
    if isinstance(left, Kernel) and isinstance(right, Kernel):
        return Product(_parts(left, Product) + _parts(right, Product))
    kernel, scale = (left, right) if isinstance(left, Kernel) else (right, left)
    if isinstance(scale, Marked) or np.ndim(scale) == 0:
        return Scaled(kernel, scale)
    raise ModelError(f"a kernel times {scale!r}: multiply by a positive number or by another kernel")


def terms(kernel: Kernel) -> list[tuple[str, Kernel]]:
    """The terms of a top-level sum, by name; any other kernel is its own only term."""
    return [(term.label, term) for term in _parts(kernel, Sum)]


def _parts(kernel: Kernel, kind: type) -> tuple[Kernel, ...]:
    if isinstance(kernel, Sum) and kind is Sum:
        return kernel.terms
    if isinstance(kernel, Product) and kind is Product:
        return kernel.factors
    return (kernel,)
