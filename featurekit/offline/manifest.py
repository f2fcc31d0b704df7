"""The manifest of a training set: what it was made from and what it holds, as one JSON document beside the rows.

`docs/formats.md` describes it, and `manifest_schema` has its JSON Schema. It names no secret: URLs are shown without
users and queries.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from featurekit.errors import InputError
from featurekit.offline.snapshot import FileSnapshot, SourceSnapshot

# Begins with _ : whatever reads the folder as Parquet passes it over.
MANIFEST: Final = "_manifest.json"
FORMAT: Final = 2


class AsOfMode(StrEnum):
    """Which value of a view a row dated t gets."""

    DECLARED = "declared"  # that of g(t), by the refresh and the delay as declared
    SERVED = "served"  # that of the refresh that answered lookups at t, by the runs on record
    EVENT_TIME = "event-time"  # of all that had happened before t, known or not: it leaks

    @property
    def leaks(self) -> bool:
        """Whether values can come from what nobody could know yet at the row's time."""
        return self is AsOfMode.EVENT_TIME


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureStatistics:
    """One output over all label rows.

    `expired_share` is None where it has no ttl of its own; the numbers are None where it is not a number or always
    NULL. `distinct` and `quantiles` are estimates. `top` has the most frequent texts, each with how often it occurs.
    """

    name: str
    type: str
    null_share: float
    expired_share: float | None = None
    low: float | None = None
    high: float | None = None
    mean: float | None = None
    stddev: float | None = None
    distinct: int | None = None
    quantiles: Mapping[str, float] | None = None
    top: tuple[tuple[str, int], ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "type": self.type,
            "null_share": self.null_share,
            "expired_share": self.expired_share,
            "min": _json_number(self.low),
            "max": _json_number(self.high),
            "mean": _json_number(self.mean),
            "stddev": _json_number(self.stddev),
            "distinct": self.distinct,
            "quantiles": self.quantiles and {share: _json_number(value) for share, value in self.quantiles.items()},
            "top": [list(pair) for pair in self.top],
        }

    @staticmethod
    def of(content: Mapping[str, Any]) -> FeatureStatistics:
        quantiles = content["quantiles"]
        return FeatureStatistics(
            name=content["name"],
            type=content["type"],
            null_share=content["null_share"],
            expired_share=content["expired_share"],
            low=_number(content["min"]),
            high=_number(content["max"]),
            mean=_number(content["mean"]),
            stddev=_number(content["stddev"]),
            distinct=content["distinct"],
            quantiles=quantiles and {share: float(value) for share, value in quantiles.items()},
            top=tuple((text, count) for text, count in content["top"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewCoverage:
    """A view in a training set: `unseen` label rows name an entity that had no visible row then.

    Of a set as served (None in others): for so many rows no refresh answered (`unavailable`), or one of another
    definition (`other_definition`), or its rows were gone and computed again, or can't be told (`indeterminate`).
    """

    alias: str
    view: str
    unseen: int
    unavailable: int | None = None
    other_definition: int | None = None
    recomputed: int | None = None
    indeterminate: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelsRecord:
    """The label file as it was read; `sha256` is None where it is on another machine."""

    path: str
    timestamp: str
    timezone: str | None
    format: str | None
    columns: Mapping[str, str]
    null_tokens: tuple[str, ...]
    sha256: str | None
    files: tuple[FileSnapshot, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a training set was made from and what it holds; `id` follows from both.

    `fingerprints` are those of the service (under "service") and of its views, by alias. `columns` are the names and
    types of what is written, in order. `join` says per view how its rows and the labels were brought together.
    """

    id: str
    service: str
    as_of: AsOfMode
    rows: int
    content: str
    columns: tuple[tuple[str, str], ...]
    service_fingerprint: str
    view_fingerprints: Mapping[str, str]
    definitions: Mapping[str, Any]
    versions: Mapping[str, str]
    labels: LabelsRecord
    sources: tuple[SourceSnapshot, ...]
    join: Mapping[str, str]
    views: tuple[ViewCoverage, ...]
    features: tuple[FeatureStatistics, ...]

    def to_json(self) -> dict[str, Any]:
        labels = {**asdict(self.labels), "files": [file.to_json() for file in self.labels.files]}
        return {
            "format": FORMAT,
            "id": self.id,
            "service": self.service,
            "as_of": self.as_of.value,
            "leaks": self.as_of.leaks,
            "rows": self.rows,
            "content": self.content,
            "columns": [{"name": label, "type": kind} for label, kind in self.columns],
            "fingerprints": {"service": self.service_fingerprint, "views": dict(self.view_fingerprints)},
            "definitions": dict(self.definitions),
            "versions": dict(self.versions),
            "labels": {**labels, "columns": dict(self.labels.columns), "null_tokens": list(self.labels.null_tokens)},
            "sources": [snapshot.to_json() for snapshot in self.sources],
            "join": dict(self.join),
            "views": [
                {label: value for label, value in asdict(view).items() if value is not None} for view in self.views
            ],
            "features": [part.to_json() for part in self.features],
        }


def write_manifest(manifest: Manifest, folder: Path) -> None:
    """Write a manifest into a training set's folder."""
    text = json.dumps(manifest.to_json(), indent=1, ensure_ascii=False, allow_nan=False)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of the training set in a folder; InputError where there is none that can be read."""
    path = folder / MANIFEST
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        found = content.get("format")
        if found != FORMAT:
            raise InputError(
                f"the training set's manifest has format {found}",
                where=str(path),
                why=f"this featurekit reads format {FORMAT}",
                try_="build the training set again, or use the featurekit that wrote it",
            )
        return _manifest(content)
    except FileNotFoundError as error:
        why = f"{MANIFEST} is not in it" if folder.is_dir() else "there is no such folder"
        raise InputError("that is no training set", where=str(folder), why=why, try_="name its folder") from error
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        why = f"{type(error).__name__}: {error}"
        try_ = "build the training set again"
        raise InputError("the training set's manifest can't be read", where=str(path), why=why, try_=try_) from error


def _manifest(content: Mapping[str, Any]) -> Manifest:
    labels = content["labels"]
    return Manifest(
        id=content["id"],
        service=content["service"],
        as_of=AsOfMode(content["as_of"]),
        rows=content["rows"],
        content=content["content"],
        columns=tuple((column["name"], column["type"]) for column in content["columns"]),
        service_fingerprint=content["fingerprints"]["service"],
        view_fingerprints=content["fingerprints"]["views"],
        definitions=content["definitions"],
        versions=content["versions"],
        labels=LabelsRecord(
            **{
                **labels,
                "null_tokens": tuple(labels["null_tokens"]),
                "files": tuple(map(FileSnapshot.of, labels["files"])),
            }
        ),
        sources=tuple(map(SourceSnapshot.of, content["sources"])),
        join=content["join"],
        views=tuple(ViewCoverage(**view) for view in content["views"]),
        features=tuple(map(FeatureStatistics.of, content["features"])),
    )


def _json_number(value: float | None) -> float | str | None:
    return value if value is None or math.isfinite(value) else str(value)


def _number(value: float | str | None) -> float | None:
    return None if value is None else float(value)
