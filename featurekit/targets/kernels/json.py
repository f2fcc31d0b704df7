"""JSON: typed values at a path, as Spark's own parser would find and print them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, Final

from featurekit.expr.json_path import Steps, parse_path
from featurekit.expr.nodes import Call
from featurekit.targets.kernels.json_reader import Members, NotJson, read_container
from featurekit.targets.kernels.kernel import Factory, Kernel, always, literal_value

_FRACTION: Final = re.compile(r"-?[0-9]+[.][0-9]+(?:E[+-]?[0-9]+)?\Z|[\[{](?:.*[\[,:])?-?[0-9]+[.][0-9]", re.DOTALL)
_NUMBER: Final = re.compile(r"-?[0-9]+(?:[.][0-9]+)?(?:[eE][+-]?[0-9]+)?\Z")
_INTEGER: Final = re.compile(r"-?[0-9]+\Z")
_MAX_INTEGER_DIGITS: Final = 4000  # Python refuses to read longer ones, and none of them fits
_HALF: Final = re.compile("[\ud800-\udfff]")
_TO_ESCAPE: Final = re.compile('["\\\\\x00-\x1f\ud800-\udfff\U00010000-\U0010ffff]')
_SHORT_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def _found(text: str, steps: Steps) -> str | None:
    """Return the value at a path as Spark prints it, but for the digits of a fraction."""
    try:
        return _follow(read_container(text), steps)
    except NotJson:
        return None


def _follow(value: Any, steps: Steps) -> str | None:
    for place, step in enumerate(steps):
        if isinstance(step, int):
            if type(value) is not list or step >= len(value):
                return None
            value = value[step]
        else:
            return _member(value, step, steps[place + 1 :])
    return _top(value)


def _member(value: Any, name: str, rest: Steps) -> str | None:
    """Return what the rest of the path finds in the first member of that name where it finds something."""
    if type(value) is not Members:
        return None
    for key, item in value:
        if key == name and item is not None and (found := _follow(item, rest)) is not None:
            return found
    return None


def _top(value: Any) -> str:
    if not isinstance(value, str):
        return _printed(value)
    if _HALF.search(value):
        raise NotJson  # Spark can't write half a character
    return value


def _printed(value: Any) -> str:
    """Return a value as JSON text without spaces; loops, because values nest deeper than Python calls."""
    parts: list[str] = []
    pending: list[Any] = [value]
    while pending:
        item = pending.pop()
        match item:
            case _Text():
                parts.append(item)
            case str():
                parts.append(_quoted(item))
            case Members():
                pending.append(_Text("}"))
                for place in range(len(item) - 1, -1, -1):
                    key, member = item[place]
                    pending += (member, _Text(f"{',' if place else ''}{_quoted(key)}:"))
                parts.append("{")
            case list():
                pending.append(_Text("]"))
                for place in range(len(item) - 1, -1, -1):
                    pending.append(item[place])
                    if place:
                        pending.append(_Text(","))
                parts.append("[")
            case _:
                parts.append(_printed_scalar(item))
    return "".join(parts)


class _Text(str):
    """A piece that is printed already."""

    __slots__ = ()


def _printed_scalar(value: Any) -> str:
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if math.isinf(value):
        return '"Infinity"' if value > 0 else '"-Infinity"'
    return f"{value:.17E}"


def _quoted(text: str) -> str:
    return f'"{_TO_ESCAPE.sub(_escaped, text)}"'


def _escaped(match: re.Match[str]) -> str:
    letter = match[0]
    if letter in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[letter]
    units = letter.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at] << 8 | units[at + 1]:04X}" for at in range(0, len(units), 2))


def _at_path(read: Callable[[str], Any]) -> Factory:
    def factory(call: Call) -> Kernel:
        steps = parse_path(literal_value(call, 1))

        def kernel(text: str) -> Any:
            found = _found(text, steps)
            return None if found is None else read(found)

        return kernel

    return factory


def _text(found: str) -> str | None:
    return None if _FRACTION.match(found) else found


def _double(found: str) -> float | None:
    return float(found) if _NUMBER.match(found) else None


def _bigint(found: str) -> int | None:
    if not _INTEGER.match(found) or len(found) > _MAX_INTEGER_DIGITS:
        return None
    value = int(found)
    return value if -(1 << 63) <= value < 1 << 63 else None


def _boolean(found: str) -> bool | None:
    return {"true": True, "false": False}.get(found)


def _array_length(text: str) -> int | None:
    try:
        value = read_container(text)
    except NotJson:
        return None
    return len(value) if type(value) is list else None


def _object_keys(text: str) -> tuple[str, ...] | None:
    try:
        value = read_container(text)
    except NotJson:
        return None
    return tuple([_HALF.sub("?", key) for key, _ in value]) if type(value) is Members else None


KERNELS: Final[dict[str, Factory]] = {
    "json_string": _at_path(_text),
    "json_double": _at_path(_double),
    "json_bigint": _at_path(_bigint),
    "json_boolean": _at_path(_boolean),
    "json_array_length": always(_array_length),
    "json_object_keys": always(_object_keys),
}
