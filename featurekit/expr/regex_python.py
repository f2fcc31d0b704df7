"""A pattern of our subset as Python's `re` writes it; sets are written out, so no flag and no table counts."""

from __future__ import annotations

from typing import Final

from featurekit.expr.regex_tree import (
    LAST,
    UNBOUNDED,
    Again,
    Chars,
    Choice,
    Group,
    Look,
    Mark,
    Part,
    Ranges,
    Repeat,
    Sequence,
    complement,
    is_one,
)

_PYTHON_MARKS: Final = {
    "start": r"\A",
    "end": r"\Z",
    "end or last newline": r"(?=(?:\r\n|(?<!\r)\n|[\r\x85\u2028\u2029])?\Z)",
    "word edge": r"(?:(?<=[0-9A-Z_a-z])(?![0-9A-Z_a-z])|(?<![0-9A-Z_a-z])(?=[0-9A-Z_a-z]))",
    "no word edge": r"(?:(?<=[0-9A-Z_a-z])(?=[0-9A-Z_a-z])|(?<![0-9A-Z_a-z])(?![0-9A-Z_a-z]))",
}


def python_pattern(part: Part) -> str:
    match part:
        case Chars(ranges=ranges):
            return _python_class(ranges)
        case Mark(place=place):
            return _PYTHON_MARKS[place]
        case Group(body=body, number=number):
            return f"({'?:' if number is None else ''}{python_pattern(body)})"
        case Look(body=body, ahead=ahead, negative=negative):
            return f"(?{'' if ahead else '<'}{'!' if negative else '='}{python_pattern(body)})"
        case Again(number=number):
            return f"(?:\\{number})"  # so that a digit after it stays one
        case Repeat(body=body, low=low, high=high, suffix=suffix):
            return f"{python_pattern(body)}{_python_counts(low, high)}{suffix}"
        case Sequence(parts=parts):
            return "".join(map(python_pattern, parts))
        case Choice(branches=branches):
            return "|".join(map(python_pattern, branches))


def _python_counts(low: int, high: int) -> str:
    if high == UNBOUNDED:
        return {0: "*", 1: "+"}.get(low, f"{{{low},}}")
    return "?" if (low, high) == (0, 1) else f"{{{low}}}" if low == high else f"{{{low},{high}}}"


def _python_class(ranges: Ranges) -> str:
    if ranges == ((0, LAST),):
        return "(?s:.)"
    if is_one(ranges):
        return _python_point(ranges[0][0])
    negated = ranges[0][0] == 0 and ranges[-1][1] == LAST
    members = complement(ranges) if negated else ranges
    inside = "".join(
        _python_point(first) if first == last else f"{_python_point(first)}-{_python_point(last)}"
        for first, last in members
    )
    return f"[{'^' if negated else ''}{inside}]"


def _python_point(point: int) -> str:
    letter = chr(point)
    if (letter.isascii() and letter.isalnum()) or letter == "_":
        return letter
    return f"\\x{point:02x}" if point < 256 else f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"
