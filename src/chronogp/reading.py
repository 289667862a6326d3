"""What users give, read: times in any form as ticks and a clock, values in any form as float64, errors with the row."""

import datetime
import re
from collections.abc import Iterator, KeysView, Mapping, Sequence, Set, ValuesView
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
    """How ticks read as times: plain numbers (`unit=""`), or NumPy datetimes of a unit, measured in days.

    `zoned`: they were given with time zones, and are in UTC.
    """

    unit: str = eqx.field(static=True)
    zoned: bool = eqx.field(static=True, default=False)

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
    array, zoned = _array(t, name), False
    if array.size == 0:
        raise DataError(f"{name}: there is no row; give at least one")
    if array.dtype.kind in "US" or (array.dtype.kind == "O" and all(isinstance(v, str) for v in array.tolist())):
        array = _parse(array.astype(str), name)
    if array.dtype.kind == "O":
        array, zoned = _objects(array, name)
    if array.dtype.kind == "M":
        return _dated(array, name, zoned)
    if array.dtype.kind not in "iuf":
        raise DataError(f"{name} holds {array.dtype}, which is no time: give numbers or dates")
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
    if not hasattr(values, "__len__") or getattr(values, "ndim", 1) == 0:
        array = np.broadcast_to(array, rows)  # one number for all
    same_length(array, "exposure", rows)
    _refuse(~(array > 0), array, "exposure", "is not positive; give the size of what was observed in that row")
    return array


def _array(values: Any, name: str) -> np.ndarray:
    if isinstance(values, Iterator | Set | Mapping | KeysView | ValuesView):
        raise DataError(f"{name} is a {type(values).__name__}; give a list or an array, one entry a row")
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


def _objects(array: np.ndarray, name: str) -> tuple[np.ndarray, bool]:
    """Python dates as NumPy datetimes, in UTC where they carry a zone, and whether they do; others as numbers."""
    values = array.tolist()
    dates = np.array([isinstance(v, datetime.date | np.datetime64) and v == v for v in values])  # NaT is not itself
    numbers = np.array([v is not None and _is_number(v) for v in values]) & ~dates
    if numbers.all():
        return read_numbers(array, name), False
    text = np.array([isinstance(v, str) for v in values])
    odd = ~max((dates, numbers, text), key=np.sum)
    _refuse(odd, array, name, "is no time like the others; give dates or numbers, one kind, and drop rows without one")
    zoned = [getattr(v, "tzinfo", None) is not None for v in values]
    if any(zoned) and not all(zoned):
        raise DataError(
            f"{name} row {zoned.index(False)} has no time zone, though other rows have one; give all or none"
        )
    if all(hasattr(v, "to_datetime64") for v in values):  # pandas' own, to the nanosecond and in UTC
        return np.array([v.to_datetime64() for v in values]), zoned[0]
    if zoned[0]:
        values = [v.astimezone(datetime.UTC).replace(tzinfo=None) for v in values]
    if any(isinstance(v, datetime.datetime) for v in values):
        return np.array(values, dtype="datetime64[us]"), zoned[0]
    return np.array(values, dtype="datetime64"), False


DATE = re.compile(r"\d{4}-\d\d(-\d\d([T ]\d\d(:\d\d(:\d\d([.]\d+)?)?)?)?)?")
ZONED = re.compile(r"(.*\d\d:\d\d.*)(Z|[+-]\d\d:?\d\d)")


def _parse(array: np.ndarray, name: str) -> np.ndarray:
    """Text as NumPy datetimes, or as Python ones where it carries a zone."""
    texts = array.tolist()
    if all(ZONED.fullmatch(text) for text in texts):
        try:
            return np.array([datetime.datetime.fromisoformat(text) for text in texts], dtype=object)
        except ValueError:
            pass  # the rows are named below
    remedy = (
        "is neither a number nor a date; write dates as 2024-01-31 or 2024-01-31T12:00, all rows with a zone or none"
    )
    _refuse(np.array([not _is_date(text) for text in texts]), array, name, remedy)
    found = np.array(texts, dtype="datetime64")
    days = np.array([text[:10] for text in texts], dtype="datetime64[D]")
    _refuse(found.astype("datetime64[D]") != days, array, name, "is beyond what its unit can count; write fewer digits")
    return found


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


def _dated(array: np.ndarray, name: str, zoned: bool) -> tuple[np.ndarray, Clock]:
    unit = np.datetime_data(array.dtype)[0]
    target = "D" if unit in ("Y", "M", "W", "generic") else "ns" if unit in ("ps", "fs", "as") else unit
    array = array.astype(f"datetime64[{target}]") if unit in ("ps", "fs", "as") else cast(array, f"M8[{target}]", name)
    _refuse(np.isnat(array), array, name, "is no time (NaT); drop these rows or mend the times")
    return np.ascontiguousarray(array).view(np.int64), Clock(target, zoned)


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
