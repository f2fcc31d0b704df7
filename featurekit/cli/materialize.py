"""`materialize`: views computed and served."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from featurekit.cli.answer import Answer, Block, Line, Table, Tone, Toned
from featurekit.cli.context import invocation
from featurekit.clock import Instant, format_instant, parse_instant
from featurekit.errors import InputError
from featurekit.feature_store import FeatureStore
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

    Without a time it computes what is due now. A refresh that fails is never served: what was served before still is.
    """
    if as_of and at:
        raise InputError(
            "--as-of and --at are both given", why="each says which grid instant to compute", try_="keep one"
        )
    asked = invocation(context)
    with FeatureStore(asked.settings()) as store, asked.output.progress() as progress:
        if at:
            outcomes = _serving_at(store, views, parse_instant(at), restate=restate, progress=progress)
        else:
            outcomes = store.materialize(
                views, as_of=parse_instant(as_of) if as_of else None, restate=restate, progress=progress
            )
    return materialized(outcomes)


def _serving_at(
    store: FeatureStore, views: list[str] | None, at: Instant, *, restate: bool, progress: Any
) -> tuple[RefreshOutcome, ...]:
    found = store.definitions.views
    if unknown := [name for name in views or () if name not in found]:
        raise InputError(f"there is no feature view {unknown[0]!r}", try_=f"one of {', '.join(found)}")
    names = views or list(found)
    outcomes: list[RefreshOutcome] = []
    for number, name in enumerate(names):
        progress(f"materialize {name}", number, len(names))
        as_of = found[name].view.grid.served_at(at)
        outcomes += store.materialize([name], as_of=as_of, restate=restate)
    progress("materialize", len(names), len(names))
    return tuple(outcomes)


def materialized(outcomes: tuple[RefreshOutcome, ...]) -> Answer:
    """Return refreshes as an answer."""
    rows = tuple(
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
    document = {"refreshes": [_document(outcome) for outcome in outcomes]}
    return Answer(document=document, blocks=blocks if rows else (Line("nothing to compute"),))


def _document(outcome: RefreshOutcome) -> dict[str, Any]:
    times = {"as_of": format_instant(outcome.as_of), "visible_from": format_instant(outcome.visible_from)}
    return {**asdict(outcome), **times}
