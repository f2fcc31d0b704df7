"""LIKE, ILIKE, RLIKE and REGEXP: predicates with a syntax of their own, built into calls."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Final

from featurekit.errors import ExpressionError
from featurekit.expr import infer
from featurekit.expr.like_pattern import LikeError, parse_like, write_like
from featurekit.expr.nodes import Literal, Node

FUNCTIONS: Final = {"like": "like", "ilike": "ilike", "rlike": "regexp_like", "regexp": "regexp_like"}
QUANTIFIED: Final = {"any": "or", "some": "or", "all": "and"}


def matched(word: str, value: Node, pattern: Node, escape: str | None) -> Node:
    """Return `value word pattern`; a LIKE with an escape character is the same LIKE with a backslash."""
    if escape is not None:
        pattern = _with_backslash(word, pattern, escape)
    return infer.call(FUNCTIONS[word], value, pattern)


def matched_by(quantifier: str, word: str, value: Node, patterns: Sequence[Node]) -> Node:
    """Return `value LIKE ANY (…)` as a chain of OR, ALL as one of AND."""
    return reduce(
        lambda left, right: infer.call(QUANTIFIED[quantifier], left, right),
        (matched(word, value, pattern, None) for pattern in patterns),
    )


def _with_backslash(word: str, pattern: Node, escape: str) -> Node:
    if word not in ("like", "ilike"):
        raise ExpressionError(f"{word.upper()} has no ESCAPE", try_="a backslash before the character in the pattern")
    if len(escape) != 1:
        raise ExpressionError(f"ESCAPE takes one character, not {escape!r}", try_="ESCAPE '/'")
    if not isinstance(pattern, Literal) or not isinstance(pattern.value, str):
        return pattern  # the function says what it takes
    if word == "ilike" and not (pattern.value.isascii() and escape.isascii() and not escape.isalpha()):
        raise ExpressionError(
            "ILIKE with ESCAPE takes ASCII only, and no letter for the escape character",
            why="Spark lowers the pattern before it reads the escapes",
            try_="a backslash before the character in the pattern",
        )
    try:
        pieces = parse_like(pattern.value, escape)
    except LikeError as error:
        raise ExpressionError(
            f"{pattern.value!r} is not a pattern", why=str(error), try_=f"{escape * 2} for the character itself"
        ) from None
    return infer.literal(write_like(pieces))
