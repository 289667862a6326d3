"""A series: times, values, and the way back to the caller's rows.

Times become steps here, once, on the host, in exact arithmetic: integer ticks for dates and whole numbers,
differences of floats otherwise. JAX never sees a time stamp, only durations. Rows at one instant are one
place on the chain; equal steps are one entry of a table.
"""

from typing import Any, NamedTuple

import equinox as eqx
import numpy as np
from jaxtyping import Float, Int

from .errors import DataError
from .reading import Clock, cast, read_exposure, read_numbers, read_times, same_length


class Grid(eqx.Module):
    """The instants of a chain: a table of distinct steps, and for each instant which one follows it.

    `index` is None where the table has one entry an instant (every step its own) or one entry in all.
    Lengths are rounded up to buckets, so that a few more rows compile nothing anew: what follows the last
    instant are instants without data, by steps of zero length where there is a table of several.
    """

    steps: Float[np.ndarray, " k"]
    index: Int[np.ndarray, " n"] | None
    instants: int
    length: int = eqx.field(static=True)

    @staticmethod
    def of(durations: np.ndarray) -> "Grid":
        instants = durations.size + 1
        length = bucket(instants)
        table, index = np.unique(durations, return_inverse=True)
        if table.size <= 1:
            return Grid(table if table.size else np.zeros(1), None, instants, length)
        if table.size > length // 8:
            return Grid(np.pad(durations, (0, length - durations.size)), None, instants, length)
        return Grid._indexed(table, index, length)

    @staticmethod
    def _indexed(table: np.ndarray, index: np.ndarray, length: int) -> "Grid":
        """A table with an entry of zero for what follows the last instant."""
        stay = table.size
        padded = np.pad(table, (0, bucket(table.size + 1) - table.size))
        indices = np.pad(index, (0, length - index.size), constant_values=stay).astype(np.int32)
        return Grid(padded, indices, index.size + 1, length)

    def durations(self) -> Float[np.ndarray, " steps"]:
        """The step that follows each instant but the last."""
        count = self.instants - 1
        if self.index is not None:
            return self.steps[self.index[:count]]
        return np.broadcast_to(self.steps, count) if self.steps.size == 1 else self.steps[:count]

    def at_rest(self) -> "Grid":
        """The same grid, which stops at its last instant: a process that grows must not go on over the filling."""
        if self.index is not None or self.steps.size > 1:
            return self
        return Grid._indexed(self.steps, np.zeros(self.instants - 1, int), self.length)


def bucket(n: int) -> int:
    """The next length with three leading bits: at most a quarter more than n, four lengths an octave."""
    quantum = 1 << max(n.bit_length() - 3, 0)
    return max(-(-n // quantum) * quantum, 4)


class Padded(NamedTuple):
    """A series' rows, rounded up to a bucket by rows at the last place that hold no value."""

    y: Float[np.ndarray, " rows"]
    exposure: Float[np.ndarray, " rows"]
    instant: Int[np.ndarray, " rows"]


class Series(eqx.Module):
    """Values at times: numbers or dates, in any order, ties allowed; NaN is a missing value.

    **Arguments:** `t`, times: numbers, NumPy datetimes, Python dates; `y`, one value a time;
    `exposure`, optional, one positive number a time. All answers come back in the order given here. Times with a zone
    are kept in UTC, and new times without one are taken as UTC.

    >>> import chronogp as cgp
    >>> cgp.Series(["2024-01-08", "2024-01-01"], [3.0, float("nan")])
    Series(2 rows, 1 missing, 2024-01-01 to 2024-01-08)
    """

    ticks: np.ndarray
    y: Float[np.ndarray, " rows"]
    exposure: Float[np.ndarray, " rows"] | None
    instant: Int[np.ndarray, " rows"]
    grid: Grid
    clock: Clock

    def __init__(self, t: Any, y: Any, *, exposure: Any = None):
        self.ticks, self.clock = read_times(t)
        self.y = read_numbers(y, "y")
        same_length(self.y, "y", self.ticks.size)
        self.exposure = None if exposure is None else read_exposure(exposure, self.ticks.size)
        self.grid, self.instant = place(self.ticks, self.clock)

    @property
    def times(self) -> np.ndarray:
        """The times, one a row: numbers as given, dates as `datetime64`."""
        return self.clock.times(self.ticks)

    def padded(self) -> Padded:
        """The rows as JAX sees them, in as few different lengths as possible."""
        more = (0, bucket(len(self)) - len(self))
        exposure = np.ones(len(self)) if self.exposure is None else self.exposure
        return Padded(
            np.pad(self.y, more, constant_values=np.nan),
            np.pad(exposure, more, constant_values=1.0),
            np.pad(self.instant, more, constant_values=self.grid.length - 1),
        )

    def __len__(self) -> int:
        return self.ticks.size

    def __repr__(self) -> str:
        missing = int(np.isnan(self.y).sum())
        first, last = self.clock.times(np.array([self.ticks.min(), self.ticks.max()]))
        return f"Series({len(self)} rows, {missing} missing, {first} to {last})"


def place(ticks: np.ndarray, clock: Clock) -> tuple[Grid, Int[np.ndarray, " rows"]]:
    """The grid of the distinct instants, and the instant of each row."""
    instants, instant = np.unique(ticks, return_inverse=True)
    return Grid.of(clock.durations(instants)), instant.astype(np.int32)


def merge(series: Series, times: Any) -> tuple[np.ndarray, Grid, np.ndarray, np.ndarray]:
    """New times laid among a series' own: their ticks' times, the common grid, the instants of old and new rows."""
    ticks, clock = read_times(times, "times")
    if clock.dated != series.clock.dated:
        kinds = {True: "dates", False: "plain numbers"}
        raise DataError(
            f"times are {kinds[clock.dated]}, but the series' own times are {kinds[series.clock.dated]}: "
            "give the same kind"
        )
    if clock.zoned and not series.clock.zoned:
        raise DataError("times have time zones, but the series' own times have none; give the same kind")
    given = clock.times(ticks)
    ticks, own, clock = _common(ticks, series, clock)
    grid, instant = place(np.concatenate([own, ticks]), clock)
    return given, grid, instant[: len(series)], instant[len(series) :]


def _common(ticks: np.ndarray, series: Series, clock: Clock) -> tuple[np.ndarray, np.ndarray, Clock]:
    """New ticks and a series' own on one clock, exactly."""
    if clock.dated:
        unit = np.promote_types(f"M8[{clock.unit}]", f"M8[{series.clock.unit}]")
        new, own = (cast(x, unit, "times") for x in (clock.times(ticks), series.times))
        return new.view(np.int64), own.view(np.int64), Clock(np.datetime_data(unit)[0])
    if ticks.dtype == series.ticks.dtype:
        return ticks, series.ticks, clock
    if max(np.abs(x).max() for x in (ticks.astype(float), series.ticks.astype(float))) > 2**53:
        raise DataError(
            "times mix floats with whole numbers beyond 2^53, which floats cannot tell apart; give whole numbers, as "
            f"the series {'does' if series.ticks.dtype.kind == 'i' else 'does not'}"
        )
    return ticks.astype(np.float64), series.ticks.astype(np.float64), clock
