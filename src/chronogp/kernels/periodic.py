"""Cycles: exact ones (Cosine, Periodic) and one that loses its phase (SHO)."""

import math
from functools import partial
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np
from jaxtyping import Array, Float

from ..params import Parameter, fixed, parameter, whole
from .base import Kernel
from .combine import Scaled
from .matern import Matern32


def rotation(dt: Array, period: float, harmonic: int = 1) -> Float[Array, "2 2"]:
    """Turn by 2 pi dt / period: whole turns are dropped first, exactly, so that 10^9 periods cost no digits."""
    angle = 2 * math.pi * harmonic * (jnp.mod(dt, period) / period)
    return jnp.array([[jnp.cos(angle), -jnp.sin(angle)], [jnp.sin(angle), jnp.cos(angle)]])


class Cosine(Kernel):
    """A sine wave of this period, its amplitude and phase unknown: k(tau) = cos(2 pi tau / period)."""

    stationary = True
    period: Parameter = parameter(learn=False, duration=True)

    def start(self) -> Float[Array, "d d"]:
        return jnp.eye(2)

    def transition(self, dt: Float[Array, ""]) -> tuple[Float[Array, "d d"], Float[Array, "d d"]]:
        return rotation(dt, self.period), jnp.zeros((2, 2))

    def readout(self) -> Float[Array, " d"]:
        return jnp.eye(2)[0]


class Periodic(Kernel):
    """A cycle of any shape that repeats for ever: k(tau) = exp(-2 sin(pi tau / period)^2 / lengthscale^2).

    The first `order` harmonics of its Fourier series (Solin and Sarkka 2014), scaled to unit variance:
    weights I_j(z) with z = lengthscale^-2, from the continued fraction of I_j / I_{j-1}, all positive.
    The lengthscale is in units of the cycle: 1 is a gentle cycle, 0.3 a peaked one, which wants more order.
    """

    stationary = True
    lengthscale: Parameter = parameter()
    period: Parameter = parameter(learn=False, duration=True)
    order: int = eqx.field(default=6, static=True, converter=partial(whole, "Periodic", "order", low=1, high=40))

    def weights(self) -> Float[Array, " order+1"]:
        """The variance of each harmonic, the constant first."""
        z = jnp.asarray(self.lengthscale, dtype=float) ** -2.0
        far = self.order + 40
        ratio = z / (far + 0.5 + jnp.sqrt((far + 1.5) ** 2 + z**2))
        ratios = []
        for j in range(far, 0, -1):
            ratio = 1 / (2 * j / z + ratio)
            ratios.append(ratio)
        bessel = jnp.cumprod(jnp.stack(ratios[::-1][: self.order]))
        weights = jnp.concatenate([jnp.ones(1), 2 * bessel])
        return weights / weights.sum()

    def start(self) -> Float[Array, "d d"]:
        weights = self.weights()
        return jnp.diag(jnp.concatenate([weights[:1], jnp.repeat(weights[1:], 2)]))

    def transition(self, dt: Float[Array, ""]) -> tuple[Float[Array, "d d"], Float[Array, "d d"]]:
        turns = [rotation(dt, self.period, j) for j in range(1, self.order + 1)]
        size = 2 * self.order + 1
        return jsp.linalg.block_diag(jnp.eye(1), *turns), jnp.zeros((size, size))

    def readout(self) -> Float[Array, " d"]:
        return jnp.asarray(np.concatenate([[1.0], np.tile([1.0, 0.0], self.order)]))


def quasi_periodic(variance: Any, lengthscale: Any, period: Any, decay: Any, order: int = 6) -> Kernel:
    """A cycle that changes its shape slowly: variance * Periodic(lengthscale, period) * Matern32(1, decay).

    >>> import chronogp as cgp
    >>> cgp.quasi_periodic(1.0, 1.0, "7D", "2y")
    1.0 * Periodic(lengthscale=1.0, period=7.0, order=6) * Matern32(variance=fixed(1.0), lengthscale=730.5)
    """
    return Scaled(Periodic(lengthscale, period, order) * Matern32(fixed(1.0), decay), variance)


class SHO(Kernel):
    """A swing that is pushed at random and damped: the stochastic harmonic oscillator.

    Its spectrum peaks at `period`; `quality` is about the number of swings it remembers (0.5: critical damping,
    no swing at all). With x = 2 pi abs(tau) / period, a = 1 / (2 quality), b = sqrt(abs(1 - a^2)):
    k(tau) = variance exp(-a x) (cos(b x) + (a / b) sin(b x)), hyperbolic where a > 1.
    """

    stationary = True
    variance: Parameter = parameter(1.0)
    period: Parameter = parameter(learn=False, duration=True, default=1.0)
    quality: Parameter = parameter(1.0)

    def start(self) -> Float[Array, "d d"]:
        return self.variance * jnp.eye(2)

    def transition(self, dt: Float[Array, ""]) -> tuple[Float[Array, "d d"], Float[Array, "d d"]]:
        damping = 0.5 / jnp.asarray(self.quality, dtype=float)
        move, noise = oscillation(2 * math.pi * dt / self.period, damping)
        return move, self.variance * noise

    def readout(self) -> Float[Array, " d"]:
        return jnp.eye(2)[0]


def oscillation(x: Array, a: Array) -> tuple[Float[Array, "2 2"], Float[Array, "2 2"]]:
    """A and Q of the unit oscillator over the angle x, with damping a.

    With C, S = e^-ax cos(bx), e^-ax sin(bx) / b the states (f, f'/omega) move by [[C + a S, S], [-S, C - a S]].
    Stationarity and dQ/dx = A W A' give Q = 1 - (rows of A squared) and Q12 = 2 a S^2. The first entry, O(x^3),
    cancels for small x and is integrated there: Q11 = 4 a int_0^x S^2.
    """
    c, s = damped(x, a)
    lost = -jnp.expm1(-2 * a * jnp.minimum(x, 400 / a))
    corner = lost + 2 * a * s * (c - a * s)
    small = (x < 1) & (a * x < 1)
    nodes, weights = np.polynomial.legendre.leggauss(16)
    near = jnp.where(small, x, 1.0)
    along = near * (nodes + 1) / 2
    integral = jnp.sum(weights * damped(along, jnp.where(small, a, 0.5))[1] ** 2) * near / 2
    first = jnp.where(small, 4 * a * integral, lost - 2 * a * s * (c + a * s))
    cross = 2 * a * s**2
    return jnp.array([[c + a * s, s], [-s, c - a * s]]), jnp.array([[first, cross], [cross, corner]])


def damped(x: Array, a: Array) -> tuple[Array, Array]:
    """e^-ax cos(bx) and e^-ax sin(bx) / b with b^2 = 1 - a^2, smooth through critical damping (b = 0)."""
    x = jnp.minimum(x, 800.0 * jnp.maximum(a, 1 / a))  # beyond it all is forgotten
    z = (1 - a) * (1 + a) * x**2
    level = jnp.exp(-a * x)
    # |z| small: the common power series of cos and cosh
    inner = jnp.clip(z, -0.5, 0.5)
    even, odd = jnp.ones_like(z), jnp.ones_like(z)
    for k in range(9, 0, -1):
        even = 1 - inner / ((2 * k - 1) * (2 * k)) * even
        odd = 1 - inner / ((2 * k) * (2 * k + 1)) * odd
    # a < 1: a swing
    swing = jnp.sqrt(jnp.where(z > 0.25, z, 1.0))
    # a > 1: two decays, (a - b) = 1 / (a + b) without cancellation
    b = jnp.sqrt(jnp.where(z < -0.25, (a - 1) * (a + 1), 1.0))
    slow, gone = jnp.exp(-x / (a + b)), -jnp.expm1(-2 * b * x)
    near, swings = jnp.abs(z) <= 0.25, z > 0
    cosine = jnp.where(near, level * even, jnp.where(swings, level * jnp.cos(swing), slow * (2 - gone) / 2))
    over_b = level * x * jnp.sin(swing) / swing
    sine = jnp.where(near, level * x * odd, jnp.where(swings, over_b, slow * gone / (2 * b)))
    return cosine, sine
