"""Sources -> events: the rows of a view's source as every computation sees them.

An events step has the columns

    $key0 …     the entity's join keys, in their declared types
    $event      when it happened
    $created    when it could be known, never null
    $id         what versions of one event share, where the source declares `event_id`
    $row0 …     what names the thing a row of changes is about, where that is not the join keys
    $valid_to   when what a row of changes says ends, where the source declares `valid_to`; NULL is never
    …           the view's source columns, under their names

A row without an event timestamp is no event; it may still be the newest version of one, and so take it away. Such rows
and those without a created timestamp are invisible, and `count_invisible` counts them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from featurekit.clock import DAY, MILLISECOND, Instant, format_instant
from featurekit.compiled import CompiledView, KeyColumn
from featurekit.definitions.source import Source, SourceFormat
from featurekit.errors import FeaturekitError, SourceError
from featurekit.expr.nodes import Column
from featurekit.offline.date_columns import date_bounds, first_instant_sql
from featurekit.offline.engine import FILE_COLUMN, BatchEngine
from featurekit.offline.partitions import Names, partition_conditions, partition_names
from featurekit.offline.source_columns import (
    cell_text,
    chosen_instant,
    created_sql,
    is_reading,
    reading_candidates,
    typed_column,
)
from featurekit.offline.sql import (
    Query,
    Select,
    Sql,
    canonical,
    cast,
    instant,
    name,
    over,
    render_query,
    subquery,
    try_cast,
)
from featurekit.parquet_footer import null_counts
from featurekit.partition_check import NULL_PARTITION
from featurekit.source_files import SourceFile, is_remote, source_files
from featurekit.source_schema import SourceSchema, date_times
from featurekit.types import Int64, Timestamp, TimestampNtz, is_integer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

EVENT: Final = "$event"
CREATED: Final = "$created"
SUPERSEDED: Final = "$superseded"
ID: Final = "$id"
VALID_TO: Final = "$valid_to"


def key_name(position: int) -> str:
    return f"$key{position}"


def key_names(view: CompiledView) -> tuple[str, ...]:
    return tuple(key_name(position) for position in range(len(view.keys)))


def row_key_names(view: CompiledView) -> tuple[str, ...]:
    """Return the columns that name the thing a row of changes is about."""
    if _is_own_row_key(view):
        return tuple(f"$row{position}" for position in range(len(view.row_key)))
    return key_names(view)


def _is_own_row_key(view: CompiledView) -> bool:
    return {column.name for column in view.row_key} != {key.source_column for key in view.keys}


def entity_key(key: KeyColumn, value: Sql) -> Sql:
    """Return a key that someone asks for, as the events' keys are: in the key's type, one zero and one NaN (DESIGN V3).

    An integer that the type has no value for names no entity, as NULL does.
    """
    return canonical(try_cast(value, key.type), key.type)


def column_name(column: Column) -> str:
    """Return what a source column is called in an events step: its name, apart from ours, which begin with `$`.

    A lambda's variables begin with `$$`, and would hide a column of such a name.
    """
    return f"$.{column.name}" if column.name.startswith("$") else column.name


def frame_name(view: CompiledView) -> str:
    """Return the name under which queries read a view's source."""
    return f"featurekit_{view.source.name}"


def event_steps(view: CompiledView, *, known_by: int | None, since: int | None, until: int | None) -> Query:
    """Return the steps that read the view's source; the last one, `events`, has the rows known by an instant.

    Rows outside [since, until) may be there or not: the bounds are for readers that can skip what lies outside.
    """
    source, schema = view.source, view.source_schema
    columns = _referenced(view)
    read = frame_name(view)
    query = Query(steps=())
    if source.origin is SourceFormat.CSV:
        cells = tuple((column, cell_text(source, column)) for column in columns if column not in schema.partitions)
        partitions = tuple((column, name(column)) for column in schema.partitions)
        note = "cells, NULL for the declared tokens"
        step = Select(columns=(*cells, *partitions, (FILE_COLUMN, name(FILE_COLUMN))), source=read, note=note)
        query, read = query.then("cells", step), "cells"
    typed = tuple((column, typed_column(source, schema, column)) for column in columns)
    bounds = _bounds(view, since, until) if source.event_id is None else ()
    bounds = (*partition_conditions(view, known_by=known_by, since=since, until=until), *bounds)
    query = query.then("source", Select(columns=typed, source=read, where=bounds, note="columns in their types"))
    readings = tuple(column for column in columns if is_reading(source, schema, column))
    if readings:
        query = query.then("clocks", _clocks(view, readings))
    return query.then("events", _events(view, query.last, readings, known_by))


def _bounds(view: CompiledView, since: int | None, until: int | None) -> tuple[Sql, ...]:
    """Return conditions on the raw event timestamp that no row in [since, until) fails."""
    source, schema = view.source, view.source_schema
    column = source.event_timestamp
    if column in date_times(source, schema) and source.origin is not SourceFormat.CSV:
        return date_bounds(typed_column(source, schema, column), since, until, str(source.timezone))
    if source.origin is SourceFormat.CSV or column in (*schema.partitions, *schema.nanosecond_columns):
        return ()
    naive = column in schema.naive
    # A clock's reading is less than a day away from the instant.
    slack, kind = (DAY, TimestampNtz()) if naive else (0, Timestamp())
    lower = () if since is None else (f"{name(column)} >= {cast(instant(since - slack), kind)}",)
    if until is not None:
        until = -(-(until + slack) // MILLISECOND) * MILLISECOND  # up to what Parquet has; see `sql.before`
    upper = () if until is None else (f"{name(column)} < {cast(instant(until), kind)}",)
    return (*lower, *upper)


def _clocks(view: CompiledView, readings: tuple[str, ...]) -> Select:
    zone = str(view.source.timezone)
    columns: list[tuple[str, Sql]] = [("*", "*")]
    for column in readings:
        first, later = reading_candidates(name(column), zone)
        columns += [(_first(column), first), (_later(column), later)]
    return Select(columns=tuple(columns), source="source", note=f"the instants that a clock in {zone} may mean")


def _first(column: str) -> str:
    return f"$first {column}"


def _later(column: str) -> str:
    return f"$later {column}"


def _events(view: CompiledView, read: str, readings: tuple[str, ...], known_by: int | None) -> Select:
    source = view.source
    dates = date_times(source, view.source_schema)

    def value(column: str) -> Sql:
        if column not in readings:
            return name(column)
        return chosen_instant(name(column), name(_first(column)), name(_later(column)), str(source.timezone))

    def time(column: str) -> Sql:
        return first_instant_sql(name(column), str(source.timezone)) if column in dates else value(column)

    event = time(source.event_timestamp)
    created = created_sql(source, event, None if source.created_timestamp is None else time(source.created_timestamp))
    keys = [_widened(view, position, value(key.source_column)) for position, key in enumerate(view.keys)]
    columns = [*zip(key_names(view), keys, strict=True), (EVENT, event), (CREATED, created)]
    if source.event_id is not None:
        columns.append((ID, value(source.event_id)))
    if view.row_key and _is_own_row_key(view):
        columns += zip(row_key_names(view), (value(column.name) for column in view.row_key), strict=True)
    if source.valid_to is not None:
        columns.append((VALID_TO, time(source.valid_to)))
    columns += [(column_name(column), value(column.name)) for column in view.columns]
    known = f"{created} IS NOT NULL" if known_by is None else f"{created} <= {instant(known_by)}"
    note = "rows" if source.is_state else "events"
    note += "" if known_by is None else f" known by {format_instant(known_by)}"
    return Select(columns=tuple(columns), source=read, where=(known,), note=note)


def _widened(view: CompiledView, position: int, value: Sql) -> Sql:
    # Only a wider integer can differ: the compiler refuses every other pair of types.
    key = view.keys[position]
    field = view.source_schema.schema.get(key.source_column)
    return cast(value, key.type) if field is not None and is_integer(key.type) and field.type != key.type else value


def version_order(view: CompiledView) -> tuple[Sql, ...]:
    """Return what orders the versions of one event, oldest first; rows equal in all of it are interchangeable."""
    rest = (*key_names(view), *(column_name(column) for column in view.columns))
    return (name(CREATED), name(EVENT), *(name(part) for part in rest))


def newest_version(view: CompiledView) -> Sql:
    """Return the rank of a row among the known versions of its event: 1 is the newest."""
    order = [f"{part} DESC" for part in version_order(view)]
    return over("row_number()", partition_by=[name(ID)], order_by=order)


def superseded_at(view: CompiledView) -> Sql:
    """Return when the next newer version of a row's event could be known; NULL for the newest."""
    following = over(f"lead({name(CREATED)})", partition_by=[name(ID)], order_by=version_order(view))
    return f"CASE WHEN {name(ID)} IS NOT NULL THEN {following} END"


def read_source(engine: BatchEngine, view: CompiledView, files: Sequence[Path] = ()) -> DataFrame:
    """Return the raw rows of a view's source; SourceError where it is not there or not as declared.

    With `files`, only the rows of these of the files of its path.
    """
    source, schema = view.source, view.source_schema
    frame = _read(engine, source, schema, files)
    _check_types(frame, source, schema, _referenced(view))
    return frame


def _read(engine: BatchEngine, source: Source, schema: SourceSchema, files: Sequence[Path]) -> DataFrame:
    if source.lakehouse:
        return engine.read_lakehouse(source)
    match source.origin:
        case SourceFormat.PARQUET:
            return engine.read_parquet(str(source.path), files)
        case SourceFormat.CSV:
            return engine.read_csv(str(source.path), schema.header or schema.schema.names, files)
        case SourceFormat.TABLE:
            return engine.read_table(str(source.table))
        case SourceFormat.SQL:
            return _read_sql(engine, source)
        case SourceFormat.DELTA | SourceFormat.ICEBERG:
            raise AssertionError("it is a lakehouse")


def _read_sql(engine: BatchEngine, source: Source) -> DataFrame:
    where = f"the sql of source {source.name}"
    try:
        frame = engine.read_sql(subquery(str(source.sql)))
    except SourceError as error:
        try_ = "correct its sql: one query, and no other statement; paths in it begin at featurekit.toml's folder"
        raise SourceError(error.what, where=where, why=error.why, try_=try_) from error
    except FeaturekitError as error:
        raise SourceError("Spark can't run the source's query", where=where, why=error.what) from error
    if unstable := engine.unstable_parts(frame):
        raise SourceError(
            f"the query of source {source.name} uses {', '.join(unstable)}",
            where=where,
            why="it can give another answer on another run, so no value could ever be checked (DESIGN V6)",
            try_="take values from columns; where an order decides, order by every column; leave sums to features",
        )
    return frame


def _referenced(view: CompiledView) -> tuple[str, ...]:
    source = view.source
    times = [*source.time_columns, *(() if source.event_id is None else (source.event_id,))]
    names = [key.source_column for key in view.keys] + times
    names += [column.name for column in (*view.row_key, *view.columns)]
    return tuple(dict.fromkeys(names))


def _check_types(frame: DataFrame, source: Source, schema: SourceSchema, names: tuple[str, ...]) -> None:
    """Refuse a source whose columns are not those the view was compiled for."""
    if source.origin is SourceFormat.CSV:
        return  # all text; each cell is held against its declared type
    found = {field.name: field.dataType.simpleString() for field in frame.schema.fields if field.name != FILE_COLUMN}
    for column in names:
        field = schema.schema.get(column)
        if field is None or column in schema.partitions:
            continue
        expected = Int64().name if column in schema.nanosecond_columns else field.type.name
        actual = found.get(column)
        if actual is not None and actual.startswith(("char(", "varchar(")):
            actual = "string"
        if actual != expected:
            is_zone = isinstance(field.type, TimestampNtz) or expected.startswith("timestamp")
            raise SourceError(
                f"source {source.name}: column {column} is {actual}"
                if actual
                else f"source {source.name} has no column {column}",
                where=source.shown_origin,
                why=f"the view was compiled for {expected}",
                try_="declare the zone of the column as the source has it"
                if is_zone and actual
                else "correct `columns:`, or register the view again after the source changed",
            )


def count_invisible(engine: BatchEngine, view: CompiledView, as_of: Instant | None = None) -> int:
    """Return how many rows no as-of ever sees: without an event timestamp, never known, or about no thing.

    Of a parted source with `as_of` those in the partitions that a refresh as of it reads, and in the one without name.
    """
    columns = [part for part in (view.source.event_timestamp, view.source.created_timestamp) if part is not None]
    columns = list(dict.fromkeys((*columns, *(column.name for column in view.row_key))))
    names = _partitions_read(view, as_of)
    if (counted := _invisible_by_footers(engine, view, columns, names)) is not None:
        return counted
    query = event_steps(view, known_by=None, since=None, until=None)
    # Over the typed columns: a null stays null on its way to an instant, and Parquet skips row groups without any.
    typed = dict(query.steps)["source"]
    read = query.steps[: [label for label, _ in query.steps].index("source")]
    expressions = dict(typed.columns)
    missing = " OR ".join(f"({expressions[column]}) IS NULL" for column in columns)
    where = (f"({missing})", *_in_partitions(view, as_of))
    step = Select(columns=(("n", "count(*)"),), source=typed.source, where=where)
    text = render_query(Query(steps=(*read, ("result", step))))
    frame = engine.query(text, {frame_name(view): read_source(engine, view)})
    return int(engine.to_arrow(frame)["n"][0].as_py())


def _partitions_read(view: CompiledView, as_of: Instant | None) -> Names:
    if as_of is None:
        return None, None
    return partition_names(view, known_by=as_of + view.view.allowed_lateness, since=view.since(as_of), until=as_of)


def _in_partitions(view: CompiledView, as_of: Instant | None) -> tuple[Sql, ...]:
    if as_of is None or view.source.partition is None:
        return ()
    since = view.since(as_of)
    known_by = as_of + view.view.allowed_lateness
    conditions = partition_conditions(view, known_by=known_by, since=since, until=as_of)
    inside = " AND ".join(conditions)
    return (f"({inside} OR {name(view.source.partition.column)} IS NULL)",) if inside else ()


def _is_read(file: SourceFile, view: CompiledView, names: Names) -> bool:
    if view.source.partition is None:
        return True
    found = dict(file.partitions).get(view.source.partition.column, NULL_PARTITION)
    first, last = names
    return found == NULL_PARTITION or ((first is None or first <= found) and (last is None or found <= last))


def _invisible_by_footers(engine: BatchEngine, view: CompiledView, columns: list[str], names: Names) -> int | None:
    """Return the count from the footers of Parquet files on this machine; None where only the rows can tell."""
    source, path = view.source, view.source.path
    if source.origin is not SourceFormat.PARQUET or path is None or is_remote(path):
        return None
    read = [file for file in source_files(path, engine.root) if _is_read(file, view, names)]
    files = [null_counts(file.path, columns) for file in read]
    known = [counts for counts in files if counts is not None]
    # Nulls in both columns may be in the same rows or not.
    if len(known) < len(files) or any(sum(count > 0 for count in counts) > 1 for counts in known):
        return None
    return sum(map(sum, known))
