"""fdlibm's exp, log and their kin over arrays: the bits of `kernels/fdlibm`, operation for operation.

Only NumPy's exact operations are used (+ - * /, sqrt, floor, bit patterns); NumPy's own exp and log have other last
bits on another CPU. Where the scalar function is NULL, the second array that is returned is false.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from featurekit.targets.kernels import fdlibm as c
from featurekit.targets.kernels import fdlibm_hyperbolic as h
from featurekit.targets.kernels import fdlibm_pow as p

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Longs = NDArray[np.int64]
_BLOCK: Final = 8192  # what a CPU's cache holds of some ten arrays
_FRACTION: Final = (1 << 52) - 1
_UPPER: Final = ~0xFFFFFFFF


def blocked(compute: Callable[..., Floats]) -> Callable[..., Floats]:
    """Return the function that computes block by block, so that intermediate arrays stay in the cache."""

    def over_blocks(*args: Any) -> Floats:
        arrays = np.broadcast_arrays(*(np.asarray(arg, np.float64) for arg in args))
        out = np.empty(arrays[0].shape)
        with np.errstate(all="ignore"):
            for start in range(0, out.size, _BLOCK):
                block = slice(start, start + _BLOCK)
                out[block] = compute(*(np.ascontiguousarray(array[block]) for array in arrays))
        return out

    over_blocks.__doc__ = compute.__doc__
    return over_blocks


def upper_only(x: Floats) -> Floats:
    """Return the numbers with their lower 32 bits cleared."""
    return (x.view(np.int64) & _UPPER).view(np.float64)


def scaled(y: Floats, k: Longs) -> Floats:
    """Return y * 2^k, rounded once; y is about 1."""
    half = k >> 1
    return (y * _power_of_two(half)) * _power_of_two(k - half)


def _power_of_two(k: Longs) -> Floats:
    return ((k + 1023) << 52).view(np.float64)


def _nearest_power(x: Floats, size: Floats) -> Floats:
    """Return k of x = k ln 2 + r, as fdlibm chooses it."""
    sign = np.copysign(1.0, x)
    k = np.trunc(c.INVERSE_LN2 * x + 0.5 * sign)
    k = np.where(size < c.ONE_AND_HALF_LN2, sign, k)
    return np.where(size < c.HALF_LN2, 0.0, k)


@blocked
def exp(x: Floats) -> Floats:
    """Return e to the power of x."""
    return _exp(x)


def _exp(x: Floats) -> Floats:
    size = np.abs(x)
    inner = np.fmin(np.fmax(x, -746.0), 710.0)
    k = _nearest_power(inner, size)
    high = inner - k * c.LN2_HIGH
    low = k * c.LN2_LOW
    r = high - low
    t = r * r
    s = r - t * (c.P1 + t * (c.P2 + t * (c.P3 + t * (c.P4 + t * c.P5))))
    y = scaled(1.0 - ((low - (r * s) / (2.0 - s)) - high), k.astype(np.int64))
    y = np.where(size < c.EXP_TINY, 1.0 + x, y)
    y = np.where(x > c.EXP_MOST, c.INF, np.where(x < c.EXP_LEAST, 0.0, y))
    return np.where(x != x, x, y)


@blocked
def expm1(x: Floats) -> Floats:
    """Return exp(x) - 1, also near zero."""
    return _expm1(x)


def _expm1(value: Floats) -> Floats:
    size = np.abs(value)
    inner = np.fmin(np.fmax(value, -c.EXPM1_ALL), c.EXP_MOST)
    kf = _nearest_power(inner, size)
    high = inner - kf * c.LN2_HIGH
    low = kf * c.LN2_LOW
    x = high - low
    lost = (high - x) - low
    half = 0.5 * x
    square = x * half
    r = 1.0 + square * (c.Q1 + square * (c.Q2 + square * (c.Q3 + square * (c.Q4 + square * c.Q5))))
    t = 3.0 - r * half
    e = square * ((r - t) / (6.0 - x * t))
    e = (x * (e - lost) - lost) - square
    k = kf.astype(np.int64)
    rest = e - x
    one = np.where(x < -0.25, -2.0 * (e - (x + 0.5)), 1.0 + 2.0 * (x - e))
    inverse = _power_of_two(-np.clip(k, 0, 60))
    small = scaled((1.0 - inverse) - rest, k)
    large = scaled((x - (e + inverse)) + 1.0, k)
    far = scaled(1.0 - rest, k) - 1.0
    y = np.where(k < 20, small, large)
    y = np.where((k <= -2) | (k > 56), far, y)
    y = np.where(k == 1, one, np.where(k == -1, 0.5 * (x - e) - 0.5, np.where(k == 0, x - e, y)))
    y = np.where(value > c.EXP_MOST, c.INF, np.where(value <= -c.EXPM1_ALL, -1.0, y))
    return np.where((size < c.EXPM1_TINY) | (value != value), value, y)


def _parts(x: Floats) -> tuple[Longs, Longs]:
    """Return the bits of positive numbers, subnormal ones scaled up, and their exponents."""
    small = x < 2.0**-1022
    bits = np.where(small, x * 2.0**54, x).view(np.int64)
    return bits, (bits >> 52) - 1023 - 54 * small


def _log(x: Floats) -> Floats:
    bits, k = _parts(x)
    upper = (bits >> 32) & 0xFFFFF
    turn = (upper + 0x95F64) & 0x100000
    f = ((bits & _FRACTION) | ((turn ^ 0x3FF00000) << 32)).view(np.float64) - 1.0
    dk = (k + (turn >> 20)).astype(np.float64)
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    r = z * (c.LG1 + w * (c.LG3 + w * (c.LG5 + w * c.LG7))) + w * (c.LG2 + w * (c.LG4 + w * c.LG6))
    half = 0.5 * f * f
    careful = half - (s * (half + r) + dk * c.LN2_LOW)
    plain = s * (f - r) - dk * c.LN2_LOW
    near = f * f * (0.5 - 0.33333333333333333 * f) - dk * c.LN2_LOW
    middle = (upper >= 0x6147A) & (upper <= 0x6B851)
    is_near = ((upper + 2) & 0xFFFFF) < 3
    value = dk * c.LN2_HIGH - (np.where(is_near, near, np.where(middle, careful, plain)) - f)
    return np.where(x < c.INF, value, x)


_log_blocks = blocked(_log)


def log(x: Floats) -> tuple[Floats, Bools]:
    """Return natural logarithms, and where there is one."""
    valid = ~(x <= 0.0)
    return _log_blocks(np.where(valid, x, 1.0)), valid


def log2(x: Floats) -> tuple[Floats, Bools]:
    """Return ln(x) / ln(2), and where there is one."""
    values, valid = log(x)
    return values / c.LN2, valid


def log_to_base(base: Floats, x: Floats) -> tuple[Floats, Bools]:
    """Return ln(x) / ln(base), and where there is one."""
    above, valid = log(x)
    below, also = log(base)
    with np.errstate(all="ignore"):
        return above / below, valid & also


@blocked
def _log10(x: Floats) -> Floats:
    bits, k = _parts(x)
    below = (k < 0).astype(np.int64)
    y = (k + below).astype(np.float64)
    m = ((bits & _FRACTION) | ((1023 - below) << 52)).view(np.float64)
    value = (y * c.LOG10_2_LOW + c.INVERSE_LN10 * _log(m)) + y * c.LOG10_2_HIGH
    return np.where(x < c.INF, value, x)


def log10(x: Floats) -> tuple[Floats, Bools]:
    """Return logarithms to base 10, and where there is one."""
    valid = ~(x <= 0.0)
    return _log10(np.where(valid, x, 1.0)), valid


def _log1p(x: Floats) -> Floats:
    size = np.abs(x)
    direct = (x > c.LOG1P_LOW) & (x < c.LOG1P_HIGH)
    large = x >= c.LOG1P_LARGE
    u = np.where(large, x, 1.0 + x)
    bits = u.view(np.int64)
    k = (bits >> 52) - 1023
    lost = np.where(k > 0, 1.0 - (u - x), x - (u - 1.0)) / u
    upper = (bits >> 32) & 0xFFFFF
    turned = upper >= 0x6A09E
    f = ((bits & _FRACTION) | np.where(turned, 1022 << 52, 1023 << 52)).view(np.float64) - 1.0
    k = np.where(direct, 0, k + turned)
    lost = np.where(large | (k == 0), 0.0, lost)
    f = np.where(direct, x, f)
    is_near = ~direct & ((upper == 0) | (upper >= 0xFFFFD))
    half = 0.5 * f * f
    dk = k.astype(np.float64)
    low = dk * c.LN2_LOW + lost
    s = f / (2.0 + f)
    z = s * s
    r = z * (c.LG1 + z * (c.LG2 + z * (c.LG3 + z * (c.LG4 + z * (c.LG5 + z * (c.LG6 + z * c.LG7))))))
    near = half * (1.0 - 0.66666666666666666 * f) - low
    value = dk * c.LN2_HIGH - (np.where(is_near, near, half - (s * (half + r) + low)) - f)
    value = np.where(size < c.LOG1P_SMALL, x - x * x * 0.5, value)
    return np.where((size < c.LOG1P_TINY) | ~(x < c.INF), x, value)


_log1p_blocks = blocked(_log1p)


def log1p(x: Floats) -> tuple[Floats, Bools]:
    """Return ln(1 + x), also near zero, and where there is one."""
    valid = ~(x <= -1.0)
    return _log1p_blocks(np.where(valid, x, 0.0)), valid


@blocked
def sinh(x: Floats) -> Floats:
    """Return hyperbolic sines."""
    size = np.abs(x)
    sign = np.copysign(0.5, x)
    t = _expm1(np.fmin(size, 22.0))
    value = np.where(size < 1.0, 2.0 * t - t * t / (t + 1.0), t + t / (t + 1.0))
    w = _exp(0.5 * size)
    value = sign * np.where(size < 22.0, value, _exp(size))
    value = np.where(size >= h.LOG_MOST, (sign * w) * w, value)
    value = np.where(size > h.HYPERBOLIC_MOST, x * c.INF, value)
    return np.where((size < h.HYPERBOLIC_TINY) | (x != x), x, value)


@blocked
def cosh(x: Floats) -> Floats:
    """Return hyperbolic cosines."""
    size = np.abs(x)
    t = _expm1(np.fmin(size, 1.0))
    w = 1.0 + t
    small = np.where(size < h.COSH_TINY, w, 1.0 + (t * t) / (w + w))
    e = _exp(size)
    value = np.where(size < 22.0, 0.5 * e + 0.5 / e, 0.5 * e)
    root = _exp(0.5 * size)
    value = np.where(size >= h.LOG_MOST, (0.5 * root) * root, value)
    value = np.where(size < c.HALF_LN2, small, value)
    return np.where(x != x, x, value)


@blocked
def power(x: Floats, y: Floats) -> Floats:
    """Return x to the power of y, as Java does."""
    ordinary = (x > 0.0) & (x < c.INF) & (x != 1.0) & (np.abs(y) <= p.POW_HUGE_Y) & (y != 0.0)
    high, low = _log2_parts(np.where(ordinary, x, 2.0))
    exponent = np.where(ordinary, y, 1.5)
    y_high = upper_only(exponent)
    low = (exponent - y_high) * high + exponent * low
    high = y_high * high
    z = low + high
    ordinary &= (z < 1023.0) & (z > -1074.0)
    value = _exp2(np.where(ordinary, high, 0.5), np.where(ordinary, low, 0.0))
    value = np.where(y == 1.0, x, np.where(y == 2.0, x * x, value))
    value = np.where((y == 0.5) & (x >= 0.0), np.sqrt(x + 0.0), value)
    value = np.where(y == -1.0, 1.0 / x, value)
    plain = ordinary | (((y == 1.0) | (y == 2.0) | (y == -1.0)) & (x == x)) | ((y == 0.5) & (x >= 0.0))
    for place in np.flatnonzero(~plain):
        value[place] = p.pow_(float(x[place]), float(y[place]))
    return value


def _log2_parts(x: Floats) -> tuple[Floats, Floats]:
    bits, n = _parts(x)
    upper = (bits >> 32) & 0xFFFFF
    turned = upper >= 0xBB67A
    middle = (upper > 0x3988E) & ~turned
    m = ((bits & _FRACTION) | np.where(turned, 1022 << 52, 1023 << 52)).view(np.float64)
    dn = (n + turned).astype(np.float64)
    base = np.where(middle, 1.5, 1.0)
    dp_high = np.where(middle, p.LOG2_OF_ONE_AND_HALF[0], 0.0)
    dp_low = np.where(middle, p.LOG2_OF_ONE_AND_HALF[1], 0.0)
    unit = np.where(m >= 1.0, 524288.0, 1048576.0)
    u = m - base
    v = 1.0 / (m + base)
    s = u * v
    s_high = upper_only(s)
    t_high = base + np.floor(m * unit) / unit
    s_low = v * ((u - s_high * t_high) - s_high * (m - (t_high - base)))
    s2 = s * s
    r = s2 * s2 * (p.L1 + s2 * (p.L2 + s2 * (p.L3 + s2 * (p.L4 + s2 * (p.L5 + s2 * p.L6)))))
    r = r + s_low * (s_high + s)
    s2 = s_high * s_high
    t_high = upper_only(3.0 + s2 + r)
    t_low = r - ((t_high - 3.0) - s2)
    u = s_high * t_high
    v = s_low * t_high + t_low * s
    p_high = upper_only(u + v)
    p_low = v - (p_high - u)
    z_high = p.CP_HIGH * p_high
    z_low = p.CP_LOW * p_high + p_low * p.CP + dp_low
    high = upper_only(((z_high + z_low) + dp_high) + dn)
    return high, z_low - (((high - dn) - dp_high) - z_high)


def _exp2(high: Floats, low: Floats) -> Floats:
    z = low + high
    size = np.abs(z)
    n = np.where(size >= p.EXP2_FROM, np.copysign(np.floor(upper_only(size) + 0.5), z), 0.0)
    high = high - n
    t = upper_only(low + high)
    u = t * p.POW_LN2_HIGH
    v = (low - (t - high)) * p.POW_LN2 + t * p.POW_LN2_LOW
    z = u + v
    w = v - (z - u)
    t = z * z
    t1 = z - t * (c.P1 + t * (c.P2 + t * (c.P3 + t * (c.P4 + t * c.P5))))
    r = (z * t1) / (t1 - 2.0) - (w + z * w)
    return scaled(1.0 - (r - z), n.astype(np.int64))
