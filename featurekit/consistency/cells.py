"""What both sides say of one view, column by column, and when two values are the same value.

Values are compared in their declared type, by their bits: an int64 never as a double, a float32 never widened. Two
rules need saying. Every NaN is the same value (V3 gives it one form; its payload is nobody's). And -0.0 is not 0.0:
one divided by them differs, so a model can tell them apart, and V4 promises the same bits. Both hold inside arrays,
maps and structs too; the entries of a map have an order, and it counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from featurekit.online.nested_arrow import value_bytes
from featurekit.types import DataType, Float32, Float64, is_nested

Flags = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldSpec:
    """A field as it is compared; `ulps` is the declared tolerance for floats, 0 where none is declared.

    `default` is the declared default, None for none; `empty` the value for an entity without rows.
    """

    name: str
    type: DataType
    is_latest: bool
    default: Any
    empty: Any
    ulps: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """One field for n entities: values after defaults, and one `Status` code each; a value without status has none."""

    values: pa.Array
    statuses: Codes


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What one side says of a view for n entities, in one order: whether each has a row, and each field's cells."""

    found: Flags
    fields: Mapping[str, Cells]

    def take(self, rows: npt.NDArray[np.intp]) -> Answers:
        """Return the answers for some of the entities, by position."""
        chosen = pa.array(rows)
        return Answers(
            found=self.found[rows],
            fields={
                name: Cells(values=cells.values.take(chosen), statuses=cells.statuses[rows])
                for name, cells in self.fields.items()
            },
        )

    def where(self, rows: Flags, other: Answers) -> Answers:
        """Return these answers for some of the entities, and those of another side for the rest."""
        mine = pa.array(rows)
        return Answers(
            found=np.where(rows, self.found, other.found),
            fields={
                name: Cells(
                    values=pc.if_else(mine, cells.values, other.fields[name].values),
                    statuses=np.where(rows, cells.statuses, other.fields[name].statuses),
                )
                for name, cells in self.fields.items()
            },
        )


def same_values(left: pa.Array, right: pa.Array, kind: DataType) -> Flags:
    """Return where both have a value and it is the same one, bit for bit (NaN is NaN, -0.0 is not 0.0)."""
    both = _flags(pc.and_(left.is_valid(), right.is_valid()))
    if isinstance(kind, Float32 | Float64):
        same: Flags = float_bits(left, kind) == float_bits(right, kind)
    elif is_nested(kind):
        # As a row stores them: one text of bytes for one value, whatever it is made of.
        same = _flags(pc.equal(value_bytes(left, kind), value_bytes(right, kind)))
    else:
        same = _flags(pc.equal(left, right))
    return both & same


def within_ulps(left: pa.Array, right: pa.Array, kind: DataType, ulps: int) -> Flags:
    """Return where both are finite floats at most `ulps` representable values apart; nowhere for other types."""
    if ulps == 0 or not isinstance(kind, Float32 | Float64):
        return np.zeros(len(left), np.bool_)
    finite = np.isfinite(_floats(left, kind)) & np.isfinite(_floats(right, kind))
    one, other = _ordered(float_bits(left, kind)), _ordered(float_bits(right, kind))
    apart = np.maximum(one, other) - np.minimum(one, other)
    both = _flags(pc.and_(left.is_valid(), right.is_valid()))
    near: Flags = both & finite & (apart <= ulps)
    return near


def float_bits(values: pa.Array, kind: Float32 | Float64) -> npt.NDArray[Any]:
    """Return the bits of each float, one form for every NaN; nulls are those of 0.0."""
    floats = _floats(values, kind)
    # Adding nothing would lose the sign of -0.0; writing one NaN over all of them leaves the rest alone.
    bits = np.where(np.isnan(floats), floats.dtype.type(np.nan), floats)
    return bits.view(np.uint32 if isinstance(kind, Float32) else np.uint64)


def zeros_of(values: pa.Array) -> Flags:
    """Return where a value is the number zero (of either sign), for numeric types; nowhere for others."""
    if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type) or pa.types.is_decimal(values.type)):
        return np.zeros(len(values), np.bool_)
    return _flags(pc.equal(values, pa.scalar(0, values.type)))


def rounded_to_float32(values: pa.Array) -> pa.Array:
    """Return doubles as they are after a detour through float32."""
    with np.errstate(over="ignore"):
        narrow = _floats(values, Float64()).astype(np.float32).astype(np.float64)
    return pa.array(narrow, mask=_flags(values.is_null()))


def _floats(values: pa.Array, kind: Float32 | Float64) -> npt.NDArray[Any]:
    dtype = np.float32 if isinstance(kind, Float32) else np.float64
    return np.asarray(pc.fill_null(values, pa.scalar(0.0, values.type)).to_numpy(zero_copy_only=False), dtype)


def _ordered(bits: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return unsigned numbers in the order of the floats, neighbours one apart."""
    sign = bits.dtype.type(1 << (8 * bits.dtype.itemsize - 1))
    return np.where(bits & sign, ~bits, bits | sign)


def _flags(values: pa.Array) -> Flags:
    return np.asarray(pc.fill_null(values, False).to_numpy(zero_copy_only=False), np.bool_)
