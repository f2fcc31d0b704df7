"""IR back to the text people write, so that what fuzzing finds can become a line of a fixture file."""

from __future__ import annotations

from decimal import Decimal as PyDecimal
from typing import Final

from featurekit.expr.functions import FUNCTIONS
from featurekit.expr.nodes import Call, Case, Cast, Column, Lambda, Literal, Node, Variable
from featurekit.targets.spark import render_literal

_BY_UNIT: Final = ("timestampadd", "timestampdiff")


def unparse(node: Node) -> str:
    """Return SQL text that parses to a tree of the node's meaning; implicit casts come out as written ones."""
    match node:
        case Literal(value=str()):
            return _quoted(node.value)
        case Literal():
            return render_literal(node)
        case Column():
            return node.path
        case Variable():
            return _variable(node)
        case Lambda():
            listed = ", ".join(map(_variable, node.variables))
            # In parentheses Spark takes two variables or more.
            return f"{listed if len(node.variables) == 1 else f'({listed})'} -> {unparse(node.body)}"
        case Cast():
            return f"CAST({unparse(node.value)} AS {node.type.name})"
        case Case():
            branches = " ".join(f"WHEN {unparse(when)} THEN {unparse(then)}" for when, then in node.branches)
            return f"(CASE {branches} ELSE {unparse(node.otherwise)} END)"
        case Call():
            return _call(node)
        case _:
            raise AssertionError(f"{type(node).__name__} has no text")


_WRITTEN: Final = {
    "trim_leading": "TRIM(LEADING {1} FROM {0})",
    "trim_trailing": "TRIM(TRAILING {1} FROM {0})",
    "decode_bytes": "decode({0}, {1})",
    "get_field": "{0}.{1}",
    "get_item": "{0}[{1}]",
}


def _quoted(text: str) -> str:
    """Return a string literal: functions that are compiled by a literal take no CAST of bytes."""
    return "'" + "".join(_ESCAPES.get(letter, letter) for letter in text) + "'"


_ESCAPES: Final = {"\\": "\\\\", "'": "\\'", "\x00": "\\0", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\x1a": "\\Z"}


def _variable(node: Variable) -> str:
    return f"x{node.level}"  # no edge column is called like this


def _call(node: Call) -> str:
    row = FUNCTIONS[node.function]
    args = [unparse(arg) for arg in node.args]
    for place, part in enumerate(node.args):
        if row.param(place).literal and isinstance(part, Literal) and isinstance(part.value, PyDecimal):
            args[place] = f"{part.value:f}BD"  # not a CAST of it
    if node.function == "get_field":
        field = node.args[1]
        assert isinstance(field, Literal)
        args[1] = f"`{field.value}`"
    if node.function in _WRITTEN:
        return _WRITTEN[node.function].format(*args)
    if node.function == "in":
        return f"({args[0]} IN ({', '.join(args[1:])}))"
    if node.function in _BY_UNIT:
        args[0] = args[0].strip("'")  # Spark takes the unit as a word
    if row.spellings:
        return f"{row.spellings[0]}({', '.join(args)})"
    symbol = (row.operator or "").upper()
    return f"({symbol} {args[0]})" if len(args) == 1 else f"({f' {symbol} '.join(args)})"
