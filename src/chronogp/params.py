"""Hyperparameters: plain numbers on the object that owns them.

What a number may be (its domain), whether it is learned, and whether it is a duration are metadata of the
field. What one instance changes - `fixed(2.0)`, `learned(7.0)`, a duration given as "7D" - stands in its
static `notes`, so that the leaf itself stays a float and `jax.grad` sees nothing else.
"""

import dataclasses
import datetime
import operator
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import numpy as np

from .errors import ModelError
from .typing import Array, Tracer


@dataclasses.dataclass(frozen=True)
class Domain:
    """An open interval, and the smooth map between it and the real line on which an optimiser walks."""

    words: str
    contains: Callable[[np.ndarray], Any]
    to_line: Callable[[np.ndarray], np.ndarray]
    from_line: Callable[[np.ndarray], np.ndarray]
    slope: Callable[[np.ndarray], np.ndarray]  # d value / d line, at the value


def _is_covariance(x: np.ndarray) -> Any:
    """One positive number, or a symmetric matrix without negative eigenvalues."""
    if x.ndim == 0:
        return POSITIVE.contains(x)
    if x.ndim != 2 or x.shape[0] != x.shape[1] or not np.all(np.isfinite(x)):
        return False
    size = np.abs(x).max(initial=0.0)
    even = np.all(np.abs(x - x.T) <= 1e-12 * size)
    return even and np.linalg.eigvalsh(x).min(initial=0.0) >= -1e-12 * size


POSITIVE = Domain("positive and finite", lambda x: np.isfinite(x) & (x > 0), np.log, np.exp, lambda x: x)
REAL = Domain("finite", np.isfinite, lambda x: x, lambda u: u, np.ones_like)
COVARIANCE = Domain(
    "positive, or a symmetric positive semi-definite matrix", _is_covariance, np.log, np.exp, lambda x: x
)


@dataclasses.dataclass(frozen=True)
class Marked:
    """A value on its way into a model, with the word that `fixed` or `learned` puts on it."""

    value: Any
    mark: str


def fixed(value: Any) -> Marked:
    """Keep this hyperparameter at its value while the others are learned.

    >>> import chronogp as cgp
    >>> cgp.Matern52(variance=1.0, lengthscale=cgp.fixed(2.0))
    Matern52(variance=1.0, lengthscale=fixed(2.0))
    """
    return Marked(value, "fixed")


def learned(value: Any) -> Marked:
    """Learn this hyperparameter from its value on, though its class keeps it by default (a period, say).

    >>> import chronogp as cgp
    >>> cgp.Cosine(period=cgp.learned(7.0)).period
    7.0
    """
    return Marked(value, "learned")


def parameter(
    default: Any = dataclasses.MISSING,
    *,
    domain: Domain = POSITIVE,
    learn: bool = True,
    duration: bool = False,
    array: bool = False,
) -> Any:
    """Declare a hyperparameter, one number unless `array`, as a field of a `Parametrised` class."""
    metadata = {"domain": domain, "learn": learn, "duration": duration, "array": array}
    if default is dataclasses.MISSING:
        return eqx.field(metadata=metadata)
    return eqx.field(default=default, metadata=metadata)


# Given as a number, a duration such as "7D", fixed(...) or learned(...); read back as a number or an array.
Parameter = Any

UNITS = {
    "ns": Fraction(1, 86_400_000_000_000), "us": Fraction(1, 86_400_000_000), "ms": Fraction(1, 86_400_000),
    "s": Fraction(1, 86_400), "min": Fraction(1, 1440), "h": Fraction(1, 24),
    "D": Fraction(1), "W": Fraction(7), "y": Fraction(1461, 4),
}  # fmt: skip


def days(text: str) -> float:
    """A duration such as "7D", "36h", "20ms" or "2y" in days; a year is 365.25 days.

    >>> days("36h")
    1.5
    """
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([A-Za-z]+)\s*", text)
    if match and match[2] in UNITS and Fraction(match[1]) > 0:
        return float(Fraction(match[1]) * UNITS[match[2]])
    raise ModelError(
        f'"{text}" is not a duration: write a positive number and a unit, such as "7D", "36h", "20ms" or "2y" '
        f"(units: {', '.join(UNITS)}; months have no fixed length, so write days)"
    )


class Parametrised(eqx.Module):
    """Something with hyperparameters: a kernel or a likelihood. Its fields are checked and made plain once, here."""

    notes: tuple[tuple[str, str], ...] = eqx.field(static=True, init=False, repr=False, default=())

    def __post_init__(self) -> None:
        notes = []
        for field in parameter_fields(self):
            value, marks = _plain(type(self).__name__, field, getattr(self, field.name))
            object.__setattr__(self, field.name, value)
            notes += [(field.name, mark) for mark in marks]
        object.__setattr__(self, "notes", tuple(notes))

    def __repr__(self) -> str:
        shown = []
        for field in dataclasses.fields(self):
            if field.name == "notes":
                continue
            value = getattr(self, field.name)
            text = format_number(value) if "domain" in field.metadata else repr(value)
            for mark in ("fixed", "learned"):
                if (field.name, mark) in self.notes:
                    text = f"{mark}({text})"
            shown.append(f"{field.name}={text}")
        return f"{type(self).__name__}({', '.join(shown)})"


def format_number(value: Any) -> str:
    """Six significant digits of a scalar; the shape of anything larger."""
    if isinstance(value, Tracer):
        return "traced"
    if not isinstance(value, int | float | np.number | np.ndarray | Array):
        return repr(value)
    array = np.asarray(value)
    return repr(float(f"{float(array):.6g}")) if array.ndim == 0 else f"<{'x'.join(map(str, array.shape))} array>"


def whole(owner: str, name: str, value: Any, low: int, high: float = np.inf) -> int:
    """A whole number between two ends, whatever type it has; anything else is refused by name."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool | np.bool_) or not low <= number <= high:
        ends = f"from {low} on" if high == np.inf else f"from {low} to {high}"
        raise ModelError(f"{owner}: {name}={value!r}, but it has to be a whole number {ends}")
    return number


def parameter_fields(owner: Parametrised) -> list[dataclasses.Field]:
    return [field for field in dataclasses.fields(owner) if "domain" in field.metadata]


def _plain(owner: str, field: dataclasses.Field, value: Any) -> tuple[Any, list[str]]:
    """The bare value of one hyperparameter, and what is to be remembered of how it was given."""
    marks = []
    if isinstance(value, Marked):
        marks.append(value.mark)
        value = value.value
    if value is None and field.default is None:
        return value, marks
    if isinstance(value, str):
        if not field.metadata["duration"]:
            raise ModelError(f'{owner}: {field.name}="{value}" is text; give a number')
        value = days(value)
        marks.append("dated")
    if isinstance(value, datetime.timedelta | np.timedelta64):
        if not field.metadata["duration"]:
            raise ModelError(f"{owner}: {field.name}={value!r} is a duration; give a number")
        value = float(np.timedelta64(value) / np.timedelta64(1, "D"))
        marks.append("dated")
    if isinstance(value, Tracer):  # its value is not known here
        return value, marks
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ModelError(f"{owner}: {field.name}={value!r} is not a number") from None
    domain: Domain = field.metadata["domain"]
    if array.ndim and not field.metadata["array"]:
        raise ModelError(f"{owner}: {field.name} has shape {array.shape}; give one number")
    if array.ndim and domain is COVARIANCE and "learned" in marks:
        raise ModelError(f"{owner}: {field.name} is a matrix, and only a single number can be learned; give fixed(...)")
    if isinstance(value, bool) or not np.all(domain.contains(array)):
        raise ModelError(f"{owner}: {field.name}={value!r}, but {_article(field.name)} must be {domain.words}")
    return (float(array) if array.ndim == 0 else array), marks


def _article(name: str) -> str:
    words = name.replace("_", " ")
    return ("an " if words[0] in "aeiou" or words == "sd" else "a ") + words


class Knob(NamedTuple):
    """One hyperparameter of a model: where it is, what it is, and whether it is to be learned."""

    path: str
    value: Any
    domain: Domain
    learned: bool
    duration: bool
    dated: bool  # a duration that was given with a unit
    where: Callable[[Any], Any]


def knobs(root: Any, path: str = "") -> Iterator[Knob]:
    """Every hyperparameter below `root`, in order; paths read `kernel.0.lengthscale`."""
    yield from _knobs(root, path, lambda tree: tree)


def _knobs(node: Any, path: str, where: Callable[[Any], Any]) -> Iterator[Knob]:
    if isinstance(node, tuple):
        for i, part in enumerate(node):
            yield from _knobs(part, _join(path, str(i)), lambda tree, i=i: where(tree)[i])
    elif isinstance(node, eqx.Module):
        for field in dataclasses.fields(node):
            value, here = getattr(node, field.name), partial(_attribute, where, field.name)
            if "domain" in field.metadata and value is not None:
                yield _knob(node, field, _join(path, field.name), here)
            elif "domain" not in field.metadata and field.name != "notes":
                inner = path if field.metadata.get("numbered") else _join(path, field.name)
                yield from _knobs(value, inner, here)


def _attribute(where: Callable[[Any], Any], name: str, tree: Any) -> Any:
    return getattr(where(tree), name)


def _knob(owner: Any, field: dataclasses.Field, path: str, where: Callable[[Any], Any]) -> Knob:
    marks = [mark for name, mark in owner.notes if name == field.name]
    facts = field.metadata
    learn = "learned" in marks or (facts["learn"] and "fixed" not in marks)
    return Knob(path, getattr(owner, field.name), facts["domain"], learn, facts["duration"], "dated" in marks, where)


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


class Line:
    """The learned hyperparameters of a model as one point on the real line's n-th power, and back."""

    def __init__(self, model: Any):
        self.knobs = [knob for knob in knobs(model) if knob.learned]
        self.model = model
        self.start = self._flat([knob.domain.to_line(np.asarray(knob.value)) for knob in self.knobs])

    def place(self, point: np.ndarray) -> Any:
        """The model whose learned hyperparameters stand at `point`."""
        values = [float(v) if v.ndim == 0 else v for v in self._values(point)]
        return eqx.tree_at(lambda tree: [knob.where(tree) for knob in self.knobs], self.model, values)

    def gradient(self, point: np.ndarray, slopes: Any) -> np.ndarray:
        """The gradient at `point`, from a model-shaped tree of derivatives in the values themselves."""
        parts = zip(self.knobs, self._values(point), strict=True)
        return self._flat([knob.domain.slope(value) * np.asarray(knob.where(slopes)) for knob, value in parts])

    def paths(self, marked: np.ndarray) -> list[str]:
        """The hyperparameters of the marked coordinates, by path."""
        owners = self._repeated([knob.path for knob in self.knobs])
        return list(dict.fromkeys(owners[marked].tolist()))

    def durations(self) -> np.ndarray:
        """For each coordinate, whether it is a length of time."""
        return self._repeated([knob.duration for knob in self.knobs])

    def _repeated(self, facts: list) -> np.ndarray:
        return np.repeat(facts, [np.size(knob.value) for knob in self.knobs])

    def _values(self, point: np.ndarray) -> list[np.ndarray]:
        sizes = [np.size(knob.value) for knob in self.knobs]
        pieces = np.split(np.asarray(point, dtype=np.float64), np.cumsum(sizes)[:-1])
        return [
            knob.domain.from_line(piece.reshape(np.shape(knob.value)))
            for knob, piece in zip(self.knobs, pieces, strict=True)
        ]

    @staticmethod
    def _flat(arrays: list[np.ndarray]) -> np.ndarray:
        return np.concatenate([np.ravel(a) for a in arrays]) if arrays else np.zeros(0)
