"""What a run read: the files of a source, so that a later recompute can tell whether it reads the same (DESIGN T2)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from featurekit.compiled import CompiledView
from featurekit.definitions.source import SourceFormat
from featurekit.errors import SourceError
from featurekit.offline.engine import BatchEngine
from featurekit.offline.source import read_source
from featurekit.parquet_footer import row_count
from featurekit.source_files import is_remote, source_files
from featurekit.urls import shown_path


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSnapshot:
    """One file, by a path without secrets; `size` (bytes) and `modified` (ns) are None where it is on no local disk.

    `rows` is what its footer says, where somebody has asked it.
    """

    path: str
    size: int | None
    modified: int | None
    rows: int | None = None

    @property
    def state(self) -> tuple[int | None, int | None]:
        """What tells a file from the same one written again."""
        return self.size, self.modified

    def to_json(self) -> dict[str, Any]:
        rows = {} if self.rows is None else {"rows": self.rows}
        return {"path": self.path, "size": self.size, "modified": self.modified, **rows}

    @staticmethod
    def of(content: Mapping[str, Any]) -> FileSnapshot:
        return FileSnapshot(
            path=content["path"], size=content["size"], modified=content["modified"], rows=content.get("rows")
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSnapshot:
    """A source at one moment; of a table or a query, the files behind it as far as the engine names them.

    `version` is that of a Delta table, or an Iceberg snapshot's id; it says all, and no files stand beside it.
    """

    source: str
    origin: str
    files: tuple[FileSnapshot, ...]
    version: int | None = None

    def to_json(self) -> dict[str, Any]:
        version = {} if self.version is None else {"version": self.version}
        files = [file.to_json() for file in self.files]
        return {"source": self.source, "origin": self.origin, "files": files, **version}

    @staticmethod
    def of(content: Mapping[str, Any]) -> SourceSnapshot:
        files = tuple(map(FileSnapshot.of, content["files"]))
        return SourceSnapshot(
            source=content["source"], origin=content["origin"], files=files, version=content.get("version")
        )


def snapshot_source(engine: BatchEngine, view: CompiledView) -> SourceSnapshot:
    """Return what the view's source is made of now."""
    source = view.source
    if source.lakehouse:
        version = engine.lakehouse_version(source) if source.version is None else source.version
        return SourceSnapshot(source=source.name, origin=source.shown_origin, files=(), version=version)
    if source.path is not None and not is_remote(source.path):
        files = snapshot_files(source.path, engine.root)
    else:
        files = tuple(_named(name) for name in sorted(read_source(engine, view).inputFiles()))
    return SourceSnapshot(source=source.name, origin=source.shown_origin, files=files)


def pinned(view: CompiledView, snapshot: SourceSnapshot) -> CompiledView:
    """Return the view reading the version of its source that a snapshot names, whatever is written in the meantime."""
    if snapshot.version is None:
        return view
    return replace(view, source=view.source.model_copy(update={"version": snapshot.version}))


def snapshot_files(path: str, base: Path) -> tuple[FileSnapshot, ...]:
    """Return the files of a path on this machine as they are now."""
    return tuple(_local(str(file.path)) for file in source_files(path, base))


def with_row_counts(snapshot: SourceSnapshot, view: CompiledView) -> SourceSnapshot:
    """Return a snapshot with the row count of each Parquet file on this machine, from its footer."""
    if view.source.origin is not SourceFormat.PARQUET:
        return snapshot
    files = tuple(
        file if file.size is None else replace(file, rows=row_count(Path(file.path))) for file in snapshot.files
    )
    return replace(snapshot, files=files)


def read_snapshot(text: str) -> SourceSnapshot | None:
    """Return a snapshot from the JSON of `to_json`; None for a run that recorded none."""
    content: Mapping[str, Any] = json.loads(text)
    return SourceSnapshot.of(content) if content else None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChanges:
    """How the files of one source differ between two moments, by their paths in order."""

    rewritten: tuple[str, ...]
    gone: tuple[str, ...]
    added: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.rewritten or self.gone or self.added)

    def __str__(self) -> str:
        for paths, what in ((self.rewritten, "was written again"), (self.gone, "is gone"), (self.added, "is new")):
            if paths:
                more = len(self.gone) + len(self.added) + len(self.rewritten) - 1
                others = f", and {more} more file{'s' if more > 1 else ''} changed" if more else ""
                return f"{paths[0]} {what}{others}"
        return "nothing changed"


def file_changes(before: tuple[FileSnapshot, ...], now: tuple[FileSnapshot, ...]) -> FileChanges:
    """Return which files were written again, are gone, are new."""
    old, new = ({file.path: file.state for file in files} for files in (before, now))
    return FileChanges(
        rewritten=tuple(path for path in sorted(old.keys() & new.keys()) if old[path] != new[path]),
        gone=tuple(sorted(old.keys() - new.keys())),
        added=tuple(sorted(new.keys() - old.keys())),
    )


def describe_change(before: SourceSnapshot, now: SourceSnapshot) -> str | None:
    """Return how a source differs from what it was, by one of its files; None where it does not."""
    if before.version != now.version:
        return f"it was at version {before.version}, and is at {now.version}"
    changes = file_changes(before.files, now.files)
    return str(changes) if changes else None


def change_since(recorded: str | None, now: Callable[[], SourceSnapshot]) -> str | None:
    """Return how a source is another one than a refresh recorded, or why nobody knows; None where it is the same.

    `recorded` is the snapshot in the registry's JSON, None where there is none.
    """
    before = None if recorded is None else read_snapshot(recorded)
    if before is None:
        return "nothing is recorded of the source that the refresh read"
    if not before.files and before.version is None:
        return f"{before.origin} names no files, so nobody knows whether it is what the refresh read"
    return describe_change(before, now())


def check_unchanged(view: CompiledView, before: SourceSnapshot, after: SourceSnapshot) -> None:
    """Raise SourceError where a source changed while it was read: some rows may be of before, some of after.

    A file that is added holds rows that landed later: where the source says so itself, they are not visible yet.
    """
    paths = {file.path for file in before.files}
    old = tuple(file for file in after.files if file.path in paths)
    after = after if view.source.created_timestamp is None else replace(after, files=old)
    if change := describe_change(before, after):
        raise SourceError(
            f"source {view.source.name} changed while being read",
            where=view.source.shown_origin,
            why=f"{change}: some rows may be of before, some of after",
            try_="run it again, nothing was published; add rows as files of their own, renamed into place when whole",
        )


def _named(name: str) -> FileSnapshot:
    """Return a file by the URI that the engine has for it, with its size where it is on this machine."""
    url = urlsplit(name)
    if url.scheme == "file" and Path(unquote(url.path)).exists():
        return _local(unquote(url.path))
    return FileSnapshot(path=shown_path(name), size=None, modified=None)


def _local(path: str) -> FileSnapshot:
    stat = Path(path).stat()
    return FileSnapshot(path=path, size=stat.st_size, modified=stat.st_mtime_ns)
