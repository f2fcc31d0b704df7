"""A training set on disk: Parquet files, and a manifest that says what they were made from."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow.parquet as pq

from featurekit.clock import Instant
from featurekit.compiled import CompiledService
from featurekit.errors import BatchEngineError, InputError
from featurekit.offline.engine import BatchEngine
from featurekit.offline.labels import LabelSpec, read_labels
from featurekit.offline.point_in_time import point_in_time
from featurekit.offline.snapshot import SourceSnapshot, snapshot_source
from featurekit.offline.sql import Query, Select, Sql, call, cast, entries, name, render_query
from featurekit.source_files import is_remote, source_files
from featurekit.types import Boolean, Decimal, Float64, is_numeric
from featurekit.urls import shown_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Begins with _ : whatever reads the folder as Parquet passes it over.
MANIFEST: Final = "_manifest.json"
_WRITTEN: Final = "featurekit_dataset"
_LABELS: Final = "featurekit_label_rows"
_COUNT: Final = render_query(Query(steps=(("rows", Select(columns=(("n", "count(*)"),), source=_LABELS)),)))
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")  # as a part of a path: s3a://bucket is s3a:/bucket by then


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureStatistics:
    """One output over all label rows; `low`, `high` and `mean` are None where it is not a number or always NULL."""

    name: str
    type: str
    null_share: float
    low: float | None
    high: float | None
    mean: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetResult:
    """A training set: where it is, what identifies its content, what it holds."""

    path: Path
    id: str
    service: str
    rows: int
    statistics: tuple[FeatureStatistics, ...]

    @property
    def manifest(self) -> Path:
        return self.path / MANIFEST


def build_dataset(
    engine: BatchEngine, service: CompiledService, labels: LabelSpec, out: Path, *, now: Instant | None = None
) -> DatasetResult:
    """Write the label rows with the service's outputs into the folder `out`, which must not exist yet.

    The folder appears whole or not at all. Its id follows from the definitions, the labels and every value: the same
    content has the same id, wherever and whenever it was made. On a cluster `out` is a folder that all nodes share.
    """
    _check_out(out)
    frame = point_in_time(engine, service, labels, now=now)
    snapshots = tuple(snapshot_source(engine, part.view) for part in service.views)
    label_digest = _digest(engine, labels.path)
    unfinished = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    out.parent.mkdir(parents=True, exist_ok=True)
    try:
        engine.write_parquet(frame, unfinished)
        _check_written(engine, unfinished, read_labels(engine, service, labels))
        written = engine.read_parquet(str(unfinished.absolute()))
        rows, content, statistics = _statistics(engine, service, written, labels.timestamp)
        identity = {
            "service": service.fingerprint.data,
            "views": {part.alias: part.view.fingerprint.data for part in service.views},
            "labels": label_digest,
            "rows": rows,
            "content": content,
        }
        result = DatasetResult(path=out, id=_hash(identity), service=service.name, rows=rows, statistics=statistics)
        manifest = _manifest(result, identity, labels, snapshots)
        (unfinished / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
        unfinished.rename(out)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return result


def _check_out(out: Path) -> None:
    if scheme := next((part for part in out.parts if _SCHEME.fullmatch(part)), None):
        raise InputError(
            f"a training set can't be written to {scheme}//",
            where=str(out),
            why="it appears whole or not at all: it is renamed when it is complete, as only a file system can",
            try_="a folder of this machine, or one that is mounted here; copy it from there",
        )
    if out.exists():
        raise InputError(f"{out} exists already", why="a training set is never overwritten", try_="name another folder")


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


def _manifest(
    result: DatasetResult, identity: dict[str, Any], labels: LabelSpec, snapshots: tuple[SourceSnapshot, ...]
) -> dict[str, Any]:
    sources = {snapshot.source: snapshot.to_json() for snapshot in snapshots}
    return {
        "id": result.id,
        "service": result.service,
        "rows": result.rows,
        "fingerprints": {"service": identity["service"], "views": identity["views"]},
        "labels": {"path": shown_path(labels.path), "timestamp": labels.timestamp, "sha256": identity["labels"]},
        "content": identity["content"],
        "sources": list(sources.values()),
        "features": [
            {
                "name": part.name,
                "type": part.type,
                "null_share": part.null_share,
                "min": _json_number(part.low),
                "max": _json_number(part.high),
                "mean": _json_number(part.mean),
            }
            for part in result.statistics
        ],
    }


def _statistics(
    engine: BatchEngine, service: CompiledService, written: DataFrame, timestamp: str
) -> tuple[int, str, tuple[FeatureStatistics, ...]]:
    """Return the number of rows, a hash of all values that no order of rows changes, and statistics per output."""
    values = [name(label) for label in (*service.keys.names, timestamp)]
    values += [entries(name(part.name), part.type) for part in service.outputs]
    # Two sums of 64-bit hashes: rows that are there twice count twice, which XOR would lose.
    hashes = [call("sum", cast(call("xxhash64", str(seed), *values), Decimal(38, 0))) for seed in (0, 1)]
    columns: list[tuple[str, Sql]] = [("rows", "count(*)"), ("hash0", hashes[0]), ("hash1", hashes[1])]
    for position, output in enumerate(service.outputs):
        value = name(output.name)
        columns.append((f"n{position}", f"count({value})"))
        if is_numeric(output.type) or isinstance(output.type, Boolean):
            number = cast(f"CAST({value} AS INT)" if isinstance(output.type, Boolean) else value, Float64())
            columns += [(f"{what}{position}", f"{what}({number})") for what in ("min", "max", "avg")]
    query = Query(steps=(("statistics", Select(columns=tuple(columns), source=_WRITTEN)),))
    row = engine.to_arrow(engine.query(render_query(query), {_WRITTEN: written})).to_pylist()[0]
    rows = row["rows"]
    statistics = tuple(
        FeatureStatistics(
            name=output.name,
            type=output.type.name,
            null_share=1 - row[f"n{position}"] / rows if rows else 0.0,
            low=row.get(f"min{position}"),
            high=row.get(f"max{position}"),
            mean=row.get(f"avg{position}"),
        )
        for position, output in enumerate(service.outputs)
    )
    return rows, _hash([str(row["hash0"]), str(row["hash1"])]), statistics


def _hash(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _digest(engine: BatchEngine, path: str) -> str | None:
    """Return the SHA-256 of a label file, or of a folder's digests in order; None where they are on another machine."""
    if is_remote(path):
        return None
    digests = [_file_digest(file.path) for file in source_files(path, engine.root)]
    return digests[0] if len(digests) == 1 else _hash(digests)


def _file_digest(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _json_number(value: float | None) -> float | str | None:
    return value if value is None or math.isfinite(value) else str(value)
