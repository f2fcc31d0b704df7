"""Which subtrees are one: numbers for nodes, equal where nodes mean the same; and constant subtrees, folded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from featurekit.expr.catalogue.row import Kind, Nulls
from featurekit.expr.functions import FUNCTIONS
from featurekit.expr.nodes import Call, Case, Cast, Column, Lambda, Literal, Node, Variable, children
from featurekit.types import Boolean


class Numbering:
    """Gives each node a number, the same one to nodes of one meaning.

    Bottom up, so that a node's key is as short as its list of children; comparing whole trees at each level would take
    the square of their size.
    """

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}
        self._seen: dict[int, tuple[Node, int]] = {}  # by identity; holds the nodes, so that no identity is reused

    def __call__(self, node: Node) -> int:
        found = self._seen.get(id(node))
        if found is None:
            key = (type(node), _own(node), node.type, node.nullable, *map(self, children(node)))
            found = self._seen[id(node)] = (node, self._numbers.setdefault(key, len(self._numbers)))
        return found[1]


def _own(node: Node) -> Any:
    """Return what tells a node from others with the same children."""
    match node:
        case Literal():
            return repr(node.value)  # for Python 0.0 == -0.0, and the two must not share a constant
        case Column(name=name, qualifier=qualifier):
            return qualifier, name
        case Call(function=function):
            return function
        case Variable(level=level):
            return level
        case Lambda(variables=variables):
            return tuple(variable.level for variable in variables)
        case _:
            return None


def fold(node: Node, evaluate: Callable[[Node], Any]) -> Node:
    """Return the tree with subtrees of constants computed by `evaluate`, and branches never taken left away."""
    match node:
        case Call(args=args):
            # What has to be a literal stays the one it is.
            folded = tuple(fold(arg, evaluate) for arg in args)
            if any(new is not old for new, old in zip(folded, args, strict=True)):
                node = replace(node, args=folded)
            return _fold_call(node, folded, evaluate)
        case Cast(value=value):
            inner = fold(value, evaluate)
            node = node if inner is value else replace(node, value=inner)
            return _literal(node, evaluate) if isinstance(inner, Literal) else node
        case Case():
            return _fold_case(node, evaluate)
        case Lambda(body=body):
            inner = fold(body, evaluate)
            return node if inner is body else replace(node, body=inner)
        case _:
            return node


def _fold_call(node: Call, args: tuple[Node, ...], evaluate: Callable[[Node], Any]) -> Node:
    row = FUNCTIONS[node.function]
    if row.kind is Kind.AGGREGATE:
        return node
    if row.nulls is Nulls.PROPAGATE and any(isinstance(arg, Literal) and arg.value is None for arg in args):
        return Literal(value=None, type=node.type, nullable=True)
    return _literal(node, evaluate) if all(isinstance(arg, Literal) for arg in args) else node


def _fold_case(node: Case, evaluate: Callable[[Node], Any]) -> Node:
    branches: list[tuple[Node, Node]] = []
    otherwise = fold(node.otherwise, evaluate)
    for when, then in node.branches:
        condition = fold(when, evaluate)
        if isinstance(condition, Literal) and isinstance(condition.type, Boolean):
            if condition.value is True:
                otherwise = fold(then, evaluate)
                break
            continue
        branches.append((condition, fold(then, evaluate)))
    return replace(node, branches=tuple(branches), otherwise=otherwise) if branches else otherwise


def _literal(node: Node, evaluate: Callable[[Node], Any]) -> Literal:
    value = evaluate(node)
    return Literal(value=value, type=node.type, nullable=value is None)
