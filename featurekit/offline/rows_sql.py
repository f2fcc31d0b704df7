"""The SQL that both shapes share: row expressions before the aggregation, feature expressions after it.

Between the two lies a *slots frame*: one row per entity (and as-of) with each slot's result under its name, and
`$last`, when the newest visible event happened (NULL where there is none). How it comes about is each shape's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from featurekit.compiled import ORDERED, CompiledFeature, CompiledView, Slot, SlotFunction
from featurekit.expr.nodes import Column, Node
from featurekit.offline.source import column_name, key_names
from featurekit.offline.sql import Sql, case, name, one_nan
from featurekit.rows import STATUS_PREFIX
from featurekit.status import Status
from featurekit.targets.spark import render
from featurekit.windows import LastRows

LAST: Final = "$last"
SlotNames = Callable[[Column], str]
Within = Callable[[int], Sql]
"""The condition that the newest visible event is at most so many microseconds older than the as-of."""


@dataclass(frozen=True, slots=True)
class RowExpressions:
    """The distinct arguments and filters of a view's slots, each computed once per row under its own name."""

    arguments: dict[Node, str]
    filters: dict[Node, str]

    @staticmethod
    def of(view: CompiledView) -> RowExpressions:
        slots = [slot for slot in view.slots if slot.function is not SlotFunction.LATEST]
        arguments = dict.fromkeys(part for slot in slots for part in (slot.argument, slot.by) if part is not None)
        filters = dict.fromkeys(slot.filter for slot in slots if slot.filter is not None)
        return RowExpressions(
            {node: f"$x{position}" for position, node in enumerate(arguments)},
            {node: f"$f{position}" for position, node in enumerate(filters)},
        )

    def columns(self) -> tuple[tuple[str, Sql], ...]:
        return tuple((label, row_sql(node)) for node, label in (*self.arguments.items(), *self.filters.items()))


def row_sql(node: Node) -> Sql:
    """Return an expression over source columns as SQL over an events step."""
    return render(node, column_name)


def row_conditions(view: CompiledView) -> tuple[Sql, ...]:
    """Return what a row has to satisfy, apart from time: all keys, and the view's `where`."""
    keys = tuple(f"{name(key)} IS NOT NULL" for key in key_names(view))
    return keys if view.where is None else (*keys, row_sql(view.where))


def latest_slots(view: CompiledView) -> tuple[Slot, ...]:
    return tuple(slot for slot in view.slots if slot.function is SlotFunction.LATEST)


def latest_arguments(view: CompiledView) -> dict[Node, str]:
    """Return the distinct arguments of a view's LATEST slots, each with a name for its column."""
    arguments = dict.fromkeys(slot.argument for slot in latest_slots(view) if slot.argument is not None)
    return {node: f"$l{position}" for position, node in enumerate(arguments)}


def is_ordered(view: CompiledView) -> bool:
    """Return whether a slot asks which row comes first, or which are last, so that rows need their total order."""
    return any(slot.function in ORDERED or isinstance(slot.window, LastRows) for slot in view.slots)


def window_slots(view: CompiledView) -> tuple[Slot, ...]:
    return tuple(slot for slot in view.slots if slot.function is not SlotFunction.LATEST)


def slot_name(column: Column) -> str:
    return column.name


def feature_columns(view: CompiledView, within: Within) -> tuple[tuple[str, Sql], ...]:
    """Return the features over a slots frame, before defaults, then the statuses of latest features (see `rows`)."""
    values = [(feature.name, feature_sql(feature, within)) for feature in view.features]
    statuses = [
        (STATUS_PREFIX + feature.name, _status_sql(feature, within)) for feature in view.features if feature.is_latest
    ]
    return (*values, *statuses)


def feature_sql(feature: CompiledFeature, within: Within, names: SlotNames = slot_name) -> Sql:
    """Return a feature's value over a slots frame, before its default; `names` says what slots are called there."""
    value = one_nan(render(feature.expression, names), feature.type)
    if not feature.is_latest or feature.ttl is None:
        return value
    return case((within(feature.ttl), value))


def _status_sql(feature: CompiledFeature, within: Within) -> Sql:
    value = render(feature.expression, slot_name)
    present = case((f"{value} IS NULL", _status(Status.NULL)), otherwise=_status(Status.PRESENT))
    if feature.ttl is None:
        return case((f"{name(LAST)} IS NULL", _status(Status.MISSING)), otherwise=present)
    return case(
        (within(feature.ttl), present),
        (within(2 * feature.ttl), _status(Status.EXPIRED)),
        otherwise=_status(Status.MISSING),
    )


def _status(status: Status) -> Sql:
    return f"{int(status)}Y"
