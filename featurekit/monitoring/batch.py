"""What batch work tells Prometheus of refreshes, checks, the schedule and alerts: scraped, or left in a file.

Labels are names of definitions, statuses and settings: nothing that data can make up, and no more of them than
`MOST_FIELDS` fields.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from featurekit.clock import SECOND, Instant
from featurekit.errors import FeaturekitError, InputError, SettingsError
from featurekit.registry.check_run import CheckedField, CheckRun

MOST_FIELDS: Final = 2000
_Labels = TypeVar("_Labels", bound=tuple[str, ...])


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewState:
    """How fresh a view is, and its refreshes that are on record: None where there was none; `runs` by their status."""

    view: str
    as_of: Instant | None
    promised_as_of: Instant
    succeeded_at: Instant | None = None
    took: int | None = None
    rows: int | None = None
    runs: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchState:
    """What there is to tell at one instant; `check` is the newest run of the check, `overdue` by job since when."""

    at: Instant
    views: Sequence[ViewState]
    check: CheckRun | None = None
    succeeded: Mapping[str, Instant] = field(default_factory=dict)
    overdue: Mapping[str, Instant] = field(default_factory=dict)
    alerts: Mapping[str, int] = field(default_factory=dict)


def metrics_of(state: BatchState) -> Iterator[Metric]:
    """Yield the state as metrics."""
    yield _gauge("featurekit_batch_timestamp_seconds", "When these metrics were read.", {(): _s(state.at)})
    yield from _views(state.views)
    if state.check is not None:
        yield from _check(state.check)
    name, told = "featurekit_schedule_last_success_timestamp_seconds", "When a job of the schedule ended well last."
    yield _gauge(name, told, {(job,): _s(at) for job, at in state.succeeded.items()}, "job")
    name, told = "featurekit_schedule_overdue_seconds", "For how long the oldest task of a job has been due."
    late = {(job,): max(0.0, _s(state.at - at)) for job, at in state.overdue.items()}
    yield _gauge(name, told, late, "job")
    name, told = "featurekit_alerts_waiting", "Alerts that a sink has not taken yet."
    yield _gauge(name, told, {(sink,): float(count) for sink, count in state.alerts.items()}, "sink")


def _views(views: Sequence[ViewState]) -> Iterator[Metric]:
    for name, told, of in (
        ("view_as_of_timestamp_seconds", "The as-of that lookups get; absent where they get none.", _as_of),
        ("view_promised_as_of_timestamp_seconds", "The as-of that the declaration promises.", _promised),
        ("materialize_last_success_timestamp_seconds", "When a refresh of the view was complete last.", _succeeded),
        ("materialize_last_duration_seconds", "How long the last complete refresh took.", _took),
        ("materialize_last_rows", "How many rows the last complete refresh has.", _rows),
    ):
        found = {(view.view,): value for view in views if (value := of(view)) is not None}
        yield _gauge(f"featurekit_{name}", told, found, "view")
    told = "Refreshes on record, by how they ended."
    counts = {(view.view, status): float(count) for view in views for status, count in view.runs.items()}
    yield _gauge("featurekit_materialize_runs", told, counts, "view", "status")


def _as_of(view: ViewState) -> float | None:
    return None if view.as_of is None else _s(view.as_of)


def _promised(view: ViewState) -> float | None:
    return _s(view.promised_as_of)


def _succeeded(view: ViewState) -> float | None:
    return None if view.succeeded_at is None else _s(view.succeeded_at)


def _took(view: ViewState) -> float | None:
    return None if view.took is None else _s(view.took)


def _rows(view: ViewState) -> float | None:
    return None if view.rows is None else float(view.rows)


def _check(run: CheckRun) -> Iterator[Metric]:
    yield _gauge("featurekit_check_timestamp_seconds", "When the last check was recorded.", {(): _s(run.recorded_at)})
    yield _gauge("featurekit_check_passed", "1 where the last check passed.", {(): float(run.passed)})
    outcomes = {(view.view, view.outcome): 1.0 for view in run.views}
    yield _gauge("featurekit_check_outcome", "1 for what the last check says of a view.", outcomes, "view", "outcome")
    covered = {(view.view,): view.coverage for view in run.views if view.coverage is not None}
    yield _gauge("featurekit_check_coverage_ratio", "The share of entities with a served row.", covered, "view")
    fields = [(view.view, each) for view in run.views for each in view.fields]
    # Of too many the ones that say something.
    shown = sorted(fields, key=lambda each: -each[1].differing)[:MOST_FIELDS]
    for name, told, of in _FIELDS:
        found = {(view, each.field): of(each) for view, each in shown}
        yield _gauge(f"featurekit_check_{name}", told, found, "view", "field")
    left = {(): float(len(fields) - len(shown))}
    yield _gauge("featurekit_check_fields_left_out", "Fields that are too many to be shown.", left)


_FIELDS: Final[Sequence[tuple[str, str, Callable[[CheckedField], float]]]] = (
    ("cells", "Values that the last check compared.", lambda one: float(one.cells)),
    ("differing_cells", "Values of these that differ.", lambda one: float(one.differing)),
    ("differing_ratio", "The share of the population that differs.", lambda one: one.share),
)


def _gauge(name: str, told: str, values: Mapping[_Labels, float], *labels: str) -> Metric:
    family = GaugeMetricFamily(name, told, labels=labels)
    for names, value in values.items():
        family.add_metric(names, value)
    return family


def _s(instant: int) -> float:
    return instant / SECOND


class _Batch(Collector):
    """Reads the state at each scrape; where it can't be read it says so, and a scrape never fails."""

    def __init__(self, read: Callable[[], BatchState]) -> None:
        self._read = read

    def collect(self) -> Iterable[Metric]:
        try:
            state = self._read()
        except FeaturekitError:
            state = None
        yield _gauge("featurekit_batch_up", "1 where the state could be read.", {(): float(state is not None)})
        if state is not None:
            yield from metrics_of(state)

    def describe(self) -> Iterable[Metric]:
        """Return nothing: to be registered is no reason to read the state."""
        return ()


def exposition(read: Callable[[], BatchState]) -> bytes:
    """Return the state as Prometheus' text."""
    return generate_latest(_registry(read))


def write_metrics(read: Callable[[], BatchState], file: Path) -> None:
    """Write the state into a file of the textfile collector; who reads it sees the old one or the whole new one.

    InputError where its folder is not there or can't be written.
    """
    try:
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(exposition(read))
            Path(name).chmod(0o644)  # the collector is somebody else
            Path(name).replace(file)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        why = error.strerror
        raise InputError("the metrics can't be written", where=str(file), why=why, try_="another folder") from error


def listen(read: Callable[[], BatchState], host: str, port: int) -> None:
    """Show the state on a port, for as long as the process lives; SettingsError where that can't be."""
    try:
        start_http_server(port, host, _registry(read))
    except OSError as error:
        what = f"metrics can't be shown on {host}:{port}"
        raise SettingsError(what, why=error.strerror, try_="another --metrics-port") from error


def _registry(read: Callable[[], BatchState]) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(_Batch(read))
    return registry
