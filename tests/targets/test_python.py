"""The generated row function: what it computes once, what it leaves out, what it never holds."""

from __future__ import annotations

from typing import Any

import pytest

from featurekit.expr.nodes import Column
from featurekit.expr.parse import parse_expression
from featurekit.expr.scope import ColumnScope
from featurekit.targets import kernels
from featurekit.targets.kernels.kernel import always
from featurekit.targets.python import compile_row, source
from featurekit.types import Float64, Int32, String

COLUMNS = (
    Column(name="i", type=Int32(), nullable=True),
    Column(name="d", type=Float64(), nullable=True),
    Column(name="s", type=String(), nullable=True),
)
SCOPE = ColumnScope.of(COLUMNS)


def compiled(*texts: str) -> Any:
    return compile_row([parse_expression(sql, SCOPE, aggregates_allowed=False) for sql in texts], COLUMNS)


def test_one_value_for_each_expression_in_order() -> None:
    assert compiled("i + 1", "upper(s)", "d / 0", "NULL", "'x'")([1, 2.0, "a"]) == (2, "A", None, None, "x")


def test_shared_subtrees_are_computed_once() -> None:
    nodes = [parse_expression(sql, SCOPE, aggregates_allowed=False) for sql in ("round(d, 1) + 1", "round(d, 1) * 2")]
    assert source(nodes, COLUMNS).count(": round") == 1


def test_zero_and_minus_zero_are_not_shared() -> None:
    plus, minus = compiled("0.0D", "-0.0D")([None, None, None])
    assert (str(plus), str(minus)) == ("0.0", "-0.0")
    plus, minus = compiled("d * 0.0D", "d * -0.0D")([None, 1.0, None])
    assert (str(plus), str(minus)) == ("0.0", "-0.0")


def test_branch_that_is_not_taken_is_not_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def upper(value: str) -> str:
        calls.append(value)
        return value.upper()

    monkeypatch.setitem(kernels.KERNELS, "upper", always(upper))
    evaluate = compiled("CASE WHEN i > 0 THEN upper(s) WHEN i < 0 THEN lower(s) ELSE 'none' END")
    assert evaluate([0, None, "a"]) == ("none",)
    assert evaluate([-1, None, "A"]) == ("a",)
    assert calls == []
    assert evaluate([1, None, "a"]) == ("A",)
    assert calls == ["a"]


def test_what_a_branch_computed_is_not_used_outside_of_it() -> None:
    evaluate = compiled(
        "CASE WHEN i > 0 THEN upper(s) ELSE 'x' END", "upper(s)", "CASE WHEN i > 9 THEN 1 ELSE length(upper(s)) END"
    )
    assert evaluate([0, None, "ab"]) == ("x", "AB", 2)


def test_text_of_the_user_is_bound_never_written_into_the_code() -> None:
    hostile = "'); import os; os.abort() #"
    column = Column(name='x"\n    return 1 #', type=String(), nullable=True)
    scope = ColumnScope.of([column])
    name = column.name.replace("`", "``")
    literal = hostile.replace("'", "''")
    node = parse_expression(f"concat(`{name}`, '{literal}')", scope, aggregates_allowed=False)
    assert compile_row([node], [column])(["a"]) == ("a" + hostile,)
    code = [line for line in source([node], [column]).splitlines() if not line.startswith("#")]
    assert "os" not in " ".join(code)


def test_functions_of_many_arguments_are_not_nested_beyond_what_python_parses() -> None:
    few = ", ".join(["d", "i + 0.5D"] * 10)
    many = ", ".join(["d", "i + 0.5D"] * 200)
    for name in ("greatest", "least"):
        assert compiled(f"{name}({few})", f"{name}({many})")([7, 2.0, None]) in ((7.5, 7.5), (2.0, 2.0))
    pairs = ", ".join(["s"] * 200)
    assert compiled(f"hash({pairs})", f"xxhash64({pairs})")([None, None, None]) == (42, 42)
    assert compiled(f"hash({pairs})")([None, None, "a"]) != (42,)
