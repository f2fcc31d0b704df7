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

_PACKED_BITS: Final = 62
_LIMB: Final = 32
_MASK: Final = np.int64((1 << _LIMB) - 1)
# frexp's mantissa, as an integer of 53 bits, counts in 2^(e - 53); the smallest float has e = -1073.
LOWEST: Final = 36 * _LIMB
NONE: Final = -1


def marks_before(row_keys: Ints, row_times: Ints, mark_keys: Ints, mark_times: Ints) -> Ints:
    """Return for each row the number of marks before its (key, time): the first mark at or after it.

    Marks are sorted by key and time; keys are numbers from 0 on.
    """
    if not len(mark_keys):
        return np.zeros(len(row_keys), np.int64)
    low, high = int(mark_times.min()), int(mark_times.max()) + 1
    bits = (high - low).bit_length()
    most = max(int(mark_keys[-1]), int(row_keys.max(initial=0)))
    if bits + most.bit_length() <= _PACKED_BITS:
        # A time beyond all marks is as good as the one next to them, and both numbers are one.
        rows = (row_keys << bits) | (np.clip(row_times, low, high) - low)
        return np.searchsorted((mark_keys << bits) | (mark_times - low), rows)
    count = len(row_keys)
    is_mark = np.zeros(count + len(mark_keys), np.int64)
    is_mark[count:] = 1
    times, keys = np.concatenate([row_times, mark_times]), np.concatenate([row_keys, mark_keys])
    # Rows before marks of the same instant: a mark at the very moment of entering is covered, of leaving is not.
    order = np.lexsort((is_mark, times, keys))
    before = np.empty(len(order), np.int64)
    before[order] = np.cumsum(is_mark[order])
    return before[:count]


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
    limbs, limb = float_limbs(values)
    totals, exponent = _placed_sums(limbs, limb, first, stop, marks, -LOWEST)
    return [unscaled(total, exponent) for total in totals]


def float_moments(
    values: NDArray[np.float64], first: Ints, stop: Ints, marks: int
) -> tuple[list[int], list[int], int, Flags]:
    """Return for each mark the exact sum of the finite rows that cover it, that of their squares, the number that the
    sums count in (they are so many times too large, the squares twice that), and whether a row is not finite."""
    finite = np.isfinite(values)
    special = counts(first[~finite], stop[~finite], marks) > 0
    values, first, stop = values[finite], first[finite], stop[finite]
    if not len(values):
        return [0] * marks, [0] * marks, 1, special
    limbs, limb = float_limbs(values)
    totals, exponent = _placed_sums(limbs, limb, first, stop, marks, -LOWEST)
    squares, exponent_of_squares = _placed_sums(_squared(limbs), 2 * limb, first, stop, marks, -2 * LOWEST)
    unit = max(-exponent, (1 - exponent_of_squares) // 2)
    totals = [total << (unit + exponent) for total in totals]
    squares = [total << (2 * unit + exponent_of_squares) for total in squares]
    return totals, squares, 1 << unit, special


def integer_squares(values: Ints, first: Ints, stop: Ints, marks: int) -> list[int]:
    """Return for each mark the sum of the squares of the rows that cover it."""
    # A magnitude of up to 2^63 is fine as an unsigned number, also that of the smallest int64.
    size = np.abs(values).view(np.uint64)
    limbs = np.stack([size & np.uint64(_MASK), size >> np.uint64(_LIMB)], axis=1).astype(np.int64)
    return _limb_sums(_squared(limbs), np.zeros(len(values), np.int64), first, stop, marks, 4)


def wide_squares(low: NDArray[np.uint64], high: Ints, first: Ints, stop: Ints, marks: int) -> list[int]:
    """Return the same for integers of 128 bits, given in two halves as Arrow's decimals hold them."""
    negative = high < 0
    borrow = (~low + np.uint64(1) == 0).astype(np.int64)  # -x is ~x + 1, which carries out of a low half of zeros
    lows = np.where(negative, ~low + np.uint64(1), low)
    highs = np.where(negative, ~high + borrow, high).view(np.uint64)
    halves = (lows, highs)
    parts = [part for half in halves for part in (half & np.uint64(_MASK), half >> np.uint64(_LIMB))]
    limbs = np.stack(parts, axis=1).astype(np.int64)
    return _limb_sums(_squared(limbs), np.zeros(len(high), np.int64), first, stop, marks, 8)


def _squared(limbs: Ints) -> Ints:
    """Return the squares of integers that are given in limbs of 32 bits, lowest first, of one sign each."""
    width = limbs.shape[1]
    size = np.abs(limbs).astype(np.uint64)
    squares = np.zeros((len(limbs), 2 * width), np.int64)
    for left in range(width):
        for right in range(width):
            product = size[:, left] * size[:, right]
            squares[:, left + right] += (product & np.uint64(_MASK)).astype(np.int64)
            squares[:, left + right + 1] += (product >> np.uint64(_LIMB)).astype(np.int64)
    return squares


def float_limbs(values: NDArray[np.float64]) -> tuple[Ints, Ints]:
    """Return finite floats as three limbs of 32 bits, lowest first, and how many limbs up from 2^-LOWEST those are."""
    fraction, exponent = np.frexp(values)
    mantissa = np.ldexp(np.abs(fraction), 53).astype(np.int64)
    position = exponent.astype(np.int64) - 53 + LOWEST
    limb, shift = position // _LIMB, position % _LIMB
    low, high = (mantissa & _MASK) << shift, (mantissa >> _LIMB) << shift
    parts = np.stack([low & _MASK, (low >> _LIMB) + (high & _MASK), high >> _LIMB], axis=1)
    parts *= np.where(fraction < 0, -1, 1)[:, None]
    return parts, limb


def _placed_sums(limbs: Ints, limb: Ints, first: Ints, stop: Ints, marks: int, exponent: int) -> tuple[list[int], int]:
    """Return for each mark the sum of integers that lie `limb` limbs up from 2^exponent, and the exponent of two, zero
    or less, that the sums count in."""
    lowest = int(limb.min())
    width = int(limb.max()) - lowest + limbs.shape[1]
    totals = _limb_sums(limbs, limb - lowest, first, stop, marks, width)
    exponent += lowest * _LIMB
    return ([total << exponent for total in totals], 0) if exponent > 0 else (totals, exponent)


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


def distinct(groups: Ints, first: Ints, stop: Ints, marks: int) -> Ints:
    """Return for each mark how many groups (0 or more) have a row that covers it."""
    covering = stop > first
    groups, first, stop = groups[covering], first[covering], stop[covering]
    if not len(groups):
        return np.zeros(marks, np.int64)
    order = np.lexsort((first, groups))
    groups, first, stop = groups[order], first[order], stop[order]
    # The stretches of each group are joined where they touch; the groups lie side by side on one long line.
    shift = groups * (marks + 1)
    reach = np.maximum.accumulate(stop + shift)
    begins = np.ones(len(groups), bool)
    begins[1:] = (groups[1:] != groups[:-1]) | (first[1:] + shift[1:] > reach[:-1])
    ends = np.append(begins[1:], True)
    return counts(first[begins], (reach - shift)[ends], marks)


def greatest_many(ranks: Ints, first: Ints, stop: Ints, marks: int, limit: int) -> list[list[int]]:
    """Return for each mark the greatest ranks among the rows that cover it, at most `limit`, the greatest first.

    Rows are given out from the greatest rank down; a mark that has enough is never looked at again. The cost is that of
    the answer, and one step a row.
    """
    found: list[list[int]] = [[] for _ in range(marks)]
    following = list(range(marks + 1))  # the first mark from here on that has not enough

    def open_from(mark: int) -> int:
        root = mark
        while following[root] != root:
            root = following[root]
        while following[mark] != root:
            following[mark], mark = root, following[mark]
        return root

    order = np.argsort(-ranks)
    for rank, start, end in zip(ranks[order].tolist(), first[order].tolist(), stop[order].tolist(), strict=True):
        mark = open_from(start)
        while mark < end:
            found[mark].append(rank)
            if len(found[mark]) == limit:
                following[mark] = mark + 1
            mark = open_from(mark + 1)
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
