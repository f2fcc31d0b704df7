"""The zone rules of a Java runtime, read from its `tzdb.dat` without starting it, beside those of Python.

Both paths turn local times into instants, one with Java's rules and one with Python's. A runtime that is older than a
government's decision gives other instants, and so other features. The format is that of java.time.zone.Ser.
"""

from __future__ import annotations

import calendar
import struct
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final

from featurekit.clock import zone
from featurekit.errors import InputError

_FIRST_YEAR: Final = 1970
_LAST_YEAR: Final = 2037
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_START: Final = 0
_END: Final = int((datetime(_LAST_YEAR, 12, 31, tzinfo=UTC) - _EPOCH).total_seconds())
_STEP: Final = 14 * 86_400  # no rule has lasted for a shorter time since 1970


@dataclass(frozen=True, slots=True)
class ZoneRules:
    """Offsets of one zone in seconds: `offsets[i]` is in force from `transitions[i - 1]` on."""

    transitions: tuple[int, ...]
    offsets: tuple[int, ...]

    def offset_at(self, second: int) -> int:
        return self.offsets[bisect_right(self.transitions, second)]


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaZones:
    """All zones of a Java runtime, and the tzdata release they come from."""

    version: str
    zones: dict[str, ZoneRules]


def read_java_zones(java_home: Path) -> JavaZones:
    """Return the zone rules of a Java runtime; InputError where it has none in the known format."""
    file = java_home / "lib" / "tzdb.dat"
    try:
        return _zones(_Reader(file.read_bytes()))
    except (OSError, struct.error, IndexError, ValueError, UnicodeDecodeError) as error:
        raise InputError("the Java runtime's zone rules can't be read", where=str(file), why=str(error)) from error


def differing_zones(java: JavaZones, names: Iterable[str]) -> tuple[str, ...]:
    """Return which of the zones have another offset in Java than in Python, somewhere from 1970 to 2037."""
    return tuple(name for name in names if not _agrees(java.zones.get(name), name))


def _agrees(rules: ZoneRules | None, name: str) -> bool:
    if rules is None:
        return False
    info = zone(name)
    changes = (second for transition in rules.transitions for second in (transition - 1, transition))
    looked_at = (*(second for second in changes if _START <= second < _END), *range(_START, _END, _STEP))
    offsets = {offset: timedelta(seconds=offset) for offset in rules.offsets}
    return all(
        datetime.fromtimestamp(second, info).utcoffset() == offsets[rules.offset_at(second)] for second in looked_at
    )


class _Reader:
    """Java's DataInput over bytes."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._at = 0

    def number(self, code: str) -> int:
        (value,) = struct.unpack_from(f">{code}", self._content, self._at)
        self._at += struct.calcsize(code)
        return int(value)

    def take(self, length: int) -> bytes:
        taken = self._content[self._at : self._at + length]
        if len(taken) != length:
            raise ValueError("the file ends too early")
        self._at += length
        return taken

    def text(self) -> str:
        return self.take(self.number("H")).decode()

    def offset(self) -> int:
        quarters = self.number("b")
        return self.number("i") if quarters == 127 else quarters * 900

    def second(self) -> int:
        high = self.number("B")
        if high == 255:
            return self.number("q")
        return ((high << 16) + self.number("H")) * 900 - 4_575_744_000


def _zones(reader: _Reader) -> JavaZones:
    if reader.number("b") != 1 or reader.text() != "TZDB":
        raise ValueError("it is not a file of zone rules in the known format")
    versions = [reader.text() for _ in range(reader.number("h"))]
    regions = [reader.text() for _ in range(reader.number("h"))]
    rules = [reader.take(reader.number("h")) for _ in range(reader.number("h"))]
    zones: dict[str, ZoneRules] = {}
    decoded: dict[int, ZoneRules] = {}  # many zones share their rules
    for _ in versions:
        for _ in range(reader.number("h")):
            region, rule = regions[reader.number("h")], reader.number("H")
            if rule not in decoded:
                decoded[rule] = _zone_rules(_Reader(rules[rule]))
            zones[region] = decoded[rule]
    return JavaZones(version=versions[-1], zones=zones)


def _zone_rules(reader: _Reader) -> ZoneRules:
    if reader.number("b") != 1:
        raise ValueError("unknown kind of zone rules")
    standard = reader.number("i")
    for _ in range(standard):
        reader.second()
    for _ in range(standard + 1):
        reader.offset()
    count = reader.number("i")
    transitions = [reader.second() for _ in range(count)]
    offsets = [reader.offset() for _ in range(count + 1)]
    yearly = [_yearly_rule(reader) for _ in range(reader.number("b"))]
    first = (_EPOCH + timedelta(seconds=transitions[-1])).year + 1 if transitions else _FIRST_YEAR
    for year in range(first, _LAST_YEAR + 1) if yearly else ():
        for transition, offset in sorted(rule.in_year(year) for rule in yearly):
            transitions.append(transition)
            offsets.append(offset)
    return ZoneRules(tuple(transitions), tuple(offsets))


@dataclass(frozen=True, slots=True, kw_only=True)
class _YearlyRule:
    """A change of clocks that comes back every year, such as on the last Sunday of March at 01:00 UTC."""

    month: int
    day: int  # below zero: counted from the month's end
    weekday: int | None  # Monday is 1
    second: int
    read_by: int  # 0 UTC, 1 the clock on the wall, 2 standard time
    standard: int
    before: int
    after: int

    def in_year(self, year: int) -> tuple[int, int]:
        """Return when the change is in a year, and the offset from then on."""
        days = self.day if self.day > 0 else calendar.monthrange(year, self.month)[1] + 1 + self.day
        at = date(year, self.month, days)
        if self.weekday is not None:
            away = self.weekday - at.isoweekday()
            at += timedelta(days=away % 7 if self.day > 0 else -(-away % 7))
        local = (at - date(1970, 1, 1)).days * 86_400 + self.second
        return local - (0, self.before, self.standard)[self.read_by], self.after


def _yearly_rule(reader: _Reader) -> _YearlyRule:
    bits = reader.number("I")
    hour = bits >> 14 & 31
    second = reader.number("i") if hour == 31 else hour * 3600
    standard = bits >> 4 & 255
    standard_offset = reader.number("i") if standard == 255 else (standard - 128) * 900
    before, after = (
        reader.number("i") if code == 3 else standard_offset + code * 1800 for code in (bits >> 2 & 3, bits & 3)
    )
    return _YearlyRule(
        month=bits >> 28,
        day=(bits >> 22 & 63) - 32,
        weekday=bits >> 19 & 7 or None,
        second=second,
        read_by=bits >> 12 & 3,
        standard=standard_offset,
        before=before,
        after=after,
    )
