"""What a likelihood is: the density of one datum y given the latent value f at its time, and what follows from it."""

import abc
from typing import ClassVar, NamedTuple

from jaxtyping import Float, PRNGKeyArray

from ..params import Parametrised
from ..typing import Numbers


class Rows(NamedTuple):
    """What a likelihood sees of the data: a value and an exposure a row, NaN where the value is missing."""

    y: Float[Numbers, " rows"]
    exposure: Float[Numbers, " rows"]


class Marginals(NamedTuple):
    """The latent functions at some rows: f ~ N(mean, cov), independently a row."""

    mean: Float[Numbers, "rows p"]
    cov: Float[Numbers, "rows p p"]


class Exact(NamedTuple):
    """A density in f that is Gaussian-shaped: p(y given f) = scale exp(-precision (f - centre)^2 / 2)."""

    centre: Float[Numbers, " rows"]
    precision: Float[Numbers, " rows"]
    log_scale: Float[Numbers, " rows"]


class Likelihood(Parametrised):
    """The distribution of a datum, given the latent function at its time."""

    latents: ClassVar[int] = 1

    @abc.abstractmethod
    def log_prob(self, rows: Rows, f: Float[Numbers, "rows p"]) -> Float[Numbers, " rows"]:
        """log p(y given f), a row."""

    @abc.abstractmethod
    def exact(self, rows: Rows) -> Exact:
        """p(y given f) as a function of f, where that is Gaussian."""

    @abc.abstractmethod
    def log_density(self, rows: Rows, latent: Marginals) -> Float[Numbers, " rows"]:
        """log E p(y given f) over f ~ N(mean, cov), a row."""

    @abc.abstractmethod
    def mean_and_variance(
        self, exposure: Float[Numbers, " rows"], latent: Marginals
    ) -> tuple[Float[Numbers, " rows"], Float[Numbers, " rows"]]:
        """Of a new datum, the latent function's uncertainty included."""

    @abc.abstractmethod
    def quantile(self, q: float, exposure: Float[Numbers, " rows"], latent: Marginals) -> Float[Numbers, " rows"]:
        """The value that a new datum stays below with probability q."""

    @abc.abstractmethod
    def draw(
        self, key: PRNGKeyArray, exposure: Float[Numbers, " rows"], f: Float[Numbers, "draws rows p"]
    ) -> Float[Numbers, "draws rows"]:
        """New data given the latent functions, independently a row and a draw."""
