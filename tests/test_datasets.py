"""The embedded data are what their origin says."""

import numpy as np
import pytest

import chronogp as cgp


def test_coal_has_its_191_explosions():
    dates = cgp.datasets.load("coal")["date"]
    assert dates.shape == (191,)
    assert np.all(np.diff(dates) >= np.timedelta64(0, "D"))
    assert (str(dates[0]), str(dates[-1])) == ("1851-03-15", "1962-03-22")
    counts = np.bincount(dates.astype("datetime64[Y]").astype(int) + 1970 - 1851)
    assert counts[:10].tolist() == [4, 5, 4, 1, 0, 4, 3, 4, 0, 6]  # the first decade of Jarrett's table


def test_every_data_set_loads_and_tells_its_origin():
    for name in cgp.datasets.names():
        assert cgp.datasets.load(name)
        assert len(cgp.datasets.origin(name)) > 50


def test_an_unknown_data_set_names_those_there_are():
    with pytest.raises(cgp.DataError, match="there are coal"):
        cgp.datasets.load("gold")
