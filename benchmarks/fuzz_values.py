"""Values of any type, drawn fast, and what it means that two of them are the same."""

from __future__ import annotations

import decimal
import math
import random
import struct
from typing import Any, Final

from featurekit.types import (
    Array,
    Binary,
    Boolean,
    DataType,
    Date,
    Decimal,
    Float32,
    Float64,
    Map,
    Null,
    String,
    Struct,
    Timestamp,
    TimestampNtz,
    integer_range,
    is_integer,
    parse_type,
)

LAYOUT_TYPES: Final[tuple[DataType, ...]] = (
    Null(),
    *map(
        parse_type,
        (
            "boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "string", "string",
            "string", "binary",
            "date", "timestamp", "timestamp_ntz", "decimal(9,2)", "decimal(18,18)", "decimal(19,0)", "decimal(38,10)",
            "array<int>", "array<string>", "array<boolean>", "array<decimal(30,2)>", "array<decimal(5,2)>",
            "array<void>", "map<string,int>", "map<bigint,array<string>>", "struct<a:int,b:string,c:decimal(20,1)>",
            "struct<a:struct<b:array<date>,c:void>>", "array<array<struct<a:double,b:map<string,binary>>>>",
        ),
    )
)  # fmt: skip
_LETTERS: Final = "ab0 ,{}%é\0\U0001f600"


def drawn_value(kind: DataType, draw: random.Random) -> Any:
    """Return a value of a type as `types` says it is held; None for void."""
    if is_integer(kind):
        return draw.randint(*integer_range(kind))
    match kind:
        case Boolean():
            return draw.random() < 0.5
        case Float32():
            return struct.unpack("<f", struct.pack("<f", draw.gauss(0, 1e6)))[0]
        case Float64():
            return draw.choice((draw.gauss(0, 1), math.nan, -0.0, math.inf))
        case Decimal(precision=precision, scale=scale):
            number = draw.randint(1 - 10**precision, 10**precision - 1)
            return decimal.Decimal((int(number < 0), tuple(map(int, str(abs(number)))), -scale))
        case String():
            return "".join(draw.choices(_LETTERS, k=draw.choice((0, 1, 5, 12))))
        case Binary():
            return draw.randbytes(draw.choice((0, 1, 9)))
        case Date():
            return draw.randint(-(2**31), 2**31 - 1)
        case Timestamp() | TimestampNtz():
            return draw.randint(-(2**63) + 1, 2**63 - 1)
        case Array():
            return tuple(_part(kind.element, draw) for _ in range(draw.choice((0, 1, 3, 9))))
        case Map():
            keys = {repr(key): key for key in (drawn_value(kind.key, draw) for _ in range(draw.choice((0, 1, 3))))}
            return tuple((key, _part(kind.value, draw)) for key in keys.values())
        case Struct():
            return tuple(_part(inner, draw) for _, inner in kind.fields)
        case _:
            return None


def _part(kind: DataType, draw: random.Random) -> Any:
    return None if draw.random() < 0.2 else drawn_value(kind, draw)


def same(one: Any, other: Any) -> bool:
    """Return whether two held values are the same bits, every NaN being one."""
    if isinstance(one, float) and isinstance(other, float):
        return (one == other and math.copysign(1, one) == math.copysign(1, other)) or (one != one and other != other)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(one == other)
