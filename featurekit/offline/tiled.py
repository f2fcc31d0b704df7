"""An incremental refresh from tiles: of the source only what came since the base is read (`tiles`).

Which entities were touched is told from the tiles, too: those of the rows that came, those with a tile in a bucket that
left a window, and those whose newest row aged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from featurekit.clock import Instant
from featurekit.compiled import CompiledView
from featurekit.definitions.source import SourceFormat
from featurekit.offline.corrections import joined_versions, save_contested, save_corrected, without_voids
from featurekit.offline.engine import BatchEngine
from featurekit.offline.slices import any_of, raw_slice
from featurekit.offline.snapshot import SourceSnapshot
from featurekit.offline.source import CREATED, EVENT, event_steps, frame_name, key_names, read_source
from featurekit.offline.sql import Query, Select, before, instant, name, render_query
from featurekit.offline.tile_store import TileFolder, TileKind, TileStore, of_kind
from featurekit.offline.tiles import BUCKET, TILES, first_bucket, tile_steps
from featurekit.offline.touched import Span, aged_entities, came, left, narrowed, stretch, union
from featurekit.parquet_footer import time_range
from featurekit.types import Timestamp

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFiles:
    """A source's files: those that the base read too, and those that were added since."""

    old: tuple[Path, ...]
    added: tuple[Path, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiles:
    """Folders, with a frame that has the columns of tiles, and the entities whose tiles were made anew, if any were."""

    folders: tuple[TileFolder, ...]
    like: DataFrame
    voids: DataFrame | None = None

    def of_folders(self, folders: Sequence[TileFolder]) -> Tiles:
        return replace(self, folders=tuple(folders))


def save_all_tiles(
    engine: BatchEngine, view: CompiledView, as_of: Instant, store: TileStore, now: SourceSnapshot, source: DataFrame
) -> Tiles:
    """Make tiles of all rows in reach of a refresh: it is merged from them, the next one also from what comes."""
    folder, like = _written(engine, view, as_of, store, source, (), ())
    versions = () if view.source.event_id is None else (save_contested(engine, view, as_of, store, source),)
    store.save(as_of, now, (folder, *versions))
    return Tiles(folders=(folder,), like=like)


def joined(
    engine: BatchEngine, view: CompiledView, as_of: Instant, store: TileStore, tiles: Tiles, source: DataFrame
) -> Tiles:
    """Return the same tiles in one folder, without those that no refresh from `as_of` on has in reach."""
    where = (f"{name(BUCKET)} >= {instant(first_bucket(view, as_of))}",)
    query = Query(steps=(("tiles", Select(columns=(("*", "*"),), source=TILES, where=where)),))
    folder = store.new_folder(as_of)
    engine.write_parquet(engine.query(render_query(query), {TILES: read_tiles(engine, view, tiles)}), folder.path)
    return tiles.of_folders((folder, *joined_versions(engine, view, as_of, store, tiles.folders, source)))


def came_dated_back(engine: BatchEngine, view: CompiledView, span: Span, added: Sequence[Path]) -> bool:
    """Return whether a new file has a row that the base would have had, had the file been there.

    The source says that it was readable before it was. It is counted from the later refresh on; but whether the base
    has it already can't be told, where the file came while the base was computed.
    """
    source = view.source
    if source.created_timestamp is None or not added or _landed_since(view, span, added):
        return False
    raw = () if source.known_from else any_of([raw_slice(view, source.created_timestamp, None, span.known_before + 1)])
    events = event_steps(view, known_by=span.known_before, since=view.since(span.after), until=span.before)
    steps = ((label, narrowed(step, raw) if label == "source" else step) for label, step in events.steps)
    # A version supersedes another one whenever it is dated.
    dated = () if source.event_id is not None else (before(name(EVENT), span.before),)
    where = (*dated, f"{name(CREATED)} <= {instant(span.known_before)}")
    count = Select(columns=(("n", "count(*)"),), source=events.last, where=where)
    text = render_query(Query(steps=(*steps, ("dated back", count))))
    found = engine.to_arrow(engine.query(text, {frame_name(view): read_source(engine, view, added)}))
    return bool(found["n"][0].as_py())


def _landed_since(view: CompiledView, span: Span, added: Sequence[Path]) -> bool:
    """Return whether the footers of new files say that all their rows were created after the base was computed."""
    source, schema = view.source, view.source_schema
    column = source.created_timestamp
    field = None if column is None else schema.schema.get(column)
    plain = (
        field is not None and isinstance(field.type, Timestamp) and column not in (*schema.naive, *schema.partitions)
    )
    if column is None or not plain or source.known_from or source.origin is not SourceFormat.PARQUET:
        return False
    ranges = [time_range(path, column) for path in added]
    return all(found is not None and found[0] > span.known_before for found in ranges)


def save_new_tiles(
    engine: BatchEngine,
    view: CompiledView,
    span: Span,
    store: TileStore,
    folders: tuple[TileFolder, ...],
    now: SourceSnapshot,
    files: SourceFiles,
    source: DataFrame,
) -> tuple[Tiles, Tiles]:
    """Make tiles of the rows that came since the base; return the base's in reach with them, and the new ones alone."""
    if view.source.event_id is not None:
        found = save_corrected(engine, view, span, store, folders, source)
        new = Tiles(folders=found.folders, like=found.like, voids=found.voids)
    else:
        new = _came(engine, view, span, store, files, source)
    first = first_bucket(view, span.after)
    reached = [folder for folder in folders if folder.as_of > first or folder.kind is TileKind.VERSIONS]
    whole = new.of_folders((*reached, *new.folders))
    store.save(span.after, now, whole.folders)
    return whole, new


def _came(
    engine: BatchEngine, view: CompiledView, span: Span, store: TileStore, files: SourceFiles, source: DataFrame
) -> Tiles:
    touches = came(view, span)
    raw, where = any_of(touch.raw for touch in touches), (f"({' OR '.join(touch.where for touch in touches)})",)
    if view.source.created_timestamp is not None or not files.added:
        folder, like = _written(engine, view, span.after, store, source, raw, where)
        return Tiles(folders=(folder,), like=like)
    # Nothing else tells when the rows of a new file came, however they are dated.
    old, added = read_source(engine, view, files.old), read_source(engine, view, files.added)
    folder, like = _written(engine, view, span.after, store, old, raw, where)
    other, _ = _written(engine, view, span.after, store, added, (), ())
    return Tiles(folders=(folder, other), like=like)


def _written(
    engine: BatchEngine,
    view: CompiledView,
    as_of: Instant,
    store: TileStore,
    source: DataFrame,
    raw: tuple[str, ...],
    where: tuple[str, ...],
) -> tuple[TileFolder, DataFrame]:
    folder = store.new_folder(as_of)
    frame = engine.query(render_query(tile_steps(view, as_of, raw, where)), {frame_name(view): source})
    engine.write_parquet(frame, folder.path)
    return folder, frame


def read_tiles(engine: BatchEngine, view: CompiledView, tiles: Tiles) -> DataFrame:
    """Return the tiles of some folders that stand."""
    paths = [folder.path for folder in of_kind(tiles.folders, TileKind.TILES)]
    return without_voids(engine, view, engine.read_folders(paths, tiles.like), tiles.folders)


def touched_by_tiles(
    engine: BatchEngine, view: CompiledView, span: Span, kept: DataFrame, tiles: Tiles, new: Tiles
) -> DataFrame:
    """Return the keys of the entities that were touched, each once: `tiles` are the base's, `new` of what came."""
    everything = engine.read_folders([folder.path for folder in of_kind(new.folders, TileKind.TILES)], new.like)
    parts = [_keys(engine, view, everything, ())]
    if new.voids is not None:
        parts.append(_keys(engine, view, new.voids, ()))
    for start, end in left(view, span):
        low = None if start is None else view.view.grid.floor(start)
        # Late rows of those buckets can be in any later folder, and none in an earlier one.
        old = [folder.path for folder in of_kind(tiles.folders, TileKind.TILES) if low is None or folder.as_of > low]
        where = (stretch(name(BUCKET), low, end),)
        parts.append(_keys(engine, view, engine.read_folders(old, tiles.like), where))
    if (aged := aged_entities(engine, view, span, kept)) is not None:
        parts.append(aged)
    return union(engine, parts, key_names(view))


def _keys(engine: BatchEngine, view: CompiledView, tiles: DataFrame, where: tuple[str, ...]) -> DataFrame:
    columns = tuple((key, name(key)) for key in key_names(view))
    step = Select(columns=columns, source=TILES, where=where)
    return engine.query(render_query(Query(steps=(("keys", step),))), {TILES: tiles})
