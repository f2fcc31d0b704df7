"""The subset of regular expressions: what is read, what is refused and why."""

from __future__ import annotations

import re

import pytest

from featurekit.expr.like_pattern import LikeError, parse_like, write_like
from featurekit.expr.regex_subset import parse_pattern
from featurekit.expr.regex_tree import PatternError
from featurekit.expr.replacement import parse_replacement

REFUSED = [
    ("a{", "begins a count"),
    ("a{,3}", "begins a count"),
    ("a{3,2}", "the smaller first"),
    ("a{1001}", "1 to 1000"),
    ("*a", "nothing before it"),
    ("a**", "quantifier of a quantifier"),
    ("^*", "a place can't be repeated"),
    ("(a*)+", "match nothing"),
    ("(a|)*", "match nothing"),
    ("(a|b)+", "overflows its stack"),
    ("(ab|c){1,101}", "overflows its stack"),
    ("((a|b){1,50}c){1,3}", "overflows its stack"),
    (r"(\w+\s?)+", "exponential"),
    (r"(?:a+){2,50}", "exponential"),
    ("(ab)*+", "possessive groups"),
    ("[a&&b]", "Java's alone"),
    ("[a[b]]", "Java's alone"),
    ("[]a]", "begins the class"),
    (r"[a-\d]", "one character to a later one"),
    (r"[\w-x]", "one character to a later one"),
    ("[z-a]", "one character to a later one"),
    ("[a-\uffff]", "U\\+D800"),
    (r"\p{L}", "from one Java to the next"),
    (r"(?i)\p{Lower}", "under"),
    (r"\h", "read differently"),
    (r"\R", "read differently"),
    (r"\v", "read differently"),
    (r"\Qa\E", "read differently"),
    (r"\07", "read differently"),
    (r"\ud83d", "half a character"),
    (r"\x4", "hexadecimal"),
    ("(?m)^a", "kind of group"),
    ("a(?i)b", "kind of group"),
    ("(?<name>a)", "one length|kind of group"),
    ("(?>a)", "kind of group"),
    ("(?<=a+)b", "one length"),
    ("(?=(a))b", "look-around keeps"),
    ("(?=a(?=b))", "look-around inside"),
    (r"\1(a)", "back-reference"),
    (r"(a)\12", "back-reference"),
    (r"(?i)(a)\1", "back-reference"),
    ("(a", "not closed"),
    ("a)", "closes nothing"),
    ("[a", "ends too early"),
    ("a\\", "ends too early"),
    ("a" * 1001, "at most 1000"),
]


@pytest.mark.parametrize(("pattern", "why"), REFUSED)
def test_pattern_outside_of_the_subset_is_refused_with_a_reason(pattern: str, why: str) -> None:
    with pytest.raises(PatternError, match=why) as caught:
        parse_pattern(pattern)
    assert caught.value.try_


ACCEPTED = [
    r"^[A-Z]{2}-\d{1,4}$",
    r"(\w+)@(\w+)\.(com|org)",
    "(?:ab)+",
    "(ab|c){1,100}",
    "([a-z])+",
    r"(\d{3})+",
    "(?is)a.b",
    r"\bcat\b",
    r"(?<=ab|cd)x",
    "a++b",
    "(a)?b",
    r"(.)(.)\2\1",
    "[-a]",
    "[a-]",
    r"[^\]]",
    "a]b}",
    "",
]


@pytest.mark.parametrize("pattern", ACCEPTED)
def test_pattern_of_the_subset_compiles_in_python(pattern: str) -> None:
    parsed = parse_pattern(pattern)
    assert re.compile(parsed.python).groups == parsed.groups


def test_spark_gets_the_pattern_as_it_was_written() -> None:
    for pattern in (r"^[A-Z]{2}-\d{1,4}$", r"(?i)a|\x41\u00e9[^\s]", "(a)?b*?c{2,}"):
        assert parse_pattern(pattern).java == pattern


def test_word_edges_are_written_out_for_spark_because_javas_differ() -> None:
    assert "\\b" not in parse_pattern(r"\bcat\B").java


def test_one_text_is_known_as_one() -> None:
    assert parse_pattern(r"a\.b").literal == "a.b"
    assert parse_pattern("").literal == ""
    for pattern in ("a.b", "(?i)a", "a*", "(a)", "^a"):
        assert parse_pattern(pattern).literal is None


@pytest.mark.parametrize("pattern", ["a*", "^$", "a|", "(?=a)", r"\b", "a{0,3}", ""])
def test_pattern_that_can_match_nothing_is_known(pattern: str) -> None:
    assert parse_pattern(pattern).may_be_empty


@pytest.mark.parametrize("text", ["$2", "$", "a$x", "${name}", "a\\"])
def test_replacement_that_java_would_not_take_is_refused(text: str) -> None:
    with pytest.raises(PatternError):
        parse_replacement(text, 1)


@pytest.mark.parametrize("pattern", ["a\\", "a\\b", "\\"])
def test_escape_of_nothing_is_refused(pattern: str) -> None:
    with pytest.raises(LikeError):
        parse_like(pattern)


@pytest.mark.parametrize("pattern", ["", "a%", "%_", "\\%\\_\\\\", "x%y_z"])
def test_like_pattern_is_written_as_it_was_read(pattern: str) -> None:
    assert write_like(parse_like(pattern)) == pattern
