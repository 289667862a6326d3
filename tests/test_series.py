"""Series: every form of times and values, steps in exact arithmetic, and errors that name the row."""

import datetime

import numpy as np
import pytest

import chronogp as cgp
from chronogp.series import bucket, merge

UTC = datetime.UTC


def steps(series):
    return series.grid.durations()


@pytest.mark.parametrize(
    "t",
    [
        ["2024-01-01", "2024-01-03", "2024-01-02"],
        np.array(["2024-01-01", "2024-01-03", "2024-01-02"], dtype="datetime64[s]"),
        np.array(["2024-01-01", "2024-01-03", "2024-01-02"], dtype="datetime64[ns]"),
        [datetime.date(2024, 1, 1), datetime.date(2024, 1, 3), datetime.date(2024, 1, 2)],
        [datetime.datetime(2024, 1, day) for day in (1, 3, 2)],
        [datetime.datetime(2024, 1, day, tzinfo=UTC) for day in (1, 3, 2)],
        [datetime.datetime(2024, 1, d, tzinfo=datetime.timezone(datetime.timedelta(hours=5))) for d in (1, 3, 2)],
    ],
)
def test_dates_in_any_form(t):
    series = cgp.Series(t, [1.0, 2.0, 3.0])
    assert series.clock.dated
    assert np.array_equal(series.instant, [0, 2, 1])
    assert np.array_equal(steps(series), [1.0, 1.0])


@pytest.mark.parametrize(
    "t", [[0, 2, 1], [0.0, 2.0, 1.0], np.array([0, 2, 1], np.uint8), np.array([0, 2, 1], object), range(3)]
)
def test_numbers_in_any_form(t):
    series = cgp.Series(t, [1, None, 3])
    assert not series.clock.dated
    assert np.array_equal(steps(series), [1.0, 1.0])
    assert np.array_equal(series.y, [1.0, np.nan, 3.0], equal_nan=True)


def test_a_nanosecond_in_fifty_years_is_not_lost():
    t = np.array(["1970-01-01T00:00:00.000000001", "2020-01-01T00:00:00", "2020-01-01T00:00:00.000000001"], "M8[ns]")
    series = cgp.Series(t, [1.0, 2.0, 3.0])
    day = 86_400e9
    assert np.array_equal(steps(series), [(18262 * 86_400_000_000_000 - 1) / day, 1 / day])


def test_integers_beyond_two_to_the_53_keep_their_steps():
    series = cgp.Series(np.array([2**60, 2**60 + 1, 2**60 + 3]), [1.0, 2.0, 3.0])
    assert np.array_equal(steps(series), [1.0, 2.0])


def test_a_leap_day_and_a_week_across_it():
    series = cgp.Series(["2024-02-26", "2024-03-04"], [1.0, 2.0])
    assert np.array_equal(steps(series), [7.0])


def test_equal_steps_are_shared():
    for t in (np.linspace(0, 1, 1001), 0.1 * np.arange(1000), 1e9 + 0.001 * np.arange(1000)):
        series = cgp.Series(t, np.zeros(len(t)))
        assert series.grid.steps.size == 1, t[:3]
        assert series.grid.index is None
    some_missing = np.delete(0.1 * np.arange(1000), [5, 6, 500])
    assert np.unique(cgp.Series(some_missing, np.zeros(997)).grid.steps).size == 4  # three, and none


def test_irregular_steps_are_left_alone():
    t = np.cumsum(np.random.default_rng(0).gamma(1.0, 1.0, 100))
    assert np.array_equal(steps(cgp.Series(t, np.zeros(100))), np.diff(t))


def test_ties_share_an_instant():
    series = cgp.Series([2.0, 1.0, 2.0, -0.0, 0.0], np.arange(5.0))
    assert np.array_equal(series.instant, [2, 1, 2, 0, 0])


def test_one_far_row_leaves_small_steps_alone():
    assert np.array_equal(steps(cgp.Series([0.0, 1.0, 2.4, 4e15], np.zeros(4)))[:2], [1.0, 1.4])


def test_a_span_beyond_what_nanoseconds_can_count():
    series = cgp.Series(np.array(["1700-01-01", "1700-01-02", "2200-01-01"], "M8[ns]"), np.zeros(3))
    assert np.array_equal(steps(series), [1.0, 182620.0])


def test_zones():
    east = datetime.timezone(datetime.timedelta(hours=5))
    zoned = cgp.Series([datetime.datetime(2024, 1, day, tzinfo=east) for day in (1, 2)], [1.0, 2.0])
    text = cgp.Series(["2024-01-01T00:00+05:00", "2024-01-01T19:00Z"], [1.0, 2.0])
    assert np.array_equal(zoned.times, text.times)
    assert str(zoned.times[0]).startswith("2023-12-31T19:00")
    merge(zoned, zoned.times)  # without a zone: UTC
    with pytest.raises(cgp.DataError, match="times have time zones"):
        merge(cgp.Series(["2024-01-01"], [1.0]), ["2024-01-01T00:00Z"])


def test_floats_cannot_ask_for_large_whole_numbers():
    series = cgp.Series(2**60 + np.arange(3), np.zeros(3))
    with pytest.raises(cgp.DataError, match=r"beyond 2\^53"):
        merge(series, [2.0**60])
    assert np.array_equal(merge(series, [2**60 + 1])[3], [1])


def test_masked_values_are_missing():
    series = cgp.Series([0, 1], np.ma.masked_array([1.0, -999.0], [False, True]))
    assert np.array_equal(series.y, [1.0, np.nan], equal_nan=True)


def test_plain_dates_read_back_short():
    assert repr(cgp.Series([datetime.date(2024, 1, 2)], [1.0])) == "Series(1 rows, 0 missing, 2024-01-02 to 2024-01-02)"


def test_new_times_are_merged_exactly():
    series = cgp.Series(["2024-01-02", "2024-01-01"], [1.0, 2.0])
    given, _, own, new = merge(series, ["2024-01-01T12:00", "2024-01-02"])
    assert np.array_equal(own, [2, 0])
    assert np.array_equal(new, [1, 2])
    assert given.dtype == "datetime64[m]"


def test_lengths_fall_into_few_buckets():
    for n in range(1, 3000):
        assert n <= bucket(n) <= max(1.25 * n, 4)
    assert {bucket(n) for n in range(2**10 + 1, 2**11 + 1)} == {1280, 1536, 1792, 2048}


def test_what_a_series_says_of_itself():
    assert repr(cgp.Series([1.0, 5.0], [2.0, np.nan])) == "Series(2 rows, 1 missing, 1.0 to 5.0)"
    assert (
        repr(cgp.Series(["2024-01-02", "2024-01-01"], [2, 3])) == "Series(2 rows, 0 missing, 2024-01-01 to 2024-01-02)"
    )


@pytest.mark.parametrize(
    ("t", "y", "says"),
    [
        ([], [], "t: there is no row; give at least one"),
        ([0, 1, 2], [1.0, "x", 2.0], "y row 1 ('x') is not a number"),
        ([0, 1, 2], [1.0, "3", 2.0], "y row 1 ('3') is not a number"),
        ([0, 1], [1.0, 2.0, 3.0], "y has 3 rows, but there are 2 times"),
        ([0, np.inf, 2], [1, 2, 3], "t row 1 ('inf') is not a finite time"),
        ([0, np.nan, np.nan, np.nan, np.nan], [1, 2, 3, 4, 5], "row 3 ('nan') and 1 more"),
        ([0, 1], [1, np.inf], "y row 1 ('inf') is infinite"),
        ([[0, 1]], [1, 2], "t has shape (1, 2)"),
        (iter([0, 1]), [1, 2], "t is a list_iterator; give a list or an array"),
        ({0, 1}, [1, 2], "t is a set; give a list or an array"),
        (["2024-01-01", "2024-13-01"], [1, 2], "t row 1 ('2024-13-01') is neither a number nor a date"),
        (["2024-01-01", "NaT"], [1, 2], "t row 1 ('NaT') is neither a number nor a date"),
        ([datetime.date(2024, 1, 1), "x"], [1, 2], "t row 1 ('x') is no time like the others"),
        ([datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 1, tzinfo=UTC)], [1, 2], "row 0 has no time zone"),
        (
            ["20240131", "20240201"],
            [1, 2],
            "t row 0 ('20240131'), row 1 ('20240201'): each is neither a number nor a date",
        ),
        (["now", "2024-01-01"], [1, 2], "t row 0 ('now') is neither"),
        (["1500-01-01T00:00:00.000000001", "1500-01-02"], [1, 2], "is beyond what its unit can count"),
        (["2024-01-01", None, "2024-01-03"], [1, 2, 3], "t row 1 ('None') is no time like the others"),
        (np.array([5, 2**63 + 5], np.uint64), [1, 2], "is beyond 2^63"),
        (
            [0, 1],
            np.array(["2024-01-01", "2024-01-02"], "M8[ns]"),
            "y holds dates or durations; give numbers (times come",
        ),
        ([0, 1], [[1], [2, 3]], "y holds lists of unequal length"),
        (np.ma.masked_array([0.0, 1.0], [False, True]), [1, 2], "t has masked rows"),
        ([1j, 2j], [1, 2], "t holds complex128, which is no time"),
        ([0, 1], None, "y has 1 rows, but there are 2 times"),
    ],
)
def test_bad_data_are_named(t, y, says):
    with pytest.raises(cgp.DataError) as raised:
        cgp.Series(t, y)
    assert says in str(raised.value)


@pytest.mark.parametrize(
    ("exposure", "says"),
    [
        ([1.0, 0.0], "exposure row 1 ('0.0') is not positive"),
        ([1.0, np.nan], "exposure row 1 ('nan') is not positive"),
        ([1.0], "exposure has 1 rows, but there are 2 times"),
        (["a", 1.0], "exposure row 0 ('a') is not a number"),
    ],
)
def test_bad_exposures_are_named(exposure, says):
    with pytest.raises(cgp.DataError) as raised:
        cgp.Series([0, 1], [1, 2], exposure=exposure)
    assert says in str(raised.value)
