"""Syntax that stands for other catalogue rows, expanded the way Spark expands it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from featurekit.errors import TypeMismatchError
from featurekit.expr import infer, nested_rules
from featurekit.expr.nodes import Case, Node
from featurekit.types import Binary, Int8, Int16, Int32, Null, String


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


def nvl2(value: Node, known: Node, unknown: Node) -> Node:
    return infer.case([(infer.call("is_not_null", value), known)], unknown)


def zeroifnull(value: Node) -> Node:
    return infer.call("coalesce", value, infer.literal(0))


def nullifzero(value: Node) -> Node:
    return nullif(value, infer.literal(0))


def decode(value: Node, *args: Node) -> Node:
    """The text of bytes in a charset; or the result beside the first key that equals the value or is NULL with it."""
    if len(args) == 1:
        return infer.call("decode_bytes", value, args[0])
    results = args[1::2]
    if len(args) % 2 == 0 and not all(isinstance(result.type, String) for result in results):
        raise TypeMismatchError(
            f"decode can't take ({', '.join(node.type.name for node in (value, *args))})",
            why="without a last argument Spark takes a text that is NULL, and so another type than that of the results",
            try_="NULL as the last argument, or CASE … WHEN … THEN … END",
        )
    keys = (infer.call("eq_null_safe", value, key) for key in args[: len(args) // 2 * 2 : 2])
    return infer.case(list(zip(keys, results, strict=False)), args[-1] if len(args) % 2 else None)


def elt(place: Node, *values: Node) -> Node:
    """The value at that place, NULL where there is none."""
    kinds = {type(value.type) for value in values} - {Null}
    if not isinstance(place.type, Int8 | Int16 | Int32 | Null) or kinds not in (set(), {String}, {Binary}):
        raise TypeMismatchError(
            f"elt can't take ({', '.join(node.type.name for node in (place, *values))})",
            why="it takes an int and texts, or an int and bytes",
            try_="CASE place WHEN 1 THEN … WHEN 2 THEN … END",
        )
    return case_of(place, [(infer.literal(at), value) for at, value in enumerate(values, start=1)], None)


def struct(*values: Node) -> Node:
    """A struct whose fields are named as Spark names them."""
    named = ((infer.literal(nested_rules.field_name(value, place)), value) for place, value in enumerate(values, 1))
    return infer.call("named_struct", *(part for pair in named for part in pair))


# Those that are called like functions; the parser builds the others from their own syntax.
CALLED: Final[dict[str, Callable[..., Node]]] = {
    "if": if_,
    "nullif": nullif,
    "struct": struct,
    "nvl2": nvl2,
    "zeroifnull": zeroifnull,
    "nullifzero": nullifzero,
    "decode": decode,
    "elt": elt,
}
