"""Hyperparameters: durations, fixed and learned, what an instance says of itself."""

import datetime

import jax
import numpy as np
import pytest

import chronogp as cgp
from chronogp.params import days, knobs


@pytest.mark.parametrize(
    ("text", "value"),
    [("7D", 7.0), ("36h", 1.5), ("2y", 730.5), ("365.25D", 365.25), (" 3 W ", 21.0), ("90min", 0.0625), ("864 s", 0.01),
     ("20ms", 20 / 86_400e3), ("5us", 5 / 86_400e6), ("1ns", 1 / 86_400e9), (".5D", 0.5)],
)  # fmt: skip
def test_durations(text, value):
    assert days(text) == value


@pytest.mark.parametrize("text", ["7", "D", "-7D", "0D", "7 days", "2M", "1e3D", ""])
def test_what_is_no_duration(text):
    with pytest.raises(cgp.ModelError, match="is not a duration"):
        days(text)


def test_durations_of_python_and_numpy():
    assert cgp.Matern52(1.0, datetime.timedelta(hours=36)).lengthscale == 1.5
    assert cgp.Cosine(np.timedelta64(36, "h")).period == 1.5
    with pytest.raises(cgp.ModelError, match="is a duration; give a number"):
        cgp.Matern52(datetime.timedelta(1))


def test_a_model_of_anything_can_be_printed():
    model = cgp.Model(cgp.Matern52(), cgp.Gaussian())
    assert "lengthscale='a'" in repr(jax.tree.map(lambda leaf: "a", model))


def test_the_marks_are_kept_and_the_value_reads_back_plain():
    kernel = cgp.Matern52(cgp.fixed(2), cgp.learned("7D"))
    assert type(kernel.variance) is float
    assert (kernel.variance, kernel.lengthscale) == (2.0, 7.0)
    assert repr(kernel) == "Matern52(variance=fixed(2.0), lengthscale=learned(7.0))"
    told = {knob.path: (knob.learned, knob.dated) for knob in knobs(kernel)}
    assert told == {"variance": (False, False), "lengthscale": (True, True)}


def test_marks_survive_the_tree():
    kernel = cgp.Cosine(cgp.learned(3.0)) * cgp.Matern12(cgp.fixed(1.0), 2.0)
    again = jax.tree.map(lambda leaf: 2 * leaf, kernel)
    assert [knob.learned for knob in knobs(again)] == [True, False, True]
    assert again.factors[0].period == 6.0


def test_leaves_are_floats_so_that_grad_works():
    leaves = jax.tree.leaves(cgp.Matern52(1, 2) + 3 * cgp.Cosine(4))
    assert all(type(leaf) is float for leaf in leaves)


def test_paths_tell_where_a_number_stands():
    model = cgp.Model(cgp.Matern12() + 2.0 * (cgp.Cosine(3.0) * cgp.White()), cgp.Gaussian())
    assert [knob.path for knob in knobs(model)] == [
        "kernel.0.variance", "kernel.0.lengthscale", "kernel.1.kernel.0.period", "kernel.1.kernel.1.variance",
        "kernel.1.scale", "likelihood.sd",
    ]  # fmt: skip
