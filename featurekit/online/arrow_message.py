"""A record batch from bytes: one message as Arrow's own IPC format has it, read in one call.

To make each column by a call of its own takes several times as long, where rows are few and columns many.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

_ALIGNMENT: Final = 8
_CONTINUATION: Final = 0xFFFFFFFF
_METADATA_VERSION: Final = 4  # V5 of the format
_RECORD_BATCH: Final = 3
# The flatbuffer of a Message that holds a RecordBatch (format/Message.fbs), up to its vectors. Each table stands behind
# its own table of offsets: the message at 16, the batch at 56; then the vectors, that of nodes with its length at 84.
_HEAD: Final = struct.Struct(
    "<I"  # where the message is
    "HHHHHH"  # its vtable: sizes, then where version, type, header and body length are
    "ihBxIxxxxq"  # the message
    "HHHHHxxxxxx"  # the batch's vtable: sizes, then where length, nodes and buffers are
    "iIqIxxxx"  # the batch
    "xxxxI"  # how many nodes
)
_NODES_AT: Final = 8 + _HEAD.size
_BODY_SIZE_AT: Final = 8 + 32


class Body:
    """The buffers of a batch, each padded; `add` says where in the body one begins."""

    def __init__(self) -> None:
        self._pieces: list[Any] = []
        self.size = 0

    def add(self, content: npt.NDArray[Any]) -> int:
        """Add an array as it lies in memory; return where it begins."""
        begins = self.size
        self._pieces.append(content.data if content.flags.c_contiguous else content.tobytes())
        self.size += content.nbytes
        if padding := -self.size % _ALIGNMENT:
            self._pieces.append(bytes(padding))
            self.size += padding
        return begins

    @property
    def pieces(self) -> Sequence[Any]:
        return self._pieces


def padded_rows(content: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array (columns × bytes of each) with each column's length a multiple of eight."""
    padding = -content.shape[1] % _ALIGNMENT
    return np.pad(content, ((0, 0), (0, padding))) if padding else content


class BatchHead:
    """What stands before a body: `null_counts` by column; `buffers`: where each begins in the body, and its bytes."""

    __slots__ = ("_content", "buffers", "null_counts")

    def __init__(self, content: bytes, columns: int) -> None:
        self._content = bytearray(content)
        nodes = np.frombuffer(self._content, np.int64, 2 * columns, _NODES_AT)
        self.null_counts: Ints = nodes[1::2]
        self.buffers: Ints = np.frombuffer(self._content, np.int64, -1, _NODES_AT + nodes.nbytes + 8).reshape(-1, 2)

    @classmethod
    def of(cls, count: int, columns: int, buffers: int) -> BatchHead:
        """Return a head of `count` rows without a NULL, its buffers without a byte."""
        nodes = np.zeros((columns, 2), np.int64)
        nodes[:, 0] = count
        buffers_at = _HEAD.size + nodes.nbytes
        head = _HEAD.pack(
            16,
            12, 24, 4, 6, 8, 16,
            12, _METADATA_VERSION, _RECORD_BATCH, 56 - 24, 0,
            10, 24, 8, 4, 16,
            16, 84 - 60, count, buffers_at + 4 - 72,
            columns,
        )  # fmt: skip
        prefix = struct.pack("<II", _CONTINUATION, buffers_at + 8 + 16 * buffers)
        return cls(
            b"".join((prefix, head, nodes.tobytes(), struct.pack("<4xI", buffers), bytes(16 * buffers))), columns
        )

    def content(self, body_size: int) -> bytes:
        struct.pack_into("<q", self._content, _BODY_SIZE_AT, body_size)
        return bytes(self._content)


def read_batch(schema: pa.Schema, head: bytes, body: Body) -> pa.RecordBatch:
    return pa.ipc.read_record_batch(pa.py_buffer(b"".join((head, *body.pieces))), schema)
