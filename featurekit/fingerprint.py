"""Fingerprints: hashes of what decides values, and of what does not (DESIGN V5)."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from featurekit.compile_changes import Changes
from featurekit.compiled import CompiledFeature, Fingerprint, KeyColumn, ServiceOutput, ServiceView, Slot
from featurekit.definitions.entity import Entity
from featurekit.definitions.expectation import Expectation
from featurekit.definitions.feature_view import FeatureView
from featurekit.definitions.on_demand import OnDemandFeatureView
from featurekit.definitions.service import FeatureService
from featurekit.definitions.source import Source
from featurekit.expr.functions import CATALOGUE_VERSION
from featurekit.expr.nodes import Column, Node
from featurekit.expr.serialize import to_json, value_to_json
from featurekit.types import Schema
from featurekit.windows import window_to_json


def view_fingerprint(
    *,
    view: FeatureView,
    entity: Entity,
    source: Source,
    keys: tuple[KeyColumn, ...],
    where: Node | None,
    columns: tuple[Column, ...],
    slots: tuple[Slot, ...],
    features: tuple[CompiledFeature, ...],
    changes: Changes,
) -> Fingerprint:
    """Return the fingerprint of a compiled view.

    The data half covers the typed IR, the catalogue version, the source's columns, times and SQL (not its path), the
    entity, windows, grid, delay, lateness, zones, event id, ttl and defaults. The metadata half covers owners,
    descriptions, expectations and thresholds: they decide what is published and what a check lets pass, never a value.
    """
    data = {
        "catalogue": CATALOGUE_VERSION,
        "view": view.name,
        "entity": [(key.name, key.type.name) for key in keys],
        "key_columns": [key.source_column for key in keys],
        "source": {
            "columns": [(column.name, column.type.name) for column in columns],
            "event_timestamp": source.event_timestamp,
            "created_timestamp": source.created_timestamp,
            "event_id": source.event_id,
            "timezone": source.timezone,
            "known_from": source.known_from,
            "assumed_lag": source.assumed_lag,
            "null_tokens": source.null_tokens,
            "sql": source.sql,
            # Events keep the fingerprint they had before there were other kinds.
            **({} if not source.is_state else {"kind": source.kind.value}),
            **_changes(changes),
        },
        "grid": [
            view.refresh.every,
            view.refresh.timezone,
            view.refresh.anchor.isoformat() if view.refresh.anchor else None,
            view.availability_delay,
            view.allowed_lateness,
        ],
        "where": where and to_json(where),
        "slots": [
            {
                "function": slot.function.value,
                "argument": slot.argument and to_json(slot.argument),
                "filter": slot.filter and to_json(slot.filter),
                "window": window_to_json(slot.window),
                # Only where there is one: other slots keep the fingerprint they had.
                **({} if slot.by is None else {"by": to_json(slot.by)}),
                **({} if slot.parameter is None else {"parameter": slot.parameter}),
            }
            for slot in slots
        ],
        "features": [
            {
                "name": feature.name,
                "expression": to_json(feature.expression),
                "latest": feature.is_latest,
                "ttl": feature.ttl,
                "default": value_to_json(feature.default, feature.type),
            }
            for feature in features
        ],
    }
    metadata = {
        # Only where something is declared: other views keep the fingerprint they had.
        "view": [
            view.owner,
            view.description,
            *([] if view.history is None else [_dumped(view, "history")]),
            *([] if view.write is None else [view.write]),
            *([] if view.thresholds is None else [_dumped(view, "thresholds")]),
            *([] if view.expect is None else [_dumped(view, "expect")]),
        ],
        "entity": [entity.owner, entity.description],
        "source": [source.owner, source.description],
        "features": [
            (feature.name, feature.owner, feature.description, feature.expect and _expected(feature.expect))
            for feature in view.features
        ],
    }
    return Fingerprint(data=_hash(data), metadata=_hash(metadata))


def _expected(expectation: Expectation) -> str:
    later = {"matches", "length", "mostly"}  # left out where not declared: others keep the fingerprint they had
    written: str = expectation.model_dump_json(exclude={name for name in later if getattr(expectation, name) is None})
    return written


def _dumped(written: FeatureView | FeatureService, field: str) -> Any:
    return written.model_dump(mode="json", include={field})[field]


def _changes(changes: Changes) -> dict[str, Any]:
    """Return what changes have, each part only where there is one."""
    row_key = [(column.name, column.type.name) for column in changes.row_key]
    valid_to = changes.valid_to and (changes.valid_to.name, changes.valid_to.type.name)
    parts = {"row_key": row_key, "valid_to": valid_to, "deleted": changes.deleted and to_json(changes.deleted)}
    return {name: part for name, part in parts.items() if part}


def service_fingerprint(
    *,
    service: FeatureService,
    views: tuple[ServiceView, ...],
    on_demand_views: tuple[OnDemandFeatureView, ...],
    on_demand: tuple[tuple[str, Node, Any], ...],
    request: Schema,
    outputs: tuple[ServiceOutput, ...],
) -> Fingerprint:
    """Return the fingerprint of a compiled service: its views', its on-demand expressions, its outputs in order."""
    data = {
        "catalogue": CATALOGUE_VERSION,
        "service": service.name,
        "views": [(part.alias, part.view.fingerprint.data, part.request_keys) for part in views],
        "on_demand": [(name, to_json(node), value_to_json(default, node.type)) for name, node, default in on_demand],
        "request": [(field.name, field.type.name) for field in request.fields],
        "outputs": [(output.name, output.type.name) for output in outputs],
    }
    metadata = {
        # Only where something is declared: other services keep the fingerprint they had.
        "service": [
            service.owner,
            service.description,
            *([] if service.on_unavailable is None else [_dumped(service, "on_unavailable")]),
            *([] if service.thresholds is None else [_dumped(service, "thresholds")]),
        ],
        "views": [part.view.fingerprint.metadata for part in views],
        "on_demand": [
            (view.name, view.owner, view.description, [(f.name, f.owner, f.description) for f in view.features])
            for view in on_demand_views
        ],
    }
    return Fingerprint(data=_hash(data), metadata=_hash(metadata))


def _hash(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
