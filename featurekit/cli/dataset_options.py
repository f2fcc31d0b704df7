"""What commands on labelled rows ask alike: whose features, which rows, how their times are read, what is mature."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from featurekit.definitions.source import SourceFormat
from featurekit.offline.labels import LabelSpec
from featurekit.source_files import is_remote

Service = Annotated[str, typer.Argument(metavar="SERVICE", help="A feature service, or a view by itself.")]
Labels = Annotated[str, typer.Option("--labels", metavar="FILE", help="Label rows: a Parquet or CSV file.")]
Timestamp = Annotated[
    str, typer.Option("--timestamp", metavar="COLUMN", help="The column that says when each row was asked.")
]
Timezone = Annotated[
    str | None, typer.Option("--timezone", metavar="ZONE", help="The zone of timestamps that have none.")
]
Format = Annotated[
    SourceFormat | None, typer.Option("--format", help="parquet or csv, where the file's name does not say it.")
]
LabelTime = Annotated[
    str | None, typer.Option("--label-time", metavar="COLUMN", help="When what is labelled happened.")
]
MatureAfter = Annotated[
    str | None,
    typer.Option("--mature-after", metavar="SPAN", help="How long after that (or the request) a label is final."),
]
LabelKnown = Annotated[
    str | None, typer.Option("--label-known", metavar="COLUMN", help="When each label was known, instead.")
]
LogEnvironment = Annotated[
    list[str] | None,
    typer.Option(
        "--log-environment",
        metavar="NAME",
        help="Whose answers are taken, as ENVIRONMENT or PROJECT/ENVIRONMENT; needed where the log holds several.",
    ),
]
TIMESTAMP: Final = "event_timestamp"


def from_here(path: str) -> str:
    """Return a path of the command line: from where the command is given, not from the settings' folder."""
    return path if is_remote(path) else str(Path(path).absolute())


def label_spec(labels: str, timestamp: str, timezone: str | None, format_: SourceFormat | None) -> LabelSpec:
    """Return the label rows that the options name."""
    return LabelSpec(path=from_here(labels), timestamp=timestamp, timezone=timezone, format=format_)
