"""A hundred thousand irregular rows against the textbook filter: the answer, the moments, the gradients."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import chronogp as cgp
from chronogp.kernels import chain_of

from oracles import filter as textbook
from tolerances import TEXTBOOK, error, gradient_error

ROWS = 100_000
STEP = 1e-30  # of the complex derivative


@pytest.mark.parametrize(
    "kernel",
    [cgp.Matern52(1.2, 5.0), pytest.param(cgp.Matern32(0.7, 3.0) + cgp.SHO(0.5, 8.0, 3.0), marks=pytest.mark.slow)],
    ids=["Matern52", "Matern32+SHO"],
)
def test_a_hundred_thousand_rows(kernel):
    rng = np.random.default_rng(0)
    steps = rng.gamma(2.0, 0.3, ROWS)
    times = np.concatenate([[0.0], np.cumsum(steps)[:-1]])
    y = np.sin(times / 3) + 0.3 * rng.normal(size=ROWS)
    y[rng.uniform(size=ROWS) < 0.05] = np.nan
    model, series = cgp.Model(kernel, cgp.Gaussian(0.3)), cgp.Series(times, y)

    posterior = cgp.infer(model, series)
    found = posterior.predict()
    with jax.enable_x64(True):
        slopes = jax.tree.leaves(jax.grad(cgp.evidence)(model, series))

    def transitions(kernel):
        chain = chain_of((kernel,), np.append(np.diff(times), 0.0), None, ROWS)
        return chain.A, chain.Q, chain.P0

    with jax.enable_x64(True):
        here = jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float64), kernel)
        moves, noises, start = (np.asarray(x) for x in transitions(here))
        h = np.asarray(kernel.readout())
        leaves, shape = jax.tree.flatten(here)
        ways = [jax.tree.unflatten(shape, list(row)) for row in np.eye(len(leaves))]
        turns = [[np.asarray(x) for x in jax.jvp(transitions, (here,), (way,))[1]] for way in ways]
    states = textbook.filter(moves, noises, start, h, y, 0.3**2)
    mean, variance = textbook.smooth(moves, h, states)
    truth = []
    for turn in turns:
        parts = (x + 1j * STEP * d for x, d in zip((moves, noises, start), turn, strict=True))
        truth.append(textbook.filter(*parts, h, y, 0.3**2).log_z.imag / STEP)
    truth.append(textbook.filter(moves, noises, start, h, y, (0.3 + 1j * STEP) ** 2).log_z.imag / STEP)

    assert error(posterior.evidence, states.log_z) < TEXTBOOK
    assert error(found.mean, mean) < TEXTBOOK
    assert error(found.var, variance) < TEXTBOOK
    assert gradient_error(slopes, truth) < TEXTBOOK
