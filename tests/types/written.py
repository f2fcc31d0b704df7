"""Expressions to infer types of, as text, made from the catalogue: they grow with it.

Arguments are columns of every type that the edge table has, whether a function takes them or not: what is refused has
to be refused, and what is accepted has to have the type that Spark's analyser gives it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import Final

from featurekit.expr import infer
from featurekit.expr.catalogue.row import LAMBDA, Function, Kind, Param
from featurekit.expr.functions import FUNCTIONS
from featurekit.expr.nodes import Call, Node
from featurekit.types import Null
from tests.semantics import edges
from tests.semantics.draws import Draws
from tests.semantics.unparse import unparse

PER_FUNCTION: Final = 30
_ROWS: Final = tuple(sorted((row for row in FUNCTIONS.values() if row.rule), key=lambda row: row.name))
_COLUMNS: Final = tuple(column for column in edges.COLUMNS if not column.name.endswith("_b"))
_SCALARS: Final = tuple(column.name for column in _COLUMNS)
_MIXED: Final = ("NULL", "1", "2147483648", "1.50", "1e2", "'x'", "true", "1Y", "0.5F", *_SCALARS)
# What has common types among its like, more often than two columns drawn from all.
_ALIKE: Final = (
    ("NULL", "1", "2147483648", "1.50", "1e2", "-7S", "0.5F", "i8", "i16", "i32", "i64", "f32", "f64"),
    ("NULL", "1", "0.001BD", "1000L", "i8", "i64", "d5_2", "d18_6", "d38_0", "d38_18", "f32"),
    ("NULL", "dt", "ts", "ntz", "DATE '2024-02-29'", "TIMESTAMP '2024-02-29T00:00:00Z'"),
    ("NULL", "ai", "ad", "array()", "array(1.5)", "array(NULL)", "array(2L, NULL)"),
    ("NULL", "aa", "array(ai)", "array(ad)", "array(array(1Y))", "array(array())"),
    ("NULL", "m", "map('a', 1L)", "map('a', 0.5BD)", "map()"),
    ("NULL", "st", "named_struct('a', 1L, 'b', 'x', 'c', array(1))", "named_struct('a', 1, 'b', NULL, 'c', ad)"),
)
_TARGETS: Final = (
    *dict.fromkeys(column.type.name for column in _COLUMNS),
    "decimal(1,0)", "decimal(15,15)", "decimal(20,10)", "decimal(38,38)", "array<string>", "map<string,string>",
)  # fmt: skip
# Whatever the catalogue grows to, these have no answer that two computations share.
REFUSED: Final = (
    "rand()", "uuid()", "now()", "current_date()", "current_timestamp()", "monotonically_increasing_id()",
    "percentile_approx(f64, 0.5)", "shuffle(ai)", "i32 = s", "i32 + s", "s > dt", "dt = 'x'", "concat(s, i32)",
    "b + 1", "b = 1", "dt + ts", "ts - ts", "CASE WHEN b THEN 1 ELSE 'x' END", "coalesce(i32, 'x')", "greatest(s, 1)",
    "i32 IN (1, 'x')", "CAST(f64 AS STRING)", "CAST(f64 AS DECIMAL(38,2))", "CAST(dt AS INT)", "CAST(bin AS INT)",
    "CAST(b AS DATE)", "CAST(m AS MAP<INT, INT>)", "IF(i32, 1, 2)", "NOT i32", "i32 AND b", "array(1, 'x')",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Written:
    """An expression's text, and the group that it is counted in."""

    group: str
    text: str


def written(seed: int, per_function: int = PER_FUNCTION) -> tuple[Written, ...]:
    """Return the expressions; the same seed makes the same ones."""
    random = Random(seed)
    draws = Draws(seed)
    found: list[Written] = []
    for row in _ROWS:
        group = "aggregates" if row.kind is Kind.AGGREGATE else "operators" if row.operator else "functions"
        texts = [*_calls(random, row, per_function), *_drawn(draws, row, per_function // 3)]
        found += (Written(group, text) for text in dict.fromkeys(texts))
    found += (Written("casts", text) for text in _casts())
    found += (Written("choices", text) for text in _choices(random, 8 * per_function))
    found += (Written("decimals", text) for text in _decimals(random, 8 * per_function))
    found += (Written("to refuse", text) for text in REFUSED)
    return tuple(found)


def _calls(random: Random, row: Function, most: int) -> Iterator[str]:
    """Yield calls of a function on columns of all types, in a random order of their combinations."""
    if any(param.takes is LAMBDA for param in row.params):
        return
    for params in _arities(row):
        options = [_arguments(param) for param in params]
        for args in _sampled(random, options, most):
            yield unparse(Call(function=row.name, args=args, type=Null(), nullable=True))


def _arities(row: Function) -> Iterator[Sequence[Param]]:
    low, high = row.arity
    for count in range(low, (low + 1 if high is None else high) + 1):
        yield [row.param(index) for index in range(count)]


def _arguments(param: Param) -> list[Node]:
    constants: list[Node] = [each if isinstance(each, Node) else infer.literal(each) for each in param.edges]
    return constants if param.literal else [*constants, *_COLUMNS]


def _sampled(random: Random, options: Sequence[Sequence[Node]], most: int) -> Iterator[tuple[Node, ...]]:
    total = 1
    for each in options:
        total *= len(each)
    if total <= most:
        yield from product(*options)
        return
    for _ in range(most):
        yield tuple(random.choice(each) for each in options)


def _drawn(draws: Draws, row: Function, count: int) -> Iterator[str]:
    """Yield calls that are accepted: of most functions few combinations of types are."""
    for _ in range(count if row.kind is not Kind.AGGREGATE else 0):
        node = draws.of(row, 1)
        if node is not None:
            yield unparse(node)


def _casts() -> Iterator[str]:
    for source, target in product(_SCALARS, _TARGETS):
        yield f"CAST({source} AS {target})"


def _choices(random: Random, count: int) -> Iterator[str]:
    forms = (
        "CASE WHEN b THEN {} ELSE {} END", "CASE WHEN b THEN {} WHEN b_b THEN {} ELSE {} END", "coalesce({}, {})",
        "coalesce({}, {}, {})", "if(b, {}, {})", "nullif({}, {})", "{} IN ({}, {})", "greatest({}, {})", "{} = {}",
        "least({}, {}, {})", "array({}, {})", "{} BETWEEN {} AND {}", "{} <=> {}",
    )  # fmt: skip
    for _ in range(count):
        form = random.choice(forms)
        alike = random.choice((*_ALIKE, _MIXED))
        yield form.format(*(random.choice(alike) for _ in range(form.count("{}"))))


def _decimals(random: Random, count: int) -> Iterator[str]:
    """Yield operators on decimals of many precisions, integers and constants among them."""
    forms = ("({} + {})", "({} - {})", "({} * {})", "({} / {})", "({} % {})", "coalesce({}, {})", "({} < {})")
    for _ in range(count):
        yield random.choice(forms).format(_decimal(random), _decimal(random))


def _decimal(random: Random) -> str:
    chance = random.random()
    if chance < 0.1:
        return random.choice(("i8", "i16", "i32", "i64"))
    if chance < 0.25:
        return random.choice(("1", "12345", "2147483648", "0.001BD", "1.50", "99999999999999999999.5BD"))
    precision = random.randint(1, 38)
    return f"CAST(d38_0 AS DECIMAL({precision},{random.randint(0, precision)}))"
