"""`check run`, which `check` alone is: is what is served what training says?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from featurekit.cli.answer import Answer
from featurekit.cli.context import invocation
from featurekit.cli.show_delivery import with_delivery
from featurekit.cli.show_report import report_answer
from featurekit.clock import parse_instant
from featurekit.consistency.files import check_writable, write_report
from featurekit.consistency.sample import SampleRule
from featurekit.feature_store import FeatureStore
from featurekit.notifying import check_sinks

_DEFAULT = SampleRule()


def run(
    context: typer.Context,
    views: Annotated[list[str] | None, typer.Argument(metavar="VIEW", help="All views without one.")] = None,
    max_entities: Annotated[
        int, typer.Option("--max-entities", metavar="N", help="How many entities of each view are compared at most.")
    ] = _DEFAULT.max_entities,
    share: Annotated[
        float, typer.Option("--share", metavar="SHARE", help="Of all entities, about how many: 0.1 is every tenth.")
    ] = _DEFAULT.share,
    per_stratum: Annotated[
        int,
        typer.Option("--per-stratum", metavar="N", help="How many of each rare kind beside them, and of unseen keys."),
    ] = _DEFAULT.per_stratum,
    seed: Annotated[str, typer.Option("--seed", metavar="TEXT", help="Another seed chooses other entities.")] = "",
    at: Annotated[str | None, typer.Option("--at", metavar="TIME", help="The time of the lookups.")] = None,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write the report as a page.")] = None,
    report_json: Annotated[
        Path | None, typer.Option("--report-json", metavar="FILE", help="Write the report as JSON.")
    ] = None,
    no_record: Annotated[
        bool, typer.Option("--no-record", help="Leave the run out of what check history lists.")
    ] = False,
    alert: Annotated[
        bool, typer.Option("--alert", help="Tell the sinks of [alerts] what turned red, changed its cause, recovered.")
    ] = False,
    always: Annotated[bool, typer.Option("--always", help="With --alert: tell of what is red still, too.")] = False,
) -> Answer:
    """Compare what is served with what Spark computes.

    Reads sampled entities through the real client, recomputes each by the training path, and compares field by field.
    Exits with 1 where something differs, is missing, or could not be compared.
    """
    check_writable(html, report_json)
    settings = invocation(context).settings()
    if alert or always:
        check_sinks(settings)
    sample = SampleRule(share=share, max_entities=max_entities, per_stratum=per_stratum, seed=seed)
    with FeatureStore(settings) as store:
        report = store.check(views, sample=sample, at=parse_instant(at) if at else None, record=not no_record)
        write_report(report, html=html, json=report_json)
        answer = report_answer(report)
        return with_delivery(answer, store.alert(report, always=always)) if alert or always else answer
