"""What is registered and how fresh it is, as one frozen value: for `list` and `status`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from featurekit.clock import Instant, format_duration, format_instant
from featurekit.compiled import CompiledRepository
from featurekit.registry.model_record import ModelRecord
from featurekit.registry.state import Deployed, Registration, ViewVersion, Watermark
from featurekit.registry.uses import Uses

NO_USES: Final = Uses(views=(), services=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness:
    """A registered view version: the latest complete refresh, and (None: unknown) the one its declaration promises."""

    view: str
    number: int
    as_of: Instant | None
    promised: Instant | None = None

    @property
    def is_late(self) -> bool:
        return self.promised is not None and (self.as_of is None or self.as_of < self.promised)

    def told(self) -> str:
        if self.as_of is None:
            return "never materialized"
        if self.promised is not None and self.as_of < self.promised:
            return f"as of {format_instant(self.as_of)}, {format_duration(self.promised - self.as_of)} late"
        return f"as of {format_instant(self.as_of)}"

    def document(self) -> dict[str, Any]:
        return {
            "view": self.view,
            "version": self.number,
            "as_of": None if self.as_of is None else format_instant(self.as_of),
            "promised_as_of": None if self.promised is None else format_instant(self.promised),
            "late": self.is_late,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptVersion:
    """A version that is not the one that is deployed, and who needs it; of a view also how fresh it is."""

    name: str
    number: int
    by: tuple[str, ...]
    freshness: Freshness | None = None

    def document(self) -> dict[str, Any]:
        fresh = {} if self.freshness is None else self.freshness.document()
        return {**fresh, "name": self.name, "version": self.number, "needed_by": list(self.by)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """What is deployed; `state` of a defined view or service: `new`, `changed`, `v3` (registered as it is defined)."""

    views: tuple[Freshness, ...]
    services: Mapping[str, int]
    pending: tuple[Registration, ...]
    models: tuple[ModelRecord, ...]
    state: Mapping[str, str]
    kept: tuple[KeptVersion, ...] = ()
    rolled_back: tuple[int, ...] = ()


def overview(
    deployed: Deployed,
    watermarks: Mapping[str, Watermark],
    models: tuple[ModelRecord, ...],
    *,
    definitions: CompiledRepository | None = None,
    uses: Uses = NO_USES,
    rolled_back: tuple[int, ...] = (),
    now: Instant,
) -> Overview:
    """Return what is deployed, beside the definitions where they are known."""
    return Overview(
        views=tuple(_freshness(version, watermarks, now) for version in deployed.views.values()),
        services={name: version.number for name, version in deployed.serving.items() if not version.is_own},
        pending=deployed.pending,
        models=models,
        state=_states(definitions, deployed) if definitions else {},
        kept=tuple(_kept(deployed, uses, watermarks, now)),
        rolled_back=rolled_back,
    )


def _freshness(version: ViewVersion, watermarks: Mapping[str, Watermark], now: Instant) -> Freshness:
    mark = watermarks.get(version.fingerprint.data)
    return Freshness(
        view=version.name,
        number=version.number,
        as_of=mark.as_of if mark else None,
        promised=version.grid.served_at(now),
    )


def _kept(deployed: Deployed, uses: Uses, watermarks: Mapping[str, Watermark], now: Instant) -> Iterator[KeptVersion]:
    for use in (*uses.views, *uses.services):
        version = use.version
        if isinstance(version, ViewVersion):
            if use.is_needed and "deployed" not in use.by:
                fresh = _freshness(version, watermarks, now)
                yield KeptVersion(name=version.name, number=version.number, by=use.by, freshness=fresh)
        elif use.is_needed and not version.is_own and deployed.services.get(version.name) != version:
            yield KeptVersion(name=version.name, number=version.number, by=use.by)


def _states(definitions: CompiledRepository, deployed: Deployed) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, view in definitions.views.items():
        found[f"view {name}"] = _state(view.fingerprint.data, deployed.views.get(name))
    for name, service in definitions.services.items():
        found[f"service {name}"] = _state(service.fingerprint.data, deployed.services.get(name))
    return found


def _state(fingerprint: str, version: Any) -> str:
    if version is None:
        return "new"
    return f"v{version.number}" if version.fingerprint.data == fingerprint else f"changed since v{version.number}"


def model_document(record: ModelRecord) -> dict[str, Any]:
    """Return a model's record as --json tells it."""
    return {
        "name": record.name,
        "version": record.version,
        "service": record.service,
        "service_version": record.service_number,
        "service_fingerprint": record.service_fingerprint,
        "columns": list(record.columns),
        "dtype": record.dtype,
        "input": record.input,
        "output": record.output,
        "sha256": record.sha256,
        "registered_at": format_instant(record.registered_at),
    }
