"""`forget` and `remember`: an entity taken out of everything that is kept, with the proof of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from featurekit.cli.answer import Answer, Block, Line, Table, Tone, counted
from featurekit.cli.context import invocation
from featurekit.cli.values import read_pairs, read_rows, typed_rows, typed_text
from featurekit.clock import format_instant
from featurekit.errors import InputError
from featurekit.feature_store import FeatureStore
from featurekit.forgetting import Forgetting, entity_keys
from featurekit.types import Field

Entity = Annotated[str, typer.Argument(metavar="ENTITY", help="An entity, by its name in the definitions.")]
Keys = Annotated[
    list[str] | None,
    typer.Argument(metavar="[KEY]...", help="Its keys; of an entity of several join keys NAME=VALUE for each of them."),
]
File = Annotated[Path | None, typer.Option("--file", metavar="FILE", help="Rows of join keys, as JSON.")]


def forget(
    context: typer.Context,
    entity: Entity,
    keys: Keys = None,
    file: File = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would go, and change nothing.")] = False,
    no_source_check: Annotated[
        bool, typer.Option("--no-source-check", help="Don't count what the sources still have: that needs Spark.")
    ] = False,
    datasets: Annotated[
        list[Path] | None, typer.Option("--dataset", metavar="FOLDER", help="Look into this training set, too.")
    ] = None,
) -> Answer:
    """Take entities out of all that is kept, and prove it.

    That is the online store, the history and the served log. They are refused from then on, by refreshes and training
    sets, until `featurekit remember`. Exits with 1 where the proof finds something that is left.
    """
    with FeatureStore(invocation(context).settings()) as store:
        done = store.forget(
            entity,
            asked_keys(entity_keys(store, entity), keys, file),
            dry_run=dry_run,
            check_sources=not no_source_check,
            datasets=datasets or (),
        )
    return forgotten(done)


def remember(context: typer.Context, entity: Entity, keys: Keys = None, file: File = None) -> Answer:
    """Let entities in again that were forgotten.

    What their sources have of them comes back by the next refresh of each view, which is computed in full.
    """
    with FeatureStore(invocation(context).settings()) as store:
        rows = asked_keys(entity_keys(store, entity), keys, file)
        ended = store.remember(entity, rows)
    document = {"entity": entity, "asked": len(rows), "remembered": ended}
    if not ended:
        return Answer(document=document, blocks=(Line(f"no such {entity} was forgotten", Tone.WARNING),))
    text = f"{counted(ended, 'key')} of {entity} let in again, from the next refresh on"
    return Answer(document=document, blocks=(Line(text, Tone.GOOD),))


def asked_keys(fields: Sequence[Field], words: list[str] | None, file: Path | None) -> tuple[dict[str, Any], ...]:
    """Return the join keys that a command line names, in their types: one entity, or for a single key many."""
    types = {field.name: field.type for field in fields}
    if file is not None and words:
        raise InputError("keys and --file are both given", where=str(file), try_="keep one")
    if file is not None:
        return typed_rows(read_rows(file), types, {}).entities
    if len(fields) > 1:
        return typed_text(read_pairs(words or ()), types, {}).entities
    (only,) = fields
    start = f"{only.name}="
    return tuple(typed_text({only.name: word.removeprefix(start)}, types, {}).entities[0] for word in words or ())


def forgotten(done: Forgetting) -> Answer:
    """Return what became of entities as an answer."""
    blocks: list[Block] = []
    if not done.is_dry_run:
        taken = tuple((each.place, each.where, f"{each.rows:,}") for each in done.erased)
        blocks.append(
            Table(title="taken out", columns=("place", "where", "rows"), rows=taken or (("nothing", "", ""),))
        )
    found = tuple((each.place, each.where, f"{each.rows:,}") for each in done.looked.findings)
    if found:
        title = "would go" if done.is_dry_run else "left"
        blocks.append(Table(title=title, columns=("place", "where", "rows"), rows=found))
    looked = done.looked
    walked = f"{looked.online_keys:,} keys of the store and {looked.rows:,} rows in {looked.files:,} files looked into"
    is_proof = not done.is_dry_run and done.is_clean
    verdict = "nothing is left" if is_proof else "nothing is there" if done.is_clean else "something is there"
    blocks.append(Line(f"{walked}: {verdict}", Tone.GOOD if done.is_clean else Tone.WARNING))
    blocks += [Line(f"could not be looked into: {each}", Tone.BAD) for each in looked.unread]
    blocks += [Line(f"spells the key, in a value or by chance: {each}", Tone.WARNING) for each in looked.mentions]
    for source in done.sources or ():
        if source.rows:
            rows = counted(source.rows, "row")
            text = f"source {source.source} still has {rows}: {source.view} refuses them until featurekit remember"
            blocks.append(Line(text, Tone.WARNING))
    for one in done.datasets:
        tone = Tone.WARNING if one.rows else Tone.GOOD
        blocks.append(Line(f"training set {one.folder}: {counted(one.rows, 'row')} of it", tone))
    if done.number is not None:
        blocks.append(Line(f"kept as erasure {done.number}, at {format_instant(done.at)}", Tone.FAINT))
    exit_code = 0 if done.is_dry_run or done.is_clean else 1
    return Answer(document=done.to_json(), blocks=tuple(blocks), exit_code=exit_code)
