"""Label rows: entity keys, a timestamp, request values and whatever else, from a Parquet or CSV file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from featurekit.compiled import CompiledService
from featurekit.definitions.problem import did_you_mean
from featurekit.definitions.source import Source, SourceFormat
from featurekit.errors import KeyTypeError, SourceError
from featurekit.offline.engine import BatchEngine
from featurekit.offline.source_columns import cell_text, chosen_instant, reading_candidates, typed_column
from featurekit.offline.sql import Query, Select, Sql, name, render_query
from featurekit.source_files import csv_header, source_files
from featurekit.source_schema import SourceSchema, check_source, read_source_schema
from featurekit.types import (
    INTEGER_BITS,
    DataType,
    Field,
    Float32,
    Float64,
    String,
    Timestamp,
    TimestampNtz,
    is_float,
    is_integer,
)
from featurekit.urls import shown_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

RAW_LABELS: Final = "featurekit_label_file"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSpec:
    """A file of label rows; `timezone` is the zone of its timestamps where they have none.

    A CSV file binds by its header: keys and request values have the service's types, other columns those of `columns`,
    or text. `null_tokens` are what stands for a missing value there.
    """

    path: str
    timestamp: str = "event_timestamp"
    timezone: str | None = None
    format: SourceFormat | None = None
    columns: Mapping[str, DataType] = field(default_factory=dict)
    null_tokens: tuple[str, ...] = ("",)


def read_labels(engine: BatchEngine, service: CompiledService, spec: LabelSpec) -> DataFrame:
    """Return a file's rows: keys, timestamp and request values in the service's types, all else as it is.

    Raises SourceError for a file that can't be read or lacks a column, KeyTypeError for one of another type.
    """
    source, schema = _checked(service, spec, engine.root)
    steps = Query(steps=())
    read = RAW_LABELS
    if source.origin is SourceFormat.CSV:
        frame = engine.read_csv(spec.path, schema.header)
        cells = tuple((label, cell_text(source, label)) for label in schema.header)
        steps, read = steps.then("cells", Select(columns=(*cells, ("$file", name("$file"))), source=read)), "cells"
    else:
        frame = engine.read_parquet(spec.path)
    names = schema.header or tuple(column.name for column in frame.schema.fields)
    columns = tuple((label, _column(service, spec, source, schema, label)) for label in names)
    return engine.query(render_query(steps.then("labels", Select(columns=columns, source=read))), {RAW_LABELS: frame})


def check_label_file(service: CompiledService, spec: LabelSpec, root: Path) -> None:
    """Raise where a file's columns are not those of label rows: by its footer or header, so no engine is needed."""
    source, schema = _checked(service, spec, root)
    fields = []
    for column in schema.schema.fields:
        is_read = column.name == spec.timestamp or column.name in service.request
        is_reading = isinstance(column.type, TimestampNtz) and source.timezone is not None
        fields.append(Field(column.name, Timestamp()) if is_read and is_reading else column)
    check_labels(service, tuple(fields), spec.timestamp)


def _checked(service: CompiledService, spec: LabelSpec, root: Path) -> tuple[Source, SourceSchema]:
    source = _source(service, spec, root)
    schema = read_source_schema(source, root)
    _check_columns(service, spec, schema)
    for problem in check_source(source, schema):
        raise SourceError(problem.what, where=shown_path(spec.path), why=problem.why, try_=problem.try_)
    return source, schema


def _source(service: CompiledService, spec: LabelSpec, root: Path) -> Source:
    if spec.format not in (None, SourceFormat.CSV, SourceFormat.PARQUET):
        why = "label rows are a file, or a folder of files"
        raise SourceError(f"labels are not read as {spec.format}", why=why, try_="parquet or csv")
    is_csv = spec.format is SourceFormat.CSV or (spec.format is None and spec.path.endswith((".csv", ".csv.gz")))
    columns: dict[str, DataType] | None = None
    if is_csv:
        from_service = {column.name: column.type for column in (*service.keys.fields, *service.request.fields)}
        at: DataType = Timestamp() if spec.timezone is None else TimestampNtz()
        known = {**spec.columns, **from_service, spec.timestamp: at}
        columns = {label: known.get(label, String()) for label in csv_header(source_files(spec.path, root)[0].path)}
    return Source(
        name="labels",
        path=spec.path,
        format=SourceFormat.CSV if is_csv else SourceFormat.PARQUET,
        columns=columns,
        null_tokens=spec.null_tokens if is_csv else (),
        event_timestamp=spec.timestamp,
        timezone=spec.timezone,
    )


def _check_columns(service: CompiledService, spec: LabelSpec, schema: SourceSchema) -> None:
    present = (*schema.schema.names, *schema.unsupported)
    needed = (*service.keys.names, spec.timestamp, *service.request.names)
    for label in needed:
        if label not in present:
            raise _missing(label, service, present, shown_path(spec.path))


def _column(service: CompiledService, spec: LabelSpec, source: Source, schema: SourceSchema, label: str) -> Sql:
    found = schema.schema.get(label)
    if found is None:
        return name(label)
    needed = label == spec.timestamp or label in service.request
    if isinstance(found.type, TimestampNtz) and (not needed or source.timezone is None):
        return typed_column(source.model_copy(update={"timezone": None}), schema, label)
    typed = typed_column(source, schema, label)
    if not isinstance(found.type, TimestampNtz) or source.timezone is None:
        return typed
    first, later = reading_candidates(typed, source.timezone)
    return chosen_instant(typed, first, later, source.timezone)


def _missing(label: str, service: CompiledService, present: tuple[str, ...], where: str | None) -> SourceError:
    roles = {
        **dict.fromkeys(service.keys.names, "a join key"),
        **dict.fromkeys(service.request.names, "a request value"),
    }
    return SourceError(
        f"the labels have no column {label}",
        where=where,
        why=f"service {service.name} needs it: it is {roles.get(label, 'the timestamp')}",
        try_=did_you_mean(label, present),
    )


def check_labels(service: CompiledService, columns: tuple[Field, ...], timestamp: str) -> None:
    """Raise where a frame's columns are not those of label rows for a service: missing, of another type, clashing."""
    found = {column.name: column.type for column in columns}
    needed = (*service.keys.names, timestamp, *service.request.names)
    for label in needed:
        if label not in found:
            raise _missing(label, service, tuple(found), None)
    _check_names(service, tuple(column.name for column in columns))
    if not isinstance(found[timestamp], Timestamp):
        naive = isinstance(found[timestamp], TimestampNtz)
        raise SourceError(
            f"the labels' timestamp {timestamp} is {found[timestamp]}",
            why="a time without a zone is a different instant everywhere"
            if naive
            else "it says when each row was asked",
            try_="name its zone, such as UTC or America/New_York" if naive else "write it as a timestamp with a zone",
        )
    for key in service.keys.fields:
        if found[key.name] != key.type and not (is_integer(key.type) and is_integer(found[key.name])):
            raise _wrong_type(key, found[key.name], "join key")
    for value in service.request.fields:
        if not _is_exact(found[value.name], value.type):
            raise _wrong_type(value, found[value.name], "request value")


def _check_names(service: CompiledService, labels: tuple[str, ...]) -> None:
    """Raise where a training set of these labels would have two columns of one name, as Spark tells names apart."""
    outputs = {output.name.lower(): output.name for output in service.outputs}
    seen: dict[str, str] = {}
    for label in labels:
        output, other = outputs.get(label.lower()), seen.get(label.lower())
        if output is not None or label.startswith("$"):
            raise SourceError(
                f"the labels have a column {label}, which is a name of ours",
                why="the training set would have two columns of that name"
                if output in (label, None)
                else f"the training set has {output}, and Spark does not tell upper and lower case apart",
                try_="rename it in the labels",
            )
        if other is not None:
            raise SourceError(
                f"the labels' columns {other} and {label} differ in case only"
                if other != label
                else f"the labels have a column {label} twice",
                why="Spark does not tell upper and lower case in column names apart",
                try_="rename one of them",
            )
        seen[label.lower()] = label


def _is_exact(found: DataType, wanted: DataType) -> bool:
    """Return whether each value of a column is one of the wanted type."""
    if found == wanted:
        return True
    if is_integer(found) and is_integer(wanted):
        return INTEGER_BITS[found] <= INTEGER_BITS[wanted]
    if isinstance(wanted, Float64):
        return isinstance(found, Float32) or (is_integer(found) and INTEGER_BITS[found] <= 32)
    return is_float(wanted) and is_integer(found) and INTEGER_BITS[found] <= 16


def _wrong_type(wanted: Field, found: DataType, role: str) -> KeyTypeError:
    return KeyTypeError(
        f"the labels' {role} {wanted.name} is {found}, not {wanted.type}",
        why="a value of another type is another value, or none",
        try_=f"write the column as {wanted.type}",
    )
