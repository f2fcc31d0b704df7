"""A file's text, and where in it each character of a scalar's value was written."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from yaml.scanner import Scanner

from featurekit.definitions.yaml_source import Scalar


@dataclass(frozen=True, slots=True)
class YamlFile:
    """A file's text under the name that people see."""

    name: str
    text: str
    _lines: list[int] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        starts = [0, *(at + 1 for at, character in enumerate(self.text) if character == "\n")]
        object.__setattr__(self, "_lines", starts)

    def position(self, index: int) -> str:
        """Return `name:line:column` of a character, both counted from 1."""
        line = bisect_right(self._lines, index)
        return f"{self.name}:{line}:{index - self._lines[line - 1] + 1}"

    def position_in(self, scalar: Scalar, offset: int) -> str:
        """Return the position of a character of the scalar's value; of the scalar's start where it is not certain."""
        index = _index_in(self.text, scalar, offset)
        return self.position(scalar.start if index is None else index)


def _index_in(text: str, scalar: Scalar, offset: int) -> int | None:
    """Return the index in the file of the scalar's character at `offset`, None where that can't be told for certain.

    YAML folds, strips and re-indents white space and nothing else (outside escapes): so the value's n-th visible
    character is the n-th visible one of the text as written, in each of the five styles.
    """
    written = [(character, index) for character, index in _written(text, scalar) if not character.isspace()]
    value = [(character, at) for at, character in enumerate(scalar.text) if not character.isspace()]
    if [character for character, _ in written] != [character for character, _ in value] or not value:
        return None
    before = [(at, index) for (_, at), (_, index) in zip(value, written, strict=True) if at <= offset]
    if not before:
        return written[0][1]
    at, index = before[-1]
    # Between two visible characters (or at the very end): as far after the one before it.
    return min(index + (offset - at), scalar.end)


def _written(text: str, scalar: Scalar) -> Iterator[tuple[str, int]]:
    """Yield the scalar's characters as written, escapes undone, with their indices in the file."""
    match scalar.style:
        case None:
            yield from zip(text[scalar.start : scalar.end], range(scalar.start, scalar.end), strict=True)
        case "'" | '"':
            yield from _unescaped(text, scalar.start + 1, scalar.end - 1, scalar.style)
        case _:
            header_end = text.find("\n", scalar.start, scalar.end)
            start = scalar.end if header_end < 0 else header_end + 1
            yield from zip(text[start : scalar.end], range(start, scalar.end), strict=True)


def _unescaped(text: str, start: int, end: int, quote: str) -> Iterator[tuple[str, int]]:
    at = start
    while at < end:
        if quote == "'" and text[at] == "'":
            yield "'", at
            at += 2
        elif quote == '"' and text[at] == "\\":
            digits = Scanner.ESCAPE_CODES.get(text[at + 1], 0)
            code = text[at + 2 : at + 2 + digits]
            yield (chr(int(code, 16)) if code else Scanner.ESCAPE_REPLACEMENTS.get(text[at + 1], " ")), at
            at += 2 + digits
        else:
            yield text[at], at
            at += 1
