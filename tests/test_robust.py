"""Extremes: 504 models against 80 digits. Nothing is clipped, so what is right is right to the digits promised."""

import warnings

import numpy as np
import pytest

import chronogp as cgp

from oracles import precise
from tolerances import PRECISE, PRECISE_FAR

TIMES = np.array([0.0, 0.0, 1e-300, 1.0, 2.0, 3.5, 3.5, 5.0, 1e300])  # steps of 0, 1e-300 and 1e300 among usual ones
SHAPE = np.array([0.3, 0.31, 0.29, -1.1, np.nan, 0.8, 0.7, 0.2, -0.4])
LENGTHSCALES = [1e-6, 1e-3, 1.0, 1e3, 1e6, 1e9]
VARIANCES = [1e-12, 1.0, 1e12]
NOISES = [1e-8, 1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e4]
KERNELS = [cgp.Matern12, cgp.Matern32, cgp.Matern52, cgp.Matern72]


@pytest.mark.parametrize("variance", VARIANCES)
@pytest.mark.parametrize("lengthscale", LENGTHSCALES)
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_extremes(order, lengthscale, variance):
    for sd in NOISES:
        kernel = KERNELS[order - 1](variance, lengthscale)
        y = np.sqrt(variance + sd**2) * SHAPE
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            posterior = cgp.infer(cgp.Model(kernel, cgp.Gaussian(sd)), cgp.Series(TIMES, y))
        found = posterior.predict()
        truth = precise.posterior(precise.matern(order, variance, lengthscale), TIMES, y, sd)

        assert np.isfinite(posterior.evidence)
        assert np.all(np.isfinite(found.mean))
        assert np.all(found.var > 0)
        ratio = variance / sd**2
        flagged = "imprecise" in posterior.status
        assert flagged == any(issubclass(w.category, cgp.PrecisionWarning) for w in said)
        assert "refined" in posterior.status if ratio > 1e7 else posterior.status == "converged" or ratio > 1e5
        if ratio > 1.5e24:
            assert flagged
        else:
            allowed = PRECISE if ratio < 1.5e18 else PRECISE_FAR
            assert relative(posterior.evidence, truth.log_z, at_least=1.0) < allowed
            assert max(map(relative, found.var, truth.variance)) < allowed


def relative(value, truth, at_least=0.0):
    return abs(float((value - truth) / max(at_least, abs(truth))))
