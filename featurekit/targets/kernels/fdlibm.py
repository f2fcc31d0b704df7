"""Java's StrictMath, which Spark calls, bit for bit: exp, log and their kin.

The algorithms and constants are those Sun published as fdlibm 5.3 (e_exp.c, s_expm1.c, e_log.c, s_log1p.c, e_log10.c).
Only IEEE operations are used, so that no libm, no CPU and no JDK has a say. Where fdlibm compares
the upper 32 bits of a double, these compare with the smallest double that has such bits: `upper(0x3FF00000)` is 1.0.

A function has Spark's value for every double; where Spark's value is NULL (the logarithm of 0), it is None.
"""

from __future__ import annotations

import math
import struct
from math import frexp, ldexp
from typing import Final


def upper(word: int) -> float:
    """Return the double whose upper 32 bits are `word` and whose lower ones are zero."""
    return struct.unpack(">d", struct.pack(">Q", word << 32))[0]  # type: ignore[no-any-return]


def without_lower(value: float) -> float:
    """Return a normal double with its lower 32 bits cleared."""
    mantissa, exponent = frexp(value)
    return ldexp(int(mantissa * 2097152.0), exponent - 21)


INF, NAN = math.inf, math.nan
LN2_HIGH: Final = float.fromhex("0x1.62e42feep-1")
LN2_LOW: Final = float.fromhex("0x1.a39ef35793c76p-33")
INVERSE_LN2: Final = float.fromhex("0x1.71547652b82fep0")
LN2: Final = float.fromhex("0x1.62e42fefa39efp-1")
EXP_MOST: Final = float.fromhex("0x1.62e42fefa39efp9")  # above, exp is infinite
EXP_LEAST: Final = float.fromhex("-0x1.74910d52d3051p9")  # below, exp is zero
HALF_LN2: Final = upper(0x3FD62E43)
ONE_AND_HALF_LN2: Final = upper(0x3FF0A2B2)
EXP_TINY: Final = 2.0**-28
P1: Final = float.fromhex("0x1.555555555553ep-3")
P2: Final = float.fromhex("-0x1.6c16c16bebd93p-9")
P3: Final = float.fromhex("0x1.1566aaf25de2cp-14")
P4: Final = float.fromhex("-0x1.bbd41c5d26bf1p-20")
P5: Final = float.fromhex("0x1.6376972bea4d0p-25")


def exp(x: float) -> float:
    """Return e to the power of x.

    >>> exp(1.0), exp(1000.0), exp(-1000.0)
    (2.7182818284590455, inf, 0.0)
    """
    if -HALF_LN2 < x < HALF_LN2:
        if -EXP_TINY < x < EXP_TINY:
            return 1.0 + x
        t = x * x
        c = x - t * (P1 + t * (P2 + t * (P3 + t * (P4 + t * P5))))
        return 1.0 - ((x * c) / (c - 2.0) - x)
    if not EXP_LEAST <= x <= EXP_MOST:
        return x if x != x else INF if x > 0.0 else 0.0
    k = (1 if x > 0.0 else -1) if -ONE_AND_HALF_LN2 < x < ONE_AND_HALF_LN2 else _nearest(x)
    high = x - k * LN2_HIGH
    low = k * LN2_LOW
    x = high - low
    t = x * x
    c = x - t * (P1 + t * (P2 + t * (P3 + t * (P4 + t * P5))))
    y = 1.0 - ((low - (x * c) / (2.0 - c)) - high)
    return ldexp(y, k) if k >= -1021 else ldexp(y, k + 1000) * EXP_SCALE


EXP_SCALE: Final = 2.0**-1000


def _nearest(x: float) -> int:
    return int(INVERSE_LN2 * x + (0.5 if x > 0.0 else -0.5))


EXPM1_ALL: Final = upper(0x4043687A)  # 56 ln 2: beyond, exp(-x) is lost beside 1
EXPM1_TINY: Final = 2.0**-54
Q1: Final = float.fromhex("-0x1.11111111110f4p-5")
Q2: Final = float.fromhex("0x1.a01a019fe5585p-10")
Q3: Final = float.fromhex("-0x1.4ce199eaadbb7p-14")
Q4: Final = float.fromhex("0x1.0cfca86e65239p-18")
Q5: Final = float.fromhex("-0x1.afdb76e09c32dp-23")


def expm1(x: float) -> float:
    """Return exp(x) - 1, also near zero."""
    if not x < EXPM1_ALL:
        return x if x != x else INF if x > EXP_MOST else _expm1_reduced(x, _nearest(x))
    if x <= -EXPM1_ALL:
        return -1.0
    if not -HALF_LN2 < x < HALF_LN2:
        nearest = (1 if x > 0.0 else -1) if -ONE_AND_HALF_LN2 < x < ONE_AND_HALF_LN2 else _nearest(x)
        return _expm1_reduced(x, nearest)
    if -EXPM1_TINY < x < EXPM1_TINY:
        return x
    half = 0.5 * x
    square = x * half
    return x - (x * _expm1_core(x, half, square) - square)


def _expm1_core(x: float, half: float, square: float) -> float:
    r = 1.0 + square * (Q1 + square * (Q2 + square * (Q3 + square * (Q4 + square * Q5))))
    t = 3.0 - r * half
    return square * ((r - t) / (6.0 - x * t))


def _expm1_reduced(x: float, k: int) -> float:
    """Return expm1(x) by 2^k and a rest; k is not zero."""
    high = x - k * LN2_HIGH
    low = k * LN2_LOW
    x = high - low
    c = (high - x) - low
    half = 0.5 * x
    square = x * half
    e = _expm1_core(x, half, square)
    e = (x * (e - c) - c) - square
    if k == -1:
        return 0.5 * (x - e) - 0.5
    if k == 1:
        return -2.0 * (e - (x + 0.5)) if x < -0.25 else 1.0 + 2.0 * (x - e)
    if k <= -2 or k > 56:
        return ldexp(1.0 - (e - x), k) - 1.0
    if k < 20:
        return ldexp((1.0 - ldexp(1.0, -k)) - (e - x), k)
    return ldexp((x - (e + ldexp(1.0, -k))) + 1.0, k)


LOG_TURN: Final = upper(0x3FF6A09C)  # where the mantissa is halved: about the root of 2
LOG_NEAR: Final = 2.0**-20
LOG_FROM: Final = upper(0x3FF6147A)  # between these the more careful sum is taken
LOG_TO: Final = upper(0x3FF6B852)
LG1: Final = float.fromhex("0x1.5555555555593p-1")
LG2: Final = float.fromhex("0x1.999999997fa04p-2")
LG3: Final = float.fromhex("0x1.2492494229359p-2")
LG4: Final = float.fromhex("0x1.c71c51d8e78afp-3")
LG5: Final = float.fromhex("0x1.7466496cb03dep-3")
LG6: Final = float.fromhex("0x1.39a09d078c69fp-3")
LG7: Final = float.fromhex("0x1.2f112df3e5244p-3")


def log(x: float) -> float | None:
    """Return the natural logarithm, None where there is none.

    >>> log(2.0), log(0.0), log(-1.0)
    (0.6931471805599453, None, None)
    """
    if x <= 0.0:
        return None
    return log_of_positive(x)


def log_of_positive(x: float) -> float:
    """Return the natural logarithm of a number above zero, or NaN."""
    if not x < INF:
        return x
    mantissa, k = frexp(x)
    m = mantissa + mantissa
    if m >= LOG_TURN:
        f = mantissa - 1.0
    else:
        f = m - 1.0
        k -= 1
    if -LOG_NEAR <= f < LOG_NEAR:
        return _log_near_power(f, k)
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    r = z * (LG1 + w * (LG3 + w * (LG5 + w * LG7))) + w * (LG2 + w * (LG4 + w * LG6))
    if LOG_FROM <= m < LOG_TO:
        half = 0.5 * f * f
        if k == 0:
            return f - (half - s * (half + r))
        return k * LN2_HIGH - ((half - (s * (half + r) + k * LN2_LOW)) - f)
    if k == 0:
        return f - s * (f - r)
    return k * LN2_HIGH - ((s * (f - r) - k * LN2_LOW) - f)


def _log_near_power(f: float, k: int) -> float:
    if f == 0.0:
        return k * LN2_HIGH + k * LN2_LOW if k else 0.0
    r = f * f * (0.5 - 0.33333333333333333 * f)
    return k * LN2_HIGH - ((r - k * LN2_LOW) - f) if k else f - r


INVERSE_LN10: Final = float.fromhex("0x1.bcb7b1526e50ep-2")
LOG10_2_HIGH: Final = float.fromhex("0x1.34413509f6p-2")
LOG10_2_LOW: Final = float.fromhex("0x1.9fef311f12b36p-42")


def log10(x: float) -> float | None:
    """Return the logarithm to base 10, None where there is none."""
    if x <= 0.0:
        return None
    if not x < INF:
        return x
    mantissa, k = frexp(x)
    if k <= 0:  # below 1: taken as 2^k times a number in [0.5, 1)
        z = k * LOG10_2_LOW + INVERSE_LN10 * log_of_positive(mantissa)
    else:
        k -= 1
        z = k * LOG10_2_LOW + INVERSE_LN10 * log_of_positive(mantissa + mantissa)
    return z + k * LOG10_2_HIGH


def log2(x: float) -> float | None:
    """Return ln(x) / ln(2), as Spark defines it; None where there is none."""
    return None if x <= 0.0 else log_of_positive(x) / LN2


def log_to_base(base: float, x: float) -> float | None:
    """Return ln(x) / ln(base), as Spark defines it; None where there is none."""
    if x <= 0.0 or base <= 0.0:
        return None
    above, below = log_of_positive(x), log_of_positive(base)
    if below:
        return above / below
    return NAN if not above or above != above else math.copysign(INF, above)  # base 1: a division by zero


LOG1P_HIGH: Final = upper(0x3FDA827A)
LOG1P_LOW: Final = -upper(0x3FD2BEC4)
LOG1P_SMALL: Final = 2.0**-29
LOG1P_TINY: Final = 2.0**-54
LOG1P_LARGE: Final = 2.0**53
LOG1P_TURN: Final = upper(0x3FF6A09E)
LOG1P_TOP: Final = upper(0x3FFFFFFD)
NEAR_ONE: Final = 1.0 + 2.0**-20


def log1p(x: float) -> float | None:
    """Return ln(1 + x), also near zero; None where there is none."""
    if x <= -1.0:
        return None
    if LOG1P_LOW < x < LOG1P_HIGH:
        if -LOG1P_SMALL < x < LOG1P_SMALL:
            return x if -LOG1P_TINY < x < LOG1P_TINY else x - x * x * 0.5
        half = 0.5 * x * x
        s = x / (2.0 + x)
        return x - (half - s * (half + _log1p_series(s * s)))
    if not x < INF:
        return x
    return _log1p_reduced(x)


def _log1p_series(z: float) -> float:
    return z * (LG1 + z * (LG2 + z * (LG3 + z * (LG4 + z * (LG5 + z * (LG6 + z * LG7))))))


def _log1p_reduced(x: float) -> float:
    u = 1.0 + x if x < LOG1P_LARGE else x
    mantissa, k = frexp(u)
    k -= 1
    c = 0.0
    if x < LOG1P_LARGE:
        c = (1.0 - (u - x) if k > 0 else x - (u - 1.0)) / u  # what 1 + x lost
    m = mantissa + mantissa
    if m < LOG1P_TURN:
        f = m - 1.0
        is_near = m < NEAR_ONE
    else:
        k += 1
        f = mantissa - 1.0
        is_near = m >= LOG1P_TOP
    half = 0.5 * f * f
    if is_near:
        if f == 0.0:
            return k * LN2_HIGH + (c + k * LN2_LOW) if k else 0.0
        r = half * (1.0 - 0.66666666666666666 * f)
        return k * LN2_HIGH - ((r - (k * LN2_LOW + c)) - f) if k else f - r
    s = f / (2.0 + f)
    r = _log1p_series(s * s)
    if k == 0:
        return f - (half - s * (half + r))
    return k * LN2_HIGH - ((half - (s * (half + r) + (k * LN2_LOW + c))) - f)
