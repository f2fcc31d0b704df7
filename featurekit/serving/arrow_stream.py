"""Arrow IPC streams over HTTP: a table of entities in, a table of answers out; no value is touched on the way out.

An answer has a column per output, then `__status` and `__reason`: lists of uint8, one number for each output in their
order, as docs/formats.md says. What JSON says beside the values (`service`, `at`, `as_of` …) is JSON in the schema's
metadata, under `featurekit`. A question's table has the entities' keys and the request values as columns.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa

from featurekit.errors import InputError, RequestTooLargeError
from featurekit.online.columns import Codes
from featurekit.online.result import Features

MEDIA_TYPE: Final = "application/vnd.apache.arrow.stream"
METADATA_KEY: Final = b"featurekit"
STATUS: Final = "__status"
REASON: Final = "__reason"
_MAX_BATCHES: Final = 1000
_MOST_PER_BYTE: Final = 8  # no value that is stored takes less than a bit
_TABLE_HEADER, _BATCH_COMPRESSION = 2, 3  # positions in the flatbuffers of a message and of a record batch


def encode_arrow(features: Features, header: Mapping[str, Any]) -> bytes:
    """Return the answer as an IPC stream; `header` is what the schema's metadata say of it."""
    table = features.to_arrow()
    schema = table.schema
    for column, codes in ((STATUS, features.statuses), (REASON, features.reasons)):
        part = _code_lists(codes)
        schema = schema.append(pa.field(column, part.type, nullable=False))
        table = table.append_column(schema.field(column), part)
    told = json.dumps(header, separators=(",", ":")).encode()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema.with_metadata({METADATA_KEY: told})) as stream:
        for batch in table.to_batches():
            stream.write_batch(batch)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def decode_arrow(body: bytes, *, max_rows: int) -> pa.Table:
    """Return a question's table; InputError where the body is none, or could be larger in memory than it came.

    No buffer of it may be compressed, no type may name the same bytes again and again, and what takes no bytes at all
    (nulls without a type, within lists too) is counted, so a small body is a small table.
    """
    try:
        return _read(body, max_rows)
    except (pa.ArrowException, OSError, ValueError, IndexError, struct.error) as error:
        raise _refusal(str(error).partition("\n")[0]) from error


def _read(body: bytes, max_rows: int) -> pa.Table:
    buffer = pa.py_buffer(body)
    _refuse_compressed(buffer)
    batches = []
    rows = values = 0
    with pa.ipc.open_stream(buffer) as stream:
        for field in stream.schema:
            _check_type(field.name, field.type)
        for batch in stream:
            batch.validate(full=True)
            batches.append(batch)
            rows += batch.num_rows
            if rows > max_rows:
                raise RequestTooLargeError(
                    f"the body has more than {max_rows:,} rows", where="body", try_="ask in parts of fewer rows"
                )
            if len(batches) > _MAX_BATCHES:
                raise _refusal(f"it has more than {_MAX_BATCHES:,} batches")
            values += sum(map(_values_in, batch.columns))
            if values > _MOST_PER_BYTE * len(body):
                raise _refusal("it has more values than bits: nulls without a type, which take none")
        return pa.Table.from_batches(batches, stream.schema)


def _values_in(array: pa.Array) -> int:
    """Return how many values an array holds, and those within them."""
    types, kind = pa.types, array.type
    parts: list[pa.Array] = []
    if types.is_map(kind):
        parts = [array.keys, array.items]
    elif types.is_list(kind) or types.is_large_list(kind):
        parts = [array.values]
    elif types.is_struct(kind):
        parts = [array.field(i) for i in range(kind.num_fields)]
    return len(array) + sum(map(_values_in, parts))


def _refuse_compressed(buffer: pa.Buffer) -> None:
    messages = pa.ipc.MessageReader.open_stream(buffer)
    while True:
        try:
            message = messages.read_next_message()
        except StopIteration:
            return
        if message.type == "record batch" and _is_compressed(message.metadata.to_pybytes()):
            raise _refusal("its buffers are compressed, and may hold any number of bytes")
        if message.type == "dictionary":
            raise _refusal("it has dictionaries, whose values may be named any number of times")


def _is_compressed(metadata: bytes) -> bool:
    (root,) = struct.unpack_from("<I", metadata)
    header = _field(metadata, root, _TABLE_HEADER)
    if header is None:
        return False
    (offset,) = struct.unpack_from("<I", metadata, header)
    return _field(metadata, header + offset, _BATCH_COMPRESSION) is not None


def _field(flatbuffer: bytes, table: int, position: int) -> int | None:
    """Return where a field of a flatbuffer's table is, None where it is left out."""
    (back,) = struct.unpack_from("<i", flatbuffer, table)
    vtable = table - back
    if vtable < 0:
        raise IndexError("a table lies before the message")
    (size,) = struct.unpack_from("<H", flatbuffer, vtable)
    at = 4 + 2 * position
    if at + 2 > size:
        return None
    (offset,) = struct.unpack_from("<H", flatbuffer, vtable + at)
    return table + offset if offset else None


def _check_type(name: str, kind: pa.DataType) -> None:
    """Refuse types whose values may be larger in memory than their bytes, and times finer than microseconds."""
    types = pa.types
    if types.is_timestamp(kind):
        if kind.unit == "ns":
            raise _refusal(f"{name} is a {kind}; times have microseconds", try_=f"cast {name} to timestamp[us]")
    elif types.is_map(kind):
        _check_type(f"{name}'s keys", kind.key_type)
        _check_type(f"{name}'s values", kind.item_type)
    elif types.is_list(kind) or types.is_large_list(kind):
        _check_type(f"{name}[]", kind.value_type)
    elif types.is_struct(kind):
        for field in kind:
            _check_type(f"{name}.{field.name}", field.type)
    elif not (
        types.is_boolean(kind)
        or types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_decimal(kind)
        or types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_date32(kind)
        or types.is_null(kind)
    ):
        raise _refusal(f"{name} is a {kind}", try_=f"cast {name} to a plain type, such as string or int64")


def _refusal(why: str, try_: str | None = None) -> InputError:
    return InputError(
        "the request's body is no Arrow stream that can be read",
        where="body",
        why=why,
        try_=try_ or "one IPC stream without compression or dictionaries",
    )


def _code_lists(codes: Codes) -> pa.FixedSizeListArray:
    """Return codes (rows × outputs) as a list a row: one buffer, whatever their number."""
    content = pa.Array.from_buffers(pa.uint8(), codes.size, [None, pa.py_buffer(np.ascontiguousarray(codes))])
    kind = pa.list_(pa.field("item", pa.uint8(), nullable=False), codes.shape[1])
    return pa.FixedSizeListArray.from_arrays(content, type=kind)
