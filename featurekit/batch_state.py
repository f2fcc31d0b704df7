"""How batch work stands, for metrics: read from the registry, the heads in the store and the schedule's plan."""

from __future__ import annotations

from collections import Counter

from featurekit.clock import Instant
from featurekit.compiled import CompiledView
from featurekit.feature_store import FeatureStore
from featurekit.monitoring.batch import BatchState, ViewState
from featurekit.online.refresh import served_as_of
from featurekit.registry.state import RefreshRecord, RefreshStatus
from featurekit.scheduling.plan import Plan


def batch_state(store: FeatureStore, plan: Plan) -> BatchState:
    """Return how the defined views, the last check, the schedule and the alerts stand at the plan's instant."""
    now, registry = plan.at, store.registry
    overdue: dict[str, Instant] = {}
    for task in plan.due:
        overdue[task.job.value] = min(task.due_at, overdue.get(task.job.value, now))
    return BatchState(
        at=now,
        views=[_view_state(store, view, now) for view in store.definitions.views.values()],
        check=next(iter(registry.checks.runs(kind="store", last=1)), None),
        succeeded=registry.schedule.last_successes(),
        overdue=overdue,
        alerts=Counter(alert.sink for alert in registry.alerts.pending(at=now)),
    )


def _view_state(store: FeatureStore, view: CompiledView, now: Instant) -> ViewState:
    fingerprint = view.fingerprint.data
    records = store.registry.refreshes(view.name, fingerprint=fingerprint)
    last = max(filter(_is_complete, records), key=lambda one: one.completed_at or 0, default=None)
    return ViewState(
        view=view.name,
        as_of=served_as_of(store.online, store.namespace, view.name, fingerprint, now),
        promised_as_of=view.view.grid.served_at(now),
        succeeded_at=None if last is None else last.completed_at,
        took=None if last is None or last.completed_at is None else last.completed_at - last.started_at,
        rows=None if last is None else last.rows,
        runs=Counter(record.status.value for record in records),
    )


def _is_complete(record: RefreshRecord) -> bool:
    return record.status is RefreshStatus.COMPLETE
