"""The posterior: what remains of an inference, and every question about it."""

from typing import Any, Literal, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Float, Int

from .chain import Chain, Engine, Sites, at_instants, sample
from .errors import DataError, ModelError
from .kernels import chain_of, readout, terms_of
from .likelihoods import Marginals, Rows
from .model import Model
from .params import format_number, knobs, whole
from .precision import in_float64
from .prediction import Prediction, warn_of_assumed_exposure
from .reading import read_exposure
from .series import Grid, Series, bucket, merge


class Asked(NamedTuple):
    """Times asked for, laid among the series' own: the common grid, and the instant of each own and asked row."""

    times: np.ndarray
    grid: Grid
    own: Int[np.ndarray, " own"]
    rows: Int[np.ndarray, " asked"]


class Posterior(eqx.Module):
    """What the data say under a model: made by `infer` and `fit`, asked by its methods.

    `.evidence` is log p(data), `.sites` the data's Gaussian factors, `.status` how the answer was reached in words,
    `.trace` the evidence along the way; after `fit`, `.steps` counts its evaluations.
    """

    model: Model
    series: Series
    sites: Sites
    evidence: float
    trace: Float[np.ndarray, " steps"]
    status: str = eqx.field(static=True)
    converged: bool = eqx.field(static=True)
    steps: int = eqx.field(static=True)
    warnings: tuple[str, ...] = eqx.field(static=True)
    engine: Engine = eqx.field(static=True)

    @in_float64
    def predict(self, times: Any = None, *, exposure: Any = None) -> Prediction:
        """The latent function at `times`, or at the data's own rows, in the order given.

        `exposure` matters for `.observed()`: unless given it is the series' own where that is constant, otherwise 1.

        >>> import chronogp as cgp
        >>> series = cgp.Series([0.0, 1.0, 2.5], [0.3, -0.1, 0.4])
        >>> posterior = cgp.infer(cgp.Model(cgp.Matern32(), cgp.Gaussian(0.1)), series)
        >>> posterior.predict([2.0, 3.0]).mean.round(3).tolist()
        [0.226, 0.332]
        """
        found = self._ask(times)
        latent = self._smooth(found, readout(self.model.kernels))
        return Prediction(found.times, latent, self.model.likelihood, *self._exposure(times, found, exposure))

    @in_float64
    def components(self, times: Any = None) -> dict[str, Prediction]:
        """The top-level terms of the kernel, each at `times`, by name; their means add up to `predict`'s.

        >>> import chronogp as cgp
        >>> series = cgp.Series([0.0, 1.0, 2.5], [0.3, -0.1, 0.4])
        >>> kernel = cgp.Matern32(1.0, 5.0) + cgp.Constant(4.0)
        >>> list(cgp.infer(cgp.Model(kernel, cgp.Gaussian(0.1)), series).components())
        ['Matern32', 'Constant']
        """
        found = self._ask(times)
        names, look = terms_of(self.model.kernels)
        mean, cov = self._smooth(found, look)
        parts = [Marginals(mean[:, k, None], cov[:, k, k][:, None, None]) for k in range(len(names))]
        return {name: Prediction(found.times, part, None) for name, part in zip(names, parts, strict=True)}

    @in_float64
    def sample(
        self,
        n: int,
        times: Any = None,
        *,
        kind: Literal["latent", "observed"] = "latent",
        exposure: Any = None,
        seed: int = 0,
    ) -> Float[np.ndarray, "n times"]:
        """n joint draws over all of `times`, of the latent function or of new data.

        >>> import chronogp as cgp
        >>> series = cgp.Series([0.0, 1.0, 2.5], [0.3, -0.1, 0.4])
        >>> posterior = cgp.infer(cgp.Model(cgp.Matern32(), cgp.Gaussian(0.1)), series)
        >>> posterior.sample(100, [2.0, 3.0]).shape
        (100, 2)
        """
        if kind not in ("latent", "observed"):
            raise ModelError(f'sample: kind={kind!r}, but it is "latent" or "observed"')
        n, seed = whole("sample", "n", n, 1), whole("sample", "seed", seed, 0)
        found = self._ask(times)
        to_f, to_y = jax.random.split(jax.random.key(seed))
        chain, sites, centre = self._place(found)
        f = np.asarray(sample(to_f, chain, sites.measured_from(-centre), chain.H, n))[found.rows].transpose(2, 0, 1)
        if kind == "latent":
            return f[..., 0] if f.shape[-1] == 1 else f
        exposures, assumed = self._exposure(times, found, exposure)
        if assumed:
            warn_of_assumed_exposure()
        return np.array(self.model.likelihood.draw(to_y, exposures, f))

    @in_float64
    def log_density(self, series: Series) -> Float[np.ndarray, " rows"]:
        """log p(datum given the data inferred from), a row; NaN where the row has no value.

        Exposures are the series' own; without any, those that `predict` takes.
        At the rows inferred from this is the posterior predictive, which has seen them: not leave-one-out.

        >>> import chronogp as cgp
        >>> series = cgp.Series([0.0, 1.0, 2.5], [0.3, -0.1, 0.4])
        >>> posterior = cgp.infer(cgp.Model(cgp.Matern32(), cgp.Gaussian(0.1)), series)
        >>> posterior.log_density(cgp.Series([2.0, 3.0], [0.2, float("nan")])).round(2).tolist()
        [-0.34, nan]
        """
        if not isinstance(series, Series):
            raise DataError(f"{type(series).__name__} is not a series; give Series(t, y)")
        prediction = self.predict(series.times, exposure=series.exposure)
        if prediction.exposure_assumed:
            warn_of_assumed_exposure()
        known = Rows(series.y, np.asarray(prediction.exposure))
        return np.array(self.model.likelihood.log_density(known, prediction.latent))

    def nlpd(self, series: Series) -> float:
        """The mean of `-log_density` over the rows that have a value: smaller is better.

        >>> import chronogp as cgp
        >>> series = cgp.Series([0.0, 1.0, 2.5], [0.3, -0.1, 0.4])
        >>> posterior = cgp.infer(cgp.Model(cgp.Matern32(), cgp.Gaussian(0.1)), series)
        >>> round(posterior.nlpd(cgp.Series([2.0, 3.0], [0.2, 0.3])), 2)
        0.4
        """
        density = self.log_density(series)
        if np.isnan(density).all():
            raise DataError("nlpd: no row of the series has a value; give at least one to score")
        return -float(np.nanmean(density))

    def summary(self) -> str:
        """A table to print: the data, the hyperparameters, how the answer was reached."""
        unit = " days" if self.series.clock.dated else ""
        lines = [repr(self.series), f"evidence      {self.evidence:.6g}", f"status        {self.status}"]
        lines += [f"steps         {self.steps}", "", "hyperparameter".ljust(36) + "value".rjust(14)]
        for knob in knobs(self.model):
            kept = "" if knob.learned else "   fixed"
            lines.append(f"{knob.path:36}{format_number(knob.value):>14}{unit if knob.duration else ''}{kept}")
        return "\n".join([*lines, *(f"warning: {text}" for text in self.warnings)])

    def __repr__(self) -> str:
        return f"Posterior({len(self.series)} rows, evidence {self.evidence:.6g}, {self.status})"

    def _ask(self, times: Any) -> Asked:
        """Where on a chain the answers for `times` will be found."""
        series = self.series
        if times is None:
            return Asked(series.times, series.grid, series.instant, series.instant)
        asked = Asked(*merge(series, times))
        self.model.check_steps(asked.grid.steps)
        if not self.model.stationary and asked.own.min() > 0:
            early = np.flatnonzero(asked.rows < asked.own.min())
            first = series.clock.times(np.array([series.ticks.min()]))[0]
            raise DataError(
                f"times row {early[0]} ({asked.times[early[0]]}) is before the series' first time ({first}), where a "
                "kernel of the model starts; ask from there on, or use stationary kernels alone"
            )
        return asked

    def _place(self, asked: Asked) -> tuple[Chain, Sites, Any]:
        """The chain over all instants of `asked`, with the data's sites and the points they are measured from."""
        grid = self.model.grid(asked.grid)
        chain = chain_of(self.model.kernels, grid.steps, grid.index, grid.length)
        more = bucket(len(self.series)) - len(self.series)
        sites, centre = jax.tree.map(
            lambda leaf: np.pad(leaf, [(0, more)] + [(0, 0)] * (leaf.ndim - 1)), (self.sites, self.sites.pseudo_data())
        )
        instant = np.pad(asked.own, (0, more), constant_values=grid.length - 1)
        sites, centre, _ = at_instants(sites, centre, instant, grid.length)
        return chain, sites, centre

    def _smooth(self, asked: Asked, look: Any) -> Marginals:
        """Mean and covariance of look @ x at the rows asked for."""
        sweep = self.engine.sweep(*self._place(asked), look)
        return Marginals(np.asarray(sweep.mean)[asked.rows], np.asarray(sweep.variance)[asked.rows])

    def _exposure(self, times: Any, asked: Asked, given: Any) -> tuple[Float[np.ndarray, " times"], bool]:
        """The exposures at the rows asked for, and whether they are an assumption that a user should hear of."""
        rows, own = len(asked.times), self.series.exposure
        if given is not None:
            return read_exposure(given, rows), False
        if own is None:
            return np.ones(rows), False
        if times is None:
            return own, False
        constant = bool(np.all(own == own[0]))
        return np.full(rows, own[0] if constant else 1.0), not constant
