"""Java's StrictMath.pow, which Spark calls, bit for bit.

The algorithm and constants are those Sun published as fdlibm 5.3 (e_pow.c): log2(x) to some 80 bits in two doubles,
times y, and then 2 to the power of that.
"""

from __future__ import annotations

from math import copysign, frexp, ldexp, sqrt
from typing import Final

from featurekit.targets.kernels.fdlibm import INF, NAN, P1, P2, P3, P4, P5, upper, without_lower

POW_ROOT_OF_ONE_AND_HALF: Final = upper(0x3FF3988F)
POW_ROOT_OF_THREE: Final = upper(0x3FFBB67A)
POW_HUGE_Y: Final = float.fromhex("0x1.00000ffffffffp31")
POW_BELOW_ONE: Final = float.fromhex("0x1.fffffp-1")
POW_ABOVE_ONE: Final = float.fromhex("0x1.00000ffffffffp0")
L1: Final = float.fromhex("0x1.3333333333303p-1")
L2: Final = float.fromhex("0x1.b6db6db6fabffp-2")
L3: Final = float.fromhex("0x1.55555518f264dp-2")
L4: Final = float.fromhex("0x1.17460a91d4101p-2")
L5: Final = float.fromhex("0x1.d864a93c9db65p-3")
L6: Final = float.fromhex("0x1.a7e284a454eefp-3")
INVERSE_LN2: Final = float.fromhex("0x1.71547652b82fep0")
INVERSE_LN2_HIGH: Final = float.fromhex("0x1.715476p0")
INVERSE_LN2_LOW: Final = float.fromhex("0x1.4ae0bf85ddf44p-26")
CP: Final = float.fromhex("0x1.ec709dc3a03fdp-1")  # 2 / (3 ln 2)
CP_HIGH: Final = float.fromhex("0x1.ec709ep-1")
CP_LOW: Final = float.fromhex("-0x1.e2fe0145b01f5p-28")
LOG2_OF_ONE_AND_HALF: Final = (float.fromhex("0x1.2b8034p-1"), float.fromhex("0x1.cfdeb43cfd006p-27"))
POW_LN2: Final = float.fromhex("0x1.62e42fefa39efp-1")
POW_LN2_HIGH: Final = float.fromhex("0x1.62e43p-1")
POW_LN2_LOW: Final = float.fromhex("-0x1.05c610ca86c39p-29")
OVERFLOW_REST: Final = 8.0085662595372944372e-0017


def pow_(x: float, y: float) -> float:
    """Return x to the power of y, as Java does: 1 to the power of infinity is NaN.

    >>> pow_(2.0, 10.0), pow_(-8.0, 1.0 / 3.0), pow_(1.0, float("inf")), pow_(0.0, -1.0)
    (1024.0, nan, nan, inf)
    """
    if y == 0.0:
        return 1.0
    if x != x or y != y:
        return NAN
    if y == 2.0:
        return x * x
    if y == 0.5 and x != -INF:
        return sqrt(x + 0.0) if x >= 0.0 else NAN
    if y == 1.0:
        return x
    if y == -1.0:
        return 1.0 / x if x else copysign(INF, x)
    size, y_size = abs(x), abs(y)
    if y_size == INF:
        if size == 1.0:
            return NAN
        return INF if (size > 1.0) == (y > 0.0) else 0.0
    if copysign(1.0, x) > 0.0:
        return _power(size, y, 1.0)
    if not _is_whole(y_size):
        return NAN if size not in (0.0, INF) else _power(size, y, 1.0)
    return _power(size, y, -1.0 if _is_odd(y_size) else 1.0)


def _is_whole(y: float) -> bool:
    return y >= 2.0**53 or y == int(y)


def _is_odd(y: float) -> bool:
    return y < 2.0**53 and int(y) % 2 == 1


def _power(x: float, y: float, sign: float) -> float:
    """Return sign * x^y of a positive x that may be 0, 1 or infinite."""
    if x in (0.0, INF):
        return sign * (0.0 if (x == 0.0) == (y > 0.0) else INF)
    if x == 1.0:
        return sign
    if abs(y) > POW_HUGE_Y:
        if x < POW_BELOW_ONE:
            return sign * (INF if y < 0.0 else 0.0)
        if x > POW_ABOVE_ONE:
            return sign * (INF if y > 0.0 else 0.0)
        high, low = _log2_near_one(x)
    else:
        high, low = _log2(x)
    y_high = without_lower(y)
    low = (y - y_high) * high + y * low
    high = y_high * high
    z = low + high
    if z >= 1024.0 and (z > 1024.0 or low + OVERFLOW_REST > z - high):
        return sign * INF
    if z <= -1075.0 and (z < -1075.0 or low <= z - high):
        return sign * 0.0
    return sign * _exp2(high, low)


def _log2_near_one(x: float) -> tuple[float, float]:
    t = x - 1.0
    w = (t * t) * (0.5 - t * (0.3333333333333333333333 - t * 0.25))
    u = INVERSE_LN2_HIGH * t
    v = t * INVERSE_LN2_LOW - w * INVERSE_LN2
    high = without_lower(u + v)
    return high, v - (high - u)


def _log2(x: float) -> tuple[float, float]:
    """Return log2(x) in two parts, of which the first has at most 21 bits."""
    mantissa, n = frexp(x)
    m = mantissa + mantissa
    n -= 1
    base, dp_high, dp_low = 1.0, 0.0, 0.0
    if m >= POW_ROOT_OF_THREE:
        m = mantissa
        n += 1
    elif m >= POW_ROOT_OF_ONE_AND_HALF:
        base = 1.5
        dp_high, dp_low = LOG2_OF_ONE_AND_HALF
    u = m - base
    v = 1.0 / (m + base)
    s = u * v
    s_high = without_lower(s)
    t_high = _sum_high(m, base)
    s_low = v * ((u - s_high * t_high) - s_high * (m - (t_high - base)))
    s2 = s * s
    r = s2 * s2 * (L1 + s2 * (L2 + s2 * (L3 + s2 * (L4 + s2 * (L5 + s2 * L6)))))
    r += s_low * (s_high + s)
    s2 = s_high * s_high
    t_high = without_lower(3.0 + s2 + r)
    t_low = r - ((t_high - 3.0) - s2)
    u = s_high * t_high
    v = s_low * t_high + t_low * s
    p_high = without_lower(u + v)
    p_low = v - (p_high - u)
    z_high = CP_HIGH * p_high
    z_low = CP_LOW * p_high + p_low * CP + dp_low
    high = without_lower(((z_high + z_low) + dp_high) + n)
    return high, z_low - (((high - n) - dp_high) - z_high)


def _sum_high(m: float, base: float) -> float:
    """Return m + base, m cut to 20 bits."""
    return base + int(m * 524288.0) / 524288.0 if m >= 1.0 else base + int(m * 1048576.0) / 1048576.0


def _exp2(high: float, low: float) -> float:
    """Return 2^(high + low)."""
    z = low + high
    n = 0
    size = abs(z)
    if size >= EXP2_FROM:
        n = int(without_lower(size) + 0.5)
        n = -n if z < 0.0 else n
        high -= n
    t = without_lower(low + high)
    u = t * POW_LN2_HIGH
    v = (low - (t - high)) * POW_LN2 + t * POW_LN2_LOW
    z = u + v
    w = v - (z - u)
    t = z * z
    t1 = z - t * (P1 + t * (P2 + t * (P3 + t * (P4 + t * P5))))
    r = (z * t1) / (t1 - 2.0) - (w + z * w)
    return ldexp(1.0 - (r - z), n)


EXP2_FROM: Final = upper(0x3FE00001)
