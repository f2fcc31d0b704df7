"""The files of the served-feature log, and of labels, as Arrow: a file at a time, so that memory follows the labels."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv
import pyarrow.parquet as pq

from featurekit.arrow_types import to_arrow
from featurekit.compiled import CompiledService
from featurekit.errors import InputError, KeyTypeError, SourceError
from featurekit.served_columns import METADATA, READ_FORMATS, REQUEST_ID
from featurekit.types import INTEGER_BITS, Field

_INSTANT: Final = pa.timestamp("us", tz="UTC")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFile:
    """A file of the log, as its metadata tell of it; `place` is the project/environment that served."""

    path: Path
    place: str
    service: str
    fingerprint: str
    rows: int
    schema: pa.Schema


def log_files(folder: Path, service: str) -> list[LogFile]:
    """Return the log's files of a service; InputError where there is none, or one that is no file of the log."""
    place = folder / service if (folder / service).is_dir() else folder
    paths = sorted(path for path in place.glob("*.parquet") if not path.name.startswith("."))
    files = [each for each in map(_log_file, paths) if each.service == service]
    if not files:
        raise InputError(
            f"there is no log of {service}",
            where=str(folder),
            why="it holds no file that the served-feature log wrote for this service",
            try_="the folder that the setting served_log.path names; what is served is in it after `rotate`",
        )
    return files


def _log_file(path: Path) -> LogFile:
    try:
        meta, schema = pq.read_metadata(path), pq.read_schema(path)
    except (OSError, pa.ArrowException) as error:
        raise SourceError("a file of the log can't be read", where=str(path), why=str(error)) from error
    text = (schema.metadata or {}).get(METADATA)
    told: Mapping[str, Any] = {} if text is None else json.loads(text)
    if told.get("format") not in READ_FORMATS:
        raise SourceError(
            "it is not a file of the served-feature log" if not told else f"it has format {told.get('format')!r}",
            where=str(path),
            why=f"this featurekit reads formats {' and '.join(map(str, READ_FORMATS))} of what the log writes",
            try_="name the log's own folder" if not told else "upgrade this featurekit",
        )
    return LogFile(
        path=path,
        place=f"{told['project']}/{told['environment']}",
        service=told["service"],
        fingerprint=told["fingerprint"],
        rows=meta.num_rows,
        schema=schema,
    )


def files_of(files: list[LogFile], environments: tuple[str, ...], where: str) -> list[LogFile]:
    """Return the files of the environments that are asked for, each `environment` or `project/environment`.

    Without any, the one environment that there is. InputError where one is not there, and where several would be mixed
    that nobody asked for.
    """
    places = rows_by_place(files)
    listed = ", ".join(f"{place} ({rows:,})" for place, rows in places.items())
    chosen: set[str] = set()
    for asked in environments or ("",):
        fitting = [place for place in places if not asked or asked in (place, place.partition("/")[2])]
        if not fitting:
            raise InputError(
                f"the log has nothing of environment {asked}", where=where, why=f"it holds rows of {listed}"
            )
        if len(fitting) > 1:
            raise InputError(
                f"the log holds what {len(fitting)} environments served"
                if not asked
                else f"the log holds what {asked} of {len(fitting)} projects served",
                where=where,
                why=f"rows of {listed}: mixed in one training set nobody could tell them apart",
                try_=f"--log-environment {fitting[-1]}, or name all that are meant",
            )
        chosen.update(fitting)
    return [file for file in files if file.place in chosen]


def rows_by_place(files: list[LogFile]) -> dict[str, int]:
    """Return how many rows there are of each project/environment."""
    places = sorted({file.place for file in files})
    return {place: sum(file.rows for file in files if file.place == place) for place in places}


def fits(file: LogFile, service: CompiledService) -> bool:
    """Return whether a file has all outputs of a service, in the types that they have now."""
    return all(
        output.name in file.schema.names and file.schema.field(output.name).type == to_arrow(output.type)
        for output in service.outputs
    )


def matching_rows(files: list[LogFile], ids: pa.Array, columns: list[str]) -> Iterator[tuple[LogFile, pa.Table]]:
    """Yield each file with its rows of some requests; a column that the file has not is left out."""
    for file in files:
        there = [name for name in columns if name in file.schema.names]
        table = pq.read_table(file.path, columns=there, partitioning=None)
        yield file, table.filter(pc.is_in(table.column(REQUEST_ID), value_set=ids))


def read_label_table(path: Path, service: CompiledService) -> pa.Table:
    """Return a label file's rows: request ids as text, keys in the service's types, instants in microseconds."""
    keys = {key.name: to_arrow(key.type) for key in service.keys.fields}
    try:
        if path.name.endswith((".csv", ".csv.gz")):
            options = pcsv.ConvertOptions(column_types={REQUEST_ID: pa.string(), **keys}, strings_can_be_null=True)
            table = pcsv.read_csv(path, convert_options=options)
        else:
            table = pq.read_table(path, partitioning=None)
    except (OSError, pa.ArrowException) as error:
        raise SourceError("the labels can't be read", where=str(path), why=str(error).splitlines()[0]) from error
    if REQUEST_ID not in table.column_names:
        raise SourceError(
            f"the labels have no column {REQUEST_ID}",
            where=str(path),
            why="it says which request each label is of",
            try_="write the id that the lookup was given, or gave back",
        )
    for at, column in enumerate(table.schema):
        if column.name == REQUEST_ID:
            table = table.set_column(at, REQUEST_ID, _text(table.column(at), str(path)))
        elif column.name in service.keys:
            key = next(key for key in service.keys.fields if key.name == column.name)
            table = table.set_column(at, column.name, _key(table.column(at), key, str(path)))
        elif pa.types.is_timestamp(column.type) and column.type.tz is not None:
            table = table.set_column(
                at, column.name, pc.floor_temporal(table.column(at), unit="microsecond").cast(_INSTANT)
            )
    return table


def label_instants(table: pa.Table, column: str, where: str) -> pa.Array:
    """Return a label column of times; SourceError where it is none, or names no zone."""
    if column not in table.column_names:
        raise SourceError(
            f"the labels have no column {column}", where=where, try_="one of " + ", ".join(table.column_names)
        )
    found = table.column(column).combine_chunks()
    if found.type != _INSTANT:
        naive = pa.types.is_timestamp(found.type)
        raise SourceError(
            f"the labels' column {column} is {found.type}",
            where=where,
            why="a time without a zone is a different instant everywhere"
            if naive
            else "it says when a label was known",
            try_="write it as a timestamp with a zone",
        )
    return found


def _text(column: pa.ChunkedArray, where: str) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind):
        return column.cast(pa.string())
    if pa.types.is_null(kind):
        return column.cast(pa.string())
    raise KeyTypeError(f"the labels' {REQUEST_ID} is {kind}, not a text", where=where, try_="write it as a string")


def _key(column: pa.ChunkedArray, key: Field, where: str) -> pa.ChunkedArray:
    wanted = to_arrow(key.type)
    if column.type != wanted and not (key.type in INTEGER_BITS and pa.types.is_integer(column.type)):
        raise KeyTypeError(
            f"the labels' join key {key.name} is {column.type}, not {key.type}",
            where=where,
            why="a value of another type is another value, or none",
            try_=f"write the column as {key.type}",
        )
    try:
        return column.cast(wanted)
    except pa.ArrowInvalid as error:
        raise KeyTypeError(f"the labels' join key {key.name} is no {key.type}", where=where, why=str(error)) from error
