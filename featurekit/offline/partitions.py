"""Which partitions of a source a run reads: conditions on their column, as Spark prunes by."""

from __future__ import annotations

from featurekit.clock import Instant, parse_instant
from featurekit.compiled import CompiledView
from featurekit.definitions.partition import PartitionOf
from featurekit.definitions.source import SourceFormat
from featurekit.offline.sql import Sql, cast, name
from featurekit.targets.spark import render_string
from featurekit.types import DataType, String

Names = tuple[str | None, str | None]


def partition_names(
    view: CompiledView, *, known_by: Instant | None, since: Instant | None, until: Instant | None
) -> Names:
    """Return the least and the greatest partition that can hold a row which decides something; None: no bound.

    That is a row known by an instant whose event lies in [since, until), and what supersedes such a row.
    """
    source, partition = view.source, view.source.partition
    if partition is None:
        return None, None
    if partition.of is PartitionOf.EVENT:
        if source.event_id is not None:
            return None, None  # a newer version of an event of the window may be dated anywhere
        return _first(view, since), None if until is None else partition.last(until)
    # Rows are created when they happen or later, so a version from before the window is of no event in it. History
    # that came in bulk counts as known before it was loaded.
    known_from = None if source.known_from is None else parse_instant(source.known_from)
    if known_by is None:
        return _first(view, since), None
    return _first(view, since), partition.last(max(known_by, known_from or known_by) + 1)


def partition_conditions(
    view: CompiledView, *, known_by: Instant | None, since: Instant | None, until: Instant | None
) -> tuple[Sql, ...]:
    """Return conditions on the raw partition column for the partitions of `partition_names`."""
    partition = view.source.partition
    if partition is None:
        return ()
    first, last = partition_names(view, known_by=known_by, since=since, until=until)
    column, kind = name(partition.column), _type(view, partition.column)
    lower = () if first is None else (f"{column} >= {_literal(first, kind)}",)
    return lower if last is None else (*lower, f"{column} <= {_literal(last, kind)}")


def _first(view: CompiledView, since: Instant | None) -> str | None:
    assert view.source.partition is not None
    return None if since is None else view.source.partition.first(since)


def _type(view: CompiledView, column: str) -> DataType:
    """Return the type that a reader has the partition column in: folders' names are text."""
    if view.source.path is not None and view.source.origin in (SourceFormat.PARQUET, SourceFormat.CSV):
        return String()
    field = view.source_schema.schema.get(column)
    return String() if field is None else field.type


def _literal(text: str, kind: DataType) -> Sql:
    return render_string(text) if isinstance(kind, String) else cast(render_string(text), kind)
