"""Sources: where rows come from, when each happened, and when it could be known."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, field_validator
from pydantic import Field as Attribute

from featurekit.clock import parse_instant, zone
from featurekit.definitions.base import (
    ColumnType,
    Definition,
    Micros,
    Name,
    Text,
    as_tuple,
    names_of_one_case,
    problem_here,
    refuse,
    same_but_for_case,
)
from featurekit.definitions.partition import Partition, PartitionOf
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
    DELTA = "delta"
    ICEBERG = "iceberg"


_FILES: Final = (SourceFormat.PARQUET, SourceFormat.CSV)
_LAKEHOUSE: Final = (SourceFormat.DELTA, SourceFormat.ICEBERG)


class SourceKind(StrEnum):
    """What a row says: that something happened, how one thing is from then on, or how all things are at one time."""

    EVENTS = "events"
    CHANGES = "changes"
    SNAPSHOTS = "snapshots"


class Source(Definition):
    """Rows with an event timestamp: a Parquet or CSV path, a table by catalog name, or a Spark SQL query.

    Exactly one of `path`, `table` and `sql` is given. `columns` declares the types where no footer has them: it is
    needed for CSV, tables and SQL. `timezone` is the zone of timestamp columns that have none, and of dates that are
    times. `created_timestamp` is when a row could be read; where history was loaded in bulk, rows created before
    `known_from` count as known `assumed_lag` after they happened (DESIGN T2).

    `format: delta` and `format: iceberg` are of a path or a table; `version` is the one to read, a Delta version or an
    Iceberg snapshot id, the newest where it is not given (it decides what is read, as a path does).
    `partition` says how its rows are parted by time (it decides what is read, and no value).

    Changes may declare `row_key`, the columns that name the thing a row is about (the view's key columns unless
    declared), `valid_to`, when what the row says ends, and `deleted`, a condition that is true where the thing is gone.
    """

    name: Name
    kind: SourceKind = SourceKind.EVENTS
    path: Text | None = None
    table: Text | None = None
    sql: Text | None = None
    format: SourceFormat | None = None
    version: int | None = None
    columns: dict[Text, ColumnType] | None = Attribute(default=None, min_length=1)
    null_tokens: tuple[str, ...] = Attribute(default=(), strict=False)
    event_timestamp: Text
    created_timestamp: Text | None = None
    event_id: Text | None = None
    row_key: Annotated[tuple[Text, ...] | None, BeforeValidator(as_tuple)] = Attribute(default=None, min_length=1)
    valid_to: Text | None = None
    deleted: Text | None = None
    timezone: str | None = None
    known_from: str | None = None
    assumed_lag: Micros | None = None
    partition: Partition | None = None
    owner: str | None = None
    description: str | None = None

    @property
    def origin(self) -> SourceFormat:
        if self.table is not None:
            return SourceFormat.TABLE
        if self.sql is not None:
            return SourceFormat.SQL
        if self.format is not None:
            return self.format
        return SourceFormat.CSV if str(self.path).endswith((".csv", ".csv.gz")) else SourceFormat.PARQUET

    @property
    def lakehouse(self) -> SourceFormat | None:
        """The table format, where the source is of one that keeps its versions."""
        return self.format if self.format in _LAKEHOUSE else None

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

    @property
    def is_state(self) -> bool:
        """Whether rows say how things are, so that a view's features are of all visible rows and of no window."""
        return self.kind is not SourceKind.EVENTS

    @property
    def time_columns(self) -> tuple[str, ...]:
        """The columns that say when: all that a `timezone` and a type have to be right for."""
        return tuple(part for part in (self.event_timestamp, self.created_timestamp, self.valid_to) if part is not None)

    @field_validator("kind", mode="before")
    @classmethod
    def _kind_by_name(cls, value: Any) -> Any:
        if isinstance(value, str) and value not in tuple(SourceKind):
            why = "it says what a row means: that something happened, how one thing is from then on, or how all are"
            refuse([problem_here(f"{value!r} is not a kind of source", why=why, try_="events, changes or snapshots")])
        return SourceKind(value) if isinstance(value, str) else value

    @field_validator("format", mode="before")
    @classmethod
    def _format_by_name(cls, value: Any) -> Any:
        if isinstance(value, str) and value not in tuple(SourceFormat):
            why = "it tells the files of a path apart"
            refuse([problem_here(f"{value!r} is not a format", why=why, try_="parquet, csv, delta or iceberg")])
        return SourceFormat(value) if isinstance(value, str) else value

    def problems(self) -> Iterator[Problem]:
        yield from _where_from(self)
        yield from _times(self)
        yield from _of_another_kind(self)
        yield from _parted(self)


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
    kind = source.origin
    if source.format is not None and given[0] not in _origins_of(source.format):
        why = "parquet and csv tell the files of a path apart; delta and iceberg are of a path or a table"
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
    if source.version is not None and source.lakehouse is None:
        why = "only these formats keep what a table was before"
        yield problem_here(
            "version without format: delta or iceberg", why=why, try_="remove it, or add the format", path=("version",)
        )
    if source.null_tokens and kind is not SourceFormat.CSV:
        why = "only CSV has cells that stand for null; elsewhere null is null"
        yield problem_here(f"null_tokens on a source by {kind}", why=why, try_="remove it", path=("null_tokens",))
    yield from names_of_one_case(list(source.columns or ()), "columns", ("columns",))


def _origins_of(form: SourceFormat) -> tuple[str, ...]:
    if form in _LAKEHOUSE:
        return ("path", "table")
    return ("path",) if form in _FILES else ()


def _of_another_kind(source: Source) -> Iterator[Problem]:
    """Yield what is declared and has no meaning for the source's kind."""
    whys = {
        SourceKind.EVENTS: "an event stays what happened; only changes say how a thing is until something else is said",
        SourceKind.CHANGES: "a row of the same row_key takes the place of the one before, so there are no versions",
        SourceKind.SNAPSHOTS: "a snapshot holds all things as they are, and the next one takes its place as a whole",
    }
    only_changes = {"row_key": source.row_key, "valid_to": source.valid_to, "deleted": source.deleted}
    others = {} if source.kind is SourceKind.CHANGES else dict(only_changes)
    if source.is_state:
        others["event_id"] = source.event_id
    for name, value in others.items():
        if value is not None:
            try_ = f"remove {name}" if name == "event_id" else f"kind: changes, or remove {name}"
            if name == "event_id" and source.kind is SourceKind.CHANGES:
                try_ = "row_key: [columns that name the thing], or remove event_id"
            yield problem_here(f"{name} on a source of {source.kind}", why=whys[source.kind], try_=try_, path=(name,))
    for at, earlier in same_but_for_case(source.row_key or ()):
        what = f"row_key names {earlier} twice"
        yield problem_here(what, why="a part of a key counts once", try_="remove one", path=("row_key", at))


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


def _parted(source: Source) -> Iterator[Problem]:
    if source.partition is None:
        return
    path = ("partition",)
    if source.sql is not None:
        why = "what a query reads is its own affair"
        yield problem_here("a query has no partitions", why=why, try_="a condition on them in sql:", path=path)
    if source.partition.of is not PartitionOf.CREATED:
        return
    if source.created_timestamp is None:
        why = "its rows lie by a time that the source does not declare"
        yield problem_here(
            "partition by a created_timestamp that is not there", why=why, try_="add created_timestamp", path=path
        )
