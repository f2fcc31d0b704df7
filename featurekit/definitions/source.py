"""Sources: where rows come from, when each happened, and when it could be known."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from pydantic import Field as Attribute
from pydantic import field_validator

from featurekit.clock import parse_instant, zone
from featurekit.definitions.base import (
    ColumnType,
    Definition,
    Micros,
    Name,
    Text,
    names_of_one_case,
    problem_here,
    refuse,
)
from featurekit.definitions.problem import Problem
from featurekit.errors import FeaturekitError
from featurekit.types import Field as SchemaField
from featurekit.types import Schema
from featurekit.urls import shown_path, shown_text


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
    path: Text | None = None
    table: Text | None = None
    sql: Text | None = None
    format: SourceFormat | None = None
    columns: dict[Text, ColumnType] | None = Attribute(default=None, min_length=1)
    null_tokens: tuple[str, ...] = Attribute(default=(), strict=False)
    event_timestamp: Text
    created_timestamp: Text | None = None
    event_id: Text | None = None
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
    def shown_origin(self) -> str:
        """Where the rows come from, as it may be stored and shown: a URL's user and query are in none of it."""
        if self.path is not None:
            return shown_path(self.path)
        return self.table or shown_text(str(self.sql))

    @property
    def declared_schema(self) -> Schema | None:
        if self.columns is None:
            return None
        return Schema(tuple(SchemaField(name, kind) for name, kind in self.columns.items()))

    @field_validator("format", mode="before")
    @classmethod
    def _format_by_name(cls, value: Any) -> Any:
        if isinstance(value, str) and value not in tuple(SourceFormat):
            why = "it tells the files of a path apart"
            refuse([problem_here(f"{value!r} is not a format", why=why, try_="parquet or csv")])
        return SourceFormat(value) if isinstance(value, str) else value

    def problems(self) -> Iterator[Problem]:
        yield from _where_from(self)
        yield from _times(self)


def _where_from(source: Source) -> Iterator[Problem]:
    given = [name for name in ("path", "table", "sql") if getattr(source, name) is not None]
    if not given:
        yield problem_here(
            "path, table or sql is missing", why="one of them says where the rows come from", try_="add one"
        )
        return
    if len(given) > 1:
        what = f"it has {' and '.join(given)}"
        yield problem_here(
            what, why="a source is one of path, table or sql", try_="keep one", path=(given[1],), at_name=True
        )
        return
    kind = source.kind
    if source.format is not None and (given == ["path"]) != (source.format in (SourceFormat.PARQUET, SourceFormat.CSV)):
        why = "format tells the files of a path apart: parquet or csv"
        what = f"{source.format} is not the format of a source by {given[0]}"
        yield problem_here(what, why=why, try_="remove format", path=("format",))
        return
    if kind is not SourceFormat.PARQUET and source.columns is None:
        yield problem_here(
            f"{'a CSV source' if kind is SourceFormat.CSV else f'a source by {kind}'} declares no columns",
            why="their types can't be read without Spark, and are never guessed",
            try_="columns: {name: type, …}",
            path=(given[0],),
        )
    if source.null_tokens and kind is not SourceFormat.CSV:
        why = "only CSV has cells that stand for null; elsewhere null is null"
        yield problem_here(f"null_tokens on a source by {kind}", why=why, try_="remove it", path=("null_tokens",))
    yield from names_of_one_case(list(source.columns or ()), "columns", ("columns",))


def _times(source: Source) -> Iterator[Problem]:
    if source.event_id is not None and source.created_timestamp is None:
        yield problem_here(
            "event_id needs a created_timestamp",
            why="rows that share it are versions of one event; the newest is told by when it was created",
            try_="add created_timestamp, or remove event_id",
            path=("event_id",),
        )
    if (source.known_from is None) != (source.assumed_lag is None):
        given, missing = ("known_from", "assumed_lag") if source.assumed_lag is None else ("assumed_lag", "known_from")
        why = "rows created before known_from count as known assumed_lag after they happened: each needs the other"
        yield problem_here(f"{given} without {missing}", why=why, try_=f"add {missing}", path=(given,))
    elif source.known_from is not None and source.created_timestamp is None:
        why = "without a created timestamp no row says when it became known, before or after known_from"
        try_ = "add created_timestamp, or remove known_from and assumed_lag"
        yield problem_here("known_from needs a created_timestamp", why=why, try_=try_, path=("known_from",))
    for name, check in (("timezone", zone), ("known_from", parse_instant)):
        value = getattr(source, name)
        try:
            if value is not None:
                check(value)
        except FeaturekitError as error:
            yield problem_here(error.what, why=error.why, try_=error.try_, path=(name,))
