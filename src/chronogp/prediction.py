"""Predictions: the latent function at some times, and the data that it would produce there."""

import warnings
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Float

from .errors import ExposureWarning, ModelError
from .likelihoods import Likelihood, Marginals
from .linalg import semidefinite_root
from .params import whole
from .precision import in_float64
from .typing import Numbers


class Prediction(eqx.Module):
    """The latent function at `times`: `.mean`, `.var`, `.sd`, a number a time (or a row a time, for several latents).

    `.observed()` is what a new datum there would be.
    """

    times: np.ndarray
    latent: Marginals
    likelihood: Likelihood | None
    exposure: Float[np.ndarray, " times"] | None = None
    exposure_assumed: bool = eqx.field(static=True, default=False)

    @property
    def mean(self) -> np.ndarray:
        return _flat(self.latent.mean)

    @property
    def var(self) -> np.ndarray:
        return _flat(np.diagonal(self.latent.cov, axis1=1, axis2=2))

    @property
    def sd(self) -> np.ndarray:
        return np.sqrt(self.var)

    def observed(self) -> "Observed":
        """The distribution of a new datum at each time, the latent function's uncertainty included.

        >>> import chronogp as cgp
        >>> series = cgp.Series([0.0, 1.0, 2.5], [0.3, -0.1, 0.4])
        >>> posterior = cgp.infer(cgp.Model(cgp.Matern32(), cgp.Gaussian(0.1)), series)
        >>> low, high = posterior.predict([2.0, 3.0]).observed().interval(0.9)
        >>> low.round(1).tolist(), high.round(1).tolist()
        ([-0.7, -0.7], [1.2, 1.4])
        """
        if self.likelihood is None or self.exposure is None:
            raise ModelError("a component is a part of the latent function, and no datum sees it alone; use predict()")
        if self.exposure_assumed:
            warn_of_assumed_exposure()
        return Observed(self.times, self.latent, self.exposure, self.likelihood)

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        return f"Prediction({len(self)} times)"


class Observed(eqx.Module):
    """New data at `times`, one a time: `.mean`, `.sd`, and `quantile`, `interval`, `sample`."""

    times: np.ndarray
    latent: Marginals
    exposure: Float[np.ndarray, " times"]
    likelihood: Likelihood

    @property
    @in_float64
    def mean(self) -> Float[np.ndarray, " times"]:
        return np.asarray(self.likelihood.mean_and_variance(self.exposure, self.latent)[0])

    @property
    @in_float64
    def sd(self) -> Float[np.ndarray, " times"]:
        return np.sqrt(np.asarray(self.likelihood.mean_and_variance(self.exposure, self.latent)[1]))

    @in_float64
    def quantile(self, q: Any) -> np.ndarray:
        """The values that a new datum stays below with probability q: one a time; for several q, a row each."""
        try:
            levels = np.asarray(q, dtype=np.float64)
        except (TypeError, ValueError):
            levels = np.array(np.nan)
        if not np.all((levels > 0) & (levels < 1)):
            raise ModelError(f"quantile: q={q!r}, but a probability is between 0 and 1")
        found = [np.asarray(self.likelihood.quantile(one, self.exposure, self.latent)) for one in levels.ravel()]
        return np.stack(found).reshape(*levels.shape, len(self.times))

    def interval(self, level: float = 0.9) -> tuple[Float[np.ndarray, " times"], Float[np.ndarray, " times"]]:
        """The band that holds a new datum with probability `level`, and leaves as much above as below."""
        if not isinstance(level, float | np.floating) or not 0 < level < 1:
            raise ModelError(f"interval: level={level!r}, but a level is between 0 and 1, such as 0.9")
        low, high = self.quantile([(1 - level) / 2, (1 + level) / 2])
        return low, high

    @in_float64
    def sample(self, n: int, seed: int = 0) -> Float[np.ndarray, "n times"]:
        """n draws of a new datum at each time, independently from time to time."""
        n, seed = whole("sample", "n", n, 1), whole("sample", "seed", seed, 0)
        to_f, to_y = jax.random.split(jax.random.key(seed))
        root = np.asarray(roots(self.latent.cov))
        noise = np.asarray(jax.random.normal(to_f, (n, *self.latent.mean.shape), np.float64))
        f = self.latent.mean + np.einsum("tij,ntj->nti", root, noise)
        return np.array(self.likelihood.draw(to_y, self.exposure, f))

    def __repr__(self) -> str:
        return f"Observed({len(self.times)} times)"


roots = jax.jit(jax.vmap(semidefinite_root))


def warn_of_assumed_exposure() -> None:
    warnings.warn(
        "the series' exposures differ, so new times are given an exposure of 1; give exposure=... for others",
        ExposureWarning,
        stacklevel=3,
    )


def _flat(x: Float[Numbers, "times p"]) -> np.ndarray:
    """One latent function needs no second axis."""
    return np.asarray(x[:, 0] if x.shape[1] == 1 else x)
