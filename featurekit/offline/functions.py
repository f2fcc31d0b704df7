"""What Spark SQL can't say: functions over Arrow columns that the engine registers under these names.

Each is pure and total, row by row: no row can fail a job, and batches of any size give the same values.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from featurekit.aggregates.moments import SPREADS, finish_digits
from featurekit.clock import DAY
from featurekit.exact import DIGIT_BITS, DIGIT_EXPONENTS, divide_half_up, finish
from featurekit.grid import Grid

_MASK: Final = np.int64((1 << DIGIT_BITS) - 1)
_LARGEST_DECIMAL: Final = 10**38


@dataclass(frozen=True, slots=True)
class ArrowFunction:
    """A function of Arrow arrays that SQL calls by `name`; `returns` is its type in Spark's spelling."""

    name: str
    function: Callable[..., Any]
    returns: str


def finish_sums(digits: pa.Array, rest: pa.Array, counts: pa.Array) -> pa.Array:
    """Return for each row the correctly rounded sum of its digits and of the values that had none; see `exact`."""
    length = len(counts)
    numbers = counts.to_numpy(zero_copy_only=False)
    columns = digits.flatten().fill_null(0).to_numpy(zero_copy_only=False).reshape(length, len(DIGIT_EXPONENTS))
    values = round_digits(columns)
    extra = np.diff(rest.offsets.to_numpy()) > 0 if length else np.zeros(0, bool)
    for row in np.flatnonzero(extra):
        value = finish(columns[row].tolist(), rest[int(row)].as_py(), int(numbers[row]))
        values[row] = np.nan if value is None else value
    return pa.array(values, pa.float64(), mask=numbers == 0)


def round_digits(digits: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return for each row of digit sums the nearest double, half to even.

    The digits are made those of the magnitude, its highest 64 bits become an integer whose lowest bit also stands for
    all bits below, and one conversion rounds: integer to double rounds to nearest even on every machine.
    """
    count = digits.shape[1]
    parts = [digits[:, k].astype(np.int64) for k in range(count)]
    negative = _carry(parts, count) < 0
    parts = [np.where(negative, -digits[:, k], digits[:, k]) for k in range(count)]
    parts.append(_carry(parts, count))
    # Two zero digits below the lowest, so that the three from any digit down are there.
    rows = np.stack([np.zeros_like(parts[0])] * 2 + parts, axis=1).astype(np.uint64)
    width = rows.shape[1]
    top = width - 1 - np.argmax(rows[:, ::-1] != 0, axis=1)
    top = np.maximum(top, 2)
    at = np.arange(len(rows))
    high, middle, low = rows[at, top], rows[at, top - 1], rows[at, top - 2]
    below = np.cumsum(rows != 0, axis=1)[at, np.maximum(top - 3, 0)] * (top >= 3) > 0
    shift = np.uint64(32) - _bit_length(high)
    bits = ((high << np.uint64(32) | middle) << shift) | (low >> (np.uint64(32) - shift))
    below |= (low & ((np.uint64(1) << (np.uint64(32) - shift)) - np.uint64(1))) != 0
    whole = (bits | below.astype(np.uint64)).astype(np.float64)
    exponent = DIGIT_EXPONENTS[0] + DIGIT_BITS * (top - 3) - shift.astype(np.int64)
    size = np.ldexp(whole, exponent)
    signed: NDArray[np.float64] = np.where(negative & (size != 0), -size, size)
    return signed


def _carry(parts: list[NDArray[np.int64]], count: int) -> NDArray[np.int64]:
    """Bring each part into [0, 2^32), lowest first, and return what is carried out of the highest."""
    carried = np.zeros_like(parts[0])
    for k in range(count):
        whole = parts[k] + carried
        carried = whole >> DIGIT_BITS
        parts[k] = whole & _MASK
    return carried


def _bit_length(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    # frexp of an integer below 2^53 is exact: its exponent is the number of bits.
    return np.frexp(values.astype(np.float64))[1].astype(np.uint64)


def sum_decimals(values: pa.Array) -> pa.Array:
    """Return for each row's list the exact sum as text; NULL for an empty list or a sum of more than 38 digits."""
    return pa.array([_decimal_sum(row) for row in values.to_pylist()], pa.string())


def _decimal_sum(values: list[decimal.Decimal] | None) -> str | None:
    if not values:
        return None
    with decimal.localcontext(prec=80):
        return _text(sum(values, decimal.Decimal(0)))


def average_decimals(totals: pa.Array, counts: pa.Array, scales: pa.Array) -> pa.Array:
    """Return total / count as text with `scale` fraction digits, halves away from zero; NULL where either is."""
    rows = zip(totals.to_pylist(), counts.to_pylist(), scales.to_pylist(), strict=True)
    return pa.array([_decimal_average(*row) for row in rows], pa.string())


def _decimal_average(total: str | None, count: int | None, scale: int) -> str | None:
    if total is None or not count:
        return None
    numerator, denominator = decimal.Decimal(total).as_integer_ratio()
    quotient = divide_half_up(numerator * 10**scale, denominator * count)
    with decimal.localcontext(prec=80):
        return _text(decimal.Decimal(quotient).scaleb(-scale))


def _text(value: decimal.Decimal) -> str | None:
    unscaled = abs(value.scaleb(-int(value.as_tuple().exponent)))
    return None if unscaled >= _LARGEST_DECIMAL else f"{value:f}"


def finish_moments(digits: pa.Array, rest: pa.Array, counts: pa.Array, which: pa.Array) -> pa.Array:
    """Return for each row the variance or deviation of floats, of their digits and of the values that had none."""
    rows = zip(digits.to_pylist(), rest.to_pylist(), counts.to_pylist(), which.to_pylist(), strict=True)
    return pa.array([finish_digits(SPREADS[name], *row) for *row, name in rows], pa.float64())


def finish_whole_moments(sums: pa.Array, counts: pa.Array, scales: pa.Array, which: pa.Array) -> pa.Array:
    """Return the same of integers of a scale: their sum, and the sums of the products of their halves, as text."""
    rows = zip(sums.to_pylist(), counts.to_pylist(), scales.to_pylist(), which.to_pylist(), strict=True)
    return pa.array([_whole_moments(*row) for row in rows], pa.float64())


def _whole_moments(sums: list[str | None], count: int, scale: int, which: str) -> float | None:
    total, high, mixed, low = (int(part or 0) for part in sums)
    squares = (high << 64) + (mixed << 33) + low
    return SPREADS[which].finish(count, total, squares, 100**scale)


def finish_decimal_moments(values: pa.Array, which: pa.Array) -> pa.Array:
    """Return the same of each row's list of decimals."""
    rows = zip(values.to_pylist(), which.to_pylist(), strict=True)
    unit = 10**values.type.value_type.scale
    return pa.array([_decimal_moments(row or [], unit, name) for row, name in rows], pa.float64())


def _decimal_moments(values: list[decimal.Decimal], unit: int, which: str) -> float | None:
    ratios = [value.as_integer_ratio() for value in values]
    whole = [numerator * unit // denominator for numerator, denominator in ratios]
    return SPREADS[which].finish(len(whole), sum(whole), sum(value * value for value in whole), unit * unit)


def served_at(at: pa.Array, every: pa.Array, delay: pa.Array, timezone: pa.Array, anchor: pa.Array) -> pa.Array:
    """Return for each request time the as-of that serves it, as `Grid.served_at` does; the grid is one for all rows."""
    if not len(at):
        return at
    days = anchor[0].as_py()
    grid = Grid(
        every[0].as_py(),
        delay[0].as_py(),
        timezone[0].as_py(),
        None if days is None else date(1970, 1, 1) + timedelta(days=days),
    )
    values = at.fill_null(0).to_numpy(zero_copy_only=False) - grid.availability_delay
    instants = np.array(_instants_of_days(grid, np.unique(values // DAY)), np.int64)
    found = instants[np.searchsorted(instants, values, side="right") - 1]
    return pa.array(found, pa.int64(), mask=at.is_null().to_numpy(zero_copy_only=False))


def _instants_of_days(grid: Grid, days: NDArray[np.int64]) -> list[int]:
    """Return, sorted, enough grid instants to have the latest one before any instant of the given UTC days."""
    found: set[int] = set()
    for day in days.tolist():
        start = grid.floor(day * DAY)
        found.update((start, *grid.between(start, (day + 1) * DAY)))
    return sorted(found)


FUNCTIONS: Final = (
    ArrowFunction("featurekit_sum", finish_sums, "double"),
    ArrowFunction("featurekit_decimal_sum", sum_decimals, "string"),
    ArrowFunction("featurekit_decimal_average", average_decimals, "string"),
    ArrowFunction("featurekit_moments", finish_moments, "double"),
    ArrowFunction("featurekit_whole_moments", finish_whole_moments, "double"),
    ArrowFunction("featurekit_decimal_moments", finish_decimal_moments, "double"),
    ArrowFunction("featurekit_served_at", served_at, "bigint"),
)
