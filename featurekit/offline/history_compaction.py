"""A refresh's many small files -> one, without any reader noticing."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq

from featurekit.clock import Instant
from featurekit.errors import HistoryError
from featurekit.offline.history_folder import HistoryEntry, KeptFile, RetiredFile, rewrite_entry, written_here
from featurekit.offline.history_sink import FILE_BYTES, FILE_ROWS, PartFile


def compacted(entry: HistoryEntry, *, now: Instant) -> HistoryEntry:
    """Write the rows of the entry's files into one, in their order, and return the entry as it is then.

    The files it had stay in the folder, as retired ones: `without_retired` deletes them later.
    """
    with written_here(entry.path):
        part: PartFile | None = None
        try:
            for file in entry.files:
                with pq.ParquetFile(entry.path / file.name) as content:
                    part = part or PartFile(entry.path, content.schema_arrow)
                    for batch in content.iter_batches():
                        part.write(batch)
            assert part is not None
            joined = _file(part.close())
        except BaseException as error:
            if part is not None:
                part.drop()
            if isinstance(error, pa.ArrowInvalid):
                raise _damaged(entry, str(error)) from error
            raise
        if joined.rows != entry.rows:
            (entry.path / joined.name).unlink()
            raise _damaged(entry, f"its files have {joined.rows:,} rows, and {entry.rows:,} were written")
        retired = tuple(RetiredFile(name=file.name, retired_at=now) for file in entry.files)
        return rewrite_entry(entry.path, lambda now: replace(now, files=(joined,), retired=(*now.retired, *retired)))


def _damaged(entry: HistoryEntry, why: str) -> HistoryError:
    return HistoryError(
        f"the history of {entry} is damaged",
        where=str(entry.path),
        why=why,
        try_="delete the folder, and compute it again: featurekit materialize --from … --to …",
    )


def without_retired(entry: HistoryEntry, *, before: Instant) -> HistoryEntry:
    """Delete the entry's files that were retired before the instant, and return the entry without them."""
    gone = tuple(file for file in entry.retired if file.retired_at <= before)
    if not gone:
        return entry
    after = rewrite_entry(
        entry.path, lambda now: replace(now, retired=tuple(file for file in now.retired if file not in gone))
    )
    for file in gone:
        (entry.path / file.name).unlink(missing_ok=True)
    return after


def _file(counters: dict[str, int]) -> KeptFile:
    (name,) = (name.removeprefix(FILE_ROWS) for name in counters if name.startswith(FILE_ROWS))
    return KeptFile(name=name, rows=counters[FILE_ROWS + name], bytes=counters[FILE_BYTES + name])
