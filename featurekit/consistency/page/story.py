"""What a report comes to: its verdict in a sentence, what to do, and every part in the order in which it is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from featurekit.consistency.page.charts import (
    Chart,
    Gauge,
    coverage_gauge,
    days_chart,
    differences_chart,
    freshness_gauge,
)
from featurekit.consistency.page.words import counted, moment, share

Document = Mapping[str, Any]
_STEPS: Final = 3
_ROW_VERDICTS: Final = ("missing", "extra", "unavailable")
_CELL_VERDICTS: Final = ("mismatch", "null_to_value", "value_to_null", "status")
_VERDICTS: Final = {
    "match": "match",
    "within_tolerance": "within tolerance",
    "mismatch": "mismatch",
    "missing": "missing",
    "extra": "extra",
    "null_to_value": "null → value",
    "value_to_null": "value → null",
    "status": "status",
    "unavailable": "unavailable",
    "indeterminate": "indeterminate",
}
_BAD: Final = ("inconsistent", "threshold breached", "unavailable")
_MARKS: Final = {
    "consistent": "✓",
    "inconsistent": "≠",
    "tolerated": "≈",
    "threshold breached": "!",
    "unavailable": "∅",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    label: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseCard:
    """A finding with where it is found and what it is called in links."""

    anchor: str
    cause: str
    view: str
    field: str | None
    count: int
    unit: str
    share: float
    confidence: float
    since: str | None
    also: tuple[str, ...]
    remedy: str
    evidence: Sequence[Document]

    @property
    def place(self) -> str:
        return self.view if self.field is None else f"{self.view}.{self.field}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing to do: for what, where (texts with their links), and since when that is known."""

    cause: str
    remedy: str
    places: tuple[tuple[str, str], ...]
    since: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldRow:
    """A field of the table; `counts` are the verdicts with cells, but for those that match."""

    anchor: str
    view: str
    field: str
    type: str
    cells: int
    differing: int
    share: float | None
    counts: tuple[tuple[str, int], ...]
    causes: tuple[CauseCard, ...]
    days: Chart | None
    apart: Chart | None
    others: int
    indeterminate: int
    definition: Document | None
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewPart:
    """A view with its facts and its fields."""

    view: str
    tone: str
    mark: str
    document: Document
    facts: tuple[Fact, ...]
    fields: tuple[FieldRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """All that the page says."""

    title: str
    line: str
    tone: str
    mark: str
    sentence: str
    compared: str
    steps: tuple[Step, ...]
    more: int
    facts: tuple[Fact, ...]
    notes: Sequence[str]
    fields: tuple[FieldRow, ...]
    causes: tuple[CauseCard, ...]
    days: Chart | None
    freshness: tuple[Gauge, ...]
    coverage: tuple[Gauge, ...]
    views: tuple[ViewPart, ...]
    footer: str


def tell(document: Document) -> Story:
    """Return a report's story."""
    causes = tuple(_causes(document))
    views = tuple(_view(view, causes) for view in document["views"])
    fields = sorted((row for view in views for row in view.fields), key=_most_wrong_first)
    is_open = document["indeterminate"] or document["mismatches"]
    tone = "bad" if not document["passed"] else "warn" if is_open else "good"
    steps = (*_views_to_mend(document), *_steps(causes))
    run = "" if document["run"] is None else f" · run {document['run']}"
    return Story(
        title=f"{_word(document)}: {document['project']}, {moment(document['at'])}",
        line=f"{document['project']} / {document['environment']} · {moment(document['at'])}{run}",
        tone=tone,
        mark="✓" if tone == "good" else "≠" if document["mismatches"] else "!" if tone == "bad" else "?",
        sentence=sentence(document),
        compared=document["compared"],
        steps=steps[:_STEPS],
        more=max(0, len(steps) - _STEPS),
        facts=_facts(document),
        notes=document["notes"],
        fields=tuple(fields),
        causes=causes,
        days=days_chart(_all_days(document), "all values"),
        freshness=tuple(gauge for view in document["views"] if (gauge := freshness_gauge(view))),
        coverage=tuple(gauge for view in document["views"] if (gauge := coverage_gauge(view, None))),
        views=views,
        footer=_footer(document),
    )


def sentence(document: Document) -> str:
    """Return the verdict."""
    views = document["views"]
    if not views:
        return "No view was checked."
    if document["passed"]:
        if document["mismatches"]:
            return "Some values differ, and no more than the thresholds let pass."
        if document["indeterminate"]:
            return "No value is known to be wrong; some could not be judged."
        return "What is served is what training computes."
    fields = [field for view in views for field in view["fields"]]
    wrong = sum(any(field[verdict] for verdict in _CELL_VERDICTS) for field in fields)
    if wrong:
        return f"{wrong:,} of {counted(len(fields), 'field')} {_are(wrong)} served other values than training computes."
    failed = [view for view in views if not view["passes"]]
    if any(field[verdict] for field in fields for verdict in ("missing", "extra")):
        return f"Rows are missing or extra in {len(failed):,} of {counted(len(views), 'view')}."
    if any(view["outcome"] == "threshold breached" for view in failed):
        return f"The values agree; {counted(document['breaches'], 'threshold')} {_are(document['breaches'])} not kept."
    return f"Nothing could be compared in {len(failed):,} of {counted(len(views), 'view')}."


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _word(document: Document) -> str:
    if not document["passed"]:
        return "Differences" if document["mismatches"] else "Check failed"
    return "Tolerated" if document["mismatches"] else "Indeterminate" if document["indeterminate"] else "Consistent"


def _causes(document: Document) -> Iterator[CauseCard]:
    """Yield all findings as cards in the order in which they matter, as one view's are: what is unknown comes last."""
    found = [(view["view"], finding) for view in document["views"] for finding in view["findings"]]
    weight: Counter[str] = Counter()
    for _, finding in found:
        weight[finding["cause"]] += finding["count"]

    def place(each: tuple[str, Document]) -> tuple[bool, bool, int]:
        finding = each[1]
        return finding["cause"] == "unknown", finding["value_mismatch"], -weight[finding["cause"]]

    for number, (view, finding) in enumerate(sorted(found, key=place), start=1):
        yield CauseCard(
            anchor=f"cause-{number}",
            cause=" and ".join((finding["cause"], *finding["together"])),
            view=view,
            field=finding["field"],
            count=finding["count"],
            unit="row" if finding["field"] is None else "value",
            share=finding["share"],
            confidence=finding["confidence"],
            since=finding["since"],
            also=tuple(finding["also"]),
            remedy=finding["remedy"],
            evidence=finding["evidence"],
        )


def _views_to_mend(document: Document) -> Iterator[Step]:
    """Yield what to do about views that nothing is known of but that they fail."""
    for view in document["views"]:
        if not view["passes"] and not view["findings"]:
            problem, _, remedy = (view["problem"] or view["headline"]).partition("\n")
            yield Step(cause=problem.rstrip("."), remedy=remedy, places=((view["view"], f"view-{view['view']}"),))


def _steps(causes: Sequence[CauseCard]) -> Iterator[Step]:
    """Yield what to do about causes, the same thing said once; what explains most comes first."""
    asked: dict[tuple[str, str], list[CauseCard]] = {}
    for card in causes:
        asked.setdefault((card.cause, card.remedy), []).append(card)
    for (cause, remedy), cards in asked.items():
        since = min((card.since for card in cards if card.since), default=None)
        yield Step(cause=cause, remedy=remedy, places=tuple((card.place, card.anchor) for card in cards), since=since)


def _view(view: Document, causes: Sequence[CauseCard]) -> ViewPart:
    return ViewPart(
        view=view["view"],
        tone="good" if view["outcome"] == "consistent" else "bad" if view["outcome"] in _BAD else "warn",
        mark=_MARKS.get(view["outcome"], "?"),
        document=view,
        facts=_view_facts(view),
        fields=tuple(_field(view, field, causes) for field in view["fields"]),
    )


def _field(view: Document, field: Document, causes: Sequence[CauseCard]) -> FieldRow:
    own = [card for card in causes if card.view == view["view"] and card.field in (None, field["field"])]
    # A finding about whole rows concerns a field only where its cells differ for that.
    rows = any(field[verdict] for verdict in _ROW_VERDICTS)
    apart = field["differences"]
    return FieldRow(
        anchor=f"field-{view['view']}.{field['field']}",
        view=view["view"],
        field=field["field"],
        type=field["type"],
        cells=sum(field[verdict] for verdict in _VERDICTS),
        differing=field["differing"],
        share=field["share"],
        counts=tuple((_VERDICTS[name], field[name]) for name in _VERDICTS if field[name] and name != "match"),
        causes=tuple(card for card in own if field["differing"] and (card.field is not None or rows)),
        days=days_chart(field["trend"], field["field"]),
        apart=differences_chart(apart),
        others=0 if apart is None else apart["others"],
        indeterminate=field["indeterminate"],
        definition=field["definition"],
        columns=_columns(field["definition"]),
    )


def _columns(definition: Document | None) -> tuple[str, ...]:
    slots = [] if definition is None else definition["slots"]
    return tuple(dict.fromkeys(column for slot in slots for column in slot["columns"]))


def _most_wrong_first(row: FieldRow) -> tuple[float, int, str, str]:
    return (-(row.share or 0.0), -row.differing, row.view, row.field)


def _facts(document: Document) -> tuple[Fact, ...]:
    views = document["views"]
    found = [view["coverage"] for view in views if view["coverage"] is not None]
    late = sum(view["late"] for view in views)
    served = sum(view["as_of"] is not None for view in views)
    cells, wrong = document["cells"], document["mismatches"]
    return (
        Fact(label="Values compared", value=f"{cells:,}", note=f"in {counted(len(views), 'view')}"),
        Fact(label="Differ", value=f"{wrong:,}", note=share(wrong / cells) if cells else ""),
        Fact(label="Least coverage", value=share(min(found, default=None)), note="of entities have a row online"),
        Fact(
            label="On time",
            value=f"{served - late:,} of {len(views):,}",
            note="views serve what they promise" if not late else f"{counted(late, 'view')} late",
        ),
    )


def _view_facts(view: Document) -> tuple[Fact, ...]:
    entities = view["entities"]
    as_of = "nothing is served" if view["as_of"] is None else moment(view["as_of"])
    late = f"late: {moment(view['promised_as_of'])} is promised" if view["late"] else ""
    return (
        Fact(label="Served as of", value=as_of, note=late),
        Fact(label="Entities online", value=f"{entities['online']:,}"),
        Fact(label="Entities offline", value=f"{entities['offline']:,}"),
        Fact(label="Compared", value=counted(entities["sampled"], "row")),
        Fact(label="Coverage", value=share(view["coverage"])),
        Fact(label="Definition", value=view["fingerprint"][:8]),
    )


def _all_days(document: Document) -> list[Document]:
    """Return each day's cells over all fields."""
    days: dict[str, dict[str, Any]] = {}
    for view in document["views"]:
        for field in view["fields"]:
            for point in field["trend"]:
                day = days.setdefault(point["day"], {"day": point["day"], "cells": 0, "differing": 0, "weighed": 0.0})
                day["cells"] += point["cells"]
                day["differing"] += point["differing"]
                day["weighed"] += point["share"] * point["cells"]
    return [{**day, "share": day["weighed"] / day["cells"]} for _, day in sorted(days.items())]


def _footer(document: Document) -> str:
    seed = f", seed “{document['seed']}”" if document["seed"] else ""
    return (
        f"Each sampled entity was read through the lookup client at {moment(document['at'])} and recomputed by the"
        " training path as of the refresh that was served. Values are compared bit by bit in their declared type. The"
        f" sample is chosen by key hash{seed}: the same entities on both sides."
    )
