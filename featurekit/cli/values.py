"""Entity keys and request values as people type them: `customer_id=42`, or rows in a JSON file.

Values stay text until the service's plan says what type each has; then they become what a lookup takes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from featurekit.clock import parse_instant, to_datetime
from featurekit.definitions.problem import did_you_mean
from featurekit.errors import FeaturekitError, InputError, KeyTypeError
from featurekit.serving.json_values import from_json
from featurekit.types import (
    Array,
    Boolean,
    DataType,
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    Map,
    Struct,
    Timestamp,
)

Types = Mapping[str, DataType]
_WHOLE: Final = re.compile(r"[+-]?[0-9]+")
_NUMBER: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|NaN|[+-]?Infinity")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows to look up: entity keys, and request values by position."""

    entities: tuple[dict[str, Any], ...]
    requests: tuple[dict[str, Any], ...]


def read_pairs(words: Sequence[str]) -> dict[str, str]:
    """Return `name=value` words as a mapping; InputError for a word without `=` and for a name given twice.

    >>> read_pairs(["origin=JFK", "note=a=b", "empty="])
    {'origin': 'JFK', 'note': 'a=b', 'empty': ''}
    """
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise InputError(f"{word!r} is not name=value", try_="for example carrier=UA distance=1400")
        if name in found:
            raise InputError(f"{name} is given twice", where=f"{name}={found[name]} and {word}", try_="keep one")
        found[name] = value
    return found


def read_rows(file: Path) -> tuple[dict[str, Any], ...]:
    """Return the rows of a JSON file: one object, a list of objects, or an object a line; numbers keep all digits."""
    try:
        text = file.read_text(encoding="utf-8")
        content = _parsed(text)
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError("the file of rows can't be read", where=str(file), why=str(error), try_=_ROWS) from error
    rows = content if isinstance(content, list) else [content]
    for at, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise InputError(f"row {at} is not an object", where=str(file), why=f"it is {json.dumps(row)}", try_=_ROWS)
    if not rows:
        raise InputError("the file has no rows", where=str(file), try_=_ROWS)
    return tuple(rows)


_ROWS: Final = '[{"carrier": "UA", "distance": 1400.0}, …]'


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2:
            raise
        return [json.loads(line) for line in lines]


def typed_text(pairs: Mapping[str, str], keys: Types, request: Types) -> Rows:
    """Return one row of typed text; KeyTypeError says which name is missing, unknown or not of its type."""
    return _rows([dict(pairs)], keys, request, _from_text)


def typed_rows(rows: Sequence[Mapping[str, Any]], keys: Types, request: Types) -> Rows:
    """Return rows of JSON values as a lookup takes them; as `typed_text` otherwise."""
    return _rows(rows, keys, request, from_json)


Reader = Callable[[str, DataType], Callable[[Any], Any]]


def _rows(rows: Sequence[Mapping[str, Any]], keys: Types, request: Types, reader: Reader) -> Rows:
    wanted = {**request, **keys}
    readers = {name: reader(name, kind) for name, kind in wanted.items()}
    typed = []
    for at, row in enumerate(rows, start=1):
        place = f"row {at}" if len(rows) > 1 else None
        _check_names(row, wanted, place)
        typed.append({name: _read(readers[name], value, place) for name, value in row.items()})
    return Rows(
        entities=tuple({name: row[name] for name in keys} for row in typed),
        requests=tuple({name: row[name] for name in request} for row in typed),
    )


def _check_names(row: Mapping[str, Any], wanted: Types, place: str | None) -> None:
    for name in row:
        if name not in wanted:
            raise KeyTypeError(
                f"the service asks for no {name}", where=place, try_=did_you_mean(name, wanted) or "remove it"
            )
    if missing := [name for name in wanted if name not in row]:
        shown = " ".join(f"{name}=<{wanted[name]}>" for name in missing)
        raise KeyTypeError(
            f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing",
            where=place,
            why="the service asks for them: they name the entity, or on-demand features are computed from them",
            try_=f"add {shown}",
        )


def _read(read: Callable[[Any], Any], value: Any, place: str | None) -> Any:
    try:
        return read(value)
    except FeaturekitError as error:
        if place:
            error.where = f"{place}, {error.where}" if error.where else place
        raise


def _from_text(name: str, kind: DataType) -> Callable[[str], Any]:
    """Return a function from typed text to the Python value that a lookup takes.

    >>> _from_text("n", Int64())("42"), _from_text("is_far", Boolean())("true")
    (42, True)
    """
    match kind:
        case Boolean():
            return lambda text: _one_of({"true": True, "false": False}, name, kind, text)
        case Int8() | Int16() | Int32() | Int64():
            return lambda text: int(_matching(_WHOLE, name, kind, text, "a whole number such as 42"))
        case Float32() | Float64():
            return lambda text: float(_matching(_NUMBER, name, kind, text, "a number such as 12.5"))
        case Timestamp():
            return lambda text: _instant(name, kind, text)
        case Array() | Map() | Struct():
            read = from_json(name, kind)
            return lambda text: read(_json(name, kind, text))
        case _:
            return from_json(name, kind)


def _json(name: str, kind: DataType, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise _refusal(name, kind, text, "write it as JSON, such as [1, 2]") from error


def _one_of(known: Mapping[str, Any], name: str, kind: DataType, text: str) -> Any:
    if text not in known:
        raise _refusal(name, kind, text, f"write {name}={' or '.join(known)}")
    return known[text]


def _matching(pattern: re.Pattern[str], name: str, kind: DataType, text: str, form: str) -> str:
    if not pattern.fullmatch(text):
        raise _refusal(name, kind, text, f"write {form}")
    return text


def _instant(name: str, kind: DataType, text: str) -> Any:
    try:
        return to_datetime(parse_instant(text))
    except FeaturekitError as error:
        raise _refusal(name, kind, text, error.try_ or "an ISO 8601 time with a zone") from error


def _refusal(name: str, kind: DataType, text: str, try_: str) -> KeyTypeError:
    return KeyTypeError(f"{name} is {text[:60]!r}, which is no {kind}", where=name, try_=try_)
