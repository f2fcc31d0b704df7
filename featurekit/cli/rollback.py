"""`rollback`: readers back to the refresh before, or to what served before a registration. No Spark is loaded."""

from __future__ import annotations

from typing import Annotated

import typer

from featurekit.cli.answer import Answer, Line, Tone
from featurekit.cli.context import UsageError, invocation
from featurekit.clock import Instant, format_instant, parse_instant
from featurekit.feature_store import FeatureStore
from featurekit.registration_rollback import RegistrationRolledBack
from featurekit.registry.state import ServiceMove
from featurekit.rolling_back import RolledBack


def rollback(
    context: typer.Context,
    view: Annotated[str | None, typer.Argument(metavar="VIEW", help="A view; VIEW@NUMBER: one version of it.")] = None,
    to: Annotated[str | None, typer.Option("--to", metavar="TIME", help="The as-of that is to serve.")] = None,
    registration: Annotated[
        int | None, typer.Option("--registration", metavar="NUMBER", help="Undo what a registration moved, as a whole.")
    ] = None,
    forward: Annotated[bool, typer.Option("--forward", help="Bring back what was rolled back.")] = False,
) -> Answer:
    """Let readers have what served before: a refresh, or a registration.

    A registration goes back as a whole, in one switch. Nothing is computed and nothing lost: --forward undoes it. A
    later `materialize` does not bring a refresh back that was rolled back; the next one serves as usual.
    """
    if (view is None) == (registration is None):
        raise UsageError("give a view or a registration", try_="rollback VIEW, or rollback --registration NUMBER")
    if to is not None and (registration is not None or forward):
        raise UsageError("--to is for a view that goes back", try_="rollback VIEW --to TIME")
    with FeatureStore(invocation(context).settings()) as store:
        if registration is not None:
            return registration_answer(store.rollback_registration(registration, forward=forward))
        assert view is not None
        return view_answer(store.rollback(view, to=parse_instant(to) if to else None, forward=forward))


def view_answer(done: RolledBack) -> Answer:
    """Return a view's rollback as an answer."""
    verb = "brought back" if done.is_forward else "withdrawn"
    document = {
        "view": done.view,
        "version": done.number,
        verb.replace(" ", "_"): [_refresh(*one) for one in done.changed],
        "serves": _refresh(*done.serves),
        "resumed": done.is_resumed,
    }
    lines = [Line(f"{verb}: {done.view}@{done.number} {_shown(*one)}", Tone.WARNING) for one in done.changed]
    if done.is_resumed:
        lines.append(Line("an earlier rollback that was cut short is complete now; nothing else was done"))
    lines.append(Line(f"{done.view}@{done.number} serves {_shown(*done.serves)}", Tone.GOOD))
    return Answer(document=document, blocks=tuple(lines))


def registration_answer(done: RegistrationRolledBack) -> Answer:
    """Return a registration's rollback as an answer."""
    moves = [{"service": one.service, "from": one.before, "version": one.number} for one in done.moves]
    document = {"registration": done.registration, "moves": moves, "stayed": list(done.stayed)}
    lines = [Line(_move(move), Tone.GOOD) for move in done.moves]
    lines += [Line(f"{name} stays: nothing served before it", Tone.WARNING) for name in done.stayed]
    return Answer(document=document, blocks=tuple(lines))


def _move(move: ServiceMove) -> str:
    if move.number is None:
        return f"{move.service} is served no more"
    return f"serving {move.service} v{move.number}" + ("" if move.before is None else f" instead of v{move.before}")


def _refresh(as_of: Instant, restatement: int) -> dict[str, str | int]:
    return {"as_of": format_instant(as_of), "restatement": restatement}


def _shown(as_of: Instant, restatement: int) -> str:
    return f"as of {format_instant(as_of)}" + (f", restatement {restatement}" if restatement else "")
