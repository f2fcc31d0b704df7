"""Values as docs/vectors writes them: exact in every JSON reader (docs/formats.md says how)."""

from __future__ import annotations

import struct
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from featurekit.types import (
    Array,
    Binary,
    DataType,
    Date,
    Decimal,
    Float32,
    Float64,
    Int64,
    Map,
    Struct,
    Timestamp,
    TimestampNtz,
)

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC).replace(tzinfo=None)


def shown(value: Any, kind: DataType) -> Any:
    """Return a value as the vectors write it: exact in every JSON reader."""
    if value is None:
        return None
    match kind:
        case Float32():
            return struct.pack(">f", value).hex()
        case Float64():
            return struct.pack(">d", value).hex()
        case Int64() | Timestamp() | TimestampNtz():
            return str(value)
        case Decimal():
            return f"{value:f}"
        case Binary():
            return value.hex()
        case Array():
            return [shown(part, kind.element) for part in value]
        case Map():
            return [[shown(key, kind.key), shown(part, kind.value)] for key, part in value]
        case Struct():
            return [shown(part, inner) for part, (_, inner) in zip(value, kind.fields, strict=True)]
        case _:
            return value


def told_by(value: Any, kind: DataType) -> Any:
    """Return a value that the client gave as the vectors write it."""
    match kind:
        case _ if value is None:
            return None
        case Float32():
            return struct.pack(">f", value).hex()
        case Date():
            return (
                (value - date(1970, 1, 1)).days if isinstance(value, date) else int(value.astype("M8[D]").astype(int))
            )
        case Timestamp() | TimestampNtz() if isinstance(value, datetime):
            return str((value.replace(tzinfo=None) - EPOCH) // timedelta(microseconds=1))
        case Timestamp() | TimestampNtz():
            return str(int(value.astype("M8[us]").astype(int)))
        case Array():
            return [told_by(part, kind.element) for part in value]
        case Map():
            pairs = value.items() if isinstance(value, dict) else value
            return [[told_by(key, kind.key), told_by(part, kind.value)] for key, part in pairs]
        case Struct() if isinstance(value, tuple):  # a map's key
            return [told_by(part, inner) for part, (_, inner) in zip(value, kind.fields, strict=True)]
        case Struct():
            return [told_by(value[name], inner) for name, inner in kind.fields]
        case _:
            return shown(value, kind)
