"""The catalogue: one row per function, operator and aggregate. What a row does not say, no other module decides.

A row and its kernel (`targets/kernels`) are the whole meaning of a function. The parser accepts what has a row, `infer`
applies the row's type and null rules, `targets.spark` renders its template, tests and docs walk the rows. Rows of kind
SYNTAX have a syntax of their own (CAST, CASE) or stand for other rows (`nullif`); `expr.sugar` expands them.

The Spark templates never raise, with ANSI on or off, and give the same bits under both (DESIGN V2).
"""

from __future__ import annotations

from typing import Final

from featurekit.expr.catalogue import (
    aggregates,
    arithmetic,
    arrays,
    binary,
    bits,
    buckets,
    choice,
    comparison,
    forms,
    hashing,
    json,
    logic,
    maps,
    maths,
    regex,
    structs,
    temporal,
    text,
)
from featurekit.expr.catalogue.row import Function

CATALOGUE_VERSION: Final = 1

FAMILIES: Final[tuple[tuple[str, tuple[Function, ...]], ...]] = (
    ("Arithmetic", arithmetic.ROWS),
    ("Maths", maths.ROWS),
    ("Bits", bits.ROWS),
    ("Comparison", comparison.ROWS),
    ("Logic", logic.ROWS),
    ("Choice", choice.ROWS),
    ("Buckets, distances and similarity", buckets.ROWS),
    ("Text", text.ROWS),
    ("Patterns", regex.ROWS),
    ("JSON", json.ROWS),
    ("Bytes", binary.ROWS),
    ("Hashes", hashing.ROWS),
    ("Time", temporal.ROWS),
    ("Arrays", arrays.ROWS),
    ("Maps", maps.ROWS),
    ("Structs", structs.ROWS),
    ("Syntax of its own", forms.ROWS),
    ("Aggregates", aggregates.ROWS),
)
_ROWS: Final = tuple(row for _, rows in FAMILIES for row in rows)

FUNCTIONS: Final[dict[str, Function]] = {row.name: row for row in _ROWS}
BY_SPELLING: Final[dict[str, Function]] = {spelling: row for row in _ROWS for spelling in row.spellings}
BINARY: Final[dict[str, Function]] = {row.operator: row for row in _ROWS if row.operator and row.arity != (1, 1)}
