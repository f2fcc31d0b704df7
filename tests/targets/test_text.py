"""Text and bytes beyond the recorded cases: declared bounds, what Spark raises, how calls with words are read."""

from __future__ import annotations

import random
from typing import Any

import pytest

from featurekit.errors import ExpressionError, TypeMismatchError, UnsupportedFunctionError
from featurekit.expr.nodes import Column
from featurekit.expr.parse import parse_expression
from featurekit.expr.scope import ColumnScope
from featurekit.expr.text_forms import MAX_MADE
from featurekit.targets.kernels import text_distance
from featurekit.targets.python import compile_row
from featurekit.targets.spark import render
from featurekit.types import Binary, Int32, String

COLUMNS = (
    Column(name="t", type=String(), nullable=True),
    Column(name="n", type=Int32(), nullable=True),
    Column(name="x", type=Binary(), nullable=True),
)
SCOPE = ColumnScope.of(COLUMNS)
FULL, EMPTY = "a" * MAX_MADE, None

# An expression over t and n, a row, and its value.
BOUNDS: list[tuple[str, tuple[Any, ...], Any]] = [
    ("lpad(t, n, 'a')", ("", MAX_MADE, None), FULL),
    ("lpad(t, n, 'a')", ("", MAX_MADE + 1, None), EMPTY),
    ("lpad(t, 2147483647, 'a')", ("a", 1, None), EMPTY),
    ("rpad(t, n, 'a')", ("", MAX_MADE, None), FULL),
    ("rpad(t, n, 'a')", ("", 2**31 - 1, None), EMPTY),
    ("lpad(x, n)", (None, 2**31 - 1, b"a"), EMPTY),
    ("repeat(t, n)", ("a", MAX_MADE, None), FULL),
    ("repeat(t, n)", ("a", MAX_MADE + 1, None), EMPTY),
    ("repeat(t, n)", ("é", MAX_MADE // 2, None), "é" * (MAX_MADE // 2)),
    ("repeat(t, n)", ("é", MAX_MADE // 2 + 1, None), EMPTY),
    ("repeat(t, n)", ("abc", 2**31 - 1, None), EMPTY),
    ("repeat(t, n)", ("", 2**31 - 1, None), ""),
    ("length(space(n))", (None, MAX_MADE, None), MAX_MADE),
    ("space(n)", (None, MAX_MADE + 1, None), EMPTY),
    ("space(2147483647)", (None, 0, None), EMPTY),
    ("unbase64(t)", ("a", 0, None), None),
    ("unbase64(t)", ("QQ=", 0, None), None),
    ("unbase64(t)", ("QQ=\n=", 0, None), None),
    ("unbase64(t)", ("QQ==Q", 0, None), None),
    ("unbase64(t)", ("QUJD=", 0, None), None),
    ("unbase64(t)", ("=", 0, None), None),
    ("unbase64(t)", ("QUI=\n", 0, None), b"AB"),
    ("url_decode(t)", ("%+1", 0, None), None),
    ("url_decode(t)", ("%１１", 0, None), None),
    ("url_decode(t)", ("%-0", 0, None), None),
    ("url_decode(t)", ("%EF%BC%91", 0, None), "１"),
    ("levenshtein(t, 'b', n)", ("a", None, None), None),
    ("split_part(t, ',', n)", ("a,b", 0, None), None),
]


def evaluated(sql: str, row: tuple[Any, ...]) -> Any:
    return compile_row([parse_expression(sql, SCOPE, aggregates_allowed=False)], COLUMNS)(row)[0]


def shown(sql: str) -> str:
    return render(parse_expression(sql, SCOPE, aggregates_allowed=False), lambda column: column.name)


@pytest.mark.parametrize(("sql", "row", "value"), BOUNDS)
def test_what_would_not_fit_or_would_raise_is_null(sql: str, row: tuple[Any, ...], value: Any) -> None:
    assert evaluated(sql, row) == value


def test_edit_distance_is_that_of_the_table_by_the_book() -> None:
    chance = random.Random(7)
    for _ in range(300):
        left, right = ("".join(chance.choices("abé😀", k=chance.randrange(0, 70))) for _ in range(2))
        row = list(range(len(right) + 1))
        for i, letter in enumerate(left, start=1):
            before, row[0] = row[0], i
            for j, other in enumerate(right, start=1):
                before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (letter != other))
        assert text_distance._levenshtein(left, right) == row[-1], (left, right)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("TRIM(t)", "trim(`t`)"),
        ("TRIM(BOTH FROM t)", "trim(`t`)"),
        ("TRIM(LEADING FROM t)", "ltrim(`t`)"),
        ("TRIM(TRAILING FROM t)", "rtrim(`t`)"),
        ("TRIM('x' FROM t)", "btrim(`t`, 'x')"),
        ("TRIM(LEADING 'x' || 'y' FROM t)", "trim(LEADING concat('x', 'y') FROM `t`)"),
        ("TRIM(TRAILING t FROM upper(t))", "trim(TRAILING `t` FROM upper(`t`))"),
        ("POSITION('a' IN t)", "locate('a', `t`)"),
        ("POSITION('a', t, 2)", "locate('a', `t`, 2)"),
        ("POSITION('a' || 'b' IN t) IN (1, 2)", "(locate(concat('a', 'b'), `t`) IN (1, 2))"),
        ("SUBSTRING(t FROM 2)", "substring(`t`, 2)"),
        ("SUBSTRING(t FROM n + 1 FOR 2)", "substring(`t`, try_add(`n`, 1), 2)"),
        ("OVERLAY(t PLACING 'x' FROM 2)", "overlay(`t`, 'x', 2)"),
        ("OVERLAY(t PLACING 'x' FROM 2 FOR 0)", "overlay(`t`, 'x', 2, 0)"),
        ("X'1'", "X'01'"),
        (r"r'\d'", shown(r"'\\d'")),
    ],
)
def test_words_in_calls_and_letters_before_quotes(written: str, meant: str) -> None:
    assert shown(written) == meant


@pytest.mark.parametrize(
    ("sql", "error", "says"),
    [
        ("trim(t, 'x')", ExpressionError, "btrim(text, characters)"),
        ("trim(LEADING 'x')", ExpressionError, "FROM is missing"),
        ("t || x", TypeMismatchError, "text and bytes don't mix"),
        ("concat(x, NULL)", TypeMismatchError, "text and bytes don't mix"),
        ("lpad(x, 3, 'a')", TypeMismatchError, "text and bytes don't mix"),
        ("upper(x)", TypeMismatchError, "string"),
        ("replace(n, 'a')", TypeMismatchError, "string"),
        ("left(t, 3000000000)", TypeMismatchError, "int"),
        ("encode(t, 'US-ASCII')", TypeMismatchError, "utf-8"),
        ("encode(t, t)", TypeMismatchError, "quoted literal"),
        ("decode(x, 'UTF-16')", TypeMismatchError, "utf-8"),
        ("decode(n, 1, 2)", TypeMismatchError, "NULL as the last argument"),
        ("to_binary(t, 'octal')", TypeMismatchError, "hex"),
        ("elt(t, 'a')", TypeMismatchError, "CASE place"),
        ("elt(1, t, x)", TypeMismatchError, "CASE place"),
        ("mask(t)", UnsupportedFunctionError, "Java version"),
        ("format_number(n, 2)", UnsupportedFunctionError, "CAST(x AS STRING)"),
        ("collate(t, 'UNICODE')", UnsupportedFunctionError, "lower(x) = lower(y)"),
        ("parse_url(t, 'HOST')", UnsupportedFunctionError, "split_part"),
    ],
)
def test_what_has_no_meaning_is_refused_with_what_to_write(sql: str, error: type[Exception], says: str) -> None:
    with pytest.raises(error) as refused:
        parse_expression(sql, SCOPE, aggregates_allowed=False)
    assert says in str(refused.value)
