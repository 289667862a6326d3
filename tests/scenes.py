"""Data that tests share: irregular times with ties, gaps and missing rows, and noise."""

from typing import NamedTuple

import numpy as np

import chronogp as cgp

from conformance.kernels import Case

NOISE = 0.05  # standard deviation, over the largest prior standard deviation of the signal


class Scene(NamedTuple):
    case: Case
    times: np.ndarray  # unsorted, with ties and a gap
    y: np.ndarray  # NaN: missing
    new: np.ndarray  # further times: between, at, and behind the data's
    sd: float

    @property
    def series(self) -> cgp.Series:
        return cgp.Series(self.times, self.y)

    @property
    def model(self) -> cgp.Model:
        return cgp.Model(self.case.kernel, cgp.Gaussian(self.sd))

    def gram(self, s: np.ndarray, t: np.ndarray) -> np.ndarray:
        """The prior covariance of f between two sets of times."""
        first = self.times.min()
        return self.case.covariance(s[:, None] - first, t[None, :] - first)


def scene(case: Case, n: int, seed: int = 0) -> Scene:
    """n rows, shuffled; from n = 3 on with a tie, from n = 50 on with a gap and missing rows."""
    rng = np.random.default_rng([n, seed])
    times = np.sort(rng.uniform(0, 8, n))
    times[n // 2 :] += 2.5
    if n > 2:
        ties = rng.choice(n - 1, size=max(n // 20, 1), replace=False)
        times[ties + 1] = times[ties]
    new = np.concatenate([times[:1], rng.uniform(times.min(), times.max() + 2.0, 7), times[-1:] + 1.0])
    if case.whole_steps:
        times, new = np.round(4 * times), np.round(4 * new)
    prior = case.covariance(times - times.min(), times - times.min())
    sd = NOISE * float(np.sqrt(prior.max()))
    y = np.sqrt(prior.max()) * np.sin(times) + sd * rng.normal(size=n)
    if n >= 50:
        y[rng.choice(n, size=n // 10, replace=False)] = np.nan
    order = rng.permutation(n)
    return Scene(case, times[order], y[order], new, sd)
