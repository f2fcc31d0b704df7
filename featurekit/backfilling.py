"""Many as-ofs of a view in one job, for the history: a month of an hourly view is a few passes over its source.

    known entities × as-ofs ──▶ as_of_rows (the sweep) ──▶ by as-of ──▶ gate + one draft an as-of ──▶ history, registry

Rows come by the path of `point_in_time`, and are the bytes that `materialize` gives. Lookups never see them. A run that
dies leaves what is complete; the next one goes on from there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from featurekit.arrow_types import from_arrow_schema
from featurekit.clock import Clock, Instant, format_instant
from featurekit.compiled import CompiledView
from featurekit.counters import COUNTERS, add_counters, counter_batch
from featurekit.errors import FeaturekitError, GateError, InputError, TimeError
from featurekit.leasing import Tenancy, leased
from featurekit.materializing import MaterializeErrors, Progress, RefreshFailure, concerns_all
from featurekit.offline.as_of import Span, as_of_rows, at_instants, known_entities
from featurekit.offline.backfill_sink import BackfillSink, by_as_of, counters_of
from featurekit.offline.engine import BatchEngine, Batches
from featurekit.offline.history import Draft, History, HistoryEntry
from featurekit.offline.history_sink import without_files
from featurekit.offline.materialize import check_as_of
from featurekit.offline.snapshot import SourceSnapshot, check_unchanged, snapshot_source
from featurekit.offline.source import count_invisible
from featurekit.online.forgotten import refusing
from featurekit.quality.gate import ROWS, gated, verdict
from featurekit.refresh_values import Deployment, RefreshOutcome
from featurekit.refreshing import due, record_failure, refresh_view, require_registered
from featurekit.registry.state import RefreshKind, RefreshRecord, RefreshStatus
from featurekit.rows import key_fields
from featurekit.tombstones import Tombstones

ROWS_AT_ONCE: Final = 4_000_000
"""So many entities × as-ofs are asked for in one job: what a run that dies has to do again."""
Done = Callable[[Sequence[RefreshOutcome]], None]
Backfilled = tuple[tuple[Instant, GateError], ...]


def backfilled_instants(view: CompiledView, start: Instant, end: Instant | None, now: Instant) -> tuple[Instant, ...]:
    """Return the view's grid instants in [start, end); TimeError where the last of them can't be computed yet.

    Without an end they are those that can be computed by now.
    """
    ready = now - view.view.allowed_lateness
    if end is not None and end > now:
        latest = view.view.grid.floor(ready)
        raise TimeError(
            f"{format_instant(end)} lies in the future",
            why=f"it is {format_instant(now)}; a range that reaches further would be taken for done when it is not",
            try_=f"--to {format_instant(now)}; the latest that can be computed of {view.name} is as of"
            f" {format_instant(latest)}",
        )
    if end is not None and end <= start:
        raise TimeError(
            f"the range from {format_instant(start)} to {format_instant(end)} is empty",
            why="it holds the instants from its start on and before its end",
            try_="a start before the end",
        )
    found = view.view.grid.between(start, ready + 1 if end is None else end)
    if found:
        check_as_of(view, found[-1], now)
    return found


def backfill_view(
    view: CompiledView,
    instants: Sequence[Instant],
    *,
    engine: BatchEngine,
    to: Deployment,
    clock: Clock,
    restate: str | None = None,
    wait: bool = False,
    done: Done,
) -> Backfilled:
    """Keep the rows as of each instant, and return which refreshes broke an expectation: those are not kept.

    What is due now is refreshed, online too, and from then on it is there. Those that the history has already are not
    computed, unless `restate`, a reason, is given. `done` is told what is there, after each job.
    """
    history = _history(view, to)
    require_registered(view, to.registry)
    refused: list[tuple[Instant, GateError]] = []
    served = [at for at in due(view, clock()) if at in set(instants)]
    for at in served:
        try:
            done([refresh_view(view, at, engine=engine, to=to, clock=clock, restate=restate, wait=wait)])
        except GateError as error:
            refused.append((at, error))
    # One that serves since before there was a history is computed for it now.
    instants = [at for at in instants if at not in served or (restate is None and not refused)]
    kept = {} if restate is not None else _kept(view, history, to)
    done([_outcome(kept[at]) for at in instants if at in kept and at not in served])
    asked = [at for at in instants if at not in kept]
    step = max(1, ROWS_AT_ONCE // max(_entities(engine, view), 1)) if asked else 1
    for first in range(0, len(asked), step):
        some = tuple(asked[first : first + step])
        with leased(
            to.registry, view.name, view.fingerprint.data, some, holder=to.holder, length=to.lease, wait=wait
        ) as tenancy:
            # Another run may have computed some of them meanwhile.
            kept = {} if restate is not None else _kept(view, history, to)
            found = [_outcome(kept[at]) for at in some if at in kept]
            left = [at for at in some if at not in kept]
            new, broken = _backfill(view, left, history, engine, to, clock, restate, tenancy) if left else ([], [])
        refused += broken
        done([*found, *new])
    return tuple(refused)


def backfill_each(
    wanted: Sequence[tuple[CompiledView, Sequence[Instant]]],
    backfill: Callable[[CompiledView, Sequence[Instant], Done], Backfilled],
    *,
    progress: Progress | None = None,
) -> tuple[RefreshOutcome, ...]:
    """Return what is kept of each view at its instants; MaterializeErrors, when all were tried, where some failed.

    What is wrong with one view is its own affair, as in `refresh_each`.
    """
    total, reached = sum(len(instants) for _, instants in wanted), 0
    outcomes: list[RefreshOutcome] = []
    failures: list[RefreshFailure] = []
    left: list[tuple[str, Instant]] = []

    for place, (view, instants) in enumerate(wanted):

        def done(new: Sequence[RefreshOutcome], name: str = view.name) -> None:
            nonlocal reached
            reached += len(new)
            outcomes.extend(new)
            if progress:
                progress(f"backfill {name}", reached, total)

        done(())
        try:
            refused = backfill(view, instants, done)
        except FeaturekitError as error:
            failures.append(RefreshFailure(view=view.name, as_of=instants[0], error=error))
            if concerns_all(error):
                left = [(other.name, at) for other, times in wanted[place + 1 :] for at in times]
                break
        else:
            failures += [RefreshFailure(view=view.name, as_of=at, error=error) for at, error in refused]
    outcomes.sort(key=lambda one: (one.view, one.as_of))
    if failures:
        raise MaterializeErrors(tuple(outcomes), tuple(failures), tuple(left))
    return tuple(outcomes)


def _history(view: CompiledView, to: Deployment) -> History:
    history = to.history_of(view)
    if history is None:
        raise InputError(
            f"{view.name} keeps no history",
            why="a backfill is for the history: lookups need no older refreshes",
            try_=f"give {view.name} a history of some length, such as history: {{keep: 90d}}",
        )
    return history


def _kept(view: CompiledView, history: History, to: Deployment) -> dict[Instant, HistoryEntry]:
    """Return what the history has of the view, by as-of; the registry knows of it then, whatever it knew before."""
    version = (view.name, view.fingerprint.data)
    entries = [entry for entry in history.entries(*version) if entry.withdrawn_at is None]
    records = to.registry.refreshes(view.name, fingerprint=view.fingerprint.data)
    known = {(one.as_of, one.restatement) for one in records if one.status is RefreshStatus.COMPLETE}
    for entry in entries:
        if (entry.as_of, entry.restatement) not in known:
            to.registry.confirm_refresh(
                view=entry.view,
                fingerprint=entry.fingerprint,
                as_of=entry.as_of,
                restatement=entry.restatement,
                completed_at=entry.completed_at,
                visible_from=entry.visible_from,
                rows=entry.rows,
                kind=RefreshKind(entry.kind),
            )
    return {entry.as_of: entry for entry in entries}


def _entities(engine: BatchEngine, view: CompiledView) -> int:
    found = engine.query(
        "SELECT count(*) AS n FROM featurekit_known", {"featurekit_known": known_entities(engine, view)}
    )
    return int(engine.to_arrow(found)["n"][0].as_py())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Begun:
    record: RefreshRecord
    draft: Draft


def _backfill(
    view: CompiledView,
    as_ofs: Sequence[Instant],
    history: History,
    engine: BatchEngine,
    to: Deployment,
    clock: Clock,
    restate: str | None,
    tenancy: Tenancy,
) -> tuple[list[RefreshOutcome], list[tuple[Instant, GateError]]]:
    forgotten = tenancy.tombstones.of_keys([key.name for key in view.keys])
    begun = _begin(view, as_ofs, history, to, clock, restate, forgotten)
    try:
        for each in begun.values():
            each.draft.begin()
        before = snapshot_source(engine, view)
        invisible = count_invisible(engine, view)
        requests = at_instants(engine, known_entities(engine, view), tuple(as_ofs))
        rows = as_of_rows(engine, view, requests, between=Span(min(as_ofs), max(as_ofs)))
        gates = {at: gated(view, each.draft.sink(_count)) for at, each in begun.items()}
        sink = BackfillSink(sinks={at: refusing(gate, forgotten, key_fields(view)) for at, gate in gates.items()})
        counted = engine.to_arrow(engine.map_batches(by_as_of(engine, rows), sink, from_arrow_schema(COUNTERS)))
        check_unchanged(view, before, snapshot_source(engine, view))
        tenancy.check()
    except BaseException as error:
        for each in begun.values():
            _give_up(each, error, to, clock())
        raise
    counters = add_counters(counted.to_batches())
    ended: list[tuple[RefreshRecord, HistoryEntry]] = []
    refused = []
    for at, each in begun.items():
        own = counters_of(counters, at)
        try:
            verdict(view, own).require()
        except GateError as error:
            _give_up(each, error, to, clock())
            refused.append((at, error))
        else:
            ended.append(_settle(view, each, own, before, clock()))
    # A run that dies before this has kept them all the same: the next one finds them, and the registry learns of them.
    to.registry.complete_backfill(record for record, _ in ended)
    return [replace(_outcome(entry), invisible=invisible, is_new=True) for _, entry in ended], refused


def _begin(
    view: CompiledView,
    as_ofs: Sequence[Instant],
    history: History,
    to: Deployment,
    clock: Clock,
    restate: str | None,
    forgotten: Tombstones,
) -> dict[Instant, _Begun]:
    records = to.registry.start_backfill(
        view=view.name, fingerprint=view.fingerprint.data, as_ofs=as_ofs, started_at=clock(), reason=restate
    )
    return {
        at: _Begun(
            record=record,
            draft=history.draft(
                view,
                at,
                record.restatement,
                kind=RefreshKind.BACKFILL,
                reason=restate,
                remembered=forgotten.times_remembered,
            ),
        )
        for at, record in records.items()
    }


def _settle(
    view: CompiledView, begun: _Begun, counters: Mapping[str, int], snapshot: SourceSnapshot, now: Instant
) -> tuple[RefreshRecord, HistoryEntry]:
    """Give the draft its name, and return the record as it ends with it."""
    visible_from = max(begun.record.as_of + view.view.availability_delay, now)
    entry = begun.draft.written(counters, snapshot=snapshot).finish(visible_from=visible_from, completed_at=now)
    record = replace(
        begun.record,
        status=RefreshStatus.COMPLETE,
        completed_at=now,
        visible_from=visible_from,
        rows=entry.rows,
        bytes=entry.bytes,
        snapshot=json.dumps(snapshot.to_json()),
        counters=json.dumps(without_files(counters)),
    )
    return record, entry


def _outcome(entry: HistoryEntry) -> RefreshOutcome:
    return RefreshOutcome(
        view=entry.view,
        fingerprint=entry.fingerprint,
        as_of=entry.as_of,
        restatement=entry.restatement,
        visible_from=entry.visible_from,
        rows=entry.rows,
        bytes=entry.bytes,
        invisible=0,
        is_new=False,
        moved=(),
        kind=RefreshKind(entry.kind),
        reason=entry.reason,
    )


def _give_up(begun: _Begun, error: BaseException, to: Deployment, now: Instant) -> None:
    """End the record of a failed run and drop what it wrote; what goes wrong here is a note on the error, no more."""
    begun.draft.drop()
    record_failure(to.registry, begun.record, error, now)


def _count(batches: Batches) -> Batches:
    yield counter_batch({ROWS: sum(batch.num_rows for batch in batches)})
