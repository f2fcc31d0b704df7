"""What is registered and how fresh it is, as one frozen value: for `list` and `status`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from featurekit.clock import Instant, format_duration, format_instant
from featurekit.compiled import CompiledRepository
from featurekit.registry.model_record import ModelRecord
from featurekit.registry.state import Deployed, Registration, Watermark


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
class Overview:
    """What is deployed; `state` of a defined view or service: `new`, `changed`, `v3` (registered as it is defined)."""

    views: tuple[Freshness, ...]
    services: Mapping[str, int]
    pending: tuple[Registration, ...]
    models: tuple[ModelRecord, ...]
    state: Mapping[str, str]


def overview(
    deployed: Deployed,
    watermarks: Mapping[str, Watermark],
    models: tuple[ModelRecord, ...],
    *,
    definitions: CompiledRepository | None = None,
    now: Instant,
) -> Overview:
    """Return what is deployed, beside the definitions where they are known."""
    defined = definitions.views if definitions else {}
    views = []
    for name, version in deployed.views.items():
        mark = watermarks.get(version.fingerprint.data)
        promised = defined[name].view.grid.served_at(now) if name in defined else None
        views.append(Freshness(view=name, number=version.number, as_of=mark.as_of if mark else None, promised=promised))
    return Overview(
        views=tuple(views),
        services={name: version.number for name, version in deployed.serving.items() if not version.is_own},
        pending=deployed.pending,
        models=models,
        state=_states(definitions, deployed) if definitions else {},
    )


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
