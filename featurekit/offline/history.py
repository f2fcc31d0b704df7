"""The history: the rows of each refresh, kept as Parquet by as-of. The same logical view as online, of all times.

    HISTORY/PROJECT/ENVIRONMENT/VIEW/FINGERPRINT16/as_of=20131115T0000Z-0/part-….parquet, _refresh.json

Only whole refreshes are ever listed (`history_folder`). A changed definition has a folder of its own: it starts anew.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from featurekit.clock import Instant
from featurekit.compiled import CompiledView
from featurekit.errors import HistoryError, SourceError
from featurekit.offline.engine import BatchEngine
from featurekit.offline.history_folder import (
    DRAFT,
    DROPPED,
    REFRESH_FILE,
    BrokenRefresh,
    HistoryEntry,
    KeptFile,
    RetiredFile,
    damaged,
    folder_name,
    read_entry,
    rewrite_entry,
)
from featurekit.offline.history_sink import Draft
from featurekit.offline.tile_store import FOLDER as TILES
from featurekit.rows import offline_schema
from featurekit.types import Field, Schema, String

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["BrokenRefresh", "Draft", "History", "HistoryEntry", "KeptFile", "RetiredFile", "served_at"]

REFRESH_COLUMN: Final = "as_of"
"""The partition column that the folders' names give: each row's refresh, by its `label`."""
_FINGERPRINT: Final = 16


class History:
    """The history of one project and environment, in the folder `root`; on a cluster all nodes share it."""

    def __init__(self, root: Path, *, project: str, environment: str) -> None:
        self.root = root / project / environment

    def __str__(self) -> str:
        return str(self.root)

    def entries(self, view: str, fingerprint: str) -> tuple[HistoryEntry, ...]:
        """Return the kept refreshes of a view version, by as-of, then restatement; withdrawn ones too, broken ones not.

        `served_at` says which of them served at a time.
        """
        found = [each for each in self._read(view, fingerprint) if isinstance(each, HistoryEntry)]
        return tuple(sorted(found, key=lambda entry: (entry.as_of, entry.restatement)))

    def broken(self, view: str, fingerprint: str) -> tuple[BrokenRefresh, ...]:
        """Return the folders of a view version that are not what they should be, by name."""
        found = [each for each in self._read(view, fingerprint) if isinstance(each, BrokenRefresh)]
        return tuple(sorted(found, key=lambda broken: broken.path.name))

    def latest(
        self, view: CompiledView, *, before: Instant, without: Collection[tuple[Instant, int]] = ()
    ) -> HistoryEntry | None:
        """Return the newest refresh with an as-of before the instant that was not withdrawn: an incremental run's base.

        Of one as-of it is the last restatement; those `without` are passed over, too.
        """
        entries = self.entries(view.name, view.fingerprint.data)
        found = [
            entry
            for entry in entries
            if entry.as_of < before and entry.withdrawn_at is None and (entry.as_of, entry.restatement) not in without
        ]
        return found[-1] if found else None

    def get(self, view: CompiledView, as_of: Instant) -> HistoryEntry | None:
        """Return the last restatement of an as-of that was not withdrawn."""
        found = [
            entry
            for entry in self.entries(view.name, view.fingerprint.data)
            if entry.as_of == as_of and entry.withdrawn_at is None
        ]
        return found[-1] if found else None

    def versions(self) -> tuple[tuple[str, str], ...]:
        """Return view and fingerprint of all view versions that have a whole refresh."""
        self._check_folder()
        found: dict[tuple[str, str], None] = {}
        for folder in sorted(self.root.glob("*/*")):
            entries = (read_entry(each) for each in sorted(folder.glob("as_of=*")))
            entry = next((each for each in entries if isinstance(each, HistoryEntry)), None)
            if entry is not None:
                found[(entry.view, entry.fingerprint)] = None
        return tuple(found)

    def read(self, engine: BatchEngine, view: CompiledView, entry: HistoryEntry) -> DataFrame:
        """Return the rows of a refresh, as `rows.offline_schema` has them; SourceError where they are not whole."""
        return engine.read_files(list(_files(entry)), offline_schema(view))

    def read_many(self, engine: BatchEngine, view: CompiledView, entries: Sequence[HistoryEntry]) -> DataFrame:
        """Return the rows of several refreshes, and behind them REFRESH_COLUMN, the `label` of each one's refresh.

        Entries without a row are not in it.
        """
        schema = offline_schema(view)
        columns = Schema((*schema.fields, Field(REFRESH_COLUMN, String())))
        files = [file for entry in entries for file in _files(entry)]
        return engine.read_files(files, columns, base=self._home(view.name, view.fingerprint.data))

    def draft(
        self,
        view: CompiledView,
        as_of: Instant,
        restatement: int,
        *,
        kind: str = "full",
        reason: str | None = None,
        remembered: int = 0,
    ) -> Draft:
        """Return what a run writes its rows into; `begin` makes the folder."""
        path = self._home(view.name, view.fingerprint.data) / folder_name(as_of, restatement)
        entry = HistoryEntry(
            view=view.name,
            fingerprint=view.fingerprint.data,
            as_of=as_of,
            restatement=restatement,
            visible_from=as_of,
            completed_at=as_of,
            kind=kind,
            reason=reason,
            remembered=remembered,
            path=path,
        )
        return Draft(entry=entry)

    def saved_draft(self, view: CompiledView, as_of: Instant, restatement: int) -> Draft | None:
        """Return the draft of a run that died when its rows were all written; None where there is none."""
        draft = self.draft(view, as_of, restatement)
        found = read_entry(draft.folder)
        if isinstance(found, BrokenRefresh) or found.fingerprint != view.fingerprint.data:
            return None
        return Draft(entry=replace(found, path=draft.entry.path))

    def withdraw(self, entry: HistoryEntry, at: Instant | None) -> HistoryEntry:
        """Return the entry as one that serves no longer from `at` on, None: as one that does; its rows stay."""
        return rewrite_entry(entry.path, lambda now: replace(now, withdrawn_at=at))

    def drop(self, entry: HistoryEntry) -> None:
        """Delete a refresh: it is listed no more at once, and its files go then."""
        gone = entry.path.with_name(DROPPED + entry.path.name)
        shutil.rmtree(gone, ignore_errors=True)
        entry.path.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)

    def drop_leftovers(
        self, view: str, fingerprint: str, *, running: Collection[Instant], older_than: Instant
    ) -> tuple[Path, ...]:
        """Delete what runs that died left behind, and return its folders; `running` are as-ofs that are written now.

        A draft that is whole may be of a refresh that serves: it waits for the run that gives it its name, unless its
        as-of is `older_than` that.
        """
        home = self._home(view, fingerprint)
        busy = tuple(DRAFT + folder_name(as_of, 0).removesuffix("0") for as_of in running)
        left = [*home.glob(f"{DROPPED}*")]
        for folder in home.glob(f"{DRAFT}*"):
            entry = read_entry(folder)
            whole = isinstance(entry, HistoryEntry) and entry.as_of > older_than
            if not whole and not folder.name.startswith(busy):
                left.append(folder)
        if not busy and next(home.glob("as_of=*"), None) is None:
            left += home.glob(TILES)  # there is no refresh left for another one to begin from
        for folder in left:
            shutil.rmtree(folder, ignore_errors=True)
        return tuple(sorted(left))

    def _check_folder(self) -> None:
        """Raise HistoryError where a file is in the place of the folder: that nothing is in it would say nothing."""
        there = next(path for path in (self.root, *self.root.parents) if path.exists())
        if not there.is_dir():
            raise HistoryError(
                "the history is not a folder",
                where=str(there),
                why="each refresh is kept in a folder of its own below it",
                try_="name a folder in history.path, or leave it out for one under `state`",
            )

    def _home(self, view: str, fingerprint: str) -> Path:
        return self.root / view / fingerprint[:_FINGERPRINT]

    def _folders(self, view: str, fingerprint: str) -> Iterator[Path]:
        self._check_folder()
        return self._home(view, fingerprint).glob("as_of=*")

    def _read(self, view: str, fingerprint: str) -> Iterable[HistoryEntry | BrokenRefresh]:
        return (self._entry(folder, view, fingerprint) for folder in self._folders(view, fingerprint))

    @staticmethod
    def _entry(folder: Path, view: str, fingerprint: str) -> HistoryEntry | BrokenRefresh:
        entry = read_entry(folder)
        if isinstance(entry, BrokenRefresh):
            return entry
        told = (entry.view, entry.fingerprint, folder_name(entry.as_of, entry.restatement))
        if told != (view, fingerprint, folder.name):
            return BrokenRefresh(path=folder, why=f"its {REFRESH_FILE} is of another refresh, {entry}")
        return entry


def served_at(entries: Sequence[HistoryEntry], at: Instant) -> HistoryEntry | None:
    """Return which of a view version's refreshes answered lookups at an instant; None where none did.

    It is the newest of those that were visible by then and not withdrawn. A backfill never answered any.
    """
    seen = [
        entry
        for entry in entries
        if entry.kind != "backfill"
        and entry.visible_from <= at
        and (entry.withdrawn_at is None or entry.withdrawn_at > at)
    ]
    return max(seen, key=lambda entry: (entry.as_of, entry.restatement), default=None)


def _files(entry: HistoryEntry) -> Iterator[Path]:
    if broken := damaged(entry, entry.path):
        raise SourceError(
            f"the history of {entry} is broken: {broken.why}",
            where=str(entry.path),
            why="rows that are there in part would silently be other values",
            try_="delete the folder, and compute it again: featurekit materialize --from … --to …",
        )
    return (entry.path / file.name for file in entry.files)
