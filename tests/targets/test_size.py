"""Expressions of a size that people's generators write: nothing of Python's or Spark's own limits shows through."""

from __future__ import annotations

import pytest

from featurekit.errors import ExpressionError
from featurekit.expr.nodes import Node
from featurekit.expr.parse import parse_expression
from featurekit.targets.python import compile_loop, compile_row
from featurekit.targets.spark import render
from tests.semantics import edges, values


def _parsed(expression: str) -> Node:
    return parse_expression(expression, edges.SCOPE, aggregates_allowed=False)


def _values(node: Node) -> list[object]:
    evaluate = compile_row([node], edges.COLUMNS)
    return [evaluate(row)[0] for row in edges.rows()]


def _looped(node: Node) -> list[object]:
    (found,) = compile_loop([node], edges.COLUMNS)(list(edges.DATA.values()), edges.ROWS)
    return list(found)


def _nested(template: str, depth: int) -> str:
    text = "i32"
    for _ in range(depth):
        text = template.replace("#", text)
    return text


_TWENTY = " ".join(f"WHEN i32_b = {place} THEN i64" for place in range(20))


@pytest.mark.parametrize("count", [7, 8, 9, 16, 17, 200, 1000])
def test_the_branches_of_a_case_are_not_limited(count: int) -> None:
    branches = " ".join(f"WHEN i32 = {place} THEN {place} + i8" for place in range(count))
    node = _parsed(f"CASE {branches} ELSE -i8 END")
    expected = [
        small
        if small is None
        else (big + small if big is not None and 0 <= big < count else None if small == -128 else -small)
        for big, small in zip(edges.DATA["i32"], edges.DATA["i8"], strict=True)
    ]
    assert _values(node) == _looped(node) == expected


@pytest.mark.parametrize(
    "expression",
    [
        _nested(f"CASE {_TWENTY} WHEN b THEN # ELSE 3 END", 36),
        _nested(f"CASE {_TWENTY} ELSE # END", 36),
        _nested("if(#, b, b_b)", 38).replace("i32", "b"),
        _nested("transform(slice(ai, 1, 1), x -> CASE WHEN x > 1 THEN 1 WHEN x > 0 THEN size(#) END)", 9).replace(
            "i32", "ai"
        ),
    ],
    ids=["then", "else", "condition", "lambda"],
)
def test_choices_nest_as_deep_as_the_parser_reads(expression: str) -> None:
    node = _parsed(expression)
    assert all(values.same_bits(one, other, node.type) for one, other in zip(_values(node), _looped(node), strict=True))


@pytest.mark.parametrize(
    ("expression", "short"),
    [
        ("coalesce({})", ["nullif(i32, {place})"]),
        ("concat({})", ["s", "'{place}'"]),
        ("concat({})", ["bin", "X'00'"]),
        ("concat({})", ["ai", "array({place})"]),
        ("greatest({})", ["i32 - {place}"]),
        ("xxhash64({})", ["i32", "s"]),
    ],
)
def test_the_arguments_of_a_function_are_not_limited(expression: str, short: list[str]) -> None:
    arguments = [part.format(place=place) for place in range(1000) for part in short]
    node = _parsed(expression.format(", ".join(arguments)))
    assert len(_values(node)) == len(_looped(node)) == edges.ROWS


def test_many_arguments_mean_what_few_do() -> None:
    for few, many in (
        ("concat(s, 'x', s_b)", f"concat(s, 'x', s_b{', '.join(['', *[chr(39) * 2] * 60])})"),
        ("concat(bin, bin_b)", f"concat(bin, bin_b{', '.join(['', *[f'X{chr(39) * 2}'] * 60])})"),
        ("concat(ai, ai_b)", f"concat(ai, ai_b{', '.join(['', *['filter(ai, x -> false)'] * 60])})"),
        ("coalesce(i32, i32_b, 3)", f"coalesce({'i32, ' * 40}{'i32_b, ' * 40}3)"),
    ):
        expected = _values(_parsed(few))
        if few.startswith("concat(ai"):
            expected = [None if one is None else value for one, value in zip(edges.DATA["ai"], expected, strict=True)]
        assert _values(_parsed(many)) == expected


@pytest.mark.parametrize(
    ("template", "depth"),
    [("i64 div (#)", 36), ("floor(sqrt(#))", 19), ("shiftleft(3, bit_get(i32, #))", 18), ("size(map(#, 1))", 19)],
)
def test_guards_do_not_multiply_their_arguments(template: str, depth: int) -> None:
    half, whole = (len(render(_parsed(_nested(template, count)), lambda column: column.name))
                   for count in (depth // 2, depth))  # fmt: skip
    assert whole < 3 * half


def test_what_multiplies_is_refused_before_it_is_too_much() -> None:
    with pytest.raises(ExpressionError, match="operators"):
        _parsed(_nested("nullif(#, 7)", 38))
