"""What has a syntax of its own among dates and times: EXTRACT, units as keywords, INTERVAL beside a time.

All of it stands for functions of the catalogue. An INTERVAL is no value here: it is added to a time or taken from one.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from dataclasses import dataclass
from decimal import Context
from decimal import Decimal as PyDecimal
from typing import Final

from featurekit.clock import DAY
from featurekit.errors import ExpressionError, TypeMismatchError, UnsupportedFunctionError
from featurekit.expr import infer, refusals
from featurekit.expr.nodes import Node
from featurekit.expr.time_units import (
    ADD_UNITS,
    CLOCK_UNITS,
    DAY_UNITS,
    DIFF_UNITS,
    INTERVAL_UNITS,
    LAST_DAY,
    LAST_MICRO,
    MONTH_UNITS,
)
from featurekit.expr.tokens import Mark, Token, TokenStream, at
from featurekit.types import Date, Int64, Null, Timestamp, TimestampNtz, is_integer

# Functions that take a unit as a keyword before two other arguments, and what they stand for.
_UNIT_CALLS: Final = {
    **dict.fromkeys(("timestampadd", "dateadd", "date_add"), ("timestampadd", ADD_UNITS)),
    **dict.fromkeys(("timestampdiff", "datediff", "date_diff"), ("timestampdiff", DIFF_UNITS)),
}
_UNITS: Final = {**{unit: unit for unit in INTERVAL_UNITS}, **{f"{unit}s": unit for unit in INTERVAL_UNITS}}
_COUNT: Final = re.compile(r"[+-]?(?:\d{1,19}(?:\.\d{0,6})?|\.\d{1,6})", re.ASCII)
_EXACT: Final = Context(prec=40)  # whatever the application's own decimals are rounded to
_TIMES: Final = (Date, Timestamp, TimestampNtz)


@dataclass(frozen=True, slots=True)
class Interval:
    """Months or microseconds; `of_days` when it was written in days and weeks alone: a date then stays one."""

    months: int
    micros: int
    of_days: bool
    has_months: bool


class TimeSyntax(TokenStream):
    """The part of the parser that reads it."""

    @abstractmethod
    def _disjunction(self) -> Node: ...

    def _extract(self, token: Token) -> Node:
        """Return EXTRACT(field FROM t); the parenthesis is read."""
        field = self._next()
        if field.mark not in (Mark.WORD, Mark.STRING):
            raise ExpressionError("EXTRACT begins with a field", try_="EXTRACT(YEAR FROM t)", offset=field.offset)
        self._expect("from", "EXTRACT and its field")
        with self._nested(token):
            value = self._disjunction()
        self._expect(")", "EXTRACT and its time")
        with at(field.offset):
            return infer.call("date_part", infer.literal(field.text.strip("'\"").lower()), value)

    def _unit_call(self, token: Token) -> Node | None:
        """Return a call such as timestampadd(HOUR, 2, t) whose parenthesis is read; None where it has no unit."""
        found = _UNIT_CALLS.get(token.key)
        unit = self._peek
        following = self._tokens[min(self._index + 1, len(self._tokens) - 1)]
        if found is None or unit.mark is not Mark.WORD or following.key != ",":
            return None
        name, units = found
        if unit.key not in units and name == token.key:
            raise ExpressionError(
                f"{unit.text} is not a unit of {token.text}", try_=f"one of {', '.join(units)}", offset=unit.offset
            )
        if unit.key not in units or (name != token.key and self._commas() < 2):
            return None  # with two arguments it is the function of dates, and the word a column
        self._index += 2
        with self._nested(token):
            first = self._disjunction()
            self._expect(",", f"{token.text} and its first argument")
            second = self._disjunction()
        self._expect(")", f"{token.text} and its arguments")
        with at(token.offset):
            return infer.call(name, infer.literal(unit.key), first, second)

    def _commas(self) -> int:
        """Return how many commas part the arguments of the call we are in."""
        depth, commas = 0, 0
        for token in self._tokens[self._index :]:
            depth += (token.key in ("(", "[")) - (token.key in (")", "]"))
            if depth < 0:
                break
            commas += token.key == "," and depth == 0
        return commas

    def _interval(self) -> Interval:
        """Return the INTERVAL whose word is read: `1 DAY 2 HOURS`, `'1' DAY`, `'1 day 2 hours'`."""
        start = self._peek
        parts = _written_parts(start) if start.mark is Mark.STRING else None
        if parts is not None:
            self._next()
        else:
            parts = []
            while not parts or self._peek.mark in (Mark.NUMBER, Mark.STRING) or self._peek.key == "-":
                parts.append(self._interval_part())
        if self._peek.key in ("to", "*", "/", "%", "div"):
            raise UnsupportedFunctionError(
                f"{self._peek.text} after an INTERVAL is not supported", why="an interval is only added or taken away",
                try_="write it in its units, such as INTERVAL 1 DAY 2 HOURS", offset=self._peek.offset,
            )  # fmt: skip
        with at(start.offset):
            return _interval(parts)

    def _interval_part(self) -> tuple[str, str]:
        sign = "-" if self._accept("-") else ""
        count, unit = self._next(), self._next()
        text = count.text[1:-1] if count.mark is Mark.STRING else count.text
        if count.mark not in (Mark.NUMBER, Mark.STRING) or unit.mark is not Mark.WORD:
            raise _unreadable(count.offset)
        return sign + text.strip(), unit.key


def _written_parts(token: Token) -> list[tuple[str, str]] | None:
    """Return the parts of an interval in one string, None where the string is only a number."""
    words = token.text[1:-1].split()
    if len(words) < 2 or len(words) % 2:
        return None
    return [(words[index], words[index + 1].lower()) for index in range(0, len(words), 2)]


def _interval(parts: list[tuple[str, str]]) -> Interval:
    months, micros = 0, 0
    for count, word in parts:
        unit = _UNITS.get(word)
        if unit is None or not _COUNT.fullmatch(count) or ("." in count and unit != "second"):
            raise _unreadable(None)
        months += int(count) * MONTH_UNITS[unit] if unit in MONTH_UNITS else 0
        micros += 0 if unit in MONTH_UNITS else _micros(count, unit)
    kinds = {"month" if _UNITS[word] in MONTH_UNITS else "day" if _UNITS[word] in DAY_UNITS else "clock"
             for _, word in parts}  # fmt: skip
    if "month" in kinds and len(kinds) > 1:
        raise ExpressionError(
            "an INTERVAL of months and of days or hours is two", why="months differ in length",
            try_="t + INTERVAL 1 MONTH + INTERVAL 1 DAY",
        )  # fmt: skip
    if max(abs(months), abs(micros) // DAY) > LAST_DAY or abs(micros) > LAST_MICRO:
        raise ExpressionError("the INTERVAL is too long", why="Spark's intervals end at 2^31 months, 2^63 microseconds")
    return Interval(months, micros, kinds == {"day"}, "month" in kinds)


def _micros(count: str, unit: str) -> int:
    if unit == "second":
        return int(PyDecimal(count).scaleb(6, _EXACT))
    return int(count) * {**CLOCK_UNITS, **DAY_UNITS}[unit]


def _unreadable(offset: int | None) -> ExpressionError:
    return ExpressionError(
        "the INTERVAL can't be read", why="it is whole numbers with units (seconds may have a fraction)",
        try_=f"INTERVAL 1 DAY 2 HOURS; units are {', '.join(INTERVAL_UNITS)}", offset=offset,
    )  # fmt: skip


def moved(time: Node, interval: Interval, *, forward: bool) -> Node:
    """Return `time + INTERVAL …` or `time - INTERVAL …`."""
    sign = 1 if forward else -1
    if not isinstance(time.type, (*_TIMES, Null)):
        raise TypeMismatchError(
            f"an INTERVAL can't be added to {time.type.name}", why="it moves a timestamp or a date",
            try_="CAST(… AS TIMESTAMP)",
        )  # fmt: skip
    if interval.has_months and isinstance(time.type, Date):
        return infer.call("add_months", time, infer.literal(sign * interval.months))
    if interval.of_days and isinstance(time.type, Date):
        return infer.call("date_add", time, infer.literal(sign * interval.micros // DAY))
    unit, count = ("month", interval.months) if interval.has_months else ("microsecond", interval.micros)
    return infer.call("timestampadd", infer.literal(unit), infer.literal(sign * count, Int64()), time)


def sum_or_difference(name: str, left: Node, right: Node) -> Node | None:
    """Return `date + days`, `days + date` or `date - days`; None where neither side is a time, an error elsewhere."""
    kinds = [side.type for side in (left, right)]
    if not any(isinstance(kind, _TIMES) for kind in kinds):
        return None
    if isinstance(kinds[0], Date) and is_integer(kinds[1]):
        return infer.call("date_add" if name == "add" else "date_sub", left, right)
    if name == "add" and is_integer(kinds[0]) and isinstance(kinds[1], Date):
        return infer.call("date_add", right, left)
    if name == "subtract" and all(isinstance(kind, _TIMES) for kind in kinds):
        raise TypeMismatchError(
            f"- can't take ({kinds[0].name}, {kinds[1].name})", why=refusals.INTERVAL.why, try_=refusals.INTERVAL.try_
        )
    return None
