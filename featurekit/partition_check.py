"""Do the rows of a parted source lie where its declaration says? Its files' footers tell, where they can."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from featurekit.clock import DAY, format_instant, local_to_instant
from featurekit.definitions.problem import Problem, did_you_mean
from featurekit.definitions.source import Source, SourceFormat
from featurekit.errors import SourceError, TimeError
from featurekit.parquet_footer import time_range
from featurekit.source_files import SourceFile
from featurekit.types import Date, Int32, Int64, Schema, String

NULL_PARTITION: Final = "__HIVE_DEFAULT_PARTITION__"


def check_partitions(source: Source, files: tuple[SourceFile, ...], naive: frozenset[str]) -> None:
    """Raise SourceError where a file lies in a partition that its rows don't belong to: they would not be read.

    By the least and the greatest time in the footers of Parquet files; `naive` columns hold readings of a clock.
    """
    partition = source.partition
    if partition is None:
        return
    column = str(getattr(source, partition.of.value))
    for file in files:
        name = dict(file.partitions).get(partition.column)
        if name is None:
            continue
        found = None if source.origin is not SourceFormat.PARQUET else time_range(file.path, column)
        if name == NULL_PARTITION:
            if found is not None:
                raise SourceError(
                    f"the partition without {partition.column} holds rows that have a time",
                    where=str(file.path),
                    why=f"no run would read them; by {column} they begin at {format_instant(found[0])}",
                    try_="write them where they belong",
                )
            continue
        if not partition.is_name(name):
            raise SourceError(
                f"{partition.column}={name} is no partition of {partition.pattern}",
                where=str(file.path),
                why="names of another form have another order, and rows in them would not be read",
                try_="correct partition.format, or name the folder so",
            )
        if found is not None:
            low, high = _instants(found, source, is_reading=column in naive)
            first, last = partition.last(low + 1), partition.first(high)
            # `first` and `last` are names too far to either side at most: what they rule out is certain.
            if (first is not None and first < name) or (last is not None and last > name):
                raise SourceError(
                    f"{partition.column}={name} holds rows of other partitions",
                    where=str(file.path),
                    why=f"by {column} they are of {format_instant(low)} to {format_instant(high)}; a run that reads"
                    " the partitions of its window only would miss them",
                    try_="write the rows where they belong, or declare partition.slack: how far off they may lie",
                )


def _instants(found: tuple[int, int], source: Source, *, is_reading: bool) -> tuple[int, int]:
    if source.timezone is None or not is_reading:
        return found
    try:
        low, high = (local_to_instant(reading, source.timezone) for reading in found)
    except TimeError:
        return found[0] - DAY, found[1] + DAY
    return low, high


def partition_problems(source: Source, schema: Schema, folders: tuple[str, ...] | None) -> Iterator[Problem]:
    """Yield what is wrong with the declared partition; `folders` are the columns in folders' names, None if unknown."""
    partition = source.partition
    if partition is None:
        return
    path = ("partition", "column")
    if source.path is not None and source.origin in (SourceFormat.PARQUET, SourceFormat.CSV):
        if folders is not None and partition.column not in folders:
            why = "folders are called name=value where a column parts them"
            what = f"no folder is called {partition.column}=…"
            yield Problem(path=path, what=what, why=why, try_=did_you_mean(partition.column, folders))
        return
    column = schema.get(partition.column)
    if column is None:
        why = "what a partition is compared with depends on its type"
        what = f"{partition.column} is not among the declared columns"
        yield Problem(path=path, what=what, why=why, try_=f"columns: {{{partition.column}: string, …}}")
        return
    fits: Mapping[type, bool] = {
        String: True,
        Date: partition.pattern == "yyyy-MM-dd",
        Int32: partition.pattern.isalpha() and partition.pattern != "yyyyMMddHH",
        Int64: partition.pattern.isalpha(),
    }
    if not fits.get(type(column.type), False):
        yield Problem(
            path=("partition", "format"),
            what=f"{partition.column} is {column.type}, and no name in {partition.pattern} is",
            why="text has any format, a date is yyyy-MM-dd, a whole number has no separators",
            try_="the format that the column's values have",
        )
