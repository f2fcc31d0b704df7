"""What columns a source has, without starting Spark: Parquet footers, CSV headers, declared columns elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from featurekit.definitions.problem import Problem, did_you_mean
from featurekit.definitions.source import Source, SourceFormat
from featurekit.errors import SourceError
from featurekit.parquet_footer import FooterColumn, TimeUnit, read_footer
from featurekit.partition_check import NULL_PARTITION, check_partitions, partition_problems
from featurekit.source_files import SourceFile, csv_header, is_remote, source_files
from featurekit.types import (
    DataType,
    Date,
    Field,
    Int32,
    Int64,
    Schema,
    String,
    Timestamp,
    TimestampNtz,
    integer_range,
    is_nested,
)

_WHOLE_NUMBER: Final = re.compile(r"0|-?[1-9][0-9]{0,18}")


@dataclass(frozen=True, slots=True)
class SourceSchema:
    """The columns of a source, as they are read.

    `schema` has the columns that features can use, types as Spark reads them; every column can be null, as Spark takes
    all files' columns. A reader passes these types to Spark: it would guess other ones for `partitions`.
    `naive` columns have no zone (timestamp_ntz), `zoned` ones are instants.
    """

    schema: Schema
    nanosecond_columns: tuple[str, ...] = ()
    """Timestamps of Parquet that Spark refuses, unless they are read as bigint."""
    zoned: frozenset[str] = frozenset()
    naive: frozenset[str] = frozenset()
    unsupported: Mapping[str, str] = field(default_factory=dict)
    """Columns that are there and can't be used, with the reason."""
    partitions: tuple[str, ...] = ()
    """Columns whose values are in the names of folders, `day=2013-01-01`."""
    header: tuple[str, ...] = ()
    """All columns of a CSV file in order; each file has them in this order."""


def read_source_schema(source: Source, base: Path) -> SourceSchema:
    """Return the source's columns; a relative path is relative to `base`. SourceError where it can't be read."""
    if source.path is None or source.lakehouse or is_remote(source.path):
        return _schema_of(_declared(source))
    files = source_files(source.path, base)
    match source.origin:
        case SourceFormat.CSV:
            return _csv_schema(source, files)
        case _:
            return _parquet_schema(source, files)


def _schema_of(fields: Iterable[Field]) -> SourceSchema:
    columns = tuple(fields)
    return SourceSchema(
        schema=Schema(columns),
        zoned=frozenset(column.name for column in columns if isinstance(column.type, Timestamp)),
        naive=frozenset(column.name for column in columns if isinstance(column.type, TimestampNtz)),
    )


def _declared(source: Source) -> tuple[Field, ...]:
    if source.declared_schema is None:
        raise SourceError(
            f"the source {source.name} declares no columns",
            where=source.shown_origin,
            why="their types can't be read without Spark, and are never guessed",
            try_="columns: {name: type, …}",
        )
    return source.declared_schema.fields


def _csv_schema(source: Source, files: tuple[SourceFile, ...]) -> SourceSchema:
    declared = _declared(source)
    header = csv_header(files[0].path)
    for file in files[1:]:
        if (other := csv_header(file.path)) != header:
            where = f"{file.path}:1"
            why = f"{files[0].path} has {', '.join(header)}; here it is {', '.join(other)}"
            try_ = "write them alike, or make two sources of them"
            raise SourceError("two CSV files of the source have different headers", where=where, why=why, try_=try_)
    partitions = tuple(name for name, _ in files[0].partitions)
    for column in declared:
        if column.name not in (*header, *partitions):
            raise SourceError(
                f"the header has no column {column.name}",
                where=f"{files[0].path}:1",
                why=f"the source {source.name} declares it, and CSV columns are found by name",
                try_=did_you_mean(column.name, header),
            )
    found = _schema_of(declared)
    check_partitions(source, files, found.naive)
    return SourceSchema(schema=found.schema, zoned=found.zoned, naive=found.naive, partitions=partitions, header=header)


def _parquet_schema(source: Source, files: tuple[SourceFile, ...]) -> SourceSchema:
    footer = read_footer(files[0].path)
    for file in files[1:]:
        if difference := _difference(footer, read_footer(file.path)):
            why = f"against {files[0].path}, {difference}; Spark would read all files by the columns of one"
            try_ = "write them alike, or make two sources of them"
            raise SourceError(
                "two files of the source have different columns", where=str(file.path), why=why, try_=try_
            )
    partitions = _partition_columns(source, files)
    columns = (*footer, *partitions)
    _refuse_repeated([column.name for column in columns], files[0])
    found = _schema_of(Field(column.name, column.type) for column in columns if column.type is not None)
    _refuse_other_declarations(source, found.schema, files[0])
    check_partitions(source, files, found.naive)
    return SourceSchema(
        schema=found.schema,
        nanosecond_columns=tuple(column.name for column in footer if column.unit is TimeUnit.NANOS),
        zoned=found.zoned,
        naive=found.naive,
        unsupported={column.name: column.refusal for column in columns if column.refusal is not None},
        partitions=tuple(column.name for column in partitions),
    )


def _difference(one: tuple[FooterColumn, ...], other: tuple[FooterColumn, ...]) -> str | None:
    """Return how two footers differ in names or types; their order may, as columns are found by name."""
    first, second = ({column.name: column for column in footer} for footer in (one, other))
    for name in sorted(first.keys() | second.keys()):
        if name not in second:
            return f"{name} is missing"
        if name not in first:
            return f"{name} is new"
        if first[name] != second[name]:
            return f"{name} is {_described(second[name])} and not {_described(first[name])}"
    return None


def _described(column: FooterColumn) -> str:
    if column.type is None:
        return column.refusal or "unsupported"
    return f"{column.type} in {column.unit}" if column.unit else str(column.type)


def _refuse_repeated(names: list[str], file: SourceFile) -> None:
    seen: dict[str, str] = {}
    for name in names:
        if earlier := seen.get(name.lower()):
            what = (
                f"the columns {earlier} and {name} differ in case only" if earlier != name else f"{name} is there twice"
            )
            why = "Spark does not tell upper and lower case in column names apart"
            raise SourceError(what, where=str(file.path), why=why, try_="rename one where the file is written")
        seen[name.lower()] = name


def _refuse_other_declarations(source: Source, schema: Schema, file: SourceFile) -> None:
    for name, kind in (source.columns or {}).items():
        column = schema.get(name)
        if column is None:
            what, try_ = f"the file has no column {name}", did_you_mean(name, schema.names)
        elif column.type != kind:
            what, try_ = (
                f"{name} is {column.type} in the file",
                f"columns: {{{name}: {column.type}}}, or CAST it in sql:",
            )
        else:
            continue
        why = f"the source {source.name} declares it as {kind}"
        raise SourceError(what, where=str(file.path), why=why, try_=try_)


def _partition_columns(source: Source, files: tuple[SourceFile, ...]) -> tuple[FooterColumn, ...]:
    names = [name for name, _ in files[0].partitions]
    columns = []
    for at, name in enumerate(names):
        declared = (source.columns or {}).get(name)
        values = {file.partitions[at][1] for file in files} - {NULL_PARTITION}
        kind = declared or _partition_type(values)
        refusal = (
            None if kind else f"it is a partition; declare its type under columns: ({min(values)!r} may be several)"
        )
        columns.append(FooterColumn(name, kind, refusal))
    return tuple(columns)


def _partition_type(values: set[str]) -> DataType | None:
    """Return the type that folder names show beyond doubt: whole numbers, or text that looks like nothing else."""
    if values and all(_WHOLE_NUMBER.fullmatch(value) for value in values):
        numbers = [int(value) for value in values]
        for kind in (Int32(), Int64()):
            low, high = integer_range(kind)
            if low <= min(numbers) and max(numbers) <= high:
                return kind
        return None
    # 01 may be 1, 2013-01-01 a date, 1.5 a float: Spark guesses, we don't.
    return None if not values or any(value[:1].isdigit() or value[:1] in "+-." for value in values) else String()


def check_source(source: Source, schema: SourceSchema) -> tuple[Problem, ...]:
    """Return what is wrong with the source's declaration, given the columns it has; under ("sources", name, …)."""
    return tuple(problem.under(("sources", source.name)) for problem in _source_problems(source, schema))


def _source_problems(source: Source, schema: SourceSchema) -> Iterator[Problem]:
    for field_name in ("event_timestamp", "created_timestamp", "valid_to"):
        column = getattr(source, field_name)
        if column is not None:
            yield from missing_column(column, schema, (field_name,)) or _timestamp_problems(
                source, column, field_name, schema
            )
    if source.event_id is not None:
        yield from missing_column(source.event_id, schema, ("event_id",))
    for at, column in enumerate(source.row_key or ()):
        path = ("row_key", at)
        yield from missing_column(column, schema, path) or _part_of_key_problems(source, column, schema, path)
    folders = None if source.path is None or is_remote(source.path) else schema.partitions
    yield from partition_problems(source, schema.schema, folders)
    if source.timezone is not None and not schema.naive and not date_times(source, schema):
        yield Problem(
            path=("timezone",),
            what=f"source {source.name}: no column is without a zone, so there is nothing to read in {source.timezone}",
            why="its timestamps are instants already; a zone would be ignored, or shift them",
            try_="remove timezone",
        )


def missing_column(name: str, schema: SourceSchema, path: tuple[str | int, ...]) -> tuple[Problem, ...]:
    """Return the problem of a column that is not there, or can't be used; none where it can."""
    if name in schema.schema:
        return ()
    if reason := schema.unsupported.get(name):
        try_ = "convert it where the rows are written, or in a sql: source"
        return (Problem(path=path, what=f"the column {name} can't be used", why=reason, try_=try_),)
    known = schema.schema.names
    why = "columns are found by their exact name"
    return (Problem(path=path, what=f"there is no column {name}", why=why, try_=did_you_mean(name, known)),)


def date_times(source: Source, schema: SourceSchema) -> frozenset[str]:
    """Return the source's time columns that are dates: each stands for the first instant of it in its `timezone`."""
    fields = {column: schema.schema.get(column) for column in source.time_columns}
    return frozenset(column for column, field in fields.items() if field and isinstance(field.type, Date))


def _part_of_key_problems(
    source: Source, name: str, schema: SourceSchema, path: tuple[str | int, ...]
) -> Iterator[Problem]:
    column = schema.schema.get(name)
    assert column is not None
    if is_nested(column.type):
        why = "the things of a source are told apart by plain values"
        yield Problem(path=path, what=f"{name} is {column.type}", why=why, try_="one of its parts, as a column in sql:")
    elif isinstance(column.type, TimestampNtz) and source.timezone is None:
        yield _without_zone(name, path)


def _without_zone(name: str, path: tuple[str | int, ...]) -> Problem:
    return Problem(
        path=path,
        what=f"{name} has no zone, and the source declares none",
        why="a time without a zone is a different instant everywhere",
        try_="timezone: UTC, or the zone of the clocks that wrote it, such as America/New_York",
    )


def _timestamp_problems(source: Source, name: str, field_name: str, schema: SourceSchema) -> Iterator[Problem]:
    column = schema.schema.get(name)
    kind = column.type if column else None
    if isinstance(kind, TimestampNtz) and source.timezone is None:
        yield _without_zone(name, (field_name,))
    elif isinstance(kind, Date) and source.timezone is None:
        yield Problem(
            path=(field_name,),
            what=f"{field_name} {name} is a date, and the source declares no zone",
            why="a date is taken for its first instant, which is another one in each zone",
            try_="timezone: UTC, or the zone whose days they are, such as America/New_York",
        )
    elif not isinstance(kind, Timestamp | TimestampNtz | Date):
        yield Problem(
            path=(field_name,),
            what=f"{field_name} {name} is {kind}",
            why="it must be a timestamp or a date: text or a number would be read differently by each reader",
            try_=f"declare a CAST in sql: (SELECT CAST({name} AS TIMESTAMP) AS {name}, …), or write one of these",
        )
