"""Levels and trends. The last three start at the series' first time, with a covariance of their own."""

import math
from functools import partial

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..params import Parameter, parameter, whole
from .base import Kernel


class Constant(Kernel):
    """One unknown level: k(tau) = variance."""

    stationary = True
    variance: Parameter = parameter(1.0)

    def start(self) -> Float[Array, "d d"]:
        return self.variance * jnp.eye(1)

    def transition(self, dt: Float[Array, ""]) -> tuple[Float[Array, "d d"], Float[Array, "d d"]]:
        return jnp.eye(1), jnp.zeros((1, 1))

    def readout(self) -> Float[Array, " d"]:
        return jnp.ones(1)


class White(Kernel):
    """A fresh value at every instant, shared by the rows at that instant: k(0) = variance, k(tau) = 0."""

    stationary = True
    variance: Parameter = parameter(1.0)

    def start(self) -> Float[Array, "d d"]:
        return self.variance * jnp.eye(1)

    def transition(self, dt: Float[Array, ""]) -> tuple[Float[Array, "d d"], Float[Array, "d d"]]:
        fresh = jnp.where(dt > 0, 1.0, 0.0) * jnp.eye(1)
        return 1 - fresh, self.variance * fresh

    def readout(self) -> Float[Array, " d"]:
        return jnp.ones(1)


class LocalLevel(Kernel):
    """A random walk from the first time on: f starts at N(0, start_variance) and gains `variance` per unit of time."""

    stationary = False
    variance: Parameter = parameter(1.0)
    start_variance: Parameter = parameter(1e4, learn=False)

    def start(self) -> Float[Array, "d d"]:
        return self.start_variance * jnp.eye(1)

    def transition(self, dt: Float[Array, ""]) -> tuple[Float[Array, "d d"], Float[Array, "d d"]]:
        return jnp.eye(1), self.variance * dt * jnp.eye(1)

    def readout(self) -> Float[Array, " d"]:
        return jnp.ones(1)


class LocalTrend(Kernel):
    """A line whose slope wanders: the slope is a random walk that gains `variance` per unit of time.

    At the first time level and slope are N(0, start_variance) each (the slope per unit of time).
    """

    stationary = False
    variance: Parameter = parameter(1.0)
    start_variance: Parameter = parameter(1e4, learn=False)

    def start(self) -> Float[Array, "d d"]:
        return self.start_variance * jnp.eye(2)

    def transition(self, dt: Float[Array, ""]) -> tuple[Float[Array, "d d"], Float[Array, "d d"]]:
        one = jnp.ones_like(dt)
        move = jnp.array([[one, dt], [0 * dt, one]])
        return move, self.variance * jnp.array([[dt**3 / 3, dt**2 / 2], [dt**2 / 2, dt]])

    def readout(self) -> Float[Array, " d"]:
        return jnp.eye(2)[0]


class Polynomial(Kernel):
    """A polynomial in the time t since the first: f = sum of b_k t^k, k = 0 ... degree, each b_k ~ N(0, variance)."""

    stationary = False
    degree: int = eqx.field(static=True, converter=partial(whole, "Polynomial", "degree", low=0, high=8))
    variance: Parameter = parameter(1.0)

    def start(self) -> Float[Array, "d d"]:
        return self.variance * jnp.eye(self.degree + 1)

    def transition(self, dt: Float[Array, ""]) -> tuple[Float[Array, "d d"], Float[Array, "d d"]]:
        """Taylor coefficients f^(j)/j! move by the binomial theorem, without noise."""
        size = self.degree + 1
        binomials = np.array([[math.comb(k, j) for k in range(size)] for j in range(size)], dtype=float)
        powers = jnp.stack([dt**k for k in range(size)])
        lag = np.maximum(np.arange(size)[None] - np.arange(size)[:, None], 0)
        return jnp.asarray(binomials) * powers[lag], jnp.zeros((size, size))

    def readout(self) -> Float[Array, " d"]:
        return jnp.eye(self.degree + 1)[0]
