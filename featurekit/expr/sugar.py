"""Syntax that stands for other catalogue rows, expanded the way Spark expands it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from featurekit.expr import infer
from featurekit.expr.nodes import Case, Node


def between(value: Node, low: Node, high: Node) -> Node:
    """`value BETWEEN low AND high`: each bound is compared in its own common type."""
    return infer.call("and", infer.call("ge", value, low), infer.call("le", value, high))


def if_(condition: Node, then: Node, otherwise: Node) -> Node:
    return infer.case([(condition, then)], otherwise)


def nullif(value: Node, other: Node) -> Node:
    """NULL when both are equal, else the first, in the first one's type."""
    nothing = infer.literal(None, value.type)
    return infer.case([(infer.call("eq", value, other), nothing)], value)


def case_of(value: Node, branches: Sequence[tuple[Node, Node]], otherwise: Node | None) -> Case:
    """`CASE value WHEN … THEN …`: the first branch whose key equals the value."""
    return infer.case([(infer.call("eq", value, key), then) for key, then in branches], otherwise)


# Those that are called like functions; the parser builds the others from their own syntax.
CALLED: Final[dict[str, Callable[..., Node]]] = {"if": if_, "nullif": nullif}
