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
from featurekit.online.codec import RowCodec
from featurekit.online.layout import STATUSES_PER_BYTE, RowLayout, Storage, storage_of
from featurekit.online.nested_arrow import value_bytes
from featurekit.online.stored_arrow import null_mask, raw_values, stored_values
from featurekit.rows import LAST_EVENT, STATUS_PREFIX
from featurekit.status import Status
from featurekit.types import Field, Int8, Timestamp

Array = npt.NDArray[Any]

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
    rows["last_event"] = raw_values(batch_column(batch, Field(LAST_EVENT, Timestamp())), Timestamp())
    statuses = np.zeros((count, layout.status_bytes * STATUSES_PER_BYTE), np.uint8)
    texts: dict[int, pa.BinaryArray] = {}
    columns = [batch_column(batch, field) for field in layout.fields]
    for i, (field, column) in enumerate(zip(layout.fields, columns, strict=True)):
        status = _statuses(batch, field.name, column)
        if status is not None:
            statuses[:, i] = status
        if storage_of(field.type) is Storage.END:
            texts[i] = _bytes_where(value_bytes(column, field.type), status)
    for storage, fields in layout.blocks.items():
        for at, i in enumerate(fields):
            if storage is not Storage.END:
                absent = statuses[:, i] != Status.PRESENT
                rows[storage.name][:, at] = stored_values(columns[i], layout.fields[i].type, absent)
    rows["status"] = _packed(statuses)
    return _with_variable(rows, layout, texts)


def _statuses(batch: pa.RecordBatch, name: str, column: pa.Array) -> Array | None:
    """Return a field's statuses; None where all are PRESENT."""
    nulls = null_mask(column)
    at = batch.schema.get_field_index(STATUS_PREFIX + name)
    if at < 0:
        return None if nulls is None else nulls.astype(np.uint8) * Status.NULL
    given = raw_values(batch.column(at).cast(pa.int8()), Int8())
    # The column tells MISSING and EXPIRED; whether there is a value, the value itself tells.
    present = np.uint8(Status.PRESENT) if nulls is None else np.where(nulls, np.uint8(Status.NULL), np.uint8(0))
    return np.where(given >= Status.MISSING, given.astype(np.uint8), present)


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
        raise CodecError(
            "the texts and nested values of one row are longer than 512 MiB", try_="leave the longest out of the view"
        )
    rows[Storage.END.name] = ends
    return join_bytes(_as_binary(rows), *(texts[i] for i in layout.variable))


def _as_binary(rows: Array) -> pa.BinaryArray:
    width = pa.binary(rows.dtype.itemsize)
    return pa.FixedSizeBinaryArray.from_buffers(width, len(rows), [None, pa.py_buffer(rows)]).cast(pa.binary())
