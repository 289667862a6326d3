"""Learning: hyperparameters that make the data most probable, found from their own gradient."""

import dataclasses
import warnings
from typing import Any

import jax
import numpy as np

from .errors import ConvergenceWarning
from .inference import check, evidence, infer
from .model import Model
from .params import Line
from .posterior import Posterior
from .precision import in_float64
from .series import Series

FLAT = 1e-6  # the slope of the evidence a datum, in the logarithm of a hyperparameter, that counts as none
REACH = np.log(1e8)  # a hyperparameter is looked for within this factor of its start


@in_float64
def fit(model: Model, data: Series, *, max_steps: int = 200, engine: Any = "auto") -> Posterior:
    """Learn the model's hyperparameters from the data, and infer with them.

    Maximises the exact log marginal likelihood by L-BFGS with its exact gradient, from the model's own values on;
    `fixed(...)` keeps a hyperparameter.

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
    from scipy.optimize import minimize

    check(model, data)
    line = Line(model)
    if not line.knobs:
        return infer(model, data, engine=engine)
    search = Search(line, data, engine)
    bounds = [(x - REACH, x + REACH) for x in line.start]
    options = {"maxfun": max_steps, "maxiter": max_steps, "ftol": 1e-13, "gtol": FLAT / 100}
    end = minimize(search.loss, line.start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    posterior = infer(line.place(search.best), data, engine=engine)
    stuck = line.paths(np.abs(search.best - line.start) > REACH - 1e-6)
    converged = not stuck and (search.slope <= FLAT or end.status == 0)
    said = posterior.warnings
    if not converged:
        message = (
            f"learning moved {', '.join(stuck)} to the end of its range, 1e8 times from its start: the data want none "
            "of it, or know nothing of it; keep it with fixed(...), or leave out the part that it belongs to"
            if stuck
            else f"learning stopped after {len(search.trace)} evaluations, before the evidence was flat (its steepest "
            f"slope is {search.slope:.1e} a datum); give a larger max_steps, or a start nearer the truth"
        )
        warnings.warn(message, ConvergenceWarning, stacklevel=3)
        said = (*said, message)
    return dataclasses.replace(
        posterior,
        trace=np.array(search.trace),
        steps=len(search.trace),
        converged=converged,
        status=posterior.status if converged else posterior.status.replace("converged", "not converged"),
        warnings=said,
    )


class Search:
    """The loss that an optimiser walks down, minus the evidence a datum, and the best point that it has seen."""

    def __init__(self, line: Line, data: Series, engine: Any):
        self.line = line
        self.scale = max(int(np.sum(~np.isnan(data.y))), 1)
        self.value_and_slopes = jax.value_and_grad(lambda model: evidence(model, data, engine=engine))
        self.best, self.slope = line.start, np.inf
        self.trace: list[float] = []

    def loss(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        """The loss and its gradient; where the evidence is no number, a wall that a line search turns back from."""
        value, slopes = self.value_and_slopes(self.line.place(point))
        value, gradient = float(value), self.line.gradient(point, slopes) / self.scale
        if not np.isfinite(value) or not np.all(np.isfinite(gradient)):
            return 1.0 - min(self.trace, default=0.0) / self.scale + 1e3, np.zeros_like(point)
        if value >= max(self.trace, default=-np.inf):
            self.best, self.slope = point.copy(), float(np.abs(gradient).max())
        self.trace.append(value)
        return -value / self.scale, -gradient
