"""Functions that Java computes differently from one JDK or machine to the next, as featurekit defines them.

Operation for operation what `expr/maths_forms` has Spark compute: only + - * / and comparisons, and fdlibm's exp and
pow, which Spark has, too.
"""

from __future__ import annotations

import math
from typing import Final

from featurekit.expr.trigonometry import COS, CYCLE_LIMIT, INVERSE_HALF_PI, SIN, SIN_TINY, TURNS
from featurekit.targets.kernels.fdlibm import INF, expm1
from featurekit.targets.kernels.fdlibm_pow import pow_

P1, P2, P3, P4 = TURNS
S1, S2, S3, S4, S5, S6 = SIN
C1, C2, C3, C4, C5, C6 = COS
IN_FIRST: Final = 0.78  # below an eighth of a turn there is nothing to reduce


def _reduced(x: float) -> tuple[int, float, float]:
    """Return the quarter turns of an angle, and the rest in two doubles."""
    whole = math.floor(x * INVERSE_HALF_PI + 0.5)
    q = float(whole)
    r = (x - q * P1) - q * P2
    a = r - q * P3
    c = ((r - a) - q * P3) - q * P4
    y = a + c
    return whole, y, (a - y) + c


def _sine(y: float, low: float) -> float:
    z = y * y
    v = z * y
    return y - ((z * (0.5 * low - v * (S2 + z * (S3 + z * (S4 + z * (S5 + z * S6))))) - low) - v * S1)


def _cosine(y: float, low: float) -> float:
    z = y * y
    half = 0.5 * z
    w = 1.0 - half
    r = z * (C1 + z * (C2 + z * (C3 + z * (C4 + z * (C5 + z * C6)))))
    return w + (((1.0 - w) - half) + (z * r - y * low))


def sin(x: float) -> float | None:
    """Return the sine, within an ulp of the true one; None beyond ten million.

    >>> sin(1.0), sin(1e9)
    (0.8414709848078965, None)
    """
    if -IN_FIRST < x < IN_FIRST:
        return x if -SIN_TINY < x < SIN_TINY else _sine(x, 0.0)
    if not -CYCLE_LIMIT <= x <= CYCLE_LIMIT:
        return x if x != x else None
    q, y, low = _reduced(x)
    value = _cosine(y, low) if q & 1 else _sine(y, low)
    return -value if q & 2 else value


def cos(x: float) -> float | None:
    """Return the cosine, within an ulp of the true one; None beyond ten million."""
    if -IN_FIRST < x < IN_FIRST:
        return _cosine(x, 0.0)
    if not -CYCLE_LIMIT <= x <= CYCLE_LIMIT:
        return x if x != x else None
    q, y, low = _reduced(x)
    value = _sine(y, low) if q & 1 else _cosine(y, low)
    return -value if (q + 1) & 2 else value


def tan(x: float) -> float | None:
    """Return the tangent, within two ulps of the true one; None beyond ten million."""
    if not -CYCLE_LIMIT <= x <= CYCLE_LIMIT:
        return x if x != x else None
    if -SIN_TINY < x < SIN_TINY:
        return x
    q, y, low = _reduced(x)
    sine, cosine = _sine(y, low), _cosine(y, low)
    return -cosine / sine if q & 1 else sine / cosine


def cot(x: float) -> float | None:
    """Return the cotangent, within two ulps of the true one; None at zero and beyond ten million."""
    if not -CYCLE_LIMIT <= x <= CYCLE_LIMIT or x == 0.0:
        return x if x != x else None
    q, y, low = _reduced(x)
    sine, cosine = _sine(y, low), _cosine(y, low)
    return -sine / cosine if q & 1 else cosine / sine


def sec(x: float) -> float | None:
    """Return 1 / cos(x)."""
    cosine = cos(x)
    return None if cosine is None else 1.0 / cosine


def csc(x: float) -> float | None:
    """Return 1 / sin(x); None at zero."""
    sine = sin(x)
    return 1.0 / sine if sine else None


TANH_TINY: Final = 2.0**-55


def tanh(x: float) -> float:
    """Return the hyperbolic tangent, by fdlibm 5.3 (s_tanh.c)."""
    size = abs(x)
    if size < TANH_TINY:
        return x * (1.0 + x)
    if size >= 22.0:
        value = 1.0
    elif size >= 1.0:
        value = 1.0 - 2.0 / (expm1(2.0 * size) + 2.0)
    else:
        t = expm1(-2.0 * size)
        value = -t / (t + 2.0)
    return -value if x < 0.0 else value


THIRD: Final = 1 / 3


def cbrt(x: float) -> float:
    """Return the cube root, within an ulp of the true one: a power, and one step of Newton's method."""
    if x == 0.0 or x != x or x in (INF, -INF):
        return x
    size = abs(x)
    t = pow_(size, THIRD)
    root = t - (t - size / (t * t)) / 3.0
    return -root if x < 0.0 else root
