"""fit: the top of the evidence, what is kept, and what is said when it was not reached."""

import numpy as np
import pytest
from scipy import optimize

import chronogp as cgp

from conformance.kernels import matern
from oracles import dense


@pytest.fixture(scope="module")
def series():
    rng = np.random.default_rng(3)
    t = np.sort(rng.uniform(0, 20, 80))
    return cgp.Series(t, np.sin(t) + 0.3 * rng.normal(size=80))


def test_the_top_is_that_of_the_dense_evidence(series):
    def loss(x):
        variance, lengthscale, sd = np.exp(x)

        def gram(s, t):
            return matern(3, variance, lengthscale)(s[:, None], t[None, :])

        return -dense.regression(gram, series.times, series.y, sd, series.times[:1]).log_z

    truth = optimize.minimize(loss, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-10})
    posterior = cgp.fit(cgp.Model(cgp.Matern52(1.0, 1.0), cgp.Gaussian(1.0)), series)
    model = posterior.model
    found = np.log([model.kernel.variance, model.kernel.lengthscale, model.likelihood.sd])
    assert posterior.converged
    assert posterior.status == "converged"
    assert posterior.evidence == pytest.approx(-truth.fun, abs=1e-8)
    assert np.max(np.abs(found - truth.x)) < 1e-4
    assert posterior.steps == len(posterior.trace)
    assert posterior.trace.max() == pytest.approx(posterior.evidence, abs=1e-9)


def test_what_is_fixed_stays(series):
    model = cgp.Model(cgp.Matern52(cgp.fixed(1.5), 1.0) * cgp.Cosine(6.0), cgp.Gaussian(cgp.fixed(0.3)))
    found = cgp.fit(model, series).model
    assert found.kernel.factors[0].variance == 1.5
    assert found.kernel.factors[0].lengthscale != 1.0
    assert found.kernel.factors[1].period == 6.0
    assert found.likelihood.sd == 0.3
    assert repr(found.likelihood) == "Gaussian(sd=fixed(0.3))"


def test_a_period_is_learned_when_asked(series):
    model = cgp.Model(cgp.Cosine(cgp.learned(6.0)) * cgp.Matern32(1.0, cgp.fixed(40.0)), cgp.Gaussian(0.3))
    assert cgp.fit(model, series).model.kernel.factors[0].period == pytest.approx(2 * np.pi, rel=0.02)


def test_matrices_of_your_own_are_kept_and_a_density_is_learned(series):
    kernel = cgp.StateSpace(np.array([[-0.5]]), [1.0], cgp.learned(1.0), [1.0])
    found = cgp.fit(cgp.Model(kernel, cgp.Gaussian(0.3)), series).model.kernel
    assert found.F == -0.5
    assert found.q != 1.0


def test_nothing_to_learn_is_an_inference(series):
    model = cgp.Model(cgp.Matern52(cgp.fixed(1.0), cgp.fixed(1.0)), cgp.Gaussian(cgp.fixed(0.3)))
    assert cgp.fit(model, series).evidence == cgp.infer(model, series).evidence


@pytest.mark.parametrize("unit", [1.0, 1000.0])
def test_a_start_in_another_unit_finds_the_same_top(series, unit):
    """From variance 1 and sd 1, whatever the scale of the data."""
    posterior = cgp.fit(cgp.Model(cgp.Matern52(), cgp.Gaussian()), cgp.Series(series.times, unit * series.y))
    near = cgp.fit(cgp.Model(cgp.Matern52(0.5, 2.0), cgp.Gaussian(0.3)), series)
    assert posterior.evidence + 80 * np.log(unit) == pytest.approx(near.evidence, abs=1e-5)
    assert posterior.model.kernel.lengthscale == pytest.approx(near.model.kernel.lengthscale, rel=1e-3)


def test_too_few_steps_are_said(series):
    with pytest.warns(cgp.ConvergenceWarning, match="give a larger max_steps"):
        posterior = cgp.fit(cgp.Model(cgp.Matern52(1.0, 0.01), cgp.Gaussian(1.0)), series, max_steps=2)
    assert not posterior.converged
    assert posterior.status == "not converged"
    assert posterior.warnings
    assert posterior.steps == 2
    assert posterior.evidence >= posterior.trace[0]


def test_a_far_start_still_finds_the_top(series):
    near = cgp.fit(cgp.Model(cgp.Matern52(1.0, 1.0), cgp.Gaussian(0.3)), series)
    far = cgp.fit(cgp.Model(cgp.Matern52(1e4, 0.3), cgp.Gaussian(30.0)), series)
    assert far.evidence == pytest.approx(near.evidence, abs=1e-6)


def test_what_the_data_want_nothing_of_is_named():
    """Data without noise want a noise of nothing."""
    t = np.linspace(0, 10, 30)
    model = cgp.Model(cgp.Cosine(cgp.fixed(5.0)), cgp.Gaussian(1.0))
    with pytest.warns(cgp.ConvergenceWarning, match=r"took likelihood\.sd to an end of its range"):
        posterior = cgp.fit(model, cgp.Series(t, np.sin(2 * np.pi * t / 5)))
    assert "at a bound" in posterior.status
