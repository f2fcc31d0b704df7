"""The batch engine as the rest of `offline` sees it: a few methods. Spark is the canonical one (`session`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import pyarrow as pa

from featurekit.definitions.source import Source
from featurekit.types import Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FILE_COLUMN: Final = "$file"
"""The column of `read_csv` that says which file a row is from."""
EMPTY_CELL: Final = "\u0001featurekit: empty\u0001"
"""What `read_csv` has for a quoted empty cell; an empty one without quotes is NULL."""

Batches = Iterator[pa.RecordBatch]
BatchFunction = Callable[[Batches], Batches]


class BatchEngine(Protocol):
    """Frames are lazy: only `to_arrow` and `write_parquet` run something. Every error that leaves here is ours."""

    @property
    def root(self) -> Path:
        """The folder that relative source paths are relative to."""
        ...

    @property
    def versions(self) -> Mapping[str, str]:
        """What computes here, by name and version."""
        ...

    @property
    def is_local(self) -> bool:
        """Whether everything runs on this machine, so that its files and its loopback are the executors' too."""
        ...

    @property
    def parallelism(self) -> int:
        """How many tasks run at once."""
        ...

    def numbered(self, parts: int) -> DataFrame:
        """Return so many partitions of one row each: its number, from 0 on, as a bigint."""
        ...

    def read_parquet(self, path: str, files: Sequence[Path] = ()) -> DataFrame:
        """Return the rows of Parquet files; nanosecond timestamps as bigint, folder partitions as strings.

        With `files`, only the rows of these of the path's files, in the columns that all of them together have.
        """
        ...

    def read_csv(self, path: str, header: Sequence[str], files: Sequence[Path] = ()) -> DataFrame:
        """Return all cells as text under the header's names, with the row's file as FILE_COLUMN."""
        ...

    def read_files(self, files: Sequence[Path], schema: Schema, *, base: Path | None = None) -> DataFrame:
        """Return the rows of Parquet files that we wrote, with just these columns; of no files there are none.

        Columns that the files lack come from the names of the folders between them and `base`.
        """
        ...

    def read_folders(self, folders: Sequence[Path], like: DataFrame) -> DataFrame:
        """Return the rows of folders that `write_parquet` wrote, which have a frame's columns; no file is opened."""
        ...

    def read_table(self, table: str) -> DataFrame:
        """Return a table of the engine's catalog."""
        ...

    def read_lakehouse(self, source: Source) -> DataFrame:
        """Return the rows of a Delta or Iceberg source, of its `version` or the newest."""
        ...

    def lakehouse_version(self, source: Source) -> int | None:
        """Return the version of a Delta or Iceberg source that would be read now; None where it has none yet."""
        ...

    def read_sql(self, text: str) -> DataFrame:
        """Return the result of someone else's query; relative paths in it begin at `root`."""
        ...

    def query(self, text: str, frames: Mapping[str, DataFrame] | None = None) -> DataFrame:
        """Return the result of Spark SQL that reads the given frames under their names."""
        ...

    def unstable_parts(self, frame: DataFrame) -> tuple[str, ...]:
        """Return what in a frame's query can give another answer on another run, as people write it."""
        ...

    def map_batches(self, frame: DataFrame, function: BatchFunction, schema: Schema) -> DataFrame:
        """Return what the function makes of each partition's batches, in the executors."""
        ...

    def observed(self, frame: DataFrame, counts: Mapping[str, str]) -> tuple[DataFrame, Callable[[], dict[str, int]]]:
        """Return the same rows, and what says after they were written once for how many each condition was true."""
        ...

    def to_arrow(self, frame: DataFrame) -> pa.Table:
        """Run a frame and return its rows here."""
        ...

    def from_arrow(self, table: pa.Table) -> DataFrame:
        """Return rows that are here as a frame."""
        ...

    def held(self, frame: DataFrame) -> tuple[DataFrame, int]:
        """Run a frame, and return it as rows that the executors hold for as long as it is in use, and their number."""
        ...

    def write_parquet(self, frame: DataFrame, folder: Path) -> None:
        """Run a frame and write its rows as Parquet files into a folder that does not exist yet."""
        ...
