"""Clocks, grids and windows once more, in slow plain Python: local days are found by looking at every minute."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any
from zoneinfo import ZoneInfo

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_DAY = date.min.toordinal() - date(1970, 1, 1).toordinal()


@dataclass(frozen=True)
class Elapsed:
    length: int


@dataclass(frozen=True)
class Calendar:
    """So many whole units of the zone's calendar, the one that holds the last instant before the as-of included."""

    count: int
    unit: str  # d, w, mo
    zone: str | None = None


@dataclass(frozen=True)
class LastRows:
    rows: int
    within: int | None = None


@dataclass(frozen=True)
class Lifetime:
    pass


Window = Elapsed | Calendar | LastRows | Lifetime


@dataclass(frozen=True)
class Grid:
    every: int
    delay: int = 0
    zone: str | None = None
    anchor: int | None = None  # a date on the grid, in days since 1970

    def served_at(self, at: int) -> int:
        """Return g(t): the latest refresh that serving could see."""
        return self.floor(at - self.delay)

    def floor(self, at: int) -> int:
        if self.zone is None:
            return at // self.every * self.every
        step = self.every // DAY
        days = range(at // DAY - step - 2, at // DAY + 3)
        starts = (day_start(day, self.zone) for day in days if (day - (self.anchor or 0)) % step == 0)
        return max(start for start in starts if start <= at)


@cache
def rules(zone: str) -> ZoneInfo:
    with files("tzdata").joinpath("zoneinfo", *zone.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=zone)


def reading(at: int, zone: str) -> int:
    """Return what a clock in the zone reads at an instant, in microseconds since 1970 of that clock."""
    offset = (EPOCH + timedelta(microseconds=at)).astimezone(rules(zone)).utcoffset()
    assert offset is not None
    return at + offset // timedelta(microseconds=1)


@cache
def day_start(day: int, zone: str | None) -> int:
    """Return the first instant at which a clock in the zone reads the date, or a later one where there is none."""
    midnight = day * DAY
    if zone is None:
        return midnight
    before = midnight - 16 * HOUR  # no clock was ever further from UTC
    minute = next(at for at in range(before, midnight + 17 * HOUR, MINUTE) if reading(at, zone) >= midnight)
    # Clocks stood a few seconds apart before there were zones.
    return next(at for at in range(minute - MINUTE, minute + 1, SECOND) if reading(at, zone) >= midnight)


def instant_of(clock: int, zone: str) -> int:
    """Return the instant of a clock's reading: the later of two, and moved forward by the gap where there is none."""
    naive = (EPOCH + timedelta(microseconds=clock)).replace(tzinfo=rules(zone))
    meant = [(naive.replace(fold=fold) - EPOCH) // timedelta(microseconds=1) for fold in (0, 1)]
    exact = [at for at in meant if reading(at, zone) == clock]
    return max(exact) if exact else meant[0]


def start_of(window: Window, as_of: int) -> int | None:
    """Return the event timestamp from which on rows are in the window; None where there is no such bound."""
    if isinstance(window, Elapsed):
        return as_of - window.length
    if isinstance(window, LastRows):
        return None if window.within is None else as_of - window.within
    if isinstance(window, Lifetime):
        return None
    first = first_date(window, local_day(as_of - 1, window.zone))
    return None if first < FIRST_DAY else day_start(first, window.zone)


def local_day(at: int, zone: str | None) -> int:
    """Return the date whose [first instant, first instant of the next) holds an instant."""
    days = range(at // DAY - 2, at // DAY + 3)
    return max(day for day in days if day >= FIRST_DAY and day_start(day, zone) <= at)


def first_date(window: Calendar, day: int) -> int:
    if window.unit == "d":
        return day - (window.count - 1)
    if window.unit == "w":
        monday = day - (day + 3) % 7  # 1970-01-01 was a Thursday
        return monday - 7 * (window.count - 1)
    held = date(1970, 1, 1) + timedelta(days=day)
    months = held.year * 12 + held.month - 1 - (window.count - 1)
    if months < 12:
        return FIRST_DAY - 1
    return (date(months // 12, months % 12 + 1, 1) - date(1970, 1, 1)).days


def inside(rows: list[Any], window: Window, as_of: int, event: str) -> list[Any]:
    """Return those of an entity's visible rows, given in their total order, that the window holds."""
    start = start_of(window, as_of)
    held = [row for row in rows if start is None or row[event] >= start]
    return held[-window.rows :] if isinstance(window, LastRows) else held
