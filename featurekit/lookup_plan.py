"""A compiled service -> the plan that clients look up with."""

from __future__ import annotations

from typing import Any

from featurekit.compiled import CompiledService, CompiledView
from featurekit.expr.nodes import Column
from featurekit.plan import LookupPlan, PlanExpression, PlanField, PlanKey, PlanView
from featurekit.targets.python import compile_row
from featurekit.types import Field


def lookup_plan(service: CompiledService) -> LookupPlan:
    """Return all that a client needs to answer for the service."""
    return LookupPlan(
        service=service.name,
        fingerprint=service.fingerprint.data,
        views=tuple(
            PlanView(
                alias=part.alias,
                view=part.view.name,
                fingerprint=part.view.fingerprint.data,
                keys=tuple(
                    PlanKey(name=key.name, type=key.type, request=request)
                    for key, request in zip(part.view.keys, part.request_keys, strict=True)
                ),
                grid=part.view.view.grid,
                fields=plan_fields(part.view),
            )
            for part in service.views
        ),
        request=service.request,
        on_demand=tuple(
            PlanExpression(name=f"{item.view}.{item.name}", type=item.type, node=item.expression, default=item.default)
            for item in service.on_demand
        ),
        outputs=tuple(Field(output.name, output.type, output.nullable) for output in service.outputs),
        on_unavailable=service.service.on_unavailable,
    )


def plan_fields(view: CompiledView) -> tuple[PlanField, ...]:
    """Return the fields of the view's packed row, in order."""
    empty = empty_values(view)
    return tuple(
        PlanField(
            name=feature.name,
            type=feature.type,
            is_latest=feature.is_latest,
            empty=value,
            default=feature.default,
        )
        for feature, value in zip(view.features, empty, strict=True)
    )


def empty_values(view: CompiledView) -> tuple[Any, ...]:
    """Return each feature's value for an entity without rows: counts are 0, other slots NULL (DESIGN T5)."""
    inputs = tuple(Column(type=slot.type, nullable=slot.nullable, name=slot.name) for slot in view.slots)
    evaluate = compile_row(tuple(feature.expression for feature in view.features), inputs)
    return evaluate(tuple(None if slot.nullable else 0 for slot in view.slots))
