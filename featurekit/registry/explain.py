"""A registration plan as plain lines: the stages that `apply` walks, as people read them."""

from __future__ import annotations

from typing import assert_never

from featurekit.clock import format_instant
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
)
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
)

NOTHING = "nothing changes"


def explain(plan: RegistrationPlan) -> tuple[str, ...]:
    """Return a line for each stage, in the order in which they are carried out.

    A view that is a service of its own follows the view in everything: those stages have no lines.
    """
    unmade = {stage.view for stage in plan.stages if isinstance(stage, NeedsRefresh)}
    lines = tuple(line for stage in plan.stages if (line := _line(stage, unmade)) is not None)
    return lines or (NOTHING,)


def summarize(plan: RegistrationPlan) -> tuple[str, ...]:
    """Return a line for each change of the plan: what a registration's record keeps."""
    return tuple(describe(change) for stage in plan.stages if (change := _change(stage)) is not None)


def describe(change: Change) -> str:
    """Return one change as a line, such as `+ user_spend v3 (data changed: amount_7d)`."""
    match change:
        case ViewCreated():
            return f"+ {change.name} v{change.number} (new)"
        case ViewDataChanged():
            return f"+ {change.name} v{change.number} (data changed{_list(change.differs)})"
        case ViewMetadataChanged():
            return f"~ {change.name} v{change.number} (metadata changed{_list(change.differs)})"
        case ViewRemoved():
            return f"- {change.name} v{change.number} (removed)"
        case ServiceCreated():
            return f"+ service {change.name} v{change.number} (new)"
        case ServiceDataChanged():
            return f"+ service {change.name} v{change.number} (data changed{_list(change.differs)})"
        case ServiceMetadataChanged():
            return f"~ service {change.name} v{change.number} (metadata changed{_list(change.differs)})"
        case ServiceRemoved():
            return f"- service {change.name} v{change.number} (removed)"
        case _:
            assert_never(change)


def _line(stage: Stage, unmade: set[str]) -> str | None:
    match stage:
        case WriteView(change=change):
            return describe(change) + (", needs materialize" if change.name in unmade else "")
        case WriteService(service=service, change=change):
            return None if service.is_own else describe(change)
        case RemoveView(change=removal):
            return describe(removal)
        case RemoveService(change=removed, is_own=is_own):
            return None if is_own else f"{describe(removed)}, its lookups end at once"
        case PublishPlan(service=service, number=number):
            return None if service.is_own else f"  publish the lookup plan of {service.name} v{number}"
        case TakeOver(registration=registration):
            return f"  take over what registration {registration} left waiting"
        case SwitchPointer():
            return None if stage.is_own else f"  {_switch(stage)}"
        case KeepModel():
            return f"  {_kept(stage)}"
        case NeedsRefresh():
            return (
                f"  {stage.view} v{stage.number} has no fresh values: materialize as of {format_instant(stage.as_of)}"
            )
        case _:
            assert_never(stage)


def _switch(stage: SwitchPointer) -> str:
    if stage.replaces is None:
        return f"serve {stage.service} v{stage.number} at once; a view says UNAVAILABLE until it is materialized"
    if not stage.waits:
        return f"switch {stage.service} from v{stage.replaces} to v{stage.number} at once"
    views = ", ".join(stage.waits)
    return (
        f"switch {stage.service} from v{stage.replaces} to v{stage.number} when materialized: {views};"
        f" until then v{stage.replaces} serves, and is refreshed"
    )


def _kept(stage: KeepModel) -> str:
    then = "is removed" if stage.becomes is None else f"moves to v{stage.becomes}"
    return (
        f"model {stage.model} v{stage.version} stays on {stage.service}@{stage.number} when its service {then}:"
        f" that version is refreshed until the model is deleted"
    )


def _change(stage: Stage) -> Change | None:
    match stage:
        case WriteView(change=change):
            return change
        case WriteService(service=service, change=service_change):
            return None if service.is_own else service_change
        case RemoveView(change=removal):
            return removal
        case RemoveService(change=removed, is_own=is_own):
            return None if is_own else removed
        case PublishPlan() | TakeOver() | SwitchPointer() | KeepModel() | NeedsRefresh():
            return None
        case _:
            assert_never(stage)


def _list(differs: tuple[str, ...]) -> str:
    return f": {', '.join(differs)}" if differs else ""
