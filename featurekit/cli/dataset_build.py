"""`dataset build`: a training set, each label row with what serving would have answered at its time."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from featurekit.cli.answer import Answer, Line, Tone, counted
from featurekit.cli.context import invocation
from featurekit.cli.dataset_show import statistics_table, told_of_mode
from featurekit.definitions.source import SourceFormat
from featurekit.feature_store import FeatureStore
from featurekit.offline.labels import LabelSpec
from featurekit.offline.manifest import AsOfMode
from featurekit.offline.training import DatasetResult
from featurekit.source_files import is_remote


def build(
    context: typer.Context,
    service: Annotated[str, typer.Argument(metavar="SERVICE", help="A feature service, or a view by itself.")],
    labels: Annotated[str, typer.Option("--labels", metavar="FILE", help="Label rows: a Parquet or CSV file.")],
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where to write it; must not exist yet.")],
    timestamp: Annotated[
        str, typer.Option("--timestamp", metavar="COLUMN", help="The column that says when each row was asked.")
    ] = "event_timestamp",
    timezone: Annotated[
        str | None, typer.Option("--timezone", metavar="ZONE", help="The zone of timestamps that have none.")
    ] = None,
    format_: Annotated[
        SourceFormat | None, typer.Option("--format", help="parquet or csv, where the file's name does not say it.")
    ] = None,
    as_of: Annotated[
        AsOfMode,
        typer.Option(
            "--as",
            help="Which value a row gets: what serving promises by the declared refreshes, what it really served by the"
            " runs on record, or all that had happened by then, which nobody could know yet.",
        ),
    ] = AsOfMode.DECLARED,
) -> Answer:
    """Build a training set, each row as of its own time.

    The labels hold the service's entity keys, a timestamp, its request values and whatever else, which is carried
    along. The set is Parquet files with a manifest, and appears whole or not at all.
    """
    # From here, not from the settings' folder: a path on the command line is where the command is given.
    path = labels if is_remote(labels) else str(Path(labels).absolute())
    spec = LabelSpec(path=path, timestamp=timestamp, timezone=timezone, format=format_)
    asked = invocation(context)
    with FeatureStore(asked.settings()) as store, asked.output.progress() as progress:
        progress(f"dataset {service}", 0, 1)
        return built(store.dataset(service, spec, out.absolute(), as_of=as_of))


def built(found: DatasetResult) -> Answer:
    """Return a training set as an answer."""
    line = f"{counted(found.rows, 'row')} of {found.service} in {found.path}"
    document = {
        "path": str(found.path),
        "id": found.id,
        "service": found.service,
        "as_of": found.record.as_of.value,
        "leaks": found.record.as_of.leaks,
        "rows": found.rows,
        "manifest": str(found.manifest),
        "features": [part.to_json() for part in found.statistics],
        "views": [asdict(view) for view in found.record.views],
    }
    blocks = (Line(line, Tone.GOOD), Line(f"id {found.id}", Tone.FAINT), *told_of_mode(found.record))
    return Answer(document=document, blocks=(*blocks, statistics_table(found.statistics)))
