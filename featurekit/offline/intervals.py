"""Aggregates over intervals of as-ofs, for many entities at once: the arithmetic behind `point_in_time`.

A row decides values while an as-of is in its interval [enter, exit). The as-ofs that are asked for, sorted by entity
and time, are numbered *marks*; a row then covers the marks `first .. stop - 1`, all of its own entity. Sums come from
differences that are added up along the marks, in integers; greatest values from tables of doubling widths. The cost
grows as rows + marks (times the logarithm of the marks for the greatest), never as their product.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from featurekit.exact import unscaled

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_LIMB: Final = 32
_MASK: Final = np.int64((1 << _LIMB) - 1)
# frexp's mantissa, as an integer of 53 bits, counts in 2^(e - 53); the smallest float has e = -1073.
_LOWEST: Final = 36 * _LIMB
NONE: Final = -1


def marks_before(row_keys: Ints, row_times: Ints, mark_keys: Ints, mark_times: Ints) -> Ints:
    """Return for each row the number of marks before its (key, time): the first mark at or after it."""
    rows = len(row_keys)
    is_mark = np.zeros(rows + len(mark_keys), np.int64)
    is_mark[rows:] = 1
    times, keys = np.concatenate([row_times, mark_times]), np.concatenate([row_keys, mark_keys])
    # Rows before marks of the same instant: a mark at the very moment of entering is covered, of leaving is not.
    order = np.lexsort((is_mark, times, keys))
    before = np.empty(len(order), np.int64)
    before[order] = np.cumsum(is_mark[order])
    return before[:rows]


def counts(first: Ints, stop: Ints, marks: int) -> Ints:
    """Return for each mark how many rows cover it."""
    change = np.bincount(first, minlength=marks + 1) - np.bincount(stop, minlength=marks + 1)
    return np.cumsum(change)[:marks]


def integer_sums(values: Ints, first: Ints, stop: Ints, marks: int) -> list[int]:
    """Return for each mark the sum of the rows that cover it, of any size."""
    limbs = np.stack([values & _MASK, values >> _LIMB], axis=1)
    return _limb_sums(limbs, np.zeros(len(values), np.int64), first, stop, marks, 2)


def wide_sums(low: NDArray[np.uint64], high: Ints, first: Ints, stop: Ints, marks: int) -> list[int]:
    """Return the same for integers of 128 bits, given in two halves as Arrow's decimals hold them."""
    lower, middle = (low & np.uint64(_MASK)).astype(np.int64), (low >> np.uint64(_LIMB)).astype(np.int64)
    limbs = np.stack([lower, middle, high & _MASK, high >> _LIMB], axis=1)
    return _limb_sums(limbs, np.zeros(len(high), np.int64), first, stop, marks, 4)


def float_sums(values: NDArray[np.float64], first: Ints, stop: Ints, marks: int) -> list[float]:
    """Return for each mark the correctly rounded sum of the rows that cover it; 0.0 where none does.

    NaN and infinities are counted apart: they can't be taken out of a sum again.
    """
    finite = np.isfinite(values)
    sums = np.array(_finite_sums(values[finite], first[finite], stop[finite], marks), np.float64)
    if not finite.all():
        nans, positive, negative = (
            counts(first[special], stop[special], marks) > 0
            for special in (np.isnan(values), values == np.inf, values == -np.inf)
        )
        sums[positive], sums[negative] = np.inf, -np.inf
        sums[nans | (positive & negative)] = np.nan
    found: list[float] = sums.tolist()
    return found


def _finite_sums(values: NDArray[np.float64], first: Ints, stop: Ints, marks: int) -> list[float]:
    if not len(values):
        return [0.0] * marks
    fraction, exponent = np.frexp(values)
    mantissa = np.ldexp(np.abs(fraction), 53).astype(np.int64)
    position = exponent.astype(np.int64) - 53 + _LOWEST
    limb, shift = position // _LIMB, position % _LIMB
    low, high = (mantissa & _MASK) << shift, (mantissa >> _LIMB) << shift
    parts = np.stack([low & _MASK, (low >> _LIMB) + (high & _MASK), high >> _LIMB], axis=1)
    parts *= np.where(fraction < 0, -1, 1)[:, None]
    lowest = int(limb.min())
    width = int(limb.max()) - lowest + 3
    totals = _limb_sums(parts, limb - lowest, first, stop, marks, width)
    exponent_of_total = lowest * _LIMB - _LOWEST
    if exponent_of_total > 0:
        totals = [total << exponent_of_total for total in totals]
        exponent_of_total = 0
    return [unscaled(total, exponent_of_total) for total in totals]


def _limb_sums(limbs: Ints, offset: Ints, first: Ints, stop: Ints, marks: int, width: int) -> list[int]:
    """Add up integers that are given in limbs of 32 bits, `offset` limbs up; 2^30 rows don't overflow an int64."""
    change = np.zeros((marks + 1) * width, np.int64)
    for position in range(limbs.shape[1]):
        column = offset + position
        np.add.at(change, first * width + column, limbs[:, position])
        np.subtract.at(change, stop * width + column, limbs[:, position])
    sums = np.cumsum(change.reshape(marks + 1, width), axis=0)[:marks]
    totals = sums[:, width - 1].astype(object)
    for position in range(width - 2, -1, -1):
        totals = totals * (1 << _LIMB) + sums[:, position].astype(object)
    found: list[int] = totals.tolist()
    return found


def greatest(ranks: Ints, first: Ints, stop: Ints, marks: int) -> Ints:
    """Return for each mark the greatest rank (0 or more) among the rows that cover it; NONE where none does.

    Each row is written down twice, at both ends of its stretch, in the table of the widest power of two that fits in;
    then each table is handed down to the one of half the width.
    """
    covering = stop > first
    ranks, first, stop = ranks[covering], first[covering], stop[covering]
    if not len(ranks):
        return np.full(marks, NONE, np.int64)
    level = np.frexp((stop - first).astype(np.float64))[1].astype(np.int64) - 1
    table = np.full(marks, NONE, np.int64)
    for at in range(int(level.max()), -1, -1):
        width = 1 << at
        here = level == at
        np.maximum.at(table, first[here], ranks[here])
        np.maximum.at(table, stop[here] - width, ranks[here])
        if at:
            half = width >> 1
            below = table.copy()
            np.maximum(below[half:], table[: marks - half], out=below[half:])
            table = below
    return table
