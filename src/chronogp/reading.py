"""What users give, read: times in any form as ticks and a clock, values in any form as float64, errors with the row."""

import datetime
import re
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Float

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
        if np.issubdtype(ticks.dtype, np.integer):
            steps = np.diff(ticks.astype(np.uint64))  # modulo 2^64, so that no span overflows
            return steps / float(1 / TICKS[self.unit]) if self.dated else steps.astype(np.float64)
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
        last_place = np.spacing(np.maximum(np.abs(times), np.abs(times[0])))
    exact = np.all(np.isfinite(counts)) and counts[-1] < 2**52 and np.all(np.diff(counts) >= 1)
    if exact and np.all(off <= 2 * last_place):
        return np.diff(counts) * step
    return steps


def read_times(t: Any, name: str = "t") -> tuple[np.ndarray, Clock]:
    """Times in any form as ticks and the clock that reads them."""
    if np.ma.is_masked(t):
        raise DataError(f"{name} has masked rows; drop the rows that have no time")
    array = _array(t, name)
    if array.dtype.kind == "O":
        array = array.astype(str) if all(isinstance(v, str) for v in array.tolist()) else _objects(array, name)
    if array.dtype.kind in "US":
        array = _parse(array, name)
    if array.dtype.kind == "M":
        return _dated(array, name)
    if array.dtype.kind not in "iuf":
        raise DataError(f"{name} holds {array.dtype}, which is no time: give numbers or dates")
    if array.size == 0:
        raise DataError(f"{name}: the series is empty; give at least one row")
    if array.dtype.kind == "f":
        array = array.astype(np.float64)
        _refuse(~np.isfinite(array), array, name, "is not a finite time; drop these rows or mend the times")
        return array + 0.0, Clock("")  # -0.0 and 0.0 are one instant
    _refuse(array > np.iinfo(np.int64).max, array, name, "is beyond 2^63; give smaller numbers, or dates")
    return array.astype(np.int64), Clock("")


def read_numbers(values: Any, name: str) -> Float[np.ndarray, " rows"]:
    """Numbers in any form as float64; None and NaN are missing."""
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(np.float64), np.nan)
    array = _array(values, name)
    if array.dtype.kind in "mM":
        raise DataError(f"{name} holds dates or durations; give numbers (times come first: Series(t, y))")
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
    array = read_numbers(values, "exposure")
    if np.shape(array) == (1,) and not hasattr(values, "__len__"):
        array = np.broadcast_to(array, rows)  # one number for all
    same_length(array, "exposure", rows)
    _refuse(~(array > 0), array, "exposure", "is not positive; give the size of what was observed in that row")
    return array


def _array(values: Any, name: str) -> np.ndarray:
    try:
        array = np.asarray(values)
    except ValueError:
        raise DataError(f"{name} holds lists of unequal length; give one number a row: a flat list") from None
    except jax.errors.TracerArrayConversionError:
        raise DataError(f"{name} is traced by JAX; make the series outside jit, and close over it") from None
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
    if all(isinstance(v, np.datetime64) for v in values):
        return np.array(values, dtype="datetime64")
    bad = np.array([not isinstance(v, datetime.date) or v != v for v in values])  # NaT is no date, nor itself
    text = np.array([isinstance(v, str) for v in values])
    if text.any():
        odd = text if text.sum() <= len(text) / 2 else ~text
        _refuse(odd, array, name, "is of another kind than other rows; give one kind of time, and none without one")
    if bad.all():
        _refuse(
            np.array([not _is_number(v) or v is None for v in values]),
            array,
            name,
            "is no time; give a number or a date",
        )
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
    bad = np.array([not _is_date(text) for text in array.tolist()])
    remedy = "is neither a number nor a date; write dates as 2024-01-31 or 2024-01-31T12:00, in one time zone"
    _refuse(bad, array, name, remedy)
    return np.array(array, dtype="datetime64")


DATE = re.compile(r"-?\d{4}-\d\d(-\d\d([T ]\d\d(:\d\d(:\d\d([.]\d+)?)?)?)?)?")


def _is_date(text: str) -> bool:
    try:
        return bool(DATE.fullmatch(text)) and not np.isnat(np.datetime64(text))
    except ValueError:
        return False


def cast(array: np.ndarray, dtype: Any, name: str) -> np.ndarray:
    """The same dates in another unit, or an error where that unit cannot hold them."""
    found = array.astype(dtype)
    wrong = ~np.isnat(array) & (found.astype(array.dtype) != array)
    _refuse(
        wrong,
        array,
        name,
        f"is beyond what {np.datetime_data(np.dtype(dtype))[0]} can count; give dates in a coarser unit",
    )
    return found


def _dated(array: np.ndarray, name: str) -> tuple[np.ndarray, Clock]:
    unit = np.datetime_data(array.dtype)[0]
    target = "D" if unit in ("Y", "M", "W", "generic") else "ns" if unit in ("ps", "fs", "as") else unit
    array = array.astype(f"datetime64[{target}]") if unit in ("ps", "fs", "as") else cast(array, f"M8[{target}]", name)
    _refuse(np.isnat(array), array, name, "is no time (NaT); drop these rows or mend the times")
    return np.ascontiguousarray(array).view(np.int64), Clock(target)


def same_length(array: np.ndarray, name: str, rows: int) -> None:
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
