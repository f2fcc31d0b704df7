"""What another definition would have said: by another window, filter, function, ttl or default than was declared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from featurekit.clock import DAY, HOUR
from featurekit.compiled import CompiledFeature, CompiledView, Slot, SlotFunction
from featurekit.consistency.diagnosis.causes import Cause
from featurekit.consistency.diagnosis.factors import Factor
from featurekit.expr import infer
from featurekit.expr.nodes import Call, Cast, Column, Literal, Node, transform
from featurekit.types import DataType, Float64, is_numeric
from featurekit.windows import Calendar, CalendarUnit, Elapsed, LastRows, Lifetime, Window, show_window

ViewChange = Callable[[CompiledView], CompiledView | None]
SlotChange = Callable[[Slot], Slot]
_LOGARITHMS: Final = frozenset(("ln", "log", "log10", "log2", "log1p"))
_POWERS: Final = frozenset(("exp", "expm1", "sqrt", "cbrt"))
_LIMITS: Final = frozenset(("greatest", "least"))
_ROUNDINGS: Final = frozenset(("round", "bround", "floor", "ceil", "rint", "abs"))
_IN_SQL: Final = 4
"""Bits on top of a fill's cost where it is the definition's own that was another."""
_DAYS: Final = {CalendarUnit.DAY: 1, CalendarUnit.WEEK: 7, CalendarUnit.MONTH: 30}
_LENGTHS: Final = (HOUR, DAY, 7 * DAY, 30 * DAY)
_SPREADS: Final = {
    SlotFunction.VAR_POP: SlotFunction.VAR_SAMP,
    SlotFunction.VAR_SAMP: SlotFunction.VAR_POP,
    SlotFunction.STDDEV_POP: SlotFunction.STDDEV_SAMP,
    SlotFunction.STDDEV_SAMP: SlotFunction.STDDEV_POP,
}
_ROOTS: Final = {
    SlotFunction.VAR_POP: SlotFunction.STDDEV_POP,
    SlotFunction.VAR_SAMP: SlotFunction.STDDEV_SAMP,
    SlotFunction.STDDEV_POP: SlotFunction.VAR_POP,
    SlotFunction.STDDEV_SAMP: SlotFunction.VAR_SAMP,
}
_STATISTICS: Final = (SlotFunction.AVG, SlotFunction.SUM, SlotFunction.MIN, SlotFunction.MAX)


def view_factors(view: CompiledView, previous: Sequence[CompiledView] = ()) -> Iterator[Factor]:
    """Yield the ways in which the definition may have been another; those that don't change the view are left out.

    `previous` are older versions of it that can be computed from the same source rows, the newest first.
    """
    for factor in (
        *_policies(view),
        *_versions(view, previous),
        *_expressions(),
        *_aggregates(view),
        *_windows(view),
    ):
        assert factor.view is not None
        if (changed := factor.view(view)) is not None and changed != view:
            yield factor


def _policies(view: CompiledView) -> Iterator[Factor]:
    told = "Latest values are served however old they are: the ttl is ignored."
    yield Factor(cause=Cause.TTL_IGNORED, told=told, view=_without_ttl)
    told = "The declared default is not there: NULL stays NULL."
    yield Factor(cause=Cause.DEFAULT_LEFT_OUT, told=told, view=_without_default)
    if view.where is not None:
        told = "Rows are counted that the view's `where` leaves out."
        yield Factor(cause=Cause.FILTER_DROPPED, told=told, view=lambda one: replace(one, where=None))
    if view.view.allowed_lateness:
        told = "The refresh did not wait for late rows: what landed after the as-of is missing."
        yield Factor(cause=Cause.LATE_ROWS_LOST, told=told, view=_without_lateness)


def _versions(view: CompiledView, previous: Sequence[CompiledView]) -> Iterator[Factor]:
    for age, other in enumerate(previous):
        if other.fingerprint.data != view.fingerprint.data:
            told = f"The value is by the definition {other.fingerprint.data[:8]}, which was registered before."
            yield Factor(cause=Cause.PREVIOUS_DEFINITION, told=told, view=partial(_instead, other), extra=age)


def expression_changes() -> Iterator[tuple[Cause, str, Callable[[Node], Node]]]:
    """Yield what may have been left out of an expression: the cause, what is told of it, the change to each node."""
    for names, cause, told in (
        (_LOGARITHMS, Cause.LOGARITHM_LEFT_OUT, "The logarithm is not taken."),
        (_POWERS, Cause.EXPRESSION_CHANGED, "The power or root is not taken."),
        (_LIMITS, Cause.EXPRESSION_CHANGED, "The limit by greatest or least is not applied."),
        (_ROUNDINGS, Cause.EXPRESSION_CHANGED, "The rounding, or the absolute value, is not taken."),
        (frozenset(("coalesce",)), Cause.COALESCE_DROPPED, "NULL is not replaced by what coalesce has for it."),
    ):
        yield cause, told, partial(_bare, names)


def _expressions() -> Iterator[Factor]:
    for cause, told, change in expression_changes():
        yield Factor(cause=cause, told=told, view=partial(_rewritten, change))
    told = "Where coalesce has a value for NULL, there is 0."
    zero = partial(_rewritten, _zero_for_null)
    yield Factor(cause=Cause.NULL_FILLED_WITH_ZERO, told=told, view=zero, extra=_IN_SQL, conditional=True)
    for function in ("ln", "log1p"):
        told = f"The aggregate is over {function} of what it takes."
        yield Factor(cause=Cause.LOGARITHM_ADDED, told=told, view=partial(_reslotted, partial(_through, function)))


def _aggregates(view: CompiledView) -> Iterator[Factor]:
    def slots(cause: Cause, told: str, change: SlotChange, extra: int = 0) -> Factor:
        return Factor(cause=cause, told=told, view=partial(_reslotted, change), extra=extra)

    for condition in dict.fromkeys(slot.filter for slot in view.slots if slot.filter is not None):
        told = "Rows are counted that the aggregate's filter leaves out."
        yield slots(Cause.FILTER_DROPPED, told, partial(_unfiltered, condition))
    yield slots(Cause.SPREAD_DIVISOR, "The spread is divided by the other of n and n − 1.", partial(_swapped, _SPREADS))
    yield slots(Cause.COUNTED_NULLS, "Rows are counted whose value is NULL.", _counting_nulls)
    yield slots(Cause.NULLS_IN_AVERAGE, "The average counts rows whose value is NULL as 0.", _averaging_nulls)
    for column in view.columns:
        if column.nullable:
            told = f"Rows are counted only where {column.name} is not NULL."
            yield slots(Cause.COUNTED_NULLS, told, partial(_counting, column), 2)
    told = "Values are counted as often as they are there, not once each."
    repeated = {SlotFunction.COUNT_DISTINCT: SlotFunction.COUNT, SlotFunction.APPROX_COUNT_DISTINCT: SlotFunction.COUNT}
    yield slots(Cause.EXPRESSION_CHANGED, told, partial(_swapped, repeated))
    told = "It is the variance in place of the deviation, or the other way."
    yield slots(Cause.EXPRESSION_CHANGED, told, partial(_swapped, _ROOTS))
    for function in _STATISTICS:
        told = f"It is the {function} in place of another aggregate."
        yield slots(Cause.EXPRESSION_CHANGED, told, partial(_as_statistic, function), 1)


def _windows(view: CompiledView) -> Iterator[Factor]:
    windows = dict.fromkeys(slot.window for slot in view.slots if slot.window is not None)
    for window in windows:
        told = f"A row at the very start of {show_window(window)} is left out."
        if isinstance(window, Elapsed):
            start = partial(_in_window, window, Elapsed(window.length - 1))
            yield Factor(cause=Cause.WINDOW_START_CLOSED, told=told, view=partial(_reslotted, start))
        for extra, other in _other_windows(view, window, [each for each in windows if each != window]):
            told = f"The window is {show_window(other)}, not {show_window(window)}."
            change = partial(_reslotted, partial(_in_window, window, other))
            yield Factor(cause=Cause.WINDOW_LENGTH, told=told, view=change, extra=extra)


def _other_windows(view: CompiledView, window: Window, siblings: Sequence[Window]) -> Iterator[tuple[int, Window]]:
    """Yield what the window may have been, each with how much rarer that is."""
    zones = tuple(dict.fromkeys((view.view.refresh.timezone, view.source.timezone, None)))
    near: list[Window] = []
    far: list[Window] = []
    match window:
        case Elapsed(length):
            steps = (DAY if length % DAY == 0 else HOUR, view.view.refresh.every)
            near += [Elapsed(length + way * step) for step in steps for way in (1, -1) if length + way * step > 0]
            if length % DAY == 0:
                far += [Calendar(length // DAY, CalendarUnit.DAY, zone) for zone in zones]
                far.append(Elapsed(length // DAY * HOUR))
            far += [*map(Elapsed, _LENGTHS), Lifetime()]
        case Calendar(count, unit, _):
            near.append(Elapsed(count * _DAYS[unit] * DAY))
            near += [replace(window, count=each) for each in (count + 1, count - 1) if each]
            far += [replace(window, timezone=zone) for zone in zones]
        case LastRows(rows, _):
            near += [replace(window, rows=each) for each in (rows + 1, rows - 1) if each]
            far += [LastRows(rows), Lifetime()]
        case Lifetime():
            far += map(Elapsed, _LENGTHS)
    extras = dict.fromkeys(far, 1) | dict.fromkeys((*near, *siblings), 0)
    yield from ((extra, other) for other, extra in extras.items() if other != window)


def _without_ttl(view: CompiledView) -> CompiledView:
    return replace(view, features=tuple(replace(feature, ttl=None) for feature in view.features))


def _without_default(view: CompiledView) -> CompiledView:
    return replace(view, features=tuple(replace(feature, default=None) for feature in view.features))


def _without_lateness(view: CompiledView) -> CompiledView:
    return replace(view, view=view.view.model_copy(update={"allowed_lateness": 0}))


def _instead(other: CompiledView, _: CompiledView) -> CompiledView:
    return other


def _reslotted(change: SlotChange, view: CompiledView) -> CompiledView:
    return replace(view, slots=tuple(map(change, view.slots)))


def _rewritten(change: Callable[[Node], Node], view: CompiledView) -> CompiledView:
    """Return the view with a change to every node of its features, inside aggregates and around them."""

    def slot(one: Slot) -> Slot:
        return replace(one, argument=None if one.argument is None else transform(one.argument, change))

    def feature(one: CompiledFeature) -> CompiledFeature:
        return replace(one, expression=transform(one.expression, change))

    return replace(view, slots=tuple(map(slot, view.slots)), features=tuple(map(feature, view.features)))


def _bare(names: frozenset[str], node: Node) -> Node:
    """Return the argument of a function in place of it, in its type; the last one of a logarithm to a base."""
    if not isinstance(node, Call) or node.function not in names or not node.args:
        return node
    return _typed(node.args[-1 if node.function == "log" else 0], node.type)


def _zero_for_null(node: Node) -> Node:
    if not isinstance(node, Call) or node.function != "coalesce" or not is_numeric(node.type):
        return node
    *values, last = node.args
    return node if not isinstance(last, Literal) else replace(node, args=(*values, infer.literal(0, last.type)))


def _typed(node: Node, kind: DataType) -> Node:
    return node if node.type == kind else Cast(value=node, type=kind, nullable=True)


def _through(function: str, slot: Slot) -> Slot:
    numeric = slot.argument is not None and is_numeric(slot.argument.type)
    if not numeric or slot.type != Float64() or slot.function is SlotFunction.LATEST:
        return slot
    assert slot.argument is not None
    return replace(slot, argument=infer.call(function, slot.argument))


def _unfiltered(condition: Node, slot: Slot) -> Slot:
    return replace(slot, filter=None) if slot.filter == condition else slot


def _swapped(functions: dict[SlotFunction, SlotFunction], slot: Slot) -> Slot:
    return replace(slot, function=functions[slot.function], parameter=None) if slot.function in functions else slot


def _counting_nulls(slot: Slot) -> Slot:
    return replace(slot, argument=None) if slot.function is SlotFunction.COUNT else slot


def _counting(column: Column, slot: Slot) -> Slot:
    counts_rows = slot.function is SlotFunction.COUNT and slot.argument is None
    return replace(slot, argument=column) if counts_rows else slot


def _averaging_nulls(slot: Slot) -> Slot:
    if slot.function is not SlotFunction.AVG or slot.argument is None or not slot.argument.nullable:
        return slot
    zero = infer.cast(infer.literal(0), slot.argument.type)
    return replace(slot, argument=infer.call("coalesce", slot.argument, zero))


def _as_statistic(function: SlotFunction, slot: Slot) -> Slot:
    """Return a statistic of doubles as another; of other types a sum is of another type than a maximum."""
    is_double = slot.type == Float64() and slot.argument is not None and slot.argument.type == Float64()
    return replace(slot, function=function) if is_double and slot.function in _STATISTICS else slot


def _in_window(window: Window, other: Window, slot: Slot) -> Slot:
    return replace(slot, window=other) if slot.window == window else slot
