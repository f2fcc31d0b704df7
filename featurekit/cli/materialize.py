"""`materialize`: views computed and served."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from featurekit.cli.answer import Answer, Block, Cell, Line, Table, Tone, Toned
from featurekit.cli.context import invocation
from featurekit.clock import Instant, format_instant, parse_instant
from featurekit.errors import InputError
from featurekit.feature_store import FeatureStore
from featurekit.materializing import MaterializeErrors
from featurekit.refreshing import RefreshOutcome


def materialize(
    context: typer.Context,
    views: Annotated[list[str] | None, typer.Argument(metavar="VIEW", help="All views without one.")] = None,
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="TIME", help="The grid instant to compute the views as of.")
    ] = None,
    at: Annotated[
        str | None, typer.Option("--at", metavar="TIME", help="Compute what serves at this time, for each view's grid.")
    ] = None,
    restate: Annotated[
        bool, typer.Option("--restate", help="Compute again what is there already; the new values then serve.")
    ] = False,
) -> Answer:
    """Compute views and write them to the online store.

    Without a time it computes what is due now. A refresh that fails is never served: what was served before still is,
    and the other views are refreshed all the same.
    """
    if as_of and at:
        raise InputError(
            "--as-of and --at are both given", why="each says which grid instant to compute", try_="keep one"
        )
    asked = invocation(context)
    times = {"as_of": parse_instant(as_of) if as_of else None, "at": parse_instant(at) if at else None}
    with FeatureStore(asked.settings()) as store, asked.output.progress() as progress:
        try:
            return materialized(store.materialize(views, **times, restate=restate, progress=progress))
        except MaterializeErrors as error:
            return materialized(error.outcomes, error)


def materialized(outcomes: tuple[RefreshOutcome, ...], failed: MaterializeErrors | None = None) -> Answer:
    """Return refreshes as an answer, with those that failed beside them."""
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            outcome.view,
            format_instant(outcome.as_of),
            f"{outcome.rows:,}",
            f"{outcome.bytes:,}" if outcome.is_new else "",
            format_instant(outcome.visible_from),
            Toned("computed", Tone.GOOD) if outcome.is_new else Toned("there already", Tone.FAINT),
        )
        for outcome in outcomes
    )
    columns = ("view", "as of", "rows", "bytes", "served from", "")
    if failed is not None:
        rows += tuple(_unserved(each.view, each.as_of, Toned("failed", Tone.BAD)) for each in failed.failures)
        rows += tuple(_unserved(view, as_of, Toned("not tried", Tone.FAINT)) for view, as_of in failed.left)
    invisible = [
        Line(
            f"{outcome.view}: {outcome.invisible:,} source rows have no event timestamp and count nowhere", Tone.WARNING
        )
        for outcome in outcomes
        if outcome.invisible
    ]
    moved = [Line(f"serving the new version of {name}", Tone.GOOD) for outcome in outcomes for name in outcome.moved]
    notes = [Line(f"{outcome.view}: {note}", Tone.WARNING) for outcome in outcomes for note in outcome.notes]
    blocks: tuple[Block, ...] = (Table(columns=columns, rows=rows), *invisible, *moved, *notes)
    parts = failed.parts() if failed is not None else {"failures": [], "not_tried": []}
    document = {"refreshes": [_document(outcome) for outcome in outcomes], **parts}
    if failed is None:
        return Answer(document=document, blocks=blocks if rows else (Line("nothing to compute"),))
    document["exit_code"] = failed.exit_code
    errors = tuple(each.error for each in failed.failures)
    return Answer(document=document, blocks=blocks, exit_code=failed.exit_code, errors=errors)


def _unserved(view: str, as_of: Instant, state: Toned) -> tuple[Cell, ...]:
    return (view, format_instant(as_of), "", "", "", state)


def _document(outcome: RefreshOutcome) -> dict[str, Any]:
    times = {"as_of": format_instant(outcome.as_of), "visible_from": format_instant(outcome.visible_from)}
    return {**asdict(outcome), **times}
