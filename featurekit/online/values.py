"""Request values: from what callers pass to how `types` says values are held, or a KeyTypeError that says why not.

Nothing is converted that could change a value: a string is no number, a float is no integer (not even 1.0: a key that
went through a float may be another key by now), a naive datetime is no instant.
"""

from __future__ import annotations

import decimal
import math
import struct
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from typing import Any, Final

import numpy as np

from featurekit.clock import from_date, micros_of
from featurekit.errors import KeyTypeError
from featurekit.online.parts import parts_acceptor
from featurekit.types import (
    Array,
    Binary,
    Boolean,
    DataType,
    Date,
    Decimal,
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    Map,
    Null,
    String,
    Struct,
    Timestamp,
    TimestampNtz,
    integer_range,
    is_float,
)

Accept = Callable[[Sequence[Any]], list[Any]]

_NONE: Final = type(None)
_EXACT_INTEGER: Final = 1 << 53
# Wide enough for every decimal(38,s), and loud about anything that would be rounded.
_EXACT: Final = decimal.Context(prec=76, traps=[decimal.Inexact, decimal.InvalidOperation])


def acceptor(name: str, kind: DataType) -> Accept:
    """Return a function from a column of passed values to held ones; KeyTypeError names the first that can't be.

    >>> acceptor("n", Int64())([1, None]), acceptor("day", Date())([date(1970, 1, 2)])
    ([1, None], [1])
    """
    accept_one = _value_acceptor(name, kind)
    ready = _READY.get(type(kind), frozenset())
    check = _column_check(name, kind)
    is_floating = is_float(kind)

    def accept(values: Sequence[Any]) -> list[Any]:
        # What a caller passes is nearly always one type throughout: one look at the set of types decides for all.
        if not (set(map(type, values)) <= ready):
            values = [None if value is None else accept_one(_plain(value)) for value in values]
        elif type(values) is not list:
            values = list(values)
        check(values)
        # Of floats that come from outside there is one zero: training reads its columns so (offline.source_columns).
        return [0.0 if value == 0.0 else value for value in values] if is_floating and 0.0 in values else values

    return accept


# The Python types that are held as they are passed.
_READY: Final[dict[type[DataType], frozenset[type]]] = {
    Int8: frozenset({int, _NONE}),
    Int16: frozenset({int, _NONE}),
    Int32: frozenset({int, _NONE}),
    Int64: frozenset({int, _NONE}),
    Float64: frozenset({float, _NONE}),
    String: frozenset({str, _NONE}),
    Binary: frozenset({bytes, _NONE}),
    Boolean: frozenset({bool, _NONE}),
    Null: frozenset({_NONE}),
}


def _plain(value: Any) -> Any:
    # datetime64 in nanoseconds becomes an int here, which no temporal type takes: refused rather than rounded.
    return value.item() if isinstance(value, np.generic) else value


def _column_check(name: str, kind: DataType) -> Callable[[list[Any]], None]:
    match kind:
        case Int8() | Int16() | Int32() | Int64():
            low, high = integer_range(kind)

            def check_range(values: list[Any]) -> None:
                given = values if None not in values else [value for value in values if value is not None]
                if given and (min(given) < low or max(given) > high):
                    wrong = next(value for value in given if not low <= value <= high)
                    raise _refusal(name, kind, wrong, why=f"it must be from {low} to {high}")

            return check_range
        case String():

            def check_unicode(values: list[Any]) -> None:
                try:
                    "".join(filter(None, values)).encode()
                except UnicodeEncodeError as error:
                    raise _refusal(
                        name, kind, error.object, why="it holds half of a surrogate pair, which is no character"
                    ) from None

            return check_unicode
        case _:
            return _no_check


def _no_check(_: list[Any]) -> None:
    pass


def _value_acceptor(name: str, kind: DataType) -> Callable[[Any], Any]:
    def refuse(value: Any, why: str | None = None, try_: str | None = None) -> KeyTypeError:
        return _refusal(name, kind, value, why=why, try_=try_)

    match kind:
        case Int8() | Int16() | Int32() | Int64():
            return lambda value: _integer(value, refuse)
        case Float64():
            return lambda value: _double(value, refuse)
        case Float32():
            return lambda value: _single(_double(value, refuse), refuse)
        case Decimal():
            return lambda value: _decimal(value, kind, refuse)
        case String():
            return lambda value: str(value) if isinstance(value, str) else _raise(refuse(value))
        case Binary():
            kinds = bytes | bytearray | memoryview
            return lambda value: bytes(value) if isinstance(value, kinds) else _raise(refuse(value))
        case Boolean():
            return lambda value: value if isinstance(value, bool) else _raise(refuse(value))
        case Date():
            return lambda value: _date(value, refuse)
        case Timestamp():
            return lambda value: _timestamp(value, refuse)
        case TimestampNtz():
            return lambda value: _clock_reading(value, refuse)
        case Array() | Map() | Struct():
            return parts_acceptor(name, kind, acceptor)
        case _:
            return lambda value: _raise(refuse(value))


Refuse = Callable[..., KeyTypeError]


def _integer(value: Any, refuse: Refuse) -> int:
    if isinstance(value, bool):
        raise refuse(value, why="true and false are not numbers")
    if isinstance(value, float):
        why = "a whole number that went through a float may have lost its last digits"
        raise refuse(value, why=why, try_=f"pass {int(value)}, an int" if value.is_integer() else None)
    if not isinstance(value, int):
        raise refuse(value)
    return int(value)


def _double(value: Any, refuse: Refuse) -> float:
    if isinstance(value, bool):
        raise refuse(value, why="true and false are not numbers")
    if isinstance(value, int):
        if abs(value) > _EXACT_INTEGER:
            raise refuse(value, why="a double has no exact form of it")
        return float(value)
    if not isinstance(value, float):
        raise refuse(value)
    return float(value)


def _single(value: float, refuse: Refuse) -> float:
    # Rounded as a cast to float rounds in training: 0.1 is no float32, and people write 0.1.
    try:
        (held,) = struct.unpack("<f", struct.pack("<f", value))
    except OverflowError:
        raise refuse(value, why="it is beyond the largest float") from None
    return float(held)


def _decimal(value: Any, kind: Decimal, refuse: Refuse) -> decimal.Decimal:
    if isinstance(value, bool) or not isinstance(value, int | decimal.Decimal):
        why = "a float is not an exact number" if isinstance(value, float) else None
        raise refuse(value, why=why, try_="pass a decimal.Decimal")
    try:
        held = decimal.Decimal(value).quantize(decimal.Decimal(1).scaleb(-kind.scale), context=_EXACT)
    except decimal.DecimalException:
        raise refuse(value, why=f"it has no exact form with {kind.scale} digits after the point") from None
    if not held.is_finite() or (held and held.adjusted() >= kind.precision - kind.scale):
        raise refuse(value, why=f"it has more than {kind.precision - kind.scale} digits before the point")
    return held


def _date(value: Any, refuse: Refuse) -> int:
    if isinstance(value, datetime) or not isinstance(value, date):
        why = "a datetime's date depends on the zone it is read in" if isinstance(value, datetime) else None
        raise refuse(value, why=why, try_="pass a datetime.date")
    return from_date(value)


def _timestamp(value: Any, refuse: Refuse) -> int:
    if not isinstance(value, datetime):
        raise refuse(value, try_="pass a datetime with tzinfo")
    if value.tzinfo is None:
        raise refuse(
            value,
            why="a naive datetime is a different instant on every machine",
            try_="pass a datetime with tzinfo, such as datetime.now(UTC)",
        )
    return micros_of(value)


def _clock_reading(value: Any, refuse: Refuse) -> int:
    if not isinstance(value, datetime):
        raise refuse(value, try_="pass a datetime without tzinfo")
    if value.tzinfo is not None:
        raise refuse(value, why="it is an instant, and this is what a clock reads somewhere", try_="drop its tzinfo")
    return micros_of(value.replace(tzinfo=UTC))


def _raise(error: KeyTypeError) -> Any:
    raise error


_CALLED: Final = {
    bool: "a bool",
    int: "an int",
    float: "a float",
    str: "a string",
    bytes: "bytes",
    datetime: "a datetime",
    date: "a date",
}


def _refusal(name: str, kind: DataType, value: Any, *, why: str | None = None, try_: str | None = None) -> KeyTypeError:
    called = _CALLED.get(type(value), f"a {type(value).__name__}")
    shown = "NaN" if isinstance(value, float) and math.isnan(value) else _short(repr(value))
    return KeyTypeError(
        f"{name} is {shown}, {called}; it must be a {kind}",
        where=name,
        why=why or f"{called} is never read as a {kind}",
        try_=try_,
    )


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
