"""The IR as text for people: typed, in one line or indented."""

from __future__ import annotations

from decimal import Decimal as PyDecimal
from typing import assert_never

from featurekit.clock import to_date, to_datetime
from featurekit.expr.nodes import Aggregate, Call, Case, Cast, Column, Lambda, Literal, Node, Variable, children
from featurekit.types import Date, Null, Timestamp, TimestampNtz


def show(node: Node) -> str:
    """Return the node in one line, every part with its type; `?` marks what can be NULL.

    >>> from featurekit.expr.infer import call, literal
    >>> show(call("divide", literal(1), literal(4.0)))
    'divide(1.0:double, 4.0:double):double?'
    """
    return f"{_head(node)}{_arguments(node)}{_type(node)}"


def show_tree(node: Node, indent: int = 0) -> str:
    """Return the node as an indented tree, one node a line."""
    parts = children(node)
    line = f"{'  ' * indent}{_head(node)}{_type(node)}"
    if isinstance(node, Aggregate) and node.filter is not None:
        line += "  (last: FILTER)"
    return "\n".join([line, *(show_tree(part, indent + 1) for part in parts)])


def _type(node: Node) -> str:
    if isinstance(node, Lambda):
        return ""
    if isinstance(node, Literal):
        return "" if isinstance(node.type, Null) else f":{node.type.name}"
    return f":{node.type.name}{'?' if node.nullable else ''}"


def _head(node: Node) -> str:
    match node:
        case Literal():
            return show_value(node)
        case Column():
            return node.path
        case Call() | Aggregate():
            return node.function
        case Cast():
            return "cast"
        case Variable():
            return node.name
        case Lambda(variables=variables):
            return f"({', '.join(variable.name for variable in variables)}) ->"
        case Case():
            return "case"
        case _:
            assert_never(node)  # type: ignore[arg-type]


def _arguments(node: Node) -> str:
    match node:
        case Literal() | Column() | Variable():
            return ""
        case Lambda():
            return f" {show(node.body)}"
        case Case():
            branches = "; ".join(f"when {show(when)} then {show(then)}" for when, then in node.branches)
            return f"({branches}; else {show(node.otherwise)})"
        case Aggregate():
            inside = ", ".join(show(arg) for arg in node.args) or "*"
            return f"({inside})" if node.filter is None else f"({inside}; where {show(node.filter)})"
        case _:
            return f"({', '.join(show(part) for part in children(node))})"


def show_value(node: Literal) -> str:
    """Return a literal's value as people read it: NULL, true, 'text', 2013-11-15, 1.50."""
    match node.value:
        case None:
            return "NULL"
        case bool():
            return str(node.value).lower()
        case str():
            return "'" + node.value.replace("'", "''") + "'"
        case PyDecimal():
            return f"{node.value:f}"
        case int() if isinstance(node.type, Date):
            return _date(node.value)
        case int() if isinstance(node.type, Timestamp | TimestampNtz):
            return _instant(node.value)
        case _:
            return repr(node.value)


def _date(days: int) -> str:
    try:
        return to_date(days).isoformat()
    except OverflowError:
        return f"day {days}"


def _instant(micros: int) -> str:
    try:
        return to_datetime(micros).isoformat()
    except OverflowError:
        return f"{micros} µs"
