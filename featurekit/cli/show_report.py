"""A consistency report as an answer: what differs, why, what to do, and rows that show it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from featurekit.cli.answer import Answer, Block, Cell, Line, Table, Tone, Toned, counted
from featurekit.consistency.report import ConsistencyReport

_EVIDENCE_SHOWN = 3
_TONES = {"consistent": Tone.GOOD, "indeterminate": Tone.WARNING, "tolerated": Tone.WARNING}
Document = Mapping[str, Any]


def report_answer(report: ConsistencyReport) -> Answer:
    """Return the report for people and as its own JSON; it exits with the report's verdict."""
    document = report.document()
    return Answer(document=document, blocks=tuple(report_blocks(document)), exit_code=report.exit_code)


def report_blocks(document: Document) -> Iterator[Block]:
    """Yield what a report's document says, of this run or of one that was kept."""
    if document["views"]:
        rows = tuple(_view_row(view) for view in document["views"])
        yield Table(columns=("view", "as of", "rows", "values", "differ", "verdict"), rows=rows)
    for view in document["views"]:
        yield from _view(view)
    for note in document["notes"]:
        yield Line(note, Tone.WARNING)
    is_open = document["indeterminate"] or document["mismatches"]
    yield Line(document["summary"], Tone.BAD if not document["passed"] else Tone.WARNING if is_open else Tone.GOOD)


def _view_row(view: Document) -> tuple[Cell, ...]:
    late = " (late)" if view["late"] else ""
    as_of = "nothing served" if view["as_of"] is None else view["as_of"] + late
    sampled = view["entities"]["sampled"]
    differing = sum(field["differing"] for field in view["fields"])
    counts = (f"{sampled:,}", f"{sampled * len(view['fields']):,}", f"{differing:,}")
    return (view["view"], as_of, *counts, Toned(view["headline"], _TONES.get(view["outcome"], Tone.BAD)))


def _view(view: Document) -> Iterator[Block]:
    if view["source_change"] is not None:
        count = counted(sum(field["indeterminate"] for field in view["fields"]), "value")
        yield Line(f"{view['view']}: {count} indeterminate: {view['source_change']}", Tone.WARNING)
    yield from finding_blocks(view["view"], view["findings"])


def finding_blocks(owner: str, findings: Iterable[Document]) -> Iterator[Block]:
    """Yield what explains the differences of a view, or of what else has findings, each with rows that show it."""
    for finding in findings:
        yield Line(_headline(owner, finding), Tone.BAD)
        about = [("", label, text) for label, text in _about(finding)]
        if about:
            yield Table(rows=tuple(about))
        for evidence in finding["evidence"][:_EVIDENCE_SHOWN]:
            rows = [("", name, evidence[name]) for name in ("entity", "served", "recomputed")]
            yield Table(rows=(*rows, ("", "", Toned(evidence["explanation"], Tone.FAINT))))


def _headline(owner: str, finding: Document) -> str:
    place = owner if finding["field"] is None else f"{owner}.{finding['field']}"
    causes = " and ".join((finding["cause"], *finding["together"]))
    label = f"value mismatch: {causes}" if finding["value_mismatch"] else causes
    part = f"{finding['count']:,}"
    if finding["field"] is not None and finding["share"] < 1:
        part += f", {finding['share']:.3g} of what differs"
    return f"{place}: {label} ({part})"


def _about(finding: Document) -> Iterator[tuple[str, str]]:
    if finding["also"]:
        yield "or", f"{', '.join(finding['also'])}, which would explain the same"
    if finding["since"]:
        yield "since", finding["since"]
    if finding["remedy"]:
        yield "do", finding["remedy"]
