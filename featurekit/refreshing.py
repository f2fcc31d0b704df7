"""One refresh from begin to end: compute, gate, write, publish, move readers. Wires what its parts don't know of.

    registry: lease, started ─▶ store: key space opened ─▶ Spark: rows ─▶ gate + history + writer on executors
        ─▶ gate's verdict ─▶ store: head entry (served from here on) ─▶ history: the draft gets its name
        ─▶ registry: complete ─▶ readers of a waiting registration move ─▶ store: what the head let go of is dropped

A run that dies anywhere leaves what was served as it is; the next run has a key space of its own. One that died when
the head listed its refresh already is brought to its end by the next: what serves is complete. So the history lists
what was served and no more, and a refresh that serves without being listed there has its draft there.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace

from featurekit.apply import switch_ready
from featurekit.clock import SECOND, Clock, Instant
from featurekit.compiled import CompiledView
from featurekit.computing import Computation
from featurekit.errors import HistoryError, NotRegisteredError, OutsideError
from featurekit.leasing import IN_PLACE, Tenancy, leased
from featurekit.offline.engine import BatchEngine
from featurekit.offline.history import Draft
from featurekit.offline.history_sink import without_files
from featurekit.offline.materialize import MaterializeResult, Sink, check_as_of, materialize
from featurekit.online.forgotten import refusing
from featurekit.online.keys import KeySpace, Namespace
from featurekit.online.progress import Watch, watched
from featurekit.online.refresh import (
    MARKER_MARGIN_S,
    Completion,
    begin_refresh,
    check_goes_forward,
    complete_refresh,
    drop_space,
    drop_spaces,
    read_head,
    space_in_place,
    spaces_of,
    sweep_space,
)
from featurekit.online.store import HeadEntry, OnlineStore
from featurekit.online.writer import row_sink
from featurekit.quality.gate import ROWS, gated, verdict
from featurekit.refresh_values import Deployment, RefreshOutcome
from featurekit.registry.registry import Registry
from featurekit.registry.state import RefreshRecord, RefreshStatus
from featurekit.rows import key_fields
from featurekit.tombstones import Tombstones


def due(view: CompiledView, now: Instant) -> tuple[Instant, ...]:
    """Return the grid instants to have computed by now: the one that serves now, and later ones that can be computed.

    They differ between `allowed_lateness` after a grid instant and `availability_delay` after it.
    """
    grid = view.view.grid
    serving = grid.served_at(now)
    return (serving, *(at for at in grid.between(serving, now - view.view.allowed_lateness + 1) if at > serving))


def refresh_view(
    view: CompiledView,
    as_of: Instant,
    *,
    engine: BatchEngine,
    to: Deployment,
    clock: Clock,
    restate: str | None = None,
    full: bool = False,
    wait: bool = False,
    watch: Watch | None = None,
) -> RefreshOutcome:
    """Compute the view as of a grid instant and serve it; nothing is computed where that is served already.

    `restate`, a reason, computes it again into a new key space, which then serves instead. It is computed from the
    refresh before where the history has one, unless it is to be `full`. GateError where an expectation breaks: nothing
    is published then. RefreshRunningError where another run computes it, unless this one is to `wait` for that. The
    view must be registered as it is defined now. `watch` is told twice a second how many rows are written.
    """
    require_registered(view, to.registry)
    found = _known(view, as_of, to)
    if found is not None and restate is None:
        # Nothing to compute, but a registration may have been waiting for just this refresh.
        return replace(found, moved=_moved(to, clock()))
    check_as_of(view, as_of, clock())  # before anything is written that would have to be taken back
    version = (view.name, view.fingerprint.data)
    # Of refreshes in place one is written at a time, whatever its as-of: they share their rows.
    leases = (as_of, IN_PLACE) if view.view.write == "in_place" else (as_of,)
    with leased(to.registry, *version, leases, holder=to.holder, length=to.lease, wait=wait) as tenancy:
        if restate is None and (found := _known(view, as_of, to)) is not None:
            # Another run has done it meanwhile; and somebody may have rolled that back at once.
            return replace(found, moved=_moved(to, clock()))
        if view.view.write == "in_place":
            check_goes_forward(to.store, _space(view, as_of, to.namespace))
        require_registered(view, to.registry)  # now that the lease keeps it from being collected
        forgotten = tenancy.tombstones.of_keys([key.name for key in view.keys])
        run = _begun(view, as_of, to=to, clock=clock, restate=restate, full=full, forgotten=forgotten, watch=watch)
        try:
            result, completion, draft = _publish(run, engine, tenancy)
        except BaseException as error:
            _give_up(run, error)
            raise
        # The head lists it: from here on it is served, and no failure is one of the refresh.
        return _settle(run, result, completion, draft)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """A refresh that has begun, with where it goes."""

    view: CompiledView
    record: RefreshRecord
    space: KeySpace
    draft: Draft | None
    how: Computation
    to: Deployment
    clock: Clock
    forgotten: Tombstones
    watch: Watch | None
    started: float  # by a clock that measures what passes


def _begun(
    view: CompiledView,
    as_of: Instant,
    *,
    to: Deployment,
    clock: Clock,
    restate: str | None,
    full: bool,
    forgotten: Tombstones,
    watch: Watch | None,
) -> _Run:
    started = time.monotonic()
    record = to.registry.start_refresh(
        view=view.name, fingerprint=view.fingerprint.data, as_of=as_of, started_at=clock(), reason=restate
    )
    history = to.history_of(view)
    return _Run(
        view=view,
        record=record,
        space=_space_to_write(view, record, to),
        draft=None
        if history is None
        else history.draft(view, as_of, record.restatement, reason=restate, remembered=forgotten.times_remembered),
        # What is restated may be wrong because of what it was computed from.
        how=Computation(
            history=None if full or restate is not None else history,
            rolled_back=_rolled_back(view, to),
            forgotten=forgotten,
        ),
        to=to,
        clock=clock,
        forgotten=forgotten,
        watch=watch,
        started=started,
    )


def _publish(run: _Run, engine: BatchEngine, tenancy: Tenancy) -> tuple[MaterializeResult, Completion, Draft | None]:
    """Compute the rows, write them into the space and list it in the view's head, unless the gate refuses them."""
    view, space, store, draft = run.view, run.space, run.to.store, run.draft
    expires_in_s = _lifetime_s(view, run.to.retention)
    if space.live is not None and run.record.reason is not None:
        drop_space(store, space)  # what a restatement that died left there has this one's as-of
    refresh = begin_refresh(store, space, expires_in_s=expires_in_s)
    online: Sink = row_sink(
        view, space, run.to.url, expires_in_s=expires_in_s + MARKER_MARGIN_S, is_watched=run.watch is not None
    )
    sink = refusing(
        gated(view, online if draft is None else draft.begin().sink(online)), run.forgotten, key_fields(view)
    )
    with watched(store, space, run.watch):
        result = materialize(engine, view, space.as_of, sink=sink, now=run.clock(), compute=run.how)
    verdict(view, result.counters).require()
    if draft is not None:
        how = run.how
        draft = draft.written(result.counters, snapshot=result.snapshot, kind=how.kind, reason=how.reason).save()
    tenancy.check()
    rows = result.counters.get(ROWS, 0)  # a refresh of no rows has no partition that counts
    return result, complete_refresh(store, refresh, grid=view.view.grid, completed_at=run.clock(), rows=rows), draft


def _settle(run: _Run, result: MaterializeResult, completion: Completion, draft: Draft | None) -> RefreshOutcome:
    """Record what serves now, move the readers that waited for it, and drop what it replaced: in this order."""
    entry, bytes_ = completion.entry, result.counters.get("bytes", 0)
    notes = () if draft is None else _kept(draft, entry)
    record = run.to.registry.complete_refresh(
        run.record,
        completed_at=entry.completed_at,
        visible_from=entry.visible_from,
        rows=entry.rows,
        bytes_=bytes_,
        snapshot=json.dumps(result.snapshot.to_json()),
        counters=json.dumps(without_files(result.counters)),
        kind=run.how.kind,
        reason=run.record.reason or run.how.reason,
        computed=run.how.computed,
    )
    moved = _moved(run.to, run.clock())
    retired = _drop_retired(completion, run.space, run.to.store)
    took = time.monotonic() - run.started
    write = result.seconds.get("write", 0.0)
    return RefreshOutcome(
        view=record.view,
        fingerprint=record.fingerprint,
        as_of=entry.as_of,
        restatement=entry.restatement,
        visible_from=entry.visible_from,
        rows=entry.rows,
        bytes=bytes_,
        invisible=result.invisible_rows,
        is_new=True,
        moved=moved,
        notes=(*notes, *retired),
        kind=record.kind,
        reason=record.reason,
        computed=record.computed,
        rows_per_s=entry.rows / write if write else None,
        seconds={**result.seconds, "rest": took - sum(result.seconds.values())},
    )


def _kept(draft: Draft, entry: HeadEntry) -> tuple[str, ...]:
    """Give the draft its name in the history; what goes wrong with that is a note: the next run tries again."""
    try:
        draft.finish(visible_from=entry.visible_from, completed_at=entry.completed_at)
    except HistoryError as error:
        return (f"its rows are not in the history yet: {error.what}",)
    return ()


def _give_up(run: _Run, error: BaseException) -> None:
    """End the record of a failed run and drop what it wrote; what goes wrong here is a note on the error, no more."""
    store, space = run.to.store, run.space
    record_failure(run.to.registry, run.record, error, run.clock())
    try:
        # The entry may be there though its answer was lost: then lookups read the space.
        head = read_head(store, space)
        if head.get(space.as_of, space.restatement) is None:
            if run.draft is not None:
                run.draft.drop()
            if space.marker not in {one.marker for one in spaces_of(head, space)}:
                drop_space(store, space)
    except Exception as second:  # noqa: BLE001
        error.add_note(f"The key space {space} was not dropped and expires by itself: {second}")


def record_failure(registry: Registry, record: RefreshRecord, error: BaseException, now: Instant) -> None:
    """End the record of a failed run; a registry that can't be told is a note on the error, no more."""
    try:
        registry.fail_refresh(record, completed_at=now, failure=str(error) or type(error).__name__)
    except Exception as second:  # noqa: BLE001 - whatever it is, the run's own error is the news
        error.add_note(f"The registry could not be told: {second}")


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


def require_registered(view: CompiledView, registry: Registry) -> None:
    """Raise NotRegisteredError unless a version of the view that is kept has the meaning it has now."""
    kept = [one for one in registry.view_versions() if one.name == view.name and one.collected_at is None]
    if all(one.fingerprint.data != view.fingerprint.data for one in kept):
        raise NotRegisteredError(
            f"feature view {view.name!r} is {'registered with another meaning' if kept else 'not registered'}",
            where=str(registry),
            why="only what is registered is materialized, so that everyone can see what is served",
            try_="featurekit plan, then featurekit register",
        )


def _known(view: CompiledView, as_of: Instant, to: Deployment) -> RefreshOutcome | None:
    """Return the refresh of this as-of that there is already: that serves, or was rolled back."""
    return _served(view, as_of, to) or _withdrawn(view, as_of, to)


def _withdrawn(view: CompiledView, as_of: Instant, to: Deployment) -> RefreshOutcome | None:
    """Return the refresh of this as-of that was rolled back: only who has a reason to restate it computes it again."""
    records = to.registry.refreshes(view.name, fingerprint=view.fingerprint.data)
    done = [one for one in records if one.as_of == as_of and one.status is RefreshStatus.COMPLETE and one.online]
    last = max(done, key=lambda one: one.restatement, default=None)
    if last is None or last.withdrawn_at is None or last.dropped_at is not None:
        return None
    return RefreshOutcome(
        view=view.name,
        fingerprint=view.fingerprint.data,
        as_of=as_of,
        restatement=last.restatement,
        visible_from=last.withdrawn_at if last.visible_from is None else last.visible_from,
        rows=last.rows or 0,
        bytes=0,
        invisible=0,
        is_new=False,
        moved=(),
        is_withdrawn=True,
    )


def _rolled_back(view: CompiledView, to: Deployment) -> frozenset[tuple[Instant, int]]:
    records = to.registry.refreshes(view.name, fingerprint=view.fingerprint.data)
    return frozenset((one.as_of, one.restatement) for one in records if one.withdrawn_at is not None)


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
        visible_from=entry.visible_from,
        rows=entry.rows,
    )
    history = to.history_of(view)
    draft = None if history is None else history.saved_draft(view, as_of, entry.restatement)
    notes = () if draft is None else _kept(draft, entry)
    (marker,) = to.store.read([space.at(as_of, entry.restatement, entry.live).marker])
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
        notes=notes,
    )


def _space(view: CompiledView, as_of: Instant, namespace: Namespace) -> KeySpace:
    return KeySpace(namespace=namespace, view=view.name, fingerprint=view.fingerprint.data, as_of=as_of)


def _space_to_write(view: CompiledView, record: RefreshRecord, to: Deployment) -> KeySpace:
    space = _space(view, record.as_of, to.namespace).at(record.as_of, record.restatement)
    if view.view.write != "in_place":
        return space
    return space_in_place(to.store, space, is_restated=record.reason is not None)


def _drop_retired(completion: Completion, space: KeySpace, store: OnlineStore) -> tuple[str, ...]:
    """Drop what the head let go of; return what could not be, as notes: it is out of use and expires by itself."""
    try:
        drop_spaces(store, completion.retired)
        if space.live is not None:
            sweep_space(store, space)
    except OutsideError as error:
        names = ", ".join(map(str, completion.retired or (space,)))
        return (f"older refreshes ({names}) could not be dropped and expire by themselves: {error.what}",)
    return ()
