"""Which shape the point-in-time join of a view takes, by what it is expected to cost, and why.

    in memory             events are read by Arrow into this process and swept here: no shuffle, no sort of whole rows
    labelled entities     Spark drops events of entities that no label names, then sorts and sweeps in its executors
    all entities          the same without dropping: where labels name most entities, or more than a broadcast holds

All give the same bits. None multiplies labels by events: `pairs`, what a plain join would go through, is shown beside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from featurekit.clock import Instant
from featurekit.compiled import CompiledView
from featurekit.offline.direct_source import DirectSource, direct_source

MOST_BYTES_IN_MEMORY: Final = 1 << 30
MOST_LABELS_IN_MEMORY: Final = 2_000_000
MOST_ENTITIES_TO_SEND: Final = 1_000_000
_SAMPLED_GROUPS: Final = 4
_SAMPLED_ROWS: Final = 1 << 16


class JoinShape(StrEnum):
    IN_MEMORY = "in memory"
    LABELLED = "labelled entities"
    ALL = "all entities"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSize:
    """What is asked of a view: label rows, about how many entities, and between which as-ofs."""

    rows: int
    entities: int
    earliest: Instant
    latest: Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSize:
    """Events in reach, by the files' footers; entities and the largest one by a sample. `size` is in bytes."""

    rows: int
    size: int
    entities: int | None = None
    largest: int | None = None
    pairs_per_label: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeChoice:
    """A view's shape and the reason, with the numbers that it was chosen by; None where they are not known."""

    view: str
    shape: JoinShape
    why: str
    labels: LabelSize | None
    events: EventSize | None

    @property
    def pairs(self) -> int | None:
        """Return about how many pairs of a label and an event of its entity a plain join would go through."""
        if self.labels is None or self.events is None or self.events.pairs_per_label is None:
            return None
        return round(self.events.pairs_per_label * self.labels.rows)

    @property
    def described(self) -> str:
        """The shape, why, and the numbers, in one line."""
        numbers = []
        if self.events is not None:
            numbers.append(f"{self.events.rows:,} events in reach")
            if self.events.entities is not None:
                numbers.append(f"of about {self.events.entities:,} entities, the largest of {self.events.largest:,}")
        if self.labels is not None:
            numbers.append(f"{self.labels.rows:,} labels of about {self.labels.entities:,} entities")
        if self.pairs is not None:
            numbers.append(f"a plain join would go through some {self.pairs:,} pairs")
        return f"{self.shape.value}: {self.why}" + (f" ({', '.join(numbers)})" if numbers else "")


def choose_shapes(
    views: Sequence[CompiledView], root: Path, labels: Sequence[LabelSize | None], *, refused: str | None = None
) -> tuple[ShapeChoice, ...]:
    """Return the shape for each view; all are in memory or none is, so that no row is joined twice.

    `refused` says why none can be.
    """
    found = [choose_shape(view, root, size, refused=refused) for view, size in zip(views, labels, strict=True)]
    other = next((choice for choice in found if choice.shape is not JoinShape.IN_MEMORY), None)
    if other is None:
        return tuple(found)
    why = f"{other.view} is not in memory ({other.why.partition(';')[0]})"
    return tuple(
        _by_labels(view, choice.labels, choice.events, why) if choice.shape is JoinShape.IN_MEMORY else choice
        for view, choice in zip(views, found, strict=True)
    )


def choose_shape(
    view: CompiledView, root: Path, labels: LabelSize | None, *, refused: str | None = None
) -> ShapeChoice:
    """Return the shape for a view, from footers, a sample of keys, and the size of the labels where that is known."""
    source = refused or direct_source(view, root)
    if isinstance(source, str):
        return _by_labels(view, labels, None, source)
    events = _events(source, labels)
    if events is None:
        return _by_labels(view, labels, None, "a footer does not say how many rows there are")
    if events.size > MOST_BYTES_IN_MEMORY:
        why = f"{events.size / 2**30:.1f} GiB of events are too many for this process"
        return _by_labels(view, labels, events, why)
    if labels is not None and labels.rows > MOST_LABELS_IN_MEMORY:
        return _by_labels(view, labels, events, f"{labels.rows:,} labels are too many for this process")
    why = f"{events.size / 2**20:.0f} MiB of events fit into this process"
    return ShapeChoice(view=view.name, shape=JoinShape.IN_MEMORY, why=why, labels=labels, events=events)


def _by_labels(view: CompiledView, labels: LabelSize | None, events: EventSize | None, why: str) -> ShapeChoice:
    shape, more = JoinShape.ALL, "how many entities the labels name is not known"
    if labels is not None:
        known = None if events is None else events.entities
        if labels.entities > MOST_ENTITIES_TO_SEND:
            more = f"the labels name {labels.entities:,} entities, too many to send to each executor"
        elif known is not None and labels.entities > known // 2:
            more = f"the labels name {labels.entities:,} of about {known:,} entities"
        else:
            shape = JoinShape.LABELLED
            more = f"the labels name {labels.entities:,} entities" + (f" of about {known:,}" if known else "")
    return ShapeChoice(view=view.name, shape=shape, why=f"{why}; {more}", labels=labels, events=events)


def _events(source: DirectSource, labels: LabelSize | None) -> EventSize | None:
    since = None if labels is None else source.view.since(labels.earliest)
    until = None if labels is None else labels.latest
    rows = size = 0
    groups: list[tuple[Path, int]] = []
    for path in source.files:
        metadata = pq.read_metadata(path)
        places = [at for at in range(metadata.num_columns) if metadata.schema.column(at).path in source.columns]
        event = source.view.source.event_timestamp
        for at in range(metadata.num_row_groups):
            if not is_in_reach(metadata.row_group(at), event, since, until):
                continue
            group = metadata.row_group(at)
            rows += group.num_rows
            size += sum(group.column(place).total_uncompressed_size for place in places)
            groups.append((path, at))
    return EventSize(rows=rows, size=size, **_sampled(source, groups, rows))


def is_in_reach(group: pq.RowGroupMetaData, column: str, since: Instant | None, until: Instant | None) -> bool:
    """Return whether a row group can hold rows of [since, until), by the statistics of their time."""
    place = next(at for at in range(group.num_columns) if group.column(at).path_in_schema == column)
    found = group.column(place).statistics
    if found is None or not found.has_min_max:
        return True
    # As they are stored: microseconds, whatever year.
    return (since is None or found.max_raw >= since) and (until is None or found.min_raw < until)


def _sampled(source: DirectSource, groups: Sequence[tuple[Path, int]], rows: int) -> dict[str, Any]:
    """Return about how many entities there are, the rows of the largest, and the rows of an entity that a row is of."""
    keys = [key.source_column for key in source.view.keys]
    step = max(1, len(groups) // _SAMPLED_GROUPS)
    tables = [_spread(pq.ParquetFile(path).read_row_group(at, columns=keys)) for path, at in groups[::step]]
    sample = pa.concat_tables(tables) if tables else None
    if sample is None or not sample.num_rows:
        return {}
    counted = sample.group_by(keys).aggregate([([], "count_all")])["count_all"].to_numpy().astype(np.float64)
    share = sample.num_rows / rows
    # Chao's estimate of what a sample has not met, from what it has met once and twice.
    once, twice = int((counted == 1).sum()), int((counted == 2).sum())
    unseen = 0 if share == 1 else once * max(once - 1, 0) / (2 * (twice + 1))
    return {
        "entities": min(rows, round(len(counted) + unseen)),
        "largest": round(counted.max() / share),
        # Pairs of rows of one entity; labels are taken to meet entities as often as rows do.
        "pairs_per_label": 1 + float((counted * (counted - 1)).sum() / sample.num_rows / share),
    }


def _spread(table: pa.Table) -> pa.Table:
    """Return some of the rows, from all over."""
    return table.take(pa.array(np.arange(0, table.num_rows, -(-table.num_rows // _SAMPLED_ROWS) or 1)))
