"""An incremental refresh from tiles: of the source only what came since the base is read (`tiles`).

Which entities were touched is told from the tiles, too: those of the rows that came, those with a tile in a bucket that
left a window, and those whose newest row aged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from featurekit.clock import Instant
from featurekit.compiled import CompiledView
from featurekit.offline.engine import BatchEngine
from featurekit.offline.slices import any_of, raw_slice
from featurekit.offline.snapshot import SourceSnapshot
from featurekit.offline.source import CREATED, EVENT, event_steps, frame_name, key_names, read_source
from featurekit.offline.sql import Query, Select, before, instant, name, render_query
from featurekit.offline.tile_store import TileFolder, TileStore
from featurekit.offline.tiles import BUCKET, TILES, first_bucket, tile_steps
from featurekit.offline.touched import Span, aged_entities, came, left, narrowed, stretch, union

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFiles:
    """A source's files: those that the base read too, and those that were added since."""

    old: tuple[Path, ...]
    added: tuple[Path, ...]


def save_all_tiles(
    engine: BatchEngine, view: CompiledView, as_of: Instant, store: TileStore, now: SourceSnapshot
) -> TileFolder:
    """Make tiles of all rows in reach of a refresh: it is merged from them, the next one also from what comes."""
    folder = _written(engine, view, as_of, store, read_source(engine, view), (), ())
    store.save(as_of, now, (folder,))
    return folder


def came_dated_back(engine: BatchEngine, view: CompiledView, span: Span, added: Sequence[Path]) -> bool:
    """Return whether a new file has a row that the base would have had, had the file been there.

    The source says that it was readable before it was. It is counted from the later refresh on; but whether the base
    has it already can't be told, where the file came while the base was computed.
    """
    source = view.source
    if source.created_timestamp is None or not added:
        return False
    raw = () if source.known_from else any_of([raw_slice(view, source.created_timestamp, None, span.known_before + 1)])
    events = event_steps(view, known_by=span.known_before, since=view.since(span.after), until=span.before)
    steps = ((label, narrowed(step, raw) if label == "source" else step) for label, step in events.steps)
    where = (before(name(EVENT), span.before), f"{name(CREATED)} <= {instant(span.known_before)}")
    count = Select(columns=(("n", "count(*)"),), source=events.last, where=where)
    text = render_query(Query(steps=(*steps, ("dated back", count))))
    found = engine.to_arrow(engine.query(text, {frame_name(view): read_source(engine, view, added)}))
    return bool(found["n"][0].as_py())


def save_new_tiles(
    engine: BatchEngine,
    view: CompiledView,
    span: Span,
    store: TileStore,
    folders: tuple[TileFolder, ...],
    now: SourceSnapshot,
    files: SourceFiles,
) -> tuple[TileFolder, ...]:
    """Make tiles of the rows that came since the base, list them with the base's, and return the new folders."""
    touches = came(view, span)
    raw, where = any_of(touch.raw for touch in touches), (f"({' OR '.join(touch.where for touch in touches)})",)
    if view.source.created_timestamp is not None or not files.added:
        new = [_written(engine, view, span.after, store, read_source(engine, view), raw, where)]
    else:
        # Nothing else tells when the rows of a new file came, however they are dated.
        old, added = read_source(engine, view, files.old), read_source(engine, view, files.added)
        new = [_written(engine, view, span.after, store, old, raw, where)]
        new.append(_written(engine, view, span.after, store, added, (), ()))
    first = first_bucket(view, span.after)
    store.save(span.after, now, (*(folder for folder in folders if folder.as_of > first), *new))
    return tuple(new)


def _written(
    engine: BatchEngine,
    view: CompiledView,
    as_of: Instant,
    store: TileStore,
    source: DataFrame,
    raw: tuple[str, ...],
    where: tuple[str, ...],
) -> TileFolder:
    folder = store.new_folder(as_of)
    text = render_query(tile_steps(view, as_of, raw, where))
    engine.write_parquet(engine.query(text, {frame_name(view): source}), folder.path)
    return folder


def read_tiles(engine: BatchEngine, folders: Sequence[TileFolder]) -> DataFrame:
    files = [file for folder in folders for file in folder.files()]
    return engine.read_parquet(str(files[0]), files)


def touched_by_tiles(
    engine: BatchEngine,
    view: CompiledView,
    span: Span,
    kept: DataFrame,
    folders: Sequence[TileFolder],
    new: Sequence[TileFolder],
) -> DataFrame:
    """Return the keys of the entities that were touched, each once; `new` are the folders of what came."""
    parts = [_keys(engine, view, read_tiles(engine, new), ())]
    for start, end in left(view, span):
        low = None if start is None else view.view.grid.floor(start)
        # Late rows of those buckets can be in any later folder, and none in an earlier one.
        old = [folder for folder in folders if low is None or folder.as_of > low]
        if old:
            parts.append(_keys(engine, view, read_tiles(engine, old), (stretch(name(BUCKET), low, end),)))
    if (aged := aged_entities(engine, view, span, kept)) is not None:
        parts.append(aged)
    return union(engine, parts, key_names(view))


def _keys(engine: BatchEngine, view: CompiledView, tiles: DataFrame, where: tuple[str, ...]) -> DataFrame:
    columns = tuple((key, name(key)) for key in key_names(view))
    step = Select(columns=columns, source=TILES, where=where)
    return engine.query(render_query(Query(steps=(("keys", step),))), {TILES: tiles})
