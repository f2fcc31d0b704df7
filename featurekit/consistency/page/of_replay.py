"""What a replay of the served-feature log comes to: three questions kept apart, and every part of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from featurekit.consistency.page.causes import cause_cards, steps
from featurekit.consistency.page.charts import Gauge, days_chart, days_together
from featurekit.consistency.page.story import (
    STEPS,
    VERDICTS,
    CauseCard,
    Document,
    Fact,
    FieldRow,
    Step,
    Story,
    ViewPart,
    are,
    most_wrong_first,
)
from featurekit.consistency.page.words import anchor, counted, moment, span

ON_DEMAND = "on demand"


def tell_replay(document: Document) -> Story:
    """Return the story of a replay."""
    services = document["services"]
    parts = [(name, part) for service in services for name, part in _parts(service, len(services) > 1)]
    causes = tuple(cause_cards((name, finding) for name, part in parts for finding in part["findings"]))
    views = tuple(_view(name, part, causes) for name, part in parts)
    rows = [row for view in views for row in view.fields]
    tone = "good" if document["passed"] else "bad"
    to_do = (*_lost(parts), *steps(causes))
    of = f"{document['project']} / {document['environment']}"
    run = "" if document["run"] is None else f" · run {document['run']}"
    return Story(
        title=f"{'As trained' if document['passed'] else 'Differences'}: replay of {document['project']}",
        line=f"{of} · replay of {document['log']}, {_period(services)}{run}",
        tone=tone,
        mark="✓" if document["passed"] else "≠",
        sentence=_sentence(document, rows),
        compared=" ".join((_compared(services), *_not_compared(services))),
        steps=to_do[:STEPS],
        more=max(0, len(to_do) - STEPS),
        facts=_questions(services),
        notes=document["notes"],
        fields=most_wrong_first(rows),
        causes=causes,
        days=days_chart(
            days_together(map(_days, (field for _, part in parts for field in part["fields"]))), "all values"
        ),
        freshness=tuple(_freshness(name, part) for name, part in parts if "freshness" in part),
        coverage=(),
        views=views,
        footer=(
            "Each logged answer was asked again: of every view the values of the as-of that was served, by the training"
            " path; of on-demand features what follows from the values that were served beside them. How fresh an"
            " answer was is a question of its own."
        ),
    )


def _parts(service: Document, of_several: bool) -> Iterator[tuple[str, Document]]:
    """Yield what has fields, each under the name that the page calls it by: views, then what is computed on demand."""
    before = f"{service['service']}: " if of_several else ""
    for view in service["views"]:
        twice = sum(each["alias"] == view["alias"] for each in service["views"]) > 1
        yield f"{before}{view['alias']}" + (f" ({view['fingerprint'][:8]})" if twice else ""), view
    for number, item in enumerate(service["on_demand"], start=1):
        yield f"{before}{ON_DEMAND}" + (f" ({number})" if len(service["on_demand"]) > 1 else ""), item


def _sentence(document: Document, rows: Sequence[FieldRow]) -> str:
    if not document["services"]:
        return "Nothing was replayed."
    if document["passed"]:
        return "What was served is what training computes."
    wrong = sum(row.differing > 0 for row in rows)
    if wrong:
        was = "was" if wrong == 1 else "were"
        return f"{wrong:,} of {counted(len(rows), 'field')} {was} served other values than training computes."
    problems = [problem for service in document["services"] for problem in service["problems"]]
    return f"The values agree, but {problems[0]}."


def _period(services: Sequence[Document]) -> str:
    starts = [service["from"] for service in services if service["from"]]
    ends = [service["to"] for service in services if service["to"]]
    return f"{moment(min(starts))} to {moment(max(ends))}" if starts else "without a row"


def _questions(services: Sequence[Document]) -> tuple[Fact, ...]:
    rows, values = _sums(services, "rows"), _sums(services, "values")
    fresh = [view["freshness"] for service in services for view in service["views"]]
    answers = sum(each["on_time"] + each["ahead"] + _late(each) + each["off_grid"] for each in fresh)
    late = sum(_late(each) + each["off_grid"] for each in fresh)
    sampled = f"of {counted(rows['logged'], 'logged row')}"
    return (
        Fact(label="Replayed", value=f"{rows['sampled']:,}", note=sampled),
        Fact(label="Freshness", value=f"{late:,} late", note=f"of {counted(answers, 'answer')} of a view"),
        Fact(label="Logic", value=f"{values['logic']:,} differ", note="from their own as-of's values"),
        Fact(label="Evaluator", value=f"{values['evaluator']:,} differ", note="from what their inputs make"),
    )


def _sums(services: Sequence[Document], part: str) -> dict[str, int]:
    found: dict[str, int] = defaultdict(int)
    for service in services:
        for name, count in service[part].items():
            found[name] += count
    return found


def _compared(services: Sequence[Document]) -> str:
    rows, values = _sums(services, "rows"), _sums(services, "values")
    wrong = values["logic"] + values["evaluator"]
    size = f"{rows['sampled']:,} of {counted(rows['logged'], 'logged row')} replayed"
    return f"{size}, {counted(values['compared'], 'value')} compared, {wrong:,} differ."


def _not_compared(services: Sequence[Document]) -> Iterator[str]:
    rows, values = _sums(services, "rows"), _sums(services, "values")
    told = {
        "forgotten": "of entities that are forgotten",
        "other_versions": "of versions of the service that nobody knows any more",
        "other_places": "that another project or environment served",
    }
    for name, text in told.items():
        if rows[name]:
            yield f"{counted(rows[name], 'row')} {text} {are(rows[name])} not compared."
    if values["indeterminate"]:
        yield f"{counted(values['indeterminate'], 'value')} can't be judged: their source is another one by now."


def _lost(parts: Sequence[tuple[str, Document]]) -> Iterator[Step]:
    for name, part in parts:
        if part.get("lost"):
            yield Step(
                cause=f"Nothing can be recomputed: {part['lost']}", remedy="", places=((name, anchor("view", name)),)
            )


def _view(name: str, part: Document, causes: Sequence[CauseCard]) -> ViewPart:
    fields = tuple(_field(name, field, causes) for field in part["fields"])
    wrong = sum(row.differing for row in fields)
    lost = part.get("lost") or ""
    compared = sum(row.cells for row in fields)
    outcome = "unavailable" if lost else "differs" if wrong else "agrees" if compared else "nothing compared"
    return ViewPart(
        view=name,
        tone="bad" if wrong or lost else "good" if compared else "warn",
        mark="∅" if lost else "≠" if wrong else "✓" if compared else "?",
        outcome=outcome,
        headline=f"{counted(compared, 'value')} compared, {wrong:,} differ",
        problem=lost,
        source_change=part.get("source_change") or "",
        facts=_view_facts(part),
        fields=fields,
    )


def _view_facts(part: Document) -> tuple[Fact, ...]:
    definition = Fact(label="Definition", value=part["fingerprint"][:8])
    if "freshness" not in part:
        return (definition,)
    fresh = part["freshness"]
    oldest = fresh["oldest_seconds"]
    counts = {
        "On time": fresh["on_time"],
        "Late": _late(fresh),
        "Ahead": fresh["ahead"],
        "Of no refresh": fresh["off_grid"],
        "No answer": fresh["unavailable"],
        "Last known": fresh["last_known"],
    }
    return (
        Fact(label="Answers", value=f"{part['rows']:,}"),
        *(Fact(label=label, value=f"{count:,}") for label, count in counts.items() if count or label == "On time"),
        *(() if oldest is None else (Fact(label="Oldest", value=span(int(oldest))),)),
        definition,
    )


def _late(fresh: Document) -> int:
    return sum(each["rows"] for each in fresh["late"])


def _freshness(name: str, part: Document) -> Gauge:
    fresh = part["freshness"]
    late = ", ".join(
        f"{each['rows']:,} late by {counted(each['refreshes'], 'refresh', 'refreshes')}" for each in fresh["late"]
    )
    on_time = fresh["on_time"] + fresh["ahead"]
    return Gauge(
        label=name,
        filled=round(100 * on_time / part["rows"], 2) if part["rows"] else 0,
        mark=None,
        tone="warn" if late or fresh["off_grid"] else "good",
        words=f"{on_time:,} of {part['rows']:,} on time" + (f"; {late}" if late else ""),
    )


def _field(name: str, field: Document, causes: Sequence[CauseCard]) -> FieldRow:
    own = field["field"].rpartition(".")[2] if not name.endswith(ON_DEMAND) else field["field"]
    return FieldRow(
        anchor=anchor("field", f"{name}.{own}"),
        view=name,
        field=own,
        type=field["type"],
        cells=field["compared"],
        differing=field["differing"],
        share=field["share"],
        counts=tuple((VERDICTS[verdict], field[verdict]) for verdict in VERDICTS if _told(field, verdict)),
        causes=tuple(card for card in causes if card.view == name and card.field in (own, field["field"])),
        days=days_chart(_days(field), own),
        apart=None,
        others=0,
        indeterminate=field["indeterminate"],
        definition=None,
        columns=(),
    )


def _told(field: Document, verdict: str) -> bool:
    return verdict != "match" and bool(field.get(verdict))


def _days(field: Document) -> list[dict[str, Any]]:
    return [
        {"day": day["day"], "cells": day["compared"], "differing": day["differing"], "share": day["share"] or 0.0}
        for day in field["days"]
    ]
