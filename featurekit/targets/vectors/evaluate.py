"""IR to a function over columns: NumPy where there is a vector kernel, generated loops where there is none.

Nodes are computed in stages, those of vector kernels and those of loops in turn. All that a stage loops over is one
generated function (`targets.python`), so what has no vector kernel has the row evaluator's bits by construction; a
CASE with such a branch is part of the loop, and as lazy as it is there. Shared subtrees are computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from featurekit.expr.functions import FUNCTIONS
from featurekit.expr.nodes import Call, Case, Cast, Column, Lambda, Literal, Node, children, columns
from featurekit.targets.python import compile_loop, constant
from featurekit.targets.subtrees import Numbering, fold
from featurekit.targets.vectors.families import is_heavy, vector_kernel
from featurekit.targets.vectors.kernel import VectorKernel
from featurekit.targets.vectors.vector import Vector

ColumnsEvaluator = Callable[[Sequence[Vector], int], list[Vector]]
_Values = dict[int, Vector]
_Step = Callable[[_Values, int], None]
_OURS: Final = "\0"  # the qualifier of what an earlier stage computed; no name holds a NUL


def compile_columns(nodes: Sequence[Node], inputs: Sequence[Column]) -> ColumnsEvaluator:
    """Return the function from columns (one for each of `inputs`) and the number of rows to one for each of `nodes`.

    >>> from featurekit.expr.infer import call, literal
    >>> from featurekit.types import Int32
    >>> x = Column(name="x", type=Int32(), nullable=True)
    >>> (result,) = compile_columns([call("add", x, literal(1))], [x])([Vector.of_held([41, None], Int32())], 2)
    >>> result.held(2)
    [42, None]
    """
    plan = _Plan([fold(node, constant) for node in nodes])
    steps = [*plan.steps()]
    results = [plan.number(root) for root in plan.roots]
    literals = {plan.number(node): _constant(node) for node in plan.nodes.values() if isinstance(node, Literal)}
    places = {(column.qualifier, column.name): place for place, column in enumerate(inputs)}
    used = [(n, places[node.qualifier, node.name]) for n, node in plan.nodes.items() if isinstance(node, Column)]

    def evaluate(given: Sequence[Vector], count: int) -> list[Vector]:
        values = literals | {number: given[place] for number, place in used}
        with np.errstate(all="ignore"):
            for step in steps:
                step(values, count)
        return [values[number].over(count) for number in results]

    return evaluate


def is_vectorised(node: Node) -> bool:
    """Return whether no part of an expression is looped over row by row."""
    plan = _Plan([fold(node, constant)])
    return all(plan.place_of(part).stage % 2 == 0 for part in plan.nodes.values())


def _constant(node: Literal) -> Vector:
    return Vector.of_held([node.value], node.type)


@dataclass(frozen=True, slots=True)
class _Place:
    """When a node is computed: `stage` 0 is given, even ones are vector kernels, odd ones loops."""

    stage: int
    kernel: VectorKernel | None


class _Plan:
    """Which nodes there are, and the stage of each."""

    def __init__(self, roots: Sequence[Node]) -> None:
        self.roots = roots
        self.number = Numbering()
        self.nodes: dict[int, Node] = {}  # children before parents
        self._places: dict[int, _Place] = {}
        for root in roots:
            self._add(root)

    def _add(self, node: Node) -> _Place:
        number = self.number(node)
        if number not in self._places:
            below = [self._add(child) for child in _inputs_of(node)]
            self._places[number] = _place(node, below)
            self.nodes[number] = node
        return self._places[number]

    def place_of(self, node: Node) -> _Place:
        return self._places[self.number(node)]

    def _stage(self, node: Node) -> int:
        return self.place_of(node).stage

    def steps(self) -> Iterator[_Step]:
        """Yield what to do, in order."""
        for stage in range(1, max((place.stage for place in self._places.values()), default=0) + 1):
            numbers = [number for number in self.nodes if self._places[number].stage == stage]
            if stage % 2:
                if numbers:
                    yield self._loop(numbers, stage)
                continue
            for number in numbers:
                kernel = self._places[number].kernel
                assert kernel is not None
                args = [self.number(arg) for arg in _dynamic(self.nodes[number])]
                yield _vector_step(number, kernel, args)

    def _loop(self, numbers: Sequence[int], stage: int) -> _Step:
        """Return the step that computes a stage's nodes row by row; it keeps those that something else asks for."""
        asked_for = self._asked_for(stage)
        wanted = [number for number in numbers if number in asked_for]
        bodies = [self._cut(self.nodes[number], stage) for number in wanted]
        inputs = list(dict.fromkeys(column for body in bodies for column in columns(body)))
        evaluate = compile_loop(bodies, inputs)
        sources = [self._source(column) for column in inputs]
        kinds = [body.type for body in bodies]

        def step(values: _Values, count: int) -> None:
            results = evaluate([values[source].held(count) for source in sources], count)
            for number, held, kind in zip(wanted, results, kinds, strict=True):
                values[number] = Vector.of_held(held, kind)

        return step

    def _asked_for(self, stage: int) -> set[int]:
        roots = {self.number(root) for root in self.roots}
        return roots | {
            self.number(child)
            for node in self.nodes.values()
            if self._stage(node) != stage
            for child in _inputs_of(node)
        }

    def _cut(self, node: Node, stage: int) -> Node:
        """Return a loop's node with what earlier stages computed as columns of ours."""
        if isinstance(node, Literal | Column | Lambda):
            return node
        if self._stage(node) != stage:
            return Column(qualifier=_OURS, name=str(self.number(node)), type=node.type, nullable=node.nullable)
        return _with_children(node, [self._cut(child, stage) for child in children(node)])

    def _source(self, column: Column) -> int:
        if column.qualifier == _OURS:
            return int(column.name)
        return self.number(column)


def _place(node: Node, below: Sequence[_Place]) -> _Place:
    if isinstance(node, Literal | Column):
        return _Place(0, None)
    last = max((place.stage for place in below), default=0)
    kernel = None
    if not any(place.stage % 2 for place in below) or is_heavy(node):
        kernel = vector_kernel(node)
    if kernel is None:
        return _Place(last if last % 2 else last + 1, None)
    return _Place(last + 1 if last % 2 else max(last, 2), kernel)


def _inputs_of(node: Node) -> tuple[Node, ...]:
    """Return what has to be there before a node is computed: its arguments, and the columns in its lambdas."""
    found: list[Node] = []
    for child in _dynamic(node):
        found += columns(child) if isinstance(child, Lambda) else [child]
    return tuple(found)


def _dynamic(node: Node) -> Sequence[Node]:
    if not isinstance(node, Call):
        return children(node)
    literals = FUNCTIONS[node.function].literals
    return [arg for index, arg in enumerate(node.args) if index not in literals]


def _with_children(node: Node, parts: Sequence[Any]) -> Node:
    match node:
        case Call():
            return replace(node, args=tuple(parts))
        case Cast():
            return replace(node, value=parts[0])
        case Case():
            branches = tuple(zip(parts[:-1:2], parts[1:-1:2], strict=True))
            return replace(node, branches=branches, otherwise=parts[-1])
        case _:
            raise AssertionError(f"{type(node).__name__} has no children to replace")


def _vector_step(number: int, kernel: VectorKernel, args: Sequence[int]) -> _Step:
    def step(values: _Values, count: int) -> None:  # noqa: ARG001 - loops need it
        values[number] = kernel([values[arg] for arg in args])

    return step
