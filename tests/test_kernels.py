"""Every kernel by itself: its covariance, its steps, its limits."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from scipy import linalg

import chronogp as cgp
from chronogp.kernels import terms_of
from chronogp.kernels.matern import tables, unit_transition
from chronogp.kernels.periodic import rotation
from chronogp.kernels.statespace import discretise

from conformance.kernels import COMBINATIONS, KERNELS
from tolerances import MOMENT, TRANSITION, error

every_kernel = pytest.mark.parametrize("case", KERNELS, ids=lambda case: case.label)


@every_kernel
def test_covariance_is_the_formula(case):
    lags = np.arange(7.0) if case.whole_steps else np.array([0.0, 1e-3, 0.4, 1.7, 3.0, 11.0])
    since = None if case.kernel.stationary else 2.0
    found = case.kernel.covariance(lags, since=since)
    assert error(found, case.covariance(np.full_like(lags, 2.0), 2.0 + lags)) < MOMENT


@pytest.mark.parametrize("case", COMBINATIONS, ids=lambda case: case.label)
def test_covariance_of_combinations(case):
    lags = np.array([0.0, 0.3, 2.6])
    since = None if case.kernel.stationary else 1.5
    found = case.kernel.covariance(lags, since=since)
    assert error(found, case.covariance(np.full_like(lags, 1.5), 1.5 + lags)) < MOMENT


@every_kernel
def test_two_steps_are_one(case, float64):
    first, second = (2.0, 3.0) if case.whole_steps else (0.37, 1.9)
    a, q = case.kernel.transition(jnp.asarray(first))
    b, r = case.kernel.transition(jnp.asarray(second))
    both, noise = case.kernel.transition(jnp.asarray(first + second))
    assert error(b @ a, both) < TRANSITION * max(1, np.abs(both).max())
    assert error(b @ q @ b.T + r, noise) < TRANSITION * max(1, np.abs(noise).max())


@every_kernel
def test_a_stationary_kernel_stays_as_it_is(case, float64):
    if not case.kernel.stationary:
        assert not np.allclose(case.kernel.covariance(0.0, since=3.0), case.kernel.covariance(0.0, since=0.0))
        return
    start = case.kernel.start()
    a, q = case.kernel.transition(jnp.asarray(0.7))
    assert error(a @ start @ a.T + q, start) < TRANSITION


@every_kernel
@pytest.mark.parametrize("dt", [0.0, 1e-300, 1e-12, 1e-9, 1e-6, 1e-3, 1.0, 1e3, 1e9, 1e300])
def test_steps_of_any_length_are_finite_and_semidefinite(case, dt, float64):
    if not case.kernel.stationary and (dt > 1e3 or case.whole_steps):
        dt = min(round(dt), 1000) * 1.0
    a, q = (np.asarray(x) for x in case.kernel.transition(jnp.asarray(dt)))
    assert np.all(np.isfinite(a))
    assert np.all(np.isfinite(q))
    scale = np.sqrt(np.maximum(np.diag(q), 1e-320))  # in units of its own diagonal, so that tiny entries count too
    assert np.all(np.diag(q) >= 0)
    assert np.linalg.eigvalsh(q / np.outer(scale, scale)).min() > -1e-12
    if dt == 0:
        assert np.array_equal(a, np.eye(len(a)))
        assert not q.any()
    if dt == 1e300 and case.label.startswith(("Matern", "SHO", "RBF", "Rational", "StateSpace")):
        assert error(q, case.kernel.start()) < TRANSITION


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize("x", [1e-9, 1e-4, 1e-2, 0.3, 2.0, 9.0, 40.0])
def test_matern_noise_to_the_last_digits(d, x, float64):
    """Q against its integral in 120 digits: every entry, however small, is right in units of its own diagonal."""
    columns = tables(d).move[:, :, -1]  # of e^-s sum_k s^k columns[k]

    def integral(k, upper):  # of s^k e^-2s
        return mpmath.gammainc(k + 1, 0, 2 * mpmath.mpf(upper)) / mpmath.mpf(2) ** (k + 1)

    def entry(i, j, upper):
        pairs = [(k, m) for k in range(d) for m in range(d)]
        return mpmath.fsum(columns[k, i] * columns[m, j] * integral(k + m, upper) for k, m in pairs)

    with mpmath.workdps(120):
        scale = entry(0, 0, 1000)
        truth = np.array([[float(entry(i, j, x) / scale) for j in range(d)] for i in range(d)])
    found = np.asarray(unit_transition(d, jnp.asarray(x))[1])
    size = np.sqrt(np.diag(truth))
    assert np.max(np.abs(found - truth) / np.outer(size, size)) < 1e-14


def test_discretise_is_van_loans_exponential(float64):
    rng = np.random.default_rng(0)
    f = rng.normal(size=(4, 4)) - 2 * np.eye(4)
    w = np.diag(rng.uniform(size=4))
    for dt in (0.01, 0.5, 3.0):
        both = linalg.expm(np.block([[-f, w], [np.zeros((4, 4)), f.T]]) * dt)
        a, q = discretise(jnp.asarray(f), jnp.asarray(w), jnp.asarray(dt))
        assert error(a, both[4:, 4:].T) < 1e-10
        assert error(q, both[4:, 4:].T @ both[:4, 4:]) < 1e-10


def test_a_billion_periods_cost_no_digits(float64):
    assert error(rotation(jnp.asarray(1e9 * 7.0 + 0.5), 7.0), rotation(jnp.asarray(0.5), 7.0)) < 1e-13


@every_kernel
def test_derivatives_exist_everywhere(case, float64):
    """No NaN hides in an unused branch: gradients at tiny, usual and huge steps are finite."""

    def total(kernel, dt):
        a, q = kernel.transition(dt)
        return jnp.sum(a) + jnp.sum(q) + jnp.sum(kernel.start())

    steps = (1.0, 5.0, 40.0) if case.whole_steps else (0.0, 1e-9, 1e-3, 0.9, 30.0)
    kernel = jax.tree.map(lambda leaf: jnp.asarray(leaf, float), case.kernel)
    for dt in steps:
        slopes = jax.grad(total)(kernel, jnp.asarray(dt))
        assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(slopes))


def test_terms_have_names_that_differ():
    kernel = cgp.Matern52() + cgp.Matern52() + cgp.Cosine(7.0) * cgp.Matern32() + 2.0 * (cgp.White() + cgp.Constant())
    names, rows = terms_of((kernel,))
    assert names == ["Matern52", "Matern52 2", "Cosine*Matern32", "(White+Constant)"]
    assert rows.shape == (4, 3 + 3 + 4 + 2)


def test_kernels_can_be_summed_and_looked_into():
    kernel = sum([cgp.Matern12(), cgp.Cosine(2.0) * cgp.White(3.0), 2.0 * cgp.Constant()])
    assert kernel[1][1].variance == 3.0
    assert kernel[2].scale == 2.0
    assert cgp.RBF(order=np.int64(4)).order == 4


def test_a_discrete_model_takes_any_count_of_steps():
    kernel = cgp.DiscreteStateSpace(0.5 * np.eye(1), np.eye(1), [1.0], np.eye(1))
    assert np.array_equal(kernel.covariance([2.0**39, 2.0**40, 2.0**60], since=0), np.zeros(3))
    with pytest.raises(cgp.ModelError, match="no whole number of steps"):
        kernel.covariance(0.5, since=0)


def test_a_density_may_be_a_matrix():
    density = np.array([[1.0, -0.4], [-0.4, 0.5]])
    kernel = cgp.StateSpace(-np.eye(2), np.eye(2), density, [1.0, 1.0])
    assert float(kernel.covariance(0.0)) == pytest.approx(density.sum() / 2)


def test_kernels_read_like_what_was_typed():
    kernel = 0.5 * cgp.Matern32(1.0, 2.0) + cgp.Cosine(7.0) * (cgp.White(1.0) + cgp.Constant(cgp.fixed(2.0)))
    assert repr(kernel) == (
        "0.5 * Matern32(variance=1.0, lengthscale=2.0) + "
        "Cosine(period=7.0) * (White(variance=1.0) + Constant(variance=fixed(2.0)))"
    )


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: cgp.Matern52(1.0, 0.0), "lengthscale=0.0, but a lengthscale must be positive"),
        (lambda: cgp.Matern52(1.0, -2.0), "lengthscale=-2.0"),
        (lambda: cgp.Matern52(float("nan")), "variance=nan"),
        (lambda: cgp.Matern52("1.0"), "is text; give a number"),
        (lambda: cgp.Matern52(1.0, "7 moons"), "is not a duration"),
        (lambda: cgp.Matern52(1.0, "2M"), "months have no fixed length"),
        (lambda: cgp.Cosine(None), "period=None, but"),
        (lambda: cgp.Matern52(True), "variance=True"),
        (lambda: cgp.Periodic(1.0, 1.0, order=0), "order=0"),
        (lambda: cgp.RBF(order=99), "from 1 to 12"),
        (lambda: cgp.Polynomial(-1), "degree=-1"),
        (lambda: cgp.Matern52() + 1.0, "cannot be added"),
        (lambda: cgp.Matern52() * [1.0, 2.0], "multiply by a positive number"),
        (lambda: -1.0 * cgp.Matern52(), "scale=-1.0"),
        (lambda: cgp.LocalLevel() * cgp.Matern52(), "products are of stationary kernels"),
        (lambda: cgp.LocalLevel().covariance(1.0), "give covariance(tau, since=...)"),
        (lambda: cgp.StateSpace(np.eye(2), [1.0, 0.0], 1.0, [1.0, 0.0]), "F is not stable"),
        (lambda: cgp.StateSpace(-np.eye(2), [1.0], 1.0, [1.0, 0.0]), "L has shape"),
        (lambda: cgp.StateSpace(-np.eye(2), np.eye(2), np.ones((3, 3)), [1.0, 0.0]), "q has shape (3, 3)"),
        (lambda: cgp.StateSpace(-np.eye(2), np.eye(2), -np.eye(2), [1.0, 0.0]), "symmetric positive semi-definite"),
        (lambda: cgp.StateSpace(-np.eye(2), [1.0, 0.0], 1.0, np.eye(2)), "H has shape (2, 2)"),
        (lambda: cgp.Matern52([1.0, 2.0]), "variance has shape (2,); give one number"),
        (lambda: 1.0 + cgp.Matern52(), "cannot be added"),
        (lambda: cgp.Matern52().covariance("7D"), "tau"),
        (lambda: cgp.RBF(order=2.0), "order=2.0"),
        (lambda: cgp.DiscreteStateSpace(np.eye(2), np.eye(3), [1.0, 0.0], np.eye(2)), "Q has shape (3, 3)"),
    ],
)
def test_a_kernel_that_makes_no_sense_says_why(make, says):
    with pytest.raises(cgp.ChronogpError) as raised:
        make()
    assert says in str(raised.value)
