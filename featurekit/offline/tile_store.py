"""Tiles on disk, beside the kept rows of their view version: a folder a refresh, and a list of folders for each as-of.

    VIEW/FINGERPRINT16/_tiles/20131115T0000Z.json        the folders that stand for all rows visible as of it
                             /20131115T0000Z-1f6c…/      the rows that came with it, or all of them

They hold nothing that the source does not: where a list is missing, or of another source, they are made again.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from featurekit.clock import Instant, format_instant
from featurekit.offline.snapshot import SourceSnapshot

FOLDER: Final = "_tiles"
_FORMAT: Final = 2


class TileKind(StrEnum):
    """What a folder holds; the last two only where rows have versions (`corrections`)."""

    TILES = "tiles"
    VOIDS = "voids"  # whose tiles were made anew
    VERSIONS = "versions"  # all rows of the events that have several


@dataclass(frozen=True, slots=True, kw_only=True)
class TileFolder:
    """What came with a refresh: no tile in it is of a bucket that begins at its as-of or later."""

    as_of: Instant
    path: Path
    kind: TileKind = TileKind.TILES


@dataclass(frozen=True, slots=True)
class TileStore:
    """The tiles of one view version; `home` is the folder of its kept refreshes."""

    home: Path

    def new_folder(self, as_of: Instant, kind: TileKind = TileKind.TILES) -> TileFolder:
        """Return a folder that is not there yet."""
        return TileFolder(as_of=as_of, path=self.home / FOLDER / f"{_name(as_of)}-{uuid.uuid4().hex[:12]}", kind=kind)

    def folders(self, as_of: Instant, snapshot: SourceSnapshot) -> tuple[TileFolder, ...] | None:
        """Return the folders that stand for all rows visible as of an instant; None where none of this source do."""
        path = self._list(as_of)
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if content.get("format") != _FORMAT or content["files"] != _files(snapshot):
            return None
        found = tuple(
            TileFolder(as_of=each["as_of"], path=self.home / FOLDER / each["name"], kind=TileKind(each["kind"]))
            for each in content["folders"]
        )
        return found if all((folder.path / "_SUCCESS").exists() for folder in found) else None

    def save(self, as_of: Instant, snapshot: SourceSnapshot, folders: Sequence[TileFolder]) -> None:
        """List folders as those of an as-of."""
        content = {
            "format": _FORMAT,
            "files": _files(snapshot),
            "folders": [
                {"as_of": folder.as_of, "name": folder.path.name, "kind": folder.kind.value} for folder in folders
            ],
        }
        path = self._list(as_of)
        draft = path.with_suffix(f".{os.getpid()}.new")
        draft.write_text(json.dumps(content), encoding="utf-8")
        draft.replace(path)

    def drop_others(self, *as_ofs: Instant) -> None:
        """Delete what none of the lists of some as-ofs names: also what a run left behind that died."""
        root, kept = self.home / FOLDER, {self._list(as_of).name for as_of in as_ofs}
        for as_of in as_ofs:
            if self._list(as_of).exists():
                content = json.loads(self._list(as_of).read_text(encoding="utf-8"))
                kept |= {each["name"] for each in content["folders"]}
        for path in root.iterdir():
            if path.name in kept:
                continue
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

    def _list(self, as_of: Instant) -> Path:
        return self.home / FOLDER / f"{_name(as_of)}.json"


def of_kind(folders: Sequence[TileFolder], kind: TileKind) -> tuple[TileFolder, ...]:
    return tuple(folder for folder in folders if folder.kind is kind)


def _name(as_of: Instant) -> str:
    return format_instant(as_of).replace("-", "").replace(":", "")


def _files(snapshot: SourceSnapshot) -> list[list[str | int | None]]:
    return [[file.path, file.size, file.modified] for file in snapshot.files]
