"""A Parquet file's columns as Spark sees them, from its footer: no rows are read and no Spark is started."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from featurekit.arrow_types import from_arrow
from featurekit.clock import DAY
from featurekit.errors import InputError, SourceError
from featurekit.types import DataType, Null, Timestamp, TimestampNtz, holds


class TimeUnit(StrEnum):
    """How a timestamp column is stored."""

    MILLIS = "milliseconds"
    MICROS = "microseconds"
    NANOS = "nanoseconds"
    INT96 = "int96"


@dataclass(frozen=True, slots=True)
class FooterColumn:
    """A top-level column: its type, or why there is none; and the unit of a timestamp."""

    name: str
    type: DataType | None
    refusal: str | None = None
    unit: TimeUnit | None = None


def read_footer(path: Path) -> tuple[FooterColumn, ...]:
    """Return the columns that a Parquet file's footer declares; SourceError where it is no Parquet or cut short."""
    try:
        metadata = pq.read_metadata(path)
        arrow = metadata.schema.to_arrow_schema()
    except (pa.ArrowException, OSError) as error:
        raise SourceError(
            "the file is not Parquet, or was cut short",
            where=str(path),
            why=f"its footer can't be read: {str(error).strip().splitlines()[0]}",
            try_="write it again; a source of another kind says so with format:",
        ) from error
    columns = []
    leaf = 0
    for field in arrow:
        leaves = [metadata.schema.column(at) for at in range(leaf, leaf + _leaves(field.type))]
        columns.append(_nested(field, leaves) if pa.types.is_nested(field.type) else _column(field, leaves[0]))
        leaf += len(leaves)
    return tuple(columns)


def null_counts(path: Path, names: Sequence[str]) -> tuple[int, ...] | None:
    """Return how many nulls a file has in each column, from its footer; None where that does not say it for all."""
    try:
        metadata = pq.read_metadata(path)
    except (pa.ArrowException, OSError):
        return None
    columns = [metadata.schema.column(at).path for at in range(metadata.num_columns)]
    if any(columns.count(name) != 1 for name in names):
        return None
    groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
    counts = []
    for at in map(columns.index, names):
        found = [group.column(at).statistics for group in groups if group.num_rows]
        if not all(statistics is not None and statistics.has_null_count for statistics in found):
            return None
        counts.append(sum(statistics.null_count for statistics in found))
    return tuple(counts)


def time_range(path: Path, column: str) -> tuple[int, int] | None:
    """Return the least and the greatest time in a column, in microseconds, from the file's footer; None if unsaid.

    A time without a zone is a clock's reading, a date its midnight.
    """
    try:
        metadata = pq.read_metadata(path)
    except (pa.ArrowException, OSError):
        return None
    names = [metadata.schema.column(at).path for at in range(metadata.num_columns)]
    if names.count(column) != 1:
        return None
    at = names.index(column)
    leaf = metadata.schema.column(at)
    kind = json.loads(leaf.logical_type.to_json())
    units = {"milliseconds": (1_000, 1), "microseconds": (1, 1), "nanoseconds": (1, 1_000)}
    factor, divisor = (DAY, 1) if kind["Type"] == "Date" else units.get(kind.get("timeUnit", ""), (0, 1))
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    found = [group.column(at).statistics for group in groups if group.num_rows]
    if not factor or not all(part is not None and (part.has_min_max or not part.num_values) for part in found):
        return None
    bounds = [(int(part.min_raw), int(part.max_raw)) for part in found if part.has_min_max]
    if not bounds:
        return None
    low, high = min(low for low, _ in bounds), max(high for _, high in bounds)
    return low * factor // divisor, high * factor // divisor


def row_count(path: Path) -> int | None:
    """Return how many rows a file's footer says it has; None where it can't be read."""
    try:
        return int(pq.read_metadata(path).num_rows)
    except (pa.ArrowException, OSError):
        return None


def _leaves(arrow: pa.DataType) -> int:
    """Return how many Parquet columns hold a field."""
    if not pa.types.is_nested(arrow):
        return 1
    return sum(_leaves(arrow.field(at).type) for at in range(arrow.num_fields))


def _nested(field: pa.Field, leaves: Sequence[pq.ColumnSchema]) -> FooterColumn:
    for leaf in leaves:
        unit, zoned = _clock(leaf)
        if unit in (TimeUnit.NANOS, TimeUnit.INT96) or not zoned:
            held = f"timestamps in {unit}" if zoned else "timestamps without a zone"
            why = f"it holds {held}, and those are only read where they are a column of their own"
            return FooterColumn(field.name, None, refusal=why)
    try:
        kind = from_arrow(field.type)
    except InputError as error:
        return FooterColumn(field.name, None, refusal=f"{field.type}: {error.why}")
    if holds(kind, Null):
        return FooterColumn(field.name, None, refusal="the file has no type for a part of it: all its values were null")
    return FooterColumn(field.name, kind)


def _clock(leaf: pq.ColumnSchema) -> tuple[TimeUnit | None, bool]:
    """Return how timestamps are stored, None for other values, and whether they are instants."""
    if leaf.physical_type == "INT96":
        return TimeUnit.INT96, True
    logical = json.loads(leaf.logical_type.to_json())
    if logical["Type"] != "Timestamp":
        return None, True
    return TimeUnit(logical["timeUnit"]), logical["isAdjustedToUTC"]


def _column(field: pa.Field, leaf: pq.ColumnSchema) -> FooterColumn:
    # Spark goes by Parquet's own types, not by the Arrow schema that pyarrow stores beside them.
    unit, zoned = _clock(leaf)
    if unit is not None:
        return FooterColumn(field.name, Timestamp() if zoned else TimestampNtz(), unit=unit)
    try:
        kind = from_arrow(field.type)
    except InputError as error:
        return FooterColumn(field.name, None, refusal=f"{field.type}: {error.why}")
    if isinstance(kind, Null):
        return FooterColumn(field.name, None, refusal="the file has no type for it: all its values were null")
    return FooterColumn(field.name, kind)
