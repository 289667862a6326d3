"""What a kernel is: a linear-Gaussian process x(t) with f(t) = H x(t), given by its start and its steps."""

import abc
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..errors import ModelError
from ..params import Parametrised
from ..precision import in_float64
from ..reading import read_numbers
from ..typing import Tracer


class Kernel(Parametrised):
    """A Gaussian process over time, as a state-space model.

    `k1 + k2` is the sum of two independent processes, `k1 * k2` has the product of their covariances, and a
    number times a kernel scales its variance.
    """

    stationary: ClassVar[bool]
    """Whether the process looks the same from every time; the others start at the series' first time."""

    @abc.abstractmethod
    def start(self) -> Float[Array, "d d"]:
        """P0, the covariance of the state at the first time; for a stationary kernel, at every time."""

    @abc.abstractmethod
    def transition(self, dt: Float[Array, ""]) -> tuple[Float[Array, "d d"], Float[Array, "d d"]]:
        """A and Q of x(t + dt) = A x(t) + q, q ~ N(0, Q)."""

    @abc.abstractmethod
    def readout(self) -> Float[Array, " d"]:
        """H, with f = H x."""

    @property
    def label(self) -> str:
        """The kernel without its numbers: `Matern52`, `Cosine*Matern52`."""
        return type(self).__name__

    def check_steps(self, steps: np.ndarray) -> None:
        """Raise `ModelError` for a step that the kernel cannot take; most can take any."""

    @in_float64
    def covariance(self, tau: Any, *, since: float | None = None) -> Any:
        """The kernel as a function: cov(f(t), f(t + tau)), in NumPy unless JAX is tracing it.

        A kernel that is not stationary also needs `since`, the time from its start to t.

        >>> import chronogp as cgp
        >>> float(cgp.Cosine(period=4.0).covariance(2.0))
        -1.0
        """
        if since is None and not self.stationary:
            raise ModelError(
                f"the covariance of {self.label} depends on the time since its start: give covariance(tau, since=...)"
            )
        if not isinstance(tau, Tracer):
            tau = read_numbers(np.ravel(tau), "tau").reshape(np.shape(tau))
            self.check_steps(np.abs(np.append(tau, 0.0 if since is None else since)))
        found = covariance_at(self, jnp.abs(jnp.asarray(tau, jnp.float64)), 0.0 if since is None else since)
        return found if isinstance(found, Tracer) else np.asarray(found)

    def __add__(self, other: Any) -> "Kernel":
        from .combine import add

        return add(self, other)

    def __radd__(self, other: Any) -> "Kernel":
        from .combine import add

        return self if isinstance(other, int) and other == 0 else add(other, self)  # 0 is where `sum` starts

    def __mul__(self, other: Any) -> "Kernel":
        from .combine import multiply

        return multiply(self, other)

    def __rmul__(self, other: Any) -> "Kernel":
        from .combine import multiply

        return multiply(self, other)


@jax.jit
def covariance_at(kernel: Kernel, lags: Float[Array, "..."], since: Float[Array, ""]) -> Float[Array, "..."]:
    """cov(f(since), f(since + lag)) by the steps that inference takes too."""
    before, noise = kernel.transition(jnp.asarray(since, jnp.float64))
    state = before @ kernel.start() @ before.T + noise
    covariances = jax.vmap(lambda lag: kernel.readout() @ kernel.transition(lag)[0] @ state @ kernel.readout())
    return covariances(lags.ravel()).reshape(lags.shape)
