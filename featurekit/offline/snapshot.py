"""What a run read: the files of a source, so that a later recompute can tell whether it reads the same (DESIGN T2)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from featurekit.compiled import CompiledView
from featurekit.offline.engine import BatchEngine
from featurekit.offline.source import read_source
from featurekit.source_files import is_remote, source_files
from featurekit.urls import shown_path


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSnapshot:
    """One file, by a path without secrets; `size` (bytes) and `modified` (ns) are None where it is on no local disk."""

    path: str
    size: int | None
    modified: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSnapshot:
    """A source at one moment; of a table or a query, the files behind it as far as the engine names them."""

    source: str
    origin: str
    files: tuple[FileSnapshot, ...]

    def to_json(self) -> dict[str, Any]:
        files = [{"path": file.path, "size": file.size, "modified": file.modified} for file in self.files]
        return {"source": self.source, "origin": self.origin, "files": files}


def snapshot_source(engine: BatchEngine, view: CompiledView) -> SourceSnapshot:
    """Return what the view's source is made of now."""
    source = view.source
    if source.path is not None and not is_remote(source.path):
        files = tuple(_local(str(file.path)) for file in source_files(source.path, engine.root))
    else:
        files = tuple(_named(name) for name in sorted(read_source(engine, view).inputFiles()))
    return SourceSnapshot(source=source.name, origin=source.shown_origin, files=files)


def read_snapshot(text: str) -> SourceSnapshot | None:
    """Return a snapshot from the JSON of `to_json`; None for a run that recorded none."""
    content: Mapping[str, Any] = json.loads(text)
    if not content:
        return None
    files = tuple(
        FileSnapshot(path=file["path"], size=file["size"], modified=file["modified"]) for file in content["files"]
    )
    return SourceSnapshot(source=content["source"], origin=content["origin"], files=files)


def describe_change(before: SourceSnapshot, now: SourceSnapshot) -> str | None:
    """Return how a source differs from what it was, by one of its files; None where it does not."""
    old, new = ({file.path: file for file in snapshot.files} for snapshot in (before, now))
    gone, added = sorted(old.keys() - new.keys()), sorted(new.keys() - old.keys())
    rewritten = [path for path in sorted(old.keys() & new.keys()) if old[path] != new[path]]
    for paths, what in ((rewritten, "was written again"), (gone, "is gone"), (added, "is new")):
        if paths:
            more = len(gone) + len(added) + len(rewritten) - 1
            others = f", and {more} more file{'s' if more > 1 else ''} changed" if more else ""
            return f"{paths[0]} {what}{others}"
    return None


def _named(name: str) -> FileSnapshot:
    """Return a file by the URI that the engine has for it, with its size where it is on this machine."""
    url = urlsplit(name)
    if url.scheme == "file" and Path(unquote(url.path)).exists():
        return _local(unquote(url.path))
    return FileSnapshot(path=shown_path(name), size=None, modified=None)


def _local(path: str) -> FileSnapshot:
    stat = Path(path).stat()
    return FileSnapshot(path=path, size=stat.st_size, modified=stat.st_mtime_ns)
