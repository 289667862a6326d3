"""Inference: from a model and a series to the posterior, and the evidence as a differentiable function."""

import warnings
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .chain import Auto, Blocked, Chain, Engine, Sites, Sweep, at_instants, log_partition
from .errors import DataError, ModelError, PrecisionWarning
from .kernels import chain_of
from .likelihoods import Likelihood, Rows
from .model import Model
from .posterior import Posterior
from .precision import in_float64
from .series import Series
from .typing import Tracer

IMPRECISE = 3e-4  # the relative error of a variance from which on a user should know
FILLER = 0.5  # stands in for a missing value while its row is computed and discarded: every likelihood knows it


class RowSites(NamedTuple):
    """A site a row, the point it is measured from, and the log of what it is at that point, summed."""

    sites: Sites
    centre: Float[Array, "rows p"]
    log_scale: Float[Array, ""]


@in_float64
def infer(model: Model, data: Series, *, engine: Any = "auto") -> Posterior:
    """The posterior of the latent function, at the model's own hyperparameters.

    **Arguments:** `model`; `data`, a `Series`; `engine`, "auto" or an engine such as `Blocked(lanes=64)`.
    **Returns:** a `Posterior`, whose `status` tells how it was reached.

    >>> import chronogp as cgp
    >>> series = cgp.Series([0.0, 1.0, 2.5], [0.3, -0.1, 0.4])
    >>> cgp.infer(cgp.Model(cgp.Matern32(), cgp.Gaussian(0.1)), series)
    Posterior(3 rows, evidence -2.79508, converged)
    """
    engine = engine_of(engine)
    check(model, data)
    chain, rows, instant = pose(model, data)
    sites, centre, constant = at_instants(rows.sites, rows.centre, instant, chain.length)
    sweep: Sweep = engine.sweep(chain, sites, centre, chain.H)
    value = sweep.log_z + constant + rows.log_scale
    if isinstance(value, Tracer):
        raise ModelError("infer answers with numbers, so it cannot be traced by JAX; inside jit or grad use evidence")
    value = float(value)
    if not np.isfinite(value):
        raise ModelError(
            "the evidence is too small to be a number: the data are too many powers of ten away from what the model "
            "expects; bring variances and noise nearer to the data's own scale"
        )
    status, said = precision_of(sweep)
    return Posterior(
        model=jax.tree.map(lambda leaf: np.asarray(leaf, np.float64) if np.ndim(leaf) else float(leaf), model),
        series=data,
        sites=jax.tree.map(lambda leaf: np.array(leaf[: len(data)]), rows.sites),
        evidence=value,
        trace=np.array([value]),
        status=status,
        converged=True,
        steps=1,
        warnings=said,
        engine=engine,
    )


@in_float64
def evidence(model: Model, series: Series, *, engine: Any = "auto") -> Float[Array, ""]:
    """log p(data), differentiable once in the model's hyperparameters, inside your own `jit` and `grad` too.

    **Arguments:** as `infer`. **Returns:** a JAX scalar in float64.

    >>> import jax, chronogp as cgp
    >>> series = cgp.Series([0.0, 1.0, 2.5], [0.3, -0.1, 0.4])
    >>> model = cgp.Model(cgp.Matern32(), cgp.Gaussian(0.1))
    >>> slopes = jax.grad(cgp.evidence)(model, series)
    >>> round(float(slopes.kernel.lengthscale), 3)
    0.31
    """
    engine = engine_of(engine)
    check(model, series)

    def exact(model: Model) -> Array:
        chain, rows, instant = pose(jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float64), model), series)
        sites, centre, constant = at_instants(rows.sites, rows.centre, instant, chain.length)
        return log_partition(chain, sites, centre, engine) + constant + rows.log_scale

    # All derivatives are taken here, in float64: a caller's own `grad` may come to its end with the flag off.
    @in_float64
    def forward(model: Model) -> tuple[Array, tuple[Model, Model]]:
        value, pull = jax.vjp(exact, model)
        return value, (pull(jnp.ones_like(value))[0], model)

    @in_float64
    def backward(kept: tuple[Model, Model], cotangent: Array) -> tuple[Model]:
        return (jax.tree.map(lambda slope, leaf: (cotangent * slope).astype(jnp.asarray(leaf).dtype), *kept),)

    value = jax.custom_vjp(exact)
    value.defvjp(forward, backward)
    return value(model)


def check(model: Any, series: Any) -> None:
    """Refuse, at the door, what makes no sense together."""
    if not isinstance(model, Model):
        raise ModelError(f"{type(model).__name__} is not a model; give Model(kernel, likelihood)")
    if not isinstance(series, Series):
        raise DataError(f"{type(series).__name__} is not a series; give Series(t, y)")
    if isinstance(series.y, Tracer):
        raise DataError("the series is traced by JAX; close over it: jax.jit(lambda model: evidence(model, series))")
    model.check_values()
    model.check_clock(series.clock.dated)
    model.check_steps(series.grid.steps)


def engine_of(choice: Any) -> Engine:
    """The engine that an argument names."""
    if isinstance(choice, str) and choice == "auto":
        return Auto()
    if isinstance(choice, Blocked):
        return Auto(choice)
    raise ModelError(f'engine={choice!r} is not an engine; give "auto" or Blocked(lanes=...)')


def precision_of(sweep: Sweep) -> tuple[str, tuple[str, ...]]:
    """The status of a finished inference, and what is to be said of its precision."""
    if float(sweep.loss) <= IMPRECISE:
        return "converged, refined" if sweep.refined else "converged", ()
    message = (
        f"the data are so precise beside the model's variance (by a factor of {float(sweep.contrast):.0e}) that fewer "
        "than 4 digits of some variances are right; give the likelihood more noise, or the kernel less variance"
    )
    warnings.warn(message, PrecisionWarning, stacklevel=4)
    return "converged, refined, imprecise" if sweep.refined else "converged, imprecise", (message,)


def pose(model: Model, series: Series) -> tuple[Chain, RowSites, np.ndarray]:
    """The chain, the rows' sites, and the instant of each row."""
    grid, rows = model.grid(series.grid), series.padded()
    chain = chain_of(model.kernels, grid.steps, grid.index, grid.length)
    return chain, exact_sites(model.likelihood, Rows(rows.y, rows.exposure)), rows.instant


@jax.jit
def exact_sites(likelihood: Likelihood, rows: Rows) -> RowSites:
    """The rows of a Gaussian-shaped likelihood as sites, measured from their own centres; missing ones say nothing."""
    seen = ~jnp.isnan(rows.y)
    found = likelihood.exact(Rows(jnp.where(seen, rows.y, FILLER), rows.exposure))
    precision = jnp.where(seen, found.precision, 0.0)
    centre = jnp.where(seen, found.centre, 0.0)
    sites = Sites((precision * centre)[:, None], -precision[:, None, None] / 2)
    return RowSites(sites, centre[:, None], jnp.sum(jnp.where(seen, found.log_scale, 0.0)))
