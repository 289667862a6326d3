"""Questions about a finished inference: components, joint draws, densities, new data, exposures, the summary."""

import numpy as np
import pytest
from scipy import stats

import chronogp as cgp

from conformance.kernels import matern
from oracles import dense
from tolerances import INVARIANCE, MOMENT, SUMS, error

TIMES = np.array([3.0, 0.0, 1.0, 1.0, 2.2, 6.0])
Y = np.array([0.7, 0.1, 0.6, 0.8, np.nan, -0.5])
KERNEL = cgp.Matern32(1.0, 1.5) + 0.5 * cgp.Matern32(1.0, 8.0) + cgp.Cosine(5.0) * cgp.Matern12(0.3, 20.0)
NEW = np.array([4.0, -1.0, 0.5, 8.0])


@pytest.fixture(scope="module")
def posterior():
    return cgp.infer(cgp.Model(KERNEL, cgp.Gaussian(0.3)), cgp.Series(TIMES, Y))


def truth(asked):
    def gram(s, t):
        tau = s[:, None] - t[None, :]
        long = matern(2, 0.5, 8.0)(tau, 0) + np.cos(2 * np.pi * tau / 5) * matern(1, 0.3, 20.0)(tau, 0)
        return matern(2, 1.0, 1.5)(tau, 0) + long

    seen = ~np.isnan(Y)
    return dense.regression(gram, TIMES[seen], Y[seen], 0.3, asked)


@pytest.mark.parametrize("times", [None, NEW], ids=["own", "new"])
def test_components_add_up(posterior, times):
    parts, whole = posterior.components(times), posterior.predict(times)
    assert list(parts) == ["Matern32", "Matern32 2", "Cosine*Matern12"]
    assert error(sum(part.mean for part in parts.values()), whole.mean) < SUMS
    assert all(np.all(part.var > 0) for part in parts.values())


def test_a_component_has_no_data_of_its_own(posterior):
    with pytest.raises(cgp.ModelError, match="no datum sees it alone"):
        posterior.components()["Matern32"].observed()


def test_draws_have_the_posterior_covariance(posterior):
    asked = np.concatenate([TIMES, NEW])
    exact = truth(asked)
    draws = posterior.sample(4000, asked, seed=1)
    assert draws.shape == (4000, len(asked))
    assert draws.dtype == np.float64
    found = np.cov(draws.T)
    spread = np.sqrt((np.outer(exact.variance, exact.variance) + exact.cov**2) / 4000)  # of a sample covariance
    assert np.max(np.abs(found - exact.cov) / spread) < 4.5
    assert np.max(np.abs(draws.mean(0) - exact.mean) / np.sqrt(exact.variance / 4000)) < 4.5


def test_draws_at_one_instant_are_one_value(posterior):
    draws = posterior.sample(5)
    assert np.array_equal(draws[:, 2], draws[:, 3])


def test_draws_follow_their_seed(posterior):
    assert np.array_equal(posterior.sample(3, seed=4), posterior.sample(3, seed=4))
    assert not np.array_equal(posterior.sample(3, seed=4), posterior.sample(3, seed=5))


def test_draws_of_deterministic_parts():
    """A cosine has Q = 0: its draws are exact waves, of which two values fix all others."""
    posterior = cgp.infer(cgp.Model(cgp.Cosine(5.0), cgp.Gaussian(0.3)), cgp.Series([0.0, 1.0], [0.5, 0.2]))
    draws = posterior.sample(50, np.arange(12.0))
    assert error(draws[:, 5:], draws[:, :-5]) < MOMENT


def test_observed_draws_add_the_noise(posterior):
    latent, observed = (posterior.sample(4000, NEW, kind=kind, seed=2) for kind in ("latent", "observed"))
    noise = observed - latent
    assert np.max(np.abs(noise.std(0) / 0.3 - 1)) < 4.5 / np.sqrt(2 * 4000)
    assert abs(np.corrcoef(noise[:, 0], noise[:, 1])[0, 1]) < 4.5 / np.sqrt(4000)


def test_log_density_is_the_predictive(posterior):
    other = cgp.Series(NEW, [0.1, np.nan, -0.2, 2.0])
    exact = truth(NEW)
    density = posterior.log_density(other)
    wanted = stats.norm.logpdf(other.y, exact.mean, np.sqrt(exact.variance + 0.3**2))
    assert np.array_equal(np.isnan(density), np.isnan(other.y))
    assert error(density[[0, 2, 3]], wanted[[0, 2, 3]]) < MOMENT
    assert error(posterior.nlpd(other), -np.nanmean(wanted)) < MOMENT


def test_observed_is_the_likelihoods_mixture(posterior):
    exact, observed = truth(NEW), posterior.predict(NEW).observed()
    band = stats.norm(exact.mean, np.sqrt(exact.variance + 0.3**2))
    assert error(observed.mean, exact.mean) < MOMENT
    assert error(observed.sd, band.std()) < MOMENT
    assert error(observed.quantile(0.9), band.ppf(0.9)) < MOMENT
    assert error(observed.quantile([0.1, 0.5]), np.stack([band.ppf(0.1), band.ppf(0.5)])) < MOMENT
    assert error(np.stack(observed.interval(0.8)), np.stack([band.ppf(0.1), band.ppf(0.9)])) < MOMENT
    draws = observed.sample(4000, seed=3)
    assert np.max(np.abs(draws.mean(0) - exact.mean) / band.std()) < 4.5 / np.sqrt(4000)
    assert np.max(np.abs(draws.std(0) / band.std() - 1)) < 4.5 / np.sqrt(2 * 4000)


def test_exposure_is_the_number_of_measurements_behind_a_row():
    model = cgp.Model(cgp.Matern32(1.0, 2.0), cgp.Gaussian(0.5))
    series = cgp.Series([0.0, 1.0], [0.3, 0.4], exposure=4.0)
    observed = cgp.infer(model, series).predict([0.5]).observed()  # a constant exposure is the new times' too
    assert error(observed.sd**2 - cgp.infer(model, series).predict([0.5]).var, [0.5**2 / 4]) < INVARIANCE
    asked = cgp.infer(model, series).predict([0.5], exposure=[25.0])
    assert error(asked.observed().sd ** 2 - asked.var, [0.5**2 / 25]) < INVARIANCE


def test_a_score_takes_the_exposures_that_a_prediction_takes():
    model = cgp.Model(cgp.Matern32(1.0, 2.0), cgp.Gaussian(0.5))
    posterior = cgp.infer(model, cgp.Series([0.0, 1.0], [0.3, 0.4], exposure=4.0))
    observed = posterior.predict([0.5]).observed()
    wanted = stats.norm.logpdf(0.3, observed.mean, observed.sd)
    assert error(posterior.log_density(cgp.Series([0.5], [0.3])), wanted) < INVARIANCE


def test_an_exposure_that_was_assumed_is_said_where_it_matters():
    model = cgp.Model(cgp.Matern32(1.0, 2.0), cgp.Gaussian(0.5))
    posterior = cgp.infer(model, cgp.Series([0.0, 1.0], [0.3, 0.4], exposure=[1.0, 2.0]))
    assert error(posterior.predict().observed().sd ** 2 - posterior.predict().var, [0.25, 0.125]) < INVARIANCE
    elsewhere = posterior.predict([0.5])  # the latent function needs none
    with pytest.warns(cgp.ExposureWarning, match="given an exposure of 1"):
        elsewhere.observed()
    with pytest.warns(cgp.ExposureWarning, match="given an exposure of 1"):
        posterior.sample(2, [0.5], kind="observed")


def test_answers_are_numpy_in_float64(posterior):
    found = posterior.predict(NEW)
    for answer in (found.mean, found.var, found.sd, found.observed().mean, found.observed().quantile(0.5)):
        assert type(answer) is np.ndarray
        assert answer.dtype == np.float64
    assert type(posterior.evidence) is float
    assert type(posterior.model.likelihood.sd) is float


def test_dates_come_back_as_they_were_given():
    dates = np.array(["2024-03-02", "2024-03-01", "2024-03-05"], dtype="datetime64[D]")
    posterior = cgp.infer(cgp.Model(cgp.Matern32(1.0, "3D"), cgp.Gaussian(0.1)), cgp.Series(dates, [1.0, 0.5, 0.2]))
    assert np.array_equal(posterior.predict().times, dates)
    hour = posterior.predict(["2024-03-02T12:00"])
    assert hour.times[0] == np.datetime64("2024-03-02T12:00")
    assert hour.mean[0] == pytest.approx(posterior.predict(dates + np.timedelta64(12, "h")).mean[0], rel=1e-9)


def test_the_summary_tells_what_was_learned_and_how(posterior):
    text = posterior.summary()
    for part in ("6 rows, 1 missing", "evidence", "converged", "kernel.2.0.period", "5.0   fixed", "likelihood.sd"):
        assert part in text
    assert repr(posterior).startswith("Posterior(6 rows, evidence ")
    assert repr(posterior.predict()) == "Prediction(6 times)"


@pytest.mark.parametrize(
    ("ask", "error", "says"),
    [
        (lambda p: p.predict([0.5, np.inf]), cgp.DataError, "times row 1 ('inf') is not a finite time"),
        (lambda p: p.predict(["2024-01-01"]), cgp.DataError, "times are dates, but the series' own times are plain"),
        (lambda p: p.predict([0.5], exposure=[1.0, 2.0]), cgp.DataError, "exposure has 2 rows, but there is 1 time"),
        (lambda p: p.sample(0), cgp.ModelError, "n=0"),
        (lambda p: p.sample(3, seed="a"), cgp.ModelError, "seed='a'"),
        (lambda p: p.predict().observed().sample(-1), cgp.ModelError, "n=-1"),
        (lambda p: p.predict([]), cgp.DataError, "times: there is no row"),
        (lambda p: p.predict().observed().quantile("median"), cgp.ModelError, "q='median'"),
        (lambda p: p.predict().observed().interval("90%"), cgp.ModelError, "level='90%'"),
        (lambda p: p.sample(3, kind="noisy"), cgp.ModelError, "kind='noisy'"),
        (lambda p: p.log_density([1.0, 2.0]), cgp.DataError, "give Series(t, y)"),
        (lambda p: p.nlpd(cgp.Series([1.0], [np.nan])), cgp.DataError, "no row of the series has a value"),
        (lambda p: p.predict().observed().quantile(1.2), cgp.ModelError, "q=1.2"),
        (lambda p: p.predict().observed().interval(90), cgp.ModelError, "level=90"),
    ],
)
def test_questions_that_make_no_sense(posterior, ask, error, says):
    with pytest.raises(error) as raised:
        ask(posterior)
    assert says in str(raised.value)


def test_a_time_before_the_start_is_refused():
    model = cgp.Model(cgp.LocalLevel(1.0) + cgp.Matern32(), cgp.Gaussian(0.1))
    posterior = cgp.infer(model, cgp.Series([5.0, 2.0, 3.0], [1.0, 2.0, 3.0]))
    with pytest.raises(cgp.DataError, match=r"times row 1 \(1.0\) is before the series' first time \(2.0\)"):
        posterior.predict([4.0, 1.0])
    assert len(posterior.predict([2.0, 9.0]).mean) == 2
