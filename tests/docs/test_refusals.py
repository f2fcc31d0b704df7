"""What refusals advise is accepted: each piece of SQL in them compiles, for columns of some types."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from typing import Final

import pytest

from featurekit.errors import FeaturekitError
from featurekit.expr import refusals
from featurekit.expr.functions import BY_SPELLING
from featurekit.expr.nodes import Column
from featurekit.expr.parse import parse_expression
from featurekit.expr.refusals import Refusal
from featurekit.expr.scope import ColumnScope
from featurekit.types import Array, Boolean, DataType, Float64, Int32, Int64, Map, String, Timestamp

KINDS: Final[tuple[DataType, ...]] = (
    Int64(), Float64(), String(), Boolean(), Timestamp(), Array(Int32()), Array(Float64()), Map(String(), Int64()),
)  # fmt: skip
_CALLED: Final = re.compile(r"(?:\d\.\dD [-+*/] )?\b[A-Za-z]\w*\(")
_INFIX: Final = re.compile(r"\b[abtx](?: [-+*/] (?:INTERVAL 1 DAY|[abtx])|::[A-Z]+)\b")
_LISTED: Final = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")
_TAIL: Final = re.compile(r" (?:[-+*/=]) $")


def all_refusals() -> dict[str, Refusal]:
    """Return each refusal under a name."""
    named = {name: value for name, value in vars(refusals).items() if isinstance(value, Refusal)}
    return {**{next(key for key, one in refusals.FUNCTIONS.items() if one is value): value
               for value in refusals.FUNCTIONS.values()}, **named}  # fmt: skip


def pieces(text: str) -> Iterator[str]:
    """Yield the SQL in a sentence: calls up to their closing parenthesis, joined where operators join them."""
    yield from _INFIX.findall(re.sub(r"\(.*?\)", "()", text))
    piece, at = "", 0
    while found := _CALLED.search(text, at):
        between = text[at : found.start()]
        if piece and _TAIL.fullmatch(between):
            piece += between
        elif piece:
            yield piece
            piece = ""
        end = _closing(text, found.end())
        if tail := re.match(r" FILTER \(", text[end:]):
            end = _closing(text, end + tail.end())
        piece, at = piece + text[found.start() : end], end
    if piece:
        yield piece


def _closing(text: str, at: int) -> int:
    depth = 1
    while depth:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at


def compiles(piece: str) -> bool:
    """Return whether the piece is an expression, its names being columns of some types."""
    bound = set(re.findall(r"\w+", " ".join(map("".join, re.findall(r"\(([\w, ]+)\) ->|(\w+ )->", piece)))))
    names = sorted(set(re.findall(r"(?<![\w'])[abmtxy](?![\w'(])", re.sub(r"'[^']*'", "''", piece))) - bound)
    for kinds in product(KINDS, repeat=len(names)):
        columns = [Column(name=name, type=kind, nullable=True) for name, kind in zip(names, kinds, strict=True)]
        scope = ColumnScope.of(columns)
        try:
            parse_expression(piece, scope, aggregates_allowed=True)
        except FeaturekitError:
            continue
        return True
    return False


ADVICE: Final = [
    pytest.param(piece, id=f"{name}: {piece}")
    for name, refusal in all_refusals().items()
    for piece in pieces(refusal.try_)
    if "…" not in piece
]


def test_most_refusals_show_sql() -> None:
    assert len(ADVICE) > 50
    assert list(pieces("sum(x) / count(x), or t + INTERVAL 1 DAY; size(f(x))")) == [
        "t + INTERVAL 1 DAY",
        "sum(x) / count(x)",
        "size(f(x))",
    ]


@pytest.mark.parametrize("piece", ADVICE)
def test_sql_that_a_refusal_advises_is_accepted(piece: str) -> None:
    assert compiles(piece)


@pytest.mark.parametrize("name", all_refusals())
def test_functions_that_a_refusal_names_are_there(name: str) -> None:
    words = _LISTED.findall(re.sub(r"'[^']*'", "", all_refusals()[name].try_))
    assert [word for word in words if word not in BY_SPELLING and word != "not_null"] == []


@pytest.mark.parametrize("name", refusals.FUNCTIONS)
def test_function_that_is_refused_is_refused_with_its_own_reason(name: str) -> None:
    scope = ColumnScope(())
    with pytest.raises(FeaturekitError) as caught:
        parse_expression(f"{name}(1)", scope, aggregates_allowed=True)
    assert caught.value.why == refusals.FUNCTIONS[name].why
