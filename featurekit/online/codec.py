"""Packed rows, one at a time: encode, check, decode. Many rows at once: `encode` writes them, `columns` reads them.

A codec is built once per view version. After that a row is bytes; which field is what was decided before.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, NoReturn

from featurekit.clock import Instant
from featurekit.errors import CodecError, ForeignRowError, NewerWireVersionError, TruncatedRowError
from featurekit.online.layout import HEADER, WIRE_VERSION, RowLayout, Storage, identity_bytes, row_layout, storage_of
from featurekit.online.nested import nested_reader, nested_writer
from featurekit.status import Status
from featurekit.types import Array, Boolean, DataType, Decimal, Field, Float32, Float64, Map, String, Struct, is_nested

CANONICAL_NAN: Final = math.nan
# Decimals are moved to and from their unscaled integers; this holds every decimal(38,s) without rounding.
EXACT: Final = decimal.Context(prec=76, traps=[decimal.Inexact, decimal.InvalidOperation])

# The four statuses in each value of a status byte.
STATUSES_OF_BYTE: Final[tuple[tuple[int, ...], ...]] = tuple(
    tuple(byte >> shift & 3 for shift in (0, 2, 4, 6)) for byte in range(256)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A decoded row; `values` are held as `types` says, None unless the field's status is PRESENT."""

    as_of: Instant
    last_event: Instant
    values: tuple[Any, ...]
    statuses: tuple[Status, ...]


class RowCodec:
    """Rows of one view version: `fields` in the view's order, `fingerprint` the hex text of its data half."""

    def __init__(self, fields: Sequence[Field], fingerprint: str) -> None:
        self.layout: RowLayout = row_layout(fields)
        self.identity: bytes = identity_bytes(fingerprint)
        self.fingerprint = fingerprint
        self.size: int = self.layout.fixed_size
        self.has_variable: bool = bool(self.layout.variable)
        # Who reads many rows at once looks at all texts and decimals, whatever their status: so it is here.
        self._unread = {i for i, field in enumerate(fields) if is_nested(field.type)}
        self._to_held = {i: from_stored(field.type) for i, field in enumerate(fields)}
        self._to_stored = {i: to_stored(field.type) for i, field in enumerate(fields)}

    def encode_row(
        self, values: Sequence[Any], *, as_of: Instant, last_event: Instant, statuses: Sequence[Status] | None = None
    ) -> bytes:
        """Return one row; without `statuses` a value is PRESENT and None is NULL."""
        if statuses is None:
            statuses = [Status.NULL if value is None else Status.PRESENT for value in values]
        layout = self.layout
        bits = bytearray(layout.status_bytes)
        for i, status in enumerate(statuses):
            bits[i // 4] |= status << 2 * (i % 4)
        stored: list[Any] = []
        variable = b""
        for storage, fields in layout.blocks.items():
            for i in fields:
                value = values[i] if statuses[i] is Status.PRESENT else None
                if storage is Storage.END:
                    variable += b"" if value is None else self._to_stored[i](value)
                    stored.append(len(variable))
                elif value is None:
                    stored.append(bytes(16) if storage is Storage.WIDE else 0)
                else:
                    stored.append(self._to_stored[i](value))
        return layout.struct.pack(self.identity, as_of, last_event, *stored, bytes(bits)) + variable

    def check_row(self, row: bytes) -> Instant:
        """Return the row's as-of; a CodecError where it is no whole row of this view version."""
        if len(row) < HEADER.size:
            raise TruncatedRowError(f"a row of {len(row)} bytes has no whole header", why="it was cut, or is no row")
        version, flags, _, as_of, _ = HEADER.unpack_from(row)
        if row[:8] != self.identity:
            self._refuse_identity(row, version, flags)
        if len(row) < self.size or (not self.has_variable and len(row) != self.size):
            raise TruncatedRowError(f"the row has {len(row)} bytes where {self.size} belong", why="it was cut")
        if self.has_variable:
            self._ends(self.layout.struct.unpack_from(row), len(row))
        return int(as_of)

    def decode_row(self, row: bytes) -> Row:
        """Return what a row holds; a CodecError where it is no whole row of this view version."""
        self.check_row(row)
        parts = self.layout.struct.unpack_from(row)
        statuses = statuses_of(parts[-1], len(self.layout.fields))
        texts = dict(zip(self.layout.variable, self.variable_parts(row, parts), strict=True))
        values: list[Any] = []
        for i, status in enumerate(statuses):
            position = self.layout.positions.get(i)
            if position is None or (status and i in self._unread):  # void has no storage: always NULL
                values.append(None)
            else:
                value = self._to_held[i](texts[i] if i in texts else parts[position])
                values.append(None if status else value)
        return Row(
            as_of=parts[1], last_event=parts[2], values=tuple(values), statuses=tuple(Status(s) for s in statuses)
        )

    def variable_parts(self, row: bytes, parts: tuple[Any, ...]) -> list[bytes]:
        """Return the bytes of each variable field of an unpacked row, in field order."""
        if not self.has_variable:
            return []
        ends = self._ends(parts, len(row))
        return [row[start:end] for start, end in pairwise((self.size, *ends))]

    def _ends(self, parts: tuple[Any, ...], length: int) -> list[int]:
        ends = [self.size + parts[self.layout.positions[i]] for i in self.layout.variable]
        if ends[-1] != length or any(a > b for a, b in pairwise((self.size, *ends))):
            raise TruncatedRowError(f"the row has {length} bytes and says it has {ends[-1]}", why="it was cut")
        return ends

    def _refuse_identity(self, row: bytes, version: int, flags: int) -> NoReturn:
        if version > WIRE_VERSION or (version == WIRE_VERSION and flags):
            raise NewerWireVersionError(
                f"the row has wire version {version}, flags {flags}; this featurekit reads version {WIRE_VERSION}",
                why="it was written by a later featurekit",
                try_="upgrade this client",
            )
        raise ForeignRowError(
            f"the row is of view version {row[2:8].hex()}, not {self.identity[2:].hex()}",
            why="another definition of the view wrote it, or it is no row",
        )


def statuses_of(bits: bytes, count: int) -> list[int]:
    """Return the statuses of a row's `count` fields."""
    found: list[int] = []
    for byte in bits:
        found += STATUSES_OF_BYTE[byte]
    return found[:count]


def from_stored(kind: DataType) -> Callable[[Any], Any]:
    """Return a function from the stored form of a value, as `struct` gives it, to the held one."""
    match kind:
        case Boolean():
            return bool
        case Decimal(precision=precision, scale=scale) if storage_of(kind) is Storage.WIDE:
            return lambda stored: _decimal(int.from_bytes(stored, "little", signed=True), precision, scale)
        case Decimal(precision=precision, scale=scale):
            return lambda stored: _decimal(stored, precision, scale)
        case String():
            return decode_text
        case Array() | Map() | Struct():
            return nested_reader(kind, from_stored)
        case _:
            return _same


def to_stored(kind: DataType) -> Callable[[Any], Any]:
    """Return the inverse of `from_stored`."""
    match kind:
        case Float32() | Float64():
            return lambda value: value if value == value else CANONICAL_NAN
        case Decimal(scale=scale) if storage_of(kind) is Storage.WIDE:
            return lambda value: unscaled(value, scale).to_bytes(16, "little", signed=True)
        case Decimal(scale=scale):
            return lambda value: unscaled(value, scale)
        case String():
            return str.encode
        case Array() | Map() | Struct():
            return nested_writer(kind, to_stored)
        case _:
            return _same


def scaled(unscaled_value: int, scale: int) -> decimal.Decimal:
    """Return the decimal with `scale` fraction digits.

    >>> scaled(-150, 2)
    Decimal('-1.50')
    """
    return EXACT.scaleb(EXACT.create_decimal(unscaled_value), -scale)


def unscaled(value: decimal.Decimal, scale: int) -> int:
    return int(EXACT.scaleb(value, scale))


def _decimal(stored: int, precision: int, scale: int) -> decimal.Decimal:
    if not -(10**precision) < stored < 10**precision:
        raise CodecError(f"a decimal in the row has more than {precision} digits", why="the row was damaged")
    return scaled(stored, scale)


def decode_text(stored: bytes) -> str:
    try:
        return stored.decode()
    except UnicodeDecodeError:
        raise CodecError(
            "a string in the row is not UTF-8", why="the row was damaged, or its source is not text"
        ) from None


def _same(value: Any) -> Any:
    return value
