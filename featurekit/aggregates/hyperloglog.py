"""HyperLogLog++ over 64-bit hashes: Spark's registers and Spark's estimate, on a precision of 4 to 14 bits.

A hash's first p bits name a register; a register holds the largest rank, the position of the first one among the bits
after those. The estimate needs only how many registers hold each rank, so sketches merge by the larger rank of each
register, and no order or partition changes the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache
from typing import Final

from featurekit.aggregates.hyperloglog_bias import bias_points

HASH_BITS: Final = 64
MIN_PRECISION: Final = 4
MAX_PRECISION: Final = 14
_MASK: Final = (1 << HASH_BITS) - 1
_NEIGHBOURS: Final = 6
# Up to these estimates counting the registers that are still empty is the better way.
_LINEAR_UP_TO: Final = (10, 20, 40, 80, 220, 400, 900, 1800, 3100, 6500, 15500)
_DIGITS: Final = Context(prec=30)


def precision_of(deviation: Fraction) -> int:
    """Return the bits that a relative standard deviation asks for: the fewest with 1.106 / sqrt(2^p) at most that.

    >>> precision_of(Fraction(5, 100)), precision_of(Fraction(1, 100))
    (9, 14)
    """
    wanted = (Fraction("1.106") / deviation) ** 2
    return next((p for p in range(MIN_PRECISION, MAX_PRECISION) if wanted <= 1 << p), MAX_PRECISION)


def deviation_of(precision: int) -> float:
    """Return a deviation that asks for this precision, from well inside of those that do."""
    # Half a bit away from the next precision on either side: no logarithm's last bit matters.
    middle = 1.106 * 1.189207115002721 / (1 << precision // 2)
    return middle / 1.4142135623730951 if precision % 2 else middle


def register_and_rank(hashed: int, precision: int) -> tuple[int, int]:
    """Return the register that a hash (signed or not) belongs to, and its rank there, from 1 on."""
    bits = hashed & _MASK
    rest = ((bits << precision) & _MASK) | 1 << (precision - 1)
    return bits >> (HASH_BITS - precision), HASH_BITS - rest.bit_length() + 1


def estimate(precision: int, ranks: Sequence[int]) -> int:
    """Return the number of distinct hashes; `ranks[r]` is the number of registers whose largest rank is r.

    >>> estimate(9, [512]), estimate(9, [511, 0, 1])
    (0, 1)
    """
    registers = 1 << precision
    # Ranks are below 62, so the sum is one integer of 2^-64; Spark adds the same powers of two as doubles.
    inverse = sum(count << (HASH_BITS - rank) for rank, count in enumerate(ranks)) / (1 << HASH_BITS)
    raw = _alpha(precision) / inverse
    if empty := ranks[0]:
        linear = _linear(precision, empty)
        if linear <= _LINEAR_UP_TO[precision - MIN_PRECISION] or raw <= 2.5 * registers:
            return _rounded(linear)
    return _rounded(raw - _bias(precision, raw) if raw < 5.0 * registers else raw)


def _alpha(precision: int) -> float:
    """Return alpha * m * m, in the order in which Spark multiplies."""
    m = 1 << precision
    known = {4: 0.673, 5: 0.697, 6: 0.709}
    return (known.get(precision) or 0.7213 / (1.0 + 1.079 / m)) * m * m


@cache
def _linear(precision: int, empty: int) -> float:
    """Return m * ln(m / empty). By decimals: their logarithm is the same on every machine."""
    m = 1 << precision
    return float(_DIGITS.multiply(Decimal(m), _DIGITS.ln(_DIGITS.divide(Decimal(m), Decimal(empty)))))


def _bias(precision: int, raw: float) -> float:
    """Return the mean bias at the six measured estimates that lie closest."""
    estimates, biases = bias_points(precision)
    low = max(_found(estimates, raw) - _NEIGHBOURS + 1, 0)
    high = min(low + _NEIGHBOURS, len(estimates))
    while high < len(estimates) and (raw - estimates[high]) * (raw - estimates[high]) < (raw - estimates[low]) * (
        raw - estimates[low]
    ):
        low, high = low + 1, high + 1
    total = 0.0
    for bias in biases[low:high]:
        total += bias
    return total / (high - low)


def _found(estimates: Sequence[float], raw: float) -> int:
    """Return where a binary search ends: in Java's steps, since the measured estimates are not quite in order."""
    low, high = 0, len(estimates) - 1
    while low <= high:
        middle = (low + high) // 2
        if estimates[middle] == raw:
            return middle
        if estimates[middle] < raw:
            low = middle + 1
        else:
            high = middle - 1
    return low


def _rounded(value: float) -> int:
    """Return the nearest whole number, halves up, as Java's Math.round does."""
    whole = int(value // 1.0)
    return whole + (value - whole >= 0.5)
