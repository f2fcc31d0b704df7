"""Random typed expressions over the edge table: Spark's answer to our SQL, and the row evaluator's, bit by bit.

Expressions are grown from the catalogue: functions are drawn with arguments from a pool, what does not type is thrown
away. A difference found here becomes a line of a fixture file.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from featurekit.arrow_types import from_arrow
from featurekit.errors import ExpressionError
from featurekit.expr import infer
from featurekit.expr.catalogue.row import Function, Kind
from featurekit.expr.catalogue.temporal import UNITS
from featurekit.expr.coerce import castable
from featurekit.expr.functions import FUNCTIONS
from featurekit.expr.nodes import Column, Node, walk
from featurekit.expr.show import show
from featurekit.targets.python import compile_row
from featurekit.targets.spark import render
from featurekit.types import Boolean, DataType, Int32, Null, String
from tests.semantics import edges, values

# A fixed seed: the same expressions everywhere. Longer runs with other seeds look for new ones.
SEED = 20131115
ROUNDS = 12
EXPRESSIONS = 30
MAX_NODES = 40
ROWS = sorted(
    (row for row in FUNCTIONS.values() if row.rule and row.kind is not Kind.AGGREGATE), key=lambda row: row.name
)
TYPES = sorted({*edges.TYPES.values()}, key=lambda kind: kind.name)
ZONES = ("America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia", "UTC")

LITERALS = [
    infer.literal(edges.DATA[name][row], kind)
    for name, kind in edges.TYPES.items()
    if not name.endswith("_b")
    for row in (1, 6, 8)
]


@st.composite
def pools(draw: st.DrawFn) -> list[Node]:
    """Return expressions, each grown from those before it."""
    pool: list[Node] = [*edges.COLUMNS]
    grown: list[Node] = []
    while len(grown) < EXPRESSIONS:
        node = _grown(draw, [*pool, *LITERALS, *grown])
        if node is not None and sum(1 for _ in walk(node)) <= MAX_NODES and not isinstance(node.type, Null):
            grown.append(node)
    return grown


def _grown(draw: st.DrawFn, pool: list[Node]) -> Node | None:
    try:
        match draw(st.integers(0, 11)):
            case 0:
                value = draw(st.sampled_from(pool))
                targets = [kind for kind in TYPES if castable(value.type, kind)]
                return infer.cast(value, draw(st.sampled_from(targets)))
            case 1:
                conditions = [node for node in pool if isinstance(node.type, Boolean)]
                then = draw(st.sampled_from(pool))
                like = _alike(pool, then.type)
                return infer.case([(draw(st.sampled_from(conditions)), then)], draw(st.sampled_from(like)))
            case _:
                return _call(draw, draw(st.sampled_from(ROWS)), pool)
    except ExpressionError:
        return None


def _call(draw: st.DrawFn, row: Function, pool: list[Node]) -> Node:
    low, high = row.arity
    count = draw(st.integers(low, high if high is not None else low + 2))
    start, rest = _leading(row)
    first = draw(st.sampled_from([node for node in pool if _family(node.type) in start]))
    args: list[Node] = []
    for index in range(count):
        if index in row.literals:
            args.append(_literal(draw, row))
        elif index == 0 or rest is None:
            args.append(first if not args else draw(st.sampled_from(_alike(pool, first.type))))
        else:
            args.append(draw(st.sampled_from(_alike(pool, rest))))
    return infer.call(row.name, *args)


def _family(kind: DataType) -> type[DataType]:
    return type(kind)


@cache
def _leading(row: Function) -> tuple[frozenset[type[DataType]], DataType | None]:
    """Return the families of types a function takes first, and the type of its other arguments if it is another one."""
    accepted = set()
    rest: DataType | None = None
    for kind in TYPES:
        for other in (None, Int32()):
            try:
                infer.call(row.name, *_sample(row, kind, other or kind))
            except ExpressionError:
                continue
            accepted.add(_family(kind))
            rest = rest or (other if kind == String() and row.name == "substring" else None)
    return frozenset(accepted), rest


def _sample(row: Function, kind: DataType, other: DataType) -> list[Node]:
    kinds = [kind, *([other] * (row.arity[0] - 1))]
    literals = {
        "round": infer.literal(1),
        "date_trunc": infer.literal("day"),
        "from_utc_timestamp": infer.literal("UTC"),
    }
    sample: list[Node] = [Column(name="x", type=each, nullable=True) for each in kinds]
    if row.name == "date_trunc":
        sample.reverse()
    return [literals[row.name] if index in row.literals else node for index, node in enumerate(sample)]


def _literal(draw: st.DrawFn, row: Function) -> Node:
    if row.name == "round":
        return infer.literal(draw(st.integers(-5, 8)))
    return infer.literal(draw(st.sampled_from(UNITS if row.name == "date_trunc" else ZONES)))


def _alike(pool: list[Node], kind: DataType) -> list[Node]:
    """Return the nodes whose type is not far from `kind`, so that most draws type."""
    same = [node for node in pool if node.type == kind]
    return [*same, *same, *pool]


def differences(spark: Any, nodes: list[Node]) -> list[str]:
    columns = ", ".join(f"{render(node, lambda column: column.name)} AS v{index}" for index, node in enumerate(nodes))
    answer = spark.sql(f"SELECT {columns} FROM fuzzed ORDER BY row_number").toArrow()
    ours = list(zip(*map(compile_row(nodes, edges.COLUMNS), edges.rows()), strict=True))
    found = []
    for index, node in enumerate(nodes):
        theirs = values.held_values(answer[f"v{index}"])
        if from_arrow(answer.schema.field(f"v{index}").type) != node.type:
            found.append(f"{show(node)}: type {answer.schema.field(f'v{index}').type}")
        for row, (left, right) in enumerate(zip(ours[index], theirs, strict=True)):
            if not values.same_bits(left, right, node.type):
                found.append(f"{show(node)}\n  row {row}: ours {left!r}, Spark {right!r}")
                break
        if not node.nullable and None in ours[index]:
            found.append(f"{show(node)}: NULL, but typed as never NULL")
    return found


@pytest.fixture
def fuzzed(spark: Any) -> Any:
    table = pa.table({name: values.arrow_column(column, edges.TYPES[name]) for name, column in edges.DATA.items()})
    table = table.append_column("row_number", pa.array(range(edges.ROWS), pa.int32()))
    spark.createDataFrame(table).coalesce(1).createOrReplaceTempView("fuzzed")
    spark.catalog.cacheTable("fuzzed")
    return spark


@pytest.mark.spark
def test_random_expressions_have_the_same_bits_in_spark_and_in_python(fuzzed: Any) -> None:
    @seed(SEED)
    @settings(
        max_examples=ROUNDS,
        deadline=None,
        database=None,
        phases=[Phase.generate],  # a round is a Spark job: what differs is reported whole, not shrunk
        suppress_health_check=list(HealthCheck),
    )
    @given(pools())
    def agree(nodes: list[Node]) -> None:
        assert differences(fuzzed, nodes) == []

    agree()
