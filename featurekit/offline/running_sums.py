"""Exact sums over intervals of marks, for several windows over the same rows, as arrays from end to end.

Rows are cut into limbs once, and what comes in where each row enters is added up once; windows differ only in where
rows leave. A sum of limbs is rounded to the nearest double for all marks together, half to even: no Python number is
made of any.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from featurekit.offline.intervals import LOWEST, Flags, Ints, counts, float_limbs

Finish = Callable[[Ints], tuple[NDArray[Any], Flags]]

_LIMB: Final = 32
_MASK: Final = np.int64((1 << _LIMB) - 1)
_SMALL: Final = 1 << 62
_BELOW: Final = 2
# Sums of limbs in doubles are exact below 2^53; a limb is below 2^34.
_ROWS_IN_DOUBLES: Final = 1 << 19


class RunningSums:
    """Sums of rows, each an integer in limbs of 32 bits, lowest first, `offset` limbs up, that enter at marks `first`.

    `finish` makes values of sums of limbs and says which are beyond their type. 2^29 rows don't overflow.
    """

    def __init__(
        self, limbs: Ints, first: Ints, marks: int, finish: Finish, *, offset: Ints | None = None, width: int
    ) -> None:
        self._marks, self._width, self._finish = marks, width, finish
        self._limbs, self._offset, self._first = limbs, offset, first
        self._entering = self._changes(first)
        self._rows_entering = np.bincount(first, minlength=marks + 1)

    def _changes(self, at: Ints) -> Ints:
        size = (self._marks + 1) * self._width
        change = np.zeros(size, np.int64)
        place = at * self._width if self._offset is None else at * self._width + self._offset
        for position in range(self._limbs.shape[1]):
            limb = self._limbs[:, position]
            if len(limb) <= _ROWS_IN_DOUBLES and self._width > 1:
                change += np.bincount(place + position, weights=limb, minlength=size).astype(np.int64)
            else:
                np.add.at(change, place + position, limb)
        return change

    def totals(self, stop: Ints) -> tuple[NDArray[Any], Flags]:
        """Return for each mark the sum of the rows that cover it, and whether it is beyond its type."""
        stop = np.maximum(stop, self._first)  # what leaves before it enters covers nothing
        change = (self._entering - self._changes(stop)).reshape(self._marks + 1, self._width)
        return self._finish(np.cumsum(change, axis=0)[: self._marks])

    def counts(self, stop: Ints) -> Ints:
        """Return for each mark how many rows cover it."""
        leaving = np.bincount(np.maximum(stop, self._first), minlength=self._marks + 1)
        found: Ints = np.cumsum(self._rows_entering - leaving)[: self._marks]
        return found


def running_integers(values: Ints, first: Ints, marks: int) -> RunningSums:
    """Return the sums of integers, in one limb of 64 bits where no sum can overflow it, else in two of 32."""
    largest = max(-int(values.min(initial=0)), int(values.max(initial=0)))
    if largest * max(len(values), 1) < _SMALL:
        return RunningSums(values[:, None], first, marks, _whole_numbers, width=1)
    limbs = np.stack([values & _MASK, values >> _LIMB], axis=1)
    return RunningSums(limbs, first, marks, _whole_numbers, width=2)


def _whole_numbers(sums: Ints) -> tuple[Ints, Flags]:
    if sums.shape[1] == 1:
        return sums[:, 0], np.zeros(len(sums), bool)
    high, low = sums[:, 1] + (sums[:, 0] >> _LIMB), sums[:, 0] & _MASK
    beyond: Flags = (high < -(1 << 31)) | (high >= 1 << 31)
    return (np.where(beyond, 0, high) << _LIMB) | low, beyond


def running_floats(values: NDArray[np.float64], first: Ints, marks: int) -> RunningSums:
    """Return the sums of floats, correctly rounded; 0.0 where no row covers a mark."""
    finite = np.isfinite(values)
    if not finite.all():
        return _Special(values, finite, first, marks)
    limbs, limb = float_limbs(values)
    lowest = int(limb.min()) if len(limb) else 0
    width = (int(limb.max()) if len(limb) else 0) - lowest + limbs.shape[1]
    exponent = lowest * _LIMB - LOWEST

    def finish(sums: Ints) -> tuple[NDArray[np.float64], Flags]:
        return nearest_floats(sums, exponent), np.zeros(len(sums), bool)

    return RunningSums(limbs, first, marks, finish, offset=limb - lowest, width=width)


class _Special(RunningSums):
    """Sums with NaN and infinities among the rows: they are counted apart, as they can't be taken out again."""

    def __init__(self, values: NDArray[np.float64], finite: Flags, first: Ints, marks: int) -> None:
        self._marks, self._first = marks, first
        self._rows_entering = np.bincount(first, minlength=marks + 1)
        self._finite, self._rest = finite, running_floats(values[finite], first[finite], marks)
        self._kinds = [np.flatnonzero(kind) for kind in (np.isnan(values), values == np.inf, values == -np.inf)]

    def totals(self, stop: Ints) -> tuple[NDArray[Any], Flags]:
        stop = np.maximum(stop, self._first)
        found, beyond = self._rest.totals(stop[self._finite])
        nans, positive, negative = (counts(self._first[rows], stop[rows], self._marks) > 0 for rows in self._kinds)
        found[positive], found[negative] = np.inf, -np.inf
        found[nans | (positive & negative)] = np.nan
        return found, beyond


def nearest_floats(sums: Ints, exponent: int) -> NDArray[np.float64]:
    """Return the doubles nearest to sums of limbs that count in 2^exponent: half to even, infinite where too large."""
    digits, negative = _magnitudes(sums)
    rows, width = np.arange(len(digits)), digits.shape[1]
    # The highest digit that is not zero, the two below it (there are always two), and whether anything is below those.
    is_set = digits != 0
    top = np.maximum(width - 1 - np.argmax(is_set[:, ::-1], axis=1), _BELOW)
    below = np.logical_or.accumulate(is_set, axis=1)[rows, np.maximum(top - _BELOW - 1, 0)] & (top > _BELOW)
    high = (digits[rows, top] << np.uint64(_LIMB)) | digits[rows, top - 1]
    low = digits[rows, top - 2]
    # Shifted up until the highest of 64 bits is set: the double has 53 of them, and one of the rest says "and more".
    shift = np.where(high >> np.uint64(_LIMB) > 0, 64 - _bits(high >> np.uint64(_LIMB)) - _LIMB, 0).astype(np.uint64)
    kept = (high << shift) | (low >> (np.uint64(_LIMB) - shift))
    more = below | ((low << shift) & np.uint64(_MASK) != 0)
    nearest = (kept | more).astype(np.float64)
    place = exponent + (top - 1 - _BELOW) * _LIMB - shift.astype(np.int64)
    with np.errstate(over="ignore"):
        found: NDArray[np.float64] = np.ldexp(np.where(negative, -nearest, nearest), place.astype(np.int32))
    return np.where(nearest == 0, 0.0, found)


def _magnitudes(sums: Ints) -> tuple[NDArray[np.uint64], Flags]:
    """Return sums of limbs as digits of 32 bits, lowest first, and which of them are negative.

    Below them are _BELOW digits of zero; above them two, for what is carried out of 64 bits.
    """
    carry = np.zeros(len(sums), np.int64)
    digits = np.zeros((len(sums), sums.shape[1] + _BELOW + 2), np.int64)
    for column in range(sums.shape[1] + 2):
        if column < sums.shape[1]:
            # Apart, since a limb and what is carried into it can be beyond 64 bits together.
            low = (sums[:, column] & _MASK) + (carry & _MASK)
            carry = (sums[:, column] >> _LIMB) + (carry >> _LIMB) + (low >> _LIMB)
        else:
            low, carry = carry & _MASK, carry >> _LIMB
        digits[:, column + _BELOW] = low & _MASK
    negative: Flags = carry < 0
    # Of a negative one, the digits are those of its complement: turned over, and one added.
    turned = np.where(negative[:, None], digits ^ _MASK, digits)
    turned[:, :_BELOW] = 0
    added = negative.astype(np.int64)
    for column in range(_BELOW, digits.shape[1]):
        turned[:, column] += added
        added = turned[:, column] >> _LIMB
        turned[:, column] &= _MASK
    return turned.astype(np.uint64), negative


def _bits(values: NDArray[np.uint64]) -> Ints:
    """Return how many bits numbers of at most 32 bits have."""
    found: Ints = np.frexp(values.astype(np.float64))[1].astype(np.int64)
    return found
