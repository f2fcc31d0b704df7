"""A training set made again from its manifest: the same id, or the reasons why not."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from featurekit.clock import Instant
from featurekit.compiled import CompiledService
from featurekit.definitions.source import SourceFormat
from featurekit.errors import InputError
from featurekit.offline.definition_record import definition_changes, record_definitions
from featurekit.offline.engine import BatchEngine
from featurekit.offline.labels import LabelSpec
from featurekit.offline.manifest import AsOfMode, LabelsRecord, Manifest, read_manifest
from featurekit.offline.manifest_diff import ManifestDiff, diff_manifests
from featurekit.offline.row_diff import RowDiff, diff_rows
from featurekit.offline.served_join import ServedHistory
from featurekit.offline.training import build_dataset, check_out, label_digest, pinned_service
from featurekit.types import parse_type


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuild:
    """What came of making a training set again: `after` is None where it was plain that another would come of it.

    `path` is where the new one is, where it was to be kept; `rows` how its values differ, where its id does.
    """

    before: Manifest
    after: Manifest | None
    path: Path | None
    reasons: tuple[str, ...]
    rows: RowDiff | None

    @property
    def is_same(self) -> bool:
        return self.after is not None and self.after.id == self.before.id


def rebuild_dataset(
    engine: Callable[[], BatchEngine],
    service: Callable[[str], CompiledService],
    root: Path,
    folder: Path,
    *,
    out: Path | None = None,
    now: Instant | None = None,
    served: Callable[[CompiledService], ServedHistory] | None = None,
    refuse: Callable[[CompiledService, LabelSpec], None] | None = None,
) -> Rebuild:
    """Make the training set in `folder` again, by the definitions, labels and sources as they are now.

    Kept in `out` where that is given, else it is thrown away. Without `out` nothing is computed, and no engine asked
    for, where definitions or labels are others already: then its id can't be the same. `served` is asked for what is on
    record, where the set is as served; `refuse` raises where the labels may not be in a set any more.
    """
    manifest = read_manifest(folder)
    if out is not None:
        check_out(out)
    labels = label_spec(manifest.labels)
    try:
        compiled = service(manifest.service)
        digest = label_digest(root, labels.path)
    except InputError as error:  # the service or the labels are gone: the reason, and there is nothing to compute
        if out is not None:
            raise
        reason = error.what if error.where is None else f"{error.what}: {error.where}"
        return Rebuild(before=manifest, after=None, path=None, reasons=(reason,), rows=None)
    known = (*_definition_reasons(manifest, compiled), *_label_reasons(manifest, digest))
    if known and out is None:
        return Rebuild(before=manifest, after=None, path=None, reasons=known, rows=None)
    compiled = pinned_service(compiled, manifest.sources)  # a lakehouse still has the version that was read
    if refuse is not None:
        refuse(compiled, labels)
    running = engine()
    scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".rebuild", dir=folder.absolute().parent))
    try:
        target = out or scratch / "again"
        mode = manifest.as_of
        record = served(compiled) if served is not None and mode is AsOfMode.SERVED else None
        built = build_dataset(running, compiled, labels, target, now=now, as_of=mode, served=record).record
        if built.id == manifest.id:
            return Rebuild(before=manifest, after=built, path=out, reasons=(), rows=None)
        rows = diff_rows(running, (folder, manifest), (target, built))
        reasons = (*known, *_other_reasons(diff_manifests(manifest, built), compiled))
        return Rebuild(before=manifest, after=built, path=out, reasons=reasons or (_unexplained(),), rows=rows)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def label_spec(record: LabelsRecord) -> LabelSpec:
    """Return the label file of a manifest, to be read again as it was."""
    return LabelSpec(
        path=record.path,
        timestamp=record.timestamp,
        timezone=record.timezone,
        format=None if record.format is None else SourceFormat(record.format),
        columns={column: parse_type(kind) for column, kind in record.columns.items()},
        null_tokens=record.null_tokens,
    )


def _definition_reasons(manifest: Manifest, service: CompiledService) -> Iterator[str]:
    views = {part.alias: part.view.fingerprint.data for part in service.views}
    if manifest.service_fingerprint == service.fingerprint.data and dict(manifest.view_fingerprints) == views:
        return
    changes = definition_changes(manifest.definitions, record_definitions(service))
    yield from (f"definition {change}" for change in changes)
    if not changes:
        yield f"service {service.name} has another fingerprint: the order of features, or featurekit's catalogue"


def _label_reasons(manifest: Manifest, digest: str | None) -> Iterator[str]:
    if manifest.labels.sha256 != digest:
        was, now = (str(part)[:12] for part in (manifest.labels.sha256, digest))
        yield f"the labels {manifest.labels.path} have another content: SHA-256 was {was}, is {now}"


def _other_reasons(diff: ManifestDiff, service: CompiledService) -> Iterator[str]:
    created = {part.view.source.name: part.view.source.created_timestamp for part in service.views}
    for change in diff.sources:
        added = change.files is not None and change.files.added and created.get(change.source) is None
        yield f"{change}{': without a created_timestamp, rows that landed later count too' if added else ''}"
    for version in diff.versions:
        yield f"version of {version}"


def _unexplained() -> str:
    return "definitions, labels, files and versions are the same, and yet values differ: please report it"
