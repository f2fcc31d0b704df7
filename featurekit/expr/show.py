"""The IR as text for people: typed, in one line or indented."""

from __future__ import annotations

from decimal import Decimal as PyDecimal
from typing import Any, assert_never

from featurekit.clock import to_date, to_datetime
from featurekit.expr.nodes import Aggregate, Call, Case, Cast, Column, Lambda, Literal, Node, Variable, children
from featurekit.types import Array, DataType, Date, Map, Null, Struct, Timestamp, TimestampNtz


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
    """Return a literal's value as people read it: NULL, true, 'text', 2013-11-15, 1.50, [1, 2], {'a': 1}."""
    return _shown(node.value, node.type)


def _shown(value: Any, kind: DataType) -> str:
    match value:
        case None:
            return "NULL"
        case tuple():
            return _shown_parts(value, kind)
        case bool():
            return str(value).lower()
        case str():
            return "'" + value.replace("'", "''") + "'"
        case PyDecimal():
            return f"{value:f}"
        case int() if isinstance(kind, Date):
            return _date(value)
        case int() if isinstance(kind, Timestamp | TimestampNtz):
            return _instant(value)
        case _:
            return repr(value)


def _shown_parts(value: tuple[Any, ...], kind: DataType) -> str:
    match kind:
        case Array():
            return f"[{', '.join(_shown(part, kind.element) for part in value)}]"
        case Map():
            pairs = (f"{_shown(key, kind.key)}: {_shown(part, kind.value)}" for key, part in value)
            return "{" + ", ".join(pairs) + "}"
        case Struct():
            fields = zip(kind.fields, value, strict=True)
            return f"({', '.join(f'{name}: {_shown(part, inner)}' for (name, inner), part in fields)})"
        case _:
            raise AssertionError(f"a {kind} is not held as a tuple")


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
