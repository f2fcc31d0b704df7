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
from featurekit.refresh_values import RefreshOutcome
from featurekit.registry.state import RefreshKind


def materialize(
    context: typer.Context,
    views: Annotated[
        list[str] | None, typer.Argument(metavar="VIEW", help="All without one; VIEW@NUMBER: a version.")
    ] = None,
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="TIME", help="The grid instant to compute the views as of.")
    ] = None,
    at: Annotated[
        str | None, typer.Option("--at", metavar="TIME", help="Compute what serves at this time, for each view's grid.")
    ] = None,
    start: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help="Fill the history from this time on.")
    ] = None,
    end: Annotated[
        str | None, typer.Option("--to", metavar="TIME", help="Fill it before this time (default: until now).")
    ] = None,
    restate: Annotated[
        str | None,
        typer.Option("--restate", metavar="REASON", help="Compute again what is there already; the new values serve."),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Compute all entities, not only what has changed.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait where another run computes the same.")] = False,
) -> Answer:
    """Compute views and write them to the online store.

    Without a time it computes what is due now; with --from it fills the history, and serves what is due. A refresh that
    fails is never served: what was served before still is, and the other views are refreshed all the same. Versions
    that somebody still needs are refreshed beside those that are defined.
    """
    _check(as_of=as_of, at=at, start=start, end=end, restate=restate, full=full)
    asked = invocation(context)
    with FeatureStore(asked.settings()) as store, asked.output.progress() as progress:
        try:
            if start:
                return materialized(
                    store.backfill(
                        views,
                        start=parse_instant(start),
                        end=_instant(end),
                        restate=restate,
                        wait=wait,
                        progress=progress,
                    ),
                    by_view=True,
                )
            return materialized(
                store.materialize(
                    views,
                    as_of=_instant(as_of),
                    at=_instant(at),
                    restate=restate,
                    full=full,
                    wait=wait,
                    progress=progress if asked.output.is_watched else None,
                )
            )
        except MaterializeErrors as error:
            return materialized(error.outcomes, error, by_view=start is not None)


def _instant(text: str | None) -> Instant | None:
    return parse_instant(text) if text else None


def _check(
    *, as_of: str | None, at: str | None, start: str | None, end: str | None, restate: str | None, full: bool
) -> None:
    """Raise InputError where options contradict each other."""
    times = {"--as-of": as_of, "--at": at, "--from": start}
    given = [name for name, time in times.items() if time]
    if len(given) > 1:
        why = "each says which grid instants to compute"
        raise InputError(f"{' and '.join(given)} are both given", why=why, try_="keep one")
    if end and not start:
        raise InputError("--to is given without --from", why="a range has a start", try_=f"--from TIME --to {end}")
    if start and full:
        why = "a backfill is always computed in full"
        raise InputError("--from and --full are both given", why=why, try_="leave out --full")
    if restate is not None and (not restate.strip() or restate.startswith("--")):
        why = "the history says why a refresh was computed again"
        raise InputError("--restate has no reason", why=why, try_='--restate "the source was loaded twice"')


def materialized(
    outcomes: tuple[RefreshOutcome, ...], failed: MaterializeErrors | None = None, *, by_view: bool = False
) -> Answer:
    """Return refreshes as an answer, with those that failed beside them; `by_view`: for people a row a view."""
    rows = _sums(outcomes) if by_view else tuple(map(_row, outcomes))
    columns = ("view", "as of", "rows", "bytes", "served from", "")
    if failed is not None:
        rows += tuple(_unserved(each.view, each.as_of, Toned("failed", Tone.BAD)) for each in failed.failures)
        rows += tuple(_unserved(view, as_of, Toned("not tried", Tone.FAINT)) for view, as_of in failed.left)
    counts = {outcome.view: outcome.invisible for outcome in outcomes if outcome.invisible}  # once a view, not an as-of
    invisible = [Line(f"{view}: {_never_seen(count)}", Tone.WARNING) for view, count in counts.items()]
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


def _never_seen(count: int) -> str:
    rows = "1 source row has" if count == 1 else f"{count:,} source rows have"
    return f"{rows} no time or no row key, and count{'s' if count == 1 else ''} nowhere"


def _row(outcome: RefreshOutcome) -> tuple[Cell, ...]:
    return (
        outcome.view,
        format_instant(outcome.as_of),
        f"{outcome.rows:,}",
        f"{outcome.bytes:,}" if outcome.is_new else "",
        format_instant(outcome.visible_from),
        _state(outcome),
    )


def _state(outcome: RefreshOutcome) -> Toned:
    if outcome.is_withdrawn:
        return Toned("rolled back: only --restate REASON computes it again", Tone.WARNING)
    if not outcome.is_new:
        return Toned("there already", Tone.FAINT)
    if outcome.computed is not None:
        return Toned(f"computed: {outcome.computed:,} of {outcome.rows:,} entities", Tone.GOOD)
    return Toned("computed", Tone.GOOD)


def _sums(outcomes: tuple[RefreshOutcome, ...]) -> tuple[tuple[Cell, ...], ...]:
    """Return a row for each view: from where to where, and how many refreshes were computed."""
    rows: list[tuple[Cell, ...]] = []
    for view in dict.fromkeys(outcome.view for outcome in outcomes):
        own = [outcome for outcome in outcomes if outcome.view == view]
        new = [outcome for outcome in own if outcome.is_new]
        served = [format_instant(outcome.visible_from) for outcome in new if outcome.kind is not RefreshKind.BACKFILL]
        times = f"{format_instant(own[0].as_of)} … {format_instant(own[-1].as_of)}"
        rows.append(
            (
                view,
                times,
                f"{sum(outcome.rows for outcome in own):,}",
                f"{sum(outcome.bytes for outcome in new):,}",
                served[-1] if served else "",
                Toned(f"{len(new):,} computed, {len(own) - len(new):,} there already", Tone.GOOD),
            )
        )
    return tuple(rows)


def _unserved(view: str, as_of: Instant, state: Toned) -> tuple[Cell, ...]:
    return (view, format_instant(as_of), "", "", "", state)


def _document(outcome: RefreshOutcome) -> dict[str, Any]:
    times = {"as_of": format_instant(outcome.as_of), "visible_from": format_instant(outcome.visible_from)}
    return {**asdict(outcome), **times}
