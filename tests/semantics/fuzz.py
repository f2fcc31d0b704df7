"""Random expressions over random rows: Spark's answer to our SQL beside that of each of our evaluators, bit by bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

import pyarrow as pa

from featurekit.arrow_types import from_arrow
from featurekit.expr import infer
from featurekit.expr.nodes import Aggregate, Call, Column, Lambda, Node, Variable, children, transform, walk
from featurekit.expr.show import show
from featurekit.targets.python import compile_row
from featurekit.targets.spark import render
from featurekit.targets.vectors.evaluate import compile_columns
from featurekit.targets.vectors.vector import Vector
from tests.semantics import draws, edges, values
from tests.semantics.draws import ROWS, Draws
from tests.semantics.session import frame
from tests.semantics.unparse import unparse

BATCH: Final = 40  # expressions in one Spark job; more of them make Java methods too large to be compiled
_VIEW: Final = "fuzzed"
DEPTHS: Final = (1, 2, 3, 4)


@dataclass(frozen=True, slots=True)
class Difference:
    """An expression on which the two don't agree, the row, and a line for the fixtures that shows it alone."""

    expression: str
    row: int
    target: str
    ours: str
    spark: str
    line: str

    def __str__(self) -> str:
        return (
            f"{self.line}\n    {self.target}: {self.ours}, Spark: {self.spark}   in {self.expression}, row {self.row}"
        )


@dataclass(slots=True)
class Tally:
    """What was compared so far."""

    cells: int = 0
    nulls: int = 0
    expressions: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)
    depths: list[int] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)


def _row_by_row(node: Node, data: dict[str, list[Any]]) -> list[Any]:
    evaluate = compile_row([node], edges.COLUMNS)
    return [evaluate(row)[0] for row in zip(*data.values(), strict=True)]


def _by_columns(node: Node, data: dict[str, list[Any]]) -> list[Any]:
    vectors = [Vector.of_held(data[column.name], column.type) for column in edges.COLUMNS]
    count = len(vectors[0].values)
    return compile_columns([node], edges.COLUMNS)(vectors, count)[0].held(count)


TARGETS: Final[dict[str, Callable[[Node, dict[str, list[Any]]], list[Any]]]] = {
    "python": _row_by_row,
    "vectors": _by_columns,
}


class Fuzz:
    """One table of random rows in a Spark session, and the same rows for our evaluators."""

    def __init__(self, spark: Any, seed: int, rows: int, *, only: Sequence[str] | None = None) -> None:
        self.spark = spark
        self.seed = seed
        self._only = only
        self.count = rows
        self._data = draws.rows(seed, rows)
        table = pa.table({name: values.arrow_column(self._data[name], kind) for name, kind in edges.TYPES.items()})
        table = table.append_column("row_number", pa.array(range(rows), pa.int32()))
        spark.catalog.dropTempView(_VIEW)
        frame(spark, table).coalesce(1).createOrReplaceTempView(_VIEW)
        spark.catalog.cacheTable(_VIEW)

    def expressions(self, count: int) -> Iterator[Node]:
        """Yield so many expressions: half of them with each function in turn as the root, the others of any kind."""
        source = Draws(self.seed)
        roots = [row for row in ROWS if self._only is None or row.name in self._only]
        found = turn = 0
        while found < count:
            turn += 1
            for number, row in enumerate(roots):
                depth = DEPTHS[(turn + number) % len(DEPTHS)]
                drawn = [source.of(row, depth - 1), *([source.any(depth)] if self._only is None else [])]
                for node in drawn:
                    if node is not None and found < count:
                        found += 1
                        yield node

    def run(self, cells: int, progress: Callable[[Tally], None] = lambda _: None) -> Tally:
        """Compare at least so many cells, a cell being one expression on one row."""
        tally = Tally()
        drawn = self.expressions(-(-cells // self.count))
        while nodes := list(islice(drawn, BATCH)):
            self.compare(nodes, tally)
            progress(tally)
        return tally

    def compare(self, nodes: Sequence[Node], tally: Tally) -> None:
        for node, theirs in zip(nodes, self._spark(nodes, tally), strict=True):
            if theirs is None:
                continue
            tally.cells += len(theirs)
            tally.nulls += sum(value is None for value in theirs)
            tally.expressions.add(repr(node))
            tally.functions |= {part.function for part in walk(node) if isinstance(part, Call | Aggregate)}
            tally.depths.append(_depth(node))
            for target in TARGETS:
                ours = self._ours(node, target)
                row = next(
                    (at for at, pair in enumerate(zip(ours, theirs, strict=True))
                     if not values.same_bits(*pair, node.type)), None)  # fmt: skip
                if row is None and not node.nullable and None in ours:
                    row = ours.index(None)
                if row is not None:
                    tally.differences.append(self._difference(node, row, target, ours[row], theirs[row]))

    def _ours(self, node: Node, target: str) -> list[Any]:
        return TARGETS[target](node, self._data)

    def _spark(self, nodes: Sequence[Node], tally: Tally) -> list[list[Any] | None]:
        """Return Spark's values for each node; None for one that Spark does not answer, which is a difference."""
        try:
            answer = self._ask(nodes)
        except _spark_errors() as error:
            if len(nodes) == 1:
                what = str(error).splitlines()[0][:300]
                line = unparse(nodes[0])
                tally.differences.append(Difference(show(nodes[0]), -1, "spark", "an answer", what, line))
                return [None]
            middle = len(nodes) // 2
            return self._spark(nodes[:middle], tally) + self._spark(nodes[middle:], tally)
        found: list[list[Any] | None] = []
        for place, node in enumerate(nodes):
            if (kind := from_arrow(answer.schema.field(f"v{place}").type)) != node.type:
                what = kind.name
                tally.differences.append(Difference(show(node), -1, "type", node.type.name, what, unparse(node)))
                found.append(None)
            else:
                found.append(values.held_values(answer[f"v{place}"]))
        return found

    def _ask(self, nodes: Sequence[Node], where: str = "") -> pa.Table:
        selected = ", ".join(f"{render(node, lambda column: column.name)} AS v{at}" for at, node in enumerate(nodes))
        frame = self.spark.sql(f"SELECT {selected} FROM {_VIEW} {where} ORDER BY row_number")
        # Not toArrow: it casts to a schema that calls the fields of a NULL struct not null, and fails.
        return pa.Table.from_batches(frame._collect_as_arrow())

    def _difference(self, node: Node, row: int, target: str, ours: Any, theirs: Any) -> Difference:
        part, left, right = self._smallest(node, row, target) or (node, ours, theirs)
        constant = transform(part, lambda each: self._constant(each, row))
        return Difference(
            expression=show(node)[:400],
            row=row,
            target=target,
            ours=values.write(left, part.type),
            spark=values.write(right, part.type),
            line=unparse(constant),
        )

    def _smallest(self, node: Node, row: int, target: str) -> tuple[Node, Any, Any] | None:
        """Return the smallest part that differs on the row, and what both say; parts of lambdas don't stand alone."""
        parts = [part for part in walk(node) if not isinstance(part, Lambda) and _is_closed(part)]
        for part in sorted(parts, key=lambda part: sum(1 for _ in walk(part))):
            try:
                theirs = values.held_values(self._ask([part], f"WHERE row_number = {row}")["v0"])[0]
            except _spark_errors():  # an answer on all rows, and none on one: then the whole expression has to do
                return None
            ours = self._ours(part, target)[row]
            if not values.same_bits(ours, theirs, part.type):
                return part, ours, theirs
        return None

    def _constant(self, node: Node, row: int) -> Node:
        return infer.literal(self._data[node.name][row], node.type) if isinstance(node, Column) else node


def _is_closed(node: Node) -> bool:
    """Return whether every variable is bound by a lambda inside."""
    bound = {variable for part in walk(node) if isinstance(part, Lambda) for variable in part.variables}
    return all(part in bound for part in walk(node) if isinstance(part, Variable))


def _spark_errors() -> type[Exception]:
    from pyspark.errors import PySparkException  # not at the top: tests without Java read this module's neighbours

    return PySparkException


def _depth(node: Node) -> int:
    return 1 + max((_depth(child) for child in children(node)), default=0)
