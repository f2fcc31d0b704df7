"""Sources -> events: the rows of a view's source as every computation sees them.

An events step has the columns

    $key0 …     the entity's join keys, in their declared types
    $event      when it happened (instant, never null)
    $created    when it could be known
    $id         what versions of one event share, where the source declares `event_id`
    …           the view's source columns, under their names

and no row without an event or created timestamp: such rows are invisible, and `count_invisible` counts them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from featurekit.compiled import CompiledView
from featurekit.definitions.source import Source, SourceFormat
from featurekit.errors import FeaturekitError, SourceError
from featurekit.expr.nodes import Column
from featurekit.offline.engine import FILE_COLUMN, BatchEngine
from featurekit.offline.source_columns import column_sql, created_sql, event_sql
from featurekit.offline.sql import Query, Select, Sql, cast, instant, name, over, render_query
from featurekit.source_schema import SourceSchema
from featurekit.types import Int64, TimestampNtz, is_integer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

EVENT: Final = "$event"
CREATED: Final = "$created"
SUPERSEDED: Final = "$superseded"
ID: Final = "$id"


def key_name(position: int) -> str:
    return f"$key{position}"


def key_names(view: CompiledView) -> tuple[str, ...]:
    return tuple(key_name(position) for position in range(len(view.keys)))


def column_name(column: Column) -> str:
    """Return what a source column is called in an events step: its name, apart from ours, which begin with `$`."""
    return f"${column.name}" if column.name.startswith("$") else column.name


def frame_name(view: CompiledView) -> str:
    """Return the name under which queries read a view's source."""
    return f"featurekit_{view.source.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventColumns:
    """The expressions of an events step over the source's raw rows."""

    keys: tuple[Sql, ...]
    event: Sql
    created: Sql
    event_id: Sql | None
    columns: tuple[tuple[str, Sql], ...]


def event_columns(view: CompiledView) -> EventColumns:
    source, schema = view.source, view.source_schema
    return EventColumns(
        keys=tuple(_key_sql(view, position) for position in range(len(view.keys))),
        event=event_sql(source, schema),
        created=created_sql(source, schema),
        event_id=None if source.event_id is None else column_sql(source, schema, source.event_id),
        columns=tuple((column_name(column), column_sql(source, schema, column.name)) for column in view.columns),
    )


def _key_sql(view: CompiledView, position: int) -> Sql:
    key = view.keys[position]
    value = column_sql(view.source, view.source_schema, key.source_column)
    # Only a wider integer can differ: the compiler refuses every other pair of types.
    field = view.source_schema.schema.get(key.source_column)
    return cast(value, key.type) if field is not None and is_integer(key.type) and field.type != key.type else value


def events_step(view: CompiledView, *, known_by: int | None, note: str) -> Select:
    """Return the step that reads the view's source: typed columns of the rows known by an instant."""
    parts = event_columns(view)
    columns = [
        *zip(key_names(view), parts.keys, strict=True),
        (EVENT, parts.event),
        (CREATED, parts.created),
        *([(ID, parts.event_id)] if parts.event_id is not None else []),
        *parts.columns,
    ]
    known = f"{parts.created} IS NOT NULL" if known_by is None else f"{parts.created} <= {instant(known_by)}"
    # A correction may take an event's time away; it has to be seen to count as the newest version.
    happened = [] if parts.event_id is not None else [f"{parts.event} IS NOT NULL"]
    return Select(columns=tuple(columns), source=frame_name(view), where=(*happened, known), note=note)


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


def read_source(engine: BatchEngine, view: CompiledView) -> DataFrame:
    """Return the raw rows of a view's source; SourceError where it is not there or not as declared."""
    source, schema = view.source, view.source_schema
    frame = _read(engine, source, schema)
    _check_types(frame, source, schema, _referenced(view))
    return frame


def _read(engine: BatchEngine, source: Source, schema: SourceSchema) -> DataFrame:
    match source.kind:
        case SourceFormat.PARQUET:
            return engine.read_parquet(str(source.path))
        case SourceFormat.CSV:
            return engine.read_csv(str(source.path), schema.header or schema.schema.names)
        case SourceFormat.TABLE:
            return engine.read_table(str(source.table))
        case SourceFormat.SQL:
            return _read_sql(engine, source)


def _read_sql(engine: BatchEngine, source: Source) -> DataFrame:
    where = f"the sql of source {source.name}"
    try:
        frame = engine.query(str(source.sql))
    except SourceError as error:
        raise SourceError(error.what, where=where, why=error.why, try_=error.try_) from error
    except FeaturekitError as error:
        raise SourceError("Spark can't run the source's query", where=where, why=error.what) from error
    if unstable := engine.unstable_parts(frame):
        raise SourceError(
            f"the query of source {source.name} calls {', '.join(f'{part}()' for part in unstable)}",
            where=where,
            why="it can give another answer on another run, so no value could ever be checked (DESIGN V6)",
            try_="take the value from a column",
        )
    return frame


def _referenced(view: CompiledView) -> tuple[str, ...]:
    source = view.source
    times = [part for part in (source.event_timestamp, source.created_timestamp, source.event_id) if part is not None]
    names = [key.source_column for key in view.keys] + times + [column.name for column in view.columns]
    return tuple(dict.fromkeys(names))


def _check_types(frame: DataFrame, source: Source, schema: SourceSchema, names: tuple[str, ...]) -> None:
    """Refuse a source whose columns are not those the view was compiled for."""
    if source.kind is SourceFormat.CSV:
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
                where=source.path or source.table or source.sql,
                why=f"the view was compiled for {expected}",
                try_="declare the zone of the column as the source has it"
                if is_zone and actual
                else "correct `columns:`, or register the view again after the source changed",
            )


def count_invisible(engine: BatchEngine, view: CompiledView) -> int:
    """Return how many rows no as-of ever sees: without an event timestamp, or never known."""
    parts = event_columns(view)
    step = Select(
        columns=(("n", "count(*)"),),
        source=frame_name(view),
        where=(f"({parts.event} IS NULL OR {parts.created} IS NULL)",),
    )
    frame = engine.query(render_query(Query(steps=(("result", step),))), {frame_name(view): read_source(engine, view)})
    return int(engine.to_arrow(frame)["n"][0].as_py())
