"""Regular expressions that mean the same in Java and in Python: read once, written for each.

Patterns are Java's, as Spark takes them. What is accepted is what both engines match alike on every text; where only
the notation differs (`$`, `.`, `\\d`), Python gets another spelling. Two things Java's own versions disagree on are
written out for Java, too: `\\b` and `\\B` are edges of `\\w`, whatever the JDK. What would overflow Java's stack on a
long text, or take exponential time, is refused.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from featurekit.expr.regex_python import python_pattern
from featurekit.expr.regex_reader import Reader
from featurekit.expr.regex_tree import (
    Chars,
    Part,
    PatternError,
    Sequence,
    depth,
    is_explosive,
    is_one,
    looks_around,
    width,
)

MAX_LENGTH: Final = 1000
MAX_DEPTH: Final = 100
_NOT_WITHIN: Final = r"(?![\x{DC00}-\x{DFFF}])"


class Pattern(NamedTuple):
    """A pattern for both engines.

    `groups` counts those that capture; `may_be_empty`: it can match no character; `literal` is the one text that it
    matches, where there is only one.
    """

    java: str
    python: str
    groups: int
    may_be_empty: bool
    literal: str | None


@lru_cache(maxsize=256)
def parse_pattern(text: str) -> Pattern:
    """Return a pattern; PatternError where the engines are not known to agree on it.

    >>> parse_pattern(r"^\\d{2}$").python
    '\\\\A[0-9]{2}(?=(?:\\\\r\\\\n|(?<!\\\\r)\\\\n|[\\\\r\\\\x85\\\\u2028\\\\u2029])?\\\\Z)'
    """
    if len(text) > MAX_LENGTH:
        raise PatternError(f"a pattern has at most {MAX_LENGTH} characters", "split it into several conditions")
    reader = Reader(text)
    part = reader.whole()
    _check(part)
    return Pattern(
        java=reader.flags + _guarded("".join(reader.java), part),
        python=python_pattern(part),
        groups=reader.groups,
        may_be_empty=width(part)[0] == 0,
        literal=_literal(part),
    )


def plain_text(pattern: str) -> str | None:
    """Return the text that a pattern matches, if that is one text and not empty; None for others.

    >>> plain_text("a[.]b"), plain_text("a.b")
    ('a.b', None)
    """
    try:
        return parse_pattern(pattern).literal or None
    except PatternError:
        return None


def _check(part: Part) -> None:
    if is_explosive(part):
        raise PatternError(
            "a loop inside a loop can take exponential time on text that does not match",
            "one loop over a class, such as [a-z ]+ for ([a-z]+ ?)+",
        )
    if depth(part) > MAX_DEPTH:
        raise PatternError(
            "Java's engine calls itself for each round of such a group, and overflows its stack on long text",
            f"a class, such as [ab]+ for (a|b)+; or at most {MAX_DEPTH} rounds, such as (ab|c){{1,{MAX_DEPTH}}}",
        )


def _guarded(java: str, part: Part) -> str:
    """Return the pattern so that no match begins between the two halves that Java makes of a character such as 😀.

    Without look-arounds it would find the same match one half earlier. At the second half Java reads it alone.
    """
    return f"{_NOT_WITHIN}(?:{java})" if looks_around(part) else java


def _literal(part: Part) -> str | None:
    parts = part.parts if isinstance(part, Sequence) else (part,)
    letters = [each.ranges[0][0] for each in parts if isinstance(each, Chars) and is_one(each.ranges)]
    return "".join(map(chr, letters)) if len(letters) == len(parts) else None
