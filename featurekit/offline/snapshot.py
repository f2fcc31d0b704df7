"""What a run read: the files of a source, so that a later recompute can tell whether it reads the same (DESIGN T2)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
        names = sorted(read_source(engine, view).inputFiles())
        files = tuple(FileSnapshot(path=shown_path(name), size=None, modified=None) for name in names)
    return SourceSnapshot(source=source.name, origin=source.shown_origin, files=files)


def _local(path: str) -> FileSnapshot:
    stat = Path(path).stat()
    return FileSnapshot(path=path, size=stat.st_size, modified=stat.st_mtime_ns)
