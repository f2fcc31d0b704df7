"""Text to dates and timestamps, by Spark's grammar: `2024-1-5`, `2024-01-05 02:03:04.5 +01:00`; None for other text.

A zone is `Z`, an offset, or an offset after UTC, GMT or UT; without one the session's zone counts, which is UTC. Text
whose meaning depends on the day (`12:30`) or on the zone rules of a Java runtime (`… Europe/Paris`) is not read.
"""

from __future__ import annotations

import re
from typing import Final

from featurekit.clock import DAY, HOUR, MINUTE, SECOND
from featurekit.targets.kernels.calendar import day_of

# What Spark trims from text before it reads anything but floats and decimals: blanks and control characters.
TRIMMED: Final = "".join(map(chr, range(0x21))) + "\x7f"
_LOW, _HIGH = -(1 << 63), (1 << 63) - 1
_LONGEST_OFFSET: Final = 18 * HOUR

_DATE: Final = re.compile(
    r"(?P<year>[+-]?[0-9]{4,7})(?:-(?P<month>[0-9]{1,2})(?:-(?P<day>[0-9]{1,2})(?:[ T].*)?)?)?", re.DOTALL
)
_ZONE: Final = (
    r"[\x00-\x20]*(?:Z|(?:UTC|GMT|UT)|(?:UTC|GMT|UT)?(?P<sign>[+-])(?:"
    r"(?P<h>[0-9]{1,2})(?::(?P<m>[0-9]{1,2}))?"
    r"|(?P<hh>[0-9]{1,2}):(?P<mm>[0-9]{2}):(?P<ss>[0-9]{2})"
    r"|(?P<hhmm>[0-9]{4})(?P<hhmmss>[0-9]{2})?))"
)
_TIMESTAMP: Final = re.compile(
    r"(?P<year>[+-]?[0-9]{4,6})(?:-(?P<month>[0-9]{1,2})(?:-(?P<day>[0-9]{1,2})(?:[ T](?P<hour>[0-9]{1,2})"
    rf"(?::(?P<minute>[0-9]{{1,2}})(?::(?P<second>[0-9]{{1,2}})(?:\.(?P<fraction>[0-9]*))?(?P<zone>{_ZONE})?)?)?)?)?)?"
)


def text_to_date(text: str) -> int | None:
    """Return the day that the text names; what follows a blank or a T after the day is passed over.

    >>> text_to_date("2024-1-5"), text_to_date(" 2024 "), text_to_date("2024-02-30")
    (19727, 19723, None)
    """
    match = _DATE.fullmatch(text.strip(TRIMMED))
    if match is None:
        return None
    days = day_of(int(match["year"]), int(match["month"] or 1), int(match["day"] or 1))
    return days if days is not None and -(1 << 31) <= days < 1 << 31 else None


def text_to_timestamp(text: str) -> int | None:
    """Return the instant that the text names, in microseconds; more than six fraction digits are cut.

    >>> text_to_timestamp("1970-01-01 01:00:00.25 +01:00"), text_to_timestamp("1970-1-1T0:0:1"), text_to_timestamp("x")
    (250000, 1000000, None)
    """
    match = _TIMESTAMP.fullmatch(text.strip(TRIMMED))
    if match is None:
        return None
    local, offset = _reading(match), _offset(match)
    if local is None or offset is None:
        return None
    micros = local - offset
    return micros if _LOW <= micros <= _HIGH else None


def text_to_timestamp_ntz(text: str) -> int | None:
    """Return the clock reading that the text names, in microseconds; a zone in it is passed over.

    >>> text_to_timestamp_ntz("1970-01-01 01:00:00+01:00")
    3600000000
    """
    match = _TIMESTAMP.fullmatch(text.strip(TRIMMED))
    if match is None or _offset(match) is None:
        return None
    micros = _reading(match)
    return micros if micros is not None and _LOW <= micros <= _HIGH else None


def _reading(match: re.Match[str]) -> int | None:
    """Return the clock reading of a match, None where no calendar or clock has it."""
    days = day_of(int(match["year"]), int(match["month"] or 1), int(match["day"] or 1))
    hour, minute, second = int(match["hour"] or 0), int(match["minute"] or 0), int(match["second"] or 0)
    if days is None or hour > 23 or minute > 59 or second > 59:
        return None
    fraction = int(((match["fraction"] or "") + "000000")[:6])
    return days * DAY + hour * HOUR + minute * MINUTE + second * SECOND + fraction


def _offset(match: re.Match[str]) -> int | None:
    """Return how far the match's clock is before UTC's; None where no clock is."""
    if match["sign"] is None:
        return 0
    if match["hhmm"] is not None:
        parts = match["hhmm"][:2], match["hhmm"][2:], match["hhmmss"]
    elif match["hh"] is not None:
        parts = match["hh"], match["mm"], match["ss"]
    else:
        parts = match["h"], match["m"], None
    hours, minutes, seconds = (int(part or 0) for part in parts)
    offset = hours * HOUR + minutes * MINUTE + seconds * SECOND
    if minutes > 59 or seconds > 59 or offset > _LONGEST_OFFSET:
        return None
    return -offset if match["sign"] == "-" else offset
