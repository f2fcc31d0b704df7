"""A refresh computed from the one before and from what was touched since: the same rows, bit for bit.

Of the entities that something touched (`touched`) the rows are computed by the very SQL of `materialize`, over what
names these entities; all others keep the row that the history has. Where that can't be told, or is no less work, the
refresh is computed in full, and the reason is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Final

from featurekit.clock import Instant, format_instant
from featurekit.compiled import CompiledView
from featurekit.definitions.source import SourceFormat, SourceKind
from featurekit.offline.engine import BatchEngine
from featurekit.offline.history_folder import HistoryEntry
from featurekit.offline.materialize import check_frame, materialize_steps
from featurekit.offline.snapshot import FileSnapshot, SourceSnapshot, snapshot_source
from featurekit.offline.source import frame_name, key_names, read_source
from featurekit.offline.sql import Query, Select, Sql, instant, name, render_query
from featurekit.offline.tile_store import TileStore
from featurekit.offline.tiled import (
    SourceFiles,
    Tiles,
    came_dated_back,
    joined,
    read_tiles,
    save_all_tiles,
    save_new_tiles,
    touched_by_tiles,
)
from featurekit.offline.tiles import TILES, begins_with_buckets, can_tile, slots_from_tiles
from featurekit.offline.touched import (
    BASE,
    TOUCHED,
    Span,
    aged_entities,
    has_new_rows,
    left,
    not_null,
    thing,
    touched_entities,
)
from featurekit.parquet_footer import row_count
from featurekit.rows import LAST_EVENT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST_TOUCHED: Final = 0.5
"""The share of entities from which on a refresh is in full. A choice: where a third were touched it took half of a full
one's CPU, and where all were, without many rows each, more than all of it (`make incremental`)."""
MOST_FOLDERS: Final = 100
"""Of tiles: their files are small, and there are some for each refresh; beyond, they are joined."""
DENSE: Final = 8
"""Rows of one entity and step from which on tiles are taken where all are merged. A choice, too: with one or two they
were as many as the rows."""
_ALL: Final = "events of all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Incremental:
    """The rows of a refresh, and how many entities of them are computed; no frame where it has to be in full.

    `reason` says why it has to be, or what was computed.
    """

    frame: DataFrame | None
    changed: int | None
    reason: str


def incremental_frame(
    engine: BatchEngine,
    view: CompiledView,
    as_of: Instant,
    base: HistoryEntry,
    base_rows: DataFrame,
    *,
    by_tiles: bool = True,
) -> Incremental:
    """Return the rows of `materialized_frame(engine, view, as_of)`, from an earlier refresh and what was touched since.

    Finding that out runs queries; the frame itself is lazy. Unless `by_tiles`, none are read or left on disk.
    """
    now = snapshot_source(engine, view)
    reason = why_full(view, as_of, base, now)
    if reason is not None:
        return _in_full(reason)
    span = Span.of(view, base.as_of, as_of)
    assert base.snapshot is not None
    added = _added(base.snapshot, now)
    if view.source.kind is SourceKind.SNAPSHOTS:
        return _same_snapshot(engine, view, span, base_rows, bool(added))
    if reason := why_most(engine, view, span, base, base_rows, added):
        return _in_full(reason)
    if by_tiles and can_tile(view, as_of):
        found = _from_tiles(engine, view, span, base, base_rows, now, added)
        if found is not None:
            return found
    touched, changed = engine.held(touched_entities(engine, view, span, base_rows, added))
    if changed > MOST_TOUCHED * base.rows:
        return _in_full(f"{changed:,} entities were touched since {_shown(base)}, which has {base.rows:,} rows")
    frames = {frame_name(view): read_source(engine, view), TOUCHED: touched, BASE: base_rows}
    frame = engine.query(render_query(incremental_steps(view, as_of)), frames)
    check_frame(view, frame)
    return Incremental(frame=frame, changed=changed, reason=f"what was touched since {_shown(base)}")


def _from_tiles(
    engine: BatchEngine,
    view: CompiledView,
    span: Span,
    base: HistoryEntry,
    base_rows: DataFrame,
    now: SourceSnapshot,
    added: tuple[Path, ...],
) -> Incremental | None:
    """Return the refresh from tiles, with new ones for the next one; None where windows don't begin with buckets."""
    assert base.snapshot is not None
    store = TileStore(base.path.parent)
    folders = store.folders(base.as_of, base.snapshot)
    mergeable = begins_with_buckets(view, span.after)
    source = read_source(engine, view)
    if folders is None or came_dated_back(engine, view, span, added):
        whole = save_all_tiles(engine, view, span.after, store, now, source)
        store.drop_others(base.as_of, span.after)
        if not mergeable:
            return None
        frame = _all_merged(engine, view, span.after, whole)
        return Incremental(frame=frame, changed=None, reason="tiles of all rows in reach, made anew")
    files = SourceFiles(old=tuple(map(Path, sorted(_by_path(base.snapshot)))), added=added)
    whole, new = save_new_tiles(engine, view, span, store, folders, now, files, source)
    touched = touched_by_tiles(engine, view, span, base_rows, whole.of_folders(folders), new) if mergeable else None
    held = None if touched is None else engine.held(touched)
    if len(whole.folders) > MOST_FOLDERS:
        whole = joined(engine, view, span.after, store, whole, source)
        store.save(span.after, now, whole.folders)
    store.drop_others(base.as_of, span.after)
    return None if held is None else _merged_tiles(engine, view, span, base, base_rows, whole, *held)


def _all_merged(engine: BatchEngine, view: CompiledView, as_of: Instant, tiles: Tiles) -> DataFrame:
    frame = engine.query(render_query(slots_from_tiles(view, as_of, ())), {TILES: read_tiles(engine, view, tiles)})
    check_frame(view, frame)
    return frame


def _merged_tiles(
    engine: BatchEngine,
    view: CompiledView,
    span: Span,
    base: HistoryEntry,
    base_rows: DataFrame,
    tiles: Tiles,
    touched: DataFrame,
    changed: int,
) -> Incremental:
    """Return the refresh with the rows of touched entities merged from tiles; those of all where most were touched."""
    if changed > MOST_TOUCHED * base.rows:
        frame = _all_merged(engine, view, span.after, tiles)
        return Incremental(frame=frame, changed=None, reason=f"tiles: {changed:,} entities were touched")
    query = slots_from_tiles(view, span.after, (_is_touched(view),))
    query = query.then("refresh", _merged(view, query.last))
    frames = {TILES: read_tiles(engine, view, tiles), TOUCHED: touched, BASE: base_rows}
    frame = engine.query(render_query(query), frames)
    check_frame(view, frame)
    return Incremental(frame=frame, changed=changed, reason=f"what was touched since {_shown(base)}, from tiles")


def _same_snapshot(
    engine: BatchEngine, view: CompiledView, span: Span, base_rows: DataFrame, has_new_files: bool
) -> Incremental:
    """Return the rows of the base where no row of any came since; a new snapshot is about every entity."""
    if has_new_files or has_new_rows(engine, view, span):
        return _in_full("rows of snapshots came, and a new one says everything anew")
    aged = aged_entities(engine, view, span, base_rows)
    if aged is not None and engine.held(aged)[1]:
        return _in_full("the snapshot passed a ttl, which is about every entity")
    return Incremental(
        frame=base_rows, changed=0, reason=f"no rows of snapshots came since {format_instant(span.before)}"
    )


def _in_full(reason: str) -> Incremental:
    return Incremental(frame=None, changed=None, reason=reason)


def _shown(base: HistoryEntry) -> str:
    return format_instant(base.as_of)


def why_full(view: CompiledView, as_of: Instant, base: HistoryEntry, now: SourceSnapshot) -> str | None:
    """Return why a refresh can't be computed from a base; None where it can. `now` is the source as it is."""
    source = view.source
    if base.view != view.name or base.fingerprint != view.fingerprint.data:
        return "the kept rows are of another version of the view"
    if base.withdrawn_at is not None:
        return f"the refresh of {_shown(base)} was withdrawn"
    if base.as_of >= as_of:
        return f"the kept rows are of {_shown(base)}, and no earlier refresh is kept"
    if base.snapshot is None or not base.snapshot.files:
        return f"of the refresh of {_shown(base)} it is not known which files it read"
    if not now.files or any(file.modified is None for file in now.files):
        return f"which files source {source.name} consists of, and whether one was written again, can't be told"
    old, new = _by_path(base.snapshot), _by_path(now)
    for path, file in old.items():
        if path not in new:
            return f"{path} is gone since {_shown(base)}"
        if (file.size, file.modified) != (new[path].size, new[path].modified):
            return f"{path} was written again since {_shown(base)}"
    by_query = source.origin in (SourceFormat.TABLE, SourceFormat.SQL)
    # A file alone does not say which of its folders' names a pattern takes for columns.
    behind_pattern = bool(view.source_schema.partitions) and has_magic(str(source.path))
    if new.keys() - old.keys() and (by_query or behind_pattern):
        return f"source {source.name} has new files, and which of its rows are from them can't be told"
    return None


def why_most(
    engine: BatchEngine, view: CompiledView, span: Span, base: HistoryEntry, base_rows: DataFrame, added: Sequence[Path]
) -> str | None:
    """Return why most entities will have been touched, told from the kept rows alone; None where that can't be said.

    Who had an event in a step as long before the base tells how many have one now, and in each step that leaves a
    window. Where many rows are of one entity, tiles are less work nevertheless.
    """
    recent = f"{name(LAST_EVENT)} >= {instant(span.before - (span.after - span.before))}"
    step = Select(columns=(("n", "count(*)"),), source=BASE, where=(recent,))
    active = engine.to_arrow(engine.query(render_query(Query(steps=(("active", step),))), {BASE: base_rows}))["n"][
        0
    ].as_py()
    share = min(active / max(base.rows, 1), 1.0)
    steps = 1 + sum(start is not None for start, _ in left(view, span))
    if 1 - (1 - share) ** steps <= MOST_TOUCHED:
        return None
    counts = [row_count(path) for path in added]
    came = sum(count for count in counts if count is not None)
    if can_tile(view, span.after) and None not in counts and came >= DENSE * active:
        return None
    return f"{active:,} of {base.rows:,} entities had an event in the step before {_shown(base)}: most are touched"


def _by_path(snapshot: SourceSnapshot) -> dict[str, FileSnapshot]:
    return {file.path: file for file in snapshot.files}


def _added(before: SourceSnapshot, now: SourceSnapshot) -> tuple[Path, ...]:
    return tuple(map(Path, sorted(_by_path(now).keys() - _by_path(before).keys())))


def incremental_steps(view: CompiledView, as_of: Instant) -> Query:
    """Return the steps that compute the rows of touched entities, and take all others from the base."""
    steps: list[tuple[str, Select]] = []
    for label, step in materialize_steps(view, as_of).steps:
        if label == "events":
            steps += [(_ALL, step), ("events", _of_touched(view))]
        else:
            steps.append((label, step))
    return Query(steps=tuple(steps)).then("refresh", _merged(view, steps[-1][0]))


def _of_touched(view: CompiledView) -> Select:
    """Return the rows that can decide a touched entity's row: its own, and those that supersede one of them."""
    own = where = _is_touched(view)
    if parts := thing(view):
        things = ", ".join(map(name, parts))
        known = " AND ".join(not_null(parts))
        # A version that names another entity takes an event away from this one.
        same = f"({things}) IN (SELECT {things} FROM {name(_ALL)} WHERE {own} AND {known})"
        where = f"({same} OR (NOT ({known}) AND {own}))"
    return Select(columns=(("*", "*"),), source=_ALL, where=(where,), note="of the entities that were touched")


def _is_touched(view: CompiledView) -> Sql:
    keys = ", ".join(map(name, key_names(view)))
    return f"({keys}) IN (SELECT {keys} FROM {name(TOUCHED)})"


def _merged(view: CompiledView, computed: str) -> Select:
    """Return the step that takes touched entities from what was computed, and all others from the base."""

    def is_touched(source: str) -> Sql:
        keys = zip(key_names(view), view.keys, strict=True)
        same = " AND ".join(f"{name(TOUCHED, label)} = {name(source, key.name)}" for label, key in keys)
        return f"EXISTS (SELECT 1 FROM {name(TOUCHED)} WHERE {same})"

    kept = Select(columns=(("*", "*"),), source=BASE, where=(f"NOT {is_touched(BASE)}",))
    # What takes a version away from a touched entity may be another one's row, and is not all that the other has.
    note = "touched entities as computed, all others as they were"
    return Select(columns=(("*", "*"),), source=computed, where=(is_touched(computed),), union=kept, note=note)
