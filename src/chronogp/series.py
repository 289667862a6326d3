"""A series: times, values, and the way back to the caller's rows.

Times become steps here, once, on the host, in exact arithmetic: integer ticks for dates and whole numbers,
differences of floats otherwise. JAX never sees a time stamp, only durations. Rows at one instant are one
place on the chain; equal steps are one entry of a table.
"""

import datetime
from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import numpy as np
from jaxtyping import Float, Int

from .errors import DataError
from .params import UNITS

TICKS = {"D": UNITS["D"], "h": UNITS["h"], "m": UNITS["min"], "s": UNITS["s"], "ms": UNITS["ms"], "us": UNITS["us"],
         "ns": UNITS["ns"]}  # fmt: skip


class Clock(eqx.Module):
    """How ticks read as times: plain numbers (`unit=""`), or NumPy datetimes of a unit, measured in days."""

    unit: str = eqx.field(static=True)

    @property
    def dated(self) -> bool:
        return self.unit != ""

    def times(self, ticks: np.ndarray) -> np.ndarray:
        """Ticks as the times that a user reads."""
        return ticks.view(f"datetime64[{self.unit}]") if self.dated else ticks

    def durations(self, ticks: np.ndarray) -> Float[np.ndarray, " steps"]:
        """The steps between sorted ticks: in days for dates, in the caller's own unit for numbers."""
        if self.dated:
            return np.diff(ticks) / float(1 / TICKS[self.unit])
        if np.issubdtype(ticks.dtype, np.integer):
            return np.diff(ticks).astype(np.float64)
        return _on_grid(ticks)


def _on_grid(times: np.ndarray) -> np.ndarray:
    """Differences of sorted floats; where all of them lie on one grid to the last bits, its exact multiples.

    `np.linspace` and `0.001 * np.arange(n)` are regular for their author, though no two differences agree to
    the last bit. Moving each time by at most 2 units of its last place makes the steps equal, so one
    transition serves them all.
    """
    steps = np.diff(times)
    if steps.size < 2:
        return steps
    with np.errstate(all="ignore"):
        counts = np.rint((times - times[0]) / steps.min())
        step = (times[-1] - times[0]) / counts[-1]
        off = np.abs(times[0] + counts * step - times)
    exact = np.all(np.isfinite(counts)) and counts[-1] < 2**52 and np.all(np.diff(counts) >= 1)
    if exact and np.all(off <= 2 * np.spacing(np.abs(times).max())):
        return np.diff(counts) * step
    return steps


class Grid(eqx.Module):
    """The instants of a chain: a table of distinct steps, and for each instant which one follows it.

    `index` is None where the table has one entry an instant (every step its own) or one entry in all.
    Lengths are rounded up to buckets, so that a few more rows compile nothing anew: what follows the last
    instant are steps of zero length to instants without data.
    """

    steps: Float[np.ndarray, " k"]
    index: Int[np.ndarray, " n"] | None
    length: int = eqx.field(static=True)

    @staticmethod
    def of(durations: np.ndarray) -> "Grid":
        length = bucket(durations.size + 1)
        table, index = np.unique(durations, return_inverse=True)
        if table.size <= 1:
            return Grid(table if table.size else np.zeros(1), None, length)
        if table.size > length // 8:
            return Grid(np.pad(durations, (0, length - durations.size)), None, length)
        padded = np.pad(table, (0, bucket(table.size) - table.size), mode="edge")
        return Grid(padded, np.pad(index, (0, length - index.size)).astype(np.int32), length)


def bucket(n: int) -> int:
    """The next length with three leading bits: at most a quarter more than n, eight lengths an octave."""
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
    `exposure`, optional, one positive number a time. All answers come back in the order given here.

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
        if self.ticks.size == 0:
            raise DataError("t: the series is empty; give at least one row")
        _same_length(self.y, "y", self.ticks.size)
        self.exposure = None if exposure is None else read_exposure(exposure, self.ticks.size)
        self.grid, self.instant = place(self.ticks, self.clock)

    @property
    def times(self) -> np.ndarray:
        """The times, as given: one a row."""
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
    given = clock.times(ticks)
    both, clock = read_times(np.concatenate([series.times, given]))
    grid, instant = place(both, clock)
    return given, grid, instant[: len(series)], instant[len(series) :]


def read_times(t: Any, name: str = "t") -> tuple[np.ndarray, Clock]:
    """Times in any form as ticks and the clock that reads them."""
    array = _array(t, name)
    if array.dtype.kind == "O":
        array = array.astype(str) if all(isinstance(v, str) for v in array.tolist()) else _objects(array, name)
    if array.dtype.kind in "US":
        array = _parse(array, name)
    if array.dtype.kind == "M":
        return _dated(array, name)
    if array.dtype.kind not in "iuf":
        raise DataError(f"{name} holds {array.dtype}, which is no time: give numbers or dates")
    if array.dtype.kind == "f":
        array = array.astype(np.float64)
        _refuse(~np.isfinite(array), array, name, "is not a finite time; drop these rows or mend the times")
        return array + 0.0, Clock("")  # -0.0 and 0.0 are one instant
    return array.astype(np.int64), Clock("")


def read_numbers(values: Any, name: str) -> Float[np.ndarray, " rows"]:
    """Numbers in any form as float64; None and NaN are missing."""
    array = _array(values, name)
    if array.dtype.kind not in "iufb":
        try:
            array = np.array([np.nan if v is None else _number(v) for v in array.tolist()], dtype=np.float64)
        except (TypeError, ValueError):
            bad = np.array([not _is_number(v) for v in array.tolist()])
            _refuse(bad, array, name, "is not a number; use a number, or NaN where the value is missing")
    array = array.astype(np.float64)
    _refuse(np.isinf(array), array, name, "is infinite; use a finite number, or NaN where the value is missing")
    return array


def read_exposure(values: Any, rows: int) -> Float[np.ndarray, " rows"]:
    """Exposures: one positive number a row; a single number serves all rows."""
    array = read_numbers(np.broadcast_to(values, rows) if np.ndim(values) == 0 else values, "exposure")
    _same_length(array, "exposure", rows)
    _refuse(~(array > 0), array, "exposure", "is not positive; give the size of what was observed in that row")
    return array


def _array(values: Any, name: str) -> np.ndarray:
    try:
        array = np.asarray(values)
    except ValueError:
        raise DataError(f"{name} holds lists of unequal length; give one number a row: a flat list") from None
    if array.ndim == 0:
        array = array[None]
    if array.ndim != 1:
        raise DataError(f"{name} has shape {array.shape}; give one number a row: a flat list or a 1-d array")
    if array.dtype.kind in "US" and not isinstance(values, np.ndarray):
        return np.array([*values] if np.ndim(values) else [values], dtype=object)  # numbers among text stay numbers
    return array


def _number(value: Any) -> float:
    if isinstance(value, str):
        raise ValueError
    return float(value)


def _is_number(value: Any) -> bool:
    try:
        _number(0.0 if value is None else value)
    except (TypeError, ValueError):
        return False
    return True


def _objects(array: np.ndarray, name: str) -> np.ndarray:
    """Python dates (in UTC where they carry a zone) as NumPy datetimes; other objects as numbers."""
    values = array.tolist()
    bad = np.array([not isinstance(v, datetime.date) for v in values])
    if bad.all():
        return read_numbers(array, name)
    _refuse(bad, array, name, "is not a date, though other rows are; give one kind of time")
    zoned = [isinstance(v, datetime.datetime) and v.tzinfo is not None for v in values]
    if any(zoned) and not all(zoned):
        raise DataError(
            f"{name} row {zoned.index(False)} has no time zone, though other rows have one; give all or none"
        )
    if any(zoned):
        values = [v.astimezone(datetime.UTC).replace(tzinfo=None) for v in values]
    return np.array(values, dtype="datetime64[us]")


def _parse(array: np.ndarray, name: str) -> np.ndarray:
    try:
        return np.array(array, dtype="datetime64")
    except ValueError:
        bad = np.array([not _is_date(text) for text in array.tolist()])
        _refuse(bad, array, name, "is neither a number nor a date; write dates as 2024-01-31 or 2024-01-31T12:00")
        raise


def _is_date(text: str) -> bool:
    try:
        np.datetime64(text)
    except ValueError:
        return False
    return True


def _dated(array: np.ndarray, name: str) -> tuple[np.ndarray, Clock]:
    unit = np.datetime_data(array.dtype)[0]
    target = "D" if unit in ("Y", "M", "W", "generic") else "ns" if unit in ("ps", "fs", "as") else unit
    array = array.astype(f"datetime64[{target}]")
    _refuse(np.isnat(array), array, name, "is no time (NaT); drop these rows or mend the times")
    return np.ascontiguousarray(array).view(np.int64), Clock(target)


def _same_length(array: np.ndarray, name: str, rows: int) -> None:
    if array.size != rows:
        times = "there is 1 time" if rows == 1 else f"there are {rows} times"
        raise DataError(f"{name} has {array.size} rows, but {times}; give one value a time")


def _refuse(bad: np.ndarray, values: Sequence | np.ndarray, name: str, remedy: str) -> None:
    """Raise for the rows marked bad, naming the first three."""
    rows = np.flatnonzero(bad)
    if rows.size:
        first = ", ".join(f"row {row} ({str(values[row])!r})" for row in rows[:3])
        more = f" and {rows.size - 3} more" if rows.size > 3 else ""
        raise DataError(f"{name} {first}{more}: each {remedy}" if rows.size > 1 else f"{name} {first} {remedy}")
