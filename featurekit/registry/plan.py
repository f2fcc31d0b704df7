"""From changes to stages: what a registration does, in order. Pure.

`explain` shows these stages and `apply` walks them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from featurekit.clock import Instant
from featurekit.registry.diff import (
    Change,
    ServiceCreated,
    ServiceDataChanged,
    ServiceMetadataChanged,
    ServiceRemoved,
    ViewCreated,
    ViewDataChanged,
    ViewMetadataChanged,
    ViewRemoved,
    diff,
)
from featurekit.registry.model_record import ModelRecord
from featurekit.registry.state import Deployed, Desired, DesiredService, DesiredView
from featurekit.registry.switch import Watermarks, taken_over, waits_of


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteView:
    """Write a new version of a view, or its metadata where only that changed."""

    view: DesiredView
    change: ViewCreated | ViewDataChanged | ViewMetadataChanged


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteService:
    """Write a new version of a service, or its metadata where only that changed."""

    service: DesiredService
    change: ServiceCreated | ServiceDataChanged | ServiceMetadataChanged


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveView:
    change: ViewRemoved


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveService:
    """Take a service away from its readers: its lookups say that it isn't registered."""

    change: ServiceRemoved
    is_own: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishPlan:
    """Put a service version's lookup plan into the online store, where no reader sees it before the switch."""

    service: DesiredService
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeOver:
    """Switch what an earlier registration left waiting together with this one."""

    registration: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchPointer:
    """Move the readers of a service from version `replaces` to `number`, when the views in `waits` are materialized.

    `waits` is the same for all services of a registration: they move together. It is empty for a service that
    serves nobody yet (`replaces` is None): that one moves at once.
    """

    service: str
    number: int
    replaces: int | None
    waits: tuple[str, ...]
    is_own: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepModel:
    """A model stays on the service version it was trained on, `number`, when readers move to `becomes`.

    None: to nothing. That version is refreshed for as long as the model is there.
    """

    model: str
    version: int
    service: str
    number: int
    becomes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedsRefresh:
    """A view version without fresh values: a refresh now would compute `as_of`. Registering itself computes nothing."""

    view: str
    number: int
    as_of: Instant


Stage = (
    WriteView
    | WriteService
    | RemoveView
    | RemoveService
    | PublishPlan
    | TakeOver
    | SwitchPointer
    | KeepModel
    | NeedsRefresh
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationPlan:
    """What a registration does; it holds while `base` is still the registry's last registration."""

    base: int
    stages: tuple[Stage, ...]

    @property
    def is_empty(self) -> bool:
        return not self.stages


def plan_registration(
    desired: Desired, deployed: Deployed, refreshed: Watermarks, now: Instant, models: Sequence[ModelRecord] = ()
) -> RegistrationPlan:
    """Return the plan that leads from what is deployed to what is desired; `models` newest first, as registered."""
    return plan(diff(desired, deployed), desired, deployed, refreshed, now, models)


def plan(
    changes: tuple[Change, ...],
    desired: Desired,
    deployed: Deployed,
    refreshed: Watermarks,
    now: Instant,
    models: Sequence[ModelRecord] = (),
) -> RegistrationPlan:
    """Return the stages for `changes`, in the order in which they are carried out."""
    switches = tuple(_switches(changes, desired, deployed, refreshed, now))
    stages = (
        *_writes(changes, desired, deployed),  # first: the rest refers to these versions
        *_publishes(changes, desired, deployed),  # before any switch, which must lead to a plan that is there
        *switches,
        *_kept_models(switches, changes, desired, deployed, models),
        *_refreshes(changes, desired, refreshed, now),  # last: registering ends here, somebody else computes
    )
    return RegistrationPlan(base=deployed.registration, stages=stages)


def _writes(changes: tuple[Change, ...], desired: Desired, deployed: Deployed) -> Iterator[Stage]:
    for change in changes:
        match change:
            case ViewCreated() | ViewDataChanged() | ViewMetadataChanged():
                yield WriteView(view=desired.views[change.name], change=change)
            case ServiceCreated() | ServiceDataChanged() | ServiceMetadataChanged():
                yield WriteService(service=desired.services[change.name], change=change)
            case ViewRemoved():
                yield RemoveView(change=change)
            case ServiceRemoved():
                yield RemoveService(change=change, is_own=deployed.services[change.name].is_own)


def _publishes(changes: tuple[Change, ...], desired: Desired, deployed: Deployed) -> Iterator[Stage]:
    for change in changes:
        if isinstance(change, ServiceCreated | ServiceDataChanged | ServiceMetadataChanged):
            service, old = desired.services[change.name], deployed.services.get(change.name)
            if old is None or old.lookup_plan != service.lookup_plan:
                yield PublishPlan(service=service, number=change.number)


def _switches(
    changes: tuple[Change, ...], desired: Desired, deployed: Deployed, refreshed: Watermarks, now: Instant
) -> Iterator[Stage]:
    numbers = {c.name: c.number for c in changes if isinstance(c, ServiceCreated | ServiceDataChanged)}
    removed = [change.name for change in changes if isinstance(change, ServiceRemoved)]
    earlier = taken_over((*numbers, *removed), deployed.pending)
    yield from (TakeOver(registration=registration.id) for registration in earlier)
    for registration in earlier:
        for name in registration.services:
            if name in desired.services:
                numbers.setdefault(name, deployed.services[name].number)
    grids = {name: view.grid for name, view in desired.views.items()}
    waits = {
        view
        for name in numbers
        if name in deployed.serving
        for view in waits_of(desired.services[name].views, deployed.serving[name], grids, refreshed, now)
    }
    for name, number in numbers.items():
        serving = deployed.serving.get(name)
        yield SwitchPointer(
            service=name,
            number=number,
            replaces=None if serving is None else serving.number,
            waits=() if serving is None else tuple(sorted(waits)),
            is_own=desired.services[name].is_own,
        )


def _kept_models(
    switches: tuple[Stage, ...],
    changes: tuple[Change, ...],
    desired: Desired,
    deployed: Deployed,
    models: Sequence[ModelRecord],
) -> Iterator[Stage]:
    becomes: dict[str, int | None] = {each.service: each.number for each in switches if isinstance(each, SwitchPointer)}
    becomes |= {change.name: None for change in changes if isinstance(change, ServiceRemoved)}
    newest = {record.name: record for record in reversed(models)}
    for record in newest.values():
        serving, wanted = deployed.serving.get(record.service), desired.services.get(record.service)
        if record.service not in becomes or serving is None:
            continue
        now, then = serving.fingerprint.data, wanted.fingerprint.data if wanted else None
        if record.service_fingerprint == now != then:
            yield KeepModel(
                model=record.name,
                version=record.version,
                service=record.service,
                number=record.service_number,
                becomes=becomes[record.service],
            )


def _refreshes(changes: tuple[Change, ...], desired: Desired, refreshed: Watermarks, now: Instant) -> Iterator[Stage]:
    for change in changes:
        if isinstance(change, ViewCreated | ViewDataChanged):
            view = desired.views[change.name]
            as_of, found = view.grid.served_at(now), refreshed.get(view.fingerprint.data)
            if found is None or found.as_of < as_of:  # a definition that comes back may be fresh still
                yield NeedsRefresh(view=change.name, number=change.number, as_of=as_of)
