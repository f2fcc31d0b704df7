"""Entity key texts read back: what stands in the online store is all that is known of an entity nobody else has."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal as DecimalValue
from decimal import InvalidOperation
from typing import Any, Final

import numpy as np
import pyarrow as pa

from featurekit.arrow_types import to_arrow
from featurekit.clock import to_date, to_datetime
from featurekit.consistency.show import show_value
from featurekit.online.keys import EMPTY, SEPARATOR, entity_key_encoder
from featurekit.types import (
    Boolean,
    DataType,
    Date,
    Decimal,
    Field,
    Float32,
    Float64,
    String,
    Timestamp,
    is_integer,
)

_BOOLEANS: Final = {b"true": True, b"false": False}
_UNESCAPED: Final = re.compile(rb"%([0-9A-F]{2})")


def decode_entity_key(text: bytes, keys: Sequence[Field]) -> tuple[Any, ...] | None:
    """Return the join-key values of a key text, held as `types` says; None where it is no text of such keys.

    >>> from featurekit.types import Int64
    >>> decode_entity_key(b"a%2Cb,7", (Field("name", String()), Field("n", Int64())))
    ('a,b', 7)
    """
    parts = text.split(SEPARATOR)
    if len(parts) != len(keys):
        return None
    try:
        values = tuple(_decoder(key.type)(part) for part, key in zip(parts, keys, strict=True))
        again = entity_key_encoder([key.type for key in keys])([[value] for value in values])
    except (ValueError, KeyError, InvalidOperation, OverflowError):
        return None
    # Only what the encoder makes is a key: `007` and `7` must not be one entity.
    return values if list(again) == [text] else None


def key_table(values: Sequence[tuple[Any, ...]], keys: Sequence[Field]) -> pa.Table:
    """Return join-key values as columns."""
    columns = zip(*values, strict=True) if values else [()] * len(keys)
    arrays = [pa.array(list(column), to_arrow(key.type)) for column, key in zip(columns, keys, strict=True)]
    return pa.table(arrays, names=[key.name for key in keys])


def sdk_value(value: Any, kind: DataType) -> Any:
    """Return a held value as callers of the SDK pass it: instants as datetimes, dates as dates."""
    if isinstance(kind, Timestamp):
        return to_datetime(value)
    return to_date(value) if isinstance(kind, Date) else value


def show_entity(values: Sequence[Any], keys: Iterable[Field]) -> str:
    """Return an entity as people read it.

    >>> from featurekit.types import Int64
    >>> show_entity(("JFK", 7), (Field("origin", String()), Field("n", Int64())))
    "origin = 'JFK', n = 7"
    """
    return ", ".join(f"{key.name} = {show_value(value, key.type)}" for value, key in zip(values, keys, strict=True))


def _decoder(kind: DataType) -> Callable[[bytes], Any]:
    if is_integer(kind):
        return int
    match kind:
        case String():
            return _string
        case Boolean():
            return _BOOLEANS.__getitem__
        case Float32() | Float64():
            return lambda text: float(text)
        case Decimal():
            return lambda text: _decimal(text, kind)
        case Date():
            return lambda text: int(np.datetime64(text.decode(), "D").astype(np.int64))
        case Timestamp():
            return _instant
        case _:
            raise AssertionError(f"{kind!r} is no type of a join key")


def _string(text: bytes) -> str:
    if text == EMPTY:
        return ""
    return _UNESCAPED.sub(lambda match: bytes.fromhex(match[1].decode()), text).decode()


def _decimal(text: bytes, kind: Decimal) -> DecimalValue:
    value = DecimalValue(text.decode())
    if value.as_tuple().exponent != -kind.scale or value.adjusted() >= kind.precision - kind.scale:
        raise ValueError(text)
    return value


def _instant(text: bytes) -> int:
    if not text.endswith(b"Z"):
        raise ValueError(text)
    return int(np.datetime64(text[:-1].decode(), "us").astype(np.int64))
