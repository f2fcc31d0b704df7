"""`dataset rebuild`: the same training set again, or the reasons why another came of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from featurekit.cli.answer import Answer, Block, Line, Table, Tone, counted
from featurekit.cli.context import invocation
from featurekit.cli.dataset_show import Folder
from featurekit.feature_store import FeatureStore
from featurekit.offline.rebuild import Rebuild


def rebuild(
    context: typer.Context,
    folder: Folder,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="NEW", help="Keep what comes of it there; must not exist yet.")
    ] = None,
) -> Answer:
    """Build a training set again from its manifest, and say whether the same came of it.

    The definitions, labels and sources are those of now. Exits with 1 where the id is another one, and says why.
    """
    with FeatureStore(invocation(context).settings()) as store:
        return rebuilt(store.dataset_rebuild(folder.absolute(), None if out is None else out.absolute()))


def rebuilt(found: Rebuild) -> Answer:
    """Return what came of a rebuild as an answer."""
    blocks: list[Block] = []
    if found.is_same:
        blocks.append(Line(f"the same: id {found.before.id}", Tone.GOOD))
    else:
        blocks.append(Line(_other(found), Tone.WARNING))
        blocks.append(Table(rows=tuple(("because", reason) for reason in found.reasons)))
    if found.rows is not None:
        differing = {name: count for name, count in found.rows.differing.items() if count}
        rows = tuple((name, f"{counted(count, 'row')} of {found.rows.both:,}") for name, count in differing.items())
        if rows:
            blocks.append(Table(columns=("feature", "differs in"), rows=rows))
    if found.path is not None:
        blocks.append(Line(f"kept in {found.path}", Tone.FAINT))
    document = {
        "same": found.is_same,
        "id": found.before.id,
        "rebuilt_id": found.after and found.after.id,
        "path": found.path and str(found.path),
        "reasons": list(found.reasons),
        "differing": dict(found.rows.differing) if found.rows is not None else {},
    }
    return Answer(document=document, blocks=tuple(blocks), exit_code=0 if found.is_same else 1)


def _other(found: Rebuild) -> str:
    if found.after is None:
        return f"the training set, id {found.before.id}, can't come out the same, so it was not built again"
    return f"not the same: the training set has id {found.before.id}, the one built now id {found.after.id}"
