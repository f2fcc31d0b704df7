"""Rows of some entities taken out of the history: each file that has any is written anew, beside, without them.

    1. part-new.parquet          the other rows, whole and on disk
    2. _refresh.json             names it in place of the old one: from here on the rows are gone for every reader
    3. the old file is deleted

A run that dies in between is rerun: files that `_refresh.json` does not name are looked into as well.
"""

from __future__ import annotations

import shutil
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from featurekit.arrow_types import from_arrow
from featurekit.errors import CodecError
from featurekit.offline.history_folder import (
    DRAFT,
    DROPPED,
    BrokenRefresh,
    KeptFile,
    read_entry,
    rewrite_entry,
    written_here,
)
from featurekit.offline.history_sink import FILE_BYTES, FILE_ROWS, PartFile
from featurekit.offline.tile_store import FOLDER as TILES
from featurekit.rows import LAST_EVENT
from featurekit.types import Field

PARTS: Final = "*.parquet"

Mask = Callable[[pa.RecordBatch], np.ndarray[Any, np.dtype[np.bool_]]]
Reach = Mapping[str, Sequence[Any]]
"""Of some join keys the values that are looked for, sorted: by them, row groups that can't hold one are passed over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """Entities that are looked for, in files that have these columns as their join keys."""

    columns: tuple[str, ...]
    mask: Mask
    reach: Reach


Seek = Callable[[Sequence[Field]], Sought | None]
"""Returns what to look for in rows with some join keys; None where they can't be of any of the entities."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """What was found, and is gone: `rows` of some entities in one folder, `files` written anew or deleted."""

    where: Path
    rows: int
    files: int


def key_fields_of(schema: pa.Schema) -> tuple[Field, ...]:
    """Return the join keys of a file of kept rows: its columns before the newest event's time."""
    names = schema.names
    keys = names[: names.index(LAST_EVENT)] if LAST_EVENT in names else []
    return tuple(Field(name, from_arrow(schema.field(name).type), nullable=False) for name in keys)


def rows_in(path: Path, seek: Seek, keys: Sequence[Field] | None = None) -> int:
    """Return how many rows of the entities a file has; of its columns, the join keys alone are read.

    `keys` are its join keys, where they are not those of kept rows.
    """
    with pq.ParquetFile(path) as file:
        sought = seek(key_fields_of(file.schema_arrow) if keys is None else keys)
        if sought is None:
            return 0
        count = 0
        for group in range(file.metadata.num_row_groups):
            if _can_hold(file.metadata.row_group(group), sought.reach):
                columns = list(sought.columns)
                for batch in file.iter_batches(row_groups=[group], columns=columns, use_threads=False):
                    count += int(sought.mask(batch).sum())
        return count


def _can_hold(group: Any, reach: Reach) -> bool:
    """Return whether the statistics of a row group leave room for one of the values."""
    for at in range(group.num_columns):
        column = group.column(at)
        values, statistics = reach.get(column.path_in_schema), column.statistics
        if values is None or statistics is None or not statistics.has_min_max:
            continue
        low, high = (_comparable(bound) for bound in (statistics.min, statistics.max))
        if type(low) is not type(values[0]):
            continue
        place = bisect_left(values, low)
        if place == len(values) or values[place] > high:
            return False
    return True


def _comparable(value: Any) -> Any:
    # Parquet orders texts by their bytes.
    return value.encode() if isinstance(value, str) else value


def erase_refresh(folder: Path, seek: Seek) -> Erased | None:
    """Take rows of the entities out of a refresh's folder, or out of a whole draft; None where it has none.

    For who holds the lease on it. Of a folder that is no whole refresh, and is never read, all is deleted where a file
    has any or can't be read.
    """
    entry = read_entry(folder)
    if isinstance(entry, BrokenRefresh):
        return drop_if_held(folder, seek)
    listed = {file.name for file in entry.files}
    found = {path: count for path in sorted(folder.glob(PARTS)) if (count := _counted(path, seek, path.name in listed))}
    _drop_strays(folder, listed | {file.name for file in entry.retired})
    if not found:
        return None
    with written_here(folder):
        files: list[KeptFile] = []
        for file in entry.files:
            new = _without(folder / file.name, seek) if folder / file.name in found else file
            files += [] if new is None else [new]
        gone = {path.name for path in found}
        retired = tuple(file for file in entry.retired if file.name not in gone)
        rewrite_entry(folder, lambda now: replace(now, files=tuple(files), retired=retired))
        for path in found:
            path.unlink(missing_ok=True)
    return Erased(where=folder, rows=sum(found.values()), files=len(found))


def _drop_strays(folder: Path, known: Collection[str]) -> None:
    """Delete files that nobody reads: of a run that died between writing one and naming it."""
    for path in folder.glob(PARTS):
        if path.name not in known:
            with written_here(path):
                path.unlink(missing_ok=True)


def _counted(path: Path, seek: Seek, is_listed: bool) -> int:
    """Return how many rows of the entities a file has; one that nobody reads and can't be read counts as one."""
    try:
        return rows_in(path, seek)
    except (pa.ArrowException, OSError):
        if is_listed:
            raise
        return 1


def _without(path: Path, seek: Seek) -> KeptFile | None:
    """Write a file's other rows beside it; None where there are none."""
    part: PartFile | None = None
    try:
        with pq.ParquetFile(path) as file:
            sought = seek(key_fields_of(file.schema_arrow))
            assert sought is not None
            for batch in file.iter_batches(use_threads=False):
                kept = batch.filter(pa.array(~sought.mask(batch)))
                if kept.num_rows:
                    part = part or PartFile(path.parent, file.schema_arrow)
                    part.write(kept)
    except BaseException:
        if part is not None:
            part.drop()
        raise
    if part is None:
        return None
    counters = part.close()
    (name,) = (name.removeprefix(FILE_ROWS) for name in counters if name.startswith(FILE_ROWS))
    return KeptFile(name=name, rows=counters[FILE_ROWS + name], bytes=counters[FILE_BYTES + name])


def drop_if_held(folder: Path, seek: Seek, keys: Sequence[Field] | None = None) -> Erased | None:
    """Delete a folder where a file in it has rows of the entities, or can't be read; None where that is not so."""
    rows = files = 0
    for path in sorted(folder.rglob(PARTS)):
        files += 1
        try:
            rows += rows_in(path, seek, keys)
        except (pa.ArrowException, OSError, CodecError):
            rows += 1  # what it holds can't be told
    if not rows:
        return None
    with written_here(folder):
        shutil.rmtree(folder)
    return Erased(where=folder, rows=rows, files=files)


def refresh_folders(home: Path) -> Iterator[Path]:
    """Yield the folders of a view version that hold kept rows: refreshes, drafts, and those that are being deleted."""
    for pattern in ("as_of=*", f"{DRAFT}*", f"{DROPPED}*"):
        yield from sorted(home.glob(pattern))


def tiles_of(home: Path) -> Path:
    """Return the folder of a view version's tiles, which may not be there."""
    return home / TILES
