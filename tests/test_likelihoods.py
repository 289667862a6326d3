"""Every likelihood: its density, its predictive distribution, its draws, against integrals on a grid."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from chronogp.likelihoods import Marginals, Rows

from conformance.likelihoods import LIKELIHOODS
from tolerances import MOMENT, error

pytestmark = pytest.mark.usefixtures("float64")
every_likelihood = pytest.mark.parametrize("case", LIKELIHOODS, ids=lambda case: case.label)

LATENT = Marginals(np.array([[0.3], [-0.2], [1.0]]), np.array([[[0.5]], [[0.04]], [[1.7]]]))
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(80)


def density(case, y, row):
    """E p(y given f) over f, at every y, by quadrature over f."""
    f = LATENT.mean[row, 0] + np.sqrt(LATENT.cov[row, 0, 0]) * NODES
    y = np.atleast_1d(y)
    grid_y, grid_f = np.repeat(y, len(f)), np.tile(f, len(y))
    exposure = np.full(len(grid_y), case.exposure[row])
    log_p = np.asarray(case.likelihood.log_prob(Rows(grid_y, exposure), grid_f[:, None]))
    return np.exp(log_p).reshape(len(y), len(f)) @ (WEIGHTS / WEIGHTS.sum())


@every_likelihood
def test_log_prob_is_a_density(case):
    step = case.support[1] - case.support[0]
    for row in range(3):
        assert error(density(case, case.support, row).sum() * step, 1.0) < MOMENT


@every_likelihood
def test_log_density_is_the_expectation(case):
    found = case.likelihood.log_density(Rows(case.y, case.exposure), LATENT)
    truth = [np.log(density(case, case.y[row], row)[0]) for row in range(3)]
    assert error(found, truth) < MOMENT


@every_likelihood
def test_mean_and_variance_are_the_predictives(case):
    mean, variance = case.likelihood.mean_and_variance(case.exposure, LATENT)
    step = case.support[1] - case.support[0]
    for row in range(3):
        p = density(case, case.support, row) * step
        first = p @ case.support
        assert error(mean[row], first) < MOMENT
        assert error(variance[row], p @ (case.support - first) ** 2) < MOMENT


@every_likelihood
@pytest.mark.parametrize("q", [0.02, 0.5, 0.9])
def test_quantiles_leave_their_share_below(case, q):
    found = np.asarray(case.likelihood.quantile(q, case.exposure, LATENT))
    for row in range(3):
        below = np.linspace(case.support[0], found[row], 200_001)
        share = np.trapezoid(density(case, below[::10], row), below[::10])
        assert abs(share - q) < 1e-6


@every_likelihood
def test_draws_have_the_likelihoods_moments(case):
    f = np.broadcast_to(LATENT.mean, (20_000, 3, 1))
    draws = np.asarray(case.likelihood.draw(jax.random.key(0), case.exposure, jnp.asarray(f)))
    still = Marginals(LATENT.mean, np.zeros((3, 1, 1)))
    mean, variance = (np.asarray(x) for x in case.likelihood.mean_and_variance(case.exposure, still))
    assert np.max(np.abs(draws.mean(0) - mean) / np.sqrt(variance / 20_000)) < 4.5
    assert np.max(np.abs(draws.var(0) / variance - 1)) < 4.5 * np.sqrt(2 / 20_000)


@every_likelihood
def test_an_exact_likelihood_is_the_gaussian_shape_that_it_says(case):
    rows = Rows(case.y, case.exposure)
    centre, precision, log_scale = case.likelihood.exact(rows)
    for f in (-1.0, 0.4, 3.0):
        shape = log_scale - precision * (f - centre) ** 2 / 2
        assert error(shape, case.likelihood.log_prob(rows, np.full((3, 1), f))) < MOMENT
