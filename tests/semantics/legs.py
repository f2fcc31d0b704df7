"""The recorded cases on each target: what differs, and how many cells were compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

import pyarrow as pa

from featurekit.arrow_types import from_arrow
from featurekit.expr.nodes import Call, Node, walk
from featurekit.expr.parse import parse_expression
from featurekit.targets.python import compile_row
from featurekit.targets.spark import render
from featurekit.targets.vectors.evaluate import compile_columns
from featurekit.targets.vectors.vector import Vector, dtype_of
from tests.semantics import corpus, edges, values
from tests.semantics.corpus import Recorded
from tests.semantics.session import frame

CASES: Final = tuple(corpus.cases())
_BATCH: Final = 60


@dataclass(slots=True)
class Leg:
    """One target's run over the cases; a cell is one case on one row."""

    name: str
    cells: int = 0
    differences: list[str] = field(default_factory=list)


@cache
def parsed(expression: str) -> Node:
    return parse_expression(expression, edges.SCOPE, aggregates_allowed=False)


@cache
def functions() -> frozenset[str]:
    """Return the catalogue functions that the cases call."""
    return frozenset(
        part.function for case in CASES for part in walk(parsed(case.expression)) if isinstance(part, Call)
    )


def expected(case: Recorded) -> list[Any]:
    return [values.read(text, parsed(case.expression).type) for text in case.values]


def differences(case: Recorded, found: Sequence[Any]) -> list[str]:
    """Return how the values found differ from the recorded ones, row by row."""
    kind = parsed(case.expression).type
    if len(case.values) == 1:
        found = found[:1]
    return [
        f"row {row}: {values.write(value, kind)}, Spark says {text}"
        for row, (value, want, text) in enumerate(zip(found, expected(case), case.values, strict=True))
        if not values.same_bits(value, want, kind)
    ]


def by_row(node: Node) -> list[Any]:
    """Return the row evaluator's values over the edge rows."""
    evaluate = compile_row([node], edges.COLUMNS)
    return [evaluate(row)[0] for row in edges.rows()]


def by_columns(node: Node) -> list[Any]:
    """Return the vector evaluator's values over the edge rows."""
    vectors = [Vector.of_held(edges.DATA[column.name], column.type) for column in edges.COLUMNS]
    (found,) = compile_columns([node], edges.COLUMNS)(vectors, edges.ROWS)
    assert found.values.dtype == dtype_of(node.type)
    return found.held(edges.ROWS)


OVER_EDGES: Final[dict[str, Callable[[Node], list[Any]]]] = {"python": by_row, "vectors": by_columns}
"""Our evaluators over the edge rows."""


def own_leg(name: str, evaluate: Callable[[Node], list[Any]]) -> Leg:
    """Run one of our evaluators over all cases; what it raises is a difference too."""
    leg = Leg(name)
    for case in CASES:
        leg.cells += len(case.values)
        try:
            found = differences(case, evaluate(parsed(case.expression)))
        except Exception as error:  # noqa: BLE001 - whatever it is, the case has no value
            found = [f"raised {error!r}"]
        leg.differences += [f"{case.id}: {difference}" for difference in found]
    return leg


def spark_leg(spark: Any, *, ansi: bool) -> Leg:
    """Run the SQL that we render over all cases, with ANSI on or off: types and bits."""
    leg = Leg(f"spark, ANSI {'on' if ansi else 'off'}")
    table = pa.table({name: values.arrow_column(column, edges.TYPES[name]) for name, column in edges.DATA.items()})
    table = table.append_column("row_number", pa.array(range(edges.ROWS), pa.int32()))
    # Not a local relation: the optimizer would compute all of it by itself, and no plan would run.
    frame(spark, table).coalesce(1).createOrReplaceTempView("edges")
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", str(ansi).lower())
    try:
        for batch in _batches():
            answer = spark.sql(f"SELECT {_columns(batch)} FROM edges ORDER BY row_number").toArrow()
            for index, case in enumerate(batch):
                leg.cells += len(case.values)
                found = differences(case, values.held_values(answer[f"v{index}"]))
                kind = from_arrow(answer.schema.field(f"v{index}").type)
                if kind != parsed(case.expression).type:
                    found.append(f"type {kind.name}")
                leg.differences += [f"{case.id}: {difference}" for difference in found]
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)
    return leg


def _columns(batch: Sequence[Recorded]) -> str:
    rendered = (render(parsed(case.expression), lambda column: column.name) for case in batch)
    return ", ".join(f"{sql} AS v{index}" for index, sql in enumerate(rendered))


def _batches() -> Iterator[tuple[Recorded, ...]]:
    for start in range(0, len(CASES), _BATCH):
        yield CASES[start : start + _BATCH]
