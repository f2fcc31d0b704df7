"""A consistency report as an answer: what differs, why, and one row that shows it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from featurekit.cli.answer import Answer, Block, Line, Table, Tone, Toned
from featurekit.clock import format_instant
from featurekit.consistency.diagnosis.findings import Finding
from featurekit.consistency.report import ConsistencyReport
from featurekit.consistency.view_report import Outcome, ViewReport, counted, headline

_EVIDENCE_SHOWN = 3


def report_answer(report: ConsistencyReport) -> Answer:
    """Return the report for people and as its own JSON; it exits with the report's verdict."""
    blocks: list[Block] = []
    if report.views:
        rows = tuple(_view_row(view) for view in report.views)
        blocks.append(Table(columns=("view", "as of", "rows", "values", "differ", "verdict"), rows=rows))
    for view in report.views:
        blocks += _findings(view)
    tone = Tone.BAD if not report.passed else Tone.WARNING if report.indeterminate else Tone.GOOD
    blocks.append(Line(report.summary, tone))
    return Answer(document=json.loads(report.to_json()), blocks=tuple(blocks), exit_code=report.exit_code)


def _view_row(view: ViewReport) -> tuple[str | Toned, ...]:
    tone = Tone.BAD if not view.outcome.passes else Tone.GOOD
    if view.outcome is Outcome.INDETERMINATE:
        tone = Tone.WARNING
    late = " (late)" if view.is_late else ""
    as_of = "nothing served" if view.as_of is None else format_instant(view.as_of) + late
    counts = (f"{view.sampled:,}", f"{view.cells:,}", f"{view.differing_cells:,}")
    return (view.view, as_of, *counts, Toned(headline(view), tone))


def _findings(view: ViewReport) -> Iterator[Block]:
    if view.source_change is not None:
        counts = counted(view.indeterminate_cells, "value")
        yield Line(f"{view.view}: {counts} indeterminate: {view.source_change}", Tone.WARNING)
    yield from finding_blocks(view.view, view.findings)


def finding_blocks(owner: str, findings: Sequence[Finding]) -> Iterator[Block]:
    """Yield what explains the differences of a view, or of what else has findings, each with rows that show it."""
    for finding in findings:
        place = owner if finding.field is None else f"{owner}.{finding.field}"
        yield Line(f"{place}: {finding.cause.label} ({finding.count:,})", Tone.BAD)
        for evidence in finding.evidence[:_EVIDENCE_SHOWN]:
            rows = (
                ("", "entity", evidence.entity),
                ("", "served", evidence.served),
                ("", "recomputed", evidence.recomputed),
                ("", "", Toned(evidence.explanation, Tone.FAINT)),
            )
            yield Table(rows=rows)
