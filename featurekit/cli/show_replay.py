"""A replay as an answer: how fresh answers were, which fields differ and why, and what was not compared."""

from __future__ import annotations

import json
from collections.abc import Iterator

from featurekit.cli.answer import Answer, Block, Cell, Line, Table, Tone, Toned, counted
from featurekit.cli.show_report import finding_blocks
from featurekit.clock import SECOND, format_duration
from featurekit.consistency.compare import Verdict
from featurekit.consistency.replay.report import FieldReplay, ReplayReport, ServiceReplay, ViewReplay
from featurekit.consistency.report_document import findings_document

_NOT_COMPARED = {
    "forgotten": "rows of entities that are forgotten",
    "other_versions": "rows of versions of the service that neither the registry nor the definitions know",
    "other_places": "rows that another project or environment served",
}


def replay_answer(report: ReplayReport) -> Answer:
    """Return the report for people and as its own JSON; it exits with the report's verdict."""
    blocks = [block for service in report.services for block in _service(service)]
    blocks.append(Line(report.summary, Tone.GOOD if report.passed else Tone.BAD))
    return Answer(document=json.loads(report.to_json()), blocks=tuple(blocks), exit_code=report.exit_code)


def _service(replay: ServiceReplay) -> Iterator[Block]:
    sampled = f"{replay.sampled:,} of {counted(replay.logged, 'logged row')} replayed"
    yield Table(
        title=f"{replay.service}: {sampled}",
        columns=("view", "rows", "on time", "late", "ahead", "no answer", "oldest"),
        rows=tuple(_freshness_row(view) for view in replay.views),
    )
    yield Table(
        columns=("field", "question", "compared", "differ", "of all", "not compared"),
        rows=tuple(_field_row(field) for field in replay.fields),
    )
    for view in replay.views:
        if view.lost is not None:
            yield Line(f"{view.alias} can't be recomputed: {view.lost}", Tone.BAD)
        if view.source_change is not None:
            count = sum(field.counts[Verdict.INDETERMINATE] for field in view.fields)
            yield Line(f"{view.alias}: {counted(count, 'value')} indeterminate: {view.source_change}", Tone.WARNING)
        yield from finding_blocks(view.alias, findings_document(view.findings))
    for each in replay.on_demand:
        yield from finding_blocks(replay.service, findings_document(each.findings))
    rows = tuple((f"{count:,}", told) for name, told in _NOT_COMPARED.items() if (count := getattr(replay, name)))
    if rows:
        yield Table(rows=rows)


def _freshness_row(view: ViewReplay) -> tuple[Cell, ...]:
    fresh = view.freshness
    late = ", ".join(f"{rows:,} by {steps}" for steps, rows in fresh.late.items())
    off_grid = f", {fresh.off_grid:,} of no refresh" if fresh.off_grid else ""
    oldest = "" if fresh.oldest is None else format_duration(fresh.oldest - fresh.oldest % SECOND)
    return (
        view.alias,
        f"{view.rows:,}",
        f"{fresh.on_time:,}",
        Toned((late or "0") + off_grid, Tone.WARNING if late or off_grid else Tone.PLAIN),
        f"{fresh.ahead:,}",
        f"{fresh.unavailable:,}",
        oldest,
    )


def _field_row(field: FieldReplay) -> tuple[Cell, ...]:
    left = field.unavailable + field.degraded
    share = "" if field.share is None else f"{field.share:.2%}"
    differ = Toned(f"{field.differing:,}", Tone.BAD if field.differing else Tone.GOOD)
    return (field.name, field.question.value, f"{field.compared:,}", differ, share, f"{left:,}" if left else "")
