"""docs/functions.md, made from the catalogue: what a row does not say is found out by asking the compiler.

`python -m tests.docs.functions_page` writes the page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, product
from pathlib import Path
from textwrap import fill
from typing import Final

from featurekit.errors import FeaturekitError
from featurekit.expr import infer, sugar
from featurekit.expr.catalogue.row import Function, Kind, Nulls
from featurekit.expr.catalogue.temporal import UNITS
from featurekit.expr.coerce import EXACT_DIGITS_OF_DOUBLE, common_type
from featurekit.expr.functions import FUNCTIONS
from featurekit.expr.nodes import Column, Node
from featurekit.expr.refusals import FUNCTIONS as REFUSED
from featurekit.types import (
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
    String,
    Timestamp,
)

PAGE: Final = Path(__file__).parents[2] / "docs" / "functions.md"
DECIMAL: Final = Decimal(10, 2)
TYPES: Final[tuple[DataType, ...]] = (
    Boolean(), Int8(), Int16(), Int32(), Int64(), DECIMAL, Float32(), Float64(), String(), Binary(), Date(),
    Timestamp(),
)  # fmt: skip
# The names of groups of types, the largest first.
GROUPS: Final[tuple[tuple[str, frozenset[DataType]], ...]] = (
    ("any type", frozenset(TYPES)),
    ("any type but binary", frozenset(TYPES) - {Binary()}),
    ("number", frozenset((Int8(), Int16(), Int32(), Int64(), DECIMAL, Float32(), Float64()))),
    ("integer", frozenset((Int8(), Int16(), Int32(), Int64()))),
    ("tinyint, smallint or int", frozenset((Int8(), Int16(), Int32()))),
    ("float or double", frozenset((Float32(), Float64()))),
    ("date or timestamp", frozenset((Date(), Timestamp()))),
)
LITERALS: Final[dict[str, tuple[str, Node]]] = {
    "round": ("a whole number, literal", infer.literal(1)),
    "date_trunc": (f"one of {', '.join(repr(unit) for unit in UNITS)}, literal", infer.literal("day")),
    "from_utc_timestamp": ("an IANA zone, literal", infer.literal("America/New_York")),
}
LETTERS: Final = "abc"
SYNTAX: Final[dict[str, tuple[str, Callable[..., Node]]]] = {
    "case": ("CASE WHEN a THEN b ELSE c END", lambda a, b, c: infer.case([(a, b)], c)),
    "between": ("a BETWEEN b AND c", sugar.between),
    "if": ("if(a, b, c)", sugar.if_),
    "nullif": ("nullif(a, b)", sugar.nullif),
}
INFIX: Final = {"in": "a IN (b, …)", "not": "NOT a", "is null": "a IS NULL", "is not null": "a IS NOT NULL"}
SECTIONS: Final[tuple[tuple[str, str], ...]] = (
    ("add", "Arithmetic"),
    ("eq", "Comparison"),
    ("and", "Logic"),
    ("coalesce", "Choice"),
    ("lower", "Text"),
    ("hour", "Time"),
    ("cast", "Syntax of its own"),
    ("count", "Aggregates"),
)
NOTES: Final = {
    "Arithmetic": "Integers never wrap: what does not fit is NULL. Of two integers the narrower is widened, an integer "
    "beside a decimal becomes a decimal, and with a float or a double beside another type all is double.",
    "Comparison": "NaN equals NaN and is larger than every other number, -0.0 equals 0.0, and strings go by their "
    "UTF-8 bytes. `==` is `=`, `!=` is `<>`, and `NOT` may stand before `IN` and `BETWEEN`.",
    "Logic": "Three values: true, false and NULL, which is not known.",
    "Text": "Positions and lengths count code points. Nothing is trimmed, folded or normalised unasked.",
    "Time": "Fields of a timestamp are those of its UTC clock. For another clock: "
    "`hour(from_utc_timestamp(t, 'America/New_York'))`. A date stands for 00:00 UTC, a timestamp for its UTC date.",
    "Aggregates": "Each takes `FILTER (WHERE condition)`. They stand in feature views with a `window`, never in "
    "on-demand views. `count(*)` counts rows.",
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

Literals are Spark's: `1` int, `1L` bigint, `1.5` decimal(2,1), `1.5D` and `1e3` double, `1.5F` float, `'text'`, `true`,
`NULL`, `DATE '2013-11-15'`, `TIMESTAMP '2013-11-15T02:00Z'` (a zone is required).

In the tables decimal(10,2) stands for all decimals, and *number* for every numeric type.
"""


def page() -> str:
    """Return the whole page."""
    parts = [INTRO]
    starts = dict(SECTIONS)
    for name, row in FUNCTIONS.items():
        if title := starts.get(name):
            parts.append(f"\n## {title}\n")
            parts += [f"\n{fill(NOTES[title], 118, break_on_hyphens=False)}\n"] if title in NOTES else []
            parts.append("\n| written | takes | gives | NULL | is |\n|---|---|---|---|---|\n")
        parts.append(_line(row))
    return "".join([*parts, *_casts(), *_refused()])


def _line(row: Function) -> str:
    takes, gives = _types(row)
    nulls = NULLS[row.nulls]
    if row.raises is not False:
        nulls += ", or no value fits"
    return _row(_written(row), takes, gives, nulls, row.doc)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def _written(row: Function) -> str:
    calls = [_call(spelling, row) for spelling in row.spellings]
    if row.name == "cast":
        calls = ["CAST(a AS type)", "try_cast(a AS type)", "a::type"]
    elif row.name in SYNTAX:
        calls = [SYNTAX[row.name][0]]
    elif row.operator:
        symbol = row.operator.upper()
        calls.insert(0, INFIX.get(row.operator) or (f"a {symbol} b" if row.arity[0] != 1 or row.arity[1] is None
                                                    else f"{symbol}a"))  # fmt: skip
    return ", ".join(f"`{call}`" for call in calls)


def _call(spelling: str, row: Function) -> str:
    low, high = row.arity
    required = ", ".join(LETTERS[:low])
    optional = LETTERS[low:high] if high is not None else ""
    rest = "".join(f"[, {letter}]" if low or at else f"[{letter}]" for at, letter in enumerate(optional))
    return f"{spelling}({required}{rest}{', …' if high is None else ''})"


def _types(row: Function) -> tuple[str, str]:
    """Return what the function takes and what it gives, found by asking for each combination of types."""
    if row.name == "cast":
        return "see below", "the type"
    low, high = row.arity
    count = max(1, low) if high is None else high
    if high is None and low == 1 and row.kind is not Kind.SYNTAX:  # coalesce, concat: two show what any number do
        count = 2
    count = 3 if row.name == "case" else count
    accepted = dict(_accepted(row, count))
    columns = [frozenset(kind for kinds in accepted if (kind := kinds[at]) is not None) for at in range(count)]
    together = [at for at in range(count) if at not in row.literals]
    alike = [at for at in together if columns[at] == columns[together[-1]]]
    takes = "; ".join(_taken(row, columns, alike))
    pairs = {tuple(kinds[at] for at in alike) for kinds in accepted}
    if len(pairs) < len(columns[alike[0]]) ** len(alike):
        takes += ", with a common type"
    return takes, _given(accepted, alike)


def _accepted(row: Function, count: int) -> Iterator[tuple[tuple[DataType | None, ...], DataType]]:
    choices: list[Sequence[DataType | None]] = [(None,) if at in row.literals else TYPES for at in range(count)]
    for kinds in product(*choices):
        args = [
            LITERALS[row.name][1] if kind is None else Column(name=letter, type=kind, nullable=True)
            for letter, kind in zip(LETTERS, kinds, strict=False)
        ]
        try:
            yield kinds, _build(row, args).type
        except FeaturekitError:
            continue


def _build(row: Function, args: Sequence[Node]) -> Node:
    if row.kind is Kind.AGGREGATE:
        return infer.aggregate(row.name, *args)
    return SYNTAX[row.name][1](*args) if row.kind is Kind.SYNTAX else infer.call(row.name, *args)


def _taken(row: Function, columns: Sequence[frozenset[DataType]], alike: Sequence[int]) -> Iterator[str]:
    if len(columns) == 1:
        yield _group(columns[0])
        return
    for at, kinds in enumerate(columns):
        if at in row.literals:
            yield f"{LETTERS[at]}: {LITERALS[row.name][0]}"
        elif at == alike[0]:
            yield f"{', '.join(LETTERS[other] for other in alike)}: {_group(kinds)}"
        elif at not in alike:
            yield f"{LETTERS[at]}: {_group(kinds)}"


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
    return ", ".join([*parts, *(str(kind) for kind in TYPES if kind in kinds)])


def _given(accepted: dict[tuple[DataType | None, ...], DataType], alike: Sequence[int]) -> str:
    """Return the result's type: one, the arguments' own, or one for each type of arguments that are alike."""
    diagonal = {
        kind: result
        for kinds, result in accepted.items()
        if (kind := kinds[alike[0]]) is not None and {kinds[at] for at in alike} == {kind}
    }
    if len(set(accepted.values())) == 1:
        return str(next(iter(accepted.values())))
    if all(kinds[alike[0]] == result for kinds, result in accepted.items()):
        return f"the type of {LETTERS[alike[0]]}"
    if all(common_type(_kinds_at(kinds, alike)) == result for kinds, result in accepted.items()):
        return "the common type"
    shown = []
    for result, kinds in groupby(diagonal.items(), key=lambda pair: None if pair[0] == pair[1] else pair[1]):
        members = frozenset(kind for kind, _ in kinds)
        shown.append(f"{_group(members)} → {'the same' if result is None else result}")
    return "; ".join(shown)


def _kinds_at(kinds: Sequence[DataType | None], positions: Sequence[int]) -> Iterator[DataType]:
    return (kind for at in positions if (kind := kinds[at]) is not None)


def _casts() -> Iterator[str]:
    yield (
        "\n## Casts\n\nWhat has no form in the other type is NULL: `CAST(300 AS TINYINT)`. A decimal that a float or "
        f"double is cast to\nhas at most {EXACT_DIGITS_OF_DOUBLE} digits.\n\n| from | to |\n|---|---|\n"
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
        "\nAny other function is refused too, as are window functions (`OVER`), subqueries, `DISTINCT`, intervals,\n"
        "bit operators, `LIKE`, and arrays, maps and structs; the message says why and what to write.\n"
    )


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
