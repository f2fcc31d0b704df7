"""Offline rows on their way into the history: written as Parquet where they are, in the executors, and handed on.

rows ──▶ gate ──▶ KeepingSink ──▶ the online writer        one computation, two outputs
                      └──▶ part files of a draft folder, which the driver renames when the refresh is complete
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from featurekit.clock import Instant
from featurekit.counters import counter_batch
from featurekit.errors import BatchEngineError
from featurekit.offline.history_folder import DRAFT, HistoryEntry, KeptFile, damaged, write_entry, written_here
from featurekit.offline.snapshot import SourceSnapshot

Sink = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
# One counter a file, named after it: files whose task did not come to its end are counted nowhere.
FILE_ROWS: Final = "history.rows."
FILE_BYTES: Final = "history.bytes."


class PartFile:
    """One Parquet file of rows, written batch by batch; `close` returns its counters. HistoryError on a full disk."""

    def __init__(self, folder: Path, schema: pa.Schema) -> None:
        self._path = folder / f"part-{uuid.uuid4().hex}.parquet"
        with written_here(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._writer = pq.ParquetWriter(self._path, schema, compression="zstd", use_dictionary=_repeating(schema))
        self._rows = 0

    def write(self, batch: pa.RecordBatch) -> None:
        with written_here(self._path):
            self._writer.write_batch(batch)
        self._rows += batch.num_rows

    def close(self) -> dict[str, int]:
        with written_here(self._path):
            self._writer.close()
            # The folder's rename must not reach the disk before what is in it.
            with self._path.open("rb") as file:
                os.fsync(file.fileno())
            size = self._path.stat().st_size
        return {FILE_ROWS + self._path.name: self._rows, FILE_BYTES + self._path.name: size}

    def drop(self) -> None:
        with suppress(OSError):
            self._writer.close()
        self._path.unlink(missing_ok=True)


def _repeating(schema: pa.Schema) -> list[str]:
    """Return the columns that a dictionary makes smaller; one of numbers is larger than they are, and slow to make."""
    return [field.name for field in schema if not pa.types.is_primitive(field.type)]


@dataclass(frozen=True, kw_only=True)
class KeepingSink:
    """Hands every batch on to `inner` unchanged, and writes it into a file of its own on the way; it pickles."""

    inner: Sink
    folder: Path

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        parts: list[PartFile] = []
        try:
            yield from self.inner(self._kept(batches, parts))
        except BaseException:
            for part in parts:
                part.drop()
            raise
        for part in parts:
            yield counter_batch(part.close())

    def _kept(self, batches: Iterator[pa.RecordBatch], parts: list[PartFile]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.num_rows:
                if not parts:
                    parts.append(PartFile(self.folder, batch.schema))
                parts[0].write(batch)
            yield batch


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A refresh that is being written; `entry` says what it will be, as far as that is known before its rows."""

    entry: HistoryEntry

    @property
    def folder(self) -> Path:
        return self.entry.path.with_name(DRAFT + self.entry.path.name)

    def begin(self) -> Draft:
        """Make the folder anew; what a run that died left there is gone."""
        self.drop()
        with written_here(self.folder):
            self.folder.mkdir(parents=True)
        return self

    def sink(self, inner: Sink) -> KeepingSink:
        return KeepingSink(inner=inner, folder=self.folder)

    def written(
        self,
        counters: Mapping[str, int],
        *,
        snapshot: SourceSnapshot | None,
        kind: str | None = None,
        reason: str | None = None,
    ) -> Draft:
        """Return the draft with the files that the sink's counters name, and how they came about.

        BatchEngineError where the files are not here.
        """
        names = [name.removeprefix(FILE_ROWS) for name in counters if name.startswith(FILE_ROWS)]
        files = tuple(
            KeptFile(name=name, rows=counters[FILE_ROWS + name], bytes=counters[FILE_BYTES + name])
            for name in sorted(names)
        )
        entry = replace(
            self.entry,
            files=files,
            snapshot=snapshot,
            kind=kind or self.entry.kind,
            reason=self.entry.reason or reason,
        )
        if broken := damaged(entry, self.folder):
            raise BatchEngineError(
                f"the history of {entry} is not whole: {broken.why}",
                where=str(self.folder),
                why="the executors wrote to disks of their own, or the folder was touched meanwhile",
                try_="history.path: a folder that this machine and all executors share",
            )
        return replace(self, entry=entry)

    def save(self) -> Draft:
        """Write down all that is known: a run that dies from here on leaves a draft that the next one can finish."""
        with written_here(self.folder):
            write_entry(self.entry, self.folder)
        return self

    def finish(self, *, visible_from: Instant, completed_at: Instant) -> HistoryEntry:
        """Give the folder its name: from here on it is a refresh of the history. Return it."""
        entry = replace(self.entry, visible_from=visible_from, completed_at=completed_at)
        counted = {file.name for file in entry.files}
        with written_here(self.folder):
            for stray in self.folder.glob("part-*.parquet"):
                if stray.name not in counted:
                    stray.unlink()
            write_entry(entry, self.folder)
            if entry.path.exists():  # a broken folder of this name: whole ones are never written twice
                shutil.rmtree(entry.path)
            self.folder.rename(entry.path)
        return entry

    def drop(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def without_files(counters: Mapping[str, int]) -> dict[str, int]:
    """Return counters without those that name files: the registry keeps counts, the history its files."""
    return {name: count for name, count in counters.items() if not name.startswith((FILE_ROWS, FILE_BYTES))}
