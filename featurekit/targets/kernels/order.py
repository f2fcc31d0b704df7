"""Keys that make Python compare values as Spark does, also inside arrays and structs.

NaN equals NaN and is the largest number, -0.0 equals 0.0. Inside arrays and structs NULL equals NULL and comes first;
a shorter array comes before those it begins. Of a type without floats or parts, Python's own comparison is right: its
key is None.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from featurekit.expr.nodes import Call
from featurekit.targets.kernels.kernel import Inline
from featurekit.types import Array, DataType, Float32, Float64, Struct, holds, is_float

Key = Callable[[Any], Any]
_NAN: Final = "NaN"  # equal to itself and to no float
_SYMBOLS: Final = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def comparison(call: Call) -> Inline:
    """Return the kernel of a comparison of arrays or structs."""
    symbol = _SYMBOLS[call.function]
    kind = call.args[0].type
    key = equality_key(kind) if symbol in ("==", "!=") else order_key(kind)
    if key is None:
        return Inline(f"{{0}} {symbol} {{1}}")
    return Inline(f"{{key}}({{0}}) {symbol} {{key}}({{1}})", {"key": key})


def equality_key(kind: DataType) -> Key | None:
    """Return the function to what is equal (and has one hash) where values are, NULL among them; None for no change."""
    return _each_float(kind, _float_equality)


def order_key(kind: DataType) -> Key | None:
    """Return the function to what Python orders as Spark orders the values, none of them NULL; None for no change."""
    match kind:
        case Array(element=element):
            part = _nulls_first(order_key(element))
            return lambda value: tuple([part(each) for each in value])
        case Struct(fields=fields):
            keys = [_nulls_first(order_key(inner)) for _, inner in fields]
            return lambda value: tuple([key(each) for key, each in zip(keys, value, strict=True)])
        case _:
            return _float_order if is_float(kind) else None


def normal_form(kind: DataType) -> Key | None:
    """Return the function that turns -0.0 into 0.0 and NaN into one object, also in parts; None for no change.

    Dicts, sets and tuples take an object for equal to itself, so that what it returns can be their key or part.
    """
    return _each_float(kind, _one_form)


def _each_float(kind: DataType, change: Key) -> Key | None:
    """Return the function that changes the floats of a value, itself one or in its parts; None where it has none."""
    if not holds(kind, Float32, Float64):
        return None
    match kind:
        case Array(element=element):
            part = _each_float(element, change)
            assert part is not None
            return lambda value: None if value is None else tuple([part(each) for each in value])
        case Struct(fields=fields):
            keys = [_each_float(inner, change) or _as_it_is for _, inner in fields]
            return lambda value: (
                None if value is None else tuple([key(each) for key, each in zip(keys, value, strict=True)])
            )
        case _:
            return change


def _float_equality(value: float | None) -> Any:
    return value if value == value else _NAN


def _float_order(value: float) -> tuple[int, float]:
    return (0, value) if value == value else (1, 0.0)


def _one_form(value: float | None) -> float | None:
    return value if value is None else value + 0.0 if value == value else math.nan


def _nulls_first(key: Key | None) -> Key:
    if key is None:
        return lambda value: (0,) if value is None else (1, value)
    return lambda value: (0,) if value is None else (1, key(value))


def _as_it_is(value: Any) -> Any:
    return value
