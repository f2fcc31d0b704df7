"""Held columns as callers get them: Python values, NumPy arrays; here instants and dates get their looks."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from featurekit.clock import to_date, to_datetime
from featurekit.online.columns import Array
from featurekit.types import DataType, Date, Decimal, Timestamp, TimestampNtz, is_numeric

Lists = list[list[Any]]


def python_value(kind: DataType) -> Callable[[Any], Any] | None:
    """Return a function from a held value to the one callers get; None where they are the same.

    A time outside the years 1 to 9999 has no `datetime`; it stays a NumPy one.
    """
    match kind:
        case Timestamp():
            return _instant
        case TimestampNtz():
            return _clock_reading
        case Date():
            return _date
        case _:
            return None


def python_lists(kind: DataType, values: Array | Lists, valid: npt.NDArray[np.bool_] | None) -> Lists:
    """Return columns as lists of Python values, None where a value is not valid."""
    lists: Lists = values if isinstance(values, list) else values.tolist()
    convert = python_value(kind)
    if valid is None:
        return lists if convert is None else [[convert(value) for value in column] for column in lists]
    same = convert or _same
    return [
        [same(value) if is_valid else None for value, is_valid in zip(column, mask, strict=True)]
        for column, mask in zip(lists, valid.tolist(), strict=True)
    ]


def numpy_columns(kind: DataType, values: Array | Lists) -> list[Array]:
    """Return columns as arrays of the type's own dtype; Python objects where NumPy has none."""
    if isinstance(values, list):
        return [_objects(column) for column in values]
    match kind:
        case Timestamp() | TimestampNtz():
            return list(values.view("<M8[us]"))
        case Date():
            return list(values.astype("<M8[D]"))
        case _:
            return list(values)


def is_number(kind: DataType) -> bool:
    """Return whether a model's matrix can hold a type: numbers and booleans."""
    return is_numeric(kind) or kind.name == "boolean"


def float_rows(kind: DataType, values: Array | Lists) -> Array:
    """Return numeric columns (columns × rows) as something that casts to floats."""
    if isinstance(kind, Decimal):
        return np.array([[np.nan if value is None else float(value) for value in column] for column in values])
    return np.asarray(values)


def _objects(column: list[Any]) -> Array:
    found = np.empty(len(column), object)
    found[:] = column
    return found


def _instant(value: int) -> Any:
    try:
        return to_datetime(value)
    except OverflowError:
        return np.datetime64(value, "us")


def _clock_reading(value: int) -> Any:
    moment = _instant(value)
    return moment.replace(tzinfo=None) if isinstance(moment, datetime) else moment


def _date(value: int) -> Any:
    try:
        return to_date(value)
    except OverflowError:
        return np.datetime64(value, "D")


def _same(value: Any) -> Any:
    return value
