"""Measurements with Gaussian noise."""

import math

import jax
import jax.numpy as jnp
from jax.scipy.special import ndtri
from jaxtyping import Array, Float, PRNGKeyArray

from ..params import Parameter, parameter
from ..typing import Numbers
from .base import Exact, Likelihood, Marginals, Rows


class Gaussian(Likelihood):
    """A measurement with noise: y ~ N(f, sd^2 / exposure).

    An exposure is the number of measurements that a row is the mean of. Noise known row by row is
    `Gaussian(sd=fixed(1.0))` with `exposure = 1 / sd_of_the_row**2`.

    mean f; variance sd^2 / exposure.

    >>> import chronogp as cgp
    >>> cgp.Gaussian(sd=0.5)
    Gaussian(sd=0.5)
    """

    sd: Parameter = parameter(1.0)

    def precision(self, exposure: Float[Numbers, " rows"]) -> Float[Numbers, " rows"]:
        return exposure / self.sd**2

    def log_prob(self, rows: Rows, f: Float[Numbers, "rows p"]) -> Float[Numbers, " rows"]:
        precision = self.precision(rows.exposure)
        return normal_log_density(rows.y - f[:, 0], 1 / precision)

    def exact(self, rows: Rows) -> Exact:
        precision = self.precision(rows.exposure)
        return Exact(rows.y, precision, jnp.log(precision / (2 * math.pi)) / 2)

    def log_density(self, rows: Rows, latent: Marginals) -> Float[Numbers, " rows"]:
        mean, variance = self.mean_and_variance(rows.exposure, latent)
        return normal_log_density(rows.y - mean, variance)

    def mean_and_variance(
        self, exposure: Float[Numbers, " rows"], latent: Marginals
    ) -> tuple[Float[Numbers, " rows"], Float[Numbers, " rows"]]:
        return latent.mean[:, 0], latent.cov[:, 0, 0] + 1 / self.precision(exposure)

    def quantile(self, q: float, exposure: Float[Numbers, " rows"], latent: Marginals) -> Float[Numbers, " rows"]:
        mean, variance = self.mean_and_variance(exposure, latent)
        return mean + ndtri(q) * jnp.sqrt(variance)

    def draw(
        self, key: PRNGKeyArray, exposure: Float[Numbers, " rows"], f: Float[Numbers, "draws rows p"]
    ) -> Float[Numbers, "draws rows"]:
        noise = jax.random.normal(key, f.shape[:-1], f.dtype)
        return f[..., 0] + noise / jnp.sqrt(self.precision(exposure))


def normal_log_density(x: Numbers, variance: Numbers) -> Array:
    """log N(x; 0, variance)."""
    return -(jnp.log(2 * math.pi * variance) + x**2 / variance) / 2
