"""The store audit: sampled entities as they are served, beside what the training path says of them (DESIGN §7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from featurekit.clock import Instant
from featurekit.compiled import CompiledService, CompiledView
from featurekit.consistency.population import OnlineKeys, online_entities
from featurekit.consistency.report import ConsistencyReport
from featurekit.consistency.sample import SampleRule
from featurekit.consistency.serving_view import NotServed, Serving, find_serving
from featurekit.consistency.thresholds import with_thresholds
from featurekit.consistency.view_audit import EarlierViews, RecordedSnapshot, Sources, audit_view, unavailable
from featurekit.consistency.view_report import ViewReport
from featurekit.errors import FeaturekitError, SourceError
from featurekit.offline.engine import BatchEngine
from featurekit.online.client import FeatureClient
from featurekit.online.keys import Namespace
from featurekit.online.store import ReadableStore
from featurekit.tombstones import Tombstones


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
    services: Iterable[CompiledService] = (),
    earlier: EarlierViews | None = None,
) -> ConsistencyReport:
    """Return what lookups at an instant are answered, compared with what training would take for the same entities.

    `ulps` declares a tolerance for a field, by `view.feature`; there is none anywhere else. `recorded` says what source
    each refresh read: where a row can land unseen (no created timestamp) and the source is another one by now, what
    differs is indeterminate, and no mismatch (DESIGN T2). What is `forgotten` is on no side. `services` are those whose
    thresholds are asked for beside the views' own; `earlier` gives earlier definitions of a view, which a fault may go
    back to. Views that are not registered or not served, and those whose source can't be read, are reported as
    unavailable; NotRegisteredError or SourceError where that is true of all of them. OnlineStoreError and
    BatchEngineError where a side can't be read at all.
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
        earlier=earlier,
    )
    found = [find_serving(view, client=client, store=store, namespace=namespace, at=at) for view in views]
    online = online_entities(store, namespace, [each.space for each in found if isinstance(each, Serving)], rule)
    errors: list[FeaturekitError] = []
    asking = tuple(services)

    def checked(each: Serving | NotServed) -> ViewReport:
        if isinstance(each, NotServed):
            errors.extend(() if each.error is None else (each.error,))
            return unavailable(each.view, at, each.problem)
        try:
            report = audit_view(each, online.get(each.space, OnlineKeys()), sources, rule, ulps or {})
        except SourceError as error:
            errors.append(error)
            return unavailable(each.view, at, f"its source can't be read: {error.what}\n{error}")
        return with_thresholds(report, each.view, at=at, services=asking)

    reports = tuple(checked(each) for each in found)
    if errors and len(errors) == len(found):
        raise errors[0]
    return ConsistencyReport(
        project=namespace.project, environment=namespace.environment, at=at, seed=rule.seed, views=reports
    )
