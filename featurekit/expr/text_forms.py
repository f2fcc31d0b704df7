"""The Spark spellings of text functions that need guards: what would raise, what would not fit in memory."""

from __future__ import annotations

from typing import Final

from featurekit.expr.nodes import Call, Literal, Node
from featurekit.expr.spark_forms import Form

# The longest text that lpad, rpad and space (code points) or repeat (bytes) make; what would be longer is NULL. Spark's
# own bound is the memory of whichever machine computes the row.
MAX_MADE: Final = 10_000
_NO_COUNT: Final = "CAST(NULL AS INT)"
_CRLF: Final = "CAST(X'0d0a' AS STRING)"


def made(name: str, count: int) -> Form:
    """Return the form of a function whose argument at `count` says how long the result is."""

    def form(call: Call, args: tuple[str, ...]) -> str:
        bounded = _bounded(call.args[count], args[count])
        return f"{name}({', '.join((*args[:count], bounded, *args[count + 1 :]))})"

    return form


def _bounded(node: Node, text: str) -> str:
    if isinstance(node, Literal):
        return text if node.value is None or node.value <= MAX_MADE else _NO_COUNT
    return f"(CASE WHEN {text} <= {MAX_MADE} THEN {text} END)"


def repeated(_: Call, args: tuple[str, ...]) -> str:
    text, count = args
    # The product of two ints fits a bigint.
    return f"repeat({text}, (CASE WHEN octet_length({text}) * CAST({count} AS BIGINT) <= {MAX_MADE}L THEN {count} END))"


def split_part(call: Call, args: tuple[str, ...]) -> str:
    """Part 0 is an error in Spark, with ANSI on and off."""
    text, delimiter, part = args
    number = call.args[2]
    if not isinstance(number, Literal) or number.value == 0:
        part = f"nullif({part}, 0)"
    return f"split_part({text}, {delimiter}, {part})"


def levenshtein(call: Call, args: tuple[str, ...]) -> str:
    """A NULL threshold is NULL in Spark's compiled code, and 0 where it interprets the expression."""
    text = f"levenshtein({', '.join(args)})"
    if len(args) == 2 or not call.args[2].nullable:
        return text
    return f"(CASE WHEN {args[2]} IS NOT NULL THEN {text} END)"


def base64(_: Call, args: tuple[str, ...]) -> str:
    """Lines of 76 letters, parted here: whether Spark's own base64 does it is a setting."""
    return f"regexp_replace(replace(base64({args[0]}), {_CRLF}, ''), '(.{{76}})(?=.)', concat('$1', {_CRLF}))"


def unbase64(_: Call, args: tuple[str, ...]) -> str:
    """Spark's decoder passes over letters that are none of base64; this is where it would fail on the others."""
    text = args[0]
    rest = f"length(regexp_replace(substring_index({text}, '=', 1), '[^A-Za-z0-9+/]', '')) % 4"
    return (
        f"(CASE WHEN (CASE {rest} WHEN 0 THEN contains({text}, '=') WHEN 1 THEN true"
        f" WHEN 2 THEN regexp_like({text}, '^[^=]*=(?!=)') ELSE false END)"
        f" OR regexp_like({text}, '(?s)^[^=]*=.*[A-Za-z0-9+/]') THEN NULL ELSE unbase64({text}) END)"
    )
