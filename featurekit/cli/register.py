"""`plan` and `register`: from what is deployed to what is defined."""

from __future__ import annotations

import typer

from featurekit.cli.answer import Answer, Line, Tone
from featurekit.cli.context import invocation
from featurekit.cli.definitions import delay_warnings
from featurekit.cli.show_plan import plan_blocks, plan_document
from featurekit.feature_store import FeatureStore


def plan(context: typer.Context) -> Answer:
    """Show what `register` would change and what has to be rebuilt.

    Changes nothing, and asks only the registry and the definitions.
    """
    with FeatureStore(invocation(context).settings()) as store:
        found = store.plan()
        warnings = delay_warnings(store.definitions.repository)
    lines = (Line(f"warning: {warning}", Tone.WARNING) for warning in warnings)
    document = {**plan_document(found), "warnings": list(warnings)}
    return Answer(document=document, blocks=(*plan_blocks(found), *lines))


def register(context: typer.Context) -> Answer:
    """Make the definitions the ones that are served.

    Writes new versions into the registry and their lookup plans into the online store. Computes nothing: readers of a
    changed service move when what it needs has been materialized.
    """
    with FeatureStore(invocation(context).settings()) as store:
        done = store.register()
    moved = [
        {"service": version.name, "version": version.number}
        for move in done.moved
        for version in move.services
        if not version.is_own
    ]
    lines = [Line(f"serving {each['service']} v{each['version']}", Tone.GOOD) for each in moved]
    document = {**plan_document(done.plan), "serving": moved}
    return Answer(document=document, blocks=(*plan_blocks(done.plan), *lines))
