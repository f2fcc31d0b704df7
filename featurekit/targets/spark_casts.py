"""CAST as Spark SQL: never raises, and reads no text that means what the day, the Java runtime or its zones say."""

from __future__ import annotations

from typing import Final

from featurekit.expr.coerce import widens
from featurekit.types import (
    Array,
    Binary,
    DataType,
    Date,
    Decimal,
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

# The outlines of what is read: of constants Spark would also take 'today' and 'now', and read 12:30 as one of this day.
# How a backslash reads depends on Spark settings, so there is none: [^!-~] stands for blanks and control characters,
# and the other letters that it lets pass Spark refuses. Of numbers it does not, Java takes digits of any script.
_NUMBER: Final = rb"^[\x00-\x20]*[+-]?[0-9.]+([eE][+-]?0*[0-9]{1,4})?[\x00-\x20]*\z"
_OUTLINES: Final[dict[type[DataType], str]] = {
    Date: "'(?s)^[^!-~]*[+-]?[0-9]{4}.*$'",
    **dict.fromkeys(
        (Timestamp, TimestampNtz),
        "'^[^!-~]*[+-]?[0-9]{4}[-0-9]*([ T][0-9:.]*[^!-~]*(Z|(UTC|GMT|UT)?([+-][0-9:]+)?))?[^!-~]*$'",
    ),
    Decimal: f"CAST(X'{_NUMBER.hex()}' AS STRING)",
}
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
        case String(), (Date() | Timestamp() | TimestampNtz() | Decimal()):
            return True
        case ((Int64() | Decimal()), Timestamp()):
            return not widens(source, target)
        case Decimal(), (Int8() | Int16() | Int32()):
            return source.precision > _COMPACT_DIGITS
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
        case Int64(), _:
            return f"timestamp_micros(try_multiply({text}, 1000000L))"  # Spark's own cast saturates
        case Decimal(), _:  # Spark's own cast wraps
            return (
                f"(CASE WHEN try_cast({text} AS DECIMAL(19,6)) BETWEEN {_INSTANTS} THEN CAST({text} AS TIMESTAMP) END)"
            )
        case _:
            outline = _OUTLINES[type(target)]
            return f"try_cast(regexp_extract({text}, {outline}, 0) AS {target.sql})"


def _struct(source: Struct, target: Struct, text: str, depth: int) -> str:
    parts = [
        f"{text}.`{name}`" if one == other else cast_sql(one, other, f"{text}.`{name}`", depth + 1)
        for (name, one), (_, other) in zip(source.fields, target.fields, strict=True)
    ]
    return f"(CASE WHEN {text} IS NOT NULL THEN CAST(struct({', '.join(parts)}) AS {target.sql}) END)"
