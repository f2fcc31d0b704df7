"""`pin` and `unpin`: who reads a version of a service by its number. No Spark is loaded."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from featurekit.cli.answer import Answer, Block, Line, Table, Tone
from featurekit.cli.context import UsageError, invocation
from featurekit.cli.model import opened_registry
from featurekit.clock import format_instant
from featurekit.pinning import pin_version, unpin_version
from featurekit.registry.state import Pin

By = Annotated[str | None, typer.Option("--by", metavar="NAME", help="Who reads it, such as a team or a program.")]


def pin(
    context: typer.Context,
    version: Annotated[str | None, typer.Argument(metavar="SERVICE@NUMBER", help="Without one: all pins.")] = None,
    by: By = None,
) -> Answer:
    """Keep a version of a service for whoever reads it, or list pins.

    It is looked up by its number, `SERVICE@NUMBER`, and `materialize` refreshes what it needs. Models need no pin: each
    keeps the version that it was registered for until `model delete`.
    """
    settings = invocation(context).settings()
    registry = opened_registry(settings)
    if version is None:
        return pinned(registry.pins())
    if by is None:
        raise UsageError("say who reads it", try_=f"pin {version} --by NAME")
    done = pin_version(registry, version, by, settings.clock())
    line = Line(f"{version} is pinned by {done.holder}: it stays, and `materialize` refreshes it", Tone.GOOD)
    return Answer(document=pin_document(done), blocks=(line,))


def unpin(
    context: typer.Context,
    version: Annotated[str, typer.Argument(metavar="SERVICE@NUMBER", help="A version that is pinned.")],
    by: By = None,
) -> Answer:
    """Let a version go that was pinned.

    Where nobody else needs it, `gc` drops it when its grace has passed.
    """
    if by is None:
        raise UsageError("say whose pin it is", try_=f"unpin {version} --by NAME")
    settings = invocation(context).settings()
    unpin_version(opened_registry(settings), version, by, settings.clock())
    line = Line(f"{version} is no longer pinned by {by}", Tone.GOOD)
    return Answer(document={"unpinned": version, "by": by}, blocks=(line,))


def pinned(pins: tuple[Pin, ...]) -> Answer:
    """Return the pins as an answer."""
    rows = tuple((f"{pin.service}@{pin.number}", pin.holder, format_instant(pin.pinned_at)) for pin in pins)
    blocks: tuple[Block, ...] = (
        (Table(columns=("version", "pinned by", "since"), rows=rows),) if rows else (Line("nothing is pinned"),)
    )
    return Answer(document={"pins": [pin_document(pin) for pin in pins]}, blocks=blocks)


def pin_document(pin: Pin) -> dict[str, Any]:
    """Return a pin as --json tells it."""
    return {
        "service": pin.service,
        "version": pin.number,
        "by": pin.holder,
        "pinned_at": format_instant(pin.pinned_at),
    }
