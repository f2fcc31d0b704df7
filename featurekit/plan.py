"""The lookup plan: all that a client needs to answer for one service, as versioned JSON in the online store.

No SQL, no pickles, no source text: typed IR and layouts only. A client that reads a plan of a later format refuses it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final

from featurekit.errors import NewerWireVersionError
from featurekit.expr.nodes import Literal, Node
from featurekit.expr.serialize import from_json, to_json, value_to_json
from featurekit.grid import Grid
from featurekit.on_unavailable import Instead, OnUnavailable
from featurekit.types import INTEGER_BITS, DataType, Field, Schema, parse_type

PLAN_FORMAT: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanField:
    """A feature as the packed row holds it.

    `empty` is its value for an entity without rows (a count is 0, anything else NULL; a latest feature is MISSING).
    """

    name: str
    type: DataType
    is_latest: bool
    empty: Any
    default: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanKey:
    """A join key: its name in the entity, its type, and the request key it is read from."""

    name: str
    type: DataType
    request: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanView:
    """A view as the service reads it; `fields` are all fields of the packed row, in row order."""

    alias: str
    view: str
    fingerprint: str
    keys: tuple[PlanKey, ...]
    grid: Grid
    fields: tuple[PlanField, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanExpression:
    """An on-demand feature, named `view.feature`: `node` over request columns and `alias.feature` columns."""

    name: str
    type: DataType
    node: Node
    default: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class LookupPlan:
    service: str
    fingerprint: str
    views: tuple[PlanView, ...]
    request: Schema
    on_demand: tuple[PlanExpression, ...]
    outputs: tuple[Field, ...]
    on_unavailable: OnUnavailable | None = None

    @property
    def defaults_stand_in(self) -> bool:
        """Whether a feature whose view is unavailable has its default."""
        return self.on_unavailable is not None and self.on_unavailable.instead is Instead.DEFAULT

    @property
    def keys(self) -> tuple[PlanKey, ...]:
        """The distinct request keys of all views, in the order of their first use.

        A key of two integer types has the wider one: a value beyond the narrower is a key that has no row there.
        """
        found: dict[str, PlanKey] = {}
        for key in (key for view in self.views for key in view.keys):
            known = found.setdefault(key.request, key)
            if INTEGER_BITS.get(key.type, 0) > INTEGER_BITS.get(known.type, 0):
                found[key.request] = replace(known, type=key.type)
        return tuple(found.values())


def encode_plan(plan: LookupPlan) -> bytes:
    """Return the plan as JSON bytes; equal plans give equal bytes."""
    content = {
        "format": PLAN_FORMAT,
        "service": plan.service,
        "fingerprint": plan.fingerprint,
        "views": [_view_to_json(view) for view in plan.views],
        "request": [_field_to_json(field) for field in plan.request.fields],
        "on_demand": [
            {
                "name": item.name,
                "type": item.type.name,
                "node": to_json(item.node),
                "default": value_to_json(item.default, item.type),
            }
            for item in plan.on_demand
        ],
        "outputs": [_field_to_json(field) for field in plan.outputs],
    }
    if plan.on_unavailable is not None:
        content["on_unavailable"] = _policy_to_json(plan.on_unavailable)
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()


def decode_plan(content: bytes) -> LookupPlan:
    """Return the plan that `encode_plan` wrote; NewerWireVersionError for a format this featurekit doesn't know."""
    plan = json.loads(content)
    if plan.get("format") != PLAN_FORMAT:
        raise NewerWireVersionError(
            f"the lookup plan has format {plan.get('format')!r}; this featurekit reads {PLAN_FORMAT}",
            why="it was published by another version of featurekit",
            try_="upgrade this client",
        )
    return LookupPlan(
        service=plan["service"],
        fingerprint=plan["fingerprint"],
        views=tuple(_view_from_json(view) for view in plan["views"]),
        request=Schema(tuple(_field_from_json(field) for field in plan["request"])),
        on_demand=tuple(
            PlanExpression(
                name=item["name"],
                type=(kind := parse_type(item["type"])),
                node=from_json(item["node"]),
                default=_value_from_json(item["default"], kind),
            )
            for item in plan["on_demand"]
        ),
        outputs=tuple(_field_from_json(field) for field in plan["outputs"]),
        on_unavailable=_policy_from_json(plan.get("on_unavailable")),
    )


def _policy_to_json(policy: OnUnavailable) -> Any:
    is_aged = policy.instead is Instead.LAST_KNOWN
    return {policy.instead.value: policy.max_age} if is_aged else policy.instead.value


def _policy_from_json(content: Any) -> OnUnavailable | None:
    match content:
        case None:
            return None
        case {"last_known": int(max_age)}:
            return OnUnavailable(Instead.LAST_KNOWN, max_age)
        case "error" | "null" | "default":
            return OnUnavailable(Instead(content))
        case _:
            raise NewerWireVersionError(f"the lookup plan says on_unavailable: {content!r}", try_="upgrade this client")


def _view_to_json(view: PlanView) -> dict[str, Any]:
    grid = view.grid
    return {
        "alias": view.alias,
        "view": view.view,
        "fingerprint": view.fingerprint,
        "keys": [{"name": key.name, "type": key.type.name, "request": key.request} for key in view.keys],
        "grid": {
            "every": grid.every,
            "availability_delay": grid.availability_delay,
            "timezone": grid.timezone,
            "anchor": grid.anchor.isoformat() if grid.anchor else None,
        },
        "fields": [
            {
                "name": field.name,
                "type": field.type.name,
                "latest": field.is_latest,
                "empty": value_to_json(field.empty, field.type),
                "default": value_to_json(field.default, field.type),
            }
            for field in view.fields
        ],
    }


def _view_from_json(view: dict[str, Any]) -> PlanView:
    grid = view["grid"]
    return PlanView(
        alias=view["alias"],
        view=view["view"],
        fingerprint=view["fingerprint"],
        keys=tuple(
            PlanKey(name=key["name"], type=parse_type(key["type"]), request=key["request"]) for key in view["keys"]
        ),
        grid=Grid(
            grid["every"],
            grid["availability_delay"],
            grid["timezone"],
            date.fromisoformat(grid["anchor"]) if grid["anchor"] else None,
        ),
        fields=tuple(
            PlanField(
                name=field["name"],
                type=(kind := parse_type(field["type"])),
                is_latest=field["latest"],
                empty=_value_from_json(field["empty"], kind),
                default=_value_from_json(field["default"], kind),
            )
            for field in view["fields"]
        ),
    )


def _field_to_json(field: Field) -> dict[str, Any]:
    return {"name": field.name, "type": field.type.name, "nullable": field.nullable}


def _field_from_json(field: dict[str, Any]) -> Field:
    return Field(field["name"], parse_type(field["type"]), field["nullable"])


def _value_from_json(content: Any, kind: DataType) -> Any:
    if content is None:
        return None
    node = from_json(content)
    if not isinstance(node, Literal) or node.type != kind:
        raise NewerWireVersionError(f"the lookup plan holds {content!r} where a {kind} value belongs")
    return node.value
