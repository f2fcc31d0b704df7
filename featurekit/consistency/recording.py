"""A report beside those before it: kept in the registry, with since when its causes are known and what went before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from featurekit.clock import DAY, Instant
from featurekit.consistency.compare import Verdict
from featurekit.consistency.diagnosis.findings import Finding
from featurekit.consistency.replay.report import OnDemandReplay, ReplayReport, ServiceReplay, ViewReplay
from featurekit.consistency.report import ConsistencyReport
from featurekit.consistency.trend import DAYS, with_run
from featurekit.consistency.view_report import FieldReport, ViewReport
from featurekit.errors import RegistryError
from featurekit.registry.check_history import CheckHistory
from featurekit.registry.check_run import CheckedField, CheckedView, CheckRun, KeptCause, Retention
from featurekit.registry.check_trend import Period, Trend

STORE: Final = "store"
REPLAY: Final = "replay"
Report = TypeVar("Report", ConsistencyReport, ReplayReport)
Forgotten = Callable[[], bool]
"""Says, inside the transaction, whether entities were forgotten since the report was begun."""


def recorded(
    report: ConsistencyReport, history: CheckHistory, *, at: Instant, retention: Retention, forgotten: Forgotten
) -> ConsistencyReport:
    """Keep a report and return it with its number, its trends and since when its causes are known.

    `at` is when it is kept. Where entities were `forgotten` meanwhile there is no evidence: it may be of them. A
    registry that fails loses no report: what is returned says that it was not kept.
    """

    def completed(run: CheckRun) -> ConsistencyReport:
        return _completed(_without_evidence(report) if forgotten() else report, run, before)

    try:
        views = [view.view for view in report.views]
        before = history.trends(Period(kind=STORE, views=views, since=report.at - DAYS * DAY, until=report.at))
        return _keep(check_run(report, at), history, retention, completed)
    except RegistryError as error:
        return replace(report, notes=(*report.notes, _not_kept(error)))


def recorded_replay(
    report: ReplayReport, history: CheckHistory, *, at: Instant, retention: Retention, forgotten: Forgotten
) -> ReplayReport:
    """Keep a replay's report as `recorded` does one of the store; its trend is in itself, by the requests' days."""

    def completed(run: CheckRun) -> ReplayReport:
        return replace(_replay_without_evidence(report) if forgotten() else report, run=run.run)

    try:
        return _keep(replay_run(report, at), history, retention, completed)
    except RegistryError as error:
        return replace(report, notes=(*report.notes, _not_kept(error)))


def _keep(
    run: CheckRun, history: CheckHistory, retention: Retention, completed: Callable[[CheckRun], Report]
) -> Report:
    made: list[Report] = []

    def document(kept: CheckRun) -> str:
        made.append(completed(kept))
        return made[-1].to_json()

    history.record(run, document, retention=retention)
    return made[-1]


def _not_kept(error: RegistryError) -> str:
    return f"This run is not in the history: {error.what} ({error.why or error.where})."


_LEFT_OUT: Final = "Evidence is left out: entities were forgotten while the check ran, and it may be of them."


def _without_evidence(report: ConsistencyReport) -> ConsistencyReport:
    views = tuple(replace(view, findings=_bare(view.findings)) for view in report.views)
    return replace(report, views=views, notes=(*report.notes, _LEFT_OUT))


def _replay_without_evidence(report: ReplayReport) -> ReplayReport:
    services = tuple(
        replace(
            service,
            views=tuple(replace(view, findings=_bare(view.findings)) for view in service.views),
            on_demand=tuple(replace(each, findings=_bare(each.findings)) for each in service.on_demand),
        )
        for service in report.services
    )
    return replace(report, services=services, notes=(*report.notes, _LEFT_OUT))


def _bare(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    return tuple(replace(finding, evidence=()) for finding in findings)


def check_run(report: ConsistencyReport, at: Instant) -> CheckRun:
    """Return what the history keeps of a report beside its JSON."""
    return CheckRun(
        kind=STORE,
        at=report.at,
        recorded_at=at,
        passed=report.passed,
        summary=report.summary,
        cells=report.cells,
        differing=report.mismatches,
        breaches=report.breaches,
        views=tuple(_view(view) for view in report.views),
    )


def replay_run(report: ReplayReport, at: Instant) -> CheckRun:
    """Return what the history keeps of a replay beside its JSON: a service's aliases and its on-demand features."""
    return CheckRun(
        kind=REPLAY,
        at=report.at,
        recorded_at=at,
        passed=report.passed,
        summary=report.summary,
        cells=sum(service.compared for service in report.services),
        differing=sum(field.differing for service in report.services for field in service.fields),
        breaches=0,
        views=tuple(view for service in report.services for view in _replayed(service)),
    )


def _replayed(service: ServiceReplay) -> Iterator[CheckedView]:
    """Yield each alias once, and what is computed on demand: of several versions what is served to most."""
    parts: dict[str, ViewReplay | OnDemandReplay] = {}
    for view in sorted(service.views, key=lambda each: each.rows):
        parts[view.alias] = view
    for item in service.on_demand:
        parts["on demand"] = item
    for name, part in parts.items():
        differs = any(field.differing for field in part.fields)
        yield CheckedView(
            view=f"{service.service}: {name}",
            fingerprint=part.fingerprint,
            outcome="inconsistent" if differs else "consistent",
            as_of=None,
            promised_as_of=None,
            sampled=max((field.compared for field in part.fields), default=0),
            coverage=None,
            causes=_causes(part.findings, None),
            fields=tuple(
                CheckedField(
                    field=field.name,
                    cells=field.compared,
                    differing=field.differing,
                    indeterminate=field.counts[Verdict.INDETERMINATE],
                    share=field.share or 0.0,
                    causes=_causes(part.findings, field.name),
                )
                for field in part.fields
            ),
        )


def _view(view: ViewReport) -> CheckedView:
    return CheckedView(
        view=view.view,
        fingerprint=view.fingerprint,
        outcome=view.outcome.value,
        as_of=view.as_of,
        promised_as_of=view.promised_as_of,
        sampled=view.sampled,
        coverage=view.coverage,
        causes=_causes(view.findings, None),
        fields=tuple(_field(view, field) for field in view.fields),
    )


def _field(view: ViewReport, field: FieldReport) -> CheckedField:
    return CheckedField(
        field=field.name,
        cells=field.cells,
        differing=field.differing,
        indeterminate=field.indeterminate,
        share=field.share or 0.0,
        causes=_causes(view.findings, field.name),
    )


def _causes(findings: Sequence[Finding], field: str | None) -> tuple[KeptCause, ...]:
    return tuple(
        KeptCause(cause=_named(finding), count=finding.count, since=finding.since)
        for finding in findings
        if finding.field == field
    )


def _named(finding: Finding) -> str:
    """Return a finding's causes as one name: two faults on the same cells are another thing than either."""
    return " and ".join(cause.value for cause in finding.causes)


def _completed(report: ConsistencyReport, kept: CheckRun, before: Mapping[str, Trend]) -> ConsistencyReport:
    known = {view.view: view for view in kept.views}
    return replace(
        report,
        run=kept.run,
        trends=with_run(before, kept),
        views=tuple(
            replace(view, findings=tuple(_since(each, _known_since(known[view.view])) for each in view.findings))
            for view in report.views
        ),
    )


_Since = Mapping[tuple[str | None, str], Instant | None]


def _known_since(view: CheckedView) -> _Since:
    rows = {(None, each.cause): each.since for each in view.causes}
    return rows | {(field.field, each.cause): each.since for field in view.fields for each in field.causes}


def _since(finding: Finding, known: _Since) -> Finding:
    return replace(finding, since=known.get((finding.field, _named(finding)), finding.since))
