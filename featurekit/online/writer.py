"""Offline rows -> the online store, from where they are: runs on Spark's executors, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc

from featurekit.counters import counter_batch
from featurekit.online.arrow_keys import join_bytes, key_array
from featurekit.online.arrow_rows import row_array
from featurekit.online.codec import RowCodec
from featurekit.online.keys import KeySpace
from featurekit.online.progress import EXPIRES_IN_S, any_progress_key
from featurekit.online.redis import SET_IN_PLACE, WRITE_RETRIES, row_pipeline
from featurekit.types import Field

if TYPE_CHECKING:
    from featurekit.compiled import CompiledView

CHUNK_BYTES: Final = 4 << 20
WRITE_TIMEOUT_MS: Final = 30_000


@dataclass(frozen=True, kw_only=True)
class RedisRowSink:
    """Writes a view's offline rows into a key space; picklable, called once per partition.

    Rows are written with an expiry counted from their own write. The result is batches of counters: `rows`, `bytes`
    (of packed rows) and `null_keys` (rows without a whole key, which belong to no entity and are not written).
    """

    url: str = field(repr=False)  # may hold a password
    space: KeySpace
    keys: tuple[Field, ...]
    fields: tuple[Field, ...]
    expires_in_s: int
    chunk_bytes: int = CHUNK_BYTES
    timeout_ms: int = WRITE_TIMEOUT_MS
    retries: int = WRITE_RETRIES
    is_watched: bool = False

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        codec = RowCodec(self.fields, self.space.fingerprint)
        written = content = null_keys = 0
        told = any_progress_key(self.space) if self.is_watched else None
        pipeline = row_pipeline(self.url, timeout_ms=self.timeout_ms, retries=self.retries)
        try:
            for batch in batches:
                for part in _parts(batch, self.chunk_bytes):
                    keys, rows = key_array(part, self.keys), row_array(part, codec, as_of=self.space.as_of)
                    if keys.null_count:
                        null_keys += keys.null_count
                        keys, rows = keys.drop_null(), rows.filter(keys.is_valid())
                    if len(rows):
                        full = self._full(keys)
                        commands = _commands(full, rows, self.expires_in_s, in_place=self.space.live is not None)
                        if told is not None:
                            full, commands = _with_progress(full, commands, told, written + len(rows))
                        pipeline.send(full, commands)
                    written += len(rows)
                    content += pc.sum(pc.binary_length(rows)).as_py() or 0
            pipeline.finish()
        finally:
            pipeline.close()
        yield counter_batch({"rows": written, "bytes": content, "null_keys": null_keys})

    def _full(self, keys: pa.BinaryArray) -> pa.BinaryArray:
        """Return the rows' keys in the store."""
        return join_bytes(_bytes(self.space.namespace.row_prefix()), keys, _bytes(self.space.row_suffix))


def _commands(keys: pa.BinaryArray, rows: pa.BinaryArray, expires_in_s: int, *, in_place: bool) -> pa.BinaryArray:
    """Return one `SET key row EX seconds` per row, as they go over the wire; in place only where no newer row is."""
    seconds = b"%d" % expires_in_s
    before, after = SET_IN_PLACE if in_place else (b"*5\r\n$3\r\nSET\r\n", b"$2\r\nEX\r\n")
    return join_bytes(
        _bytes(before + b"$"),
        _lengths(keys),
        _bytes(b"\r\n"),
        keys,
        _bytes(b"\r\n$"),
        _lengths(rows),
        _bytes(b"\r\n"),
        rows,
        _bytes(b"\r\n%b$%d\r\n%b\r\n" % (after, len(seconds), seconds)),
    )


def _with_progress(
    keys: pa.BinaryArray, commands: pa.BinaryArray, key: bytes, rows: int
) -> tuple[pa.BinaryArray, pa.BinaryArray]:
    """Return the commands and one more, which leaves the number of rows."""
    told = pa.array([key], pa.binary())
    number = _commands(told, pa.array([b"%d" % rows], pa.binary()), EXPIRES_IN_S, in_place=False)
    return pa.concat_arrays([keys, told]), pa.concat_arrays([commands, number])


def row_sink(
    view: CompiledView, space: KeySpace, url: str, *, expires_in_s: int, is_watched: bool = False
) -> RedisRowSink:
    """Return the sink for a compiled view's offline rows; it leaves its progress in the store where it `is_watched`."""
    return RedisRowSink(
        is_watched=is_watched,
        url=url,
        space=space,
        keys=tuple(Field(key.name, key.type, nullable=False) for key in view.keys),
        fields=tuple(Field(feature.name, feature.type) for feature in view.features),
        expires_in_s=expires_in_s,
    )


def _parts(batch: pa.RecordBatch, limit: int) -> Iterator[pa.RecordBatch]:
    """Yield the batch in slices of some `limit` bytes: what is in flight stays small whatever Spark hands over."""
    step = max(1, batch.num_rows * limit // max(batch.nbytes, 1))
    for start in range(0, batch.num_rows, step):
        yield batch.slice(start, step)


def _bytes(text: bytes) -> pa.BinaryScalar:
    return pa.scalar(text, pa.binary())


def _lengths(texts: pa.BinaryArray) -> pa.BinaryArray:
    return pc.binary_length(texts).cast(pa.string()).cast(pa.binary())
