"""Arrow batches of offline rows -> packed rows, a column at a time and no Python per value."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from featurekit.clock import Instant
from featurekit.errors import CodecError
from featurekit.online.arrow_keys import batch_column, join_bytes
from featurekit.online.codec import CANONICAL_NAN, RowCodec
from featurekit.online.layout import STATUSES_PER_BYTE, RowLayout, Storage
from featurekit.rows import LAST_EVENT, STATUS_PREFIX
from featurekit.status import Status
from featurekit.types import (
    Binary,
    Boolean,
    DataType,
    Decimal,
    Field,
    Int8,
    String,
    Timestamp,
    is_float,
)

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

_SECTION_LIMIT: Final = 512 << 20  # a Redis value is no longer


def row_array(batch: pa.RecordBatch, codec: RowCodec, *, as_of: Instant) -> pa.BinaryArray:
    """Return the packed rows of a batch of offline rows; equal batches give equal bytes."""
    layout = codec.layout
    count = batch.num_rows
    if not count:
        return pa.array([], pa.binary())
    rows = np.zeros(count, layout.dtype)
    rows["identity"] = np.frombuffer(codec.identity, "<u8")[0]
    rows["as_of"] = as_of
    rows["last_event"] = _values(batch_column(batch, Field(LAST_EVENT, Timestamp())), Timestamp())
    statuses = np.zeros((count, layout.status_bytes * STATUSES_PER_BYTE), np.uint8)
    texts: dict[int, pa.BinaryArray] = {}
    columns = [batch_column(batch, field) for field in layout.fields]
    for i, (field, column) in enumerate(zip(layout.fields, columns, strict=True)):
        status = _statuses(batch, field.name, column)
        if status is not None:
            statuses[:, i] = status
        if isinstance(field.type, String | Binary):
            texts[i] = _bytes_where(column.cast(pa.binary()), status)
    for storage, fields in layout.blocks.items():
        for at, i in enumerate(fields):
            if storage is not Storage.END:
                rows[storage.name][:, at] = _stored(columns[i], layout.fields[i].type, statuses[:, i])
    rows["status"] = _packed(statuses)
    return _with_variable(rows, layout, texts)


def _statuses(batch: pa.RecordBatch, name: str, column: pa.Array) -> Array | None:
    """Return a field's statuses; None where all are PRESENT."""
    nulls = _is_null(column)
    at = batch.schema.get_field_index(STATUS_PREFIX + name)
    if at < 0:
        return None if nulls is None else nulls.astype(np.uint8) * Status.NULL
    given = _values(batch.column(at).cast(pa.int8()), Int8())
    # The column tells MISSING and EXPIRED; whether there is a value, the value itself tells.
    present = np.uint8(Status.PRESENT) if nulls is None else np.where(nulls, np.uint8(Status.NULL), np.uint8(0))
    return np.where(given >= Status.MISSING, given.astype(np.uint8), present)


def _stored(column: pa.Array, kind: DataType, statuses: Array) -> Array:
    """Return a field's stored values, zero where its status is not PRESENT."""
    stored = _values(column, kind)
    if is_float(kind):
        # One NaN: its payload is no value, and the same rows must be the same bytes.
        nans = np.isnan(stored)
        if nans.any():
            stored = np.where(nans, stored.dtype.type(CANONICAL_NAN), stored)
    if statuses.any():
        stored = stored.copy()
        stored[statuses != Status.PRESENT] = np.zeros(1, stored.dtype)[0]
    return stored


def _values(column: pa.Array, kind: DataType) -> Array:
    """Return the values of an Arrow array of fixed width as they are stored; what stands for a null is undefined."""
    count, start = len(column), column.offset
    content = column.buffers()[1]
    match kind:
        case Boolean():
            return _bits(content, start, count).astype(np.uint8)
        case Decimal(precision=precision):
            if precision <= 18:
                return np.frombuffer(content, "<i8")[2 * start : 2 * (start + count) : 2]
            return np.frombuffer(content, "V16")[start : start + count]
        case _:
            code = _PRIMITIVE[column.type.bit_width, is_float(kind)]
            return np.frombuffer(content, code)[start : start + count]


_PRIMITIVE: Final = {
    (8, False): "<i1",
    (16, False): "<i2",
    (32, False): "<i4",
    (64, False): "<i8",
    (32, True): "<f4",
    (64, True): "<f8",
}


def _is_null(column: pa.Array) -> Mask | None:
    if not column.null_count:
        return None
    if isinstance(column, pa.NullArray):
        return np.ones(len(column), np.bool_)
    return ~_bits(column.buffers()[0], column.offset, len(column))


def _bits(bitmap: pa.Buffer, start: int, count: int) -> Mask:
    whole = np.unpackbits(np.frombuffer(bitmap, np.uint8), count=start + count, bitorder="little")
    return whole[start:].astype(np.bool_)


def _packed(statuses: Array) -> Array:
    quads = statuses.reshape(len(statuses), -1, STATUSES_PER_BYTE)
    packed: Array = quads[:, :, 0] | quads[:, :, 1] << 2 | quads[:, :, 2] << 4 | quads[:, :, 3] << 6
    return packed


def _bytes_where(texts: pa.BinaryArray, statuses: Array | None) -> pa.BinaryArray:
    """Return the texts with none where the status is not PRESENT."""
    if statuses is None:
        return texts
    return pc.if_else(pa.array(statuses == Status.PRESENT), texts, pa.scalar(b"", pa.binary()))


def _with_variable(rows: Array, layout: RowLayout, texts: dict[int, pa.BinaryArray]) -> pa.BinaryArray:
    if not texts:
        return _as_binary(rows)
    lengths = np.stack([pc.binary_length(texts[i]).to_numpy(zero_copy_only=False) for i in layout.variable], axis=1)
    ends = np.cumsum(lengths, axis=1, dtype=np.int64)
    if len(ends) and ends[:, -1].max() >= _SECTION_LIMIT:
        raise CodecError("the strings of one row are longer than 512 MiB", try_="leave the longest out of the view")
    rows[Storage.END.name] = ends
    return join_bytes(_as_binary(rows), *(texts[i] for i in layout.variable))


def _as_binary(rows: Array) -> pa.BinaryArray:
    width = pa.binary(rows.dtype.itemsize)
    return pa.FixedSizeBinaryArray.from_buffers(width, len(rows), [None, pa.py_buffer(rows)]).cast(pa.binary())
