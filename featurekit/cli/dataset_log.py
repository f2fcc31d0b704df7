"""`dataset from-log`: a training set of what was really served, joined to labels by request id."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from featurekit.cli.answer import Answer, Block, Line, Table, Tone, counted
from featurekit.cli.context import invocation
from featurekit.cli.dataset_options import LabelKnown, LabelTime, LogEnvironment, MatureAfter
from featurekit.clock import parse_duration
from featurekit.feature_store import FeatureStore
from featurekit.from_log_values import FromLogResult, FromLogSpec

_TOLD = {
    "labels": "labels",
    "logged": "rows of the log",
    "labels_without_request": "labels without a request in the log",
    "repeated_labels": "labels that are there again",
    "rows_without_label": "rows without a label",
    "repeated_rows": "rows of requests that came again; the last answer counts",
    "immature": "labels that are not mature yet, left out",
    "unavailable": "rows with an UNAVAILABLE value, left out",
    "degraded": "rows with a value that stood in for one the store could not say, left out",
    "other_version": "rows of another version of the service, kept",
    "other_outputs": "rows of a version with other outputs, left out",
    "other_environments": "rows that other environments served, left out",
}


def from_log(
    context: typer.Context,
    log: Annotated[Path, typer.Argument(metavar="LOG", help="The folder of the served-feature log.")],
    labels: Annotated[Path, typer.Option("--labels", metavar="FILE", help="Labels by request_id: Parquet or CSV.")],
    service: Annotated[str, typer.Option("--service", metavar="SERVICE", help="Whose answers are taken.")],
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where to write it; must not exist yet.")],
    label_time: LabelTime = None,
    mature_after: MatureAfter = None,
    label_known: LabelKnown = None,
    recompute: Annotated[
        bool, typer.Option("--recompute", help="Write what training computes beside it, and count what differs.")
    ] = False,
    statuses: Annotated[bool, typer.Option("--statuses", help="Write each value's status too.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse rows that another version of the service answered.")
    ] = False,
    log_environment: LogEnvironment = None,
) -> Answer:
    """Build a training set of what was really served.

    Each label is joined to its request by request_id, and by the entity keys where a request had several rows. Labels
    that are not mature, and rows that the store could not answer in full, are left out and counted.
    """
    spec = FromLogSpec(
        log=log.absolute(),
        labels=labels.absolute(),
        label_time=label_time,
        label_known=label_known,
        mature_after=None if mature_after is None else parse_duration(mature_after),
        strict=strict,
        statuses=statuses,
        environments=tuple(log_environment or ()),
    )
    with FeatureStore(invocation(context).settings()) as store:
        return made(store.dataset_from_log(service, spec, out.absolute(), recompute=recompute))


def made(found: FromLogResult) -> Answer:
    """Return a training set from the log as an answer."""
    count = asdict(found.count)
    blocks: list[Block] = [
        Line(f"{counted(found.count.rows, 'row')} of {found.service} in {found.path}", Tone.GOOD),
        Line(f"served by {', '.join(found.environments)}"),
        Line(f"id {found.id}", Tone.FAINT),
        Table(rows=tuple((f"{count[name]:,}", told) for name, told in _TOLD.items() if count[name])),
    ]
    if found.differing is not None:
        rows = tuple(
            (name, f"{number:,}", f"{number / found.count.rows:.2%}") for name, number in found.differing.items()
        )
        blocks.append(Table(columns=("feature", "served is not recomputed", "of all"), rows=rows))
    document = {
        "path": str(found.path),
        "id": found.id,
        "service": found.service,
        "environments": dict(found.environments),
        **count,
        "differing": None if found.differing is None else dict(found.differing),
    }
    return Answer(document=document, blocks=tuple(blocks))
