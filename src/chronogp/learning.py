"""Learning: hyperparameters that make the data most probable, found from their own gradient."""

import dataclasses
import warnings
from typing import Any

import jax
import numpy as np
from jaxtyping import Float

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
    start = infer(model, data, engine=engine)  # refuses a model that is out of reach of the data
    if not line.knobs:
        return start
    search = Search(line, data, engine, max_steps)
    ends = search.ends()
    steps_taken = search.climb(ends)
    posterior = infer(line.place(search.best), data, engine=engine)
    said = posterior.warnings
    status = posterior.status
    stuck = line.paths(np.min(np.abs(search.best - ends), axis=0) < NEAR)
    converged = search.flat(ends) or (steps_taken < max_steps and search.settled)
    if stuck:
        message = (
            f"learning took {', '.join(stuck)} to an end of its range, where the data tell it from nothing, or from "
            "infinity, no more; leave out the part that it belongs to, or keep it with fixed(...)"
        )
        status = status.replace("converged", "converged, at a bound")
        said = (*said, message)
        warnings.warn(message, ConvergenceWarning, stacklevel=3)
    if not converged:
        message = (
            f"learning stopped after {len(search.trace)} evaluations, before the evidence was flat (its steepest slope "
            f"is {search.slope:.1e} a datum); give a larger max_steps, or a start nearer the truth"
        )
        status = status.replace("converged", "not converged")
        said = (*said, message)
        warnings.warn(message, ConvergenceWarning, stacklevel=3)
    return dataclasses.replace(
        posterior,
        trace=np.array(search.trace),
        steps=len(search.trace),
        converged=converged,
        status=status,
        warnings=said,
    )


class Search:
    """The loss that an optimiser walks down, minus the evidence a datum, and the best point that it has seen."""

    def __init__(self, line: Line, data: Series, engine: Any, max_steps: int):
        self.line, self.max_steps = line, max_steps
        self.scale = max(int(np.sum(~np.isnan(data.y))), 1)
        self.span = float(np.sum(data.grid.durations()))
        self.value_and_slopes = jax.value_and_grad(lambda model: evidence(model, data, engine=engine))
        self.best, self.slopes = line.start, np.full(line.start.shape, np.inf)
        self.trace: list[float] = []
        self.settled = False

    @property
    def slope(self) -> float:
        return float(np.abs(self.slopes).max())

    def ends(self) -> Float[np.ndarray, "2 knobs"]:
        """The ends of every hyperparameter's range: a lengthscale of a thousand spans is as good as infinite."""
        low, high = self.line.start - REACH, self.line.start + REACH
        if self.span > 0:
            far = np.repeat([knob.duration for knob in self.line.knobs], [np.size(k.value) for k in self.line.knobs])
            high = np.where(far, np.maximum(np.log(SPANS * self.span), self.line.start + np.log(2.0)), high)
        return np.stack([low, high])

    def climb(self, ends: Float[np.ndarray, "2 knobs"]) -> int:
        """L-BFGS-B in boxes around the best point so far: a first step from a poor start cannot leap to an end."""
        from scipy.optimize import minimize

        while len(self.trace) < self.max_steps:
            centre = self.best
            low, high = np.clip(centre - BOX, *ends), np.clip(centre + BOX, *ends)
            options = {"maxfun": self.max_steps, "maxiter": self.max_steps, "ftol": 1e-13, "gtol": FLAT / 100}
            try:
                end = minimize(
                    self.loss, centre, jac=True, method="L-BFGS-B", bounds=np.stack([low, high], 1), options=options
                )
            except StopIteration:
                break
            self.settled = end.status == 0
            edge = np.minimum(np.abs(self.best - low), np.abs(self.best - high)) < NEAR
            at_end = np.min(np.abs(self.best - ends), axis=0) < NEAR
            if np.array_equal(self.best, centre) or not np.any(edge & ~at_end):
                break
        return len(self.trace)

    def flat(self, ends: Float[np.ndarray, "2 knobs"]) -> bool:
        """Whether the evidence can rise no more: no slope but one that leads beyond an end."""
        beyond = (self.slopes < 0) & (self.best - ends[0] < NEAR) | (self.slopes > 0) & (ends[1] - self.best < NEAR)
        return bool(np.all(beyond | (np.abs(self.slopes) <= FLAT)))

    def loss(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        """The loss and its gradient; where the evidence is no number, a wall that a line search turns back from."""
        if len(self.trace) >= self.max_steps:
            raise StopIteration
        value, slopes = self.value_and_slopes(self.line.place(point))
        value, gradient = float(value), self.line.gradient(point, slopes) / self.scale
        if not np.isfinite(value) or not np.all(np.isfinite(gradient)):
            self.trace.append(-np.inf)
            return 1e3 - min(filter(np.isfinite, self.trace), default=0.0) / self.scale, np.zeros_like(point)
        if value >= max(self.trace, default=-np.inf):
            self.best, self.slopes = point.copy(), gradient
        self.trace.append(value)
        return -value / self.scale, -gradient
