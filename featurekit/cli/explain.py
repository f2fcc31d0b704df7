"""`explain` and `trace`: what a definition means, and what became of one value."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from featurekit.cli.answer import Answer, Block, Cell, Code, Line, Table, Tone, Toned
from featurekit.cli.context import invocation
from featurekit.cli.values import read_pairs, typed_text
from featurekit.clock import format_instant, parse_instant
from featurekit.errors import InputError
from featurekit.explain import Explanation
from featurekit.feature_store import FeatureStore
from featurekit.offline.labels import LabelSpec
from featurekit.source_files import is_remote
from featurekit.trace import Trace


def explain(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="VIEW|SERVICE", help="A feature view or a feature service.")],
    labels: Annotated[
        str | None, typer.Option("--labels", metavar="FILE", help="Label rows: how a training set of them is joined.")
    ] = None,
    timestamp: Annotated[
        str, typer.Option("--timestamp", metavar="COLUMN", help="The labels' column that says when each row was asked.")
    ] = "event_timestamp",
) -> Answer:
    """Show what a view or service compiles to.

    Its definition, typed IR, Spark SQL, evaluator, key and row layout; of a service also how training sets of it are
    joined, and why so. Computes nothing, but counts the labels where they are given.
    """
    spec = None if labels is None else LabelSpec(path=_absolute(labels), timestamp=timestamp)
    with FeatureStore(invocation(context).settings()) as store:
        return explained(store.explain(name, spec))


def _absolute(labels: str) -> str:
    """Return a label file's path; a relative one is relative to where the command is given."""
    return labels if is_remote(labels) else str(Path(labels).absolute())


def explained(found: Explanation) -> Answer:
    """Return an explanation as an answer."""
    blocks: list[Block] = [Line(f"{found.kind} {found.name}", Tone.GOOD), Table(rows=found.summary)]
    if found.slots:
        slots = tuple((slot.name, slot.ir, slot.rows) for slot in found.slots)
        blocks.append(Table(title="slots: what is aggregated from rows", columns=("slot", "IR", "over"), rows=slots))
    if found.features:
        title = "features: what is computed from the slots" if found.slots else "features"
        blocks.append(Table(title=title, columns=("feature", "", ""), rows=tuple(_feature_rows(found))))
    blocks += [Code(title=section.title, text=section.text, language=section.language) for section in found.sections]
    return Answer(document=asdict(found), blocks=tuple(blocks))


def _feature_rows(found: Explanation) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    for feature in found.features:
        forms = (
            ("definition", feature.definition),
            ("typed IR", feature.ir),
            ("Spark SQL", feature.spark_sql),
            ("stored", feature.stored),
        )
        for at, (label, text) in enumerate(forms):
            rows.append((f"{feature.name} {feature.type}" if at == 0 else "", Toned(label, Tone.FAINT), text))
    return rows


def trace(
    context: typer.Context,
    feature: Annotated[str, typer.Argument(metavar="VIEW.FEATURE", help="The feature to follow.")],
    more: Annotated[list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Further join keys.")] = None,
    entity: Annotated[
        list[str] | None, typer.Option("--entity", metavar="KEY=VALUE", help="A join key; one for each.")
    ] = None,
    at: Annotated[str | None, typer.Option("--at", metavar="TIME", help="The time of the request.")] = None,
) -> Answer:
    """Follow one value from its source rows to the served answer.

    Through the real code: what Spark sees and computes, what lies in the online store, what a lookup answers.
    Exits with 1 where the served value is not the recomputed one.
    """
    view, dot, name = feature.partition(".")
    if not dot or not name:
        raise InputError(f"{feature!r} is not VIEW.FEATURE", try_="for example carrier_punctuality.mean_delay_7d")
    pairs = read_pairs([*(entity or ()), *(more or ())])
    with FeatureStore(invocation(context).settings()) as store:
        views = store.definitions.views
        if view not in views:
            raise InputError(f"there is no feature view {view!r}", try_=f"one of {', '.join(views)}")
        rows = typed_text(pairs, {key.name: key.type for key in views[view].keys}, {})
        return traced(store.trace(feature, rows.entities[0], at=parse_instant(at) if at else None))


def traced(found: Trace) -> Answer:
    """Return a trace as an answer: one station a line."""
    tones = {True: Tone.GOOD, False: Tone.BAD, None: Tone.PLAIN}
    rows: list[tuple[Cell, ...]] = []
    for step in found.steps:
        tone = tones[found.matches] if step.name == "recomputed" else Tone.FAINT
        rows.append((step.name, step.value, Toned(step.detail, tone)))
    title = f"{found.feature}  {found.entity}  at {format_instant(found.at)}"
    document = {**asdict(found), "at": format_instant(found.at)}
    return Answer(
        document=document,
        blocks=(Line(title), Table(rows=tuple(rows))),
        exit_code=1 if found.matches is False else 0,
    )
