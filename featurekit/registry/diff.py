"""What differs between the definitions and what is deployed. Pure; unchanged things are left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from featurekit.registry.state import Deployed, Desired, DesiredService, DesiredView, ServiceVersion, ViewVersion

_FEATURE = "features/"
_COLUMN = "source.columns."
_ORDERS = frozenset({"order of features", "outputs"})
_IN_PLAN = frozenset({"on_unavailable"})  # what is written in a plan and decides no values


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewCreated:
    name: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewDataChanged:
    """Its values change: `number` is a new version; `differs` names features and properties, such as `refresh`."""

    name: str
    number: int
    differs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewMetadataChanged:
    """Only what people wrote about it changes; version `number` stays."""

    name: str
    number: int
    differs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewRemoved:
    name: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceCreated:
    name: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceDataChanged:
    name: str
    number: int
    differs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceMetadataChanged:
    name: str
    number: int
    differs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceRemoved:
    name: str
    number: int


ViewChange = ViewCreated | ViewDataChanged | ViewMetadataChanged | ViewRemoved
ServiceChange = ServiceCreated | ServiceDataChanged | ServiceMetadataChanged | ServiceRemoved
Change = ViewChange | ServiceChange


def diff(desired: Desired, deployed: Deployed) -> tuple[Change, ...]:
    """Return the changes that lead from `deployed` to `desired`: views first, removals last of each kind."""
    return (*_view_changes(desired, deployed), *_service_changes(desired, deployed))


def _view_changes(desired: Desired, deployed: Deployed) -> Iterator[ViewChange]:
    for name, view in desired.views.items():
        old = deployed.views.get(name)
        following = deployed.view_numbers.get(name, 0) + 1
        if old is None:
            yield ViewCreated(name=name, number=following)
        elif old.fingerprint.data != view.fingerprint.data:
            yield ViewDataChanged(name=name, number=following, differs=_data_differs(old, view))
        elif _written_changed(old, view):
            yield ViewMetadataChanged(name=name, number=old.number, differs=_written_differs(old, view))
    for name, old in deployed.views.items():
        if name not in desired.views:
            yield ViewRemoved(name=name, number=old.number)


def _service_changes(desired: Desired, deployed: Deployed) -> Iterator[ServiceChange]:
    for name, service in desired.services.items():
        old = deployed.services.get(name)
        following = deployed.service_numbers.get(name, 0) + 1
        if old is None:
            yield ServiceCreated(name=name, number=following)
        elif old.fingerprint.data != service.fingerprint.data:
            yield ServiceDataChanged(name=name, number=following, differs=_data_differs(old, service))
        elif _written_changed(old, service) or old.lookup_plan != service.lookup_plan:
            yield ServiceMetadataChanged(name=name, number=old.number, differs=_service_written_differs(old, service))
    for name, old in deployed.services.items():
        if name not in desired.services:
            yield ServiceRemoved(name=name, number=old.number)


def _written_changed(old: ViewVersion | ServiceVersion, new: DesiredView | DesiredService) -> bool:
    # Also where the metadata fingerprints agree: SQL in another layout is the same meaning, but what is shown is stale.
    return old.fingerprint.metadata != new.fingerprint.metadata or old.definition.written != new.definition.written


def _data_differs(old: ViewVersion | ServiceVersion, new: DesiredView | DesiredService) -> tuple[str, ...]:
    before, after = old.definition.data, new.definition.data
    differing = _differing(before, after)
    # Which columns a view reads and the order of its features follow from its features: they are named where
    # nothing else is.
    causes = [name for name in differing if name not in _ORDERS and not _is_new_column(name, before, after)]
    return tuple(name.removeprefix(_FEATURE) for name in causes or differing)


def _written_differs(old: ViewVersion | ServiceVersion, new: DesiredView | DesiredService) -> tuple[str, ...]:
    differing = _differing(old.definition.written, new.definition.written)
    return tuple(name.removeprefix(_FEATURE) for name in differing)


def _service_written_differs(old: ServiceVersion, new: DesiredService) -> tuple[str, ...]:
    written = _written_differs(old, new)
    # The same meaning in another encoding: a later featurekit writes its plans so.
    is_encoded_anew = old.lookup_plan != new.lookup_plan and _IN_PLAN.isdisjoint(written)
    return (*written, "lookup plan") if is_encoded_anew else written


def _differing(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """Return the names of the parts that differ, are new or are gone, in reading order."""
    names = dict.fromkeys((*after, *before))
    return [name for name in names if before.get(name) != after.get(name)]


def _is_new_column(name: str, before: dict[str, str], after: dict[str, str]) -> bool:
    return name.startswith(_COLUMN) and not (name in before and name in after)
