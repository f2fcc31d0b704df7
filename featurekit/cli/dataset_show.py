"""`dataset show`: what a training set is and was made from, in a minute."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from featurekit.cli.answer import Answer, Block, Line, Table, Tone, Toned, counted
from featurekit.offline.manifest import FeatureStatistics, Manifest, read_manifest
from featurekit.offline.snapshot import SourceSnapshot

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="A training set's folder.")]


def show(folder: Folder) -> Answer:
    """Show what a training set holds and what it was made from.

    Reads its manifest alone; starts no Spark.
    """
    return shown(read_manifest(folder), folder)


def shown(manifest: Manifest, folder: Path) -> Answer:
    """Return a training set as an answer."""
    blocks: list[Block] = [
        Line(f"{counted(manifest.rows, 'row')} of {manifest.service} in {folder}", Tone.GOOD),
        *told_of_mode(manifest),
        Table(rows=tuple(_made_from(manifest))),
        statistics_table(manifest.features),
    ]
    if manifest.views:
        blocks.append(_coverage(manifest))
    return Answer(document={"path": str(folder.absolute()), **manifest.to_json()}, blocks=tuple(blocks))


def told_of_mode(manifest: Manifest) -> tuple[Line, ...]:
    """Return what to know of a set that is not as declared: that it leaks, or what was not served as it was to be."""
    if manifest.as_of.leaks:
        what = "by event time: it holds what nobody knew yet at a row's time; name it so, and serve no model of it"
        return (Line(what, Tone.WARNING),)
    told = []
    for view in manifest.views:
        parts = (
            (view.unavailable, "no refresh answered"),
            (view.other_definition, "one of another definition answered"),
            (view.indeterminate, "what answered can't be told any more"),
            (view.recomputed, "the rows that answered are gone, and were computed again"),
        )
        lacks = [f"{what} {counted(count, 'row')}" for count, what in parts if count]
        if lacks:
            tone = Tone.WARNING if any(count for count, _ in parts[:3]) else Tone.PLAIN
            told.append(Line(f"{view.alias}: {'; '.join(lacks)}", tone))
    return tuple(told)


def statistics_table(features: tuple[FeatureStatistics, ...]) -> Table:
    """Return the outputs of a training set with what they hold."""
    rows = tuple(
        (
            part.name,
            part.type,
            f"{part.null_share:.2%}",
            "" if part.expired_share is None else f"{part.expired_share:.2%}",
            "" if part.distinct is None else f"{part.distinct:,}",
            number(part.low),
            number(part.mean),
            number(part.high),
            number(part.stddev),
            ", ".join(text for text, _ in part.top[:3]),
        )
        for part in features
    )
    columns = ("feature", "type", "null", "expired", "distinct", "low", "mean", "high", "stddev", "frequent")
    empty = [at for at in range(3, len(columns)) if not any(row[at] for row in rows)]
    kept = [at for at in range(len(columns)) if at not in empty]
    return Table(columns=tuple(columns[at] for at in kept), rows=tuple(tuple(row[at] for at in kept) for row in rows))


def number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def _made_from(manifest: Manifest) -> list[tuple[str | Toned, ...]]:
    labels = manifest.labels
    versions = ", ".join(f"{name} {value}" for name, value in manifest.versions.items())
    rows: list[tuple[str | Toned, ...]] = [
        ("id", manifest.id),
        ("as of", manifest.as_of.value),
        ("labels", f"{labels.path} by {labels.timestamp}, SHA-256 {(labels.sha256 or 'unknown')[:12]}"),
    ]
    rows += [("source", f"{snapshot.source}: {_files(snapshot)}") for snapshot in manifest.sources]
    rows += [("join", f"{view}: {shape}") for view, shape in manifest.join.items()]
    rows.append(("versions", Toned(versions, Tone.FAINT)))
    return rows


def _files(snapshot: SourceSnapshot) -> str:
    rows = [file.rows for file in snapshot.files]
    known = sum(count for count in rows if count is not None)
    told = f", {counted(known, 'row')}" if rows and None not in rows else ""
    return f"{snapshot.origin} ({counted(len(snapshot.files), 'file')}{told})"


def _coverage(manifest: Manifest) -> Table:
    def share(unseen: int) -> str:
        return f"{unseen / manifest.rows:.2%}" if manifest.rows else ""

    rows = tuple((part.alias, part.view, f"{part.unseen:,}", share(part.unseen)) for part in manifest.views)
    return Table(columns=("view", "of", "rows of entities without a row", "share"), rows=rows, title="coverage")
