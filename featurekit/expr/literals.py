"""Literals as Spark reads them: `1`, `1L`, `1.5`, `1.5D`, `1e3`, 'text', r'text', X'4142', DATE '…', TIMESTAMP '…Z'."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal as PyDecimal
from typing import Final

from featurekit.clock import from_date, micros_of
from featurekit.errors import ExpressionError
from featurekit.expr.coerce import MAX_DIGITS
from featurekit.expr.infer import literal
from featurekit.expr.nodes import Literal
from featurekit.types import (
    DataType,
    Date,
    Float32,
    Float64,
    Int8,
    Int16,
    Int64,
    Timestamp,
    TimestampNtz,
    integer_range,
)

_NUMBER: Final = re.compile(r"(?P<digits>(?:\d+\.?\d*|\.\d+))(?P<exponent>[eE][+-]?\d+)?(?P<suffix>[A-Za-z]{0,2})")
_INTEGER_SUFFIX: Final[dict[str, DataType]] = {"Y": Int8(), "S": Int16(), "L": Int64()}
# Compared as written: Spark refuses 3.4028235E38F, although the nearest float is finite.
_LARGEST: Final[dict[DataType, PyDecimal]] = {
    Float32(): PyDecimal("3.4028234663852886E+38"),
    Float64(): PyDecimal("1.7976931348623157E+308"),
}
_ESCAPES: Final = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}
# What a backslash may stand before in a text that is a pattern: it is the same there, or the backslash stays.
_KEPT: Final = "\\%_'\"nrt0"
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([01][0-7]{2})|(.)|$)", re.DOTALL)
_TIMESTAMP: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(?P<zone>Z|[+-]\d{2}:\d{2})?", re.ASCII
)


def number(text: str, *, negative: bool = False) -> Literal:
    """Return an unsigned number as Spark types it, negated if a minus stands before it (so `-128Y` is a tinyint)."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise ExpressionError(f"{text} is not a number")
    digits, exponent, suffix = match["digits"], match["exponent"] or "", match["suffix"].upper()
    sign = "-" if negative else ""
    if suffix in _INTEGER_SUFFIX and not exponent and digits.isdigit():
        return _integer(int(sign + digits), _INTEGER_SUFFIX[suffix], sign + text)
    if suffix in ("D", "F") or (not suffix and exponent):
        return _float(sign + digits + exponent, Float32() if suffix == "F" else Float64())
    if suffix == "BD":
        return _decimal(sign + digits + exponent)
    if suffix:
        raise ExpressionError(
            f"{text} is not a number", try_="suffixes are Y S L (integers), F D (floats), BD (decimal)"
        )
    if digits.isdigit() and integer_range(Int64())[0] <= int(sign + digits) <= integer_range(Int64())[1]:
        return literal(int(sign + digits))
    return _decimal(sign + digits)


def _integer(value: int, kind: DataType, text: str) -> Literal:
    low, high = integer_range(kind)
    if not low <= value <= high:
        raise ExpressionError(f"{text} does not fit {kind.name}", why=f"it holds {low} to {high}")
    return literal(value, kind)


def _float(text: str, kind: DataType) -> Literal:
    exact = PyDecimal(text)
    if abs(exact) > _LARGEST[kind]:
        raise ExpressionError(f"{text} does not fit {kind.name}", why=f"the largest is {_LARGEST[kind]}")
    return literal(float(text) if kind == Float64() else _nearest_float32(exact), kind)


def _nearest_float32(exact: PyDecimal) -> float:
    """Return the float32 nearest to a decimal; rounding through double first could land on the wrong side of a tie."""
    value = float(exact)
    if math.isfinite(value) and PyDecimal(value) != exact:
        mantissa_is_even = struct.unpack("<q", struct.pack("<d", value))[0] % 2 == 0
        if mantissa_is_even:  # round to odd: a double's last bit then remembers that digits were lost
            value = math.nextafter(value, math.inf if exact > PyDecimal(value) else -math.inf)
    try:
        rounded: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return rounded


def _decimal(text: str) -> Literal:
    value = PyDecimal(text)
    digits, exponent = value.as_tuple()[1:]
    if max(len(digits), -int(exponent)) > MAX_DIGITS or int(exponent) > 0:
        raise ExpressionError(f"{text} has more than {MAX_DIGITS} digits", try_=f"{text}D for a double")
    return literal(value or abs(value))  # decimals have no -0


def string(raw: str) -> str:
    """Return the text of a quoted literal without its quotes, by Spark's escapes.

    >>> string(r"a\\nb"), string(r"50\\%")
    ('a\\nb', '50\\\\%')
    """
    return _ESCAPE.sub(_unescaped, raw)


def lost_backslash(raw: str) -> str | None:
    """Return the first escape in a quoted literal that a pattern would take for its own, but never gets to see.

    >>> lost_backslash(r"\\\\d+\\n"), lost_backslash(r"\\d+"), lost_backslash(r"a\\.b")
    (None, '\\\\d', '\\\\.')
    """
    escapes = (match for match in _ESCAPE.finditer(raw) if match[4] is not None)
    return next((match[0] for match in escapes if match[4] not in _KEPT), None)


def _unescaped(match: re.Match[str]) -> str:
    short, long, octal, plain = match.groups()
    if code := short or long:
        point = int(code, 16)
        if 0xD800 <= point < 0xE000 or point > 0x10FFFF:
            raise ExpressionError(f"\\u{code} is half a character", try_="write the character itself")
        return chr(point)
    if octal:
        return chr(int(octal, 8))
    if plain is None:
        return ""
    return f"\\{plain}" if plain in "%_" else _ESCAPES.get(plain, plain)


def _date(text: str) -> Literal:
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text, re.ASCII):
        raise ExpressionError(f"DATE {text!r} is not a date", try_="DATE '2013-11-15'")
    return literal(from_date(date.fromisoformat(text)), Date())


def _timestamp(text: str) -> Literal:
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        raise ExpressionError(f"TIMESTAMP {text!r} is not a timestamp", try_="TIMESTAMP '2013-11-15T02:00:00Z'")
    if match["zone"] is None:
        raise ExpressionError(
            f"TIMESTAMP {text!r} has no zone",
            why="a time without a zone is a different instant everywhere",
            try_=f"TIMESTAMP '{text}Z' for UTC, or an offset such as '{text}-05:00'",
        )
    return literal(micros_of(datetime.fromisoformat(text)), Timestamp())


def typed(keyword: str, text: str) -> Literal:
    """Return DATE 'text' or TIMESTAMP 'text'."""
    try:
        return TYPED[keyword](text)
    except (ValueError, OverflowError):
        raise ExpressionError(f"{keyword.upper()} {text!r} does not exist", why="no calendar has it") from None


def prefixed(text: str) -> Literal:
    """Return X'4142', bytes in hexadecimal digits, or r'C:\\new', a text whose backslashes are letters.

    >>> prefixed("X'123'").value, prefixed(r"r'\\n'").value
    (b'\\x01#', '\\\\n')
    """
    prefix, inside = text[0].lower(), text[2:-1]
    if text[1:2] != text[-1:] or prefix not in ("x", "r"):
        raise ExpressionError(f"{text} is not a literal", try_="X'4142' for bytes, r'a\\b' for a text, 1 for a number")
    if prefix == "r":
        return literal(inside)
    if not re.fullmatch("[0-9a-fA-F]*", inside):
        raise ExpressionError(f"{text} is not a literal", why="bytes are written in hexadecimal digits")
    return literal(bytes.fromhex(inside if len(inside) % 2 == 0 else f"0{inside}"))


def _timestamp_ntz(text: str) -> Literal:
    match = _TIMESTAMP.fullmatch(text)
    if match is None or match["zone"] is not None:
        raise ExpressionError(
            f"TIMESTAMP_NTZ {text!r} is not a reading of a clock", try_="TIMESTAMP_NTZ '2013-11-15T02:00:00'"
        )
    return literal(micros_of(datetime.fromisoformat(f"{text}+00:00")), TimestampNtz())


TYPED: Final[dict[str, Callable[[str], Literal]]] = {
    "date": _date, "timestamp": _timestamp, "timestamp_ltz": _timestamp, "timestamp_ntz": _timestamp_ntz,
}  # fmt: skip
