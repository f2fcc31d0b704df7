"""Windows: which of an entity's visible events an aggregate as of a grid instant g is over.

    window: 7d                          elapsed time: [g - 7d, g)
    window: lifetime                    all of them
    window: {rows: 10}                  the 10 greatest in their total order
    window: {rows: 10, within: 30d}     the 10 greatest of those in [g - 30d, g)
    window: {calendar: 7d}              the local date that holds the last microsecond before g, and the 6 before it

The start of each window never goes back as g goes on, so an event is in a window during one stretch of g (but for the
last rows, where others decide too).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any, Final

from featurekit.clock import DAY, Instant, format_duration, from_date, parse_duration, to_date
from featurekit.errors import InputError
from featurekit.grid import first_instant

MOST_ROWS: Final = 1000
KINDS: Final = "a window is a duration, a number of rows, calendar days, weeks or months, or a lifetime"
EXAMPLES: Final = "7d, lifetime, {rows: 10}, {rows: 10, within: 30d} or {calendar: 7d}"
FIELDS: Final = ("rows", "within", "calendar")
_MOST_DAYS: Final = 36_525  # a century, as durations are at most
FIRST_DAY: Final = from_date(date.min) + 1
LAST_DAY: Final = from_date(date.max)
"""The dates whose first instants every zone has in the years 1 to 9999; what is before them has always begun."""
_MONDAY: Final = -3  # 1969-12-29


class CalendarUnit(StrEnum):
    DAY = "d"
    WEEK = "w"
    MONTH = "mo"


_DAYS: Final = {CalendarUnit.DAY: 1, CalendarUnit.WEEK: 7, CalendarUnit.MONTH: 30}
_WORDS: Final = {CalendarUnit.DAY: "day", CalendarUnit.WEEK: "week", CalendarUnit.MONTH: "month"}


@dataclass(frozen=True, slots=True)
class Elapsed:
    """The events of the last `length` microseconds."""

    length: int


@dataclass(frozen=True, slots=True)
class Calendar:
    """The events of the unit of the calendar that holds the microsecond before g, and of the `count` - 1 before it.

    The dates are those of `timezone`, of UTC where that is None. Weeks begin on Monday.
    """

    count: int
    unit: CalendarUnit
    timezone: str | None = None


@dataclass(frozen=True, slots=True)
class LastRows:
    """The `rows` greatest events, of those of the last `within` microseconds where that is given."""

    rows: int
    within: int | None = None


@dataclass(frozen=True, slots=True)
class Lifetime:
    """All events."""


Window = Elapsed | Calendar | LastRows | Lifetime


def start_of(window: Window, at: Instant) -> Instant | None:
    """Return the instant from which on events are in a window as of `at`; None where there is no bound.

    >>> start_of(Elapsed(7 * DAY), 10 * DAY) == 3 * DAY
    True
    >>> start_of(Calendar(2, CalendarUnit.DAY), 10 * DAY) == 8 * DAY
    True
    """
    match window:
        case Elapsed(length):
            return at - length
        case LastRows(_, within):
            return None if within is None else at - within
        case Lifetime():
            return None
        case Calendar(count, unit, _):
            return start_of_unit(window, unit_number(unit, date_at(at - 1, window.timezone)) - count + 1)


def start_of_unit(window: Calendar, number: int) -> Instant | None:
    """Return the first instant of a unit of the calendar by its number; None where its first date has none."""
    match window.unit:
        case CalendarUnit.DAY:
            day = number
        case CalendarUnit.WEEK:
            day = number * 7 + _MONDAY
        case CalendarUnit.MONTH:
            year, month = divmod(number, 12)
            if not date.min.year <= year <= date.max.year:
                return None
            day = from_date(date(year, month + 1, 1))
    return start_of_date(day, window.timezone)


def unit_number(unit: CalendarUnit, day: int) -> int:
    """Return the number of the unit that holds a date (days since 1970-01-01); the unit after it has the next one."""
    match unit:
        case CalendarUnit.DAY:
            return day
        case CalendarUnit.WEEK:
            return (day - _MONDAY) // 7
        case CalendarUnit.MONTH:
            first = to_date(day)
            return first.year * 12 + first.month - 1


def start_of_date(day: int, timezone: str | None) -> Instant | None:
    """Return the first instant of a date (days since 1970-01-01); None outside of FIRST_DAY to LAST_DAY."""
    if not FIRST_DAY <= day <= LAST_DAY:
        return None
    return day * DAY if timezone is None else first_instant(day, timezone)


def date_at(at: Instant, timezone: str | None) -> int:
    """Return the latest date (days since 1970-01-01) that has begun by an instant, from the one before FIRST_DAY on.

    It is what a clock reads, but where clocks fall back across midnight: a date that has begun is not taken back.
    """
    # A clock is less than a day away from UTC.
    day = min(max(at // DAY, FIRST_DAY), LAST_DAY) + 1
    while day >= FIRST_DAY:
        start = start_of_date(day, timezone)
        if start is not None and start <= at:
            break
        day -= 1
    return day


def parse_window(written: str | Mapping[str, Any]) -> Window:
    """Return a window from what people write; InputError, whose `where` is the field that is wrong, for a mistake.

    >>> parse_window("7d"), parse_window({"calendar": "2mo"}).unit
    (Elapsed(length=604800000000), <CalendarUnit.MONTH: 'mo'>)
    """
    if isinstance(written, str):
        return Lifetime() if written == "lifetime" else Elapsed(_duration(written, None))
    fields = set(written)
    if fields == {"calendar"}:
        return _calendar(written["calendar"])
    if "rows" in fields and fields <= {"rows", "within"}:
        rows = written["rows"]
        if not isinstance(rows, int) or isinstance(rows, bool) or not 1 <= rows <= MOST_ROWS:
            raise InputError(
                f"{rows!r} is not a number of rows",
                where="rows",
                why="the rows of a window are kept and counted one by one",
                try_=f"a whole number from 1 to {MOST_ROWS}",
            )
        return LastRows(rows, _duration(written["within"], "within") if "within" in fields else None)
    unknown = [field for field in written if field not in FIELDS]
    shown = ", ".join(map(str, written)) or "nothing"
    raise InputError(
        f"{unknown[0]} is not a field of a window" if unknown else f"a window of {shown} is none",
        where=str(unknown[0]) if unknown else None,
        why=KINDS,
        try_=EXAMPLES,
    )


def _duration(written: Any, field: str | None) -> int:
    if not isinstance(written, str):
        raise InputError(
            f"{written!r} is not a duration", where=field, why="a duration has a unit", try_="for example 30m or 7d"
        )
    try:
        length = parse_duration(written)
    except InputError as error:
        also = "" if field else "; or lifetime, {rows: 10}, {calendar: 7d}"
        raise InputError(error.what, where=field, why=error.why, try_=f"{error.try_}{also}") from None
    if not length:
        raise InputError("the duration is zero", where=field, why="it must be longer than nothing", try_="such as 7d")
    return length


def _calendar(written: Any) -> Calendar:
    found = re.fullmatch(r"([0-9]{1,6})(d|w|mo)", written) if isinstance(written, str) else None
    if found is None:
        raise InputError(
            f"{written!r} is no stretch of the calendar",
            where="calendar",
            why="a calendar has days, weeks from Monday and months, and a window is a whole number of one of them",
            try_="for example 7d, 4w or 3mo",
        )
    count, unit = int(found[1]), CalendarUnit(found[2])
    if not 1 <= count * _DAYS[unit] <= _MOST_DAYS:
        how = "no time at all" if not count else "longer than a hundred years"
        raise InputError(f"{written} is {how}", where="calendar", try_="for example 7d, 4w or 3mo")
    return Calendar(count, unit)


def format_window(window: Window) -> str | dict[str, Any]:
    """Return what `parse_window` reads back (a calendar's zone is its view's, and not in it)."""
    match window:
        case Elapsed(length):
            return format_duration(length)
        case Lifetime():
            return "lifetime"
        case Calendar(count, unit, _):
            return {"calendar": f"{count}{unit}"}
        case LastRows(rows, within):
            return {"rows": rows} | ({} if within is None else {"within": format_duration(within)})


def window_to_json(window: Window | None) -> int | str | dict[str, Any] | None:
    """Return a window as fingerprints have it: an elapsed one is the number it has always been there."""
    if window is None or isinstance(window, Elapsed):
        return None if window is None else window.length
    return format_window(window)


def show_window(window: Window) -> str:
    """Return a window in words.

    >>> show_window(LastRows(10, 30 * DAY)), show_window(Calendar(1, CalendarUnit.WEEK))
    ('the last 10 rows of the last 30d', 'the calendar week up to the as-of')
    """
    match window:
        case Elapsed(length):
            return f"the last {format_duration(length)}"
        case Lifetime():
            return "all rows"
        case LastRows(rows, within):
            last = "the last row" if rows == 1 else f"the last {rows} rows"
            return last if within is None else f"{last} of the last {format_duration(within)}"
        case Calendar(count, unit, timezone):
            zone = f" in {timezone}" if timezone else ""
            if count == 1:
                return f"the calendar {_WORDS[unit]} up to the as-of{zone}"
            return f"the last {count} calendar {_WORDS[unit]}s{zone}"
