"""One refresh from begin to end: compute, gate, write, publish, move readers. Wires what its parts don't know of.

    registry: started ─▶ store: key space opened ─▶ Spark: rows ─▶ gate + writer on executors ─▶ gate's verdict
        ─▶ store: head entry (served from here on) ─▶ registry: complete ─▶ readers of a waiting registration move
        ─▶ store: what the head let go of is dropped

A run that dies anywhere leaves what was served as it is; the next run has a key space of its own. One that died when
the head listed its refresh already is brought to its end by the next: what serves is complete.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from featurekit.apply import switch_ready
from featurekit.clock import SECOND, Clock, Instant
from featurekit.compiled import CompiledView
from featurekit.errors import NotRegisteredError, OutsideError
from featurekit.offline.engine import BatchEngine
from featurekit.offline.materialize import MaterializeResult, check_as_of, materialize
from featurekit.online.keys import KeySpace, Namespace
from featurekit.online.refresh import Completion, begin_refresh, complete_refresh, drop_space, drop_spaces, read_head
from featurekit.online.store import OnlineStore
from featurekit.online.writer import row_sink
from featurekit.quality.gate import ROWS, gated, verdict
from featurekit.registry.registry import Registry
from featurekit.registry.state import RefreshRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshOutcome:
    """A refresh that is served from `visible_from` on.

    `is_new` is False where it was there already and nothing was computed. `invisible` counts source rows without an
    event timestamp; `moved` are services whose readers moved to a new version with it. `notes` tell what went wrong
    beside it and takes nothing from what is served.
    """

    view: str
    fingerprint: str
    as_of: Instant
    restatement: int
    visible_from: Instant
    rows: int
    bytes: int
    invisible: int
    is_new: bool
    moved: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """Where refreshes go: the store and its writable URL, the registry, the namespace of both."""

    store: OnlineStore
    url: str
    registry: Registry
    namespace: Namespace
    retention: int


def due(view: CompiledView, now: Instant) -> tuple[Instant, ...]:
    """Return the grid instants to have computed by now: the one that serves now, and later ones that can be computed.

    They differ between `allowed_lateness` after a grid instant and `availability_delay` after it.
    """
    grid = view.view.grid
    serving = grid.served_at(now)
    return (serving, *(at for at in grid.between(serving, now - view.view.allowed_lateness + 1) if at > serving))


def refresh_view(
    view: CompiledView, as_of: Instant, *, engine: BatchEngine, to: Deployment, clock: Clock, restate: bool = False
) -> RefreshOutcome:
    """Compute the view as of a grid instant and serve it; nothing is computed where that is served already.

    `restate` computes it again into a new key space, which then serves instead. GateError where an expectation breaks:
    nothing is published then. The view must be registered as it is defined now.
    """
    _require_registered(view, to.registry)
    found = _served(view, as_of, to)
    if found is not None and not restate:
        # Nothing to compute, but a registration may have been waiting for just this refresh.
        return replace(found, moved=_moved(to, clock()))
    check_as_of(view, as_of, clock())  # before anything is written that would have to be taken back
    record = to.registry.start_refresh(
        view=view.name, fingerprint=view.fingerprint.data, as_of=as_of, started_at=clock()
    )
    space = _space(view, as_of, to.namespace).at(as_of, record.restatement)
    try:
        result, completion = _publish(view, space, engine=engine, to=to, clock=clock)
    except BaseException as error:
        _give_up(record, space, error, to, clock())
        raise
    # The head lists it: from here on it is served, and no failure is one of the refresh.
    return _settle(view, record, result, completion, to=to, clock=clock)


def _publish(
    view: CompiledView, space: KeySpace, *, engine: BatchEngine, to: Deployment, clock: Clock
) -> tuple[MaterializeResult, Completion]:
    """Compute the rows, write them into the space and list it in the view's head, unless the gate refuses them."""
    expires_in_s = _lifetime_s(view, to.retention)
    refresh = begin_refresh(to.store, space, expires_in_s=expires_in_s)
    sink = gated(view, row_sink(view, space, to.url, expires_in_s=expires_in_s))
    result = materialize(engine, view, space.as_of, sink=sink, now=clock())
    verdict(view, result.counters).require()
    rows = result.counters.get(ROWS, 0)  # a refresh of no rows has no partition that counts
    return result, complete_refresh(to.store, refresh, grid=view.view.grid, completed_at=clock(), rows=rows)


def _settle(
    view: CompiledView,
    record: RefreshRecord,
    result: MaterializeResult,
    completion: Completion,
    *,
    to: Deployment,
    clock: Clock,
) -> RefreshOutcome:
    """Record what serves now, move the readers that waited for it, and drop what it replaced: in this order."""
    entry, bytes_ = completion.entry, result.counters.get("bytes", 0)
    to.registry.complete_refresh(
        record,
        completed_at=entry.completed_at,
        rows=entry.rows,
        bytes_=bytes_,
        snapshot=json.dumps(result.snapshot.to_json()),
        counters=json.dumps(dict(result.counters)),
    )
    moved = _moved(to, clock())
    return RefreshOutcome(
        view=view.name,
        fingerprint=view.fingerprint.data,
        as_of=entry.as_of,
        restatement=entry.restatement,
        visible_from=entry.visible_from,
        rows=entry.rows,
        bytes=bytes_,
        invisible=result.invisible_rows,
        is_new=True,
        moved=moved,
        notes=_drop_retired(completion, to.store),
    )


def _give_up(record: RefreshRecord, space: KeySpace, error: BaseException, to: Deployment, now: Instant) -> None:
    """End the record of a failed run and drop what it wrote; what goes wrong here is a note on the error, no more."""
    try:
        to.registry.fail_refresh(record, completed_at=now, failure=str(error) or type(error).__name__)
    except Exception as second:  # noqa: BLE001 - whatever it is, the run's own error is the news
        error.add_note(f"The registry could not be told: {second}")
    try:
        # The entry may be there though its answer was lost: then lookups read the space.
        if read_head(to.store, space).get(space.as_of, space.restatement) is None:
            drop_space(to.store, space)
    except Exception as second:  # noqa: BLE001
        error.add_note(f"The key space {space} was not dropped and expires by itself: {second}")


def _lifetime_s(view: CompiledView, retention: int) -> int:
    """Return for how long rows are kept from their write on: as long as the view serves them, and for one refresh more.

    A delay or a grid step longer than the retention would otherwise drop rows before they served, or while they do.
    """
    grid = view.view.grid
    return max(retention, grid.availability_delay + 2 * grid.every, SECOND) // SECOND


def _moved(to: Deployment, now: Instant) -> tuple[str, ...]:
    """Move the readers of registrations that are complete now, and return the services whose readers moved."""
    moves = switch_ready(to.registry, to.store, to.namespace, now)
    return tuple(version.name for move in moves for version in move.services)


def _require_registered(view: CompiledView, registry: Registry) -> None:
    found = registry.deployed().views.get(view.name)
    if found is None or found.fingerprint.data != view.fingerprint.data:
        raise NotRegisteredError(
            f"feature view {view.name!r} is {'not registered' if found is None else 'registered with another meaning'}",
            where=str(registry),
            why="only what is registered is materialized, so that everyone can see what is served",
            try_="featurekit plan, then featurekit register",
        )


def _served(view: CompiledView, as_of: Instant, to: Deployment) -> RefreshOutcome | None:
    """Return the refresh of this as-of that serves already; the registry knows of it then, whatever it knew before."""
    space = _space(view, as_of, to.namespace)
    entries = [entry for entry in read_head(to.store, space).entries if entry.as_of == as_of]
    if not entries:
        return None
    entry = max(entries, key=lambda one: one.restatement)
    to.registry.confirm_refresh(
        view=view.name,
        fingerprint=view.fingerprint.data,
        as_of=as_of,
        restatement=entry.restatement,
        completed_at=entry.completed_at,
        rows=entry.rows,
    )
    (marker,) = to.store.read([space.at(as_of, entry.restatement).marker])
    if marker is None:
        return None
    return RefreshOutcome(
        view=view.name,
        fingerprint=view.fingerprint.data,
        as_of=as_of,
        restatement=entry.restatement,
        visible_from=entry.visible_from,
        rows=entry.rows,
        bytes=0,
        invisible=0,
        is_new=False,
        moved=(),
    )


def _space(view: CompiledView, as_of: Instant, namespace: Namespace) -> KeySpace:
    return KeySpace(namespace=namespace, view=view.name, fingerprint=view.fingerprint.data, as_of=as_of)


def _drop_retired(completion: Completion, store: OnlineStore) -> tuple[str, ...]:
    """Drop what the head let go of; return what could not be, as notes: it is out of use and expires by itself."""
    try:
        drop_spaces(store, completion.retired)
    except OutsideError as error:
        names = ", ".join(map(str, completion.retired))
        return (f"older refreshes ({names}) could not be dropped and expire by themselves: {error.what}",)
    return ()
