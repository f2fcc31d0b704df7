"""What a check of the online store comes to: its verdict in a sentence, what to do, and every part of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from featurekit.consistency.page.causes import cause_cards, steps
from featurekit.consistency.page.charts import (
    coverage_gauge,
    days_chart,
    days_together,
    differences_chart,
    freshness_gauge,
)
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
from featurekit.consistency.page.words import anchor, counted, moment, share

_ROW_VERDICTS: Final = ("missing", "extra", "unavailable")
_CELL_VERDICTS: Final = ("mismatch", "null_to_value", "value_to_null", "status")
_BAD: Final = ("inconsistent", "threshold breached", "unavailable")
_MARKS: Final = {
    "consistent": "✓",
    "inconsistent": "≠",
    "tolerated": "≈",
    "threshold breached": "!",
    "unavailable": "∅",
}


def tell_store(document: Document) -> Story:
    """Return the story of a check of the online store."""
    causes = tuple(cause_cards((view["view"], finding) for view in document["views"] for finding in view["findings"]))
    views = tuple(_view(view, causes) for view in document["views"])
    is_open = document["indeterminate"] or document["mismatches"]
    tone = "bad" if not document["passed"] else "warn" if is_open else "good"
    to_do = (*_views_to_mend(document), *steps(causes))
    run = "" if document["run"] is None else f" · run {document['run']}"
    return Story(
        title=f"{_word(document)}: {document['project']}, {moment(document['at'])}",
        line=f"{document['project']} / {document['environment']} · {moment(document['at'])}{run}",
        tone=tone,
        mark="✓" if tone == "good" else "≠" if document["mismatches"] else "!" if tone == "bad" else "?",
        sentence=sentence(document),
        compared=document["compared"],
        steps=to_do[:STEPS],
        more=max(0, len(to_do) - STEPS),
        facts=_facts(document),
        notes=document["notes"],
        fields=most_wrong_first([row for view in views for row in view.fields]),
        causes=causes,
        days=days_chart(
            days_together(field["trend"] for view in document["views"] for field in view["fields"]), "all values"
        ),
        freshness=tuple(gauge for view in document["views"] if (gauge := freshness_gauge(view))),
        coverage=tuple(gauge for view in document["views"] if (gauge := coverage_gauge(view, _least_coverage(view)))),
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
        return f"{wrong:,} of {counted(len(fields), 'field')} {are(wrong)} served other values than training computes."
    failed = [view for view in views if not view["passes"]]
    if any(field[verdict] for field in fields for verdict in ("missing", "extra")):
        return f"Rows are missing or extra in {len(failed):,} of {counted(len(views), 'view')}."
    if any(view["outcome"] == "threshold breached" for view in failed):
        return f"The values agree; {counted(document['breaches'], 'threshold')} {are(document['breaches'])} not kept."
    return f"Nothing could be compared in {len(failed):,} of {counted(len(views), 'view')}."


def _word(document: Document) -> str:
    if not document["passed"]:
        return "Differences" if document["mismatches"] else "Check failed"
    return "Tolerated" if document["mismatches"] else "Indeterminate" if document["indeterminate"] else "Consistent"


def _views_to_mend(document: Document) -> Iterator[Step]:
    """Yield what to do about views that nothing is known of but that they fail."""
    for view in document["views"]:
        if not view["passes"] and not view["findings"]:
            problem, _, remedy = (view["problem"] or view["headline"]).partition("\n")
            yield Step(cause=problem.rstrip("."), remedy=remedy, places=((view["view"], anchor("view", view["view"])),))


def _view(view: Document, causes: Sequence[CauseCard]) -> ViewPart:
    return ViewPart(
        view=view["view"],
        tone="good" if view["outcome"] == "consistent" else "bad" if view["outcome"] in _BAD else "warn",
        mark=_MARKS.get(view["outcome"], "?"),
        outcome=view["outcome"],
        headline=view["headline"],
        problem=_problem(view),
        source_change=view["source_change"] or "",
        facts=_view_facts(view),
        fields=tuple(_field(view, field, causes) for field in view["fields"]),
        breaches=view["breaches"],
        strata=view["strata"],
        expectations=view["expectations"],
        definition=view["definition"],
    )


def _least_coverage(view: Document) -> float | None:
    """Return the most that is asked for of what is not reached."""
    return max((each["allowed"] for each in view["breaches"] if each["threshold"] == "coverage"), default=None)


def _problem(view: Document) -> str:
    if view["outcome"] == "empty sample":
        return "Neither side has an entity in the sample, so nothing was compared. That is no agreement."
    problem: str = view["problem"] or ""
    return problem


def _field(view: Document, field: Document, causes: Sequence[CauseCard]) -> FieldRow:
    own = [card for card in causes if card.view == view["view"] and card.field in (None, field["field"])]
    # A finding about whole rows concerns a field only where its cells differ for that.
    rows = any(field[verdict] for verdict in _ROW_VERDICTS)
    apart = field["differences"]
    return FieldRow(
        anchor=anchor("field", f"{view['view']}.{field['field']}"),
        view=view["view"],
        field=field["field"],
        type=field["type"],
        cells=sum(field[verdict] for verdict in VERDICTS),
        differing=field["differing"],
        share=field["share"],
        counts=tuple((VERDICTS[name], field[name]) for name in VERDICTS if field[name] and name != "match"),
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


def _footer(document: Document) -> str:
    seed = f", seed “{document['seed']}”" if document["seed"] else ""
    return (
        f"Each sampled entity was read through the lookup client at {moment(document['at'])} and recomputed by the"
        " training path as of the refresh that was served. Values are compared bit by bit in their declared type. The"
        f" sample is chosen by key hash{seed}: the same entities on both sides."
    )
