"""Aggregates of the language -> the few functions that slots have (see `compiled`)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from featurekit.aggregates.hyperloglog import precision_of
from featurekit.compiled import SlotFunction
from featurekit.expr import infer
from featurekit.expr.nodes import Aggregate, Literal, Node

_DEVIATION: Final = Fraction(5, 100)
_SAME: Final[dict[str, SlotFunction]] = {
    "bool_and": SlotFunction.MIN,  # false is smaller than true
    "bool_or": SlotFunction.MAX,
    "first": SlotFunction.MIN_BY,
    "last": SlotFunction.MAX_BY,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Lowered:
    """What a slot computes, apart from its window."""

    function: SlotFunction
    argument: Node | None = None
    by: Node | None = None
    filter: Node | None = None
    parameter: int | None = None


def lower_aggregate(node: Aggregate) -> Lowered:
    """Return an aggregate as a slot's function: what counts a condition counts the rows that pass it, and so on."""
    argument = node.args[0] if node.args else None
    function = _SAME.get(node.function) or SlotFunction.COUNT
    match node.function:
        case "count_if":
            return Lowered(function=function, filter=_also(node.filter, argument))
        case "first" | "last":
            skips = len(node.args) == 2 and _constant(node.args[1]) is True
            return Lowered(
                function=function, argument=argument, filter=_also(node.filter, _not_null(argument) if skips else None)
            )
        case "min_by" | "max_by":
            by = node.args[1]
            kept = _also(node.filter, _not_null(by))
            return Lowered(function=SlotFunction(node.function), argument=argument, by=by, filter=kept)
        case "top_k" | "collect_last":
            limit = _constant(node.args[1])
            assert isinstance(limit, int)
            function = SlotFunction(node.function)
            return Lowered(function=function, argument=argument, filter=node.filter, parameter=limit)
        case "approx_count_distinct":
            asked = Fraction(_constant(node.args[1])) if len(node.args) == 2 else _DEVIATION
            function = SlotFunction.APPROX_COUNT_DISTINCT
            return Lowered(function=function, argument=argument, filter=node.filter, parameter=precision_of(asked))
        case "bool_and" | "bool_or":
            return Lowered(function=function, argument=argument, filter=node.filter)
        case _:
            return Lowered(function=SlotFunction(node.function), argument=argument, filter=node.filter)


def _constant(node: Node) -> Any:
    assert isinstance(node, Literal)
    return node.value


def _not_null(node: Node | None) -> Node | None:
    return infer.call("is_not_null", node) if node is not None and node.nullable else None


def _also(first: Node | None, second: Node | None) -> Node | None:
    """Return the condition that both are true; None where there is none."""
    if first is None or second is None:
        return first or second
    return infer.call("and", first, second)
