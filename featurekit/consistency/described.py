"""What a report says of a checked field beside its numbers: how it is defined, and where its value comes from.

columns of the source ─▶ slots, aggregated over their windows ─▶ the feature ─▶ the services that answer it
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from featurekit.clock import format_duration
from featurekit.compiled import CompiledFeature, CompiledService, CompiledView, Slot, SlotFunction
from featurekit.expr.nodes import Column, Node, columns
from featurekit.targets.spark import render
from featurekit.windows import show_window


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedSlot:
    """What is aggregated from rows: its name in the feature's expression, the aggregate, of which rows and columns."""

    name: str
    aggregate: str
    rows: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedField:
    """A feature as its author wrote it, and the way of its value; what is not declared is empty."""

    name: str
    sql: str
    spark_sql: str
    owner: str
    description: str
    ttl: str
    default: str
    expect: str
    slots: tuple[DescribedSlot, ...]
    services: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedView:
    """A view as its author wrote it; `keys` are its join keys with the columns that hold them."""

    view: str
    entity: str
    keys: tuple[str, ...]
    source: str
    origin: str
    event_timestamp: str
    created_timestamp: str
    where: str
    refresh: str
    owner: str
    description: str
    fields: tuple[DescribedField, ...]

    def field(self, name: str) -> DescribedField | None:
        return next((field for field in self.fields if field.name == name), None)


def describe_view(view: CompiledView, services: Iterable[CompiledService]) -> DescribedView:
    """Return a view's definition and lineage as texts; `services` are those that may read it."""
    definition, source = view.view, view.source
    readers = tuple(services)
    renamed = (
        key.name if key.name == key.source_column else f"{key.name} from {key.source_column}" for key in view.keys
    )
    return DescribedView(
        view=view.name,
        entity=view.entity.name,
        keys=tuple(renamed),
        source=source.name,
        origin=source.shown_origin,
        event_timestamp=source.event_timestamp,
        created_timestamp=source.created_timestamp or "",
        where=definition.where or "",
        refresh=str(definition.grid),
        owner=definition.owner or "",
        description=definition.description or "",
        fields=tuple(_field(view, feature, readers) for feature in view.features),
    )


def _field(view: CompiledView, feature: CompiledFeature, services: tuple[CompiledService, ...]) -> DescribedField:
    written = view.view.feature(feature.name)
    used = {column.name for column in columns(feature.expression)}
    return DescribedField(
        name=feature.name,
        sql="" if written is None else written.sql,
        spark_sql=render(feature.expression, _name),
        owner=(written and written.owner) or view.view.owner or "",
        description=(written and written.description) or "",
        ttl="" if feature.ttl is None else format_duration(feature.ttl),
        default="" if feature.default is None else str(feature.default),
        expect=_expectation(feature),
        slots=tuple(_slot(view, slot) for slot in view.slots if slot.name in used),
        services=_services(view, feature, services),
    )


def _slot(view: CompiledView, slot: Slot) -> DescribedSlot:
    inside = [render(node, _name) for node in (slot.argument, slot.by) if node is not None] or ["*"]
    inside += [str(slot.parameter)] if slot.parameter is not None else []
    if slot.function is SlotFunction.LATEST:
        rows = "the latest row"
    else:
        rows = "all rows" if slot.window is None else show_window(slot.window)
    if slot.filter is not None:
        rows += f" where {render(slot.filter, _name)}"
    # The view's condition decides which rows count, so its columns are on the way too.
    read = [node for node in (slot.argument, slot.by, slot.filter, view.where) if node is not None]
    return DescribedSlot(
        name=slot.name, aggregate=f"{slot.function}({', '.join(inside)})", rows=rows, columns=_columns(read)
    )


def _columns(nodes: Iterable[Node]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(column.name for node in nodes for column in columns(node)))


def _name(column: Column) -> str:
    return column.name


def _expectation(feature: CompiledFeature) -> str:
    if feature.expectation is None:
        return ""
    declared = feature.expectation.model_dump(exclude_none=True)
    return ", ".join(f"{name}: {show_declared(value)}" for name, value in declared.items())


def show_declared(value: object) -> str:
    """Return what an expectation declares, as it is written.

    >>> show_declared((0, 1)), show_declared(True)
    ('[0, 1]', 'true')
    """
    if isinstance(value, bool):
        return str(value).lower()
    return f"[{', '.join(map(str, value))}]" if isinstance(value, tuple | list) else str(value)


def _services(view: CompiledView, feature: CompiledFeature, services: tuple[CompiledService, ...]) -> tuple[str, ...]:
    """Return the services that answer the feature, or compute something on demand from it."""
    return tuple(
        service.name
        for service in services
        if any(
            part.view.name == view.name and _is_read(service, f"{part.alias}.{feature.name}") for part in service.views
        )
    )


def _is_read(service: CompiledService, name: str) -> bool:
    answered = {output.name for output in service.outputs}
    return name in answered or any(
        column.path == name for item in service.on_demand for column in columns(item.expression)
    )
