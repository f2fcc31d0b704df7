"""Patterns: LIKE, and the regular expressions that mean the same in Java and in Python."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from featurekit.expr.like_pattern import Pieces, Wild, parse_like
from featurekit.expr.nodes import Call
from featurekit.expr.regex_subset import Pattern, parse_pattern
from featurekit.expr.replacement import parse_replacement
from featurekit.targets.kernels import text
from featurekit.targets.kernels.kernel import Factory, Kernel, literal_value


def _like(call: Call) -> Kernel:
    return _matcher(parse_like(literal_value(call, 1)))


def _ilike(call: Call) -> Kernel:
    matches = _matcher(parse_like(text.lower(literal_value(call, 1))))
    return lambda value: matches(text.lower(value))


def _matcher(pieces: Pieces) -> Callable[[str], bool]:
    match pieces:
        case ():
            return lambda value: value == ""
        case (str(whole),):
            return lambda value: value == whole
        case (str(head), Wild.ANY):
            return lambda value: value.startswith(head)
        case (Wild.ANY, str(tail)):
            return lambda value: value.endswith(tail)
        case (Wild.ANY, str(inside), Wild.ANY):
            return lambda value: inside in value
        case _:
            fullmatch = re.compile(_like_regex(pieces), re.DOTALL).fullmatch
            return lambda value: fullmatch(value) is not None


def _like_regex(pieces: Pieces) -> str:
    """Return the pattern as a regular expression that never goes back: each part is found where it first can be."""
    parts = [""]
    for piece in pieces:
        if piece is Wild.ANY:
            parts.append("")
        else:
            parts[-1] += "." if isinstance(piece, Wild) else re.escape(piece)
    head, *inner = parts
    if not inner:
        return head
    return f"{head}{''.join(f'(?>.*?{part})' for part in inner[:-1] if part)}.*{inner[-1]}"


def _pattern(call: Call) -> Pattern:
    return parse_pattern(literal_value(call, 1))


def _group(call: Call) -> int:
    return int(literal_value(call, 2)) if len(call.args) == 3 else 1


def _regexp_like(call: Call) -> Kernel:
    pattern = _pattern(call)
    if (literal := pattern.literal) is not None:
        return lambda value: literal in value
    search = re.compile(pattern.python).search
    return lambda value: search(value) is not None


def _regexp_extract(call: Call) -> Kernel:
    search = re.compile(_pattern(call).python).search
    group = _group(call)

    def kernel(value: str) -> str:
        found = search(value)
        return "" if found is None else found[group] or ""

    return kernel


def _regexp_extract_all(call: Call) -> Kernel:
    finditer = re.compile(_pattern(call).python).finditer
    group = _group(call)
    return lambda value: tuple([found[group] or "" for found in finditer(value)])


def _regexp_substr(call: Call) -> Kernel:
    search = re.compile(_pattern(call).python).search

    def kernel(value: str) -> str | None:
        found = search(value)
        return None if found is None else found[0] or None

    return kernel


def _regexp_count(call: Call) -> Kernel:
    pattern = _pattern(call)
    if (literal := pattern.literal) is not None:
        return lambda value: value.count(literal)
    finditer = re.compile(pattern.python).finditer
    return lambda value: sum(1 for _ in finditer(value))


def _regexp_instr(call: Call) -> Kernel:
    search = re.compile(_pattern(call).python).search

    def kernel(value: str) -> int:
        found = search(value)
        return 0 if found is None else found.start() + 1

    return kernel


def _regexp_replace(call: Call) -> Kernel:
    pattern = _pattern(call)
    pieces = parse_replacement(literal_value(call, 2), pattern.groups)
    constant = "".join(piece for piece in pieces if isinstance(piece, str))
    if any(isinstance(piece, int) for piece in pieces):
        sub = re.compile(pattern.python).sub
        return lambda value: sub(
            lambda found: "".join([piece if isinstance(piece, str) else found[piece] or "" for piece in pieces]), value
        )
    if (literal := pattern.literal) is not None:
        return lambda value: value.replace(literal, constant)
    sub = re.compile(pattern.python).sub
    template = constant.replace("\\", "\\\\")
    return lambda value: sub(template, value)


def _split(call: Call) -> Kernel:
    limit = max(literal_value(call, 2), 0) if len(call.args) == 3 else 0
    if literal_value(call, 1) == "":
        return _characters(limit)
    pattern = _pattern(call)
    if (literal := pattern.literal) is not None:
        return lambda value: tuple(value.split(literal, limit - 1))
    return _parts(re.compile(pattern.python), limit)


def _characters(limit: int) -> Kernel:
    def kernel(value: str) -> tuple[str, ...]:
        if not 0 < limit <= len(value):
            return tuple(value) or ("",)
        return (*value[: limit - 1], value[limit - 1 :])

    return kernel


def _parts(pattern: re.Pattern[str], limit: int) -> Kernel:
    def kernel(value: str) -> tuple[str, ...]:
        parts: list[str] = []
        start = 0
        for found in pattern.finditer(value):
            if len(parts) + 1 == limit:
                break
            parts.append(value[start : found.start()])
            start = found.end()
        parts.append(value[start:])
        return tuple(parts)

    return kernel


KERNELS: Final[dict[str, Factory]] = {
    "like": _like,
    "ilike": _ilike,
    "regexp_like": _regexp_like,
    "regexp_extract": _regexp_extract,
    "regexp_extract_all": _regexp_extract_all,
    "regexp_substr": _regexp_substr,
    "regexp_count": _regexp_count,
    "regexp_instr": _regexp_instr,
    "regexp_replace": _regexp_replace,
    "split": _split,
}
