"""CAST as Spark SQL: never raises, and reads no text that means what the day, the Java runtime or its zones say."""

from __future__ import annotations

from typing import Final

from featurekit.expr.coerce import widens
from featurekit.types import (
    Array,
    Binary,
    DataType,
    Decimal,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    Map,
    String,
    Struct,
    Timestamp,
    TimestampNtz,
)

# The outlines of what is read. How a backslash reads depends on Spark settings, so there is none: in the first one
# [^!-~] stands for blanks and control characters, and the other letters that it lets pass Spark refuses; the second
# names them, because Java takes digits of any script.
_INSTANT: Final = (
    "'^[^!-~]*[+-]?[0-9]{4}[-0-9]*([ T][0-9:.]*[^!-~]*(Z|(UTC|GMT|UT)?([+-][0-9:]+)?))?[^!-~]*$'"  # no 12:30, no region
)
_NUMBER: Final = b"^[\x00-\x20]*[+-]?[0-9.]+([eE][+-]?0*[0-9]{1,4})?[\x00-\x20]*\\z"
# The seconds of the first and the last instant.
_INSTANTS: Final = "(-9223372036854.775808BD) AND 9223372036854.775807BD"

_COMPACT_DIGITS: Final = 18  # up to which Spark holds a decimal as a whole number, and always exactly


def cast_sql(source: DataType, target: DataType, text: str, depth: int = 0) -> str:
    """Return the CAST of what `text` is; `depth` counts the casts of parts around it."""
    if not _redefined(source, target):
        return _plain(source, target, text)
    match source, target:
        case Array(), Array():
            part = f"`$$c{depth}`"
            return f"transform({text}, {part} -> {cast_sql(source.element, target.element, part, depth + 1)})"
        case Map(), Map():
            key, part = f"`$$k{depth}`", f"`$$c{depth}`"
            cast = cast_sql(source.value, target.value, part, depth + 1)
            values = f"transform_values({text}, ({key}, {part}) -> {cast})"
            return _plain(Map(source.key, target.value), target, values) if source.key != target.key else values
        case Struct(), Struct():
            return _struct(source, target, text, depth)
        case _:
            return _leaf(source, target, text)


def _plain(source: DataType, target: DataType, text: str) -> str:
    # CAST where it can't fail: Spark then knows that the result is not NULL, and plans stay readable. Without ANSI it
    # writes 0.0000001 as 1E-7, try_cast never does.
    word = "CAST" if widens(source, target) and not _prints_decimals(source, target) else "try_cast"
    return f"{word}({text} AS {target.sql})"


def _prints_decimals(source: DataType, target: DataType) -> bool:
    match source, target:
        case ((Array() | Map() | Struct()), _):
            return True
        case Decimal(), String():
            return True
        case _:
            return False


def _redefined(source: DataType, target: DataType) -> bool:
    """Return whether Spark's own cast, somewhere inside, is not the one meant."""
    match source, target:
        case Array(), Array():
            return _redefined(source.element, target.element)
        case Map(), Map():
            return _redefined(source.value, target.value)
        case Struct(), Struct():
            return any(
                _redefined(one, other) for (_, one), (_, other) in zip(source.fields, target.fields, strict=True)
            )
        case String(), (Timestamp() | TimestampNtz() | Decimal()):
            return True
        case ((Int64() | Decimal()), Timestamp()):
            return not widens(source, target)
        case Binary(), String():
            return True
        case _:
            return False


def _leaf(source: DataType, target: DataType, text: str) -> str:
    match source, target:
        case Binary(), String():
            return f"try_validate_utf8(CAST({text} AS STRING))"
        case Decimal(), (Int8() | Int16() | Int32()):  # Spark goes through a double, or not, as it holds the value
            return f"try_cast(try_cast({text} AS BIGINT) AS {target.sql})"
        case _, Decimal() if not isinstance(source, String):
            return _float_to_decimal(text if source == Float64() else f"CAST({text} AS DOUBLE)", target)
        case Int64(), _:
            return f"timestamp_micros(try_multiply({text}, 1000000L))"  # Spark's own cast saturates
        case Decimal(), _:  # Spark's own cast wraps
            return (
                f"(CASE WHEN try_cast({text} AS DECIMAL(19,6)) BETWEEN {_INSTANTS} THEN CAST({text} AS TIMESTAMP) END)"
            )
        case _:
            outline = f"CAST(X'{_NUMBER.hex()}' AS STRING)" if isinstance(target, Decimal) else _INSTANT
            return f"try_cast(regexp_extract({text}, {outline}, 0) AS {target.sql})"


def _float_to_decimal(text: str, target: Decimal) -> str:
    """Return the cast of a double so that the text it goes through may be that of any Java.

    Java 17 prints some doubles with a digit too many, which matters where the shortest text is half way between two
    decimals. With a digit more than the target's (15 at most) that text itself is a decimal, the only one of as many
    digits that is the double; without such a one, every text of the double rounds alike.
    """
    longer = f"try_cast({text} AS {Decimal(target.precision + 1, target.scale + 1).sql})"
    rounded = f"try_cast({longer} AS {target.sql})"
    return f"(CASE WHEN CAST({longer} AS DOUBLE) = {text} THEN {rounded} ELSE try_cast({text} AS {target.sql}) END)"


def _struct(source: Struct, target: Struct, text: str, depth: int) -> str:
    parts = [
        f"{text}.`{name}`" if one == other else cast_sql(one, other, f"{text}.`{name}`", depth + 1)
        for (name, one), (_, other) in zip(source.fields, target.fields, strict=True)
    ]
    return f"(CASE WHEN {text} IS NOT NULL THEN CAST(struct({', '.join(parts)}) AS {target.sql}) END)"
