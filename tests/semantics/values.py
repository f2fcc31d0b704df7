"""Values as fixture text, exact and readable; and Arrow's values as the package holds them.

Text is `x'00ff'` for binary, `[1, NULL]` for an array, `{"a": 1}` for a map, `(1, "b")` for a struct.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal as PyDecimal
from itertools import pairwise
from typing import Any

import pyarrow as pa

from featurekit.arrow_types import to_arrow
from featurekit.clock import from_date, to_date
from featurekit.types import (
    Array,
    Binary,
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
    TimestampNtz,
    is_float,
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SCALAR = re.compile(r'"(?:[^"\\]|\\.)*"|.*?(?=, |: |[\])}]|$)')


def arrow_type(kind: DataType) -> pa.DataType:
    return to_arrow(kind)


def arrow_column(values: list[Any], kind: DataType) -> pa.Array:
    """Return held values as an Arrow array, bit for bit."""
    return pa.array([_for_arrow(value, kind) for value in values], to_arrow(kind))


def _for_arrow(value: Any, kind: DataType) -> Any:
    """Return a held value as pyarrow takes it: structs by name, because it could read a tuple in two ways."""
    match kind:
        case _ if value is None:
            return None
        case Array():
            return [_for_arrow(part, kind.element) for part in value]
        case Map():
            return [(_for_arrow(key, kind.key), _for_arrow(part, kind.value)) for key, part in value]
        case Struct():
            return {name: _for_arrow(part, inner) for part, (name, inner) in zip(value, kind.fields, strict=True)}
        case _:
            return value


def held_values(column: pa.ChunkedArray | pa.Array) -> list[Any]:
    """Return an Arrow column's values as the package holds them."""
    if isinstance(column, pa.ChunkedArray):
        return [value for chunk in column.chunks for value in held_values(chunk)]
    kind = column.type
    if pa.types.is_timestamp(kind):
        return column.cast(pa.int64()).to_pylist()  # type: ignore[no-any-return]
    if pa.types.is_date(kind):
        return column.cast(pa.int32()).to_pylist()  # type: ignore[no-any-return]
    if pa.types.is_map(kind):
        return _sliced(column, list(zip(held_values(column.keys), held_values(column.items), strict=True)))
    if pa.types.is_list(kind):
        return _sliced(column, held_values(column.values))
    if pa.types.is_struct(kind):
        fields = [held_values(field) for field in column.flatten()]
        rows = zip(*fields, strict=True) if fields else (() for _ in range(len(column)))
        return _where_valid(column, rows)
    return column.to_pylist()  # type: ignore[no-any-return]


def _sliced(column: pa.Array, parts: Sequence[Any]) -> list[Any]:
    offsets = column.offsets.to_pylist()
    return _where_valid(column, (tuple(parts[start:end]) for start, end in pairwise(offsets)))


def _where_valid(column: pa.Array, rows: Iterable[Any]) -> list[Any]:
    return [row if valid else None for row, valid in zip(rows, column.is_valid().to_pylist(), strict=True)]


def write(value: Any, kind: DataType) -> str:
    """Return one value as fixture text."""
    if value is None:
        return "NULL"
    match kind:
        case Boolean():
            return "true" if value else "false"
        case String():
            return (
                '"'
                + str(value).encode("unicode_escape").decode("ascii").replace('"', '\\"').replace("|", "\\x7c")
                + '"'
            )
        case Binary():
            return f"x'{value.hex()}'"
        case Decimal():
            return f"{value:f}"
        case Float64() | Float32():
            return _write_float(value)
        case Date():
            return _write_date(value)
        case Timestamp():
            return _write_timestamp(value)
        case TimestampNtz():
            return _write_timestamp(value).removesuffix("Z")
        case Array():
            return f"[{', '.join(write(part, kind.element) for part in value)}]"
        case Map():
            return "{" + ", ".join(f"{write(key, kind.key)}: {write(part, kind.value)}" for key, part in value) + "}"
        case Struct():
            return f"({', '.join(write(part, inner) for part, (_, inner) in zip(value, kind.fields, strict=True))})"
        case _:
            return str(value)


def _write_float(value: float) -> str:
    if math.isfinite(value):
        return repr(value)
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _write_date(days: int) -> str:
    try:
        return to_date(days).isoformat()
    except OverflowError:
        return f"day {days}"


def _write_timestamp(micros: int) -> str:
    try:
        return (_EPOCH + timedelta(microseconds=micros)).isoformat().replace("+00:00", "Z")
    except OverflowError:
        return f"micros {micros}"


def read(text: str, kind: DataType) -> Any:
    """Return the value that `write` wrote."""
    if text == "NULL":
        return None
    match kind:
        case Binary():
            return bytes.fromhex(text[2:-1])
        case Array() | Map() | Struct():
            value, end = _read_at(text, 0, kind)
            assert end == len(text), text
            return value
        case Boolean():
            return {"true": True, "false": False}[text]
        case String():
            return text[1:-1].replace('\\"', '"').encode("ascii").decode("unicode_escape")
        case Decimal():
            return PyDecimal(text)
        case Float64() | Float32():
            return float(text)
        case Date():
            return int(text[4:]) if text.startswith("day ") else from_date(date.fromisoformat(text))
        case TimestampNtz():
            return read(text if text.startswith("micros ") else f"{text}Z", Timestamp())
        case Timestamp():
            if text.startswith("micros "):
                return int(text[7:])
            return (datetime.fromisoformat(text) - _EPOCH) // timedelta(microseconds=1)
        case _:
            return int(text)


def _read_at(text: str, start: int, kind: DataType) -> tuple[Any, int]:
    """Return the value that begins at `start`, and where it ends."""
    if text.startswith("NULL", start):
        return None, start + 4
    match kind:
        case Array():
            return _read_parts(text, start, "]", lambda _: (kind.element,))
        case Struct():
            return _read_parts(text, start, ")", lambda place: (kind.fields[place][1],))
        case Map():
            return _read_parts(text, start, "}", lambda _: (kind.key, kind.value))
        case _:
            found = _SCALAR.match(text, start)
            assert found is not None
            return read(found[0], kind), found.end()


def _read_parts(
    text: str, start: int, closing: str, kinds_at: Callable[[int], tuple[DataType, ...]]
) -> tuple[tuple[Any, ...], int]:
    """Return the parts up to the closing bracket: values, or pairs where two kinds stand at a place."""
    parts: list[Any] = []
    at = start + 1
    while text[at] != closing:
        at += 2 * bool(parts)  # `, `
        group: list[Any] = []
        for kind in kinds_at(len(parts)):
            at += 2 * bool(group)  # `: `
            value, at = _read_at(text, at, kind)
            group.append(value)
        parts.append(group[0] if len(group) == 1 else tuple(group))
    return tuple(parts), at + 1


def same_bits(left: Any, right: Any, kind: DataType) -> bool:
    """Return whether two values are one value: NaN is NaN, -0.0 is not 0.0, 1.0 is not 1.00, True is not 1."""
    if left is None or right is None:
        return left is right
    match kind:
        case Array():
            return _same_parts(left, right, [kind.element] * len(left))
        case Map():
            pair = Struct((("key", kind.key), ("value", kind.value)))
            return _same_parts(left, right, [pair] * len(left))
        case Struct():
            return _same_parts(left, right, [inner for _, inner in kind.fields])
        case _:
            return _same_scalars(left, right, kind)


def _same_scalars(left: Any, right: Any, kind: DataType) -> bool:
    if is_float(kind) and isinstance(left, float) and isinstance(right, float):
        return left.hex() == right.hex() or (math.isnan(left) and math.isnan(right))
    if isinstance(kind, Decimal):
        return str(left) == str(right) or (left == right and f"{left:f}" == f"{right:f}")
    return type(left) is type(right) and bool(left == right)


def _same_parts(left: Any, right: Any, kinds: Sequence[DataType]) -> bool:
    if type(left) is not tuple or type(right) is not tuple or len(left) != len(right):
        return False
    return all(same_bits(one, other, kind) for one, other, kind in zip(left, right, kinds, strict=True))
