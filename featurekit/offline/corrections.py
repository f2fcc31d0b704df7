"""Tiles of events that have versions: what a correction touches is made anew, and all else stays.

An event of which one version is known is like any other: it comes, and adds to its tile. Only an event of which several
are known can go from where it was. So beside the tiles there are all rows of such *contested* events, whenever they
came, and each refresh

    finds       of the ids of rows that came since the base every row that is known. An id with several is contested;
                its rows join those that are kept. All others had their newest version then, and have the same now
    voids       the buckets of entities in which a row of these ids lies: where one was taken away, or put
    makes       tiles of these buckets anew, of the rows whose event has one version, and of the newest versions of
                contested events; and tiles of what came into other buckets

An id is contested from the first refresh on by which two rows of it are known, so what is kept is complete: that of
the source at the base, and each id that a row came of since.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from featurekit.clock import Instant, micros_of
from featurekit.compiled import CompiledView
from featurekit.offline.engine import BatchEngine
from featurekit.offline.slices import any_of, id_slice, raw_slice
from featurekit.offline.source import EVENT, ID, event_steps, frame_name, key_names, newest_version
from featurekit.offline.sql import Query, Select, Sql, before, call, case, instant, name, render_query
from featurekit.offline.tile_store import TileFolder, TileKind, TileStore, of_kind
from featurekit.offline.tiles import BUCKET, MADE, ROWS, TILES, bucket_sql, first_bucket, tiles_of_rows
from featurekit.offline.touched import Span, came, narrowed, not_null

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

VOIDS: Final = "featurekit_voids"
CONTESTED: Final = "featurekit_contested"
_CAME: Final = "featurekit_came"
_IDS: Final = "featurekit_ids"
_IS_NEW: Final = "$came"
_VERSIONS: Final = "$versions"
_RANK: Final = "$version"
_MOST_SLICES: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """The new folders of a refresh, the tiles' columns, and the entities and buckets that were made anew (None: no)."""

    folders: tuple[TileFolder, ...]
    like: DataFrame
    voids: DataFrame | None


def save_contested(
    engine: BatchEngine, view: CompiledView, as_of: Instant, store: TileStore, source: DataFrame
) -> TileFolder:
    """Write all rows of the events of which several versions are known by a refresh."""
    query = _counted(event_steps(view, known_by=_known_by(view, as_of), since=None, until=None))
    several = Select(columns=_columns(view), source=query.last, where=(f"{name(_VERSIONS)} > 1",))
    folder = store.new_folder(as_of, TileKind.VERSIONS)
    engine.write_parquet(_run(engine, query.then("contested", several), {frame_name(view): source}), folder.path)
    return folder


def save_corrected(
    engine: BatchEngine, view: CompiledView, span: Span, store: TileStore, kept: Iterable[TileFolder], source: DataFrame
) -> Corrected:
    """Write tiles of what came since the base, and of what that took away; `kept` are the folders of the base."""
    known = _known_rows(engine, view, span, source)
    several = Select(columns=_columns(view), source=_CAME, where=(f"{name(_VERSIONS)} > 1",))
    contested, count = engine.held(_run(engine, Query(steps=(("contested", several),)), {_CAME: known}))
    new: list[TileFolder] = []
    voids, rows = None, Select(columns=_columns(view), source=_CAME, where=_alone())
    frames = {_CAME: known}
    query = Query(steps=(("rows", rows),))
    if count:
        new.append(_write(engine, store, span.after, TileKind.VERSIONS, contested))
        voids, _ = engine.held(_run(engine, _buckets_of(view, span.after), {CONTESTED: contested}))
        new.append(_write(engine, store, span.after, TileKind.VOIDS, voids))
        paths = [folder.path for folder in of_kind((*kept, *new), TileKind.VERSIONS)]
        frames |= {frame_name(view): source, VOIDS: voids, CONTESTED: engine.read_folders(paths, contested)}
        query = _rows(view, span.after, _slices(engine, view, voids))
    tiles = _run(engine, tiles_of_rows(view, span.after), {ROWS: _run(engine, query, frames)})
    new.append(_write(engine, store, span.after, TileKind.TILES, tiles))
    return Corrected(folders=tuple(new), like=tiles, voids=voids)


def _write(engine: BatchEngine, store: TileStore, as_of: Instant, kind: TileKind, frame: DataFrame) -> TileFolder:
    folder = store.new_folder(as_of, kind)
    engine.write_parquet(frame, folder.path)
    return folder


def joined_versions(
    engine: BatchEngine,
    view: CompiledView,
    as_of: Instant,
    store: TileStore,
    folders: Iterable[TileFolder],
    source: DataFrame,
) -> tuple[TileFolder, ...]:
    """Return the rows of contested events in one folder; none where rows have no versions."""
    paths = [folder.path for folder in of_kind(tuple(folders), TileKind.VERSIONS)]
    if not paths:
        return ()
    like = _run(engine, event_steps(view, known_by=None, since=None, until=None), {frame_name(view): source})
    return (_write(engine, store, as_of, TileKind.VERSIONS, engine.read_folders(paths, like)),)


def without_voids(
    engine: BatchEngine, view: CompiledView, tiles: DataFrame, folders: Iterable[TileFolder]
) -> DataFrame:
    """Return the tiles that stand: those that no later refresh made anew."""
    paths = [each.path for each in of_kind(tuple(folders), TileKind.VOIDS)]
    if not paths:
        return tiles
    columns = tuple((part, name(part)) for part in (*key_names(view), BUCKET, MADE))
    like = _run(engine, Query(steps=(("voids", Select(columns=columns, source=TILES)),)), {TILES: tiles})
    same = _same(view, TILES, VOIDS)
    void = f"EXISTS (SELECT 1 FROM {name(VOIDS)} WHERE {same} AND {name(TILES, MADE)} < {name(VOIDS, MADE)})"
    step = Select(columns=(("*", "*"),), source=TILES, where=(f"NOT {void}",), note="but those that were made anew")
    frames = {TILES: tiles, VOIDS: engine.read_folders(paths, like)}
    return _run(engine, Query(steps=(("standing", step),)), frames)


def _known_rows(engine: BatchEngine, view: CompiledView, span: Span, source: DataFrame) -> DataFrame:
    """Return all known rows of each id of which a row came, with their number; of those without id what came.

    A version counts from when it is known on, whenever it is dated, and without any event timestamp.
    """
    touches = came(view, span)
    raw, arrived = any_of(touch.raw for touch in touches), f"({' OR '.join(touch.where for touch in touches)})"
    frames = {frame_name(view): source}
    events = event_steps(view, known_by=span.known_after, since=None, until=None)
    where = (arrived, *not_null((ID,)))
    one = Select(columns=((ID, name(ID)),), source=events.last, where=where, group_by=(name(ID),))
    ids, _ = engine.held(_run(engine, _narrowed(events, raw).then("ids", one), frames))
    bounds = Select(columns=(("low", f"min({name(ID)})"), ("high", f"max({name(ID)})")), source=_IDS)
    found = engine.to_arrow(_run(engine, Query(steps=(("bounds", bounds),)), {_IDS: ids}))
    in_range = id_slice(view, found["low"][0].as_py(), found["high"][0].as_py())
    is_one = f"{name(ID)} IN (SELECT {name(ID)} FROM {name(_IDS)})"
    chosen = Select(
        columns=(("*", "*"), (_IS_NEW, call("coalesce", arrived, "false"))),
        source=events.last,
        where=(f"({is_one} OR ({name(ID)} IS NULL AND {arrived}))",),
        note="of ids that a row came of",
    )
    query = _narrowed(events, any_of([in_range, *(raw or (None,))])).then("of ids", chosen)
    query = _counted(query)
    placed = Select(columns=(("*", "*"), (BUCKET, bucket_sql(view, span.after))), source=query.last)
    return engine.held(_run(engine, query.then("placed", placed), {**frames, _IDS: ids}))[0]


def _counted(query: Query) -> Query:
    several = case((f"{name(ID)} IS NOT NULL", f"count(*) OVER (PARTITION BY {name(ID)})"), otherwise="1L")
    step = Select(columns=(("*", "*"), (_VERSIONS, several)), source=query.last, note="how many versions there are")
    return query.then("counted", step)


def _buckets_of(view: CompiledView, as_of: Instant) -> Query:
    """Return the steps that find the entities and buckets of contested rows, in reach of a refresh."""
    first = first_bucket(view, as_of)
    in_reach = (f"{name(EVENT)} >= {instant(first)}", before(name(EVENT), as_of))
    rows = Select(
        columns=(("*", "*"), (BUCKET, bucket_sql(view, as_of))),
        source=CONTESTED,
        where=(*in_reach, *not_null(key_names(view))),
    )
    step = Select(
        columns=_void(view, as_of),
        source="rows",
        group_by=(*map(name, key_names(view)), name(BUCKET)),
        note="once each",
    )
    return Query(steps=(("rows", rows), ("voids", step)))


def _void(view: CompiledView, as_of: Instant) -> tuple[tuple[str, Sql], ...]:
    return (*((key, name(key)) for key in key_names(view)), (BUCKET, name(BUCKET)), (MADE, instant(as_of)))


def _alone() -> tuple[Sql, ...]:
    return (f"{name(_VERSIONS)} = 1", name(_IS_NEW))


def _rows(view: CompiledView, as_of: Instant, raw: tuple[Sql, ...]) -> Query:
    """Return the steps of the rows that tiles are made of: all of void buckets, and what came into others."""
    columns = _columns(view)
    events = event_steps(view, known_by=_known_by(view, as_of), since=None, until=None)
    bucket = (BUCKET, bucket_sql(view, as_of))
    void = f"EXISTS (SELECT 1 FROM {name(VOIDS)} WHERE {{}})"
    is_contested = f"EXISTS (SELECT 1 FROM {name('ids')} WHERE {name('ids', ID)} = {name('placed', ID)})"
    query = _narrowed(events, raw)
    query = query.then("ids", Select(columns=((ID, name(ID)),), source=CONTESTED, group_by=(name(ID),)))
    query = query.then("placed", Select(columns=(("*", "*"), bucket), source=events.last))
    query = query.then(
        "versions", Select(columns=(("*", "*"), (_RANK, newest_version(view)), bucket), source=CONTESTED)
    )
    newest = Select(
        columns=columns,
        source="versions",
        where=(f"{name(_RANK)} = 1", void.format(_same(view, "versions", VOIDS))),
        note="the newest version of a contested event",
    )
    others = Select(
        columns=columns,
        source="placed",
        where=(f"NOT {is_contested}", void.format(_same(view, "placed", VOIDS))),
        union=newest,
        note="the other rows of buckets that are made anew",
    )
    elsewhere = Select(
        columns=columns,
        source=_CAME,
        where=(*_alone(), f"NOT {void.format(_same(view, _CAME, VOIDS))}"),
        union=others,
        note="what came into other buckets",
    )
    return query.then("rows", elsewhere)


def _same(view: CompiledView, one: str, other: str) -> Sql:
    return " AND ".join(f"{name(one, part)} = {name(other, part)}" for part in (*key_names(view), BUCKET))


def _slices(engine: BatchEngine, view: CompiledView, voids: DataFrame) -> tuple[Sql, ...]:
    """Return the condition on raw event timestamps that no row of the voids' buckets fails."""
    step = Select(columns=((BUCKET, name(BUCKET)),), source=VOIDS, group_by=(name(BUCKET),))
    found = engine.to_arrow(_run(engine, Query(steps=(("buckets", step),)), {VOIDS: voids}))[BUCKET].to_pylist()
    starts = sorted(map(micros_of, found))
    grid = view.view.grid
    stretches: list[tuple[Instant, Instant]] = []
    for start in starts:
        if stretches and stretches[-1][1] == start:
            stretches[-1] = (stretches[-1][0], grid.next(start))
        else:
            stretches.append((start, grid.next(start)))
    if len(stretches) > _MOST_SLICES:
        stretches = [(stretches[0][0], stretches[-1][1])]
    return any_of(raw_slice(view, view.source.event_timestamp, low, high) for low, high in stretches)


def _columns(view: CompiledView) -> tuple[tuple[str, Sql], ...]:
    """Return the columns of an events step."""
    step = dict(event_steps(view, known_by=None, since=None, until=None).steps)["events"]
    return tuple((label, name(label)) for label, _ in step.columns)


def _known_by(view: CompiledView, as_of: Instant) -> Instant:
    return as_of + view.view.allowed_lateness


def _narrowed(query: Query, raw: tuple[Sql, ...]) -> Query:
    return Query(
        steps=tuple((label, narrowed(step, raw) if label == "source" else step) for label, step in query.steps)
    )


def _run(engine: BatchEngine, query: Query, frames: dict[str, Any]) -> DataFrame:
    return engine.query(render_query(query), frames)
