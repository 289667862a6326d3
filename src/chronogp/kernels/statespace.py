"""Your own state-space model, and the discretisation of a linear SDE that it shares with the approximate kernels."""

import math

import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float

from ..errors import ModelError
from ..linalg import lyapunov
from ..params import COVARIANCE, REAL, Parameter, parameter
from ..typing import Tracer
from .base import Kernel

DIGITS = 64  # of the count of a discrete model's steps
DOUBLINGS = 40  # the longest step is 2^40 times the one that the series takes
TERMS = 12  # of the power series beyond the 2d that Q's smallest entry needs


def discretise(f: Array, w: Array, dt: Array) -> tuple[Float[Array, "d d"], Float[Array, "d d"]]:
    """A = exp(f dt) and Q = int_0^dt exp(f s) w exp(f s)' ds.

    Power series over a step h with |f| h <= 1/2, then doubling: A(2h) = A A, Q(2h) = A Q A' + Q. Every term of the
    doubling is positive semi-definite, and the series keeps the exact zeros below an entry's leading power of h,
    so Q stays so down to the smallest steps.
    """
    size = f.shape[0]
    norm = jnp.maximum(jnp.max(jnp.sum(jnp.abs(lax.stop_gradient(f)), axis=1)), 1e-300)
    count = jnp.clip(jnp.ceil(jnp.log2(jnp.maximum(2 * norm * lax.stop_gradient(dt), 1e-300))), 0, DOUBLINGS)
    h = jnp.minimum(dt * 2.0**-count, 1 / norm)
    power, term = jnp.eye(size), w
    move, noise = power, h * w
    factor = h
    for k in range(1, 2 * size + TERMS):
        power = power @ f
        move = move + factor * power
        term = f @ term + term @ f.T
        factor = factor * h / (k + 1)
        noise = noise + factor * term

    def double(i: int, pair: tuple[Array, Array]) -> tuple[Array, Array]:
        a, q = pair
        more = i < count
        return jnp.where(more, a @ a, a), jnp.where(more, a @ q @ a.T + q, q)

    return lax.fori_loop(0, DOUBLINGS, double, (move, (noise + noise.T) / 2))


class StateSpace(Kernel):
    """Your own linear SDE: dx = F x dt + L dB with B of spectral density q, f = H x.

    F: (d, d); L: (d,) or (d, s); q: a number or (s, s); H: (d,). Without P0 the process is stationary, and F must be
    stable; with P0 it starts at the series' first time.
    All parts are kept as given; `learned(q)` learns a scalar density.
    """

    F: Parameter = parameter(domain=REAL, learn=False, array=True)
    L: Parameter = parameter(domain=REAL, learn=False, array=True)
    q: Parameter = parameter(domain=COVARIANCE, learn=False, array=True)
    H: Parameter = parameter(domain=REAL, learn=False, array=True)
    P0: Parameter = parameter(None, domain=COVARIANCE, learn=False, array=True)

    def __check_init__(self) -> None:
        check_shapes("StateSpace", {"F": self.F, "P0": self.P0}, self.H)
        size, rows = jnp.shape(self.F)[0], jnp.shape(self.L)
        if not rows or rows[0] != size or len(rows) > 2:
            raise ModelError(
                f"StateSpace: L has shape {rows}, but F is {size} x {size}; give L as ({size},) or ({size}, s)"
            )
        noises = rows[1] if len(rows) == 2 else 1
        if jnp.shape(self.q) not in ((), (noises, noises)):
            raise ModelError(
                f"StateSpace: q has shape {jnp.shape(self.q)}, but L has {noises} columns; give a number or "
                f"({noises}, {noises})"
            )
        if self.P0 is None and isinstance(self.F, np.ndarray) and np.linalg.eigvals(self.F).real.max() >= 0:
            raise ModelError("StateSpace: F is not stable, so no stationary start exists; give P0")

    @property
    def stationary(self) -> bool:
        return self.P0 is None

    def drive(self) -> Float[Array, "d d"]:
        """L q L', the spectral density of the noise on the states."""
        entry = jnp.asarray(self.L).reshape(jnp.shape(self.F)[0], -1)
        density = jnp.asarray(self.q)
        return entry @ (density * jnp.eye(entry.shape[1]) if density.ndim == 0 else density) @ entry.T

    def start(self) -> Float[Array, "d d"]:
        return lyapunov(jnp, jnp.asarray(self.F), self.drive()) if self.P0 is None else jnp.asarray(self.P0)

    def transition(self, dt: Float[Array, ""]) -> tuple[Float[Array, "d d"], Float[Array, "d d"]]:
        return discretise(jnp.asarray(self.F), self.drive(), dt)

    def readout(self) -> Float[Array, " d"]:
        return jnp.asarray(self.H).reshape(-1)


class DiscreteStateSpace(Kernel):
    """Your own discrete model: x_{k+1} = A x_k + q_k with q_k ~ N(0, Q), f = H x, one step every `step` of time.

    It starts at the series' first time with P0; all data must lie whole numbers of steps apart.
    """

    stationary = False
    A: Parameter = parameter(domain=REAL, learn=False, array=True)
    Q: Parameter = parameter(domain=COVARIANCE, learn=False, array=True)
    H: Parameter = parameter(domain=REAL, learn=False, array=True)
    P0: Parameter = parameter(domain=COVARIANCE, learn=False, array=True)
    step: Parameter = parameter(1.0, learn=False, duration=True)

    def __check_init__(self) -> None:
        check_shapes("DiscreteStateSpace", {"A": self.A, "Q": self.Q, "P0": self.P0}, self.H)

    def check_steps(self, steps: np.ndarray) -> None:
        """Refuse times that are not whole numbers of steps apart."""
        if isinstance(self.step, Tracer):
            return  # the time is not known here; the caller's own model was checked
        ratio = steps / float(self.step)
        off = np.abs(ratio - np.rint(ratio)) > 1e-9 * np.maximum(ratio, 1)
        if off.any():
            raise ModelError(
                f"DiscreteStateSpace has step={float(self.step):g}, but two times are {steps[off][0]:g} apart, "
                "which is no whole number of steps; move the data onto the steps, or use StateSpace"
            )

    def start(self) -> Float[Array, "d d"]:
        return jnp.asarray(self.P0)

    def transition(self, dt: Float[Array, ""]) -> tuple[Float[Array, "d d"], Float[Array, "d d"]]:
        """A^k and sum_{i<k} A^i Q A'^i by the binary digits of k."""
        count = jnp.rint(dt / self.step)

        def digit(_: int, state: tuple[Array, ...]) -> tuple[Array, ...]:
            left, a, q, move, noise = state
            odd = jnp.mod(left, 2) == 1
            move, noise = jnp.where(odd, a @ move, move), jnp.where(odd, a @ noise @ a.T + q, noise)
            return jnp.floor(left / 2), a @ a, a @ q @ a.T + q, move, noise

        a, q = jnp.asarray(self.A), jnp.asarray(self.Q)
        state = lax.fori_loop(0, DIGITS, digit, (count, a, q, jnp.eye(a.shape[0]), jnp.zeros_like(q)))
        return state[3], state[4]

    def readout(self) -> Float[Array, " d"]:
        return jnp.asarray(self.H).reshape(-1)


def check_shapes(owner: str, squares: dict[str, Array | None], h: Array) -> None:
    """Square matrices of one size, and H with as many entries."""
    size = math.prod(jnp.shape(h))
    if jnp.ndim(h) > 1:
        raise ModelError(f"{owner}: H has shape {jnp.shape(h)}; give one row, as a flat list")
    for part, matrix in squares.items():
        if matrix is not None and jnp.shape(matrix) != (size, size):
            raise ModelError(
                f"{owner}: {part} has shape {jnp.shape(matrix)}, but H has {size} entries; give ({size}, {size})"
            )
