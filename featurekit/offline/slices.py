"""Conditions on a source's raw time columns, for readers that can skip what lies outside (Parquet's row groups)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from featurekit.clock import DAY, MILLISECOND, Instant
from featurekit.compiled import CompiledView
from featurekit.definitions.source import SourceFormat
from featurekit.offline.date_columns import date_bounds
from featurekit.offline.source_columns import typed_column
from featurekit.offline.sql import Sql, cast, instant, long, name
from featurekit.source_schema import date_times
from featurekit.targets.spark import render_string
from featurekit.types import DataType, Timestamp, TimestampNtz, is_integer

# Beyond the years 1 to 9999 a literal is no constant that Spark hands down; nanoseconds end with 1678 and 2262.
_READABLE: Final = (-62_135_596_800_000_000, 253_402_300_800_000_000 - DAY)
_NANOSECONDS: Final = (-(1 << 63) // 1000 + 1, (1 << 63) // 1000)


def raw_slice(view: CompiledView, column: str, low: Instant | None, high: Instant) -> Sql | None:
    """Return a condition on a raw time column that no row in [low, high) fails; None where there is none to hand down.

    `low` is None where there is no lower bound. A clock's reading is less than a day away from its instant. Bounds are
    whole milliseconds: see `sql.before`.
    """
    source, schema = view.source, view.source_schema
    field = schema.schema.get(column)
    if column in date_times(source, schema) and source.origin is not SourceFormat.CSV:
        dates = date_bounds(typed_column(source, schema, column), low, high, str(source.timezone))
        return f"({' AND '.join(dates)})" if dates else None
    if source.origin is SourceFormat.CSV or column in schema.partitions or field is None:
        return None
    naive = column in schema.naive
    slack = DAY if naive else 0
    high = -(-(high + slack) // MILLISECOND) * MILLISECOND
    first, last = _NANOSECONDS if column in schema.nanosecond_columns else _READABLE
    low = first if low is None else (low - slack) // MILLISECOND * MILLISECOND
    if low < first or high > last:
        return None
    if column in schema.nanosecond_columns:
        return f"({name(column)} >= {long(low * 1000)} AND {name(column)} < {long(high * 1000)})"
    if field.type not in (Timestamp(), TimestampNtz()):
        return None
    kind: DataType = TimestampNtz() if naive else Timestamp()
    return f"({name(column)} >= {cast(instant(low), kind)} AND {name(column)} < {cast(instant(high), kind)})"


def id_slice(view: CompiledView, low: object, high: object) -> Sql | None:
    """Return a condition on the raw event id that no row with an id in [low, high] fails; None where there is none.

    Ids that are given out in order lie side by side in the files; others are read all.
    """
    source, schema = view.source, view.source_schema
    column = source.event_id
    if column is None or source.origin is SourceFormat.CSV or column in schema.partitions:
        return None
    field = schema.schema.get(column)
    if isinstance(low, int) and isinstance(high, int) and field is not None and is_integer(field.type):
        first, last = (cast(long(bound), field.type) for bound in (low, high))
    elif isinstance(low, str) and isinstance(high, str):
        first, last = render_string(low), render_string(high)
    else:
        return None
    return f"({name(column)} >= {first} AND {name(column)} <= {last})"


def any_of(slices: Iterable[Sql | None]) -> tuple[Sql, ...]:
    """Return the condition that one of the slices holds, as a WHERE takes it: none where one of them is unknown."""
    found = list(slices)
    known = [each for each in found if each is not None]
    return () if len(known) < len(found) or not known else (f"({' OR '.join(known)})",)
