"""`dataset build`: a training set, each label row with what serving would have answered at its time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from featurekit.cli.answer import Answer, Line, Tone, counted
from featurekit.cli.context import invocation
from featurekit.cli.dataset_options import TIMESTAMP, Format, Labels, Service, Timestamp, Timezone, label_spec
from featurekit.cli.dataset_show import statistics_table, told_of_mode
from featurekit.feature_store import FeatureStore
from featurekit.offline.manifest import AsOfMode
from featurekit.offline.training import DatasetResult


def build(
    context: typer.Context,
    service: Service,
    labels: Labels,
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where to write it; must not exist yet.")],
    timestamp: Timestamp = TIMESTAMP,
    timezone: Timezone = None,
    format_: Format = None,
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
    spec = label_spec(labels, timestamp, timezone, format_)
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
        "views": found.record.to_json()["views"],
    }
    blocks = (Line(line, Tone.GOOD), Line(f"id {found.id}", Tone.FAINT), *told_of_mode(found.record))
    return Answer(document=document, blocks=(*blocks, statistics_table(found.statistics)))
