"""A model: kernels for the latent functions, and the likelihood that turns them into data. No data, no state."""

from typing import Any

import equinox as eqx
import numpy as np

from .errors import ModelError
from .kernels import Kernel
from .likelihoods import Likelihood
from .params import knobs
from .series import Grid
from .typing import Array, Tracer


class Model(eqx.Module):
    """What is assumed of a series: `Model(kernel, likelihood)`, or `Model((k1, k2), likelihood)` for two latents.

    >>> import chronogp as cgp
    >>> cgp.Model(cgp.Matern32(1.0, 2.0) + cgp.Constant(4.0), cgp.Gaussian(0.1))
    Model(
        kernel = Matern32(variance=1.0, lengthscale=2.0) + Constant(variance=4.0),
        likelihood = Gaussian(sd=0.1),
    )
    """

    kernel: Kernel | tuple[Kernel, ...]
    likelihood: Likelihood

    def __check_init__(self) -> None:
        if not isinstance(self.likelihood, Likelihood):
            raise ModelError(f"Model: {self.likelihood!r} is not a likelihood; give one, such as Gaussian()")
        for kernel in self.kernels:
            if not isinstance(kernel, Kernel):
                raise ModelError(f"Model: {kernel!r} is not a kernel; give one, such as Matern52(1.0, 10.0)")
        if len(self.kernels) != self.likelihood.latents:
            raise ModelError(
                f"Model: {type(self.likelihood).__name__} has {self.likelihood.latents} latent function(s), but "
                f"{len(self.kernels)} kernel(s) were given; give one kernel a latent function, as a tuple"
            )

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """One kernel a latent function."""
        return self.kernel if isinstance(self.kernel, tuple) else (self.kernel,)

    @property
    def stationary(self) -> bool:
        return all(kernel.stationary for kernel in self.kernels)

    def grid(self, grid: Grid) -> Grid:
        """The grid that the model's chain is laid on."""
        return grid if self.stationary else grid.at_rest()

    def check_values(self) -> None:
        """Refuse hyperparameters that were replaced by something which is no such number."""
        for knob in knobs(self):
            if isinstance(knob.value, Tracer):
                continue
            known = isinstance(knob.value, float | int | np.number | np.ndarray | Array)
            if not known or not np.all(knob.domain.contains(np.asarray(knob.value))):
                raise ModelError(f"{knob.path} is {knob.value!r}, but it must be {knob.domain.words}")

    def check_clock(self, dated: bool) -> None:
        """Refuse durations given as text where times are plain numbers."""
        for knob in knobs(self):
            if knob.dated and not dated:
                raise ModelError(
                    f"{knob.path} was given as a duration with a unit, but the series' times are plain numbers; give "
                    f"{knob.path.rsplit('.', 1)[-1]} as a number in the unit of these times"
                )

    def check_steps(self, steps: np.ndarray) -> None:
        """Refuse steps that a kernel cannot take."""
        for kernel in self.kernels:
            kernel.check_steps(steps)

    def __repr__(self) -> str:
        kernel: Any = self.kernel
        return f"Model(\n    kernel = {kernel!r},\n    likelihood = {self.likelihood!r},\n)"
