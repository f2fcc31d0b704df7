"""Held columns as callers get them: Python values, NumPy arrays; here instants and dates get their looks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from featurekit.clock import to_date, to_datetime
from featurekit.online.columns import Array as Values
from featurekit.online.texts import shared_block
from featurekit.types import (
    Array,
    DataType,
    Date,
    Decimal,
    Map,
    Struct,
    Timestamp,
    TimestampNtz,
    is_nested,
    is_numeric,
)

Lists = list[Sequence[Any]]
Convert = Callable[[Any], Any]


def python_value(kind: DataType) -> Convert | None:
    """Return a function from a held value to the one callers get; None where they are the same.

    A time outside the years 1 to 9999 has no `datetime`; it stays a NumPy one. An array is a list, a map a dict in its
    order, a struct a dict of its fields; what is nested in a map's key stays a tuple, since no list can be a key.
    """
    match kind:
        case Timestamp():
            return _instant
        case TimestampNtz():
            return _clock_reading
        case Date():
            return _date
        case Array():
            part = _part(kind.element)
            return lambda value: list(value) if part is None else [part(each) for each in value]
        case Map():
            return _dict_of(_key(kind.key), _part(kind.value) or _same)
        case Struct():
            fields = [(name, _part(inner) or _same) for name, inner in kind.fields]
            return lambda value: {name: show(part) for (name, show), part in zip(fields, value, strict=True)}
        case _:
            return None


def _part(kind: DataType) -> Convert | None:
    convert = python_value(kind)
    return None if convert is None else lambda value: None if value is None else convert(value)


def _dict_of(key: Convert, item: Convert) -> Convert:
    return lambda pairs: {key(name): item(value) for name, value in pairs}


def _key(kind: DataType) -> Convert:
    """Return a function from a held value to one that can be a dict's key."""
    match kind:
        case Array():
            element = _key(kind.element)
            return lambda value: None if value is None else tuple([element(each) for each in value])
        case Struct():
            fields = [_key(inner) for _, inner in kind.fields]
            return lambda value: (
                None if value is None else tuple([show(part) for show, part in zip(fields, value, strict=True)])
            )
        case _:
            return _part(kind) or _same


def python_lists(kind: DataType, values: Values | Lists, valid: npt.NDArray[np.bool_] | None) -> Lists:
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


def numpy_columns(kind: DataType, values: Values | Lists) -> list[Values]:
    """Return columns as arrays of the type's own dtype; Python objects where NumPy has none."""
    if isinstance(values, list):
        if (texts := shared_block(values)) is not None:
            block, fields = texts
            table = block.array()
            return [table[:, field] for field in fields]
        show = _part(kind) if is_nested(kind) else None
        return [_objects(column if show is None else [show(value) for value in column]) for column in values]
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


def float_rows(kind: DataType, values: Values | Lists) -> Values:
    """Return numeric columns (columns × rows) as something that casts to floats."""
    if isinstance(kind, Decimal):
        return np.array([[np.nan if value is None else float(value) for value in column] for column in values])
    return np.asarray(values)


def _objects(column: Sequence[Any]) -> Values:
    return np.fromiter(column, object, len(column))  # told the type: lists of one length are no matrix


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
