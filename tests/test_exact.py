"""Gaussian inference against dense matrices: every kernel, few and many rows, ties, gaps, missing rows, new times."""

import numpy as np
import pytest

import chronogp as cgp

from conformance.kernels import COMBINATIONS, KERNELS
from oracles import dense
from scenes import scene
from tolerances import LOG_Z, MOMENT, error

SIZES = (1, 2, 3, 50, 400)


def check_against_dense(case, n):
    given = scene(case, n)
    posterior = cgp.infer(given.model, given.series)
    asked = np.concatenate([given.times, given.new])
    found = posterior.predict(asked)

    seen = ~np.isnan(given.y)
    truth = dense.regression(given.gram, given.times[seen], given.y[seen], given.sd, asked)
    assert posterior.status == "converged"
    assert error(posterior.evidence, truth.log_z) < LOG_Z
    assert error(found.mean, truth.mean) < MOMENT
    assert error(found.var, truth.variance) < MOMENT


@pytest.mark.parametrize("case", KERNELS, ids=lambda case: case.label)
def test_kernels(case):
    for n in SIZES:
        check_against_dense(case, n)


@pytest.mark.slow
@pytest.mark.parametrize("case", COMBINATIONS, ids=lambda case: case.label)
def test_combinations(case):
    for n in SIZES:
        check_against_dense(case, n)
