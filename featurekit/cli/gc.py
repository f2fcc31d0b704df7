"""`gc`: what nothing needs is dropped from the online store. No Spark is loaded."""

from __future__ import annotations

from typing import Annotated

import typer

from featurekit.cli.answer import Answer, Block, Line, Table, Tone, counted
from featurekit.cli.context import invocation
from featurekit.clock import format_instant, parse_duration
from featurekit.collecting import PAUSE_S, STEP, Collected
from featurekit.feature_store import FeatureStore


def gc(
    context: typer.Context,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would go.")] = False,
    grace: Annotated[
        str, typer.Option("--grace", metavar="TIME", help="How long it stays when nothing needs it any more.")
    ] = "1h",
    step: Annotated[int, typer.Option("--step", metavar="KEYS", min=1, max=100_000, help="Keys at once.")] = STEP,
    pause: Annotated[
        float, typer.Option("--pause-ms", metavar="MS", min=0, max=60_000, help="A rest for the store after each step.")
    ] = PAUSE_S * 1000,
) -> Answer:
    """Drop what nothing needs any more from the online store.

    Versions that neither serve nor are pinned nor have a model, refreshes that no head lists, plans, and what runs that
    died have left. Can be stopped at any time, and run beside everything else. The history keeps its own (`history`).
    """
    with FeatureStore(invocation(context).settings()) as store:
        return collected(
            store.gc(dry_run=dry_run, grace=parse_duration(grace), step=step, pause_s=pause / 1000),
        )


def collected(done: Collected) -> Answer:
    """Return what was dropped as an answer."""
    document = {
        "dry_run": done.is_dry,
        "services": done.services,
        "views": done.views,
        "spaces": done.spaces,
        "plans": done.plans,
        "rows": done.rows,
        "waiting": [{"version": one.name, "unneeded_since": format_instant(one.since)} for one in done.waiting],
        "unknown": done.unknown,
    }
    would = "would drop" if done.is_dry else "dropped"
    gone = [("view version", name) for name in done.views] + [("service version", name) for name in done.services]
    gone += [("key space", name) for name in done.spaces] + [("plan", name) for name in done.plans]
    blocks: list[Block] = [Table(rows=tuple(gone))] if gone else []
    blocks.append(Line(f"{would} {counted(done.rows, 'row')} and {counted(len(gone), 'other thing')}", Tone.GOOD))
    blocks += [
        Line(f"{one.name} stays for the grace: needed by nobody since {format_instant(one.since)}", Tone.FAINT)
        for one in done.waiting
    ]
    blocks += [Line(f"{name} is of nothing that this registry knows, and stays", Tone.WARNING) for name in done.unknown]
    return Answer(document=document, blocks=tuple(blocks))
