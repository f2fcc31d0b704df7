"""Patterns: LIKE, and the regular expressions that mean the same in Java and in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from featurekit.expr import text_rules as rules
from featurekit.expr.catalogue.row import INT, STRING, Function, Param, operator, scalar
from featurekit.expr.like_pattern import LikeError, parse_like
from featurekit.expr.nodes import Call, Literal, Node
from featurekit.expr.regex_subset import Pattern, parse_pattern
from featurekit.expr.regex_tree import PatternError
from featurekit.expr.replacement import parse_replacement
from featurekit.expr.signatures import Rule, Signature, literal_int, literal_text, mismatch
from featurekit.expr.spark_forms import Form, kept
from featurekit.types import Array, Boolean, DataType, Int32, String

_LIKES: Final = ("a%", "%a%", "%A", "_", "a_c", "%\\%%", "", "%", "%b%c%", "_%_", "ΑΣ%", "😀_")
# What each is for: classes, marks, groups, choices, case, counts, characters outside of the BMP.
_NOT_EMPTY: Final = (
    "[0-9]+", "a", "\\s", "(?i)[a-c]", "(a|b)(c)?", "\\w+\\b", "[^a-zA-Z]", "(?:ab|c){1,3}", ".$", "^.",
    "(.)\\1", "😀|é",
)  # fmt: skip
_PATTERNS: Final = (*_NOT_EMPTY, "a*", "^\\s*$", "(?s).*", "^[A-Z]{2,}?\\d?$", "(?<=a)b(?!c)", "")
_TEXT: Final = Param("text", STRING)
_LIKE: Final = Param("pattern", STRING, literal=True, edges=_LIKES)
_PATTERN: Final = Param("pattern", STRING, literal=True, edges=_PATTERNS, pattern=True)
_EATING: Final = Param("pattern", STRING, literal=True, edges=_NOT_EMPTY, pattern=True)
_GROUP: Final = Param("group", INT, literal=True, optional=True, edges=(1, 0, 2))
_REPLACEMENTS: Final = ("", "-", "<$0>", "$1", "\\$1", "\\\\", "😀$0")


def _like(args: tuple[Node, ...]) -> Signature:
    pattern = literal_text(args, 1, "the pattern")
    try:
        parse_like(pattern)
    except LikeError as error:
        raise mismatch(args, f"{error}, which escapes nothing", "\\\\ in a pattern for a backslash") from None
    return rules.text(String(), result=Boolean())(args)


def _ilike(call: Call, args: tuple[str, ...]) -> str:
    """Spark lowers both sides; its optimizer takes lower(upper(x)) for lower(x), but upper('ß') is SS."""
    value = call.args[0]
    cased = isinstance(value, Call) and value.function in ("lower", "upper")
    text = kept(value, args[0]) if cased else args[0]
    return f"({text} ILIKE {args[1]})"


def pattern_of(args: tuple[Node, ...]) -> Pattern:
    """Return the parsed pattern of a call's arguments; TypeMismatchError where it is none of the subset."""
    try:
        return parse_pattern(literal_text(args, 1, "the pattern"))
    except PatternError as error:
        raise mismatch(args, f"the pattern is outside of what Java and Python share: {error.why}", error.try_) from None


def _eating(args: tuple[Node, ...]) -> Pattern:
    """Return the pattern; refused where it can match no character."""
    pattern = pattern_of(args)
    if pattern.may_be_empty:
        raise mismatch(
            args,
            "the pattern can match nothing, and engines find nothing at different places",
            "let it match at least one character, such as \\s+ for \\s*",
        )
    return pattern


def _matching(*rest: DataType, result: DataType, pattern: Callable[[tuple[Node, ...]], Pattern]) -> Rule:
    def rule(args: tuple[Node, ...]) -> Signature:
        groups = pattern(args).groups
        if Int32() in rest:
            group = literal_int(args, 2, "the group") if len(args) == 3 else 1
            if not 0 <= group <= groups:
                raise mismatch(args, f"the pattern has no group {group}", "0 for the whole match; (…) makes a group")
        return rules.text(String(), *rest, result=result)(args)

    return rule


def _replacing(args: tuple[Node, ...]) -> Signature:
    pattern = _eating(args)
    try:
        parse_replacement(literal_text(args, 2, "the replacement"), pattern.groups)
    except PatternError as error:
        raise mismatch(args, error.why, error.try_) from None
    return rules.text(String(), String())(args)


def _splitting(args: tuple[Node, ...]) -> Signature:
    if literal_text(args, 1, "the pattern") != "":
        _eating(args)
    if len(args) == 3:
        literal_int(args, 2, "the limit")
    return rules.text(String(), Int32(), result=Array(String()))(args)


def _written(call: Call, text: str) -> str:
    """Return the pattern's SQL: as it was written, or what Java gets in its place."""
    literal = call.args[1]
    assert isinstance(literal, Literal)
    java = parse_pattern(literal.value).java
    return text if java == literal.value else f"CAST(X'{java.encode().hex()}' AS STRING)"


def _form(name: str) -> Form:
    return lambda call, args: f"{name}({', '.join((args[0], _written(call, args[1]), *args[2:]))})"


def _over(name: str, params: tuple[Param, ...], rule: Rule, doc: str, **rest: Any) -> Function:
    # Java 17 and 25 differ on \b outside of ASCII; Spark is given the same edges on each.
    return scalar(name, params, rule, _form(name), doc, **rest)


ROWS: Final[tuple[Function, ...]] = (
    operator("like", "like", (_TEXT, _LIKE), _like, "({0} LIKE {1})",
             "Whether all of the text is as the pattern: % is any text, _ one character, \\ before them themselves. "
             "`x LIKE '50/%' ESCAPE '/'` names another escape character."),
    operator("ilike", "ilike", (_TEXT, _LIKE), _like, _ilike,
             "LIKE on both sides in lower case."),
    _over("regexp_like", (_TEXT, _PATTERN), _matching(result=Boolean(), pattern=pattern_of),
          "Whether the pattern matches somewhere in the text. Also `x RLIKE 'a+'` and `x REGEXP 'a+'`."),
    _over("regexp_extract", (_TEXT, _PATTERN, _GROUP), _matching(Int32(), result=String(), pattern=pattern_of),
          "The group (1 unless given, 0 is all) of the first match; empty where nothing matches."),
    _over("regexp_extract_all", (_TEXT, _EATING, _GROUP), _matching(Int32(), result=Array(String()), pattern=_eating),
          "The group of each match, in order."),
    _over("regexp_substr", (_TEXT, _PATTERN), _matching(result=String(), pattern=pattern_of),
          "The first match; NULL where nothing matches.", raises=True),
    _over("regexp_count", (_TEXT, _EATING), _matching(result=Int32(), pattern=_eating), "How many matches there are."),
    _over("regexp_instr", (_TEXT, _EATING), _matching(result=Int32(), pattern=_eating),
          "Where the first match begins, from 1; 0 where nothing matches."),
    _over("regexp_replace",
          (_TEXT, _EATING, Param("replacement", STRING, literal=True, edges=_REPLACEMENTS, pattern=True)), _replacing,
          "The text with each match replaced; $1 is the first group, $0 the match, \\ before $ or \\ the character."),
    scalar("split", (_TEXT, Param("pattern", STRING, literal=True, edges=(*_NOT_EMPTY, ""), pattern=True),
                     Param("limit", INT, literal=True, optional=True, edges=(-1, 2, 0, 1, 3))),
           _splitting, _form("split"),
           "The parts between the matches, at most `limit` of them if that is above 0; '' parts single characters."),
)  # fmt: skip
