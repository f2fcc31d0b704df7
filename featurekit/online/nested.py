"""Arrays, maps and structs as bytes, one value at a time (docs/formats.md is the specification).

A *run* is n values of one type side by side, as the elements of an array are:

    null bits       ⌈n / 8⌉ bytes, the first value in the lowest bit, 1 where NULL
    of fixed width  the values, each in its scalar storage
    of any other    n × u32, where each ends in what follows; then their bytes

    array           u32 n, the run of its elements
    map             u32 n, the run of its keys, the run of its values
    struct          null bits of its fields; for each field its value or, u32, its end in what follows; then those bytes

What is NULL is zero, or empty. One value has one text of bytes, and bytes that no value has are refused (but for the
payload of a NaN): a reader takes no count at its word before there are bytes for it. `nested_columns` reads many.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, NoReturn

from featurekit.errors import CodecError, TruncatedRowError
from featurekit.online.layout import Storage, storage_of
from featurekit.types import Array, Boolean, DataType, Map, Struct

Read = Callable[[bytes], Any]
Write = Callable[[Any], bytes]
FromStored = Callable[[DataType], Callable[[Any], Any]]

COUNT: Final = struct.Struct("<I")


def null_bytes(count: int) -> int:
    """Return how many bytes the null bits of `count` values take."""
    return -(-count // 8)


@dataclass(frozen=True, slots=True)
class Slot:
    """How a value stands among others: `storage` END says that its bytes stand elsewhere, None that it has none."""

    kind: DataType
    storage: Storage | None

    @staticmethod
    def of(kind: DataType) -> Slot:
        return Slot(kind, storage_of(kind))

    @property
    def is_variable(self) -> bool:
        return self.storage is Storage.END

    @property
    def width(self) -> int:
        return 0 if self.storage is None else self.storage.width

    @property
    def code(self) -> str:
        return "" if self.storage is None else self.storage.value[1]

    @property
    def zero(self) -> Any:
        return bytes(16) if self.storage is Storage.WIDE else 0


def nested_reader(kind: Array | Map | Struct, from_stored: FromStored) -> Read:
    """Return a function from a value's bytes to the value; a TruncatedRowError where they are no value's."""
    match kind:
        case Array():
            return _array_reader(_run_reader(kind.element, from_stored))
        case Map():
            return _map_reader(_run_reader(kind.key, from_stored), _run_reader(kind.value, from_stored))
        case Struct():
            return _struct_reader(tuple(inner for _, inner in kind.fields), from_stored)


def nested_writer(kind: Array | Map | Struct, to_stored: FromStored) -> Write:
    """Return the inverse of `nested_reader`."""
    match kind:
        case Array():
            write = _run_writer(kind.element, to_stored)
            return lambda value: COUNT.pack(len(value)) + write(value)
        case Map():
            write_keys, write_values = _run_writer(kind.key, to_stored), _run_writer(kind.value, to_stored)
            return lambda pairs: b"".join(
                (
                    COUNT.pack(len(pairs)),
                    write_keys([key for key, _ in pairs]),
                    write_values([part for _, part in pairs]),
                )
            )
        case Struct():
            return _struct_writer(tuple(inner for _, inner in kind.fields), to_stored)


def broken(what: str) -> NoReturn:
    raise TruncatedRowError(
        f"the bytes of a nested value are not what they say: {what}", why="the row was cut or damaged"
    )


RunReader = Callable[[bytes, int, int], tuple[list[Any], int]]
"""From bytes, where a run begins in them and its number of values: the values, and where the run ends."""


def _array_reader(read: RunReader) -> Read:
    def read_array(stored: bytes) -> tuple[Any, ...]:
        values, end = read(stored, COUNT.size, _count(stored))
        if end != len(stored):
            broken("bytes follow the last element")
        return tuple(values)

    return read_array


def _map_reader(read_keys: RunReader, read_values: RunReader) -> Read:
    def read_map(stored: bytes) -> tuple[tuple[Any, Any], ...]:
        count = _count(stored)
        keys, middle = read_keys(stored, COUNT.size, count)
        values, end = read_values(stored, middle, count)
        if end != len(stored):
            broken("bytes follow the last entry")
        if None in keys:
            broken("a key is NULL")
        return tuple(zip(keys, values, strict=True))

    return read_map


def _count(stored: bytes) -> int:
    if len(stored) < COUNT.size:
        broken("there is no count")
    return int(COUNT.unpack_from(stored)[0])


def _run_reader(kind: DataType, from_stored: FromStored) -> RunReader:
    slot, held = Slot.of(kind), from_stored(kind)
    width, code, zero = slot.width, slot.code, slot.zero

    def read_run(stored: bytes, start: int, count: int) -> tuple[list[Any], int]:
        at = start + null_bytes(count)
        body = at + width * count
        if body > len(stored):
            broken(f"{count} values would be longer than the row")
        nulls = _nulls(stored[start:at], count)
        if slot.storage is None:
            if len(nulls) != count:
                broken("a void value is not NULL")
            return [None] * count, at
        slots: Sequence[Any] = (
            struct.unpack_from(f"<{count}{code}", stored, at) if code != "16s" else _wide(stored, at, count)
        )
        if slot.is_variable:
            pieces = _pieces(stored, body, slots)
            if any(pieces[i] for i in nulls):
                broken("a NULL has bytes")
            values = (
                [held(piece) if i not in nulls else None for i, piece in enumerate(pieces)]
                if nulls
                else list(map(held, pieces))
            )
            return values, body + (slots[-1] if count else 0)
        if any(slots[i] != zero for i in nulls):
            broken("a NULL has a value")
        _check_booleans(kind, slots)
        values = list(map(held, slots))
        for i in nulls:
            values[i] = None
        return values, body

    return read_run


def _wide(stored: bytes, at: int, count: int) -> list[bytes]:
    return [stored[i : i + 16] for i in range(at, at + 16 * count, 16)]


def _pieces(stored: bytes, body: int, ends: Sequence[int]) -> list[bytes]:
    if any(a > b for a, b in pairwise((0, *ends))) or body + (ends[-1] if ends else 0) > len(stored):
        broken("the ends of its parts are no ends")
    return [stored[body + start : body + end] for start, end in pairwise((0, *ends))]


def _nulls(bits: bytes, count: int) -> set[int]:
    """Return the positions of the values that are NULL."""
    if not any(bits):
        return set()
    found = {8 * i + j for i, byte in enumerate(bits) if byte for j in range(8) if byte >> j & 1}
    if max(found) >= count:
        broken("null bits go beyond the last value")
    return found


def _check_booleans(kind: DataType, slots: Sequence[Any]) -> None:
    if isinstance(kind, Boolean) and any(value > 1 for value in slots):
        broken("a boolean is neither 0 nor 1")


def _struct_reader(kinds: tuple[DataType, ...], from_stored: FromStored) -> Read:
    fields = [Slot.of(kind) for kind in kinds]
    helds = [from_stored(kind) for kind in kinds]
    head = struct_head(fields)
    at = head.size
    bits = null_bytes(len(fields))

    def read_struct(stored: bytes) -> tuple[Any, ...]:
        if len(stored) < at:
            broken(f"a struct takes {at} bytes, and there are {len(stored)}")
        nulls = _nulls(stored[:bits], len(fields))
        slots = iter(head.unpack_from(stored)[1:])
        values: list[Any] = []
        end = at
        for i, (slot, held) in enumerate(zip(fields, helds, strict=True)):
            is_null = i in nulls
            if slot.storage is None:
                if not is_null:
                    broken("a void field is not NULL")
                values.append(None)
                continue
            value = next(slots)
            if slot.is_variable:
                start, end = end, at + value
                if not start <= end <= len(stored):
                    broken("the ends of its fields are no ends")
                value = stored[start:end]
            if is_null:
                if value != (b"" if slot.is_variable else slot.zero):
                    broken("a NULL has a value")
                values.append(None)
                continue
            _check_booleans(slot.kind, (value,))
            values.append(held(value))
        if end != len(stored):
            broken("bytes follow the last field")
        return tuple(values)

    return read_struct


def struct_head(fields: Sequence[Slot]) -> struct.Struct:
    """Return how `struct` reads the fixed part of a struct: its null bits, then each field's slot."""
    return struct.Struct(f"<{null_bytes(len(fields))}s" + "".join(slot.code for slot in fields))


def _run_writer(kind: DataType, to_stored: FromStored) -> Callable[[Sequence[Any]], bytes]:
    slot, store = Slot.of(kind), to_stored(kind)

    def write_run(values: Sequence[Any]) -> bytes:
        bits = _null_bits(values)
        if slot.storage is None:
            return bits
        if slot.is_variable:
            pieces = [b"" if value is None else store(value) for value in values]
            return b"".join((bits, struct.pack(f"<{len(values)}I", *_ends(pieces)), *pieces))
        slots = [slot.zero if value is None else store(value) for value in values]
        return bits + struct.pack("<" + slot.code * len(values), *slots)

    return write_run


def _struct_writer(kinds: tuple[DataType, ...], to_stored: FromStored) -> Write:
    fields = [Slot.of(kind) for kind in kinds]
    stores = [to_stored(kind) for kind in kinds]
    head = struct_head(fields)

    def write_struct(value: tuple[Any, ...]) -> bytes:
        slots: list[Any] = [_null_bits(value)]
        variable = b""
        for slot, store, part in zip(fields, stores, value, strict=True):
            if slot.is_variable:
                variable += b"" if part is None else store(part)
                slots.append(_end(len(variable)))
            elif slot.storage is not None:
                slots.append(slot.zero if part is None else store(part))
        return head.pack(*slots) + variable

    return write_struct


def _null_bits(values: Sequence[Any]) -> bytes:
    bits = 0
    for i, value in enumerate(values):
        if value is None:
            bits |= 1 << i
    return bits.to_bytes(null_bytes(len(values)), "little")


def _ends(pieces: Sequence[bytes]) -> list[int]:
    ends, end = [], 0
    for piece in pieces:
        end += len(piece)
        ends.append(_end(end))
    return ends


def _end(end: int) -> int:
    if end >= 1 << 32:
        raise CodecError("a nested value is longer than 4 GiB", try_="keep fewer or shorter parts")
    return end
