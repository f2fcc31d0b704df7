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


def batch_head(count: int, null_counts: Ints, buffers: Ints, body_size: int) -> bytes:
    """Return what stands before a body of `count` rows; `buffers` are where each begins there, and its bytes."""
    nodes = np.full((len(null_counts), 2), count, np.int64)
    nodes[:, 1] = null_counts
    buffers_at = _HEAD.size + nodes.nbytes
    head = _HEAD.pack(
        16,
        12, 24, 4, 6, 8, 16,
        12, _METADATA_VERSION, _RECORD_BATCH, 56 - 24, body_size,
        10, 24, 8, 4, 16,
        16, 84 - 60, count, buffers_at + 4 - 72,
        len(nodes),
    )  # fmt: skip
    prefix = struct.pack("<II", _CONTINUATION, buffers_at + 8 + buffers.nbytes)
    return b"".join((prefix, head, nodes.tobytes(), struct.pack("<4xI", len(buffers)), buffers.tobytes()))


def read_batch(schema: pa.Schema, head: bytes, body: Body) -> pa.RecordBatch:
    return pa.ipc.read_record_batch(pa.py_buffer(b"".join((head, *body.pieces))), schema)
