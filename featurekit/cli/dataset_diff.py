"""`dataset diff`: how two training sets differ, in what they were made from and in their values."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from featurekit.cli.answer import Answer, Block, Cell, Line, Table, Tone, Toned, counted
from featurekit.cli.context import invocation
from featurekit.feature_store import FeatureStore
from featurekit.offline.manifest_diff import ManifestDiff, SourceChange
from featurekit.offline.row_diff import RowDiff


def diff(
    context: typer.Context,
    before: Annotated[Path, typer.Argument(metavar="A", help="A training set's folder.")],
    after: Annotated[Path, typer.Argument(metavar="B", help="Another one's.")],
) -> Answer:
    """Compare two training sets: definitions, sources, labels, and every value.

    Exits with 1 where they differ.
    """
    with FeatureStore(invocation(context).settings()) as store:
        return compared(*store.dataset_diff(before.absolute(), after.absolute()))


def compared(found: ManifestDiff, rows: RowDiff) -> Answer:
    """Return how two training sets differ as an answer."""
    same = found.is_same and rows.is_same
    verdict = Line("the same training set", Tone.GOOD) if same else Line("they differ", Tone.WARNING)
    blocks: list[Block] = [
        verdict,
        Line(f"ids {found.before.id[:12]} and {found.after.id[:12]}", Tone.FAINT),
        Line(
            f"label rows: {rows.both:,} in both, {rows.only_before:,} only in the first,"
            f" {rows.only_after:,} only in the second"
        ),
    ]
    changes = changes_of(found)
    if changes:
        blocks.append(Table(title="made from", rows=tuple(changes)))
    features = _features(found, rows)
    if features.rows:
        blocks.append(features)
    return Answer(document=diff_document(found, rows), blocks=tuple(blocks), exit_code=0 if same else 1)


def changes_of(found: ManifestDiff) -> list[tuple[str, str]]:
    """Return what two sets were made from that differs: what kind of thing, and how."""
    changes = [("", str(change)) for change in found.properties]
    changes += [("definition", str(change)) for change in found.definitions]
    if found.views and not found.definitions:
        changes.append(("definition", f"other fingerprints: {', '.join(found.views)}"))
    changes += [("labels", change) for change in found.labels]
    changes += [("source", str(change).removeprefix("source ")) for change in found.sources]
    return changes + [("version", str(change)) for change in found.versions]


def diff_document(found: ManifestDiff, rows: RowDiff) -> dict[str, Any]:
    """Return how two training sets differ as JSON."""
    return {
        "same": found.is_same and rows.is_same,
        "ids": [found.before.id, found.after.id],
        "properties": [_change(change) for change in found.properties],
        "views": list(found.views),
        "definitions": [
            {"where": change.where, "before": change.before, "after": change.after} for change in found.definitions
        ],
        "labels": list(found.labels),
        "sources": [_source(change) for change in found.sources],
        "versions": [_change(change) for change in found.versions],
        "rows": {
            "both": rows.both,
            "only_before": rows.only_before,
            "only_after": rows.only_after,
            "identity": list(rows.identity),
        },
        "features": [
            {
                "name": part.name,
                "differing": rows.differing.get(part.name),
                "before": part.before and part.before.to_json(),
                "after": part.after and part.after.to_json(),
                "mean_shift": part.mean_shift,
            }
            for part in found.features
        ],
    }


def _change(change: Any) -> dict[str, Any]:
    return {"name": change.name, "before": change.before, "after": change.after}


def _source(change: SourceChange) -> dict[str, Any]:
    files = change.files
    return {
        "source": change.source,
        "rewritten": [] if files is None else list(files.rewritten),
        "gone": [] if files is None else list(files.gone),
        "added": [] if files is None else list(files.added),
        "on_one_side_only": files is None,
    }


def _features(found: ManifestDiff, rows: RowDiff) -> Table:
    shown: list[tuple[Cell, ...]] = []
    for part in found.features:
        differing = rows.differing.get(part.name)
        if not part.differs and not differing:
            continue
        if part.before is None or part.after is None:
            shown.append((part.name, "only in the first" if part.after is None else "only in the second", "", "", ""))
            continue
        share = f" ({differing / rows.both:.2%})" if differing and rows.both else ""
        count = (
            f"{part.before.type} and {part.after.type}" if differing is None else f"{counted(differing, 'row')}{share}"
        )
        shift = "" if part.mean_shift is None else f"{part.mean_shift:+.3g}"
        shown.append(
            (
                part.name,
                Toned(count, Tone.WARNING if differing else Tone.PLAIN),
                f"{_number(part.before.mean)} → {_number(part.after.mean)}" if part.before.mean is not None else "",
                shift,
                f"{part.before.null_share:.2%} → {part.after.null_share:.2%}",
            )
        )
    columns = ("feature", "differs", "mean", "shift in deviations", "null")
    return Table(columns=columns, rows=tuple(shown), title="values")


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.6g}"
