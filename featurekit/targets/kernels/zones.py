"""A zone's clock as two tables: when its offset from UTC changes, and to what.

Read from the pinned tzdata package, so results don't follow the machine's rules. Past the last change that is written
down, the zone's rule is written out for the 400 years after which the calendar repeats.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from featurekit.clock import DAY, HOUR, MINUTE, SECOND, zone_rules
from featurekit.targets.kernels.calendar import DAYS_IN_400_YEARS, civil, days_of

CYCLE: Final = DAYS_IN_400_YEARS * DAY
_NEVER: Final = 1 << 80
_HEADER: Final = 44
_NAME: Final = r"(?:<[^>]+>|[A-Za-z]+)"
_OFFSET: Final = r"[+-]?\d+(?::\d+){0,2}"
_RULE: Final = rf"{_NAME}(?P<std>{_OFFSET})(?:{_NAME}(?P<dst>{_OFFSET})?,M(?P<start>[^,]+),M(?P<end>[^,]+))?"


@dataclass(frozen=True, slots=True)
class Zone:
    """`offsets[i]` holds from `starts[i - 1]` (by UTC) or `local_starts[i - 1]` (by the zone's clock) to the next.

    A clock reading that occurs twice is in the earlier stretch, and so is one that does not exist (it is read as
    if the clock had not changed yet): as Spark reads them. Times from `end` or `local_end` on are those some cycles of
    400 years before.
    """

    starts: tuple[int, ...]
    local_starts: tuple[int, ...]
    offsets: tuple[int, ...]
    end: int
    local_end: int

    def offset_at(self, micros: int) -> int:
        """Return how far the zone's clock is ahead of UTC's at an instant."""
        return self.offsets[bisect_right(self.starts, _within(micros, self.end))]

    def offset_of(self, local: int) -> int:
        """Return how far the zone's clock is ahead of UTC's when it reads `local`."""
        return self.offsets[bisect_right(self.local_starts, _within(local, self.local_end))]


def _within(micros: int, end: int) -> int:
    return micros if micros < end else micros - ((micros - end) // CYCLE + 1) * CYCLE


@lru_cache(maxsize=256)
def zone_table(name: str) -> Zone:
    """Return the clock of a zone by its IANA name; InputError where there is none of that name.

    >>> zone_table("America/New_York").offset_at(0) // HOUR, zone_table("Asia/Kolkata").offset_at(0) // MINUTE
    (-5, 330)
    """
    times, offsets, rule = _read(zone_rules(name))
    repeated = list(_repeated(rule, times[-1] if times else 0))
    times += [time for time, _ in repeated]
    offsets += [offset for _, offset in repeated]
    local = tuple(time + max(offsets[index], offsets[index + 1]) for index, time in enumerate(times))
    ends = (times[-1], local[-1]) if repeated else (_NEVER, _NEVER)
    return Zone(tuple(times), local, tuple(offsets), *ends)


def _read(raw: bytes) -> tuple[list[int], list[int], str]:
    """Return the changes in a TZif file, in microseconds, the offsets before and after them, and the rule after."""
    skipped = _counts(raw, 0)
    start = _HEADER + _length(skipped, 4)
    counts = _counts(raw, start)
    time_count, type_count = counts[3], counts[4]
    at = start + _HEADER
    times = struct.unpack_from(f">{time_count}q", raw, at)
    kinds = struct.unpack_from(f">{time_count}B", raw, at + 8 * time_count)
    types = [struct.unpack_from(">i", raw, at + 9 * time_count + 6 * index)[0] for index in range(type_count)]
    rule = raw[start + _HEADER + _length(counts, 8) :].strip(b"\n").decode("ascii")
    offsets = [types[0], *(types[kind] for kind in kinds)]
    return [time * SECOND for time in times], [offset * SECOND for offset in offsets], rule


def _counts(raw: bytes, at: int) -> tuple[int, ...]:
    if raw[at : at + 4] != b"TZif":
        raise AssertionError("the tzdata package holds something else than TZif files")
    return struct.unpack_from(">6l", raw, at + 20)


def _length(counts: tuple[int, ...], time_size: int) -> int:
    utc, standard, leaps, times, types, letters = counts
    return times * (time_size + 1) + types * 6 + letters + leaps * (time_size + 4) + standard + utc


def _repeated(rule: str, last: int) -> Iterator[tuple[int, int]]:
    """Yield the changes after `last` that a rule such as `EST5EDT,M3.2.0,M11.1.0` makes, for more than 400 years."""
    match = re.fullmatch(_RULE, rule)  # compiled here: most who import this read no zone
    if match is None:
        raise AssertionError(f"{rule!r} is not a rule of a time zone")
    if match["start"] is None:
        return
    standard = -_clock(match["std"])
    summer = -_clock(match["dst"]) if match["dst"] else standard + HOUR
    first = civil(last // DAY)[0]
    for year in range(first, first + 402):
        changes = [
            (_day_of_rule(year, match["start"]) - standard, summer),
            (_day_of_rule(year, match["end"]) - summer, standard),
        ]
        yield from (change for change in sorted(changes) if change[0] > last)


def _day_of_rule(year: int, text: str) -> int:
    """Return the clock reading of `month.week.day[/time]` in a year; week 5 is the last, Sunday is 0."""
    date, _, time = text.partition("/")
    month, week, weekday = map(int, date.split("."))
    first = days_of(year, month, 1)
    day = first + (weekday - (first + 4)) % 7 + 7 * (week - 1)
    following = days_of(year + month // 12, month % 12 + 1, 1)
    while day >= following:
        day -= 7
    return day * DAY + (_clock(time) if time else 2 * HOUR)


def _clock(text: str) -> int:
    """Return `[+-]hh[:mm[:ss]]` in microseconds."""
    hours, minutes, seconds = (*map(int, text.lstrip("+-").split(":")), 0, 0)[:3]
    micros = hours * HOUR + minutes * MINUTE + seconds * SECOND
    return -micros if text.startswith("-") else micros
