"""Instants, durations and local times."""

from __future__ import annotations

import contextlib
import zoneinfo
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from featurekit.clock import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    format_duration,
    format_instant,
    from_datetime,
    instant_to_local,
    local_candidates,
    local_to_instant,
    parse_duration,
    parse_instant,
    zone,
)
from featurekit.errors import InputError, TimeError

ZONES = (
    "America/New_York",
    "America/Sao_Paulo",
    "America/Havana",
    "America/St_Johns",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Asia/Kolkata",
    "Africa/Monrovia",
    "UTC",
)
INSTANTS = st.integers(from_datetime(datetime(1900, 1, 1, tzinfo=UTC)), from_datetime(datetime(2100, 1, 1, tzinfo=UTC)))


def local(text: str) -> int:
    """What a clock reads, from text without a zone."""
    return from_datetime(datetime.fromisoformat(text).replace(tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("7d", 7 * DAY),
        ("1d12h", 36 * HOUR),
        ("90m", 90 * MINUTE),
        ("1w", 7 * DAY),
        ("250ms", 250_000),
        ("3us", 3),
        ("0s", 0),
        ("100d", 100 * DAY),
    ],
)
def test_duration_is_whole_numbers_with_units(text: str, micros: int) -> None:
    assert parse_duration(text) == micros


@pytest.mark.parametrize("text", ["", "7", "d", "1.5h", "-1d", "1 d", "7D", "1mo", "P1D", "٣d", "1d ", "7d\n"])
def test_other_text_is_not_a_duration(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_duration(text)
    assert "is not a duration" in caught.value.what
    assert "30m" in str(caught.value.try_)


@pytest.mark.parametrize("text", ["40000d", "9" * 5000 + "d", "1d" * 50])
def test_duration_of_more_than_a_century_is_a_slip(text: str) -> None:
    with pytest.raises(InputError, match="too long"):
        parse_duration(text)


@given(st.integers(0, 36_525 * DAY))
def test_formatted_duration_is_read_back(micros: int) -> None:
    assert parse_duration(format_duration(micros)) == micros


@given(INSTANTS)
def test_formatted_instant_is_read_back(instant: int) -> None:
    assert parse_instant(format_instant(instant)) == instant


def test_instant_of_an_early_year_has_four_digits() -> None:
    assert format_instant(from_datetime(datetime(987, 1, 2, 3, 4, tzinfo=UTC))) == "0987-01-02T03:04Z"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2013-11-15", "2013-11-15T00:00Z"),
        ("2013-11-15T02:00Z", "2013-11-15T02:00Z"),
        ("2013-11-15T02:00:07.5-05:00", "2013-11-15T07:00:07.500000Z"),
    ],
)
def test_time_with_a_zone_or_a_bare_date_is_an_instant(text: str, shown: str) -> None:
    assert format_instant(parse_instant(text)) == shown


@pytest.mark.parametrize("text", ["2013-11-15T02:00", "yesterday", "", "15.11.2013", "2013-11-15 25:00Z"])
def test_time_without_a_zone_is_refused(text: str) -> None:
    with pytest.raises(TimeError):
        parse_instant(text)


def test_naive_datetime_is_refused() -> None:
    with pytest.raises(TimeError, match="no zone"):
        from_datetime(datetime(2013, 11, 15))  # noqa: DTZ001


@pytest.mark.parametrize("text", ["0001-01-01T00:00+14:00", "9999-12-31T23:59:59.999999-00:01"])
def test_a_time_that_utc_has_no_year_for_is_refused(text: str) -> None:
    with pytest.raises(TimeError, match="outside the calendar"):
        parse_instant(text)
    with pytest.raises(TimeError, match="outside the calendar"):
        from_datetime(datetime.fromisoformat(text))


@pytest.mark.parametrize("text", ["0001-01-01T00:00Z", "9999-12-31T23:59:59.999999Z"])
def test_the_calendars_ends_are_times(text: str) -> None:
    assert format_instant(parse_instant(text)) == text


@pytest.mark.parametrize("name", ["America/New_York", "Asia/Tokyo"])
@pytest.mark.parametrize("edge", [parse_instant("0001-01-01"), parse_instant("9999-12-31T23:59:59Z")])
def test_at_the_calendars_ends_a_clock_reads_something_or_it_is_a_time_error(edge: int, name: str) -> None:
    for away in (-DAY, -1, 0, 1, DAY):
        for read in (instant_to_local, local_to_instant):
            with contextlib.suppress(TimeError):
                assert abs(read(edge + away, name) - edge - away) < DAY
    with pytest.raises(TimeError):
        local_to_instant(1 << 62, name)


@pytest.mark.parametrize(
    ("name", "reading", "instant", "why"),
    [
        ("America/New_York", "2013-11-03T01:30", "2013-11-03T06:30Z", "twice: the later one"),
        ("America/New_York", "2013-11-03T00:59", "2013-11-03T04:59Z", "once, before the overlap"),
        ("America/New_York", "2013-11-03T02:00", "2013-11-03T07:00Z", "once, after the overlap"),
        ("America/New_York", "2013-03-10T02:30", "2013-03-10T07:30Z", "never: forward by the gap"),
        ("America/New_York", "2013-03-10T03:00", "2013-03-10T07:00Z", "once, the first after the gap"),
        ("America/Sao_Paulo", "2017-10-15T00:00", "2017-10-15T03:00Z", "midnight is skipped"),
        ("America/Sao_Paulo", "2018-02-17T23:30", "2018-02-18T02:30Z", "the last hour of a day, twice"),
        ("America/Havana", "2013-11-03T00:30", "2013-11-03T05:30Z", "the first hour of a day, twice"),
        ("Australia/Lord_Howe", "2013-04-07T01:45", "2013-04-06T15:15Z", "half an hour, twice"),
        ("Australia/Lord_Howe", "2013-10-06T02:15", "2013-10-05T15:45Z", "half an hour is skipped"),
        ("Pacific/Apia", "2011-12-30T12:00", "2011-12-30T22:00Z", "a day that never was: forward by 24 hours"),
    ],
)
def test_clock_reading_is_one_instant(name: str, reading: str, instant: str, why: str) -> None:
    assert format_instant(local_to_instant(local(reading), name)) == instant, why


@given(INSTANTS, st.sampled_from(ZONES))
def test_reading_of_an_instant_means_that_instant_or_its_twin(instant: int, name: str) -> None:
    assert instant in local_candidates(instant_to_local(instant, name), name)


@given(INSTANTS, st.sampled_from(ZONES))
def test_local_time_is_never_read_as_earlier_than_it_happened(instant: int, name: str) -> None:
    assert local_to_instant(instant_to_local(instant, name), name) >= instant


def test_zone_rules_are_the_pinned_ones_and_not_the_machines(tmp_path: Path) -> None:
    (tmp_path / "America").mkdir()
    (tmp_path / "America" / "New_York").write_bytes(files("tzdata").joinpath("zoneinfo", "Asia", "Tokyo").read_bytes())
    zoneinfo.reset_tzpath(to=[str(tmp_path)])
    zoneinfo.ZoneInfo.clear_cache()
    zone.cache_clear()
    try:
        machine = datetime(2013, 11, 15, tzinfo=zoneinfo.ZoneInfo("America/New_York")).utcoffset()
        ours = datetime(2013, 11, 15, tzinfo=zone("America/New_York")).utcoffset()
    finally:
        zoneinfo.reset_tzpath()
        zoneinfo.ZoneInfo.clear_cache()
        zone.cache_clear()
    assert (machine, ours) == (timedelta(hours=9), timedelta(hours=-5))


@pytest.mark.parametrize(
    "name", ["", "Nowhere/City", "../zones", "/etc/localtime", "america/new_york", "EST5EDT4", "."]
)
def test_unknown_zone_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="is not a time zone"):
        zone(name)


def test_misspelt_zone_names_the_one_that_was_meant() -> None:
    with pytest.raises(InputError) as caught:
        zone("America/NewYork")
    assert caught.value.try_ == "did you mean America/New_York?"


def test_units_are_microseconds() -> None:
    assert (SECOND, MINUTE, HOUR, DAY) == (10**6, 60 * 10**6, 3600 * 10**6, 86_400 * 10**6)
