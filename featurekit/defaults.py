"""Defaults: what people write, as an exact value of the feature's type (DESIGN T6)."""

from __future__ import annotations

import datetime
import decimal
import json
import math
import struct
from typing import Any, Final

from featurekit.clock import from_date, parse_instant
from featurekit.errors import TypeMismatchError
from featurekit.types import (
    Array,
    Boolean,
    DataType,
    Date,
    Decimal,
    Float32,
    Float64,
    Map,
    String,
    Struct,
    Timestamp,
    integer_range,
    is_integer,
    is_nested,
)


def typed_default(value: bool | int | float | str, kind: DataType) -> Any:
    """Return a written default as a value of the type; TypeMismatchError where it isn't exactly one.

    Arrays, maps and structs are written as JSON text.

    >>> typed_default(0, Float64()), typed_default("0.50", Decimal(4, 2)), typed_default("[1, null]", Array(Float64()))
    (0.0, Decimal('0.50'), (1.0, None))
    """
    if isinstance(kind, Boolean) and isinstance(value, bool):
        return value
    if isinstance(kind, String) and isinstance(value, str):
        return value
    if is_integer(kind) and isinstance(value, int) and not isinstance(value, bool):
        low, high = integer_range(kind)
        if low <= value <= high:
            return value
    if isinstance(kind, Float64) and _is_number(value) and float(value) == value:
        return float(value)
    if isinstance(kind, Float32) and _is_number(value):
        return _to_float32(float(value), value)
    if isinstance(kind, Decimal) and not isinstance(value, bool):
        return _to_decimal(value, kind)
    if isinstance(kind, Timestamp) and isinstance(value, str):
        return parse_instant(value)
    if isinstance(kind, Date) and isinstance(value, str):
        return _to_date(value)
    if is_nested(kind) and isinstance(value, str):
        return _from_json(value, kind)
    raise _mismatch(value, kind)


def _from_json(text: str, kind: DataType) -> Any:
    try:
        written = json.loads(text, parse_float=_digits, parse_constant=_no_number, object_pairs_hook=_object)
        return _typed_parts(written, kind)
    except (ValueError, RecursionError, TypeMismatchError) as error:
        raise TypeMismatchError(
            f"the default {text!r} is no {kind} value",
            why=error.what if isinstance(error, TypeMismatchError) else f"it is not JSON: {error}",
            try_=_NESTED_FORM,
        ) from None


_NESTED_FORM: Final = (
    "JSON as text: an array as '[1.5, null]', a struct (or a map of texts) as '{\"a\": 1}', other maps as '[[1, 2]]'"
)


class _Digits(float):
    """A number of JSON that remembers how it was written: a decimal has just those digits."""

    written: str

    def __new__(cls, written: str) -> _Digits:
        number = super().__new__(cls, written)
        number.written = written
        return number


def _digits(text: str) -> _Digits:
    number = _Digits(text)
    return number if math.isfinite(number) else _no_number(text)


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has a name twice")
    return found


def _typed_parts(value: Any, kind: DataType) -> Any:
    """Return a part of a default, from JSON; NULL is one everywhere but in a map's keys."""
    match kind:
        case Array() if isinstance(value, list):
            return tuple(_typed_or_null(part, kind.element) for part in value)
        case Map() if isinstance(value, dict) and isinstance(kind.key, String):
            return tuple((name, _typed_or_null(part, kind.value)) for name, part in value.items())
        case Map() if isinstance(value, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in value):
            pairs = tuple((_map_key(key, kind.key), _typed_or_null(part, kind.value)) for key, part in value)
            if len({key for key, _ in pairs}) == len(pairs):
                return pairs
        case Struct() if isinstance(value, dict) and value.keys() == {name for name, _ in kind.fields}:
            return tuple(_typed_or_null(value[name], inner) for name, inner in kind.fields)
        case _ if not is_nested(kind) and isinstance(value, bool | int | float | str):
            if isinstance(value, _Digits):
                value = value.written if isinstance(kind, Decimal) else float(value)
            return typed_default(value, kind)
    raise _mismatch(value, kind)


def _map_key(value: Any, kind: DataType) -> Any:
    key = _typed_parts(value, kind)
    return key + 0.0 if isinstance(key, float) else key  # however a map is made, its keys have one zero


def _typed_or_null(value: Any, kind: DataType) -> Any:
    return None if value is None else _typed_parts(value, kind)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _to_float32(value: float, written: object) -> float:
    try:
        narrow: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        raise _mismatch(written, Float32()) from None
    return narrow


def _to_decimal(value: int | float | str, kind: Decimal) -> decimal.Decimal:
    try:
        # repr gives the digits as written in the definition; the float's exact value has dozens more.
        number = decimal.Decimal(repr(value) if isinstance(value, float) else str(value))
        with decimal.localcontext(prec=80):
            exact = number.quantize(decimal.Decimal(1).scaleb(-kind.scale))
    except decimal.InvalidOperation:
        raise _mismatch(value, kind) from None
    if exact != number or exact.adjusted() >= kind.precision - kind.scale:
        raise _mismatch(value, kind)
    return exact


def _to_date(value: str) -> int:
    try:
        return from_date(datetime.date.fromisoformat(value))
    except ValueError:
        raise _mismatch(value, Date()) from None


def _mismatch(value: object, kind: DataType) -> TypeMismatchError:
    return TypeMismatchError(
        f"the default {value!r} is no {kind} value",
        why=f"the feature's expression is {kind}, and a default has the feature's type exactly",
        try_=f"write a value of type {kind}, or cast the expression",
    )
