"""A training set on disk: Parquet files, and a manifest that says what they were made from."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from typing import TYPE_CHECKING, Any, Final

import pyarrow.parquet as pq

from featurekit.clock import Instant
from featurekit.compiled import CompiledService
from featurekit.errors import BatchEngineError, InputError, SourceError
from featurekit.expr.functions import CATALOGUE_VERSION
from featurekit.offline.dataset_statistics import Content, hash_of, read_content
from featurekit.offline.definition_record import record_definitions
from featurekit.offline.engine import BatchEngine
from featurekit.offline.join_plan import evidence_columns
from featurekit.offline.labels import LabelSpec, read_labels
from featurekit.offline.manifest import (
    MANIFEST,
    AsOfMode,
    FeatureStatistics,
    LabelsRecord,
    Manifest,
    ViewCoverage,
    write_manifest,
)
from featurekit.offline.served_join import ServedHistory, served_evidence
from featurekit.offline.served_refreshes import HAS_ROWS, Supply
from featurekit.offline.snapshot import (
    FileSnapshot,
    SourceSnapshot,
    check_unchanged,
    file_changes,
    pinned,
    snapshot_files,
    snapshot_source,
    with_row_counts,
)
from featurekit.offline.sql import Query, Select, name, render_query
from featurekit.offline.training_rows import TrainingRows
from featurekit.source_files import is_remote, source_files
from featurekit.urls import shown_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ROWS: Final = "featurekit_rows"
_LABELS: Final = "featurekit_label_rows"
_COUNT: Final = render_query(Query(steps=(("rows", Select(columns=(("n", "count(*)"),), source=_LABELS)),)))
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")  # as a part of a path: s3a://bucket is s3a:/bucket by then


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetResult:
    """A training set: where it is, and what it was made from and holds."""

    path: Path
    record: Manifest

    @property
    def id(self) -> str:
        return self.record.id

    @property
    def service(self) -> str:
        return self.record.service

    @property
    def rows(self) -> int:
        return self.record.rows

    @property
    def statistics(self) -> tuple[FeatureStatistics, ...]:
        return self.record.features

    @property
    def manifest(self) -> Path:
        return self.path / MANIFEST


def build_dataset(
    engine: BatchEngine,
    service: CompiledService,
    labels: LabelSpec,
    out: Path,
    *,
    now: Instant | None = None,
    as_of: AsOfMode = AsOfMode.DECLARED,
    served: ServedHistory | None = None,
) -> DatasetResult:
    """Write the label rows with the service's outputs into the folder `out`, which must not exist yet.

    The folder appears whole or not at all. Its id follows from the definitions, the labels and every value: the same
    content has the same id, wherever and whenever it was made. SourceError where a source or the labels change in the
    meantime. On a cluster `out` is a folder that all nodes share. `as_of` says which value a label gets; `served` is
    what is on record of the views, and needed for AsOfMode.SERVED.
    """
    check_out(out)
    views = {part.view.source.name: part.view for part in service.views}
    before = {source: snapshot_source(engine, view) for source, view in views.items()}
    service = pinned_service(service, tuple(before.values()))
    label_files = _label_files(engine, labels)
    digest = label_digest(engine.root, labels.path)
    how = TrainingRows(as_of=as_of, served=served, snapshots=before, now=now)
    frame = how.of(engine, service, labels, evidence=True)
    unfinished = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    out.parent.mkdir(parents=True, exist_ok=True)
    try:
        columns, evidence = _write(engine, how.evidence(service), frame, unfinished)
        _check_written(engine, unfinished, read_labels(engine, service, labels))
        counts = evidence()
        written = engine.read_parquet(str(unfinished.absolute()))
        content = read_content(engine, service, written, labels.timestamp, _expired(service, counts))
        for source, view in views.items():
            check_unchanged(view, before[source], snapshot_source(engine, view))
        _check_labels_unchanged(labels, label_files, _label_files(engine, labels))
        manifest = Manifest(
            id=_id(service, as_of, digest, content),
            service=service.name,
            as_of=as_of,
            rows=content.rows,
            content=content.hash,
            columns=columns,
            service_fingerprint=service.fingerprint.data,
            view_fingerprints={part.alias: part.view.fingerprint.data for part in service.views},
            definitions=record_definitions(service),
            versions=_versions(engine),
            labels=_labels_record(labels, digest, label_files),
            sources=tuple(with_row_counts(before[source], view) for source, view in views.items()),
            join=how.shapes,
            views=_coverage(service, content, counts, as_of),
            features=content.features,
        )
        write_manifest(manifest, unfinished)
        check_out(out)  # somebody may have written it in the meantime
        unfinished.rename(out)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return DatasetResult(path=out, record=manifest)


def pinned_service(service: CompiledService, snapshots: tuple[SourceSnapshot, ...]) -> CompiledService:
    """Return the service reading the versions of its sources that snapshots name."""
    known = {snapshot.source: snapshot for snapshot in snapshots}
    views = tuple(
        replace(part, view=pinned(part.view, known[part.view.source.name])) if part.view.source.name in known else part
        for part in service.views
    )
    return replace(service, views=views)


def check_out(out: Path) -> None:
    """Raise InputError where no training set can be written to a folder."""
    if scheme := next((part for part in out.parts if _SCHEME.fullmatch(part)), None):
        raise InputError(
            f"a training set can't be written to {scheme}//",
            where=str(out),
            why="it appears whole or not at all: it is renamed when it is complete, as only a file system can",
            try_="a folder of this machine, or one that is mounted here; copy it from there",
        )
    if out.exists():
        raise InputError(f"{out} exists already", why="a training set is never overwritten", try_="name another folder")


def _write(engine: BatchEngine, evidence: tuple[str, ...], frame: DataFrame, folder: Path) -> Any:
    """Write a frame without its evidence; return the columns' names and types, and what counts the evidence."""
    observed, counts = engine.observed(frame, {label: name(label) for label in evidence})
    kept = tuple((field.name, name(field.name)) for field in frame.schema.fields if field.name not in evidence)
    rows = engine.query(render_query(Query(steps=(("rows", Select(columns=kept, source=_ROWS)),))), {_ROWS: observed})
    engine.write_parquet(rows, folder)
    return tuple((field.name, field.dataType.simpleString()) for field in rows.schema.fields), counts


def _expired(service: CompiledService, counts: dict[str, int]) -> dict[str, int]:
    columns = evidence_columns(service)
    return {f"{alias}.{feature}": counts[label] for (alias, feature), label in columns.items() if feature is not None}


def _coverage(
    service: CompiledService, content: Content, counts: dict[str, int], as_of: AsOfMode
) -> tuple[ViewCoverage, ...]:
    columns = evidence_columns(service)
    unseen = {part.alias: content.rows - counts[columns[part.alias, None]] for part in service.views}
    if as_of is not AsOfMode.SERVED:
        return tuple(ViewCoverage(alias=p.alias, view=p.view.name, unseen=unseen[p.alias]) for p in service.views)
    labels = served_evidence(service)
    found = []
    for part in service.views:
        got = {each: counts[labels[part.alias, each]] for each in Supply if each is not Supply.KEPT}
        away = sum(count for each, count in got.items() if each not in HAS_ROWS)
        found.append(
            ViewCoverage(
                alias=part.alias,
                view=part.view.name,
                unseen=unseen[part.alias] - away,
                unavailable=got[Supply.UNAVAILABLE],
                other_definition=got[Supply.OTHER_DEFINITION],
                recomputed=got[Supply.RECOMPUTED],
                indeterminate=got[Supply.INDETERMINATE],
            )
        )
    return tuple(found)


def _check_written(engine: BatchEngine, folder: Path, labels: DataFrame) -> None:
    """Raise where executors on other machines wrote to disks of their own."""
    if engine.is_local:
        return
    rows = sum(pq.read_metadata(file).num_rows for file in folder.glob("*.parquet"))
    expected = engine.to_arrow(engine.query(_COUNT, {_LABELS: labels}))["n"][0].as_py()
    if rows != expected:
        raise BatchEngineError(
            f"{rows:,} of {expected:,} rows of the training set are on this machine",
            where=str(folder.parent),
            why="the executors run on other machines, and wrote the rest to disks of their own",
            try_="name a folder that all nodes share, or run with spark.master = local[*]",
        )


def _check_labels_unchanged(
    labels: LabelSpec, before: tuple[FileSnapshot, ...], after: tuple[FileSnapshot, ...]
) -> None:
    if changes := file_changes(before, after):
        raise SourceError(
            "the labels changed while being read",
            where=shown_path(labels.path),
            why=f"{changes}: some rows may be of before, some of after",
            try_="run it again, nothing was written",
        )


def _id(service: CompiledService, as_of: AsOfMode, digest: str | None, content: Content) -> str:
    return hash_of(
        {
            "as_of": as_of.value,
            "service": service.fingerprint.data,
            "views": {part.alias: part.view.fingerprint.data for part in service.views},
            "labels": digest,
            "rows": content.rows,
            "content": content.hash,
        }
    )


def _versions(engine: BatchEngine) -> dict[str, str]:
    try:
        own = version("featurekit")
    except PackageNotFoundError:
        own = "unknown"
    return {
        "featurekit": own,
        "catalogue": str(CATALOGUE_VERSION),
        "tzdata": version("tzdata"),
        "python": python_version(),
        **engine.versions,
    }


def _labels_record(labels: LabelSpec, digest: str | None, files: tuple[FileSnapshot, ...]) -> LabelsRecord:
    return LabelsRecord(
        path=shown_path(labels.path),
        timestamp=labels.timestamp,
        timezone=labels.timezone,
        format=labels.format and labels.format.value,
        columns={column: kind.name for column, kind in labels.columns.items()},
        null_tokens=labels.null_tokens,
        sha256=digest,
        files=files,
    )


def _label_files(engine: BatchEngine, labels: LabelSpec) -> tuple[FileSnapshot, ...]:
    return () if is_remote(labels.path) else snapshot_files(labels.path, engine.root)


def label_digest(root: Path, path: str) -> str | None:
    """Return the SHA-256 of a label file, or of a folder's digests in order; None where they are on another machine."""
    if is_remote(path):
        return None
    digests = [_file_digest(file.path) for file in source_files(path, root)]
    return digests[0] if len(digests) == 1 else hash_of(digests)


def _file_digest(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
