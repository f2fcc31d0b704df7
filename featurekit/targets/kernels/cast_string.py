"""Values to text, as Spark prints them under ANSI: decimals plain, years of four digits, fractions without zeros."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal as PyDecimal
from typing import Any, Final

from featurekit.clock import DAY, HOUR, MINUTE, SECOND
from featurekit.targets.kernels.calendar import civil
from featurekit.types import Array, Boolean, DataType, Date, Decimal, Map, Struct, Timestamp, TimestampNtz

_LAST_PLAIN_YEAR: Final = 9999
Writer = Callable[[Any], str]


def date_to_text(days: int) -> str:
    """Return `2013-11-15`; a year past 9999 has a plus sign, one before 0 a minus.

    >>> date_to_text(16024), date_to_text(2932897), date_to_text(-719529)
    ('2013-11-15', '+10000-01-01', '-0001-12-31')
    """
    year, month, day = civil(days)
    sign = "-" if year < 0 else "+" if year > _LAST_PLAIN_YEAR else ""
    return f"{sign}{abs(year):04d}-{month:02d}-{day:02d}"


def timestamp_to_text(micros: int) -> str:
    """Return `2013-11-15 02:03:04.5`: no zone, and no zeros at the fraction's end.

    >>> timestamp_to_text(1384480984500000), timestamp_to_text(-1)
    ('2013-11-15 02:03:04.5', '1969-12-31 23:59:59.999999')
    """
    days, rest = divmod(micros, DAY)
    second, fraction = divmod(rest, SECOND)
    clock = f"{rest // HOUR:02d}:{rest // MINUTE % 60:02d}:{second % 60:02d}"
    tail = f".{fraction:06d}".rstrip("0") if fraction else ""
    return f"{date_to_text(days)} {clock}{tail}"


def decimal_to_text(value: PyDecimal) -> str:
    return f"{value:f}"


def boolean_to_text(value: bool) -> str:
    return "true" if value else "false"


def bytes_to_text(value: bytes) -> str | None:
    """Return the UTF-8 text of some bytes, None where they are none."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None


def writer(kind: DataType) -> Writer:
    """Return the function that writes a value of `kind`: `[1, null]`, `{k -> 1}`, `{1, x}` for what has parts."""
    match kind:
        case Boolean():
            return boolean_to_text
        case Decimal():
            return decimal_to_text
        case Date():
            return date_to_text
        case Timestamp() | TimestampNtz():
            return timestamp_to_text
        case Array(element=element):
            each = _nullable(element)
            return lambda value: f"[{', '.join(map(each, value))}]"
        case Map(key=key, value=held):
            left, right = _nullable(key), _nullable(held)
            return lambda pairs: f"{{{', '.join(f'{left(k)} -> {right(v)}' for k, v in pairs)}}}"
        case Struct(fields=fields):
            writers = [_nullable(field) for _, field in fields]
            return lambda value: f"{{{', '.join(write(part) for write, part in zip(writers, value, strict=True))}}}"
        case _:
            return str


def _nullable(kind: DataType) -> Writer:
    write = writer(kind)
    return lambda value: "null" if value is None else write(value)
