"""Learning: hyperparameters that make the data most probable, found from their own gradient."""

import dataclasses
import warnings
from typing import Any

import jax
import numpy as np
from jaxtyping import Bool

from .errors import ConvergenceWarning, DataError
from .inference import check, evidence, infer
from .model import Model
from .params import Line, whole
from .posterior import Posterior
from .precision import in_float64
from .series import Series

FLAT = 1e-6  # the slope of the evidence a datum, in the logarithm of a hyperparameter, that counts as none
REACH = np.log(1e8)  # a hyperparameter is looked for within this factor of its start
SPANS = 1e3  # a lengthscale is looked for up to so many times the span of the data
BOX = np.log(30.0)  # how far it may move at a time
NEAR = 1e-2  # so near, it is at an end


@in_float64
def fit(model: Model, data: Series, *, max_steps: int = 200, engine: Any = "auto") -> Posterior:
    """Learn the model's hyperparameters from the data, and infer with them.

    Maximises the exact log marginal likelihood by L-BFGS with its exact gradient, from the model's own values on;
    `fixed(...)` keeps a hyperparameter. A start on the data's own scale finds the top most surely: a variance near
    theirs, a lengthscale of a tenth of their span.

    **Arguments:** `model`; `data`, a `Series`; `max_steps`, the most evaluations of the evidence; `engine`, "auto" or
    an engine such as `Blocked(lanes=64)`.
    **Returns:** a `Posterior`: its `model` has the learned values, its `trace` the evidence at every evaluation.

    >>> import numpy as np, chronogp as cgp
    >>> t = np.arange(100.0)
    >>> series = cgp.Series(t, np.sin(t / 10) + 0.1 * np.random.default_rng(0).normal(size=100))
    >>> posterior = cgp.fit(cgp.Model(cgp.Matern52(1.0, 5.0), cgp.Gaussian(1.0)), series)
    >>> round(posterior.model.likelihood.sd, 1)
    0.1
    """
    check(model, data)
    max_steps = whole("fit", "max_steps", max_steps, 1)
    line = Line(model)
    if np.isnan(data.y).all():
        raise DataError("fit: no row of the series has a value, so there is nothing to learn from; use infer")
    if not line.knobs:
        return infer(model, data, engine=engine)
    search = Search(line, data, engine, max_steps)
    search.climb()
    posterior = infer(line.place(search.best), data, engine=engine)
    status, said = posterior.status, []
    stuck, converged = line.paths(search.at_end(search.best)), search.settled or search.flat()
    if stuck:
        status = status.replace("converged", "converged, at a bound")
        said.append(
            f"learning took {', '.join(stuck)} to an end of its range, where the data can no longer tell it from "
            "nothing or from infinity; leave out the part that it belongs to, or keep it with fixed(...)"
        )
    if not converged:
        status = status.replace("converged", "not converged")
        said.append(
            f"learning stopped after {len(search.trace)} evaluations, before the evidence was flat (its steepest slope "
            f"is {np.abs(search.slopes).max():.1e} a datum); give a larger max_steps, or a start nearer the truth"
        )
    for message in said:
        warnings.warn(message, ConvergenceWarning, stacklevel=3)
    return dataclasses.replace(
        posterior,
        trace=np.array(search.trace),
        steps=len(search.trace),
        converged=converged,
        status=status,
        warnings=(*posterior.warnings, *said),
    )


class Search:
    """A climb to the top of the evidence: L-BFGS-B on the host, and the best point that it has seen."""

    def __init__(self, line: Line, data: Series, engine: Any, max_steps: int):
        self.line, self.max_steps = line, max_steps
        self.scale = max(int(np.sum(~np.isnan(data.y))), 1)
        self.value_and_slopes = jax.value_and_grad(lambda model: evidence(model, data, engine=engine))
        self.best, self.slopes = line.start, np.full(line.start.shape, np.inf)
        self.trace: list[float] = []
        self.settled = False
        self.low, self.high = line.start - REACH, line.start + REACH
        span = float(np.sum(data.grid.durations()))
        if span > 0:  # a lengthscale of a thousand spans is as good as infinite
            longest = np.maximum(np.log(SPANS * span), line.start + np.log(2.0))
            self.high = np.where(line.durations(), longest, self.high)

    def climb(self) -> None:
        """In boxes around the best point so far, so that a first step from a poor start cannot leap to an end."""
        from scipy.optimize import minimize

        options = {"maxfun": self.max_steps, "maxiter": self.max_steps, "ftol": 1e-13, "gtol": FLAT / 100}
        while True:
            centre = self.best
            low, high = np.maximum(centre - BOX, self.low), np.minimum(centre + BOX, self.high)
            bounds = np.stack([low, high], axis=1)
            try:
                end = minimize(self.loss, centre, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
            except OutOfStepsError:
                self.settled = False
                return
            self.settled = end.status == 0
            at_wall = np.minimum(self.best - low, high - self.best) < NEAR
            if np.array_equal(self.best, centre) or not np.any(at_wall & ~self.at_end(self.best)):
                return

    def at_end(self, point: np.ndarray) -> Bool[np.ndarray, " knobs"]:
        return np.minimum(point - self.low, self.high - point) < NEAR

    def flat(self) -> bool:
        """Whether the evidence can rise no more: no slope but one that leads beyond an end."""
        beyond = np.where(self.slopes < 0, self.best - self.low, self.high - self.best) < NEAR
        return bool(np.all(beyond | (np.abs(self.slopes) <= FLAT)))

    def loss(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        """Minus the evidence a datum, and its gradient; a wall, to turn back from, where the evidence is no number."""
        if len(self.trace) >= self.max_steps:
            raise OutOfStepsError
        value, slopes = self.value_and_slopes(self.line.place(point))
        value, gradient = float(value), self.line.gradient(point, slopes) / self.scale
        if not np.isfinite(value) or not np.all(np.isfinite(gradient)):
            worst = min(filter(np.isfinite, self.trace), default=0.0)
            self.trace.append(-np.inf)
            return 1e3 - worst / self.scale, np.zeros_like(point)
        if value >= max(self.trace, default=-np.inf):
            self.best, self.slopes = point.copy(), gradient
        self.trace.append(value)
        return -value / self.scale, -gradient


class OutOfStepsError(Exception):
    """Out of a running optimiser: it has had its evaluations."""
