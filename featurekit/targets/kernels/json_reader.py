"""JSON text to values, taking and refusing what Spark's parser does.

It is more lenient than the standard: quotes may be single, control characters stand in strings as they are, what
follows the value is not looked at. It has bounds: 1000 levels, 1000 digits, names of 50,000 letters.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

MAX_DEPTH: Final = 1000
MAX_DIGITS: Final = 1000
MAX_NAME: Final = 50_000
_SPACE: Final = re.compile(r"[ \t\n\r]*")
_PLAIN: Final = re.compile(r'"([^"\\]*)"')
_STRING: Final = re.compile(r'"((?:[^"\\]|\\.)*)"|\'((?:[^\'\\]|\\.)*)\'', re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED: Final = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "'": "'", "/": "/", "\\": "\\"}
_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_WORDS: Final[dict[str, Any]] = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}


class Members(list[tuple[str, Any]]):
    """An object: names and values in order, a name as often as it is written."""


class NotJson(Exception):  # noqa: N818
    """The text is not what Spark takes for JSON."""


def read_container(text: str) -> list[Any] | Members:
    """Return the object (as Members) or array (as a list) at the start of a text; NotJson where none is.

    Strings are str (halves of surrogate pairs joined, lone ones kept), numbers int or float, the rest as usual.
    """
    at = _skip(text, 0)
    if text[at : at + 1] not in ("{", "["):
        raise NotJson
    if len(text) <= MAX_DIGITS:
        try:
            return _QUICK.raw_decode(text, at)[0]  # type: ignore[no-any-return]
        except (ValueError, RecursionError):
            pass  # Spark is more lenient, and so is what follows
    return _read(text, at)


def _read(text: str, at: int) -> list[Any] | Members:
    stack: list[list[Any]] = []
    names: list[str] = []
    while True:
        value: Any
        opening = text[at : at + 1]
        if opening and opening in "{[":
            container: list[Any] = Members() if opening == "{" else []
            if len(stack) == MAX_DEPTH:
                raise NotJson
            at = _skip(text, at + 1)
            if text[at : at + 1] != _CLOSING[opening]:
                stack.append(container)
                if opening == "{":
                    at = _name(text, at, names)
                continue
            value, at = container, at + 1
        else:
            value, at = _scalar(text, at)
        while True:
            top = stack[-1] if stack else None
            if top is None:
                return value  # type: ignore[no-any-return]
            is_object = type(top) is Members
            top.append((names.pop(), value) if is_object else value)
            at = _skip(text, at)
            letter = text[at : at + 1]
            if letter == ",":
                at = _skip(text, at + 1)
                if is_object:
                    at = _name(text, at, names)
                break
            if letter != ("}" if is_object else "]"):
                raise NotJson
            value, at = stack.pop(), at + 1


def _refused(_: str) -> NoReturn:
    raise ValueError


# Python's own reader, where the text is too short to pass a bound: all that it takes then, but for NaN and the like,
# Spark takes, too.
_QUICK: Final = json.JSONDecoder(object_pairs_hook=Members, parse_constant=_refused, strict=False)
_CLOSING: Final = {"{": "}", "[": "]"}


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _name(text: str, at: int, names: list[str]) -> int:
    """Read a member's name and colon, return where its value begins."""
    name, at = _string(text, at)
    if len(name) > MAX_NAME:
        raise NotJson
    names.append(name)
    at = _skip(text, at)
    if text[at : at + 1] != ":":
        raise NotJson
    return _skip(text, at + 1)


def _string(text: str, at: int) -> tuple[str, int]:
    if plain := _PLAIN.match(text, at):
        return plain[1], plain.end()
    match = _STRING.match(text, at)
    if match is None:
        raise NotJson
    inside = match[1] if match[1] is not None else match[2]
    if "\\" in inside:
        inside = _joined(_ESCAPE.sub(_unescaped, inside))
    return inside, match.end()


def _unescaped(match: re.Match[str]) -> str:
    if match[1]:
        return chr(int(match[1], 16))
    found = _ESCAPED.get(match[2])
    if found is None:
        raise NotJson
    return found


def _joined(text: str) -> str:
    """Return the text with each two halves of one character as that character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _scalar(text: str, at: int) -> tuple[Any, int]:
    letter = text[at : at + 1]
    if letter in ('"', "'"):
        return _string(text, at)
    if letter in _WORDS:
        word, value = _WORDS[letter]
        if not text.startswith(word, at):
            raise NotJson
        return value, at + len(word)
    match = _NUMBER.match(text, at)
    if match is None:
        raise NotJson
    whole, fraction, exponent = match.groups()
    if fraction is None and exponent is None:
        if len(whole) > MAX_DIGITS:
            raise NotJson
        return int(match[0]), match.end()
    digits = len(whole) + max(len(fraction or ".") - 1, 0) + len((exponent or "e").lstrip("eE+-"))
    if whole == "0" and exponent is None:
        digits -= 1  # it is not counted there, for no reason we know
    if digits > MAX_DIGITS:
        raise NotJson
    return float(match[0]), match.end()
