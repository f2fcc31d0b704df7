"""Cells taken apart and put together: what factors that turn one cell into another are made of."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal as DecimalValue
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from featurekit.arrow_types import for_arrow, to_arrow
from featurekit.consistency.cells import Cells, FieldSpec, Flags
from featurekit.status import Status
from featurekit.types import (
    DataType,
    Date,
    Decimal,
    Float32,
    Float64,
    Timestamp,
    TimestampNtz,
    integer_range,
    is_integer,
    is_numeric,
)

Doubles = npt.NDArray[np.float64]
_EXACT: Final = 2.0**53  # whole numbers up to here are doubles


def present(cells: Cells) -> Flags:
    """Return which cells have a value of their own."""
    own: Flags = cells.statuses == Status.PRESENT
    return own


def is_temporal(kind: DataType) -> bool:
    return isinstance(kind, Date | Timestamp | TimestampNtz)


def as_doubles(values: pa.Array, kind: DataType) -> Doubles:
    """Return numbers, dates (days) and timestamps (µs) as doubles, NaN where there is none."""
    if isinstance(kind, Date):
        values = values.cast(pa.int32())
    elif is_temporal(kind):
        values = values.cast(pa.int64())
    # int64 beyond 2^53 is rounded here; those who care look at the integers.
    return np.asarray(values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), np.float64)


def from_doubles(numbers: Doubles, kind: DataType) -> tuple[pa.Array, Flags]:
    """Return numbers as a type has them, fractions cut off where it has none, and which of them it can hold."""
    if isinstance(kind, Float64):
        return pa.array(numbers), np.ones(len(numbers), np.bool_)
    if isinstance(kind, Float32):
        with np.errstate(over="ignore"):
            return pa.array(numbers.astype(np.float32)), np.ones(len(numbers), np.bool_)
    if isinstance(kind, Decimal):
        return _as_decimals(numbers, kind)
    low, high = integer_range(kind) if is_integer(kind) else (-(2**31), 2**31 - 1) if isinstance(kind, Date) else _WIDE
    whole = np.trunc(numbers)
    with np.errstate(invalid="ignore"):
        fits = np.isfinite(whole) & (whole >= low) & (whole <= high) & (np.abs(whole) <= _EXACT)
    integers = pa.array(np.where(fits, whole, 0).astype(np.int64))
    target = to_arrow(kind)
    return (integers.cast(pa.int32()) if isinstance(kind, Date) else integers).cast(target), fits


_WIDE: Final = (-(2**63), 2**63 - 1)


def _as_decimals(numbers: Doubles, kind: Decimal) -> tuple[pa.Array, Flags]:
    with np.errstate(invalid="ignore", over="ignore"):
        unscaled = np.rint(numbers * 10.0**kind.scale)
        fits = np.isfinite(unscaled) & (np.abs(unscaled) <= min(_EXACT, 10.0**kind.precision - 1))
    held = [
        DecimalValue(int(number)).scaleb(-kind.scale) if fit else None
        for number, fit in zip(unscaled, fits, strict=True)
    ]
    return pa.array(held, to_arrow(kind)), fits


def with_values(cells: Cells, spec: FieldSpec, at: Flags, values: pa.Array) -> Cells:
    """Return cells with other values at some places, NULL as a value being none."""
    chosen = pc.if_else(pa.array(at), values, cells.values)
    statuses = np.where(at, np.uint8(Status.PRESENT), cells.statuses).astype(np.uint8)
    made = Cells(values=chosen, statuses=statuses)
    lost: Flags = at & np.asarray(chosen.is_null().to_numpy(zero_copy_only=False), np.bool_)
    return without_values(made, spec, lost) if lost.any() else made


def without_values(cells: Cells, spec: FieldSpec, at: Flags) -> Cells:
    """Return cells that are NULL at some places, where lookups apply the declared default."""
    filler = pa.scalar(for_arrow(spec.default, spec.type), cells.values.type)
    code = np.uint8(Status.NULL if spec.default is None else Status.DEFAULTED)
    return Cells(
        values=pc.if_else(pa.array(at), filler, cells.values),
        statuses=np.where(at, code, cells.statuses).astype(np.uint8),
    )


def mapped(function: Callable[[Doubles], Doubles]) -> Callable[[Cells, FieldSpec], Cells | None]:
    """Return the factor that puts a function of numbers in place of the numbers; None for cells of other types.

    What the function has no number for (NaN for a number) becomes NULL, as Spark has it; where that is most of them
    the function is none for the field.
    """

    def turn(cells: Cells, spec: FieldSpec) -> Cells | None:
        if not (is_numeric(spec.type) or is_temporal(spec.type)):
            return None
        own = present(cells)
        numbers = as_doubles(cells.values, spec.type)
        with np.errstate(all="ignore"):
            turned = function(numbers)
        values, fits = from_doubles(turned, spec.type)
        lost = own & ~np.isnan(numbers) & (np.isnan(turned) | ~fits)
        if lost.sum() > own.sum() / 2:
            return None
        return with_values(cells, spec, own, pc.if_else(pa.array(lost), pa.scalar(None, values.type), values))

    return turn


def repeated(value: Any, cells: Cells, spec: FieldSpec) -> pa.Array:
    """Return one value, held as `types` says, for each cell."""
    scalar = pa.scalar(for_arrow(value, spec.type), cells.values.type)
    return pc.if_else(pa.array(np.ones(len(cells.statuses), np.bool_)), scalar, cells.values)
