"""Java's StrictMath, bit for bit: hyperbolic functions, and their inverses as Spark defines them.

The algorithms are those Sun published as fdlibm 5.3 (e_sinh.c, e_cosh.c, s_asinh.c, e_acosh.c); `fdlibm` says how they
are written here.
"""

from __future__ import annotations

from math import sqrt
from typing import Final

from featurekit.targets.kernels.fdlibm import HALF_LN2, INF, LN2, NAN, exp, expm1, log1p, log_of_positive, upper

HYPERBOLIC_TINY: Final = 2.0**-28
COSH_TINY: Final = upper(0x3C800000)
LOG_MOST: Final = upper(0x40862E42)
HYPERBOLIC_MOST: Final = float.fromhex("0x1.633ce8fb9f87dp9")  # above, sinh and cosh are infinite


def sinh(x: float) -> float:
    """Return the hyperbolic sine."""
    size = abs(x)
    sign = 0.5 if x > 0.0 else -0.5
    if size < 22.0:
        if size < HYPERBOLIC_TINY:
            return x
        t = expm1(size)
        return sign * (2.0 * t - t * t / (t + 1.0)) if size < 1.0 else sign * (t + t / (t + 1.0))
    if size < LOG_MOST:
        return sign * exp(size)
    if size <= HYPERBOLIC_MOST:
        w = exp(0.5 * size)
        return (sign * w) * w
    return x * INF


def cosh(x: float) -> float:
    """Return the hyperbolic cosine."""
    size = abs(x)
    if size < HALF_LN2:
        t = expm1(size)
        w = 1.0 + t
        return w if size < COSH_TINY else 1.0 + (t * t) / (w + w)
    if size < 22.0:
        t = exp(size)
        return 0.5 * t + 0.5 / t
    if size < LOG_MOST:
        return 0.5 * exp(size)
    if size <= HYPERBOLIC_MOST:
        w = exp(0.5 * size)
        return (0.5 * w) * w
    return size * INF


ASINH_LARGE: Final = 2.0**28


def asinh(x: float) -> float:
    """Return the inverse hyperbolic sine (fdlibm's s_asinh.c, which Spark follows)."""
    size = abs(x)
    if size < HYPERBOLIC_TINY or not size < INF:
        return x
    if size > ASINH_LARGE:
        value = log_of_positive(size) + LN2
    elif size > 2.0:
        value = log_of_positive(2.0 * size + 1.0 / (sqrt(x * x + 1.0) + size))
    else:
        t = x * x
        value = _log1p_within(size + t / (1.0 + sqrt(1.0 + t)))
    return value if x > 0.0 else -value


def acosh(x: float) -> float:
    """Return the inverse hyperbolic cosine (fdlibm's e_acosh.c, which Spark follows), NaN below 1."""
    if not x >= 1.0:
        return NAN
    if x >= ASINH_LARGE:
        return x if x == INF else log_of_positive(x) + LN2
    if x > 2.0:
        return log_of_positive(2.0 * x - 1.0 / (x + sqrt(x * x - 1.0)))
    t = x - 1.0
    return _log1p_within(t + sqrt(2.0 * t + t * t))


def atanh(x: float) -> float:
    """Return the inverse hyperbolic tangent as Spark defines it, NaN beyond -1 and 1."""
    if not -1.0 < x < 1.0:
        return x * INF if x in (-1.0, 1.0) else NAN
    return 0.5 * (_log1p_within(x) - _log1p_within(-x))


def _log1p_within(x: float) -> float:
    value = log1p(x)
    assert value is not None  # the argument is above -1
    return value
