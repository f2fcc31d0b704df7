"""Events of a Parquet source on this machine, read by Arrow: the rows and bits that the SQL of `as_of` has.

For sources whose columns are what they are, in both readers: instants in microseconds, no clock to turn, no versions.
Row expressions are computed by the vector evaluator, which has Spark's bits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from featurekit.arrow_types import from_arrow, to_arrow
from featurekit.clock import Instant
from featurekit.compiled import CompiledView, SlotFunction
from featurekit.definitions.source import SourceFormat, SourceKind
from featurekit.errors import InputError, SourceError
from featurekit.expr.nodes import Node
from featurekit.expr.show import show
from featurekit.offline.arrow_columns import canonical_column, computed, whole_column
from featurekit.offline.rows_sql import RowExpressions, latest_arguments
from featurekit.source_files import is_remote, source_files
from featurekit.targets.vectors.evaluate import is_vectorised
from featurekit.types import DataType, Timestamp, is_nested


@dataclass(frozen=True, slots=True)
class DirectSource:
    """The files of a source that Arrow reads as Spark does, and the columns that a view takes of them."""

    view: CompiledView
    files: tuple[Path, ...]
    columns: dict[str, DataType]
    times: pa.DataType


def direct_source(view: CompiledView, root: Path) -> DirectSource | str:
    """Return the view's source as files to read directly, or why they are Spark's to read."""
    source, schema = view.source, view.source_schema
    if source.origin is not SourceFormat.PARQUET or source.path is None or is_remote(source.path):
        return "the source is not Parquet on this machine"
    if source.kind is not SourceKind.EVENTS or source.event_id is not None:
        return "which rows are visible depends on other rows"
    if source.partition is not None:
        return "its partitions are chosen by name"
    if source.known_from is not None:
        return "rows loaded in bulk are known by assumption"
    if any(slot.function is SlotFunction.APPROX_COUNT_DISTINCT for slot in view.slots):
        return "approx_count_distinct hashes as Spark does"
    if looped := next((node for node in _expressions(view) if not is_vectorised(node)), None):
        return f"{show(looped)} is computed row by row"
    columns = (*(key.source_column for key in view.keys), *source.time_columns, *(part.name for part in view.columns))
    columns = tuple(dict.fromkeys(columns))
    types: dict[str, DataType] = {}
    for column in columns:
        field = schema.schema.get(column)
        if field is None or column in (*schema.partitions, *schema.nanosecond_columns) or column in schema.naive:
            return f"column {column} takes a conversion"
        if is_nested(field.type):
            return f"column {column} is nested"
        types[column] = field.type
    if any(types[column] != Timestamp() for column in source.time_columns):
        return "a time is a date"
    try:
        files = tuple(file.path for file in source_files(source.path, root))
        stored = [pq.read_schema(file) for file in files]
    except (pa.ArrowException, OSError, SourceError):
        return "a file can't be read"  # Spark says which, and why
    for found in stored:
        for column in columns:
            if not _is_alike(found, column, types[column]):
                return f"column {column} is stored in another way"
    return DirectSource(view, files, types, stored[0].field(source.event_timestamp).type)


def _expressions(view: CompiledView) -> tuple[Node, ...]:
    """Return all that is computed of a row."""
    named = RowExpressions.of(view)
    where = () if view.where is None else (view.where,)
    return (*where, *named.arguments, *named.filters, *latest_arguments(view))


def _is_alike(stored: pa.Schema, column: str, kind: DataType) -> bool:
    if stored.get_field_index(column) < 0:
        return False
    found = stored.field(column).type
    if pa.types.is_timestamp(found) and found.unit != "us":
        return False
    try:
        return from_arrow(found) == kind
    except InputError:
        return False


def read_events(
    source: DirectSource, *, since: Instant | None, until: Instant | None
) -> tuple[tuple[pa.Array, ...], pa.Table]:
    """Return the keys and the inputs of a view's events in [since, until) that pass its `where`, in no order.

    The inputs are the columns that the sweep reads, then the view's source columns by their names with `$.` before.
    """
    view = source.view
    table = _read(source, since, until)
    source_columns = {name: canonical_column(whole_column(table[name], kind)) for name, kind in source.columns.items()}
    event = source_columns[view.source.event_timestamp]
    created = event if view.source.created_timestamp is None else source_columns[view.source.created_timestamp]
    kept = pc.and_(event.is_valid(), created.is_valid())
    if view.where is not None:
        kept = pc.and_(kept, computed([view.where], source_columns, view.columns, len(event))[0].fill_null(False))
    if not pc.all(kept).as_py():
        source_columns = {name: column.filter(kept) for name, column in source_columns.items()}
        event, created = event.filter(kept), created.filter(kept)
    keys = tuple(source_columns[key.source_column].cast(to_arrow(key.type)) for key in view.keys)
    never = pa.nulls(len(event), pa.int64())
    times = {"$event": event.cast(pa.int64()), "$created": created.cast(pa.int64()), "$superseded": never}
    return keys, event_inputs(
        view, times, source_columns, lambda nodes: computed(nodes, source_columns, view.columns, len(event))
    )


def event_inputs(
    view: CompiledView,
    times: Mapping[str, pa.Array],
    columns: Mapping[str, pa.Array],
    values: Callable[[list[Node]], list[pa.Array]],
) -> pa.Table:
    """Return the inputs of a view's events as `read_events` does; `values` computes expressions over `columns`."""
    expressions, latest = RowExpressions.of(view), latest_arguments(view)
    # By label: `max(b) FILTER (WHERE b)` takes one node as an argument and as a filter.
    named = [*expressions.arguments.items(), *expressions.filters.items(), *latest.items()]
    found = dict(zip((label for _, label in named), values([node for node, _ in named]), strict=True))
    found |= {label: canonical_column(found[label]) for label in expressions.arguments.values()}
    ordering = {f"$.{column.name}": columns[column.name] for column in view.columns}
    return pa.table({**times, **found, **ordering})


def _read(source: DirectSource, since: Instant | None, until: Instant | None) -> pa.Table:
    column = pc.field(source.view.source.event_timestamp)
    condition = column.is_valid()
    if since is not None:
        condition &= column >= pa.scalar(since, source.times)
    if until is not None:
        condition &= column < pa.scalar(until, source.times)
    return pq.read_table(list(source.files), columns=list(source.columns), filters=condition, partitioning=None)
