"""A lookup's outputs as Arrow: for who asks for Arrow, nobody else loads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from featurekit.arrow_types import for_arrow, to_arrow
from featurekit.errors import CodecError
from featurekit.online.answer import Answer
from featurekit.online.arrow_message import BatchHead, Body, padded_rows, read_batch
from featurekit.online.nested_arrow import arrow_array
from featurekit.online.nested_columns import NestedColumn
from featurekit.online.texts import TextBlock, shared_block
from featurekit.status import Status
from featurekit.types import Binary, DataType, Field, String, is_nested

Mask = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

_LARGEST: Final = (1 << 31) - 1
_KEPT_HEADS: Final = 64


def arrow_schema(outputs: Sequence[Field]) -> pa.Schema:
    """Return the outputs' types; any value can be null, if only because the store had none to give."""
    return pa.schema([pa.field(output.name, to_arrow(output.type)) for output in outputs])


class ArrowPlan:
    """How a service's answers become tables, worked out once: which outputs are read as one batch, and which not."""

    def __init__(self, outputs: Sequence[Field]) -> None:
        self.schema = arrow_schema(outputs)
        in_batch = [_is_flat(output.type) for output in outputs]
        self._others = [i for i, is_flat in enumerate(in_batch) if not is_flat]
        self._flat = [i for i, is_flat in enumerate(in_batch) if is_flat]
        self._flat_schema = pa.schema([self.schema.field(i) for i in self._flat])
        # Of each output its place in the batch, and its first buffer there: validity, offsets of texts, values.
        self._places = np.zeros(len(outputs), np.intp)
        self._places[self._flat] = np.arange(len(self._flat))
        sizes = [3 if isinstance(outputs[i].type, String | Binary) else 2 for i in self._flat]
        self._buffers = np.zeros(len(outputs), np.intp)
        self._buffers[self._flat] = np.cumsum([0, *sizes[:-1]]) if sizes else []
        self._buffer_count = sum(sizes)
        self._has_texts = 3 in sizes
        self._heads: dict[
            int, bytes
        ] = {}  # of batches without a NULL, by count: but for texts they are always the same

    def table(self, answer: Answer, count: int) -> pa.Table:
        """Return the outputs as one table; null where there is no value."""
        valid: Mask | None = None
        if answer.statuses is not None and answer.statuses.any():
            valid = (answer.statuses == Status.PRESENT) | (answer.statuses == Status.DEFAULTED)
        batch = self._batch(answer, valid, count)
        if not self._others:
            return pa.Table.from_batches([batch], self.schema)
        arrays: list[pa.Array] = [None] * len(self.schema)
        for i, column in zip(self._flat, batch.columns, strict=True):
            arrays[i] = column
        for part in answer.parts:
            if not _is_flat(part.kind):
                kind = to_arrow(part.kind)
                part.put([_array(column, part.kind, kind) for column in part.values], into=arrays)
        return pa.Table.from_arrays(arrays, schema=self.schema)

    def _batch(self, answer: Answer, valid: Mask | None, count: int) -> pa.RecordBatch:
        body = Body()
        columns = len(self._flat)
        kept = self._heads.get(count) if valid is None else None
        if kept is not None and not self._has_texts:
            for part in answer.parts:
                if _is_flat(part.kind):
                    body.add(_lines(part.values))
            return read_batch(self._flat_schema, kept, body)
        head = BatchHead.of(count, columns, self._buffer_count) if kept is None else BatchHead(kept, columns)
        contents = []
        for part in answer.parts if count else ():
            if not _is_flat(part.kind):
                continue
            at = self._buffers[part.outputs] + 1
            if isinstance(part.kind, String | Binary):
                content, lines = _text_lines(part.values, count)
                contents.append((at + 1, content))
                size = 4 * (count + 1)
            else:
                lines = _lines(part.values)
                size = _stored_bytes(part.values)
            begins = body.add(lines)
            if kept is None:
                head.buffers[at, 0] = begins + np.arange(len(lines)) * (lines.nbytes // len(lines))
                head.buffers[at, 1] = size
        if valid is not None and count:
            bits = padded_rows(np.packbits(valid[self._flat], axis=1, bitorder="little"))
            at = self._buffers[self._flat]
            head.buffers[at, 0] = body.add(bits) + np.arange(len(bits)) * bits.shape[1]
            head.buffers[at, 1] = -(-count // 8)
            head.null_counts[:] = count - valid[self._flat].sum(axis=1)
        elif kept is None:
            if len(self._heads) >= _KEPT_HEADS:
                self._heads.clear()
            self._heads[count] = head.content(body.size)
        # Last, since all else has its place whatever the texts are.
        for at, content in contents:
            head.buffers[at, 0] = body.add(content)
            head.buffers[at, 1] = content.nbytes
        return read_batch(self._flat_schema, head.content(body.size), body)


def _is_flat(kind: DataType) -> bool:
    """Return whether columns of a type are buffers of one array: numbers, instants, truths and texts."""
    return not (is_nested(kind) or kind.name == "void" or kind.name.startswith("decimal"))


def _lines(values: Any) -> npt.NDArray[Any]:
    """Return columns of values as they lie in a body."""
    stored = np.packbits(values, axis=1, bitorder="little") if values.dtype == np.bool_ else values
    if stored.shape[1] * stored.itemsize % 8 == 0:
        return stored
    return padded_rows(np.ascontiguousarray(stored).view(np.uint8))


def _stored_bytes(values: Any) -> int:
    """Return how many bytes one column takes, without padding."""
    count: int = values.shape[1]
    return -(-count // 8) if values.dtype == np.bool_ else count * int(values.itemsize)


def _text_lines(columns: Any, count: int) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32]]:
    """Return columns of texts end to end, and for each where its texts begin and the last one ends."""
    content, ends = _text_bytes(columns)
    starts = np.zeros((len(columns), count + 1 + (count + 1) % 2), np.int32)
    starts[:, 1 : count + 1] = ends.reshape(len(columns), count)
    starts[1:, 0] = ends[count - 1 : -1 : count]
    return content, starts


def _text_bytes(columns: Sequence[Sequence[Any]]) -> tuple[npt.NDArray[np.uint8], Ints]:
    """Return the columns' texts end to end, and where each ends."""
    if (shared := shared_block(columns)) is not None:
        return _taken(*shared)
    pieces = [
        b"" if value is None else value if isinstance(value, bytes) else value.encode()
        for column in columns
        for value in column
    ]
    ends = np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces)))
    _check_size(int(ends[-1]))
    return np.frombuffer(b"".join(pieces), np.uint8), ends


def _taken(block: TextBlock, fields: Sequence[int]) -> tuple[npt.NDArray[np.uint8], Ints]:
    """Return the texts of some fields, one field after the other, without making a Python value of any."""
    _check_size(len(block.content))
    rows, width = block.ends.shape
    offsets = np.zeros(rows * width + 1, np.int32)
    offsets[1:] = block.ends.reshape(-1)
    texts = pa.Array.from_buffers(pa.binary(), rows * width, [None, pa.py_buffer(offsets), pa.py_buffer(block.content)])
    order = (np.arange(rows) * width + np.array(fields)[:, None]).reshape(-1)
    taken = texts.take(pa.array(order))
    _, ends, content = taken.buffers()
    return np.frombuffer(content, np.uint8), np.frombuffer(ends, np.int32)[1 : len(order) + 1].astype(np.int64)


def _check_size(size: int) -> None:
    if size > _LARGEST:
        raise CodecError("texts of more than 2 GiB at once", try_="fewer entities at a time")


def _array(column: Sequence[Any], kind: DataType, arrow: pa.DataType) -> pa.Array:
    if isinstance(column, NestedColumn):
        return arrow_array(column.column)
    return pa.array([for_arrow(value, kind) for value in column] if is_nested(kind) else column, arrow)
