"""Compiled definitions -> what the registry should hold."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from featurekit.compiled import CompiledFeature, CompiledRepository, CompiledService, CompiledView, Slot
from featurekit.definitions.base import Definition as Written
from featurekit.definitions.source import Source
from featurekit.expr.functions import CATALOGUE_VERSION
from featurekit.expr.nodes import Column, Node, columns, transform
from featurekit.expr.serialize import to_json, value_to_json
from featurekit.lookup_plan import lookup_plan
from featurekit.plan import encode_plan
from featurekit.registry.state import Definition, Desired, DesiredService, DesiredView
from featurekit.urls import shown_text
from featurekit.windows import window_to_json


def desired_state(compiled: CompiledRepository) -> Desired:
    """Return the views and services of compiled definitions as the registry should hold them."""
    services = {name: _service(service, is_own=False) for name, service in compiled.services.items()}
    own = {name: _service(service, is_own=True) for name, service in compiled.view_services.items()}
    return Desired(views={name: _view(view) for name, view in compiled.views.items()}, services={**services, **own})


def _view(view: CompiledView) -> DesiredView:
    return DesiredView(
        name=view.name,
        fingerprint=view.fingerprint,
        definition=Definition(data=_texts(_view_data(view)), written=_texts(_view_written(view))),
        grid=view.view.grid,
    )


def _view_data(view: CompiledView) -> dict[str, Any]:
    """Return what the data fingerprint covers, split so that a difference can be named."""
    source, definition = view.source, view.view
    slots = {slot.name: slot for slot in view.slots}
    return {
        "catalogue": CATALOGUE_VERSION,
        "entity": [[key.name, key.type.name] for key in view.keys],
        "keys": [key.source_column for key in view.keys],
        "source.sql": _query(source.sql),
        "source.event_timestamp": source.event_timestamp,
        "source.created_timestamp": source.created_timestamp,
        "source.event_id": source.event_id,
        **_kind_data(view),
        "source.timezone": source.timezone,
        "source.known_from": source.known_from,
        "source.assumed_lag": source.assumed_lag,
        "source.null_tokens": source.null_tokens,
        **{f"source.columns.{column.name}": column.type.name for column in view.columns},
        "refresh": [
            definition.refresh.every,
            definition.refresh.timezone,
            definition.refresh.anchor and definition.refresh.anchor.isoformat(),
        ],
        "availability_delay": definition.availability_delay,
        "allowed_lateness": definition.allowed_lateness,
        "where": view.where and to_json(view.where),
        **{f"features/{feature.name}": _feature(feature, slots) for feature in view.features},
        "order of features": [feature.name for feature in view.features],
    }


def _kind_data(view: CompiledView) -> dict[str, Any]:
    # Only of what is no source of events: definitions from before there were other kinds differ in nothing.
    source = view.source
    if not source.is_state:
        return {}
    ends = None if source.valid_to is None else view.source_schema.schema.get(source.valid_to)
    return {
        "source.kind": source.kind.value,
        "source.row_key": [[column.name, column.type.name] for column in view.row_key],
        "source.valid_to": ends and [ends.name, ends.type.name],
        "source.deleted": view.deleted and to_json(view.deleted),
    }


def _feature(feature: CompiledFeature, slots: dict[str, Slot]) -> dict[str, Any]:
    # Slots are numbered over the whole view: renumbered here, else a new feature would seem to change its siblings.
    used = [column.name for column in columns(feature.expression) if column.name in slots]
    numbers = {name: f"slot{place}" for place, name in enumerate(used)}

    def renumber(node: Node) -> Node:
        if not isinstance(node, Column) or node.name not in numbers:
            return node
        return Column(type=node.type, nullable=node.nullable, name=numbers[node.name], qualifier=node.qualifier)

    return {
        "expression": to_json(transform(feature.expression, renumber)),
        "slots": [_slot(slots[name]) for name in used],
        "latest": feature.is_latest,
        "ttl": feature.ttl,
        "default": value_to_json(feature.default, feature.type),
    }


def _slot(slot: Slot) -> list[Any]:
    return [
        slot.function.value,
        slot.argument and to_json(slot.argument),
        slot.filter and to_json(slot.filter),
        window_to_json(slot.window),
        *(() if slot.by is None else (to_json(slot.by),)),
        *(() if slot.parameter is None else (slot.parameter,)),
    ]


def _view_written(view: CompiledView) -> dict[str, Any]:
    return {
        **_dump(view.view, leave_out={"features"}),
        "entity": _dump(view.entity),
        "source": _source(view.source),
        **{f"features/{feature.name}": _dump(feature) for feature in view.view.features},
    }


def _query(sql: str | None) -> str | list[str] | None:
    """Return a source's query as the registry may hold it: without secrets, and with what tells others from it."""
    if sql is None or (shown := shown_text(sql)) == sql:
        return sql
    return [shown, hashlib.sha256(sql.encode()).hexdigest()[:8]]


def _source(source: Source) -> dict[str, Any]:
    dumped = _dump(source, leave_out={"path"})
    return dumped if source.sql is None else {**dumped, "sql": shown_text(source.sql)}


def _service(service: CompiledService, *, is_own: bool) -> DesiredService:
    data = {
        "catalogue": CATALOGUE_VERSION,
        **{part.alias: [part.view.name, part.view.fingerprint.data, part.request_keys] for part in service.views},
        **{
            f"features/{item.view}.{item.name}": [to_json(item.expression), value_to_json(item.default, item.type)]
            for item in service.on_demand
        },
        "request": [[field.name, field.type.name] for field in service.request.fields],
        "outputs": [[output.name, output.type.name] for output in service.outputs],
    }
    written = {
        **_dump(service.service),
        **{part.alias: part.view.fingerprint.metadata for part in service.views},
        **{view.name: _dump(view) for view in service.on_demand_views},
    }
    return DesiredService(
        name=service.name,
        fingerprint=service.fingerprint,
        definition=Definition(data=_texts(data), written=_texts(written)),
        views={part.view.name: part.view.fingerprint.data for part in service.views},
        is_own=is_own,
        lookup_plan=encode_plan(lookup_plan(service)),
    )


def _dump(written: Written, *, leave_out: set[str] | None = None) -> dict[str, Any]:
    return written.model_dump(mode="json", exclude=leave_out, exclude_none=True)


def _texts(parts: dict[str, Any]) -> dict[str, str]:
    return {
        name: json.dumps(part, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        for name, part in parts.items()
    }
