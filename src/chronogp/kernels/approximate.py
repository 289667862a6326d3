"""Kernels that no finite state carries exactly: approximations, with `order` for the price of accuracy.

RBF: its spectral density is a Gaussian, and 1 / exp(w^2 / 2) with the exponential's Taylor polynomial of degree
`order` is the spectral density of an `order`-dimensional linear SDE (Hartikainen and Sarkka 2010). Its largest
error, relative to the variance, is 4e-3 at order 6 and 2e-4 at order 10.

Rational quadratic: k(tau) = E exp(-s tau^2 / (2 lengthscale^2)) with s ~ Gamma(alpha, alpha), so a mixture of RBFs.
In u = log s the density is smooth and bell-shaped, so equidistant nodes do far better than Gauss-Laguerre ones,
which miss the long tail of small alpha.

`docs/kernels.md` prints the table of errors that `tests/test_approximate.py` produces.
"""

import math
from functools import cache, partial
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np
from jaxtyping import Array, Float

from ..linalg import lyapunov
from ..params import Parameter, parameter, whole
from .base import Kernel
from .statespace import discretise

HIGHEST = 12  # from here on the SDE's companion matrix loses more digits than the order gains


class Process(NamedTuple):
    """A linear SDE of unit variance and unit lengthscale: its drift, its noise, its stationary covariance."""

    drift: Float[np.ndarray, "d d"]
    noise: Float[np.ndarray, "d d"]
    start: Float[np.ndarray, "d d"]


@cache
def unit_rbf(order: int) -> Process:
    """The RBF's SDE: the stable half of the Taylor polynomial's roots, in states of unit variance."""
    taylor = np.zeros(2 * order + 1)
    taylor[::2] = [(-0.5) ** k / math.factorial(k) for k in range(order + 1)]
    roots = np.roots(taylor[::-1])
    drift = np.eye(order, k=1)
    drift[-1] = -np.poly(roots[roots.real < 0]).real[:0:-1]
    noise = np.zeros((order, order))
    noise[-1, -1] = 1.0
    start = lyapunov(np, drift, noise)
    size = np.sqrt(np.diag(start))
    drift, noise, start = drift * size / size[:, None], noise / np.outer(size, size), start / np.outer(size, size)
    return Process(drift, noise, start)


class RBF(Kernel):
    """Infinitely smooth, approximated: k(tau) = variance exp(-tau^2 / (2 lengthscale^2)), with `order` states."""

    stationary = True
    variance: Parameter = parameter(1.0)
    lengthscale: Parameter = parameter(1.0, duration=True)
    order: int = eqx.field(default=6, static=True, converter=partial(whole, "RBF", "order", low=1, high=HIGHEST))

    def start(self) -> Float[Array, "d d"]:
        return self.variance * jnp.asarray(unit_rbf(self.order).start)

    def transition(self, dt: Float[Array, ""]) -> tuple[Float[Array, "d d"], Float[Array, "d d"]]:
        unit = unit_rbf(self.order)
        move, noise = discretise(jnp.asarray(unit.drift), jnp.asarray(unit.noise), dt / self.lengthscale)
        return move, self.variance * noise

    def readout(self) -> Float[Array, " d"]:
        return jnp.eye(self.order)[0]


class RationalQuadratic(Kernel):
    """Several lengthscales at once, approximated: k(tau) = variance (1 + tau^2 / (2 alpha lengthscale^2))^-alpha.

    A mixture of `1 + order // 2` RBFs of `order` states each: 24 states at order 6.
    """

    stationary = True
    variance: Parameter = parameter(1.0)
    lengthscale: Parameter = parameter(1.0, duration=True)
    alpha: Parameter = parameter(1.0)
    order: int = eqx.field(
        default=6, static=True, converter=partial(whole, "RationalQuadratic", "order", low=1, high=HIGHEST)
    )

    def mixture(self) -> tuple[Float[Array, " m"], Float[Array, " m"]]:
        """Weights and relative precisions s of the RBFs: equidistant nodes in log s over the bulk of the Gamma density.

        The ends of that bulk were fitted: they make the kernel's largest error small for alpha from 0.2 to 100 and
        every number of terms.
        """
        terms = 1 + self.order // 2
        alpha = jnp.asarray(self.alpha, dtype=float)
        root = jnp.sqrt(alpha)
        low = -(0.86 * terms - 0.79 + 0.59 / root) / root
        high = (0.21 * terms + 0.18 + 0.92 * root / (1 + root)) / jnp.sqrt(1 + alpha)
        u = low + (high - low) * np.linspace(0, 1, terms) if terms > 1 else jnp.zeros(1)
        log_weight = alpha * (u - jnp.exp(u))
        weight = jnp.exp(log_weight - log_weight.max())
        return weight / weight.sum(), jnp.exp(u)

    def start(self) -> Float[Array, "d d"]:
        weights, _ = self.mixture()
        return self.variance * jnp.kron(jnp.diag(weights), jnp.asarray(unit_rbf(self.order).start))

    def transition(self, dt: Float[Array, ""]) -> tuple[Float[Array, "d d"], Float[Array, "d d"]]:
        unit = unit_rbf(self.order)
        moves, noises = [], []
        for weight, precision in zip(*self.mixture(), strict=True):
            x = dt / self.lengthscale * jnp.sqrt(precision)
            move, noise = discretise(jnp.asarray(unit.drift), jnp.asarray(unit.noise), x)
            moves.append(move)
            noises.append(self.variance * weight * noise)
        return jsp.linalg.block_diag(*moves), jsp.linalg.block_diag(*noises)

    def readout(self) -> Float[Array, " d"]:
        weights, _ = self.mixture()
        return jnp.tile(jnp.eye(self.order)[0], weights.size)
