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
# Spark wants seconds before a zone.
_NO_SECONDS: Final = r"^[ ]*([0-9]{4}-[0-9]{1,2}-[0-9]{1,2}[ T][0-9]{1,2}:[0-9]{1,2})([^:0-9].*)?$"
_DATE: Final = r"^[ ]*[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}[ ]*$"


def typed_column(source: Source, schema: SourceSchema, column: str) -> Sql:
    """Return a column over the source's raw rows: in its type, floats canonical, readings of a clock as timestamps.

    A CSV column is read over `cell_text`.
    """
    field = schema.schema.get(column)
    assert field is not None, f"the compiler lets no unknown column through: {column}"
    typed = _typed(source, schema, column, field.type)
    # The session's zone is UTC, so a reading cast to a timestamp keeps its digits.
    return cast(typed, Timestamp()) if is_reading(source, schema, column) else canonical(typed, field.type)


def is_reading(source: Source, schema: SourceSchema, column: str) -> bool:
    """Return whether a column holds readings of the source's clock, which have yet to become instants."""
    return column in schema.naive and source.timezone is not None


def reading_candidates(reading: Sql, timezone: str) -> tuple[Sql, Sql]:
    """Return the two instants that a reading may mean: by the offset before it, and by that of the next day.

    Spark reads a time that occurs twice as the first of the two, and moves one that does not exist forward. The later
    of two has the offset after the change, which is the next day's.
    """
    zone = render_string(timezone)
    next_day = call("timestamp_micros", call("try_add", call("unix_micros", reading), long(DAY)))
    shifted = call("unix_micros", call("to_utc_timestamp", next_day, zone))
    later = call("timestamp_micros", call("try_subtract", shifted, long(DAY)))
    return call("to_utc_timestamp", reading, zone), later


def chosen_instant(reading: Sql, first: Sql, later: Sql, timezone: str) -> Sql:
    """Return the instant of a reading, as `clock.local_to_instant` does: the later one where a clock shows the same."""
    shown = call("from_utc_timestamp", later, render_string(timezone))
    return case((f"{shown} = {reading} AND {later} > {first}", later), otherwise=first)


def created_sql(source: Source, event: Sql, created: Sql | None) -> Sql:
    """Return when a row could be known: its created timestamp, or what the source declares in its place.

    Without a created timestamp a row is known when it happens. Rows of history that was loaded in bulk, created before
    `known_from`, are known `assumed_lag` after they happened.
    """
    if created is None:
        return event
    if source.known_from is None or source.assumed_lag is None:
        return created
    lagged = call("timestamp_micros", call("try_add", call("unix_micros", event), long(source.assumed_lag)))
    return case((f"{created} < {instant(parse_instant(source.known_from))}", lagged), otherwise=created)


def _typed(source: Source, schema: SourceSchema, column: str, kind: DataType) -> Sql:
    if source.origin is SourceFormat.CSV and column not in schema.partitions:
        return _cell(column, kind)
    if column in schema.partitions:
        return try_cast(name(column), kind)
    if column in schema.nanosecond_columns:
        # `div` truncates towards zero; before 1970 that would be the microsecond after.
        nanos = name(column)
        micros = f"({nanos} - pmod({nanos}, 1000L)) div 1000L"
        stamp = call("timestamp_micros", micros)
        return cast(stamp, kind) if isinstance(kind, TimestampNtz) else stamp
    return name(column)


def cell_text(source: Source, column: str) -> Sql:
    """Return a CSV cell's text, NULL where it is one of the declared tokens."""
    raw = name(column)
    tokens = [render_string(token) for token in source.null_tokens if token]
    # An empty cell arrives as NULL, a quoted empty one as a mark of its own: that one is always text.
    return case(
        (f"{raw} IS NULL", "CAST(NULL AS STRING)" if "" in source.null_tokens else "''"),
        (f"{raw} = {render_string(EMPTY_CELL)}", "''"),
        *([(f"{raw} IN ({', '.join(tokens)})", "CAST(NULL AS STRING)")] if tokens else []),
        otherwise=raw,
    )


def _cell(column: str, kind: DataType) -> Sql:
    """Return a CSV cell as its declared type; an error for what is no such value."""
    text = name(column)
    if isinstance(kind, String):
        return text
    value = _parsed(text, kind)
    zones: dict[DataType, str] = {TimestampNtz(): " without a zone", Timestamp(): " with a zone"}
    shown = call("concat", render_string('"'), text, render_string('"'))
    parts = (render_string(BAD_CELL), render_string(column), shown, render_string(f"{kind}{zones.get(kind, '')}"))
    failed = cast(call("raise_error", call("concat_ws", "char(10)", *parts, name(FILE_COLUMN), "''")), kind)
    return case((f"{text} IS NULL", cast("NULL", kind)), (f"{value} IS NULL", failed), otherwise=value)


def _parsed(text: Sql, kind: DataType) -> Sql:
    match kind:
        case Timestamp() | TimestampNtz():
            pattern = _ZONED if isinstance(kind, Timestamp) else _NAIVE
            whole = call("regexp_replace", text, _pattern(_NO_SECONDS), render_string("$1:00$2"))
            return case((f"{text} RLIKE {_pattern(pattern)}", try_cast(whole, kind)), otherwise=cast("NULL", kind))
        case Date():
            return case((f"{text} RLIKE {_pattern(_DATE)}", try_cast(text, kind)), otherwise=cast("NULL", kind))
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
