"""docs/functions.md, made from the catalogue; the examples are cases that were recorded from Spark.

`python -m tests.docs.functions_page` writes the page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from textwrap import fill
from typing import Final

from featurekit.errors import FeaturekitError
from featurekit.expr import infer, sugar
from featurekit.expr.catalogue.row import LAMBDA, Exactness, Function, Kind, Nulls, Param
from featurekit.expr.functions import FAMILIES
from featurekit.expr.nodes import Call, Case, Cast, Column, Node
from featurekit.expr.parse import parse_expression
from featurekit.expr.refusals import FUNCTIONS as REFUSED
from featurekit.types import (
    Array,
    Binary,
    Boolean,
    DataType,
    Date,
    Decimal,
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    Map,
    String,
    Struct,
    Timestamp,
    TimestampNtz,
)
from tests.semantics import corpus, edges

PAGE: Final = Path(__file__).parents[2] / "docs" / "functions.md"
DECIMAL: Final = Decimal(10, 2)
TYPES: Final[tuple[DataType, ...]] = (
    Boolean(), Int8(), Int16(), Int32(), Int64(), DECIMAL, Float32(), Float64(), String(), Binary(), Date(),
    Timestamp(), TimestampNtz(),
)  # fmt: skip
# What stands for a type with parts.
NESTED: Final[tuple[DataType, ...]] = (
    Array(Int32()), Array(Float64()), Array(String()), Array(Struct((("k", String()), ("v", Int32())))),
    Array(Array(Int32())), Map(String(), Int32()), Struct((("k", String()), ("v", Int32()))),
)  # fmt: skip
# The names of groups of types, the largest first.
GROUPS: Final[tuple[tuple[str, frozenset[DataType]], ...]] = (
    ("any type", frozenset((*TYPES, *NESTED))),
    ("any type without parts", frozenset(TYPES)),
    ("any type without parts but binary", frozenset(TYPES) - {Binary()}),
    ("array", frozenset(kind for kind in NESTED if isinstance(kind, Array))),
    ("number", frozenset((Int8(), Int16(), Int32(), Int64(), DECIMAL, Float32(), Float64()))),
    ("integer", frozenset((Int8(), Int16(), Int32(), Int64()))),
    ("tinyint, smallint or int", frozenset((Int8(), Int16(), Int32()))),
    ("float or double", frozenset((Float32(), Float64()))),
    ("date or timestamp", frozenset((Date(), Timestamp(), TimestampNtz()))),
)
SYNTAX: Final[dict[str, tuple[str, Callable[..., Node]]]] = {
    "case": ("CASE WHEN a THEN b ELSE c END", lambda a, b, c: infer.case([(a, b)], c)),
    "between": ("a BETWEEN b AND c", sugar.between),
}
# What the result's type is where no sample of arguments would tell.
GIVES: Final = {
    "cast": "the type",
    "decode": "the type of the results",
    "named_struct": "struct of these fields",
    "struct": "struct of these fields",
    "get_field": "the type of the field; of an array, an array of it",
    **dict.fromkeys(("get_item", "element_at"), "the type of an element, or of a value of the map"),
    **dict.fromkeys(("array_min", "array_max"), "the type of an element"),
    "array": "array of their common type",
    "array_repeat": "array of its type",
    "sequence": "array<int> or array<bigint>",
    "flatten": "the type of the inner arrays",
    **dict.fromkeys(("transform", "zip_with"), "array of what the lambda gives"),
    "aggregate": "what `start` and `merge`, or `finish`, give",
    "map": "map of the common types",
    "map_keys": "array of the keys' type",
    "map_values": "array of the values' type",
    "map_entries": "array of struct<key, value>",
    **dict.fromkeys(("map_from_arrays", "map_from_entries"), "map of these types"),
    **dict.fromkeys(("map_concat", "map_filter"), "the type of map"),
    "transform_keys": "map of what the lambda gives to the values",
    "transform_values": "map of the keys to what the lambda gives",
    **dict.fromkeys(("top_k", "collect_last"), "array of its type"),
    "date_part": "int; decimal(8,6) for the second",
    "timestampadd": "timestamp; timestamp_ntz → the same",
    **dict.fromkeys(("cross_hash", "hash_bucket"), "int; bigint where there are more buckets than ints"),
    "elt": "the type of a",
}
WRITTEN: Final = {
    "get_field": "a.name",
    "decode_bytes": "decode(bytes, charset)",
    "get_item": "a[key]",
    "trim_leading": "TRIM(LEADING characters FROM text)",
    "trim_trailing": "TRIM(TRAILING characters FROM text)",
    "date_part": "EXTRACT(field FROM t)",
}
INFIX: Final = {"in": "a IN (b, …)", "not": "NOT a", "is null": "a IS NULL", "is not null": "a IS NOT NULL"}
LONGEST_EXAMPLE: Final = 80
EXAMPLES: Final = "examples.sql"
NOTES: Final = {
    "Arithmetic": (
        "Integers never wrap: what does not fit is NULL. Of two integers the narrower is widened, an integer "
        "beside a decimal becomes a decimal, and with a float or a double beside another type all is double."
    ),
    "Maths": (
        "The bits are the same on every Java and machine. `sin`, `cos`, `tan` and their kin, `tanh` and `cbrt` "
        "are defined here, because Spark's own are not; [how](semantics.md#maths)."
    ),
    "Bits": ("Shifts and `&`, `^`, `|` bind more loosely than `+` and more tightly than comparisons, as in Spark."),
    "Comparison": (
        "NaN equals NaN and is larger than every other number, -0.0 equals 0.0, and strings go by their UTF-8 "
        "bytes. `==` is `=`, `!=` is `<>`, and `NOT` may stand before `IN` and `BETWEEN`."
    ),
    "Logic": ("Three values: true, false and NULL, which is not known."),
    "Choice": ("A branch that is not taken changes nothing: it could not fail either."),
    "Buckets, distances and similarity": (
        "Sums go in the order of the elements, each one rounded: no vector unit changes them."
    ),
    "Text": (
        "Positions and lengths count code points. Nothing is trimmed, folded or normalised unasked. Text and "
        "numbers are never turned into each other: `CAST(n AS STRING)`. `lpad`, `rpad`, `repeat` and `space` make "
        "at most 10,000 characters (`repeat` bytes); what would be longer is NULL."
    ),
    "Patterns": (
        "A pattern is a literal. [patterns.md](patterns.md) says which are accepted, and how to write the others."
    ),
    "JSON": ("Values are read by type, at a path of names and places: [patterns.md](patterns.md#json)."),
    "Hashes": ("Of equal values, equal bits on both paths, in any process. A map has no order, so it has no hash."),
    "Time": (
        "Fields of a timestamp are those of its UTC clock. For another clock: `hour(from_utc_timestamp(t, "
        "'America/New_York'))`. A date stands for 00:00 UTC, a timestamp for its UTC date. Zones are IANA names "
        "(`UTC`, `Area/City`), literals. Patterns are literals of `yyyy MM M dd d HH H mm m ss s S…SSSSSS`, to "
        "write also `E EEE EEEE MMM MMMM`; other letters stand in quotes. What leaves the years that a type holds "
        "is NULL."
    ),
    "Arrays": (
        "Indexes of `a[i]` begin at 0, positions of the functions at 1. Lambdas are `x -> …` and `(x, y) -> …`; "
        "they see the columns and the variables of lambdas around them, and what fails inside is NULL for that "
        "element."
    ),
    "Maps": (
        "What would hold one key twice, or a NULL key, is NULL. Maps have no order and no equality: compare what "
        "is under their keys."
    ),
    "Structs": (
        "Fields are compared in order. A field that has the name of a word of the language stands in backticks."
    ),
    "Aggregates": (
        "Each takes `FILTER (WHERE condition)`. They stand in feature views with a `window`, never in on-demand "
        "views. `count(*)` counts rows, `count(DISTINCT a)` values. What they are of no rows, and which row comes "
        "first, is [settled](semantics.md#aggregates)."
    ),
}
NULLS: Final = {
    Nulls.PROPAGATE: "when an argument is",
    Nulls.NEVER: "never",
    Nulls.ANY: "by its own rule",
    Nulls.ALL: "when all arguments are",
}
INTRO: Final = """\
# Functions

Made from the catalogue by `python -m tests.docs.functions_page`; a test holds this page to it.

These functions and operators, and no others, may stand in `sql:` and `where:` of views. Each gives the same bits in
Spark and in a lookup. What would raise an error in Spark's ANSI mode is NULL, and evaluation goes on:
`coalesce(1 / 0, 5)` is 5. Names of functions may be written in upper or lower case; names of columns are matched
exactly, and quoted by backticks where they are words of the language. (`sql:` of a source is any Spark SQL.)

Literals are Spark's: `1` int, `1L` bigint, `1.5` decimal(2,1), `1.5D` and `1e3` double, `1.5F` float, `'text'`,
`r'\\d'`, `true`, `NULL`, `DATE '2013-11-15'`, `TIMESTAMP '2013-11-15T02:00Z'` (a zone is required).

In the tables decimal(10,2) stands for all decimals, and *number* for every numeric type.
"""


def page() -> str:
    """Return the whole page."""
    parts = [INTRO]
    for title, rows in FAMILIES:
        parts.append(f"\n## {title}\n")
        parts += [f"\n{fill(NOTES[title], 118, break_on_hyphens=False)}\n"] if title in NOTES else []
        parts.append("\n| written | takes | gives | NULL | is | such as |\n|---|---|---|---|---|---|\n")
        parts += map(_line, rows)
    return "".join([*parts, *_casts(), *_refused()])


def _line(row: Function) -> str:
    nulls = NULLS[row.nulls]
    if row.raises is not False:
        nulls += ", or no value fits"
    doc = row.doc if row.exactness is Exactness.EXACT else f"{row.doc} (Defined here, not as in Spark.)"
    return _row(_written(row), _takes(row), _gives(row), nulls, doc, _example(row))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def _written(row: Function) -> str:
    calls = [row.called(spelling) for spelling in row.spellings]
    if row.name == "cast":
        calls = ["CAST(a AS type)", "try_cast(a AS type)", "a::type"]
    elif row.name in WRITTEN:
        calls.insert(0, WRITTEN[row.name])
    elif row.name in SYNTAX:
        calls = [SYNTAX[row.name][0]]
    elif row.operator:
        symbol = row.operator.upper()
        infix = f"{symbol}a" if row.arity == (1, 1) else f"a {symbol} b"
        calls.insert(0, INFIX.get(row.operator) or infix)
    return ", ".join(f"`{call}`" for call in calls)


def _takes(row: Function) -> str:
    if len(row.params) == 1 and not row.params[0].literal:
        return row.params[0].takes.name
    groups = groupby(row.params, key=lambda param: (param.takes.name, param.literal))
    shown = []
    for (name, is_literal), params in groups:
        names = ", ".join(param.name for param in params)
        shown.append(f"{names}: {name}{', literal' if is_literal else ''}")
    return "; ".join(shown)


def _gives(row: Function) -> str:
    """Return the result's type: one, the arguments' own, or one for each type of the first argument."""
    if row.name in GIVES:
        return GIVES[row.name]
    found: dict[DataType | None, DataType] = {}
    first = next((param for param in row.params if not param.literal and param.takes is not LAMBDA), None)
    for kind in (
        [None] if first is None else [kind for kind in (*TYPES, *NESTED) if isinstance(kind, first.takes.kinds)]
    ):
        node = _sample(row, kind)
        if node is not None:
            found[kind] = node.type
    assert found, row.name
    if len(set(found.values())) == 1:
        return str(next(iter(found.values())))
    if all(kind == result for kind, result in found.items()):
        return f"the type of {first.name if first else 'a'}"
    shown = []
    for result, pairs in groupby(found.items(), key=lambda pair: None if pair[0] == pair[1] else pair[1]):
        members = frozenset(kind for kind, _ in pairs if kind is not None)
        shown.append(f"{_group(members)} → {'the same' if result is None else result}")
    return "; ".join(shown)


def _sample(row: Function, kind: DataType | None) -> Node | None:
    """Return a call whose first value is of that type, the others too where they can be; None where none types."""
    wanted = [param for param in row.params if not param.optional]
    choices: list[list[Node]] = []
    for place, param in enumerate(wanted):
        if param.literal:
            choices.append([edge if isinstance(edge, Node) else infer.literal(edge) for edge in param.edges])
        elif param.takes is not LAMBDA:
            fitting = [each for each in (*TYPES, *NESTED) if isinstance(each, param.takes.kinds)]
            same = [each for each in fitting if each == kind]
            if kind is not None and place == _first_value(wanted):
                fitting = same
            columns = [Column(name=f"c{place}", type=each, nullable=True) for each in (*same, *fitting)]
            choices.append([*columns, *(edge for edge in param.edges if isinstance(edge, Node))])
        else:
            choices.append([])
    return _build(row, wanted, choices, ())


def _first_value(params: Sequence[Param]) -> int:
    return next(place for place, param in enumerate(params) if not param.literal and param.takes is not LAMBDA)


def _build(
    row: Function, params: Sequence[Param], choices: Sequence[Sequence[Node]], args: tuple[Node, ...]
) -> Node | None:
    if len(args) == len(params):
        try:
            return _node(row, args)
        except FeaturekitError:
            return None
    param = params[len(args)]
    options = _lambdas(param, args) if param.takes is LAMBDA else choices[len(args)]
    for option in options:
        if (node := _build(row, params, choices, (*args, option))) is not None:
            return node
    return None


def _lambdas(param: Param, before: tuple[Node, ...]) -> list[Node]:
    assert param.binds is not None
    try:
        kinds = param.binds(before)
    except FeaturekitError:
        return []
    variables = tuple(
        infer.variable(name, kind, level) for level, (name, kind) in enumerate(zip("xyz", kinds, strict=False))
    )
    bodies = [*variables, infer.call("is_not_null", variables[0])]
    return [infer.lambda_(variables, body) for body in bodies]


def _node(row: Function, args: Sequence[Node]) -> Node:
    if row.kind is Kind.AGGREGATE:
        return infer.aggregate(row.name, *args)
    if row.name == "case":
        return SYNTAX["case"][1](Column(name="w", type=Boolean(), nullable=True), args[0], args[0])
    if row.kind is Kind.SYNTAX:
        return (SYNTAX[row.name][1] if row.name in SYNTAX else sugar.CALLED[row.name])(*args)
    return infer.call(row.name, *args)


def _group(kinds: frozenset[DataType]) -> str:
    """Return the shortest name of a set of types."""
    for name, members in GROUPS:
        if members == kinds:
            return name
    parts = []
    for name, members in GROUPS:
        if members <= kinds:
            parts.append(name)
            kinds -= members
    return ", ".join([*parts, *(str(kind) for kind in (*TYPES, *NESTED) if kind in kinds)])


@cache
def _examples() -> dict[str, str]:
    """Return by function the case that was recorded to be shown, else the shortest one without columns."""
    chosen: dict[str, str] = {}
    found: dict[str, str] = {}
    for case in corpus.cases():
        if len(set(case.values)) != 1 or len(case.expression) > LONGEST_EXAMPLE or "\\" in case.expression:
            continue
        node = parse_expression(case.expression, edges.SCOPE, aggregates_allowed=False)
        name = _function_of(case.expression, node)
        if name is None or len(case.values[0]) > LONGEST_EXAMPLE:
            continue
        shown = f"`{case.expression}` is `{case.values[0]}`"
        if case.file == EXAMPLES:
            chosen.setdefault(name, shown)
        elif case.values[0] != "NULL" and "NULL" not in case.expression:
            found[name] = min(found.get(name, shown), shown, key=len)
    return {**found, **chosen}


def _function_of(expression: str, node: Node) -> str | None:
    """Return the row that an expression is an example of: what it begins with, else what it is in the end."""
    word = re.match(r"\w+(?=\()", expression)
    if word and word[0].lower() in sugar.CALLED:
        return word[0].lower()
    match node:
        case Cast():
            return "cast"
        case Case():
            return "case"
        case _ if " BETWEEN " in expression:
            return "between"
        case _:
            return node.function if isinstance(node, Call) else None


def _example(row: Function) -> str:
    return _examples().get(row.name, "")


def _casts() -> Iterator[str]:
    yield (
        "\n## Casts\n\nWhat has no form in the other type is NULL: `CAST(300 AS TINYINT)`. A cast that is not in the "
        "table is\nrefused, with the reason.\n\n| from | to |\n|---|---|\n"
    )
    for kind in TYPES:
        column = Column(name="a", type=kind, nullable=True)
        to = [str(target) for target in TYPES if target != kind and _can_cast(column, target)]
        yield _row(str(kind), ", ".join(to) or "nothing else")


def _can_cast(node: Node, kind: DataType) -> bool:
    try:
        infer.cast(node, kind)
    except FeaturekitError:
        return False
    return True


def _refused() -> Iterator[str]:
    yield "\n## Refused, and what to write instead\n\n| function | why | write |\n|---|---|---|\n"
    for reason in dict.fromkeys(REFUSED.values()):
        names = ", ".join(f"`{name}`" for name, other in REFUSED.items() if other == reason)
        yield _row(names, reason.why, reason.try_)
    yield (
        "\nAny other function is refused too, as are window functions (`OVER`) and subqueries; the message says why\n"
        "and what to write.\n"
    )


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
