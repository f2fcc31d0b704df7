"""Spark's spelling of dates and times, so written that nothing raises and nothing wraps, with ANSI on or off.

Spark has try_ forms of few of them. `held` puts a time into `try_add(…, INTERVAL '0' DAY)`, which changes no value and
turns what is raised inside into NULL, errors of Java's arithmetic among them. Where Spark wraps silently (dates are 32
bits of days), days are moved by integers that have a try_ form.
"""

from __future__ import annotations

from typing import Final

from featurekit.clock import DAY
from featurekit.expr.nodes import Call, Literal
from featurekit.expr.spark_forms import Form
from featurekit.expr.time_units import FIRST_DAY, FIRST_MICRO, LAST_DAY, TRUNC_UNITS, WEEKDAYS
from featurekit.types import Date, Float64, Int64, String, TimestampNtz

# What is passed over of the first day that begins before 64 bits of microseconds do.
_BROKEN_DAY: Final = -FIRST_MICRO % DAY
# The first days that are the first of a month, of a quarter, of a year; and the first whose week Spark gets right.
FIRST_STARTS: Final[dict[str, int]] = {
    "week": FIRST_DAY + 14, "month": -2_147_483_640, "quarter": -2_147_483_640, "year": -2_147_483_456,
}  # fmt: skip
# From here on the month does not end within 32 bits.
LAST_MONTH: Final = LAST_DAY - 11
# Near the first day Spark's own arithmetic of next_day wraps.
FIRST_NEXT: Final = FIRST_DAY + 7


def held(template: str) -> Form:
    """Return the form of a date or a timestamp that is NULL where Spark raises."""
    return lambda _, args: f"try_add({template.format(*args)}, INTERVAL '0' DAY)"


def added(call: Call, args: tuple[str, ...]) -> str:
    text = f"try_add(timestampadd({_word(call, 0)}, {args[1]}, {args[2]}), INTERVAL '0' DAY)"
    # Inside of try_add Spark reads a timestamp without zone as one of the session's zone, which is UTC.
    return f"CAST({text} AS TIMESTAMP_NTZ)" if call.type == TimestampNtz() else text


def difference(call: Call, args: tuple[str, ...]) -> str:
    unit = _word(call, 0)
    if unit == "MICROSECOND":
        return f"try_subtract(unix_micros({args[2]}), unix_micros({args[1]}))"
    return f"timestampdiff({unit}, {args[1]}, {args[2]})"


def _word(call: Call, index: int) -> str:
    argument = call.args[index]
    assert isinstance(argument, Literal)
    return str(argument.value).upper()


def _within(text: str, *, first: int = FIRST_DAY, last: int = LAST_DAY) -> str:
    """Return the SQL of a date, NULL outside the days from `first` to `last`; the date is written only once."""
    days = f"unix_date({text})"
    if above := LAST_DAY - last:
        days = f"try_subtract(try_add({days}, {above}), {above})"
    if below := first - FIRST_DAY:
        days = f"try_add(try_subtract({days}, {below}), {below})"
    return f"date_from_unix_date({days})"


def last_day(_: Call, args: tuple[str, ...]) -> str:
    return f"last_day({_within(args[0], last=LAST_MONTH)})"


def last_before(weekday: int) -> int:
    """Return the last day that a `weekday` (0 is Monday) follows within 32 bits."""
    return LAST_DAY - (LAST_DAY + 3 - weekday) % 7 - 1


def next_day(call: Call, args: tuple[str, ...]) -> str:
    weekday = WEEKDAYS[_word(call, 1).lower()]
    return f"next_day({_within(args[0], first=FIRST_NEXT, last=last_before(weekday))}, {args[1]})"


def truncated_date(call: Call, args: tuple[str, ...]) -> str:
    unit = TRUNC_UNITS[_word(call, 1).lower()]
    return f"trunc({_within(args[0], first=FIRST_STARTS[unit])}, {args[1]})"


def months_between(_: Call, args: tuple[str, ...]) -> str:
    whole = [
        f"timestamp_micros(try_add(try_subtract(unix_micros({arg}), {_BROKEN_DAY}L), {_BROKEN_DAY}L))"
        for arg in args[:2]
    ]
    return f"months_between({', '.join((*whole, *args[2:]))})"


def made_timestamp(name: str) -> Form:
    """make_timestamp; Spark cuts the second to 32 bits, so that 4294.967296 would be 0."""

    def form(_: Call, args: tuple[str, ...]) -> str:
        second = f"try_cast({args[5]} AS DECIMAL(8,6))"
        return f"try_add({name}({', '.join((*args[:5], second, *args[6:]))}), INTERVAL '0' DAY)"

    return form


def scaled_micros(text: str, factor: int) -> str:
    return f"timestamp_micros(try_multiply({text}, {factor}L))"


def from_seconds(call: Call, args: tuple[str, ...]) -> str:
    if call.args[0].type == Int64():
        return scaled_micros(args[0], 1_000_000)
    if call.args[0].type == Float64():
        return f"timestamp_seconds({args[0]})"
    return held("timestamp_seconds({0})")(call, args)


def from_unixtime(_: Call, args: tuple[str, ...]) -> str:
    pattern = args[1] if len(args) == 2 else "'yyyy-MM-dd HH:mm:ss'"
    return f"date_format({scaled_micros(args[0], 1_000_000)}, {pattern})"


def read_by_pattern(text: str, pattern: str) -> str:
    # The pattern is tried, but the arithmetic after it is not: '+294248-01-01' raises.
    return f"try_add(try_to_timestamp({text}, {pattern}), INTERVAL '0' DAY)"


def read_as(call: Call, args: tuple[str, ...]) -> str:
    if len(args) == 1:
        return args[0] if call.args[0].type == call.type else f"try_cast({args[0]} AS {call.type.sql})"
    instant = read_by_pattern(*args)
    return f"CAST({instant} AS DATE)" if call.type == Date() else instant


def unix_seconds(call: Call, args: tuple[str, ...]) -> str:
    instant = read_by_pattern(*args) if call.args[0].type == String() else args[0]
    return f"unix_timestamp({instant})"
