"""infer and evidence: gradients in every hyperparameter, what moves nothing, and the caller's own JAX."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import chronogp as cgp
from chronogp.chain import at_instants
from chronogp.chain.blocked import sweep
from chronogp.inference import pose
from chronogp.params import Line, knobs

from conformance.kernels import COMBINATIONS, KERNELS
from scenes import scene
from tolerances import AUTODIFF, DIFFERENCES, INVARIANCE, error, gradient_error

MODEL = cgp.Model(cgp.Matern52(1.3, 2.0) + cgp.Cosine(7.0) * cgp.Matern32(0.4, 30.0), cgp.Gaussian(0.2))
ALONE = [pytest.param(case, id=case.label) for case in KERNELS]
MIXED = [pytest.param(COMBINATIONS[k], id=COMBINATIONS[k].label, marks=pytest.mark.slow) for k in (0, 6, 9, 14)]


def data(n=60, seed=0):
    """Times that are multiples of 1/1024, in any order, with a tie and a missing row."""
    rng = np.random.default_rng(seed)
    t = rng.choice(40 * 1024, size=n, replace=False) / 1024
    t[5] = t[6]
    y = np.sin(t) + 0.2 * rng.normal(size=n)
    y[11] = np.nan
    return t, y


def answers(model, series):
    """What must not move: the evidence, the moments in the caller's order, and the gradient."""
    posterior = cgp.infer(model, series)
    found = posterior.predict()
    with jax.enable_x64(True):
        slopes = jax.tree.leaves(jax.grad(cgp.evidence)(model, series))
    return posterior.evidence, found.mean, found.var, np.concatenate([np.ravel(s) for s in slopes])


def assert_same(found, truth):
    for one, other in zip(found, truth, strict=True):
        assert error(one, other) < INVARIANCE


@pytest.mark.parametrize("case", [*ALONE, *MIXED])
def test_gradients_are_central_differences(case):
    """In every hyperparameter, learned or not, along the logarithm of those that are positive."""
    given = scene(case, 50)
    series, h = given.series, 1e-5
    with jax.enable_x64(True):
        every = [knob for knob in knobs(given.model) if np.ndim(knob.value) == 0 and not knob.path.endswith("step")]
        slopes = jax.grad(cgp.evidence)(given.model, series)
        found = [float(knob.where(slopes)) * knob.value for knob in every]
        model = jax.tree.map(lambda leaf: jnp.asarray(leaf, float), given.model)
        differences = []
        for knob in every:
            ahead, behind = (
                float(cgp.evidence(replaced(model, knob, knob.value * np.exp(s * h)), series)) for s in (1, -1)
            )
            differences.append((ahead - behind) / (2 * h))
    assert gradient_error(found, differences) < DIFFERENCES


def replaced(model, knob, value):
    import equinox as eqx

    return eqx.tree_at(knob.where, model, jnp.asarray(value, float))


@pytest.mark.slow
@pytest.mark.parametrize("case", [*ALONE, *MIXED])
def test_gradients_are_those_of_the_plain_scan(case):
    given = scene(case, 50)

    def plain(model):
        chain, rows, instant = pose(model, given.series)
        sites, centre, constant = at_instants(rows.sites, rows.centre, instant, chain.length)
        return sweep(chain, sites, centre, chain.H, 1).log_z + constant + rows.log_scale

    with jax.enable_x64(True):
        model = jax.tree.map(lambda leaf: jnp.asarray(leaf, float), given.model)
        found, truth = jax.grad(cgp.evidence)(model, given.series), jax.grad(plain)(model)
    for knob in knobs(given.model):
        one, other = knob.where(found), knob.where(truth)
        if knob.path.endswith((".P0", ".Q")):  # symmetric: only the sum of (i, j) and (j, i) means something
            one, other = one + one.T, other + other.T
        assert gradient_error(one, other) < AUTODIFF, knob.path


def test_the_order_of_rows_moves_nothing():
    t, y = data()
    way = np.random.default_rng(1).permutation(len(t))
    value, mean, var, slopes = answers(MODEL, cgp.Series(t, y))
    assert_same(answers(MODEL, cgp.Series(t[way], y[way])), (value, mean[way], var[way], slopes))


def test_the_origin_of_time_moves_nothing():
    t, y = data()
    assert_same(answers(MODEL, cgp.Series(t + 1e9, y)), answers(MODEL, cgp.Series(t, y)))


def test_the_unit_of_time_moves_nothing():
    """Days as numbers, dates in days, dates in nanoseconds, and nanoseconds as numbers: one answer."""
    t, y = np.round(data()[0]), data()[1]
    start = np.datetime64("2020-02-28", "D")
    in_days = answers(MODEL, cgp.Series(t, y))
    dates = start + t.astype("timedelta64[D]")
    assert_same(answers(MODEL, cgp.Series(dates, y)), in_days)
    assert_same(answers(MODEL, cgp.Series(dates.astype("datetime64[ns]"), y)), in_days)
    day = 86_400e9
    slow = cgp.Model(
        cgp.Matern52(1.3, 2.0 * day) + cgp.Cosine(7.0 * day) * cgp.Matern32(0.4, 30.0 * day), cgp.Gaussian(0.2)
    )
    value, mean, var, slopes = answers(slow, cgp.Series(t.astype(np.int64) * 86_400_000_000_000, y))
    paths = [knob.path for knob in knobs(MODEL)]
    per_day = np.array([day if path.endswith(("lengthscale", "period")) else 1.0 for path in paths])
    assert_same((value, mean, var, slopes * per_day), in_days)


def test_durations_are_read_in_days():
    t, y = np.round(data()[0]), data()[1]
    dates = np.datetime64("2020-02-28", "D") + t.astype("timedelta64[D]")
    text = cgp.Model(cgp.Matern52(1.3, "48h") + cgp.Cosine("1W") * cgp.Matern32(0.4, "30D"), cgp.Gaussian(0.2))
    assert_same(answers(text, cgp.Series(dates, y)), answers(MODEL, cgp.Series(t, y)))


def test_a_missing_row_is_a_dropped_row():
    t, y = data()
    seen = ~np.isnan(y)
    with_gap, without = cgp.infer(MODEL, cgp.Series(t, y)), cgp.infer(MODEL, cgp.Series(t[seen], y[seen]))
    assert error(with_gap.evidence, without.evidence) < INVARIANCE
    assert error(with_gap.predict().mean, without.predict(t).mean) < INVARIANCE
    assert error(with_gap.predict().var, without.predict(t).var) < INVARIANCE


def test_data_at_one_instant_are_their_product():
    """Two measurements are one of their mean with twice the weight, and a constant."""
    t, y = np.array([0.0, 1.0, 1.0, 3.0]), np.array([0.3, 0.5, -0.1, 0.7])
    two = cgp.infer(MODEL, cgp.Series(t, y))
    one = cgp.infer(MODEL, cgp.Series([0.0, 1.0, 3.0], [0.3, 0.2, 0.7], exposure=[1.0, 2.0, 1.0]))
    sd, spread = 0.2, 0.6
    constant = -np.log(2 * np.pi * sd**2 * 2) / 2 - spread**2 / (4 * sd**2)
    assert error(two.evidence, one.evidence + constant) < INVARIANCE
    assert error(two.predict([0.5, 1.0]).mean, one.predict([0.5, 1.0]).mean) < INVARIANCE
    assert error(two.predict([0.5, 1.0]).var, one.predict([0.5, 1.0]).var) < INVARIANCE


def test_sharp_data_at_one_instant_keep_their_digits():
    """With a noise of 1e-7, two equal data must not differ from one by rounding of y^2 / sd^2 = 1e14."""
    model = cgp.Model(cgp.Matern32(1.0, 2.0), cgp.Gaussian(1e-7))
    two = cgp.infer(model, cgp.Series([0.0, 1.0, 1.0], [0.3, 0.5, 0.5]))
    one = cgp.infer(model, cgp.Series([0.0, 1.0], [0.3, 0.5], exposure=[1.0, 2.0]))
    constant = -np.log(2 * np.pi * 1e-14 * 2) / 2
    assert error(two.evidence, one.evidence + constant) < INVARIANCE


def test_no_data_give_back_the_prior():
    posterior = cgp.infer(MODEL, cgp.Series([0.0, 1.0], [np.nan, np.nan]))
    assert posterior.evidence == 0.0
    assert error(posterior.predict().var, [1.7, 1.7]) < INVARIANCE


def test_engines_agree():
    t, y = data()
    auto = cgp.infer(MODEL, cgp.Series(t, y))
    lanes = cgp.infer(MODEL, cgp.Series(t, y), engine=cgp.Blocked(lanes=7))
    assert error(lanes.evidence, auto.evidence) < INVARIANCE
    assert error(lanes.predict().var, auto.predict().var) < INVARIANCE


def test_evidence_under_the_callers_own_jit_grad_and_vmap():
    series = cgp.Series(*data())

    def loss(log_lengthscale):
        return -cgp.evidence(cgp.Model(cgp.Matern52(1.3, jnp.exp(log_lengthscale)), cgp.Gaussian(0.2)), series)

    with jax.enable_x64(True):
        value, slope = jax.jit(jax.value_and_grad(loss))(0.5)
        ahead, behind = loss(0.5 + 1e-5), loss(0.5 - 1e-5)
        difference = (ahead - behind) / 2e-5
        many = jax.vmap(loss)(jnp.array([0.2, 0.5]))
    assert (
        error(value, -cgp.infer(cgp.Model(cgp.Matern52(1.3, np.exp(0.5)), cgp.Gaussian(0.2)), series).evidence) < 1e-10
    )
    assert gradient_error(slope, difference) < DIFFERENCES
    assert error(many[1], value) < 1e-10


def test_evidence_with_the_flag_off_is_exact_until_it_leaves():
    """The caller's float32 receives the rounded truth, not a float32 computation."""
    series = cgp.Series(*data())
    value, slopes = jax.value_and_grad(cgp.evidence)(MODEL, series)
    with jax.enable_x64(True):
        truth, exact = jax.value_and_grad(cgp.evidence)(MODEL, series)
    assert error(value, truth) < 1e-7
    assert gradient_error(jax.tree.leaves(slopes), jax.tree.leaves(exact)) < 1e-6


@pytest.mark.parametrize("flag", [False, True])
@pytest.mark.parametrize(
    "around",
    [jax.jit, jax.checkpoint, lambda f: lambda x: jax.lax.map(f, jnp.stack([x, x]))[1]],
    ids=["jit", "checkpoint", "map"],
)
def test_grad_goes_around_other_transformations(around, flag):
    """The pieces of a custom derivative are traced later, where the caller's flag may be off."""
    series = cgp.Series([0.0, 1.0, 2.5], [0.3, -0.1, 0.4])

    def f(lengthscale):
        return cgp.evidence(cgp.Model(cgp.Matern12(lengthscale), cgp.Gaussian()), series).astype(jnp.float32)

    with jax.enable_x64(flag):
        assert float(jax.grad(around(f))(1.0)) == pytest.approx(float(jax.grad(f)(1.0)), rel=1e-6)


def test_a_growing_process_ends_with_its_data():
    """8,200 instants are padded to 10,240: the filling takes no steps, over which 1.2^k would overflow."""
    kernel = cgp.DiscreteStateSpace([[1.2]], np.eye(1), [1.0], np.eye(1))
    n = 8200
    posterior = cgp.infer(cgp.Model(kernel, cgp.Gaussian(1.0)), cgp.Series(np.arange(n), np.zeros(n)))
    assert np.isfinite(posterior.evidence)
    assert np.all(np.isfinite(posterior.predict().var))


@pytest.mark.parametrize("door", [cgp.infer, cgp.fit])
@pytest.mark.parametrize(("y", "sd"), [(1e200, 0.1), (1.0, 1e-200)])
def test_an_evidence_that_is_no_number_is_an_error(door, y, sd):
    with pytest.raises(cgp.ModelError, match="too small to be a number"):
        door(cgp.Model(cgp.Matern52(1.0, 2.0), cgp.Gaussian(sd)), cgp.Series([0.0, 1.0, 2.0], [y, 1.0, 2.0]))


def test_infer_cannot_be_traced_and_says_so():
    series = cgp.Series([0.0, 1.0], [0.3, 0.1])
    with pytest.raises(cgp.ModelError, match="inside jit or grad use evidence"):
        jax.jit(lambda v: cgp.infer(cgp.Model(cgp.Matern12(v), cgp.Gaussian()), series).evidence)(1.0)


def test_a_second_derivative_is_refused():
    series = cgp.Series(*data())
    with pytest.raises(cgp.ModelError, match="differentiated once"):
        jax.hessian(lambda x: cgp.evidence(cgp.Model(cgp.Matern12(x), cgp.Gaussian()), series))(1.0)


def test_a_point_on_the_line_is_a_model_and_back():
    line = Line(MODEL)
    assert [knob.path for knob in line.knobs] == [
        "kernel.0.variance", "kernel.0.lengthscale", "kernel.1.1.variance", "kernel.1.1.lengthscale", "likelihood.sd"
    ]  # fmt: skip
    moved = line.place(line.start + np.log(2.0))
    assert moved.kernel.terms[0].lengthscale == pytest.approx(4.0, rel=1e-14)
    assert moved.kernel.terms[1].factors[0].period == 7.0
    assert np.allclose(Line(moved).start, line.start + np.log(2.0), rtol=1e-14)
