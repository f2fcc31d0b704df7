"""Arrays, maps and structs of many rows at once: from the bytes that `nested` specifies to runs of values.

A column is held as Arrow holds one, by NumPy alone: all elements of all rows in one run, and where each row's begin.
Nothing loops over values, and over rows only where long stretches are copied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from featurekit.errors import CodecError
from featurekit.online.codec import decode_text, from_stored
from featurekit.online.layout import Storage
from featurekit.online.nested import COUNT, Slot, broken, null_bytes, struct_head
from featurekit.types import Array, Binary, Boolean, DataType, Decimal, Map, String, Struct, parts

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_LONG_STRETCH: Final = 48  # bytes: from here on slices are copied faster than single bytes are picked


@dataclass(frozen=True, slots=True)
class Column:
    """Values of one type; `valid` is None where none is NULL, and what stands for a NULL means nothing."""

    kind: DataType
    count: int
    valid: Mask | None

    def held(self) -> list[Any]:
        """Return the values as `types` says they are held."""
        values = self._values()
        if self.valid is not None:
            for i in np.flatnonzero(~self.valid).tolist():
                values[i] = None
        return values

    def _values(self) -> list[Any]:
        return [None] * self.count


@dataclass(frozen=True, slots=True)
class Fixed(Column):
    """Values of fixed width as they are stored."""

    values: npt.NDArray[Any]

    def _values(self) -> list[Any]:
        stored: list[Any] = self.values.tolist()
        if isinstance(self.kind, Boolean | Decimal):
            return list(map(from_stored(self.kind), stored))
        return stored


@dataclass(frozen=True, slots=True)
class Texts(Column):
    """Strings or binaries: their bytes end to end, and where each begins (and the last one ends)."""

    offsets: Ints
    content: bytes

    def _values(self) -> list[Any]:
        pieces = [self.content[start:end] for start, end in pairwise(self.offsets.tolist())]
        return [piece.decode() for piece in pieces] if isinstance(self.kind, String) else pieces


@dataclass(frozen=True, slots=True)
class Lists(Column):
    """Arrays, or maps: a column for each of `types.parts`, of all rows end to end, and where each row's begin."""

    offsets: Ints
    parts: tuple[Column, ...]

    def _values(self) -> list[Any]:
        runs = [part.held() for part in self.parts]
        whole = runs[0] if len(runs) == 1 else list(zip(*runs, strict=True))
        return [tuple(whole[start:end]) for start, end in pairwise(self.offsets.tolist())]


@dataclass(frozen=True, slots=True)
class Structs(Column):
    """Structs: a column for each field."""

    parts: tuple[Column, ...]

    def _values(self) -> list[Any]:
        return list(zip(*(part.held() for part in self.parts), strict=True)) if self.parts else [()] * self.count


class NestedColumn(Sequence[Any]):
    """A column of nested values, as a sequence of held ones: those are made when somebody first asks for them."""

    __slots__ = ("_held", "column")

    def __init__(self, column: Column) -> None:
        self.column = column
        self._held: list[Any] | None = None

    def held(self) -> list[Any]:
        """Return the values, None where there is none."""
        if self._held is None:
            self._held = self.column.held()
        return self._held

    def __len__(self) -> int:
        return self.column.count

    def __iter__(self) -> Iterator[Any]:
        return iter(self.held())

    def __getitem__(self, at: Any) -> Any:
        return self.held()[at]


class Places(NamedTuple):
    """Where values lie in `content`, which ends with zeros; what is not `valid` has no bytes."""

    content: Bytes
    starts: Ints
    lengths: Ints
    valid: Mask | None


Read = Callable[[Places], Column]


def column_reader(kind: Array | Map | Struct) -> Callable[[Sequence[bytes], Mask | None], NestedColumn]:
    """Return a function from each row's bytes to a column; a CodecError where any valid row's are no value's.

    What is not valid is None, whatever its bytes are.
    """
    read = _reader(kind)
    zeros = bytes(_zeros_for(kind))

    def read_column(pieces: Sequence[bytes], valid: Mask | None) -> NestedColumn:
        if valid is not None:
            pieces = [piece if is_valid else b"" for piece, is_valid in zip(pieces, valid.tolist(), strict=True)]
        lengths = np.fromiter(map(len, pieces), np.int64, len(pieces))
        content = np.frombuffer(b"".join((*pieces, zeros)), np.uint8)
        return NestedColumn(read(Places(content, _starts(lengths), lengths, valid)))

    return read_column


def _zeros_for(kind: DataType) -> int:
    """Return how many zeros a NULL of the type, or of a part of it, is read from."""
    own = struct_head([Slot.of(part) for part in parts(kind)]).size if isinstance(kind, Struct) else COUNT.size
    return max([own, *map(_zeros_for, parts(kind))])


def _reader(kind: DataType) -> Read:
    match kind:
        case Array():
            return _list_reader(kind, (kind.element,))
        case Map():
            return _list_reader(kind, (kind.key, kind.value))
        case Struct():
            return _struct_reader(kind)
        case _:
            return _text_reader(kind)


def _list_reader(kind: Array | Map, elements: tuple[DataType, ...]) -> Read:
    readers = [_run_reader(element) for element in elements]

    def read_lists(places: Places) -> Column:
        content, starts, lengths, valid = _with_zeros(places, COUNT.size)
        if (lengths < COUNT.size).any():
            broken("there is no count")
        counts = _fixed(content, starts, Storage.END).astype(np.int64)
        at, ends = starts + COUNT.size, starts + lengths
        columns = []
        for read in readers:
            column, at = read(content, at, ends, counts)
            columns.append(column)
        if (at != ends).any():
            broken("bytes follow the last element")
        if isinstance(kind, Map) and columns[0].valid is not None:
            broken("a key is NULL")
        return Lists(kind, len(starts), valid, _offsets(counts), tuple(columns))

    return read_lists


RunReader = Callable[[Bytes, Ints, Ints, Ints], tuple[Column, Ints]]
"""From bytes, where each row's run begins, where its bytes end, and its number of values: all values, and its end."""


def _run_reader(kind: DataType) -> RunReader:
    slot = Slot.of(kind)
    read = _reader(kind) if slot.is_variable else None

    def read_run(content: Bytes, starts: Ints, limits: Ints, counts: Ints) -> tuple[Column, Ints]:
        at = starts + null_bytes_of(counts)
        body = at + slot.width * counts
        if (body > limits).any():
            broken("its values would be longer than the row")
        total = int(counts.sum())
        valid = _valid(content, starts, counts)
        if slot.storage is None:
            if total and (valid is None or valid.any()):
                broken("a void value is not NULL")
            return Column(kind, total, valid), at
        values = _stretches(content, at, slot.width * counts).view(slot.storage.value[0])
        if read is None:
            return _fixed_column(kind, values, valid), body
        ends = values.astype(np.int64)
        firsts = np.cumsum(counts) - counts  # of each row among all values
        begins = np.zeros(total, np.int64)
        begins[1:] = ends[:-1]
        begins[firsts[counts > 0]] = 0
        taken = np.zeros(len(counts), np.int64)
        taken[counts > 0] = ends[(firsts + counts - 1)[counts > 0]]
        if (ends < begins).any() or (body + taken > limits).any():
            broken("the ends of its parts are no ends")
        places = Places(content, np.repeat(body, counts) + begins, ends - begins, valid)
        return read(places), body + taken

    return read_run


def _struct_reader(kind: Struct) -> Read:
    fields = [Slot.of(inner) for _, inner in kind.fields]
    head = struct_head(fields).size
    readers = [_reader(slot.kind) if slot.is_variable else None for slot in fields]

    def read_structs(places: Places) -> Column:
        content, starts, lengths, valid = _with_zeros(places, head)
        if (lengths < head).any():
            broken("a struct is cut")
        nulls = _null_bits(content, starts, len(fields))
        slot_at = starts + null_bytes(len(fields))
        limits = starts + lengths
        end = starts + head
        columns: list[Column] = []
        for i, (slot, read) in enumerate(zip(fields, readers, strict=True)):
            is_null = nulls[:, i]
            if slot.storage is None:
                if not (is_null if valid is None else is_null | ~valid).all():
                    broken("a void field is not NULL")
                columns.append(Column(slot.kind, len(starts), np.zeros(len(starts), np.bool_)))
                continue
            own = ~is_null if valid is None else ~is_null & valid
            field_valid = None if own.all() else own
            values = _fixed(content, slot_at, slot.storage)
            slot_at = slot_at + slot.width
            if read is None:
                columns.append(_fixed_column(slot.kind, values, field_valid))
                continue
            begin, end = end, starts + head + values.astype(np.int64)
            if (begin > end).any() or (end > limits).any():
                broken("the ends of its fields are no ends")
            columns.append(read(Places(content, begin, end - begin, field_valid)))
        if (end != limits).any():
            broken("bytes follow the last field")
        return Structs(kind, len(starts), valid, tuple(columns))

    return read_structs


def _text_reader(kind: DataType) -> Read:
    assert isinstance(kind, String | Binary)

    def read_texts(places: Places) -> Column:
        content, starts, lengths, valid = places
        _check_empty(lengths, valid)
        taken = _stretches(content, starts, lengths)
        offsets = _offsets(lengths)
        whole = taken.tobytes()
        if isinstance(kind, String):
            decode_text(whole)
            begins = offsets[:-1][lengths > 0]
            if (taken[begins] & 0xC0 == 0x80).any():
                raise CodecError("a string in the row is not UTF-8", why="it begins in the middle of a character")
        return Texts(kind, len(starts), valid, offsets, whole)

    return read_texts


def _fixed_column(kind: DataType, values: npt.NDArray[Any], valid: Mask | None) -> Fixed:
    if valid is not None:
        nulls = values[~valid]
        if (nulls.view(np.uint8) if nulls.dtype.kind == "V" else nulls).any():
            broken("a NULL has a value")
    if isinstance(kind, Boolean) and (values > 1).any():
        broken("a boolean is neither 0 nor 1")
    if isinstance(kind, Decimal) and not _are_digits(values, kind.precision):
        broken(f"a decimal has more than {kind.precision} digits")
    return Fixed(kind, len(values), valid, values)


def _are_digits(values: npt.NDArray[Any], precision: int) -> bool:
    """Return whether unscaled decimals, of one word or of two, have no more digits than that."""
    least, most = 1 - 10**precision, 10**precision - 1
    if values.dtype.kind != "V":
        return not ((values < least) | (values > most)).any()
    low, high = values.view("<u8")[::2], values.view("<i8")[1::2]
    word = (1 << 64) - 1
    is_less = (high < least >> 64) | ((high == least >> 64) & (low < np.uint64(least & word)))
    is_more = (high > most >> 64) | ((high == most >> 64) & (low > np.uint64(most & word)))
    return not (is_less | is_more).any()


def _with_zeros(places: Places, size: int) -> Places:
    """Return the places with that of a zero value of `size` bytes for what is not valid."""
    content, starts, lengths, valid = places
    if valid is None:
        return places
    _check_empty(lengths, valid)
    zero_at = len(content) - size
    return Places(content, np.where(valid, starts, zero_at), np.where(valid, lengths, size), valid)


def _check_empty(lengths: Ints, valid: Mask | None) -> None:
    if valid is not None and lengths[~valid].any():
        broken("a NULL has bytes")


def null_bytes_of(counts: Ints) -> Ints:
    return (counts + 7) >> 3


def _valid(content: Bytes, starts: Ints, counts: Ints) -> Mask | None:
    """Return which of the values of all rows are there; None where all are."""
    sizes = null_bytes_of(counts)
    bits = _stretches(content, starts, sizes)
    if not bits.any():
        return None
    nulls = np.unpackbits(bits, bitorder="little").astype(np.bool_)
    own = nulls[_positions((np.cumsum(sizes) - sizes) * 8, counts)]
    if np.count_nonzero(own) != np.count_nonzero(nulls):
        broken("null bits go beyond the last value")
    valid: Mask = ~own
    return valid


def _null_bits(content: Bytes, starts: Ints, count: int) -> Mask:
    size = null_bytes(count)
    packed = content[starts[:, None] + np.arange(size)]
    bits = np.unpackbits(packed, axis=1, bitorder="little").astype(np.bool_)
    if bits[:, count:].any():
        broken("null bits go beyond the last value")
    return bits[:, :count]


def _fixed(content: Bytes, starts: Ints, storage: Storage) -> npt.NDArray[Any]:
    """Return one value of a storage from each place."""
    picked = content[starts[:, None] + np.arange(storage.width)]
    return np.ascontiguousarray(picked).view(storage.value[0])[:, 0]


def _stretches(content: Bytes, starts: Ints, lengths: Ints) -> Bytes:
    """Return the bytes of all stretches end to end."""
    if len(starts) == 1:
        return content[int(starts[0]) : int(starts[0] + lengths[0])]
    total = int(lengths.sum())
    if total >= _LONG_STRETCH * len(starts):
        whole = content.data
        pairs = zip(starts.tolist(), (starts + lengths).tolist(), strict=True)
        return np.frombuffer(b"".join([whole[start:end] for start, end in pairs]), np.uint8)
    return content[_positions(starts, lengths)]


def _positions(starts: Ints, counts: Ints) -> Ints:
    """Return start, start + 1, … for each start, as many as its count says, end to end."""
    firsts = np.cumsum(counts) - counts
    positions: Ints = np.repeat(starts - firsts, counts) + np.arange(int(counts.sum()))
    return positions


def _starts(lengths: Ints) -> Ints:
    starts: Ints = np.cumsum(lengths) - lengths
    return starts


def _offsets(lengths: Ints) -> Ints:
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets
