"""Reads rows of Parquet where they lie and makes offline rows of them, in the executors, a bounded batch at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from featurekit.arrow_types import to_arrow
from featurekit.clock import Instant
from featurekit.errors import SourceError
from featurekit.expr.nodes import Column, Node
from featurekit.offline.arrow_columns import canonical_column, computed, one_nan, whole_column
from featurekit.offline.engine import Batches
from featurekit.offline.intervals import Ints
from featurekit.rows import LAST_EVENT, STATUS_PREFIX
from featurekit.status import Status
from featurekit.types import DataType

if TYPE_CHECKING:
    from featurekit.offline.direct_source import DirectSource

_BATCH_BYTES: Final = 8 << 20
_MOST_ROWS: Final = 1 << 14
_READ_BYTES: Final = 1 << 18  # of a column's pages at once, or a row group's whole column lies in memory


Written = tuple[int, int]
"""A file's size in bytes, and when it was written last, in nanoseconds: others are of another content."""


def written(path: str) -> Written:
    stat = Path(path).stat()
    return stat.st_size, stat.st_mtime_ns


@dataclass(frozen=True, slots=True)
class Part:
    """Rows of one row group of a file as it was `written`, by their places in the group, ascending."""

    path: str
    written: Written
    group: int
    places: Ints

    def check_unchanged(self) -> None:
        """Raise SourceError where the file is another one by now."""
        try:
            why = None if written(self.path) == self.written else "it was written again"
        except OSError as error:
            why = error.strerror or str(error)
        if why is not None:
            raise SourceError(
                "a source file changed while being read",
                where=self.path,
                why=why,
                try_="run it again; add rows as files of their own, renamed into place when whole",
            )


@dataclass(frozen=True, slots=True)
class ReadFeature:
    """A feature as it is computed of the newest row; `ttl` and statuses as in `CompiledFeature`."""

    name: str
    type: DataType
    expression: Node
    is_latest: bool
    ttl: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewestReader:
    """Makes offline rows of the parts whose numbers it is given; it pickles, and holds no definition."""

    as_of: Instant
    parts: tuple[tuple[Part, ...], ...]
    columns: dict[str, DataType]
    event: str
    keys: tuple[tuple[str, str, DataType], ...]
    inputs: tuple[Column, ...]
    slots: tuple[tuple[Column, Node], ...]
    features: tuple[ReadFeature, ...]

    @staticmethod
    def of(source: DirectSource, as_of: Instant, parts: tuple[tuple[Part, ...], ...]) -> NewestReader:
        """Return what reads a view's newest rows."""
        view = source.view
        slots = [(Column(name=s.name, type=s.type, nullable=s.nullable), s.argument) for s in view.slots]
        return NewestReader(
            as_of=as_of,
            parts=parts,
            columns=source.columns,
            event=view.source.event_timestamp,
            keys=tuple((key.name, key.source_column, key.type) for key in view.keys),
            inputs=view.columns,
            slots=tuple((column, node) for column, node in slots if node is not None),
            features=tuple(
                ReadFeature(one.name, one.type, one.expression, one.is_latest, one.ttl) for one in view.features
            ),
        )

    def __call__(self, batches: Batches) -> Batches:
        """Yield the rows of the stretches whose numbers are the batches' only column."""
        names = list(self.columns)
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for part in self.parts[number]:
                    try:
                        for rows in read_places(part, names):
                            yield self.offline_rows(rows)
                    except Exception:
                        part.check_unchanged()
                        raise

    def offline_rows(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the offline rows (see `rows`) of newest rows, given by the source's columns."""
        source = {name: canonical_column(whole_column(batch[name], kind)) for name, kind in self.columns.items()}
        count = batch.num_rows
        slots = computed([node for _, node in self.slots], source, self.inputs, count)
        named = {column.name: value for (column, _), value in zip(self.slots, slots, strict=True)}
        inputs = [column for column, _ in self.slots]
        values = computed([one.expression for one in self.features], named, inputs, count)
        event = source[self.event]
        ages = _Ages(self.as_of - event.cast(pa.int64()).to_numpy(), {})
        found: dict[str, pa.Array] = {name: source[column].cast(to_arrow(kind)) for name, column, kind in self.keys}
        found[LAST_EVENT] = event
        statuses: dict[str, pa.Array] = {}
        for feature, value in zip(self.features, values, strict=True):
            value = one_nan(value)
            if feature.is_latest:
                statuses[STATUS_PREFIX + feature.name] = ages.statuses(value, feature.ttl)
                value = ages.kept(value, feature.ttl)
            found[feature.name] = value
        return pa.record_batch({**found, **statuses})


def read_places(part: Part, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield the part's rows in order, a bounded number of bytes at a time."""
    file = pq.ParquetFile(part.path, buffer_size=_READ_BYTES, pre_buffer=False)
    group = file.metadata.row_group(part.group)
    step = max(1, min(_MOST_ROWS, _BATCH_BYTES * group.num_rows // max(group.total_byte_size, 1)))
    start = done = 0
    with file:
        for batch in file.iter_batches(
            batch_size=step, row_groups=[part.group], columns=list(columns), use_threads=False
        ):
            end = int(np.searchsorted(part.places, start + batch.num_rows))
            if end - done == batch.num_rows:
                yield batch
            elif end > done:
                yield batch.take(pa.array(part.places[done:end] - start))
            start, done = start + batch.num_rows, end
            if done == len(part.places):
                return


@dataclass(frozen=True, slots=True)
class _Ages:
    """How old each row is, and what that says for each ttl; worked out once for all features of one ttl."""

    ages: Ints
    known: dict[int | None, tuple[pa.Array | None, pa.Array]]

    def kept(self, value: pa.Array, ttl: int | None) -> pa.Array:
        """Return the values, NULL where the row is older than the ttl."""
        fresh, _ = self._of(ttl)
        return value if fresh is None else pc.if_else(fresh, value, pa.scalar(None, value.type))

    def statuses(self, value: pa.Array, ttl: int | None) -> pa.Array:
        """Return stored statuses; `value` as it is at any age."""
        fresh, older = self._of(ttl)
        if fresh is None and not value.null_count:
            return older  # all PRESENT
        present = pc.if_else(value.is_null(), pa.scalar(int(Status.NULL), pa.int8()), pa.scalar(0, pa.int8()))
        return present if fresh is None else pc.if_else(fresh, present, older)

    def _of(self, ttl: int | None) -> tuple[pa.Array | None, pa.Array]:
        """Return which rows are not older than the ttl (None: all) and what status those that are have."""
        if ttl not in self.known:
            if ttl is None or not len(self.ages) or self.ages.max() <= ttl:
                self.known[ttl] = None, pa.array(np.zeros(len(self.ages), np.int8))
            else:
                older = np.where(self.ages <= 2 * ttl, np.int8(Status.EXPIRED), np.int8(Status.MISSING))
                self.known[ttl] = pa.array(self.ages <= ttl), pa.array(older)
        return self.known[ttl]
