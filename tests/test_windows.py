"""Where windows begin: elapsed time, stretches of the calendar, last rows, lifetimes; and how they are written."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from featurekit.clock import DAY, HOUR, MINUTE, from_date, parse_instant
from featurekit.errors import InputError
from featurekit.windows import (
    Calendar,
    CalendarUnit,
    Elapsed,
    LastRows,
    Lifetime,
    Window,
    date_at,
    format_window,
    parse_window,
    show_window,
    start_of,
    start_of_date,
    start_of_unit,
    unit_number,
)

D, W, MO = CalendarUnit
NEW_YORK, LORD_HOWE, SAMOA, AZORES = "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Atlantic/Azores"
WRITTEN: list[tuple[Any, Window, str]] = [
    ("7d", Elapsed(7 * DAY), "the last 7d"),
    ("1h30m", Elapsed(90 * MINUTE), "the last 1h30m"),
    ("lifetime", Lifetime(), "all rows"),
    ({"rows": 10}, LastRows(10), "the last 10 rows"),
    ({"rows": 1, "within": "30d"}, LastRows(1, 30 * DAY), "the last row of the last 30d"),
    ({"rows": 1000, "within": "1us"}, LastRows(1000, 1), "the last 1000 rows of the last 1us"),
    ({"calendar": "1d"}, Calendar(1, D), "the calendar day up to the as-of"),
    ({"calendar": "7d"}, Calendar(7, D), "the last 7 calendar days"),
    ({"calendar": "2w"}, Calendar(2, W), "the last 2 calendar weeks"),
    ({"calendar": "1mo"}, Calendar(1, MO), "the calendar month up to the as-of"),
    ({"calendar": "1200mo"}, Calendar(1200, MO), "the last 1200 calendar months"),
]


@pytest.mark.parametrize(("written", "window", "shown"), WRITTEN)
def test_a_window_is_read_written_and_shown(written: Any, window: Window, shown: str) -> None:
    assert parse_window(written) == window
    assert format_window(window) == written
    assert show_window(window) == shown


@pytest.mark.parametrize(
    ("written", "where", "what"),
    [
        ("ever", None, "'ever' is not a duration"),
        ("0d", None, "the duration is zero"),
        ({}, None, "a window of nothing is none"),
        ({"days": 7}, "days", "days is not a field of a window"),
        ({"rows": 7, "witin": "7d"}, "witin", "witin is not a field of a window"),
        ({"within": "7d"}, None, "a window of within is none"),
        ({"calendar": "7d", "rows": 3}, None, "a window of calendar, rows is none"),
        ({"rows": 0}, "rows", "0 is not a number of rows"),
        ({"rows": 1001}, "rows", "1001 is not a number of rows"),
        ({"rows": True}, "rows", "True is not a number of rows"),
        ({"rows": "10"}, "rows", "'10' is not a number of rows"),
        ({"rows": 10, "within": "soon"}, "within", "'soon' is not a duration"),
        ({"rows": 10, "within": 30}, "within", "30 is not a duration"),
        ({"rows": 10, "within": "0s"}, "within", "the duration is zero"),
        ({"calendar": "7h"}, "calendar", "'7h' is no stretch of the calendar"),
        ({"calendar": "1d12h"}, "calendar", "'1d12h' is no stretch of the calendar"),
        ({"calendar": 7}, "calendar", "7 is no stretch of the calendar"),
        ({"calendar": "0d"}, "calendar", "0d is no time at all"),
        ({"calendar": "36526d"}, "calendar", "36526d is longer than a hundred years"),
        ({"calendar": "999999mo"}, "calendar", "999999mo is longer than a hundred years"),
    ],
)
def test_what_is_no_window_is_refused(written: Any, where: str | None, what: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_window(written)
    assert (refused.value.what, refused.value.where) == (what, where)
    assert refused.value.try_


def test_a_window_without_a_bound_begins_nowhere() -> None:
    assert start_of(Lifetime(), 0) is None
    assert start_of(LastRows(3), 0) is None
    assert start_of(LastRows(3, HOUR), 0) == -HOUR
    assert start_of(Elapsed(HOUR), 0) == -HOUR


@pytest.mark.parametrize(
    ("window", "as_of", "start"),
    [
        # On a grid of days the last date is the one before the as-of; in between it is today so far.
        (Calendar(1, D), "2024-03-10T00:00Z", "2024-03-09T00:00Z"),
        (Calendar(1, D), "2024-03-10T00:00:00.000001Z", "2024-03-10T00:00Z"),
        (Calendar(7, D), "2024-03-10T06:00Z", "2024-03-04T00:00Z"),
        # 2024-03-10 has 23 hours in New York, 2024-11-03 has 25.
        (Calendar(1, D, NEW_YORK), "2024-03-11T04:00Z", "2024-03-10T05:00Z"),
        (Calendar(7, D, NEW_YORK), "2024-03-11T04:00Z", "2024-03-04T05:00Z"),
        (Calendar(1, D, NEW_YORK), "2024-11-04T05:00Z", "2024-11-03T04:00Z"),
        (Calendar(2, D, NEW_YORK), "2024-11-04T04:59Z", "2024-11-02T04:00Z"),
        # Where it is tomorrow already, and where it is yesterday still.
        (Calendar(1, D, "Asia/Tokyo"), "2024-03-10T18:00Z", "2024-03-10T15:00Z"),
        (Calendar(1, D, "Pacific/Kiritimati"), "2024-03-10T23:00Z", "2024-03-10T10:00Z"),
        (Calendar(1, D, "Pacific/Pago_Pago"), "2024-03-10T03:00Z", "2024-03-09T11:00Z"),
        # Lord Howe moves its clocks by half an hour.
        (Calendar(1, D, LORD_HOWE), "2024-04-07T13:30Z", "2024-04-06T13:00Z"),
        # The Azores' midnight of 2024-03-31 does not exist: the date begins at one o'clock.
        (Calendar(1, D, AZORES), "2024-03-31T02:00Z", "2024-03-31T01:00Z"),
        (Calendar(1, D, AZORES), "2024-03-31T01:00Z", "2024-03-30T01:00Z"),
        # Samoa had no 2011-12-30: the two last dates before the 31st ends are the 31st and nothing.
        (Calendar(1, D, SAMOA), "2011-12-31T10:00Z", "2011-12-30T10:00Z"),
        (Calendar(2, D, SAMOA), "2011-12-31T10:00Z", "2011-12-30T10:00Z"),
        (Calendar(3, D, SAMOA), "2011-12-31T10:00Z", "2011-12-29T10:00Z"),
        (Calendar(1, D, SAMOA), "2011-12-30T10:00Z", "2011-12-29T10:00Z"),
        # Mondays.
        (Calendar(1, W), "2024-03-11T00:00Z", "2024-03-04T00:00Z"),
        (Calendar(1, W), "2024-03-11T00:00:00.000001Z", "2024-03-11T00:00Z"),
        (Calendar(2, W, NEW_YORK), "2024-03-13T00:00Z", "2024-03-04T05:00Z"),
        (Calendar(1, W), "1969-12-31T00:00Z", "1969-12-29T00:00Z"),
        # Firsts.
        (Calendar(1, MO), "2024-03-01T00:00Z", "2024-02-01T00:00Z"),
        (Calendar(1, MO), "2024-03-01T00:00:00.000001Z", "2024-03-01T00:00Z"),
        (Calendar(3, MO), "2024-01-31T00:00Z", "2023-11-01T00:00Z"),
        (Calendar(12, MO, NEW_YORK), "2024-01-01T05:00Z", "2023-01-01T05:00Z"),
    ],
)
def test_a_stretch_of_the_calendar_begins_with_its_first_unit(window: Calendar, as_of: str, start: str) -> None:
    assert start_of(window, parse_instant(as_of)) == parse_instant(start)


def test_a_date_that_has_begun_is_not_taken_back() -> None:
    # St John's, 2006-10-29: at 00:01 the clock went back to 23:01 of the 28th.
    begun = parse_instant("2006-10-29T02:30Z")
    assert start_of_date(from_date(date(2006, 10, 29)), "America/St_Johns") == begun
    assert date_at(begun + 10 * MINUTE, "America/St_Johns") == from_date(date(2006, 10, 29))
    assert start_of(Calendar(1, D, "America/St_Johns"), begun + 10 * MINUTE) == begun


@pytest.mark.parametrize("unit", CalendarUnit)
@pytest.mark.parametrize("timezone", [None, NEW_YORK, "Asia/Tokyo"])
def test_where_the_calendar_ends_there_is_no_bound(unit: CalendarUnit, timezone: str | None) -> None:
    early, late = parse_instant("0001-01-20T00:00Z"), parse_instant("9999-12-31T23:00Z")
    assert start_of(Calendar(900, unit, timezone), early) is None
    assert start_of_unit(Calendar(1, unit, timezone), unit_number(unit, date_at(late, timezone)) + 2) is None
    assert start_of(Calendar(1, unit, timezone), late) is not None


@given(
    st.integers(parse_instant("1900-01-01"), parse_instant("2100-01-01")),
    st.integers(1, 40),
    st.sampled_from(CalendarUnit),
    st.sampled_from([None, NEW_YORK, LORD_HOWE, SAMOA, AZORES, "Africa/Monrovia", "America/St_Johns"]),
    st.integers(1, 3 * DAY),
)
def test_the_start_of_a_window_never_goes_back(
    at: int, count: int, unit: CalendarUnit, timezone: str | None, later: int
) -> None:
    window = Calendar(count, unit, timezone)
    first, second = start_of(window, at), start_of(window, at + later)
    assert first is not None
    assert second is not None
    assert first <= second
    assert first < at


@given(st.dates(date(1, 1, 2), date(9999, 12, 30)), st.sampled_from(CalendarUnit))
def test_units_of_the_calendar_are_numbered_without_a_gap(day: date, unit: CalendarUnit) -> None:
    here, there = unit_number(unit, from_date(day)), unit_number(unit, from_date(day + timedelta(days=1)))
    begins = unit is D or (unit is W and day.weekday() == 6) or (unit is MO and (day + timedelta(days=1)).day == 1)
    assert there == here + begins
    start = start_of_unit(Calendar(1, unit), there)
    assert start is None or (start == from_date(day + timedelta(days=1)) * DAY) == begins
