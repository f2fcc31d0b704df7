"""A report beside those before it: kept in the registry, with since when its causes are known and what went before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from featurekit.clock import DAY, Instant
from featurekit.consistency.diagnosis.findings import Finding
from featurekit.consistency.report import ConsistencyReport
from featurekit.consistency.trend import DAYS, trends
from featurekit.consistency.view_report import FieldReport, ViewReport
from featurekit.errors import RegistryError
from featurekit.registry.check_history import CheckHistory
from featurekit.registry.check_run import CheckedField, CheckedView, CheckRun, KeptCause, Retention

KIND: Final = "store"


def recorded(
    report: ConsistencyReport,
    history: CheckHistory,
    *,
    at: Instant,
    retention: Retention,
    forgotten: Callable[[], bool] = lambda: False,
) -> ConsistencyReport:
    """Keep a report and return it with its number, its trends and since when its causes are known.

    `at` is when it is kept. `forgotten` says, inside the transaction, whether entities were forgotten since the check
    began: evidence may be of them, so there is none then. A registry that fails loses no report: what is returned says
    that it was not kept.
    """
    kept: list[ConsistencyReport] = []

    def document(run: CheckRun) -> str:
        kept.append(_completed(_without_evidence(report) if forgotten() else report, run, before))
        return kept[-1].to_json()

    try:
        before = history.runs(kind=KIND, since=report.at - DAYS * DAY, until=report.at)
        history.record(check_run(report, at), document, retention=retention)
    except RegistryError as error:
        told = f"This run is not in the history: {error.what} ({error.why or error.where})."
        return replace(report, notes=(*report.notes, told))
    return kept[-1]


def _without_evidence(report: ConsistencyReport) -> ConsistencyReport:
    views = tuple(
        replace(view, findings=tuple(replace(finding, evidence=()) for finding in view.findings))
        for view in report.views
    )
    told = "Evidence is left out: entities were forgotten while the check ran, and it may be of them."
    return replace(report, views=views, notes=(*report.notes, told))


def check_run(report: ConsistencyReport, at: Instant) -> CheckRun:
    """Return what the history keeps of a report beside its JSON."""
    return CheckRun(
        kind=KIND,
        at=report.at,
        recorded_at=at,
        passed=report.passed,
        summary=report.summary,
        cells=report.cells,
        differing=report.mismatches,
        breaches=report.breaches,
        views=tuple(_view(view) for view in report.views),
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
        causes=_causes(view, None),
        fields=tuple(_field(view, field) for field in view.fields),
    )


def _field(view: ViewReport, field: FieldReport) -> CheckedField:
    return CheckedField(
        field=field.name,
        cells=field.cells,
        differing=field.differing,
        indeterminate=field.indeterminate,
        share=field.share or 0.0,
        causes=_causes(view, field.name),
    )


def _causes(view: ViewReport, field: str | None) -> tuple[KeptCause, ...]:
    return tuple(
        KeptCause(cause=_named(finding), count=finding.count, since=finding.since)
        for finding in view.findings
        if finding.field == field
    )


def _named(finding: Finding) -> str:
    """Return a finding's causes as one name: two faults on the same cells are another thing than either."""
    return " and ".join(cause.value for cause in finding.causes)


def _completed(report: ConsistencyReport, kept: CheckRun, before: tuple[CheckRun, ...]) -> ConsistencyReport:
    known = {view.view: view for view in kept.views}
    return replace(
        report,
        run=kept.run,
        trends=trends((*before, kept)),
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
