"""Instants: microseconds since the Unix epoch in UTC, as plain ints; and where they come from.

No other module reads the machine's clock or zone.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from difflib import get_close_matches
from functools import lru_cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from featurekit.errors import InputError, TimeError

Instant = int
Clock = Callable[[], Instant]

MILLISECOND: Final = 1_000
SECOND: Final = 1_000_000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NAIVE_EPOCH: Final = _EPOCH.replace(tzinfo=None)  # readings of a clock whose zone is named beside them
_MICROSECOND: Final = timedelta(microseconds=1)
_CALENDAR: Final = tuple(
    (day - _EPOCH) // _MICROSECOND + more
    for day, more in ((datetime(1, 1, 1, tzinfo=UTC), 0), (datetime(9999, 12, 31, tzinfo=UTC), DAY))
)
_UNITS: Final = {"us": 1, "ms": 1000, "s": SECOND, "m": MINUTE, "h": HOUR, "d": DAY, "w": 7 * DAY}
_DURATION: Final = re.compile(r"([0-9]+)(us|ms|s|m|h|d|w)")
_LONGEST: Final = 36_525 * DAY  # a century: a longer one is a slip, and sums of instants stay far inside 64 bits


def system_clock() -> Instant:
    """Return the machine's time as an instant."""
    return time.time_ns() // 1000


def fixed_clock(instant: Instant) -> Clock:
    """Return a clock that stands still, for `--now` and tests."""
    return lambda: instant


def parse_duration(text: str) -> int:
    """Return a duration such as `7d`, `90m` or `1d12h` in microseconds; InputError for anything else.

    >>> parse_duration("1d") == DAY, parse_duration("1h30m") == 90 * MINUTE
    (True, True)
    """
    try_ = "for example 30m, 1h30m, 7d (units: us ms s m h d w)"
    if not re.fullmatch(rf"(?:{_DURATION.pattern})+", text):
        raise InputError(f"{text[:40]!r} is not a duration", why="a duration is whole numbers with units", try_=try_)
    parts = _DURATION.findall(text)
    # By length first: Python itself refuses to read thousands of digits, with an error of its own.
    if len(text) > 80 or (micros := sum(int(number) * _UNITS[unit] for number, unit in parts)) > _LONGEST:
        raise InputError(f"the duration {text[:40]} is too long", why="it is longer than a hundred years", try_=try_)
    return micros


def format_duration(micros: int) -> str:
    """Return the shortest text that `parse_duration` reads back, such as `1d12h`; `0s` for zero."""
    parts = []
    for unit in ("d", "h", "m", "s", "ms", "us"):
        count, micros = divmod(micros, _UNITS[unit])
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"


def parse_time_of_day(text: str) -> int:
    """Return a time such as `06:00` in microseconds since midnight; InputError for anything else.

    >>> parse_time_of_day("06:30") == 6 * HOUR + 30 * MINUTE
    True
    """
    found = re.fullmatch(r"([01]\d|2[0-3]):([0-5]\d)", text)
    if found is None:
        raise InputError(f"{text[:40]!r} is no time of the day", try_="hours and minutes, such as 06:00")
    return int(found[1]) * HOUR + int(found[2]) * MINUTE


def parse_instant(text: str) -> Instant:
    """Return an ISO 8601 time with a zone (`2013-11-15T02:00Z`) as an instant; a bare date is 00:00 UTC of it."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise TimeError(f"{text!r} is not a time", try_="ISO 8601 with a zone, such as 2013-11-15T02:00Z") from None
    if moment.tzinfo is None:
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
            return from_datetime(moment.replace(tzinfo=UTC))
        raise TimeError(
            f"{text!r} has no zone", why="a time without a zone is a different instant everywhere", try_=f"{text}Z"
        )
    return from_datetime(moment)


def from_datetime(moment: datetime) -> Instant:
    """Return an aware datetime as an instant; TimeError for a naive one, and for one that UTC has no year for."""
    if moment.tzinfo is None:
        raise TimeError(
            f"{moment.isoformat()} has no zone",
            why="a naive datetime is a different instant on every machine",
            try_="pass a datetime with tzinfo, such as datetime.now(UTC)",
        )
    return in_calendar(micros_of(moment))


def micros_of(moment: datetime) -> int:
    """Return an aware datetime as a value: microseconds since the Unix epoch, also where UTC has no year for it."""
    return (moment - _EPOCH) // _MICROSECOND


def in_calendar(instant: Instant) -> Instant:
    """Return the instant; TimeError where it is outside the years 1 to 9999, which Python and ISO 8601 end with."""
    if not _CALENDAR[0] <= instant < _CALENDAR[1]:
        raise TimeError("the time is outside the calendar", why="in UTC it is before the year 1 or after the year 9999")
    return instant


def to_datetime(instant: Instant) -> datetime:
    """Return an instant as a UTC datetime; OverflowError outside the years 1 to 9999."""
    return _EPOCH + timedelta(microseconds=instant)


def to_date(days: int) -> date:
    return date(1970, 1, 1) + timedelta(days=days)


def from_date(day: date) -> int:
    return (day - date(1970, 1, 1)).days


def format_instant(instant: Instant) -> str:
    """Return an instant as ISO text in UTC with as few digits as it needs: `2013-11-15T02:00Z`."""
    moment = to_datetime(instant).replace(tzinfo=None)
    precision = "microseconds" if moment.microsecond else "seconds" if moment.second else "minutes"
    # Not strftime: its %Y writes the year 999 with three digits, which nothing reads back.
    return f"{moment.isoformat(timespec=precision)}Z"


@lru_cache(maxsize=1)
def _zone_folder() -> tuple[Path, frozenset[str]]:
    """Return where the pinned package keeps the zones' rules, and the names it has."""
    found = find_spec("tzdata")  # importlib.resources would do too, and takes longer to import than all the rest here
    assert found is not None
    assert found.origin is not None
    package = Path(found.origin).parent
    return package / "zoneinfo", frozenset((package / "zones").read_text(encoding="utf-8").split())


@lru_cache(maxsize=256)
def zone(name: str) -> ZoneInfo:
    """Return the zone by its IANA name, from the pinned tzdata package."""
    return ZoneInfo.from_file(BytesIO(zone_rules(name)), key=name)


def zone_rules(name: str) -> bytes:
    """Return the zone's file (TZif), from the pinned tzdata package; InputError where there is no zone of that name."""
    # ZoneInfo(name) would look into /usr/share/zoneinfo first, where the rules are the machine's, often years old.
    folder, names = _zone_folder()
    if name not in names:
        close = get_close_matches(name, names, n=1)
        try_ = f"did you mean {close[0]}?" if close else "an IANA name such as America/New_York or UTC"
        why = "a zone is named after a place, whose rules decide when its clocks change"
        raise InputError(f"{name!r} is not a time zone", why=why, try_=try_)
    return (folder / name).read_bytes()


def local_to_instant(local: int, zone_name: str) -> Instant:
    """Return the instant of a clock reading (microseconds since 1970-01-01T00:00 of that clock) in a zone.

    A reading that occurs twice is the later instant, one that does not exist moves forward by the gap (DESIGN T1).
    """
    return local_candidates(local, zone_name)[1]


def local_candidates(local: int, zone_name: str) -> tuple[Instant, Instant]:
    """Return the two instants that a clock reading can mean, the earlier first; they are one where it occurs once.

    TimeError where the reading or an instant is outside the years 1 to 9999.
    Where it does not exist they are the reading by the offset after the gap (before the gap) and by that before it
    (after the gap): neither reads `local`.
    """
    info = zone(zone_name)
    naive = _NAIVE_EPOCH + timedelta(microseconds=in_calendar(local))
    one, other = (from_datetime(naive.replace(tzinfo=info, fold=fold)) for fold in (0, 1))
    return min(one, other), max(one, other)


def instant_to_local(instant: Instant, zone_name: str) -> int:
    """Return what a clock in the zone reads at the instant, in microseconds since 1970-01-01T00:00 of that clock.

    TimeError where either is outside the years 1 to 9999.
    """
    moment = to_datetime(in_calendar(instant))
    try:
        offset = moment.astimezone(zone(zone_name)).utcoffset()
    except OverflowError:  # in the calendar by UTC, and not by that clock
        offset = None
    if offset is None:
        raise TimeError(f"{zone_name} has no clock reading at {format_instant(instant)}", why="its calendar ends there")
    return instant + offset // _MICROSECOND
