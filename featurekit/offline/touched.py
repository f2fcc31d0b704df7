"""Which entities can have another row as of `after` than as of `before`: those that something touched in between.

An entity's row is a function of its visible rows, of which of them are in each window, and of how old the newest is.
A row is visible while an as-of is in [enter, exit) (`sweep`); so it can only have changed where, in (before, after],

    happened        a row's event timestamp passed: enter is event + 1 µs where the row was known by then
    landed          a row dated before became known: enter is created - lateness
    left WINDOW     a row left a window: its event is in [start(before), start(after)). Starts never go back, so a row
                    that is in a window as of both was in it all the time, and one that left does not return. The last n
                    rows: another row is one of them only where one entered, was superseded, or left the `within`.
                    A lifetime has no start, and nothing leaves it
    ended           of changes: `valid_to` is in [before, after): it held as of the one, and does not as of the other
    superseded      a row stopped being the newest version of its event, or the state of its thing: because another one
                    landed (or happened), which names the same event or thing. What was superseded may have another
                    key, and the new row may fail `where` or have no event timestamp: so the old one is looked for
    aged            the newest row of an entity passed its `ttl`, twice it, or the view's reach: told from the row that
                    is kept. Older rows that pass the reach alone change nothing: a window that long has its own start
    added           a row is in a file that was not there before. Where the source says when rows landed it should be
                    one of the above; where it does not, nothing else tells

Entities are touched rather once too often: what is computed again comes out the same. No order of rows, `where` or
filter can change without one of these, because each is a function of the row alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from featurekit.clock import Instant, parse_instant
from featurekit.compiled import CompiledView
from featurekit.offline.engine import BatchEngine
from featurekit.offline.rows_sql import row_conditions, window_slots
from featurekit.offline.slices import any_of, raw_slice
from featurekit.offline.source import (
    CREATED,
    EVENT,
    ID,
    VALID_TO,
    event_steps,
    frame_name,
    key_names,
    read_source,
    row_key_names,
)
from featurekit.offline.sql import Query, Select, Sql, before, instant, name, render_query
from featurekit.rows import LAST_EVENT
from featurekit.windows import start_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TOUCHED: Final = "featurekit_touched"
BASE: Final = "featurekit_base"


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """From one refresh of a view to a later one: their as-ofs, and by when rows had to be known for them."""

    before: Instant
    after: Instant
    known_before: Instant
    known_after: Instant

    @staticmethod
    def of(view: CompiledView, before: Instant, after: Instant) -> Span:
        lateness = view.view.allowed_lateness
        return Span(before=before, after=after, known_before=before + lateness, known_after=after + lateness)


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """One way for a row to touch its own entity: a condition on it, and one on raw rows that no such row fails.

    `raw` is None where readers can skip nothing.
    """

    why: str
    where: Sql
    raw: Sql | None


def touches(view: CompiledView, span: Span) -> tuple[Touch, ...]:
    """Return how a row can touch the entity that its keys name; what is superseded and what ages is not in it."""
    event = view.source.event_timestamp
    found = list(came(view, span))
    if view.source.valid_to is not None:
        found.append(_within(view, "ended", VALID_TO, view.source.valid_to, span.before, span.after))
    found += [_within(view, f"left {start}", EVENT, event, start, end) for start, end in left(view, span)]
    return tuple(found)


def came(view: CompiledView, span: Span) -> tuple[Touch, ...]:
    """Return how a row can be visible as of the later refresh, and not be as of the earlier one."""
    landing = () if view.source.created_timestamp is None else (_landed(view, span),)
    return (_happened(view, span), *landing)


def _happened(view: CompiledView, span: Span) -> Touch:
    return _within(view, "happened", EVENT, view.source.event_timestamp, span.before, span.after)


def _within(view: CompiledView, why: str, column: str, source: str, low: Instant | None, high: Instant) -> Touch:
    where = stretch(name(column), low, high)
    return Touch(why=why, where=where, raw=raw_slice(view, source, low, high))


def _landed(view: CompiledView, span: Span) -> Touch:
    where = f"{name(CREATED)} > {instant(span.known_before)}"
    return Touch(why="landed", where=where, raw=_raw_landed(view, span))


def _raw_landed(view: CompiledView, span: Span) -> Sql | None:
    source = view.source
    assert source.created_timestamp is not None
    low, high = span.known_before, span.known_after + 1
    slices = [raw_slice(view, source.created_timestamp, low, high)]
    if source.known_from is not None and source.assumed_lag is not None and low < parse_instant(source.known_from):
        # Rows of before `known_from` are known a while after they happened, whatever their created timestamp says.
        lag = source.assumed_lag
        slices.append(raw_slice(view, source.event_timestamp, low - lag, high - lag))
    return next(iter(any_of(slices)), None)


def left(view: CompiledView, span: Span) -> tuple[tuple[Instant | None, Instant], ...]:
    """Return the stretches of event timestamps that left a window between the two refreshes; None has no bound."""
    windows = dict.fromkeys(slot.window for slot in window_slots(view) if slot.window is not None)
    stretches: dict[tuple[Instant | None, Instant], None] = {}
    for window in windows:
        start, end = start_of(window, span.before), start_of(window, span.after)
        if end is not None and (start is None or start < end):
            stretches[(start, end)] = None
    return tuple(stretches)


def stretch(time: Sql, low: Instant | None, high: Instant) -> Sql:
    """Return the condition that a timestamp is in [low, high)."""
    lower = "" if low is None else f"{time} >= {instant(low)} AND "
    return f"({lower}{before(time, high)})"


def ages(view: CompiledView, span: Span) -> tuple[tuple[Instant | None, Instant], ...]:
    """Return the stretches in which the newest event of an entity passed a bound between the two refreshes."""
    ttls = [feature.ttl for feature in view.features if feature.is_latest and feature.ttl is not None]
    found: list[tuple[Instant | None, Instant]] = [
        (span.before - age, span.after - age) for ttl in ttls for age in (ttl, 2 * ttl)
    ]
    start, end = view.since(span.before), view.since(span.after)
    if end is not None:
        found.append((start, end))
    return tuple(dict.fromkeys(found))


def thing(view: CompiledView) -> tuple[str, ...]:
    """Return the columns of an events step by which rows of other entities supersede one another; empty: none do."""
    if view.source.event_id is not None:
        return (ID,)
    return row_key_names(view) if view.row_key and row_key_names(view) != key_names(view) else ()


def touched_entities(
    engine: BatchEngine, view: CompiledView, span: Span, kept: DataFrame, added: Sequence[Path]
) -> DataFrame:
    """Return the keys (`$key0` …) of the entities that were touched, each once; `kept` are the rows as of `before`.

    `added` are files of the source that were not there then.
    """
    raw = {frame_name(view): read_source(engine, view)}
    parts = [engine.query(render_query(_touching(view, span)), raw)]
    if (aged := aged_entities(engine, view, span, kept)) is not None:
        parts.append(aged)
    new = {frame_name(view): read_source(engine, view, added)} if added else None
    if new is not None:
        parts.append(engine.query(render_query(_named(view, span)), new))
    if thing(view):
        renewing = [engine.query(render_query(_renewing(view, span)), raw)]
        if new is not None:
            renewing.append(engine.query(render_query(_renewing(view, span, all_rows=True)), new))
        renewed = union(engine, renewing, thing(view))
        parts.append(engine.query(render_query(_superseded(view, span)), {**raw, _RENEWED: renewed}))
    return union(engine, parts, key_names(view))


_RENEWED: Final = "featurekit_renewed"


def union(engine: BatchEngine, parts: Sequence[DataFrame], columns: Sequence[str]) -> DataFrame:
    """Return the rows of all the parts, each once."""
    frames = {f"featurekit_part{number}": part for number, part in enumerate(parts)}
    step: Select | None = None
    for label in reversed(frames):
        step = Select(columns=(("*", "*"),), source=label, union=step)
    assert step is not None
    whole = Query(steps=(("parts", step),))
    distinct = Select(
        columns=tuple((column, name(column)) for column in columns), source="parts", group_by=tuple(map(name, columns))
    )
    return engine.query(render_query(whole.then("distinct", distinct)), frames)


def _touching(view: CompiledView, span: Span) -> Query:
    """Return the steps that find the entities of rows that happened, landed, or left a window."""
    found = touches(view, span)
    events = _events(view, span, any_of(touch.raw for touch in found))
    where = " OR ".join(touch.where for touch in found)
    return _entities(view, events, before(name(EVENT), span.after), f"({where})")


def _events(view: CompiledView, span: Span, raw: tuple[Sql, ...]) -> Query:
    """Return the steps of the source's rows that are known by the later refresh, read as `raw` allows."""
    query = event_steps(view, known_by=span.known_after, since=view.since(span.before), until=span.after)
    steps = [(label, step if label != "source" else narrowed(step, raw)) for label, step in query.steps]
    return Query(steps=tuple(steps))


def narrowed(step: Select, raw: tuple[Sql, ...]) -> Select:
    """Return a step that reads the source with conditions more."""
    return replace(step, where=(*step.where, *raw))


def _entities(view: CompiledView, events: Query, *where: Sql) -> Query:
    keys = tuple((key, name(key)) for key in key_names(view))
    # A change that fails `where` still takes the place of what was said before about the same entity.
    counts = not_null(key_names(view)) if view.row_key else row_conditions(view)
    return events.then("entities", Select(columns=keys, source=events.last, where=(*counts, *where)))


def _aged(view: CompiledView, spans: tuple[tuple[Instant | None, Instant], ...]) -> Query:
    aged = " OR ".join(stretch(name(LAST_EVENT), low, high) for low, high in spans)
    keys = tuple((label, name(key.name)) for label, key in zip(key_names(view), view.keys, strict=True))
    return Query(steps=(("aged", Select(columns=keys, source=BASE, where=(f"({aged})",))),))


def _named(view: CompiledView, span: Span) -> Query:
    """Return the steps that find the entities that new files name, in reach of the later refresh."""
    events = event_steps(view, known_by=span.known_after, since=view.since(span.after), until=span.after)
    return _entities(view, events, before(name(EVENT), span.after), *_from(view.since(span.after)))


def _renewing(view: CompiledView, span: Span, *, all_rows: bool = False) -> Query:
    """Return the steps that find the events of which there may be a newer version, or the things with a newer state."""
    # A version of an event counts from when it is known on, whenever it is dated.
    found = (_landed(view, span),) if view.source.event_id is not None else came(view, span)
    events = _events(view, span, () if all_rows else any_of(touch.raw for touch in found))
    columns = tuple((part, name(part)) for part in thing(view))
    where = () if all_rows else (f"({' OR '.join(touch.where for touch in found)})",)
    step = Select(columns=columns, source=events.last, where=(*where, *not_null(thing(view))))
    return events.then("renewing", step)


def _superseded(view: CompiledView, span: Span) -> Query:
    """Return the steps that find the entities of rows that decided something before, and were superseded since."""
    events = event_steps(view, known_by=span.known_before, since=view.since(span.before), until=span.before)
    things = ", ".join(map(name, thing(view)))
    renewed = f"({things}) IN (SELECT {things} FROM {name(_RENEWED)})"
    bounds = _from(view.since(span.before))
    return _entities(view, events, before(name(EVENT), span.before), *bounds, renewed)


def not_null(columns: Sequence[str]) -> tuple[Sql, ...]:
    return tuple(f"{name(column)} IS NOT NULL" for column in columns)


def _from(since: Instant | None) -> tuple[Sql, ...]:
    return () if since is None else (f"{name(EVENT)} >= {instant(since)}",)


def has_new_rows(engine: BatchEngine, view: CompiledView, span: Span) -> bool:
    """Return whether any row happened or landed: of snapshots it can be of a new one, or one more of the newest."""
    found = came(view, span)
    events = event_steps(view, known_by=span.known_after, since=None, until=span.after)
    where = f"({' OR '.join(touch.where for touch in found)})"
    step = Select(columns=(("n", "count(*)"),), source=events.last, where=(before(name(EVENT), span.after), where))
    frame = engine.query(render_query(events.then("new", step)), {frame_name(view): read_source(engine, view)})
    return bool(engine.to_arrow(frame)["n"][0].as_py())


def aged_entities(engine: BatchEngine, view: CompiledView, span: Span, kept: DataFrame) -> DataFrame | None:
    """Return the keys of the entities whose newest row passed a bound; None where there is no bound."""
    spans = ages(view, span)
    return engine.query(render_query(_aged(view, spans)), {BASE: kept}) if spans else None
