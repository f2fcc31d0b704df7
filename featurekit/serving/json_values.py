"""Values between JSON and Python, by their declared type: no number changes on the way, in either direction.

boolean, string           as they are
tinyint … bigint          a number, all digits of it (a reader that parses numbers as doubles loses those past 2^53)
float, double             a number; "NaN", "Infinity" and "-Infinity" as strings, since JSON has no number for them
decimal                   a string, such as "12.50"; a whole number is taken too
date, timestamp           ISO 8601; a timestamp with its zone
timestamp_ntz             ISO 8601 without a zone
binary                    Base64
array                     a list
map                       an object where its keys are strings, else a list of [key, value]; either is read
struct                    an object
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal as DecimalValue
from decimal import InvalidOperation
from typing import Any, Final

from featurekit.errors import KeyTypeError
from featurekit.types import (
    Array,
    Binary,
    DataType,
    Date,
    Decimal,
    Float32,
    Float64,
    Map,
    String,
    Struct,
    Timestamp,
    TimestampNtz,
)

FromJson = Callable[[Any], Any]
ToJson = Callable[[Any], Any]

_NOT_FINITE: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def from_json(name: str, kind: DataType) -> FromJson:
    """Return a function from a JSON value to the Python value that a lookup takes; KeyTypeError where it is none.

    What JSON holds as it is, the lookup itself checks.

    >>> from_json("day", Date())("2013-11-15"), from_json("n", Float64())("NaN")
    (datetime.date(2013, 11, 15), nan)
    """
    match kind:
        case Float32() | Float64():
            return lambda value: _NOT_FINITE.get(value, value) if isinstance(value, str) else value
        case Decimal():
            return _reading(name, kind, DecimalValue, '"12.50"')
        case Date():
            return _reading(name, kind, date.fromisoformat, '"2013-11-15"')
        case Timestamp():
            return _reading(name, kind, datetime.fromisoformat, '"2013-11-15T02:00:00Z"')
        case TimestampNtz():
            return _reading(name, kind, datetime.fromisoformat, '"2013-11-15T02:00:00"')
        case Binary():
            return _reading(name, kind, _from_base64, "Base64")
        case Array():
            read = from_json(f"{name}[]", kind.element)
            return lambda value: list(map(read, value)) if isinstance(value, list) else value
        case Map():
            return _map_from_json(name, kind)
        case Struct():
            readers = {field: from_json(f"{name}.{field}", inner) for field, inner in kind.fields}
            return lambda value: (
                {field: readers[field](part) if field in readers else part for field, part in value.items()}
                if isinstance(value, dict)
                else value
            )
        case _:
            return lambda value: value


def to_json(value: Any) -> Any:
    """Return a value as the JSON encoder takes it: a float that JSON has no number for is its name.

    A decimal is its digits, never with an exponent: those who read `0E-12` as text would not know it for a zero.
    """
    if isinstance(value, DecimalValue):
        return f"{value:f}"
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    return value


def shown(kind: DataType) -> ToJson:
    """Return a function from a value that a lookup gave to one that the JSON encoder takes.

    >>> from featurekit.types import parse_type
    >>> shown(parse_type("array<double>"))([1.5, math.nan]), shown(parse_type("map<int,string>"))({1: "a"})
    ([1.5, 'NaN'], [[1, 'a']])
    """
    match kind:
        case Array():
            part = shown(kind.element)
            return _unless_none(lambda value: [part(each) for each in value])
        case Map(key=String()):
            item = shown(kind.value)
            return _unless_none(lambda value: {key: item(each) for key, each in value.items()})
        case Map():
            key, item = _shown_key(kind.key), shown(kind.value)
            return _unless_none(lambda value: [[key(name), item(each)] for name, each in value.items()])
        case Struct():
            fields = {name: shown(inner) for name, inner in kind.fields}
            return _unless_none(lambda value: {name: fields[name](each) for name, each in value.items()})
        case _:
            return to_json


def _shown_key(kind: DataType) -> ToJson:
    """A map's keys that have parts are tuples, since a dict's must be hashed; JSON has them as it has the rest."""
    match kind:
        case Array():
            part = _shown_key(kind.element)
            return _unless_none(lambda value: [part(each) for each in value])
        case Struct():
            fields = [(name, _shown_key(inner)) for name, inner in kind.fields]
            return _unless_none(
                lambda value: {name: part(each) for (name, part), each in zip(fields, value, strict=True)}
            )
        case _:
            return to_json


def _unless_none(convert: ToJson) -> ToJson:
    return lambda value: None if value is None else convert(value)


def _map_from_json(name: str, kind: Map) -> FromJson:
    """JSON's names are text: other keys come as a list of pairs."""
    read_key, read_value = from_json(f"{name}'s keys", kind.key), from_json(f"{name}'s values", kind.value)

    def from_entries(value: Any) -> Any:
        pairs = value.items() if isinstance(value, dict) else value
        if not isinstance(value, dict | list) or not all(isinstance(p, list | tuple) and len(p) == 2 for p in pairs):
            return value
        read = [(read_key(key), read_value(part)) for key, part in pairs]
        try:
            found = dict(read)
        except TypeError:  # keys with parts: the lookup takes pairs too
            return read
        return found if len(found) == len(read) else read  # twice the same key: the lookup says so

    return from_entries


def _reading(name: str, kind: DataType, read: Callable[[str], Any], form: str) -> FromJson:
    def from_text(value: Any) -> Any:
        if not isinstance(value, str):
            return value  # null, or what the lookup refuses by its type
        try:
            return read(value)
        except (ValueError, InvalidOperation):
            raise KeyTypeError(
                f"{name} is {value[:60]!r}, which is no {kind}", where=name, try_=f"write it as {form}"
            ) from None

    return from_text


def _from_base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(text) from error
