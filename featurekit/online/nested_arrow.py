"""Arrow arrays -> the bytes of their values, as `nested` specifies them, and columns of such bytes -> Arrow arrays.

A column at a time both ways: a run of elements is one stretch of memory for all rows, and only where each row's
begins is worked out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from featurekit.arrow_types import to_arrow
from featurekit.errors import CodecError
from featurekit.online.arrow_keys import join_bytes
from featurekit.online.nested import Slot, null_bytes, struct_head
from featurekit.online.nested_columns import Column, Fixed, Ints, Lists, Mask, Structs, Texts, null_bytes_of
from featurekit.online.stored_arrow import null_mask, stored_values
from featurekit.types import Array, Boolean, DataType, Decimal, Map, Struct

_EMPTY: Final = pa.scalar(b"", pa.binary())
_LARGEST: Final = (1 << 31) - 1  # an offset of Arrow's


def value_bytes(column: pa.Array, kind: DataType) -> pa.BinaryArray:
    """Return each value of a variable type as it is stored, empty where it is null."""
    match kind:
        case Array():
            return _with_empty(column, _list_bytes(column, (kind.element,)))
        case Map():
            return _with_empty(column, _list_bytes(column, (kind.key, kind.value)))
        case Struct():
            return _with_empty(column, _struct_bytes(column, kind))
        case _:
            return _with_empty(column, column.cast(pa.binary()))


def _with_empty(column: pa.Array, content: pa.BinaryArray) -> pa.BinaryArray:
    return pc.if_else(column.is_valid(), content, _EMPTY) if column.null_count else content


def _list_bytes(column: pa.Array, kinds: tuple[DataType, ...]) -> pa.BinaryArray:
    offsets, runs = _runs(column)
    counts = _rows(np.diff(offsets).astype("<u4").view(np.uint8), np.arange(len(column) + 1) * 4)
    return join_bytes(
        counts, *(part for run, kind in zip(runs, kinds, strict=True) for part in _run(run, kind, offsets))
    )


def _runs(column: pa.Array) -> tuple[Ints, list[pa.Array]]:
    """Return where each row's elements begin, from 0 on, and the elements; a map has keys and values."""
    offsets = column.offsets.to_numpy().astype(np.int64)
    nulls = null_mask(column)
    if nulls is not None and np.diff(offsets)[nulls].any():
        # A null may stand over elements that nobody sees.
        column = column.take(pa.array(np.arange(len(column))))
        offsets = column.offsets.to_numpy().astype(np.int64)
    first, count = int(offsets[0]), int(offsets[-1] - offsets[0])
    runs = [column.keys, column.items] if pa.types.is_map(column.type) else [column.values]
    return offsets - first, [run.slice(first, count) for run in runs]


def _run(values: pa.Array, kind: DataType, offsets: Ints) -> list[pa.BinaryArray]:
    """Return for each row the parts of a run, the values from its offset to the next."""
    slot = Slot.of(kind)
    nulls = null_mask(values)
    parts = [_null_bits(nulls, offsets)]
    if slot.storage is None:
        return parts
    if not slot.is_variable:
        stored = np.ascontiguousarray(stored_values(values, kind, nulls)).view(np.uint8)
        return [*parts, _rows(stored, offsets * slot.width)]
    pieces = value_bytes(values, kind)
    at, content = _pieces(pieces)
    ends = at[1:] - np.repeat(at[offsets[:-1]], np.diff(offsets))
    return [*parts, _rows(_u4(ends), offsets * slot.width), _rows(content, at[offsets])]


def _struct_bytes(column: pa.StructArray, kind: Struct) -> pa.BinaryArray:
    fields = [Slot.of(inner) for _, inner in kind.fields]
    children = column.flatten()  # null where the struct is
    head = np.zeros((len(column), struct_head(fields).size), np.uint8)
    bits = np.zeros((len(column), null_bytes(len(fields)) * 8), np.uint8)
    at = null_bytes(len(fields))
    end: Ints = np.zeros(len(column), np.int64)
    pieces = []
    for i, (slot, child) in enumerate(zip(fields, children, strict=True)):
        nulls = null_mask(child)
        if nulls is not None:
            bits[:, i] = nulls
        if slot.storage is None:
            continue
        if slot.is_variable:
            pieces.append(value_bytes(child, slot.kind))
            end = end + np.diff(_pieces(pieces[-1])[0])
            stored = _u4(end).reshape(-1, 4)
        else:
            stored = np.ascontiguousarray(stored_values(child, slot.kind, nulls)).view(np.uint8).reshape(-1, slot.width)
        head[:, at : at + slot.width] = stored
        at += slot.width
    head[:, : null_bytes(len(fields))] = np.packbits(bits, axis=1, bitorder="little")
    return join_bytes(_rows(head.reshape(-1), np.arange(len(column) + 1) * head.shape[1]), *pieces)


def _null_bits(nulls: Mask | None, offsets: Ints) -> pa.BinaryArray:
    counts = np.diff(offsets)
    sizes = null_bytes_of(counts)
    ends = np.concatenate(([0], np.cumsum(sizes)))
    if nulls is None:
        return _rows(np.zeros(int(ends[-1]), np.uint8), ends)
    bits = np.zeros(int(ends[-1]) * 8, np.uint8)
    at = np.flatnonzero(nulls)
    bits[at + np.repeat(ends[:-1] * 8 - offsets[:-1], counts)[at]] = 1
    return _rows(np.packbits(bits, bitorder="little"), ends)


def _pieces(pieces: pa.BinaryArray) -> tuple[Ints, npt.NDArray[np.uint8]]:
    """Return where each piece begins, from 0 on, and the pieces end to end."""
    _, ends, content = pieces.buffers()
    offsets = np.frombuffer(ends, "<i4")[pieces.offset : pieces.offset + len(pieces) + 1].astype(np.int64)
    if content is None:
        return offsets, np.empty(0, np.uint8)
    return offsets - offsets[0], np.frombuffer(content, np.uint8)[offsets[0] : offsets[-1]]


def _rows(content: npt.NDArray[np.uint8], offsets: Ints) -> pa.BinaryArray:
    buffers = [None, _offsets_buffer(offsets), pa.py_buffer(content)]
    return pa.Array.from_buffers(pa.binary(), len(offsets) - 1, buffers)


def _offsets_buffer(offsets: Ints) -> pa.Buffer:
    if len(offsets) and offsets[-1] > _LARGEST:
        raise CodecError("nested values of more than 2 GiB at once", try_="fewer rows at a time, or shorter arrays")
    return pa.py_buffer(offsets.astype(np.int32))


def _u4(values: Ints) -> npt.NDArray[np.uint8]:
    return values.astype("<u4").view(np.uint8)


def arrow_array(column: Column) -> pa.Array:
    """Return a decoded column as the Arrow array of its type."""
    arrow, count = to_arrow(column.kind), column.count
    validity = None if column.valid is None else pa.py_buffer(np.packbits(column.valid, bitorder="little"))
    match column:
        case Fixed():
            return pa.Array.from_buffers(arrow, count, [validity, _content(column)])
        case Texts():
            buffers = [validity, _offsets_buffer(column.offsets), pa.py_buffer(column.content)]
            return pa.Array.from_buffers(arrow, count, buffers)
        case Lists():
            children = [arrow_array(part) for part in column.parts]
            if pa.types.is_map(arrow):
                children = [_entries(arrow, children)]
            buffers = [validity, _offsets_buffer(column.offsets)]
            return pa.Array.from_buffers(arrow, count, buffers, children=children)
        case Structs():
            children = [arrow_array(part) for part in column.parts]
            return pa.Array.from_buffers(arrow, count, [validity], children=children)
        case _:
            return pa.nulls(count, arrow)


def _entries(arrow: pa.MapType, children: Sequence[pa.Array]) -> pa.StructArray:
    return pa.StructArray.from_arrays(list(children), fields=[arrow.key_field, arrow.item_field])


def _content(column: Fixed) -> pa.Buffer:
    values: Any = column.values
    match column.kind:
        case Boolean():
            return pa.py_buffer(np.packbits(values, bitorder="little"))
        case Decimal() if values.dtype.itemsize == 8:
            wide = np.stack((values, values >> 63), axis=1)  # Arrow's decimals have sixteen bytes
            return pa.py_buffer(wide)
        case _:
            return pa.py_buffer(np.require(values, requirements=["C", "A"]))
