"""`check history` and `check show`: what checks found before, run by run. No Spark is loaded."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from featurekit.cli.answer import Answer, Block, Cell, Line, Table, Tone, Toned, counted
from featurekit.cli.context import invocation
from featurekit.cli.show_report import report_blocks
from featurekit.clock import DAY, format_instant
from featurekit.consistency.files import check_writable, write_whole
from featurekit.consistency.page.render import render_page
from featurekit.consistency.recording import STORE
from featurekit.errors import InputError
from featurekit.registry.check_run import CheckRun, KeptCause
from featurekit.registry.registry import Registry

_BARS: Final = "▁▂▃▄▅▆▇█"
_CAUSES_SHOWN: Final = 3


def history(
    context: typer.Context,
    view: Annotated[
        str | None, typer.Option("--view", metavar="VIEW", help="Only what was found of this view.")
    ] = None,
    field: Annotated[
        str | None, typer.Option("--field", metavar="FIELD", help="Only what was found of this field.")
    ] = None,
    last: Annotated[int, typer.Option("--last", min=1, metavar="N", help="How many runs are listed at most.")] = 30,
) -> Answer:
    """List what checks found, the newest run first, and draw the share that differed by day."""
    registry = _registry(context)
    runs = registry.checks.runs(view=view, field=field, last=last)
    document = {"runs": [_document(run) for run in runs]}
    if not runs:
        about = field or view
        told = "no run of a check is kept" + (f" of {about}" if about else "")
        return Answer(document=document, blocks=(Line(f"{told} in {registry}"),))
    columns = ("run", "at", "kind", "views", "values", "differ", "share", "verdict", "causes")
    blocks: list[Block] = [Table(columns=columns, rows=tuple(_row(run) for run in runs))]
    if len(drawn := _days(runs)) > 1:
        blocks.append(Line(f"by day, {drawn[0][0]} to {drawn[-1][0]}: {_sparkline([share for _, share in drawn])}"))
    return Answer(document=document, blocks=tuple(blocks))


def show(
    context: typer.Context,
    number: Annotated[int | None, typer.Argument(metavar="RUN", help="A run's number; the newest without one.")] = None,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write the report as a page.")] = None,
    report_json: Annotated[
        Path | None, typer.Option("--report-json", metavar="FILE", help="Write the report as JSON.")
    ] = None,
) -> Answer:
    """Show the report of a run again, as it was. Exits with 0, whatever the run found."""
    check_writable(html, report_json)
    registry = _registry(context)
    kept = registry.checks.document(number)
    if kept is None:
        what = "no run of a check is kept" if number is None else f"there is no run {number}"
        raise InputError(what, where=str(registry), try_="featurekit check history")
    document = json.loads(kept)
    if html is not None:
        write_whole(html, render_page(document))
    if report_json is not None:
        write_whole(report_json, kept)
    title = Line(f"run {document['run']}, {document['project']} ({document['environment']}), {document['at']}")
    blocks = report_blocks(document) if document["kind"] == STORE else (Line(document["summary"]),)
    return Answer(document=document, blocks=(title, *blocks))


def _registry(context: typer.Context) -> Registry:
    settings = invocation(context).settings()
    if settings.registry_url is None and not (settings.state / "registry.db").exists():
        where = str(settings.state / "registry.db")
        raise InputError("nothing is registered, so nothing was checked", where=where, try_="featurekit register")
    return Registry(
        settings.registry, project=settings.project, environment=settings.environment, models=settings.models
    )


def _row(run: CheckRun) -> tuple[Cell, ...]:
    share = _share(run)
    verdict = Toned("passed", Tone.GOOD) if run.passed else Toned("failed", Tone.BAD)
    names = list(dict.fromkeys(cause.cause for cause in _causes(run)))
    more = f", {len(names) - _CAUSES_SHOWN} more" if len(names) > _CAUSES_SHOWN else ""
    return (
        str(run.run),
        format_instant(run.at),
        run.kind,
        counted(len(run.views), "view") if len(run.views) != 1 else run.views[0].view,
        f"{_cells(run):,}",
        f"{_differing(run):,}",
        "" if share is None else f"{share:.2%}",
        verdict,
        ", ".join(names[:_CAUSES_SHOWN]) + more,
    )


def _causes(run: CheckRun) -> Iterator[KeptCause]:
    for view in run.views:
        yield from view.causes
        for field in view.fields:
            yield from field.causes


def _cells(run: CheckRun) -> int:
    return sum(field.cells for view in run.views for field in view.fields)


def _differing(run: CheckRun) -> int:
    return sum(field.differing for view in run.views for field in view.fields)


def _share(run: CheckRun) -> float | None:
    """Return the share of the population's values that differed, each field as much as it has cells."""
    weighed = sum(field.share * field.cells for view in run.views for field in view.fields)
    return weighed / cells if (cells := _cells(run)) else None


def _days(runs: Sequence[CheckRun]) -> list[tuple[str, float | None]]:
    """Return each day from the first run to the last one, with the largest share that was found on it."""
    found: dict[int, float] = {}
    for run in runs:
        if (share := _share(run)) is not None:
            found[run.at // DAY] = max(share, found.get(run.at // DAY, 0.0))
    days = range(min(found), max(found) + 1) if found else ()
    return [(format_instant(day * DAY)[:10], found.get(day)) for day in days]


def _sparkline(shares: Sequence[float | None]) -> str:
    """Return a bar for each day, as high as its share is of the largest; a dot where nothing differed.

    >>> _sparkline([0.0, 0.001, None, 0.5, 1.0])
    '·▁ ▄█'
    """
    most = max((share for share in shares if share is not None), default=0.0)

    def bar(share: float | None) -> str:
        if share is None:
            return " "
        return _BARS[min(len(_BARS) - 1, int(len(_BARS) * share / most - 1e-9))] if share else "·"

    return "".join(map(bar, shares))


def _document(run: CheckRun) -> dict[str, Any]:
    return {
        "run": run.run,
        "kind": run.kind,
        "at": format_instant(run.at),
        "recorded_at": format_instant(run.recorded_at),
        "passed": run.passed,
        "summary": run.summary,
        "breaches": run.breaches,
        "views": [
            {
                "view": view.view,
                "fingerprint": view.fingerprint,
                "outcome": view.outcome,
                "as_of": None if view.as_of is None else format_instant(view.as_of),
                "promised_as_of": None if view.promised_as_of is None else format_instant(view.promised_as_of),
                "sampled": view.sampled,
                "coverage": view.coverage,
                "causes": _cause_documents(view.causes),
                "fields": [
                    {
                        "field": field.field,
                        "cells": field.cells,
                        "differing": field.differing,
                        "indeterminate": field.indeterminate,
                        "share": field.share,
                        "causes": _cause_documents(field.causes),
                    }
                    for field in view.fields
                ],
            }
            for view in run.views
        ],
    }


def _cause_documents(causes: Sequence[KeptCause]) -> list[dict[str, Any]]:
    return [
        {
            "cause": cause.cause,
            "count": cause.count,
            "since": None if cause.since is None else format_instant(cause.since),
        }
        for cause in causes
    ]
