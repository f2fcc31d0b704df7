"""JSON at lookup time: Spark's bounds, and no text that could stop a request."""

from __future__ import annotations

import random
from typing import Any

import pytest

from featurekit.errors import TypeMismatchError, UnsupportedFunctionError
from featurekit.expr.json_path import PathError, parse_path
from featurekit.expr.nodes import Column
from featurekit.expr.parse import parse_expression
from featurekit.expr.scope import ColumnScope
from featurekit.targets.kernels.json_reader import MAX_DEPTH, MAX_DIGITS
from featurekit.targets.python import compile_row
from featurekit.types import String

COLUMNS = (Column(name="s", type=String(), nullable=True),)
SCOPE = ColumnScope.of(COLUMNS)


def compiled(sql: str) -> Any:
    evaluate = compile_row([parse_expression(sql, SCOPE, aggregates_allowed=False)], COLUMNS)
    return lambda value: evaluate([value])[0]


@pytest.mark.parametrize(
    "path", ["", "$", "a", "$a", "$.", "$..a", "$.*", "$[*]", "$.a[-1]", "$.a[01]", "$['']", "$.a b"]
)
def test_path_outside_of_the_subset_is_refused(path: str) -> None:
    with pytest.raises(PathError):
        parse_path(path)
    with pytest.raises(TypeMismatchError, match="path"):
        compiled("json_string(s, '" + path.replace("'", "\\'") + "')")


def test_get_json_object_is_refused_with_what_to_write() -> None:
    with pytest.raises(UnsupportedFunctionError) as caught:
        compiled("get_json_object(s, '$.a')")
    assert "json_double" in str(caught.value.try_)


def test_a_text_nests_as_deep_as_spark_reads_it_and_no_deeper() -> None:
    read = compiled("json_string(s, '$[0]')")
    for depth in (MAX_DEPTH - 1, MAX_DEPTH):
        assert read("[" * depth + "]" * depth) == "[" * (depth - 1) + "]" * (depth - 1)
    assert read("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1)) is None
    assert read("[" * 200_000) is None


def test_an_integer_is_as_long_as_spark_reads_it_and_no_longer() -> None:
    read = compiled("json_string(s, '$[0]')")
    assert read(f"[{'9' * MAX_DIGITS}]") == "9" * MAX_DIGITS
    assert read(f"[{'9' * (MAX_DIGITS + 1)}]") is None
    assert compiled("json_bigint(s, '$[0]')")(f'["{"9" * 10_000}"]') is None


def test_fractions_are_read_as_doubles_to_the_last_bit() -> None:
    read = compiled("json_double(s, '$.a')")
    draw = random.Random(5)
    for _ in range(2000):
        value = draw.uniform(-1, 1) * 10.0 ** draw.randint(-300, 300)
        assert read(f'{{"a":{value!r}}}') == value


def test_no_text_raises() -> None:
    functions = ["json_string(s, '$.a.b')", "json_double(s, '$[0]')", "json_array_length(s)", "json_object_keys(s)"]
    draw = random.Random(7)
    for evaluate in map(compiled, functions):
        for _ in range(3000):
            evaluate("".join(draw.choice("{}[]\",:'\\u0aebtrfn1.-+E \x00😀") for _ in range(draw.randint(0, 25))))


def test_short_texts_are_read_as_long_ones_are() -> None:
    draw = random.Random(9)
    functions = ["json_string(s, '$.a')", "json_string(s, '$[0]')", "json_array_length(s)", "json_object_keys(s)"]
    texts = [
        '{"a":1.5e3,"b":[1,{"c":null}]}', '[true,"x\\u00e9\\ud83d\\ude00",-0,[]]', '{"a":{"b":"\\"q\\""},"a":NaN}',
    ]  # fmt: skip
    for evaluate in map(compiled, functions):
        for _ in range(3000):
            letters = list(draw.choice(texts))
            for _ in range(draw.randint(0, 2)):
                letters[draw.randrange(len(letters))] = draw.choice("{}[]\",:'\\u0aebtrfn1.-+E \x00\x0b")
            text = "".join(letters)
            assert evaluate(text) == evaluate(text + " " * MAX_DIGITS), text
