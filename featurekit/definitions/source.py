"""Sources: where rows come from, when each happened, and when it could be known."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field as Attribute

from featurekit.definitions.base import ColumnType, Definition, Micros, Name
from featurekit.types import Schema
from featurekit.types import Field as SchemaField


class SourceFormat(StrEnum):
    PARQUET = "parquet"
    CSV = "csv"
    TABLE = "table"
    SQL = "sql"


class Source(Definition):
    """Rows with an event timestamp: a Parquet or CSV path, a table by catalog name, or a Spark SQL query.

    Exactly one of `path`, `table` and `sql` is given. `columns` declares the types where no footer has them: it is
    needed for CSV, tables and SQL. `timezone` is the zone of timestamp columns that have none (and of no others).
    `created_timestamp` is when a row could be read; where history was loaded in bulk, rows created before
    `known_from` count as known `assumed_lag` after they happened (DESIGN T2).
    """

    name: Name
    path: str | None = None
    table: str | None = None
    sql: str | None = None
    format: SourceFormat | None = None
    columns: dict[str, ColumnType] | None = None
    null_tokens: tuple[str, ...] = Attribute(default=(), strict=False)
    event_timestamp: str
    created_timestamp: str | None = None
    event_id: str | None = None
    timezone: str | None = None
    known_from: str | None = None
    assumed_lag: Micros | None = None
    owner: str | None = None
    description: str | None = None

    @property
    def kind(self) -> SourceFormat:
        if self.table is not None:
            return SourceFormat.TABLE
        if self.sql is not None:
            return SourceFormat.SQL
        if self.format is not None:
            return self.format
        return SourceFormat.CSV if str(self.path).endswith((".csv", ".csv.gz")) else SourceFormat.PARQUET

    @property
    def declared_schema(self) -> Schema | None:
        if self.columns is None:
            return None
        return Schema(tuple(SchemaField(name, kind) for name, kind in self.columns.items()))
