"""Variances and standard deviations from exact sums: one rational number, rounded once.

With n values, S1 their exact sum and S2 the exact sum of their squares, the variance of a sample is the rational number
(n * S2 - S1^2) / (n * (n - 1)), that of a population (n * S2 - S1^2) / n^2; the deviation is the square root of that
same number. Each is rounded once, half to even: no order, partition or tile changes a bit, and large values that lie
close together lose nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from featurekit.exact import DIGIT_BITS, scaled, unscaled

# A quotient of this many bits has a root of at least 64: more than a double's 53 and one for the rounding.
_QUOTIENT_BITS: Final = 130
# The exponents of two that the digits of a value and of its square count in, where sums are made of digits: what is
# below VALUES_BELOW and a multiple of 2^-96 has them.
VALUE_EXPONENTS: Final = tuple(range(-96, 64, DIGIT_BITS))
SQUARE_EXPONENTS: Final = tuple(range(-192, 96, DIGIT_BITS))
VALUES_BELOW: Final = 2.0**47
FLOAT_UNIT: Final = 1 << 1074


@dataclass(frozen=True, slots=True)
class Spread:
    """Which of the four: of a sample or a population, the variance or its root."""

    sample: bool
    root: bool

    def finish(self, count: int, total: int, squares: int, unit_squared: int) -> float | None:
        """Return the value for `count` numbers; NULL of nothing, and for a sample of one.

        `total` counts in 1/unit, `squares` in 1/unit^2, which is what `unit_squared` says.

        >>> Spread(sample=True, root=False).finish(4, 10, 30, 1), Spread(sample=False, root=True).finish(2, 4, 10, 1)
        (1.6666666666666667, 1.0)
        """
        if count < (2 if self.sample else 1):
            return None
        numerator = count * squares - total * total
        denominator = unit_squared * count * (count - 1 if self.sample else count)
        return nearest_root(numerator, denominator) if self.root else nearest(numerator, denominator)


SPREADS: Final[dict[str, Spread]] = {
    "var_pop": Spread(sample=False, root=False),
    "var_samp": Spread(sample=True, root=False),
    "stddev_pop": Spread(sample=False, root=True),
    "stddev_samp": Spread(sample=True, root=True),
}


def nearest(numerator: int, denominator: int) -> float:
    """Return the float nearest to a fraction of at least zero, infinite where it is too large."""
    try:
        return numerator / denominator
    except OverflowError:
        return math.inf


def nearest_root(numerator: int, denominator: int) -> float:
    """Return the float nearest to the square root of a fraction of at least zero.

    >>> nearest_root(2, 1) == math.sqrt(2.0), nearest_root(1, 1 << 2148) == 5e-324
    (True, True)
    """
    if numerator == 0:
        return 0.0
    shift = _QUOTIENT_BITS - numerator.bit_length() + denominator.bit_length()
    shift += shift & 1
    if shift >= 0:
        quotient, rest = divmod(numerator << shift, denominator)
    else:
        quotient, rest = divmod(numerator, denominator << -shift)
    root = math.isqrt(quotient)
    # One more bit that says whether anything was cut off: it decides between two floats only where it must.
    whole = root << 1 | (rest != 0 or root * root != quotient)
    exponent = -(shift // 2 + 1)
    return unscaled(whole, exponent) if exponent <= 0 else unscaled(whole << exponent, 0)


def finish_digits(spread: Spread, digits: Sequence[int | None], rest: Iterable[float], count: int) -> float | None:
    """Return the value for `count` floats: sums of the digits of values and squares, and the floats that had none."""
    places = len(VALUE_EXPONENTS)
    total = _from_digits(digits[:places], VALUE_EXPONENTS, 1074)
    squares = _from_digits(digits[places:], SQUARE_EXPONENTS, 2 * 1074)
    for value in rest:
        if not math.isfinite(value):
            return math.nan if count > spread.sample else None
        whole = scaled(value)
        total += whole
        squares += whole * whole
    return spread.finish(count, total, squares, FLOAT_UNIT * FLOAT_UNIT)


def _from_digits(digits: Sequence[int | None], exponents: Sequence[int], unit: int) -> int:
    return sum((digit or 0) << (unit + exponent) for digit, exponent in zip(digits, exponents, strict=True))
