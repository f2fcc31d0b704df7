"""A source's columns in Spark SQL, as the types and instants that features see (DESIGN T1, V1, V3).

Nothing here reads anything: which columns need what follows from the source's schema alone.
"""

from __future__ import annotations

from typing import Final

from featurekit.clock import DAY, parse_instant
from featurekit.definitions.source import Source, SourceFormat
from featurekit.offline.engine import EMPTY_CELL, FILE_COLUMN
from featurekit.offline.failures import BAD_CELL
from featurekit.offline.sql import Sql, call, canonical, case, cast, instant, long, name, try_cast
from featurekit.source_schema import SourceSchema
from featurekit.targets.spark import render_string
from featurekit.types import Boolean, DataType, Date, Decimal, String, Timestamp, TimestampNtz

# A date and a time of day; what follows is a zone. Spark would take a lone time of day for one of today.
_READING: Final = r"^[ ]*[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([ T][0-9]{1,2}:[0-9]{1,2}(:[0-9]{1,2}([.][0-9]{0,9})?)?)?"
_NAIVE: Final = _READING + "[ ]*$"
_ZONED: Final = _READING + "[ ]*(Z|UTC|GMT|[+-][0-9]{1,2}(:?[0-9]{2})?|[A-Z][A-Za-z_]*/[A-Za-z0-9_+/-]+)[ ]*$"
_DATE: Final = r"^[ ]*[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}[ ]*$"


def column_sql(source: Source, schema: SourceSchema, column: str) -> Sql:
    """Return a source column as features see it: typed, floats canonical, naive timestamps as instants."""
    field = schema.schema.get(column)
    assert field is not None, f"the compiler lets no unknown column through: {column}"
    typed = _typed(source, schema, column, field.type)
    if isinstance(field.type, TimestampNtz) and source.timezone is not None:
        return local_to_instant(typed, source.timezone)
    return canonical(typed, field.type)


def event_sql(source: Source, schema: SourceSchema) -> Sql:
    return column_sql(source, schema, source.event_timestamp)


def created_sql(source: Source, schema: SourceSchema) -> Sql:
    """Return when a row could be known: its created timestamp, or what the source declares in its place.

    Without a created timestamp a row is known when it happens. Rows of history that was loaded in bulk, created before
    `known_from`, are known `assumed_lag` after they happened.
    """
    event = event_sql(source, schema)
    if source.created_timestamp is None:
        return event
    created = column_sql(source, schema, source.created_timestamp)
    if source.known_from is None or source.assumed_lag is None:
        return created
    lagged = call("timestamp_micros", call("try_add", call("unix_micros", event), long(source.assumed_lag)))
    return case((f"{created} < {instant(parse_instant(source.known_from))}", lagged), otherwise=created)


def local_to_instant(local: Sql, timezone: str) -> Sql:
    """Return the instant of a clock reading (TIMESTAMP_NTZ), as `clock.local_to_instant` does.

    Spark reads a time that occurs twice as the first of the two. The later one is found from the next day, whose
    offset is the one after the change: where a clock in the zone reads the same at it, it is the same reading.
    """
    zone = render_string(timezone)
    # The session's zone is UTC, so a reading cast to a timestamp keeps its digits.
    reading = cast(local, Timestamp())
    first = call("to_utc_timestamp", reading, zone)
    next_day = call("timestamp_micros", call("try_add", call("unix_micros", reading), long(DAY)))
    later = call(
        "timestamp_micros",
        call("try_subtract", call("unix_micros", call("to_utc_timestamp", next_day, zone)), long(DAY)),
    )
    same = f"{call('from_utc_timestamp', later, zone)} = {reading}"
    return case((f"{same} AND {later} > {first}", later), otherwise=first)


def _typed(source: Source, schema: SourceSchema, column: str, kind: DataType) -> Sql:
    if source.kind is SourceFormat.CSV and column not in schema.partitions:
        return _cell(source, column, kind)
    if column in schema.partitions:
        return try_cast(name(column), kind)
    if column in schema.nanosecond_columns:
        # `div` truncates towards zero; before 1970 that would be the microsecond after.
        nanos = name(column)
        micros = f"({nanos} - pmod({nanos}, 1000L)) div 1000L"
        stamp = call("timestamp_micros", micros)
        return cast(stamp, kind) if isinstance(kind, TimestampNtz) else stamp
    return name(column)


def _cell(source: Source, column: str, kind: DataType) -> Sql:
    """Return a CSV cell as its declared type: NULL for the declared tokens, an error for what is no such value."""
    raw = name(column)
    empty = "" in source.null_tokens
    tokens = [render_string(token) for token in source.null_tokens if token]
    # An empty cell arrives as NULL, a quoted empty one as a mark of its own.
    text = case(
        (f"{raw} IS NULL", "CAST(NULL AS STRING)" if empty else "''"),
        (f"{raw} = {render_string(EMPTY_CELL)}", "''"),
        *([(f"{raw} IN ({', '.join(tokens)})", "CAST(NULL AS STRING)")] if tokens else []),
        otherwise=raw,
    )
    if isinstance(kind, String):
        return text
    value = _parsed(text, kind)
    shown = f"coalesce(concat('\"', {raw}, '\"'), 'nothing')"
    expected = f"{kind}{' without a zone' if isinstance(kind, TimestampNtz) else ''}"
    expected += " with a zone" if isinstance(kind, Timestamp) else ""
    message = call(
        "concat_ws",
        "char(10)",
        render_string(BAD_CELL),
        render_string(column),
        shown,
        render_string(expected),
        name(FILE_COLUMN),
        "''",
    )
    failed = cast(call("raise_error", message), kind)
    return case((f"({text}) IS NULL", cast("NULL", kind)), (f"({value}) IS NULL", failed), otherwise=value)


def _parsed(text: Sql, kind: DataType) -> Sql:
    match kind:
        case Timestamp():
            return case((f"({text}) RLIKE {_pattern(_ZONED)}", try_cast(text, kind)), otherwise=cast("NULL", kind))
        case TimestampNtz():
            return case((f"({text}) RLIKE {_pattern(_NAIVE)}", try_cast(text, kind)), otherwise=cast("NULL", kind))
        case Date():
            return case((f"({text}) RLIKE {_pattern(_DATE)}", try_cast(text, kind)), otherwise=cast("NULL", kind))
        case Boolean():
            lower = call("lower", call("trim", text))
            return case((f"{lower} IN ('true', 'false')", f"{lower} = 'true'"), otherwise="CAST(NULL AS BOOLEAN)")
        case Decimal():
            # A cast rounds; a cell of more digits than declared is not that value.
            wide = try_cast(text, Decimal(38, min(kind.scale + 8, 38 - (kind.precision - kind.scale))))
            return case((f"{wide} = {try_cast(text, kind)}", try_cast(text, kind)), otherwise=cast("NULL", kind))
        case _:
            return try_cast(text, kind)


def _pattern(text: str) -> Sql:
    return render_string(text)
