"""`explain`: what a view or a service means, as each target has it, side by side; nothing is computed."""

from __future__ import annotations

import json
from dataclasses import dataclass

from featurekit.clock import Instant, format_duration
from featurekit.compiled import CompiledFeature, CompiledService, CompiledView, Slot, SlotFunction
from featurekit.definitions.source import SourceFormat, SourceKind
from featurekit.expr.nodes import Column, columns
from featurekit.expr.show import show
from featurekit.lookup_plan import lookup_plan
from featurekit.offline.join_shape import ShapeChoice
from featurekit.offline.materialize import explain_sql
from featurekit.on_unavailable import Instead, OnUnavailable
from featurekit.online.keys import KeySpace, Namespace
from featurekit.online.layout import HEADER, RowLayout, row_layout, storage_of
from featurekit.plan import encode_plan
from featurekit.targets.python import source
from featurekit.targets.spark import render
from featurekit.types import Field
from featurekit.windows import show_window

_IN_PLACE = (
    "each refresh overwrites the rows of the one before, so that they stand in the store once. Given up: all entities"
    " at one instant (while a refresh is written some are newer than the answer's as_of, and say AHEAD); that a refresh"
    " is seen no sooner than availability_delay; that one which fails the gate leaves the rows as they were; rollback,"
    " and any earlier as-of. --restate writes a second space, which stands beside the first until it is complete"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedFeature:
    """One feature in all its forms: as written, as typed IR, as Spark SQL, and where its value lies in the row."""

    name: str
    type: str
    definition: str
    ir: str
    spark_sql: str
    stored: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedSlot:
    """One aggregate over rows that features stand on."""

    name: str
    ir: str
    rows: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of an explanation; `language` says how to colour it: text, sql, python, json."""

    title: str
    language: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    name: str
    kind: str
    summary: tuple[tuple[str, str], ...]
    slots: tuple[ExplainedSlot, ...]
    features: tuple[ExplainedFeature, ...]
    sections: tuple[Section, ...]


def explain_view(view: CompiledView, namespace: Namespace, *, as_of: Instant) -> Explanation:
    """Return how a view is computed as of a grid instant, and how its rows are stored."""
    layout = row_layout([Field(feature.name, feature.type) for feature in view.features])
    inputs = tuple(Column(type=slot.type, nullable=slot.nullable, name=slot.name) for slot in view.slots)
    evaluator = source([feature.expression for feature in view.features], inputs)
    return Explanation(
        name=view.name,
        kind="feature view",
        summary=_summary(view),
        slots=tuple(_slot(slot) for slot in view.slots),
        features=tuple(_feature(view, feature, layout, at) for at, feature in enumerate(view.features)),
        sections=(
            Section(title="Spark SQL", language="sql", text=explain_sql(view, as_of)),
            Section(title="evaluator, over one row of slots", language="python", text=evaluator),
            Section(title="key and row", language="text", text=_layout(view, namespace, layout, as_of)),
        ),
    )


def explain_service(service: CompiledService, shapes: tuple[ShapeChoice, ...]) -> Explanation:
    """Return what a service reads, computes and answers, and how its training sets are joined."""
    expressions = [item.expression for item in service.on_demand]
    inputs = tuple(dict.fromkeys(column for node in expressions for column in columns(node)))
    written = {(view.name, feature.name): feature.sql for view in service.on_demand_views for feature in view.features}
    plan = json.dumps(json.loads(encode_plan(lookup_plan(service))), indent=1, ensure_ascii=False)
    views = ", ".join(f"{part.alias} = {part.view.name}[{', '.join(part.request_keys)}]" for part in service.views)
    return Explanation(
        name=service.name,
        kind="feature service",
        summary=(
            ("reads", views),
            ("entity keys", _columns(service.keys.fields)),
            ("request", _columns(service.request.fields) or "nothing else"),
            ("answers", f"{len(service.outputs)} features: " + ", ".join(output.name for output in service.outputs)),
            ("without the store", _without_store(service.service.on_unavailable)),
            ("fingerprint", service.fingerprint.data),
        ),
        slots=(),
        features=tuple(
            ExplainedFeature(
                name=f"{item.view}.{item.name}",
                type=item.type.name,
                definition=written[item.view, item.name],
                ir=show(item.expression),
                spark_sql=render(item.expression, lambda column: column.path),
                stored="computed on request",
            )
            for item in service.on_demand
        ),
        sections=(
            Section(title="evaluator, over one request", language="python", text=source(expressions, inputs)),
            Section(title="point-in-time join", language="text", text=_join(shapes)),
            Section(title="lookup plan", language="json", text=plan),
        ),
    )


def _without_store(policy: OnUnavailable | None) -> str:
    match policy:
        case None:
            return "what is there is answered, the rest is UNAVAILABLE; a store that does not answer is an error"
        case OnUnavailable(instead=Instead.ERROR):
            return "an error, also where a single value is UNAVAILABLE"
        case OnUnavailable(instead=Instead.NULL):
            return "no values, UNAVAILABLE"
        case OnUnavailable(instead=Instead.DEFAULT):
            return "the features' defaults; those without one are UNAVAILABLE"
        case OnUnavailable(max_age=max_age):
            kept = f"the rows answered last, if the store confirmed them within {format_duration(max_age)}"
            return f"{kept}; the rest is UNAVAILABLE"


def _join(shapes: tuple[ShapeChoice, ...]) -> str:
    return "\n".join(f"{choice.view}  {choice.described}" for choice in shapes)


def _summary(view: CompiledView) -> tuple[tuple[str, str], ...]:
    definition, origin = view.view, view.source
    keys = ", ".join(
        f"{key.name} {key.type}" + (f" from {key.source_column}" if key.source_column != key.name else "")
        for key in view.keys
    )
    where_from = origin.shown_origin if origin.sql is None else f"({origin.shown_origin})"
    times = f"{origin.event_timestamp}, known at {origin.created_timestamp or origin.event_timestamp}"
    ends = [show_window(window).removeprefix("the last ") for window in view.reach or ()]
    lines = [
        ("entity", f"{view.entity.name} ({keys})"),
        ("source", f"{origin.name}: {where_from}; {times}" + (f", in {origin.timezone}" if origin.timezone else "")),
        *_kind_of_rows(view),
        ("where", show(view.where) if view.where is not None else "every row"),
        ("refresh", f"{definition.grid}; rows may land {format_duration(definition.allowed_lateness)} late"),
        ("looks back", ", ".join(ends) or "for ever"),
        ("fingerprint", view.fingerprint.data),
    ]
    if definition.write == "in_place":
        lines.append(("written in place", _IN_PLACE))
    if origin.origin is SourceFormat.SQL:
        lines.append(("note", "the source is raw SQL: what can fail or overflow inside it is not guarded"))
    return tuple(lines)


def _kind_of_rows(view: CompiledView) -> tuple[tuple[str, str], ...]:
    """Return what a row of the source means, where it is no event."""
    source = view.source
    match source.kind:
        case SourceKind.EVENTS:
            return ()
        case SourceKind.CHANGES:
            parts = [f"the newest row of each {', '.join(column.name for column in view.row_key)} counts"]
            if source.valid_to is not None:
                parts.append(f"up to {source.valid_to}")
            if view.deleted is not None:
                parts.append(f"unless {show(view.deleted)}")
            return (("changes", ", ".join(parts)),)
        case SourceKind.SNAPSHOTS:
            return (("snapshots", f"the rows of the newest {source.event_timestamp} count, as far as they are known"),)


def _slot(slot: Slot) -> ExplainedSlot:
    inside = "*" if slot.argument is None else show(slot.argument)
    if slot.by is not None:
        inside += f" by {show(slot.by)}"
    if slot.parameter is not None:
        inside += f", {slot.parameter}"
    rows = "all rows" if slot.window is None else show_window(slot.window)
    rows = "the latest row" if slot.function is SlotFunction.LATEST else rows
    if slot.filter is not None:
        rows += f" where {show(slot.filter)}"
    return ExplainedSlot(name=slot.name, ir=f"{slot.function}({inside}):{slot.type}", rows=rows)


def _feature(view: CompiledView, feature: CompiledFeature, layout: RowLayout, at: int) -> ExplainedFeature:
    written = view.view.feature(feature.name)
    return ExplainedFeature(
        name=feature.name,
        type=feature.type.name,
        definition=written.sql if written is not None else "",
        ir=show(feature.expression),
        spark_sql=render(feature.expression, lambda column: column.name),
        stored=_stored(layout, at),
    )


def _stored(layout: RowLayout, field: int) -> str:
    storage = storage_of(layout.fields[field].type)
    if storage is None:
        return f"status bits {2 * field}"
    offset = HEADER.size
    for block, members in layout.blocks.items():
        if block is storage:
            offset += block.width * members.index(field)
            break
        offset += block.width * len(members)
    what = "where its bytes end" if field in layout.variable else storage.name.lower()
    return f"bytes {offset}..{offset + storage.width - 1} ({what}), status bits {2 * field}..{2 * field + 1}"


def _layout(view: CompiledView, namespace: Namespace, layout: RowLayout, as_of: Instant) -> str:
    space = KeySpace(namespace=namespace, view=view.name, fingerprint=view.fingerprint.data, as_of=as_of)
    if view.view.write == "in_place":
        space = space.at(as_of, live=0)
    sample = ",".join(f"<{key.name}>" for key in view.keys)
    lines = [
        f"key     {space.row(sample.encode()).decode()}",
        f"head    {space.head.decode()}",
        f"marker  {space.marker.decode()}",
        f"row     {layout.fixed_size} bytes" + (" and its texts and nested values" if layout.variable else ""),
        "        0 wire version, 1 flags, 2..7 fingerprint, 8..15 as-of, 16..23 newest event,",
        f"        24..{layout.status_offset - 1} values, {layout.status_offset}..{layout.fixed_size - 1} status bits",
    ]
    return "\n".join(lines)


def _columns(fields: tuple[Field, ...]) -> str:
    return ", ".join(f"{field.name} {field.type}" for field in fields)
