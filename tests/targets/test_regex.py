"""Patterns in expressions: what the grammar takes, and what is refused at compile time."""

from __future__ import annotations

from typing import Any

import pytest

from featurekit.errors import ExpressionError, TypeMismatchError
from featurekit.expr.nodes import Column
from featurekit.expr.parse import parse_expression
from featurekit.expr.scope import ColumnScope
from featurekit.targets.python import compile_row
from featurekit.targets.spark import render
from featurekit.types import String

COLUMNS = (Column(name="s", type=String(), nullable=True),)
SCOPE = ColumnScope.of(COLUMNS)


def compiled(sql: str) -> Any:
    evaluate = compile_row([parse_expression(sql, SCOPE, aggregates_allowed=False)], COLUMNS)
    return lambda value: evaluate([value])[0]


def rendered(sql: str) -> str:
    return render(parse_expression(sql, SCOPE, aggregates_allowed=False), lambda column: column.name)


@pytest.mark.parametrize(
    ("sql", "error", "why"),
    [
        ("s LIKE s", TypeMismatchError, "decides how"),
        ("s RLIKE s", TypeMismatchError, "decides how"),
        ("s LIKE 'a\\\\'", TypeMismatchError, "escapes nothing"),
        ("s LIKE 'a/b' ESCAPE '/'", ExpressionError, "stands before b"),
        ("s LIKE 'a' ESCAPE 'xy'", ExpressionError, "one character"),
        ("s ILIKE 'a' ESCAPE 'x'", ExpressionError, "lowers the pattern"),
        ("s RLIKE 'a' ESCAPE '/'", ExpressionError, "no ESCAPE"),
        ("s NOT LIKE ANY ('a')", ExpressionError, "none of them"),
        ("s RLIKE '(a|b)+'", TypeMismatchError, "stack"),
        ("regexp_extract(s, 'a')", TypeMismatchError, "no group 1"),
        ("regexp_extract(s, '(a)', 2)", TypeMismatchError, "no group 2"),
        ("regexp_extract(s, '(a)', -1)", TypeMismatchError, "no group -1"),
        ("regexp_replace(s, 'a*', '-')", TypeMismatchError, "match nothing"),
        ("regexp_count(s, '^')", TypeMismatchError, "match nothing"),
        ("split(s, ' *')", TypeMismatchError, "match nothing"),
        ("regexp_replace(s, 'a', '$1')", TypeMismatchError, "none of the pattern's 0 groups"),
    ],
)
def test_what_has_no_common_meaning_is_refused(sql: str, error: type[ExpressionError], why: str) -> None:
    with pytest.raises(error) as caught:
        parse_expression(sql, SCOPE, aggregates_allowed=False)
    assert why in f"{caught.value.what} {caught.value.why}"
    assert caught.value.try_


def test_a_like_with_an_escape_character_is_the_one_with_a_backslash() -> None:
    assert rendered("s LIKE '50/%' ESCAPE '/'") == rendered("s LIKE '50\\%'")


def test_like_takes_time_in_proportion_to_the_text() -> None:
    like = compiled("s LIKE '%a%a%a%a%a%a%a%a%a%a%b'")
    assert like("a" * 3000) is False
    assert like("a" * 3000 + "b") is True


def test_pattern_is_bound_as_it_is_in_the_generated_function() -> None:
    hostile = "'); import os; os.abort() #"
    assert compiled(f"s LIKE '%{hostile.replace(chr(39), chr(39) * 2)}'")(f"x{hostile}") is True


def test_patterns_see_characters_and_not_halves_of_them() -> None:
    assert compiled("s LIKE '_'")("😀") is True
    assert compiled("regexp_count(s, '.')")("😀😀") == 2
    assert compiled("regexp_instr(s, 'b')")("😀b") == 2
    assert compiled("split(s, '')")("a😀") == ("a", "😀")


def test_ends_of_text_are_javas() -> None:
    ends = compiled("s RLIKE 'a$'")
    assert [ends(text) for text in ("a", "a\n", "a\r\n", "a\u0085", "a\u2028", "a\n\n", "a\x0b")] == [
        True, True, True, True, True, False, False,
    ]  # fmt: skip
