"""The typed IR: what an expression means, apart from any SQL text or target.

Nodes are immutable and compare by value. Every node knows its type and whether it can be NULL; both are inferred when
the node is built (`expr.infer`), never guessed later. No node can raise: by DESIGN V2 the innermost operator that would
raise in Spark yields NULL instead, on every target.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from featurekit.types import DataType


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    type: DataType
    nullable: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Literal(Node):
    """A constant; `value` is held as `types` says, None for NULL.

    Equal literals have equal bits: 0.0 is not -0.0 here, and NaN is NaN, so that trees which mean different things
    never share a slot or a column.
    """

    value: Any

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Literal):
            return NotImplemented
        return (self.type, self.nullable, repr(self.value)) == (other.type, other.nullable, repr(other.value))

    def __hash__(self) -> int:
        return hash((self.type, self.nullable, repr(self.value)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Column(Node):
    """A value that comes from outside: a source column, a feature, a request value, an aggregate's result.

    `qualifier` is the view's name or alias in `route_load.mean_delay_1d`, None for a bare name.
    """

    name: str
    qualifier: str | None = None

    @property
    def path(self) -> str:
        return f"{self.qualifier}.{self.name}" if self.qualifier else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Node):
    """A catalogue function or operator on its arguments; `function` is its catalogue name."""

    function: str
    args: tuple[Node, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast(Node):
    """`value` in another type; NULL where the value has no form in it."""

    value: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Case(Node):
    """The value of the first branch whose condition is true; branches that are not taken are not evaluated."""

    branches: tuple[tuple[Node, Node], ...]
    otherwise: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable(Node):
    """A variable of a lambda around it; `level` counts the variables bound outside of it, so names never clash."""

    name: str
    level: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lambda(Node):
    """`(x, y) -> body`: an argument that the function evaluates for each element; type and nullability are the body's.

    Lambdas with one meaning are equal: variables are told apart by level, not by what they are called.
    """

    variables: tuple[Variable, ...]
    body: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate(Node):
    """A catalogue aggregate over the rows of one entity; `filter` keeps the rows where it is true."""

    function: str
    args: tuple[Node, ...]
    filter: Node | None = None


def children(node: Node) -> tuple[Node, ...]:
    """Return the direct subtrees of a node, in reading order."""
    match node:
        case Call(args=args):
            return args
        case Cast(value=value):
            return (value,)
        case Lambda(body=body):
            return (body,)
        case Case(branches=branches, otherwise=otherwise):
            return (*(part for branch in branches for part in branch), otherwise)
        case Aggregate(args=args, filter=condition):
            return args if condition is None else (*args, condition)
        case _:
            return ()


def walk(node: Node) -> Iterator[Node]:
    """Yield the node and everything under it, parents first."""
    yield node
    for child in children(node):
        yield from walk(child)


def transform(node: Node, change: Callable[[Node], Node]) -> Node:
    """Return the tree with `change` applied to every node, children first; types are kept as they are."""
    match node:
        case Call():
            node = replace(node, args=tuple(transform(arg, change) for arg in node.args))
        case Cast():
            node = replace(node, value=transform(node.value, change))
        case Lambda():
            node = replace(node, body=transform(node.body, change))
        case Case():
            branches = tuple((transform(when, change), transform(then, change)) for when, then in node.branches)
            node = replace(node, branches=branches, otherwise=transform(node.otherwise, change))
        case Aggregate():
            condition = None if node.filter is None else transform(node.filter, change)
            node = replace(node, args=tuple(transform(arg, change) for arg in node.args), filter=condition)
        case _:
            pass
    return change(node)


def columns(node: Node) -> tuple[Column, ...]:
    """Return the distinct columns under a node, in the order of their first use."""
    return tuple(dict.fromkeys(part for part in walk(node) if isinstance(part, Column)))


def aggregates(node: Node) -> tuple[Aggregate, ...]:
    """Return the distinct aggregates under a node, in the order of their first use."""
    return tuple(dict.fromkeys(part for part in walk(node) if isinstance(part, Aggregate)))


def is_larger(node: Node, limit: int) -> bool:
    """Return whether there are more than `limit` nodes, a shared one counted wherever it stands; without recursion."""
    waiting = [node]
    for _ in range(limit):
        if not waiting:
            return False
        waiting += children(waiting.pop())
    return bool(waiting)


def is_deeper(node: Node, limit: int) -> bool:
    """Return whether a path from the root has more than `limit` nodes.

    Level by level and not by recursion, because a deep tree is what it must survive.
    """
    level: list[Node] = [node]
    depth = 0
    while level:
        depth += 1
        if depth > limit:
            return True
        level = [child for part in level for child in children(part)]
    return False
