"""The kept rows of one refresh on disk: a folder of Parquet files, and `_refresh.json`, which says which of them count.

    as_of=20131115T0000Z-0/          a refresh: as-of, then restatement
        part-….parquet               rows, with the columns of `rows.offline_schema`
        _refresh.json                what it is, its files with their rows and bytes, files to be deleted later
    _draft.as_of=20131116T0000Z-0/   one that is being written
    _dropped.as_of=20131014T0000Z-0/ one that is being deleted

A folder gets its name when it is whole, by one rename. Files that `_refresh.json` does not name don't count: tasks that
Spark ran twice leave some behind.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from featurekit.clock import Instant, format_instant
from featurekit.errors import HistoryError
from featurekit.offline.snapshot import SourceSnapshot, read_snapshot

FORMAT: Final = 1
REFRESH_FILE: Final = "_refresh.json"
DRAFT: Final = "_draft."
DROPPED: Final = "_dropped."
_IDENTITY: Final = ("view", "fingerprint", "as_of", "restatement")
_PLAIN: Final = (*_IDENTITY, "visible_from", "completed_at", "withdrawn_at", "kind", "reason")
_LATER: Final = {"remembered": 0}  # with what they are where a folder was written before there were any


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFile:
    name: str
    rows: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RetiredFile:
    """A file whose rows another one has by now; readers that began before `retired_at` may still need it."""

    name: str
    retired_at: Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """The kept rows of one complete refresh: what serving had from `visible_from` on, until it was withdrawn.

    `kind` says how it was computed (full, incremental, backfill), `reason` why it was restated. A backfill was never
    in the online store. `snapshot` is the source as it was read. `remembered` is how many entities had been forgotten
    and remembered again by then: where it differs, rows that were refused here may count.
    """

    view: str
    fingerprint: str
    as_of: Instant
    restatement: int
    visible_from: Instant
    completed_at: Instant
    withdrawn_at: Instant | None = None
    kind: str = "full"
    reason: str | None = None
    remembered: int = 0
    snapshot: SourceSnapshot | None = None
    files: tuple[KeptFile, ...] = ()
    retired: tuple[RetiredFile, ...] = ()
    path: Path = field(default=Path())

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.files)

    @property
    def label(self) -> str:
        """As-of and restatement as the folder's name has them, such as `20131115T0000Z-0`."""
        return folder_name(self.as_of, self.restatement).partition("=")[2]

    def __str__(self) -> str:
        again = f" (restatement {self.restatement})" if self.restatement else ""
        return f"{self.view} as of {format_instant(self.as_of)}{again}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenRefresh:
    """A folder of the history that is not what it should be; its rows are never read."""

    path: Path
    why: str


@contextmanager
def written_here(folder: Path) -> Iterator[None]:
    """HistoryError where the file system does not take what the block writes."""
    try:
        yield
    except OSError as error:
        raise HistoryError(
            "the history can't be written",
            where=str(error.filename or folder),
            why=error.strerror or str(error),
            try_="make room or mend its permissions; or name another folder under history.path",
        ) from error


def folder_name(as_of: Instant, restatement: int) -> str:
    """Return the name of a refresh's folder.

    >>> folder_name(0, 2)
    'as_of=19700101T0000Z-2'
    """
    # No colons: Hadoop's paths can't hold them.
    return f"as_of={format_instant(as_of).replace('-', '').replace(':', '')}-{restatement}"


def write_entry(entry: HistoryEntry, folder: Path) -> None:
    """Write `_refresh.json` into the folder, in place of one that is there: a reader sees the old one or the new."""
    content = {
        "format": FORMAT,
        **{name: getattr(entry, name) for name in (*_PLAIN, *_LATER)},
        "rows": entry.rows,
        "files": [{"name": file.name, "rows": file.rows, "bytes": file.bytes} for file in entry.files],
        "retired": [{"name": file.name, "retired_at": file.retired_at} for file in entry.retired],
        "snapshot": None if entry.snapshot is None else entry.snapshot.to_json(),
    }
    draft = folder / f"_refresh.{os.getpid()}.new"
    with draft.open("w", encoding="utf-8") as file:
        file.write(json.dumps(content, indent=1) + "\n")
        file.flush()
        os.fsync(file.fileno())
    draft.replace(folder / REFRESH_FILE)


def rewrite_entry(folder: Path, change: Callable[[HistoryEntry], HistoryEntry]) -> HistoryEntry:
    """Change what `_refresh.json` says now, and return it: what another process changed meanwhile stays changed.

    Who holds the lease on a refresh changes its files; a rollback, without it, when it was withdrawn. HistoryError
    where the folder is no whole refresh any more.
    """
    with _alone(folder):
        entry = read_entry(folder)
        if isinstance(entry, BrokenRefresh):
            raise HistoryError(
                "a refresh of the history can't be changed",
                where=str(folder),
                why=entry.why,
                try_="run it again: another process may just have dropped it",
            )
        after = change(entry)
        write_entry(after, folder)
    return after


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        # A file system without locks leaves the moment between reading and writing.
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def read_entry(folder: Path) -> HistoryEntry | BrokenRefresh:
    """Return what a refresh's folder holds, or why it can't be trusted."""
    found = _read_entry(folder)
    # Its record and its files are two looks: files that were written anew in between take a second one.
    return _read_entry(folder) if isinstance(found, BrokenRefresh) else found


def _read_entry(folder: Path) -> HistoryEntry | BrokenRefresh:
    try:
        content: Any = json.loads((folder / REFRESH_FILE).read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            return BrokenRefresh(
                path=folder, why=f"its format is {content['format']!r}; this featurekit reads {FORMAT}"
            )
        entry = _entry(content, folder)
    except FileNotFoundError:
        return BrokenRefresh(path=folder, why=f"it has no {REFRESH_FILE}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        return BrokenRefresh(path=folder, why=f"its {REFRESH_FILE} can't be read: {error}")
    return damaged(entry, folder) or entry


def damaged(entry: HistoryEntry, folder: Path) -> BrokenRefresh | None:
    """Return what is wrong with the entry's files in the folder; None where all of them are there, whole."""
    for file in entry.files:
        try:
            size = (folder / file.name).stat().st_size
        except FileNotFoundError:
            return BrokenRefresh(path=folder, why=f"{file.name} is gone")
        if size != file.bytes:
            return BrokenRefresh(path=folder, why=f"{file.name} has {size:,} bytes; {file.bytes:,} were written")
    return None


def _entry(content: dict[str, Any], folder: Path) -> HistoryEntry:
    return replace(
        HistoryEntry(
            **{name: content[name] for name in _PLAIN}, **{name: content.get(name, old) for name, old in _LATER.items()}
        ),
        files=tuple(KeptFile(**file) for file in content["files"]),
        retired=tuple(RetiredFile(**file) for file in content["retired"]),
        snapshot=read_snapshot(json.dumps(content["snapshot"] or {})),
        path=folder,
    )
