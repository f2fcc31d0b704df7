"""Carries out registration plans: walks the stages that `registry.explain` shows, and moves readers when it is time.

The registry is the truth and the online store follows it: versions are committed before any reader moves, and a move
that was cut short is finished by the next call. So everything here can be run again, from any point.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from featurekit.clock import Instant
from featurekit.errors import RegistryError
from featurekit.online.keys import Namespace, pinned_name
from featurekit.online.publish import PlanBody, publish_plans, switch_services, withdraw_services
from featurekit.online.refresh import served_as_of
from featurekit.online.store import OnlineStore
from featurekit.registry.diff import ServiceMetadataChanged, ViewMetadataChanged
from featurekit.registry.explain import summarize
from featurekit.registry.plan import (
    KeepModel,
    NeedsRefresh,
    PublishPlan,
    RegistrationPlan,
    RemoveService,
    RemoveView,
    Stage,
    SwitchPointer,
    TakeOver,
    WriteService,
    WriteView,
    plan_registration,
)
from featurekit.registry.registry import Registry
from featurekit.registry.state import (
    Deployed,
    Desired,
    DesiredService,
    MoveKind,
    Registration,
    RegistrationStatus,
    ServiceMove,
    ServiceVersion,
)
from featurekit.registry.switch import Move, Watermarks, moves
from featurekit.registry.writer import Writer


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """What a registration did: its plan, and the services whose readers moved at once."""

    plan: RegistrationPlan
    moved: tuple[Move, ...]


def register(
    desired: Desired, registry: Registry, store: OnlineStore, namespace: Namespace, now: Instant
) -> Registered:
    """Plan what leads to `desired`, carry it out, and return both; nothing is computed.

    Nobody else registers between the plan and its end: of several processes at once, each sees what the one before did.
    """
    with registry.writing() as writer:
        plan = plan_registration(desired, writer.deployed(), writer.watermarks(now), now, writer.models())
        _walk(plan, writer, store, namespace, now)
    return Registered(plan=plan, moved=switch_ready(registry, store, namespace, now))


def apply(
    plan: RegistrationPlan, registry: Registry, store: OnlineStore, namespace: Namespace, now: Instant
) -> Registered:
    """Carry out a plan that was made before, as it was shown; RegistryError where somebody has registered since."""
    with registry.writing() as writer:
        last = writer.deployed().registration
        if last != plan.base:
            raise RegistryError(
                "the registry has changed since this was planned",
                where=str(registry),
                why=f"the plan follows registration {plan.base}, and the last one is {last}",
                try_="plan again, look at what changes now, then register",
            )
        _walk(plan, writer, store, namespace, now)
    return Registered(plan=plan, moved=switch_ready(registry, store, namespace, now))


def switch_ready(
    registry: Registry, store: OnlineStore, namespace: Namespace, now: Instant | None = None
) -> tuple[Move, ...]:
    """Move the readers of every registration that is complete at `now`, each in one step; return what moved.

    To be called after each refresh, which is what `now` is where it is not given. Nobody is moved to values that the
    online store has not, whatever the registry has recorded. It also brings the store's plans and pointers back to what
    the registry says serves, where they are not: after a crash in between, or a store that restarted empty.
    """
    # Inside the registry's transaction: two processes that switch can't undo each other.
    with registry.writing() as writer:
        deployed = writer.deployed()
        at = writer.last_completion() if now is None else now
        found = moves(deployed, _in_store(writer.watermarks(at), deployed, store, namespace, at), at)
        serving = dict(deployed.serving)
        for move in found:
            for version in move.services:
                writer.serve(version.name, version.number)
                writer.add_moves([_move(move.registration.id, version, serving.get(version.name), at)])
                serving[version.name] = version
            if move.is_whole:
                writer.end_registration(move.registration.id, RegistrationStatus.SWITCHED)
        kept = [version for version in writer.services() if version.collected_at is None]
        _follow(store, namespace, serving, kept, gone=deployed.service_numbers.keys() - serving.keys())
    return found


def _move(registration: int, to: ServiceVersion, before: ServiceVersion | None, at: Instant) -> ServiceMove:
    return ServiceMove(
        registration=registration,
        service=to.name,
        before=None if before is None else before.number,
        number=to.number,
        at=at,
        kind=MoveKind.SWITCH,
    )


def _in_store(
    watermarks: Watermarks, deployed: Deployed, store: OnlineStore, namespace: Namespace, at: Instant
) -> Watermarks:
    """Return the watermarks with those that readers may wait for as the store has them: what lookups see at `at`.

    Without the ones that are not there: a store that restarted empty, a refresh that was withdrawn, rows that expired.
    """
    waiting = {name for registration in deployed.pending for name in registration.services}
    awaited = {
        (view, fingerprint)
        for name in waiting & deployed.services.keys() & deployed.serving.keys()
        for view, fingerprint in deployed.services[name].views.items()
        if deployed.serving[name].views.get(view) != fingerprint and fingerprint in watermarks
    }
    found = dict(watermarks)
    for view, fingerprint in sorted(awaited):
        as_of = served_as_of(store, namespace, view, fingerprint, at)
        if as_of is None:
            del found[fingerprint]
        else:
            found[fingerprint] = replace(found[fingerprint], as_ofs=(as_of,))
    return found


def _walk(plan: RegistrationPlan, writer: Writer, store: OnlineStore, namespace: Namespace, now: Instant) -> None:
    if plan.is_empty:
        return
    registration = plan.base + 1
    writer.add_registration(
        Registration(
            id=registration,
            at=now,
            changes=summarize(plan),
            services=tuple(stage.service for stage in plan.stages if isinstance(stage, SwitchPointer)),
            status=RegistrationStatus.PENDING,
        )
    )
    for stage in plan.stages:
        _carry_out(stage, registration, writer, store, namespace, now)


def _carry_out(
    stage: Stage, registration: int, writer: Writer, store: OnlineStore, namespace: Namespace, now: Instant
) -> None:
    match stage:
        case WriteView(view=view, change=ViewMetadataChanged(number=number)):
            writer.update_metadata(view, number=number)
        case WriteView(view=view, change=change):
            writer.add_version(view, number=change.number, registration=registration, at=now)
        case WriteService(service=service, change=ServiceMetadataChanged(number=number)):
            writer.update_metadata(service, number=number)
        case WriteService(service=service, change=service_change):
            writer.add_version(service, number=service_change.number, registration=registration, at=now)
        case RemoveView(change=removed):
            writer.remove_view(removed.name, registration=registration)
        case RemoveService(change=removed_service):
            _remove(removed_service.name, registration, writer, now)
        case PublishPlan(service=service):
            publish_plans(store, namespace, [_body(service)])
        case TakeOver(registration=earlier):
            writer.end_registration(earlier, RegistrationStatus.SUPERSEDED)
        case SwitchPointer():
            pass  # recorded with the registration: `switch_ready` moves the readers, now or when it is time
        case KeepModel():
            pass  # it is bound to its version already
        case NeedsRefresh():
            pass  # for whoever materializes
        case _:
            assert_never(stage)


def _remove(service: str, registration: int, writer: Writer, now: Instant) -> None:
    serving = writer.deployed().serving.get(service)
    writer.remove_service(service, registration=registration)
    if serving is not None:
        move = replace(_move(registration, serving, serving, now), number=None)
        writer.add_moves([move])


def _follow(
    store: OnlineStore,
    namespace: Namespace,
    serving: Mapping[str, ServiceVersion],
    kept: Sequence[ServiceVersion],
    gone: Collection[str],
) -> None:
    """Make the store's plans and pointers those of `serving` and of each version by its number.

    Bodies first, then all pointers at once.
    """
    bodies = {name: _body(version) for name, version in serving.items()}
    bodies |= {pinned_name(version.name, version.number): _body(version) for version in kept}
    plans = {namespace.plan(body.service, body.pointer): body for body in bodies.values()}
    found = store.read(list(plans)) if plans else []
    publish_plans(store, namespace, [body for body, there in zip(plans.values(), found, strict=True) if not there])
    names = [*bodies, *sorted(gone)]
    pointers = dict(zip(names, store.read([namespace.pointer(name) for name in names]), strict=True)) if names else {}
    moved = {name: body.pointer for name, body in bodies.items() if pointers[name] != body.pointer}
    switch_services(store, namespace, moved)
    withdraw_services(store, namespace, [name for name in sorted(gone) if pointers[name] is not None])


def _body(version: DesiredService | ServiceVersion) -> PlanBody:
    return PlanBody(service=version.name, fingerprint=version.fingerprint.data, content=version.lookup_plan)
