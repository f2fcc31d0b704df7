"""How two training sets differ by what their manifests say: pure, no row is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from featurekit.offline.definition_record import DefinitionChange, definition_changes
from featurekit.offline.manifest import FeatureStatistics, Manifest
from featurekit.offline.snapshot import FileChanges, SourceSnapshot, file_changes


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A property with its value on each side, None where it is missing."""

    name: str
    before: str | None
    after: str | None

    def __str__(self) -> str:
        return f"{self.name} was {self.before or 'missing'}, is {self.after or 'missing'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceChange:
    """A source whose files differ, or that only one side has (`files` None); `origin`, `version` where they differ."""

    source: str
    files: FileChanges | None
    origin: Changed | None = None
    version: Changed | None = None

    def __str__(self) -> str:
        if self.files is None:
            return f"source {self.source} is in one of the two only"
        parts = [str(part) for part in (self.origin, self.version, self.files) if part]
        return f"source {self.source}: {'; '.join(parts)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticsChange:
    """An output's statistics on each side, None where it is not an output there."""

    name: str
    before: FeatureStatistics | None
    after: FeatureStatistics | None

    @property
    def differs(self) -> bool:
        return self.before != self.after

    @property
    def mean_shift(self) -> float | None:
        """How far the mean moved, in deviations of the first set where it has any."""
        if self.before is None or self.after is None or self.before.mean is None or self.after.mean is None:
            return None
        shift = self.after.mean - self.before.mean
        return shift / self.before.stddev if self.before.stddev else shift


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestDiff:
    """What differs between two training sets; `views` are the aliases whose fingerprints do."""

    before: Manifest
    after: Manifest
    properties: tuple[Changed, ...]
    views: tuple[str, ...]
    definitions: tuple[DefinitionChange, ...]
    labels: tuple[str, ...]
    sources: tuple[SourceChange, ...]
    versions: tuple[Changed, ...]
    features: tuple[StatisticsChange, ...]

    @property
    def is_same(self) -> bool:
        """Whether both have one id: the same definitions, labels and values, whatever the files are called."""
        return self.before.id == self.after.id


def diff_manifests(before: Manifest, after: Manifest) -> ManifestDiff:
    """Return how two training sets differ."""
    properties = (("service", before.service, after.service), ("as-of", before.as_of.value, after.as_of.value))
    return ManifestDiff(
        before=before,
        after=after,
        properties=tuple(Changed(name=name, before=old, after=new) for name, old, new in properties if old != new),
        views=_differing(before.view_fingerprints, after.view_fingerprints),
        definitions=definition_changes(before.definitions, after.definitions),
        labels=tuple(_labels(before, after)),
        sources=tuple(_sources(before.sources, after.sources)),
        versions=version_changes(before.versions, after.versions),
        features=_features(before, after),
    )


def version_changes(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[Changed, ...]:
    names = _differing(before, after)
    return tuple(Changed(name=name, before=before.get(name), after=after.get(name)) for name in names)


def source_change(before: SourceSnapshot, after: SourceSnapshot) -> SourceChange | None:
    """Return how one source differs; None where it does not."""
    files = file_changes(before.files, after.files)
    origin = _changed("origin", before.origin, after.origin)
    version = _changed("version", _text(before.version), _text(after.version))
    if not files and origin is None and version is None:
        return None
    return SourceChange(source=before.source, files=files, origin=origin, version=version)


def _text(value: int | None) -> str | None:
    return None if value is None else str(value)


def _changed(name: str, before: str | None, after: str | None) -> Changed | None:
    return None if before == after else Changed(name=name, before=before, after=after)


def _labels(before: Manifest, after: Manifest) -> Iterator[str]:
    old, new = before.labels, after.labels
    if old.sha256 != new.sha256:
        yield f"another content: SHA-256 was {_short(old.sha256)}, is {_short(new.sha256)}"
    for name in ("path", "timestamp", "timezone", "format", "null_tokens"):
        if (was := getattr(old, name)) != (now := getattr(new, name)):
            yield f"{name} was {was}, is {now}"
    if before.rows != after.rows:
        yield f"{before.rows:,} rows, now {after.rows:,}"


def _sources(before: tuple[SourceSnapshot, ...], after: tuple[SourceSnapshot, ...]) -> Iterator[SourceChange]:
    old, new = ({snapshot.source: snapshot for snapshot in side} for side in (before, after))
    for name in dict.fromkeys((*old, *new)):
        if name not in old or name not in new:
            yield SourceChange(source=name, files=None)
        elif change := source_change(old[name], new[name]):
            yield change


def _features(before: Manifest, after: Manifest) -> tuple[StatisticsChange, ...]:
    old, new = ({part.name: part for part in side.features} for side in (before, after))
    return tuple(
        StatisticsChange(name=name, before=old.get(name), after=new.get(name)) for name in dict.fromkeys((*old, *new))
    )


def _differing(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(name for name in dict.fromkeys((*before, *after)) if before.get(name) != after.get(name))


def _short(digest: str | None) -> str:
    return "unknown" if digest is None else digest[:12]
