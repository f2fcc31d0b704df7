"""Where each field lies in a packed row of wire version 1 (docs/formats.md is the specification).

    0   u8      wire version
    1   u8      flags, zero
    2   6 bytes the first 12 hex digits of the view's fingerprint
    8   i64     as-of, microseconds
    16  i64     newest visible event, microseconds
    24          values of fixed width: the widest first, fields of one storage side by side in field order
    …           two status bits per field, four fields a byte, the first field lowest
    …           variable section: the bytes of strings, binaries and nested values (`nested`) in field order, nothing
                between them

All rows of a view have the same fixed part, so many rows are one NumPy array of `RowLayout.dtype`.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Final

import numpy as np

from featurekit.types import (
    Array,
    Binary,
    Boolean,
    DataType,
    Date,
    Decimal,
    Field,
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
)

WIRE_VERSION: Final = 1
FINGERPRINT_BYTES: Final = 6
HEADER: Final = struct.Struct("<BB6sqq")
IDENTITY: Final = struct.Struct("<BB6sq")  # what every row of one refresh begins with
STATUSES_PER_BYTE: Final = 4
LONG_DIGITS: Final = 18  # decimals of up to so many digits fit into an i64


class Storage(Enum):
    """How values of fixed width are stored: NumPy's and struct's codes. The order is the order in the row."""

    WIDE = ("V16", "16s")  # decimals beyond 18 digits: the unscaled value in two's complement
    F8 = ("<f8", "d")
    I8 = ("<i8", "q")
    F4 = ("<f4", "f")
    I4 = ("<i4", "i")
    END = ("<u4", "I")  # of a string, binary or nested value: where it ends in the variable section
    I2 = ("<i2", "h")
    I1 = ("<i1", "b")
    BOOL = ("<u1", "B")

    @property
    def width(self) -> int:
        return np.dtype(self.value[0]).itemsize


def storage_of(kind: DataType) -> Storage | None:
    """Return how values of a type are stored; None for void, whose only value is NULL."""
    match kind:
        case Decimal(precision=precision):
            return Storage.I8 if precision <= LONG_DIGITS else Storage.WIDE
        case Float64():
            return Storage.F8
        case Int64() | Timestamp() | TimestampNtz():
            return Storage.I8
        case Float32():
            return Storage.F4
        case Int32() | Date():
            return Storage.I4
        case String() | Binary() | Array() | Map() | Struct():
            return Storage.END
        case Int16():
            return Storage.I2
        case Int8():
            return Storage.I1
        case Boolean():
            return Storage.BOOL
        case Null():
            return None
        case _:
            raise AssertionError(f"{kind!r} has no storage")


@dataclass(frozen=True)
class RowLayout:
    """The layout of rows with these fields, worked out once."""

    fields: tuple[Field, ...]

    @cached_property
    def blocks(self) -> dict[Storage, tuple[int, ...]]:
        """The field positions of each storage that occurs, in the order of the row."""
        storages = [storage_of(field.type) for field in self.fields]
        return {
            storage: tuple(i for i, found in enumerate(storages) if found is storage)
            for storage in Storage
            if storage in storages
        }

    @cached_property
    def status_bytes(self) -> int:
        return -(-len(self.fields) // STATUSES_PER_BYTE)

    @cached_property
    def status_offset(self) -> int:
        return HEADER.size + sum(storage.width * len(fields) for storage, fields in self.blocks.items())

    @cached_property
    def fixed_size(self) -> int:
        """The size of a row without its variable section."""
        return self.status_offset + self.status_bytes

    @cached_property
    def dtype(self) -> np.dtype[np.void]:
        """The fixed part as NumPy reads it: `identity` and `as_of`, a block named after each storage, `status`."""
        blocks = [(storage.name, storage.value[0], (len(fields),)) for storage, fields in self.blocks.items()]
        header = [("identity", "<u8"), ("as_of", "<i8"), ("last_event", "<i8")]
        return np.dtype([*header, *blocks, ("status", "u1", (self.status_bytes,))])

    @cached_property
    def struct(self) -> struct.Struct:
        """The fixed part as `struct` reads it: identity, as-of, last event, values by `positions`, status bytes."""
        codes = "".join(storage.value[1] * len(fields) for storage, fields in self.blocks.items())
        return struct.Struct(f"<8sqq{codes}{self.status_bytes}s")

    @cached_property
    def positions(self) -> dict[int, int]:
        """Where `struct` puts each field's value; a void field has none."""
        order = [field for fields in self.blocks.values() for field in fields]
        return {field: 3 + at for at, field in enumerate(order)}

    @property
    def variable(self) -> tuple[int, ...]:
        """The positions of the fields that have bytes in the variable section."""
        return self.blocks.get(Storage.END, ())


def row_layout(fields: Sequence[Field]) -> RowLayout:
    return RowLayout(tuple(fields))


def identity_bytes(fingerprint: str) -> bytes:
    """Return a row's first eight bytes: wire version, flags, and the view version's fingerprint cut short."""
    return bytes((WIRE_VERSION, 0)) + bytes.fromhex(fingerprint[: 2 * FINGERPRINT_BYTES])
