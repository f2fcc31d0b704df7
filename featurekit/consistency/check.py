"""The store audit: sampled entities as they are served, beside what the training path says of them (DESIGN §7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from featurekit.clock import Instant
from featurekit.compiled import CompiledView
from featurekit.consistency.cells import FieldSpec
from featurekit.consistency.compare import FieldComparison, compare_fields, without_proof
from featurekit.consistency.diagnosis.causes import Cause, Refresh
from featurekit.consistency.diagnosis.diagnose import EVIDENCE_ROWS, Compared, diagnose, unlabelled_mismatches
from featurekit.consistency.diagnosis.findings import Evidence, Finding
from featurekit.consistency.entity_keys import decode_entity_key, show_entity
from featurekit.consistency.population import Side, offline_entities, online_entities, view_keys
from featurekit.consistency.recompute import recompute_answers
from featurekit.consistency.report import ConsistencyReport
from featurekit.consistency.sample import SampleRule, union
from featurekit.consistency.served import Served, look_up, read_stored_rows
from featurekit.consistency.serving_view import NotServed, Serving, find_serving
from featurekit.consistency.view_report import FieldReport, ViewReport
from featurekit.lookup_plan import plan_fields
from featurekit.offline.engine import BatchEngine
from featurekit.offline.snapshot import describe_change, read_snapshot, snapshot_source
from featurekit.online.client import FeatureClient
from featurekit.online.forgotten import kept_keys
from featurekit.online.keys import KeySpace, Namespace
from featurekit.online.store import ReadableStore
from featurekit.tombstones import Tombstones

RecordedSnapshot = Callable[[KeySpace], str | None]
"""The source as the refresh of a key space read it, in the registry's JSON; None where nothing is recorded."""


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


def check_consistency(
    *,
    engine: BatchEngine,
    client: FeatureClient,
    store: ReadableStore,
    namespace: Namespace,
    views: Sequence[CompiledView],
    at: Instant,
    sample: SampleRule | None = None,
    ulps: Mapping[str, int] | None = None,
    recorded: RecordedSnapshot | None = None,
    forgotten: Tombstones | None = None,
) -> ConsistencyReport:
    """Return what lookups at an instant are answered, compared with what training would take for the same entities.

    `ulps` declares a tolerance for a field, by `view.feature`; there is none anywhere else. `recorded` says what source
    each refresh read: where a row can land unseen (no created timestamp) and the source is another one by now, what
    differs is indeterminate, and no mismatch (DESIGN T2). What is `forgotten` is on no side. Views that are not
    registered or not served are reported as unavailable; NotRegisteredError where that is true of all of them.
    OnlineStoreError and BatchEngineError where a side can't be read at all.
    """
    rule = sample or SampleRule()
    sources = Sources(
        engine=engine,
        client=client,
        store=store,
        namespace=namespace,
        at=at,
        recorded=recorded,
        forgotten=forgotten or Tombstones(),
    )
    found = [find_serving(view, client=client, store=store, namespace=namespace, at=at) for view in views]
    errors = [each.error for each in found if isinstance(each, NotServed) and each.error is not None]
    if errors and len(errors) == len(found):
        raise errors[0]
    serving = [each for each in found if isinstance(each, Serving)]
    online = online_entities(store, namespace, [each.space for each in serving], rule)
    return ConsistencyReport(
        project=namespace.project,
        environment=namespace.environment,
        at=at,
        seed=rule.seed,
        views=tuple(
            _check_view(each, online[each.space], sources, rule, ulps or {})
            if isinstance(each, Serving)
            else _unavailable(each.view, at, each.problem)
            for each in found
        ),
    )


def _check_view(
    serving: Serving, online: Side, sources: Sources, rule: SampleRule, ulps: Mapping[str, int]
) -> ViewReport:
    view, space = serving.view, serving.space
    fields = field_specs(view, ulps)
    if sources.store.read([space.marker])[0] is None:
        problem = (
            f"the key space {space} is gone\n"
            "It was dropped or has expired, or the store restarted empty. Materialize the view again."
        )
        return replace(_unavailable(view, sources.at, problem), online=online.seen)
    offline = offline_entities(sources.engine, view, space.as_of, rule)
    sampled = kept_keys(sources.forgotten, view_keys(view), union(rule, online.keys, offline.keys))
    entities = {key: decode_entity_key(key, view_keys(view)) for key in sampled}
    known = {key: values for key, values in entities.items() if values is not None}
    stray = [key for key, values in entities.items() if values is None]
    served = look_up(sources.client, serving.plan, list(known.values()), sources.at)
    if served.as_of not in (space.as_of, None):
        problem = "another refresh was published or withdrawn while the view was read\nCheck again."
        return _unavailable(view, sources.at, problem)
    comparisons, findings, change = _compared(serving, fields, known, served, sources)
    return ViewReport(
        view=view.name,
        fingerprint=serving.plan.fingerprint,
        as_of=space.as_of,
        promised_as_of=view.view.grid.served_at(sources.at),
        online=online.seen,
        offline=offline.seen,
        sampled=len(known),
        found=int(served.answers.found.sum()),
        fields=tuple(
            FieldReport(name=spec.name, type=spec.type.name, counts=comparisons[spec.name].counts) for spec in fields
        ),
        findings=(*_stray_keys(stray), *findings),
        source_change=change,
    )


def _compared(
    serving: Serving,
    fields: tuple[FieldSpec, ...],
    entities: Mapping[bytes, tuple[object, ...]],
    served: Served,
    sources: Sources,
) -> tuple[Mapping[str, FieldComparison], tuple[Finding, ...], str | None]:
    """Return the verdicts, what they come of, and the change of the source that leaves some of them open."""
    view, space = serving.view, serving.space
    values = list(entities.values())
    recomputed = recompute_answers(sources.engine, view, fields, values, space.as_of)
    comparisons = compare_fields(fields, served.answers, recomputed)
    if not entities:
        return comparisons, (), None
    rows = read_stored_rows(sources.store, space, serving.plan, list(entities))
    change = None
    if any(comparison.differs.any() for comparison in comparisons.values()):
        # After the source was recomputed from: a change at any time until then is one.
        change = _source_change(view, space, sources)
    if change is not None:
        comparisons = without_proof(comparisons, np.array([row.cause is not None for row in rows], np.bool_))
    previous = view.view.grid.floor(space.as_of - 1)
    compared = Compared(
        entities=tuple(show_entity(each, view_keys(view)) for each in values),
        fields=fields,
        refresh=Refresh(as_of=space.as_of, previous=previous, fingerprint=serving.plan.fingerprint),
        rows=rows,
        served=served.answers,
        recomputed=recomputed,
        comparisons=comparisons,
    )
    if len(chosen := unlabelled_mismatches(compared)):
        answers = recompute_answers(sources.engine, view, fields, [values[at] for at in chosen], previous)
        compared = replace(compared, previous=answers, previous_rows=np.asarray(chosen, np.intp))
    return comparisons, diagnose(compared), change


def _source_change(view: CompiledView, space: KeySpace, sources: Sources) -> str | None:
    """Return how the source is not the one that the refresh read; None where it is, or where rows say when they landed.

    With a created timestamp a row that lands later is not visible to the refresh, on either side.
    """
    if sources.recorded is None or view.source.created_timestamp is not None:
        return None
    text = sources.recorded(space)
    before = None if text is None else read_snapshot(text)
    if before is None:
        return "nothing is recorded of the source that the refresh read"
    if not before.files:
        return f"{before.origin} names no files, so nobody knows whether it is what the refresh read"
    return describe_change(before, snapshot_source(sources.engine, view))


def field_specs(view: CompiledView, ulps: Mapping[str, int]) -> tuple[FieldSpec, ...]:
    """Return the view's fields as they are compared."""
    return tuple(
        FieldSpec(
            name=field.name,
            type=field.type,
            is_latest=field.is_latest,
            default=field.default,
            empty=field.empty,
            ulps=ulps.get(f"{view.name}.{field.name}", 0),
        )
        for field in plan_fields(view)
    )


def _unavailable(view: CompiledView, at: Instant, problem: str) -> ViewReport:
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
