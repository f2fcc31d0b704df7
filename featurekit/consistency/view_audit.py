"""One view of the store audit: its sampled entities as they are served, beside what the training path says of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from featurekit.clock import Instant
from featurekit.compiled import CompiledView
from featurekit.consistency.cells import Answers, Codes, FieldSpec, Flags
from featurekit.consistency.compare import FieldComparison, Verdict, compare_fields, without_proof
from featurekit.consistency.diagnosis.causes import Cause, Refresh, RowState, StoredRow
from featurekit.consistency.diagnosis.compared import Compared
from featurekit.consistency.diagnosis.counterfactuals import Counterfactuals
from featurekit.consistency.diagnosis.diagnose import diagnose
from featurekit.consistency.diagnosis.findings import EVIDENCE_ROWS, Evidence, Finding
from featurekit.consistency.differences import differences
from featurekit.consistency.entity_keys import decode_entity_key, show_entity
from featurekit.consistency.expected import expected_reports
from featurekit.consistency.population import OfflineKeys, OnlineKeys, offline_entities, view_keys
from featurekit.consistency.recompute import field_specs, recompute_answers
from featurekit.consistency.sample import SampleRule
from featurekit.consistency.served import Served, look_up, read_stored_rows
from featurekit.consistency.serving_view import Serving
from featurekit.consistency.shares import Weights, weighted_share
from featurekit.consistency.strata import Drawn, Stratum, draw
from featurekit.consistency.unseen import unseen_keys
from featurekit.consistency.view_report import FieldReport, StratumReport, ViewReport
from featurekit.offline.engine import BatchEngine
from featurekit.offline.snapshot import change_since, snapshot_source
from featurekit.online.client import FeatureClient
from featurekit.online.forgotten import kept_keys
from featurekit.online.keys import KeySpace, Namespace
from featurekit.online.store import ReadableStore
from featurekit.status import Status
from featurekit.tombstones import Tombstones

_UNSEEN_PART: Final = 4  # of a handful of entities, a handful of others would be most of the sample

RecordedSnapshot = Callable[[KeySpace], str | None]
"""The source as the refresh of a key space read it, in the registry's JSON; None where nothing is recorded."""

EarlierViews = Callable[[CompiledView], Sequence[CompiledView]]
"""A view's earlier definitions, those that can still be computed, newest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Where both sides are read, and at which instant the lookups ask."""

    engine: BatchEngine
    client: FeatureClient
    store: ReadableStore
    namespace: Namespace
    at: Instant
    recorded: RecordedSnapshot | None
    forgotten: Tombstones
    earlier: EarlierViews | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """The entities that are compared, in one order: their key texts and values, and what each was looked at for."""

    keys: tuple[bytes, ...]
    values: tuple[tuple[object, ...], ...]
    drawn: tuple[Drawn, ...]
    stray: tuple[bytes, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Both:
    """Both sides of the sampled entities with the verdicts, and the change of the source that leaves some open."""

    served: Answers
    recomputed: Answers
    rows: tuple[StoredRow, ...]
    comparisons: Mapping[str, FieldComparison]
    source_change: str | None

    @property
    def differs(self) -> Flags:
        """Which entities differ in any field."""
        found = np.zeros(len(self.rows), np.bool_)
        for comparison in self.comparisons.values():
            found |= comparison.differs
        return found


def audit_view(
    serving: Serving, online: OnlineKeys, sources: Sources, rule: SampleRule, ulps: Mapping[str, int]
) -> ViewReport:
    """Return what the sample of one view that is served says; SourceError where its source can't be read."""
    view, space = serving.view, serving.space
    if sources.store.read([space.marker])[0] is None:
        problem = (
            f"the key space {space} is gone\n"
            "It was dropped or has expired, or the store restarted empty. Materialize the view again."
        )
        return replace(unavailable(view, sources.at, problem), online=online.seen)
    fields = field_specs(view, ulps)
    offline = offline_entities(sources.engine, view, space.as_of, rule)
    sampled = _sampled(view, rule, offline, online, sources.forgotten)
    served = look_up(sources.client, serving.plan, sampled.values, sources.at)
    if served.as_of not in (space.as_of, None):
        problem = "another refresh was published or withdrawn while the view was read\nCheck again."
        return unavailable(view, sources.at, problem)
    both = _both(serving, fields, sampled, served, sources)
    weights = _weights(sampled, both)
    return ViewReport(
        view=view.name,
        fingerprint=serving.plan.fingerprint,
        as_of=space.as_of,
        promised_as_of=view.view.grid.served_at(sources.at),
        online=online.seen,
        offline=offline.seen,
        sampled=len(sampled.keys),
        found=int(both.served.found.sum()),
        covered=weighted_share(both.served.found, np.where(_is_open(both), 0.0, weights)),
        fields=tuple(_field_report(spec, both, weights) for spec in fields),
        findings=(*_stray_keys(sampled.stray), *_findings(serving, fields, sampled, both, sources)),
        source_change=both.source_change,
        strata=tuple(_strata(sampled, both, offline)),
        outside=len(sampled.stray) + int((both.differs & (weights == 0)).sum()),
        expectations=tuple(expected_reports(view, _plainly(sampled, both.served))),
    )


def unavailable(view: CompiledView, at: Instant, problem: str) -> ViewReport:
    """Return the report of a view of which nothing can be compared."""
    return ViewReport(
        view=view.name,
        fingerprint=view.fingerprint.data,
        as_of=None,
        promised_as_of=view.view.grid.served_at(at),
        online=0,
        offline=0,
        sampled=0,
        found=0,
        fields=(),
        findings=(),
        problem=problem,
    )


def _sampled(
    view: CompiledView, rule: SampleRule, offline: OfflineKeys, online: OnlineKeys, forgotten: Tombstones
) -> Sampled:
    drawn = {each.key: each for each in draw(rule, offline.sampler, online.keys)}
    keys = view_keys(view)
    kept = kept_keys(forgotten, keys, list(drawn))
    decoded = [(key, decode_entity_key(key, keys)) for key in kept]
    known = [(key, values) for key, values in decoded if values is not None]
    most = min(rule.per_stratum, -(-len(known) // _UNSEEN_PART))
    unseen = unseen_keys(known, keys, most=most, seed=rule.seed)
    unseen = [(key, values) for key, values in unseen if kept_keys(forgotten, keys, [key])]
    # Nothing says how likely an unseen key was to be chosen, and it stands for nobody.
    nobody = [Drawn(key=key, chance=0, strata=(Stratum.UNSEEN,)) for key, _ in unseen]
    asked = (*known, *unseen)
    return Sampled(
        keys=tuple(key for key, _ in asked),
        values=tuple(values for _, values in asked),
        drawn=(*(drawn[key] for key, _ in known), *nobody),
        stray=tuple(key for key, values in decoded if values is None),
    )


def _both(serving: Serving, fields: tuple[FieldSpec, ...], sampled: Sampled, served: Served, sources: Sources) -> Both:
    view, space = serving.view, serving.space
    recomputed = recompute_answers(sources.engine, view, fields, sampled.values, space.as_of)
    comparisons = compare_fields(fields, served.answers, recomputed)
    rows = read_stored_rows(sources.store, space, serving.plan, sampled.keys)
    change = None
    if any(comparison.differs.any() for comparison in comparisons.values()):
        # After the source was recomputed from: a change at any time until then is one.
        change = _source_change(view, space, sources)
    if change is not None:
        comparisons = without_proof(comparisons, np.array([row.cause is not None for row in rows], np.bool_))
    return Both(served=served.answers, recomputed=recomputed, rows=rows, comparisons=comparisons, source_change=change)


def _source_change(view: CompiledView, space: KeySpace, sources: Sources) -> str | None:
    """Return how the source is not the one that the refresh read; None where it is, or where rows say when they landed.

    With a created timestamp a row that lands later is not visible to the refresh, on either side.
    """
    if sources.recorded is None or view.source.created_timestamp is not None:
        return None
    return change_since(sources.recorded(space), lambda: snapshot_source(sources.engine, view))


def _weights(sampled: Sampled, both: Both) -> Weights:
    """Return how many entities each one stands for; 0 for those that neither side has a row of."""
    there = both.recomputed.found | np.array([row.state is not RowState.ABSENT for row in both.rows], np.bool_)
    chances = np.array([each.chance for each in sampled.drawn], np.float64)
    return np.divide(1.0, chances, out=np.zeros(len(chances)), where=there & (chances > 0))


def _field_report(spec: FieldSpec, both: Both, weights: Weights) -> FieldReport:
    comparison, served = both.comparisons[spec.name], both.served.fields[spec.name]
    return FieldReport(
        name=spec.name,
        type=spec.type.name,
        counts=comparison.counts,
        differences=differences(served.values, both.recomputed.fields[spec.name].values, comparison.differs, spec.type),
        mismatch=weighted_share(comparison.differs, weights),
        nulls=weighted_share(_is_null(served.statuses), weights),
    )


def _is_open(both: Both) -> Flags:
    """Return which entities have no row of which nobody can say that it should be there: the source is another one."""
    undecided = np.zeros(len(both.rows), np.bool_)
    for comparison in both.comparisons.values():
        undecided |= comparison.verdicts == Verdict.INDETERMINATE
    return undecided & ~both.served.found


def _is_null(statuses: Codes) -> Flags:
    found: Flags = (statuses != Status.PRESENT) & (statuses != Status.UNAVAILABLE)
    return found


def _plainly(sampled: Sampled, served: Answers) -> Answers:
    """Return what entities of the plain sample are served: shares of these are those of the population."""
    return served.take(np.flatnonzero([each.plain for each in sampled.drawn]))


def _strata(sampled: Sampled, both: Both, offline: OfflineKeys) -> Sequence[StratumReport]:
    """Return the strata that have entities, and the keys that nobody has; one of these may be somebody's after all."""
    differs = both.differs
    reports = []
    for stratum in Stratum:
        chosen = np.array([stratum in each.strata for each in sampled.drawn], np.bool_)
        if stratum is Stratum.UNSEEN:
            chosen &= ~both.recomputed.found
        size = offline.strata.get(stratum)
        if size or chosen.any():
            differing = int((differs & chosen).sum())
            reports.append(StratumReport(name=stratum, population=size, sampled=int(chosen.sum()), differing=differing))
    return reports


def _findings(
    serving: Serving, fields: tuple[FieldSpec, ...], sampled: Sampled, both: Both, sources: Sources
) -> tuple[Finding, ...]:
    if not both.differs.any():
        return ()
    view, space = serving.view, serving.space
    compared = Compared(
        entities=tuple(show_entity(each, view_keys(view)) for each in sampled.values),
        fields=fields,
        refresh=Refresh(as_of=space.as_of, fingerprint=serving.plan.fingerprint),
        rows=both.rows,
        served=both.served,
        recomputed=both.recomputed,
        comparisons=both.comparisons,
    )
    rows = len(sampled.values)
    worlds = Counterfactuals(
        sources.engine,
        view,
        fields,
        sampled.values,
        np.full(rows, space.as_of, np.int64),
        asked_at=np.full(rows, sources.at, np.int64),
        previous=() if sources.earlier is None else sources.earlier(view),
    )
    return diagnose(compared, worlds)


def _stray_keys(keys: Sequence[bytes]) -> tuple[Finding, ...]:
    """Return a finding for rows whose keys name no entity of the view: no lookup ever asks for them."""
    if not keys:
        return ()
    evidence = tuple(
        Evidence(
            entity=repr(key)[2:-1],
            field=None,
            served="no lookup reads it",
            recomputed="no row",
            explanation="The key in the online store is not what any values of the view's join keys are written as.",
        )
        for key in keys[:EVIDENCE_ROWS]
    )
    return (Finding(cause=Cause.EXTRA_ROW, field=None, count=len(keys), evidence=evidence),)
