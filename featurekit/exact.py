"""Sums of floats that no order can change: the correctly rounded exact sum, and averages from it (DESIGN V4).

A finite float is a whole multiple of 2^-1074, so sums of floats are sums of integers. Python divides integers by
integers with one correct rounding; that gives the float nearest to the exact sum, half to even.

For SQL a value is split into six signed digits of 32 bits, which cover the bits [-128, 64):

    digit k = CAST((x * 2^(-32k)) % 4294967296D AS BIGINT)        k = -4 .. 1

Scaling by a power of two and the remainder are exact, and sums of digits are sums of integers. A value that the
digits can't hold is kept as it is, in `rest`; `finish` puts both together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

DIGIT_BITS: Final = 32
DIGIT_EXPONENTS: Final = tuple(range(-128, 64, DIGIT_BITS))
"""The exponent of two that each digit counts in, lowest first."""
LARGEST_IN_DIGITS: Final = 2.0**63
_SCALE_BITS: Final = 1074
_ONE: Final = 1 << _SCALE_BITS


@dataclass(slots=True)
class ExactSum:
    """A running sum of floats, in any order; what was added can be taken out again.

    >>> total = ExactSum()
    >>> for value in (1e308, 1e308, 1.5, -1e308, -1e308):
    ...     total.add(value)
    >>> total.value(), total.average()
    (1.5, 0.3)
    """

    scaled: int = 0
    count: int = 0
    nans: int = 0
    positive_infinities: int = 0
    negative_infinities: int = 0

    def add(self, value: float, times: int = 1) -> None:
        """Count `value` in `times` times; -1 takes out what was added."""
        self.count += times
        if math.isfinite(value):
            self.scaled += times * scaled(value)
        elif value != value:
            self.nans += times
        elif value > 0:
            self.positive_infinities += times
        else:
            self.negative_infinities += times

    def value(self) -> float | None:
        """Return the correctly rounded sum; None of nothing. Too large a sum is infinite, as IEEE rounds it."""
        if self.count == 0:
            return None
        if self.nans or (self.positive_infinities and self.negative_infinities):
            return math.nan
        if self.positive_infinities or self.negative_infinities:
            return math.inf if self.positive_infinities else -math.inf
        return unscaled(self.scaled)

    def average(self) -> float | None:
        """Return the sum, rounded, divided by the count once; None of nothing."""
        total = self.value()
        return None if total is None else total / self.count


def scaled(value: float) -> int:
    """Return a finite float as a multiple of 2^-1074."""
    numerator, denominator = value.as_integer_ratio()
    return numerator << (_SCALE_BITS + 1 - denominator.bit_length())


def unscaled(total: int, exponent: int = -_SCALE_BITS) -> float:
    """Return the float nearest to total * 2^exponent, for an exponent of at most zero; infinite where it is too large.

    >>> unscaled(3, -1), unscaled(-(1 << 3000)), unscaled(0)
    (1.5, -inf, 0.0)
    """
    try:
        return total / (_ONE if exponent == -_SCALE_BITS else 1 << -exponent)
    except OverflowError:
        return math.inf if total > 0 else -math.inf


def exact_sum(values: Iterable[float]) -> float | None:
    """Return the correctly rounded sum of the values; None of nothing.

    >>> exact_sum([2.0**40, 2.0**-13, 2.0**-60]) == 2.0**40 + 2.0**-12
    True
    """
    total = ExactSum()
    for value in values:
        total.add(value)
    return total.value()


def fits_digits(value: float) -> bool:
    """Return whether the six digits hold the value exactly."""
    return abs(value) < LARGEST_IN_DIGITS and math.fmod(value * 2.0**128, 1.0) == 0.0


def digits(value: float) -> tuple[int, ...]:
    """Return the digits of a value that `fits_digits`, lowest first: what the SQL computes."""
    return tuple(int(math.fmod(value * 2.0**-exponent, 2.0**DIGIT_BITS)) for exponent in DIGIT_EXPONENTS)


def finish(digit_sums: Sequence[int | None], rest: Sequence[float] | None, count: int) -> float | None:
    """Return the sum of `count` values from the sums of their digits and the values that had none.

    >>> finish([0, 0, 0, 1 << 31, 3, 0], [], 2)
    3.5
    >>> finish([None] * 6, [1e300, math.inf], 2)
    inf
    """
    if count == 0:
        return None
    whole = ExactSum(count=count - len(rest or ()))
    for exponent, part in zip(DIGIT_EXPONENTS, digit_sums, strict=True):
        whole.scaled += (part or 0) << (_SCALE_BITS + exponent)
    for value in rest or ():
        whole.add(value)
    return whole.value()


def divide_half_up(numerator: int, denominator: int) -> int:
    """Return numerator / denominator rounded to a whole number, halves away from zero; the denominator is positive.

    >>> divide_half_up(5, 2), divide_half_up(-5, 2), divide_half_up(4, 3)
    (3, -3, 1)
    """
    quotient = (2 * abs(numerator) + denominator) // (2 * denominator)
    return quotient if numerator >= 0 else -quotient
