"""Values as keys that sort as Spark sorts them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

Key = tuple[Any, ...]


def order_key(values: Iterable[Any]) -> Key:
    """Return a key that sorts as Spark sorts structs: NULL first, NaN last, 0.0 with -0.0, text by its bytes.

    >>> order_key([None, 1]) < order_key([float("-inf"), 0]) < order_key([float("nan"), 0])
    True
    """
    return tuple(_part(value) for value in values)


def _part(value: Any) -> tuple[int, Any]:
    match value:
        case None:
            return (0, 0)
        case float():
            return (1, canonical(value)) if value == value else (2, 0)
        case str():
            return (1, value.encode())
        case tuple():
            return (1, order_key(value))
        case _:
            return (1, value)


def canonical(value: Any) -> Any:
    """Return a value with one zero and one NaN where it is a float (DESIGN V3)."""
    if not isinstance(value, float):
        return value
    return value + 0.0 if value == value else math.nan
