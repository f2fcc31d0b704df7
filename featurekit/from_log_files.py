"""The files of the served-feature log, and of labels, as Arrow: a file at a time, so that memory follows the labels."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv
import pyarrow.parquet as pq

from featurekit.arrow_types import to_arrow
from featurekit.compiled import CompiledService
from featurekit.errors import InputError, KeyTypeError, SourceError
from featurekit.online.served_log_reading import LogFile
from featurekit.served_columns import REQUEST_ID
from featurekit.types import INTEGER_BITS, Field

_INSTANT: Final = pa.timestamp("us", tz="UTC")


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
