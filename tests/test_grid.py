"""The refresh grid: DESIGN T3 on the days when clocks change."""

from __future__ import annotations

import contextlib
import itertools
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from featurekit.clock import (
    DAY,
    HOUR,
    MINUTE,
    format_instant,
    from_date,
    from_datetime,
    instant_to_local,
    parse_instant,
    to_date,
)
from featurekit.errors import TimeError
from featurekit.grid import Grid, first_instant

ZONES = (
    "America/New_York",  # gap and overlap at 02:00
    "America/Sao_Paulo",  # until 2018 midnight was skipped in spring; in autumn the last hour of a day came twice
    "America/Havana",  # midnight comes twice in autumn
    "America/St_Johns",  # until 2011 clocks changed at 00:01, so a day began, ended and began again
    "Australia/Lord_Howe",  # half an hour
    "Pacific/Apia",  # 30 December 2011 was skipped
    "Pacific/Kwajalein",  # 21 August 1993 was skipped; in 1969 a day came twice
    "Africa/Monrovia",  # offsets with seconds, until 1972
    "Asia/Amman",  # midnight was skipped and came twice
    "UTC",
)
INSTANTS = st.integers(from_datetime(datetime(1930, 1, 1, tzinfo=UTC)), from_datetime(datetime(2080, 1, 1, tzinfo=UTC)))
DELAYS = st.integers(0, 3 * DAY)


@st.composite
def grids(draw: st.DrawFn) -> Grid:
    delay = draw(DELAYS)
    if draw(st.booleans()):
        return Grid(draw(st.integers(MINUTE, 30 * DAY)), delay)
    anchor = draw(st.dates(date(1990, 1, 1), date(2030, 1, 1)))
    return Grid(draw(st.integers(1, 9)) * DAY, delay, draw(st.sampled_from(ZONES)), anchor)


def instant(text: str) -> int:
    return parse_instant(text)


def day(text: str) -> int:
    return from_date(date.fromisoformat(text))


@pytest.mark.parametrize(
    ("zone", "date_", "first", "why"),
    [
        ("America/New_York", "2013-03-10", "2013-03-10T05:00Z", "the gap is later in the day"),
        ("America/New_York", "2013-11-03", "2013-11-03T04:00Z", "so is the overlap"),
        ("America/New_York", "2013-11-04", "2013-11-04T05:00Z", "25 hours later"),
        ("America/Sao_Paulo", "2017-10-15", "2017-10-15T03:00Z", "midnight is skipped: the day begins at 01:00"),
        ("America/Sao_Paulo", "2018-02-18", "2018-02-18T03:00Z", "the hour before midnight came twice"),
        ("America/Havana", "2013-11-03", "2013-11-03T04:00Z", "midnight comes twice: the first of the two"),
        ("America/Havana", "2013-03-10", "2013-03-10T05:00Z", "midnight is skipped"),
        ("America/St_Johns", "2010-11-07", "2010-11-07T02:30Z", "00:00 and 00:01, then 23:01 of the day before"),
        ("Australia/Lord_Howe", "2013-10-06", "2013-10-05T13:30Z", "half an hour is skipped later"),
        ("Pacific/Apia", "2011-12-29", "2011-12-29T10:00Z", "the day before"),
        ("Pacific/Apia", "2011-12-30", "2011-12-30T10:00Z", "never was: the instant when the 31st begins"),
        ("Pacific/Apia", "2011-12-31", "2011-12-30T10:00Z", "the day after"),
        ("Africa/Monrovia", "1972-01-07", "1972-01-07T00:44:30Z", "44:30 of the day are skipped"),
        ("Pacific/Kwajalein", "1993-08-22", "1993-08-21T12:00Z", "after a day that never was"),
    ],
)
def test_local_day_begins_at_its_first_instant(zone: str, date_: str, first: str, why: str) -> None:
    assert format_instant(first_instant(day(date_), zone)) == first, why


@given(INSTANTS, st.sampled_from(ZONES))
def test_first_instant_is_the_least_that_reads_the_date(at: int, zone: str) -> None:
    read = instant_to_local(at, zone) // DAY
    first = first_instant(read, zone)
    assert first <= at
    assert instant_to_local(first, zone) // DAY == read
    assert instant_to_local(first - 1, zone) // DAY < read


@given(grids(), INSTANTS)
def test_floor_is_at_most_the_instant_and_next_is_after_it(grid: Grid, at: int) -> None:
    floor = grid.floor(at)
    assert floor <= at < grid.next(floor)
    assert grid.next(at) == grid.next(floor)


@given(grids(), INSTANTS)
def test_floor_is_on_the_grid_and_stays_where_it_is(grid: Grid, at: int) -> None:
    floor = grid.floor(at)
    assert grid.contains(floor)
    assert grid.floor(floor) == floor


@given(grids(), INSTANTS, st.integers(0, 3 * DAY))
def test_later_request_is_never_served_an_earlier_instant(grid: Grid, at: int, later: int) -> None:
    assert grid.served_at(at) <= grid.served_at(at + later)


@given(grids(), INSTANTS)
def test_served_is_the_latest_grid_instant_that_is_available(grid: Grid, at: int) -> None:
    served = grid.served_at(at)
    assert served + grid.availability_delay <= at
    assert grid.next(served) + grid.availability_delay > at


@given(grids(), INSTANTS)
def test_becomes_visible_exactly_the_delay_after_the_refresh(grid: Grid, at: int) -> None:
    refresh = grid.floor(at)
    assert grid.served_at(refresh + grid.availability_delay) == refresh
    assert grid.served_at(refresh + grid.availability_delay - 1) < refresh


@given(grids(), INSTANTS, st.integers(0, 40 * DAY))
def test_between_is_half_open_and_complete(grid: Grid, start: int, length: int) -> None:
    if grid.every < HOUR:
        length %= DAY
    found = grid.between(start, start + length)
    assert all(start <= at < start + length and grid.contains(at) for at in found)
    assert all(grid.next(one) == other for one, other in itertools.pairwise(found))
    first = start if grid.contains(start) else grid.next(start)
    assert found[:1] == ((first,) if first < start + length else ())


def test_example_of_the_design_sees_from_two_o_clock() -> None:
    grid = Grid(DAY, 2 * HOUR)
    assert format_instant(grid.served_at(instant("2026-01-05T10:00Z"))) == "2026-01-05T00:00Z"
    assert format_instant(grid.served_at(instant("2026-01-05T02:00Z"))) == "2026-01-05T00:00Z"
    assert format_instant(grid.served_at(instant("2026-01-05T01:59:59Z"))) == "2026-01-04T00:00Z"


def test_new_yorks_days_are_23_24_and_25_hours_long() -> None:
    grid = Grid(DAY, 0, "America/New_York")
    days = grid.between(instant("2013-03-09T12:00Z"), instant("2013-03-13T12:00Z"))
    assert [(b - a) // HOUR for a, b in itertools.pairwise(days)] == [23, 24, 24]
    days = grid.between(instant("2013-11-02T12:00Z"), instant("2013-11-05T12:00Z"))
    assert [(b - a) // HOUR for a, b in itertools.pairwise(days)] == [25, 24]


def test_weeks_begin_on_the_anchors_weekday() -> None:
    grid = Grid(7 * DAY, 0, "America/New_York", date(2013, 11, 4))
    found = grid.between(instant("2013-10-15T00:00Z"), instant("2013-11-20T00:00Z"))
    assert [to_date(instant_to_local(at, "America/New_York") // DAY).isoweekday() for at in found] == [1] * len(found)
    assert len(found) == 5


def test_skipped_day_is_not_refreshed_twice() -> None:
    grid = Grid(DAY, 0, "Pacific/Apia")
    found = grid.between(instant("2011-12-28T00:00Z"), instant("2012-01-02T00:00Z"))
    assert [format_instant(at) for at in found] == [
        "2011-12-28T10:00Z",
        "2011-12-29T10:00Z",
        "2011-12-30T10:00Z",
        "2011-12-31T10:00Z",
        "2012-01-01T10:00Z",
    ]


def test_day_that_begins_twice_is_refreshed_when_it_first_begins() -> None:
    grid = Grid(DAY, 0, "America/St_Johns")
    began = instant("2010-11-07T02:30Z")
    again = instant("2010-11-07T02:45Z")  # clocks read 23:15 of the 6th once more
    assert to_date(instant_to_local(again, "America/St_Johns") // DAY) == date(2010, 11, 6)
    assert grid.floor(again) == began


def test_grid_says_what_it_is() -> None:
    assert str(Grid(DAY, 2 * HOUR, "America/New_York")) == "every 1d in America/New_York, served 2h later"


@pytest.mark.parametrize("timezone", [None, "America/New_York", "Asia/Tokyo"])
@pytest.mark.parametrize("every", [DAY, 7 * DAY])
def test_at_the_calendars_ends_there_is_a_grid_instant_or_a_time_error(every: int, timezone: str | None) -> None:
    grid = Grid(every, 2 * HOUR, timezone, date(2013, 11, 15) if timezone and every > DAY else None)
    first, last = parse_instant("0001-01-01"), parse_instant("9999-12-31T23:59:59Z")
    for at in (first, first + HOUR, first + 30 * DAY, last - 30 * DAY, last - HOUR, last):
        with contextlib.suppress(TimeError):
            assert format_instant(grid.served_at(at)) <= format_instant(at)
    with pytest.raises(TimeError):
        grid.served_at(first)
    assert first < grid.served_at(first + 30 * DAY) < grid.served_at(last - 30 * DAY) < last
