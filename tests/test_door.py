"""Bad input at the doors of infer, evidence and fit: what, where, and what to do; never a JAX traceback."""

import equinox as eqx
import jax
import numpy as np
import pytest

import chronogp as cgp

SERIES = cgp.Series([0.0, 1.0], [0.3, 0.4])
DATED = cgp.Series(["2024-01-01", "2024-01-02"], [0.3, 0.4])
MODEL = cgp.Model(cgp.Matern32(1.0, 2.0), cgp.Gaussian(0.1))


@pytest.mark.parametrize("door", [cgp.infer, cgp.evidence, cgp.fit])
@pytest.mark.parametrize(
    ("model", "data", "error", "says"),
    [
        (MODEL, [0.3, 0.4], cgp.DataError, "list is not a series; give Series(t, y)"),
        (cgp.Matern32(), SERIES, cgp.ModelError, "Matern32 is not a model; give Model(kernel, likelihood)"),
        (
            cgp.Model(cgp.Constant() + cgp.Matern32(1.0, "7D"), cgp.Gaussian()), SERIES, cgp.ModelError,
            "kernel.1.lengthscale was given as a duration with a unit, but the series' times are plain numbers; give "
            "lengthscale as a number",
        ),
        (
            cgp.Model(cgp.DiscreteStateSpace(np.eye(1), np.eye(1), [1.0], np.eye(1), step=0.3), cgp.Gaussian()), SERIES,
            cgp.ModelError, "two times are 1 apart, which is no whole number of steps",
        ),
    ],
)  # fmt: skip
def test_models_and_data_that_do_not_meet(door, model, data, error, says):
    with pytest.raises(error) as raised:
        door(model, data)
    assert says in str(raised.value)


@pytest.mark.parametrize("door", [cgp.infer, cgp.evidence, cgp.fit])
@pytest.mark.parametrize("value", [0.0, -3.0, cgp.fixed(3.0), "7D"])
def test_a_value_put_in_later_is_checked_too(door, value):
    broken = eqx.tree_at(lambda m: m.kernel.lengthscale, MODEL, value)
    with pytest.raises(cgp.ModelError, match=r"kernel\.lengthscale is"):
        door(broken, SERIES)


@pytest.mark.parametrize("max_steps", [0, -1, 2.5, "a", True])
def test_steps_that_make_no_sense(max_steps):
    with pytest.raises(cgp.ModelError, match="max_steps="):
        cgp.fit(MODEL, SERIES, max_steps=max_steps)


def test_nothing_to_learn_from_is_said():
    with pytest.raises(cgp.DataError, match="nothing to learn from"):
        cgp.fit(MODEL, cgp.Series([0.0, 1.0], [np.nan, np.nan]))


def test_a_duration_meets_dates():
    assert np.isfinite(cgp.infer(cgp.Model(cgp.Matern32(1.0, "7D"), cgp.Gaussian()), DATED).evidence)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: cgp.Model(cgp.Gaussian(), cgp.Matern32()), "is not a likelihood; give one, such as Gaussian()"),
        (lambda: cgp.Model(3.0, cgp.Gaussian()), "3.0 is not a kernel"),
        (lambda: cgp.Model((cgp.Matern32(), cgp.Matern32()), cgp.Gaussian()), "has 1 latent function(s), but 2 kernel"),
        (lambda: cgp.Gaussian(sd=0.0), "sd=0.0, but an sd must be positive"),
        (lambda: cgp.Gaussian(sd=cgp.fixed(-1.0)), "sd=-1.0"),
    ],
)
def test_models_that_make_no_sense(make, says):
    with pytest.raises(cgp.ModelError) as raised:
        make()
    assert says in str(raised.value)


@pytest.mark.parametrize("engine", ["fast", 3, None])
def test_an_engine_that_is_none(engine):
    with pytest.raises(cgp.ModelError, match=r'give "auto" or Blocked\(lanes=...\)'):
        cgp.infer(MODEL, SERIES, engine=engine)


@pytest.mark.parametrize("lanes", [0, -2, 2.5, "many"])
def test_lanes_that_make_no_sense(lanes):
    with pytest.raises(cgp.ModelError, match="lanes="):
        cgp.Blocked(lanes=lanes)


def test_a_traced_series_is_told_to_be_closed_over():
    with pytest.raises(cgp.DataError, match="close over it"):
        jax.jit(cgp.evidence)(MODEL, SERIES)


def test_every_error_has_one_root():
    assert issubclass(cgp.DataError, cgp.ChronogpError)
    assert issubclass(cgp.ModelError, cgp.ChronogpError)
    assert issubclass(cgp.DataError, ValueError)
