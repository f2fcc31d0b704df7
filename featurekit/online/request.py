"""What a caller passes to a lookup, in any of its shapes, as one column of Python values per name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

import numpy as np

from featurekit.errors import KeyTypeError

_TEXTS: Final = (str, bytes, bytearray, memoryview)
_SCALARS: Final = frozenset({str, int, float, bool, type(None)})  # what most values are: asked first
_NO_ARRAYS: Final[Mapping[str, int]] = {}
_TRY: Final = "a mapping of values, a sequence of mappings, a mapping of columns, or a table (Arrow, pandas, polars)"


class Columns(NamedTuple):  # and no dataclass: made for every request, in a third of the time
    """Columns of equal length; `is_single` when the caller passed one entity, not a sequence of one."""

    values: Mapping[str, Sequence[Any]]
    length: int
    is_single: bool


def request_columns(
    entities: Any, request: Any, expected: Sequence[str], depths: Mapping[str, int] = _NO_ARRAYS
) -> Columns:
    """Return a column for each of the `expected` names; KeyTypeError where one is missing, unknown or given twice.

    Single values beside columns hold for every row. `depths` says of which names a single value is an array, 1, or an
    array of arrays, 2, and so on: a sequence for them is a column only where it is deeper.

    >>> request_columns({"carrier": "UA"}, None, ["carrier"])
    Columns(values={'carrier': ['UA']}, length=1, is_single=True)
    """
    given, others = _columns(entities, "entities", depths), _columns(request, "request", depths)
    if both := given.values.keys() & others.values.keys():
        raise KeyTypeError(f"{min(both)} is given twice", where="entities and request", try_="give it once")
    merged = given if request is None else _merged(given, others)
    if merged.values.keys() != set(expected):
        # A sequence of no rows has no names either: whichever is not given elsewhere may be one of its.
        is_nameless = any(part.length == 0 and not part.values for part in (given, others))
        if not is_nameless or not merged.values.keys() <= set(expected):
            _refuse_names(merged.values, expected)
        return Columns({name: [] for name in expected}, 0, is_single=False)
    return merged


def is_one(given: Mapping[str, Any]) -> bool:
    """Return whether a mapping is of one entity for sure, by the types of its values alone."""
    return _SCALARS.issuperset(map(type, given.values()))


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """Return a hint at the known name that is closest to `name`, or at all of them where there are few."""
    names = sorted(known)
    if close := difflib.get_close_matches(name, names, n=1):
        return f"did you mean {close[0]}?"
    return f"known: {', '.join(names)}" if 0 < len(names) <= 20 else None


def _columns(given: Any, label: str, depths: Mapping[str, int]) -> Columns:
    if given is None:
        return Columns({}, 1, is_single=True)
    if type(given) is dict or isinstance(given, Mapping):
        return _from_mapping(given, label, depths)
    if hasattr(given, "to_pydict"):
        return _from_mapping(_pydict(given, label), label, _NO_ARRAYS)
    if hasattr(given, "__arrow_c_stream__"):
        import pyarrow as pa  # only who passes a table needs it

        return _from_mapping(_pydict(pa.table(given), label), label, _NO_ARRAYS)
    if isinstance(given, Sequence) and not isinstance(given, _TEXTS):
        return _from_rows(given, label)
    raise KeyTypeError(f"{label} is a {type(given).__name__}", where=label, try_=_TRY)


def _pydict(table: Any, label: str) -> Mapping[str, Any]:
    try:
        found: Mapping[str, Any] = table.to_pydict()
    except (OverflowError, ValueError, LookupError) as error:
        # A time beyond the year 9999 or in a zone that nobody knows, a string that is not UTF-8.
        raise KeyTypeError(f"{label} holds a value that can't be read", where=label, why=str(error)) from error
    return found


def _from_mapping(given: Mapping[str, Any], label: str, depths: Mapping[str, int]) -> Columns:
    columns = {name: _as_list(value) for name, value in given.items() if _is_column(value, depths.get(name, 0))}
    if not columns:
        return Columns({name: [value] for name, value in given.items()}, 1, is_single=True)
    lengths = {name: len(column) for name, column in columns.items()}
    count = next(iter(lengths.values()))
    for name, length in lengths.items():
        if length != count:
            first = next(iter(lengths))
            raise KeyTypeError(f"{name} has {length} values and {first} has {count}", where=label)
    scalars = {name: [value] * count for name, value in given.items() if name not in columns}
    return Columns({**columns, **scalars}, count, is_single=False)


def _from_rows(rows: Sequence[Any], label: str) -> Columns:
    for i, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise KeyTypeError(f"{label}[{i}] is a {type(row).__name__}, not a mapping", where=label, try_=_TRY)
    names = rows[0].keys() if rows else ()
    for i, row in enumerate(rows):
        if row.keys() != names:
            name = min(row.keys() ^ names)
            owner, other = (i, 0) if name in row else (0, i)
            raise KeyTypeError(
                f"{label}[{owner}] has {name} and {label}[{other}] has not",
                where=label,
                try_="give every row the same names, None where there is no value",
            )
    return Columns({name: [row[name] for row in rows] for name in names}, len(rows), is_single=False)


def _is_column(value: Any, depth: int) -> bool:
    if depth:
        part = next((each for each in value if each is not None), None) if _is_column(value, 0) else None
        return part is not None and _is_column(part, depth - 1)
    if type(value) in _SCALARS or isinstance(value, (*_TEXTS, np.generic)):
        return False
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, Sequence) or hasattr(value, "to_pylist") or hasattr(value, "tolist")


def _as_list(column: Any) -> list[Any]:
    if isinstance(column, list):
        return column
    for method in ("to_pylist", "tolist"):
        if hasattr(column, method):
            return cast("list[Any]", getattr(column, method)())
    return list(column)


def _merged(one: Columns, other: Columns) -> Columns:
    if one.length != other.length and not (one.is_single or other.is_single):
        raise KeyTypeError(f"{one.length} entities and {other.length} rows of request values", where="request")
    count = other.length if one.is_single else one.length
    values = {
        name: column if len(column) == count and not part.is_single else [column[0]] * count
        for part in (one, other)
        for name, column in part.values.items()
    }
    return Columns(values, count, is_single=one.is_single and other.is_single)


def _refuse_names(given: Mapping[str, Any], expected: Sequence[str]) -> None:
    missing = [name for name in expected if name not in given]
    for name in given:
        if name not in expected:
            hint = did_you_mean(name, missing or expected)
            raise KeyTypeError(f"nothing reads {name}", where=name, why="the service has no such key", try_=hint)
    raise KeyTypeError(
        f"{missing[0]} is missing", where=missing[0], why=f"the service reads {', '.join(expected)}", try_=None
    )
