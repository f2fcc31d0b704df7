"""Angles over arrays: the bits of `kernels/fdlibm_angles`, `kernels/redefined` and of haversine, as `maths` is written.

Where the scalar function is NULL, the second array that is returned is false.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from featurekit.expr.sphere import ANGLE, DIAMETER, HALF_TURN, QUARTER_TURN
from featurekit.expr.trigonometry import CYCLE_LIMIT, INVERSE_HALF_PI, SIN_TINY
from featurekit.targets.kernels import buckets as b
from featurekit.targets.kernels import fdlibm_angles as c
from featurekit.targets.kernels import redefined as r
from featurekit.targets.kernels.fdlibm import INF, NAN
from featurekit.targets.vectors.maths import Bools, Floats, blocked, expm1, power, upper_only


def _asin_series(t: Floats) -> Floats:
    p = t * (c.PS0 + t * (c.PS1 + t * (c.PS2 + t * (c.PS3 + t * (c.PS4 + t * c.PS5)))))
    return p / (1.0 + t * (c.QS1 + t * (c.QS2 + t * (c.QS3 + t * c.QS4))))


def _asin(x: Floats) -> Floats:
    size = np.abs(x)
    outer = size >= 0.5
    t = np.where(outer, (1.0 - size) * 0.5, x * x)
    series = _asin_series(t)
    s = np.sqrt(t)
    top = c.HALF_PI - (2.0 * (s + s * series) - c.HALF_PI_LOW)
    w = upper_only(s)
    rest = (t - w * w) / (s + w)
    p = 2.0 * s * series - (c.HALF_PI_LOW - 2.0 * rest)
    middle = c.QUARTER_PI - (p - (c.QUARTER_PI - 2.0 * w))
    value = np.where(outer, np.copysign(np.where(size >= c.ASIN_TOP, top, middle), x), x + x * series)
    value = np.where(size < c.ASIN_TINY, x, value)
    return np.where(size < 1.0, value, np.where(size == 1.0, x * c.HALF_PI + x * c.HALF_PI_LOW, NAN))


@blocked
def asin(x: Floats) -> Floats:
    """Return arc sines, NaN beyond -1 and 1."""
    return _asin(x)


@blocked
def acos(x: Floats) -> Floats:
    """Return arc cosines, NaN beyond -1 and 1."""
    size = np.abs(x)
    outer = size >= 0.5
    z = np.where(outer, (1.0 - size) * 0.5, x * x)
    series = _asin_series(z)
    s = np.sqrt(z)
    left = c.PI - 2.0 * (s + (series * s - c.HALF_PI_LOW))
    high = upper_only(s)
    right = 2.0 * (high + (series * s + (z - high * high) / (s + high)))
    value = np.where(outer, np.where(x < 0.0, left, right), c.HALF_PI - (x - (c.HALF_PI_LOW - x * series)))
    value = np.where(size < c.ACOS_TINY, c.HALF_PI + c.HALF_PI_LOW, value)
    at_one = np.where(x > 0.0, 0.0, c.PI + 2.0 * c.HALF_PI_LOW)
    return np.where(size < 1.0, value, np.where(size == 1.0, at_one, NAN))


_ATAN_HIGH: Final = np.array([0.0, *(high for high, _ in (c.ATAN_HALF, c.ATAN_ONE, c.ATAN_ONE_AND_HALF, c.ATAN_INF))])
_ATAN_LOW: Final = np.array([0.0, *(low for _, low in (c.ATAN_HALF, c.ATAN_ONE, c.ATAN_ONE_AND_HALF, c.ATAN_INF))])


def _atan(x: Floats) -> Floats:
    size = np.abs(x)
    part = (size >= 0.4375).astype(np.int8) + (size >= 0.6875) + (size >= 1.1875) + (size >= 2.4375)
    t = np.where(
        part < 2,
        np.where(part == 0, size, (2.0 * size - 1.0) / (2.0 + size)),
        np.where(
            part == 2,
            (size - 1.0) / (size + 1.0),
            np.where(part == 3, (size - 1.5) / (1.0 + 1.5 * size), -1.0 / size),
        ),
    )
    z = t * t
    w = z * z
    odd = z * (c.AT0 + w * (c.AT2 + w * (c.AT4 + w * (c.AT6 + w * (c.AT8 + w * c.AT10)))))
    even = w * (c.AT1 + w * (c.AT3 + w * (c.AT5 + w * (c.AT7 + w * c.AT9))))
    value = _ATAN_HIGH[part] - ((t * (odd + even) - _ATAN_LOW[part]) - t)
    value = np.where(size < c.ATAN_TINY, size, value)
    value = np.where(size >= c.ATAN_MOST, c.HALF_PI + c.HALF_PI_LOW, value)
    return np.where(x != x, x, np.copysign(value, x))


@blocked
def atan(x: Floats) -> Floats:
    """Return arc tangents."""
    return _atan(x)


@blocked
def atan2(y: Floats, x: Floats) -> Floats:
    """Return the angles of the points (x, y), from -π to π; a coordinate -0.0 is 0.0."""
    left = x < 0.0
    angle = _atan(np.abs(y / x))
    angle = np.where(left, c.PI - (angle - c.PI_LOW), angle)
    angle = np.where(x == 0.0, np.where(y == 0.0, 0.0, c.HALF_PI), angle)
    both = np.where(left, 3.0 * c.QUARTER_PI, c.QUARTER_PI)
    angle = np.where(np.abs(y) == INF, np.where(np.abs(x) == INF, both, c.HALF_PI), angle)
    angle = np.where(y < 0.0, -angle, angle)
    return np.where((x != x) | (y != y), NAN, angle)


@blocked
def hypot(x: Floats, y: Floats) -> Floats:
    """Return the lengths of the vectors (x, y)."""
    first, second = np.abs(x), np.abs(y)
    a, b_ = np.maximum(first, second), np.minimum(first, second)
    lost = ((a.view(np.int64) >> 32) - (b_.view(np.int64) >> 32) > 0x3C00000) | (b_ == 0.0)
    total = a + b_
    scale = np.where(a > c.HYPOT_LARGE, 2.0**600, 1.0)
    a, b_ = a / scale, b_ / scale
    tiny = b_ < c.SMALLEST_NORMAL
    up = np.where(tiny, 2.0**1022, np.where(b_ < c.HYPOT_SMALL, 2.0**600, 1.0))
    a, b_, scale = a * up, b_ * up, scale / up
    w = a - b_
    far = w > b_
    double = a + a
    high = np.where(tiny, 0.0, upper_only(np.where(far, a, double)))
    b_high = np.where(tiny, 0.0, upper_only(b_))
    squares = np.where(
        far,
        high * high - (b_ * -b_ - (a - high) * (a + high)),
        high * b_high - (w * -w - (high * (b_ - b_high) + (double - high) * b_)),
    )
    value = np.where(lost, total, scale * np.sqrt(squares))
    value = np.where((x != x) | (y != y), NAN, value)
    return np.where((first == INF) | (second == INF), INF, value)


def _reduced(x: Floats) -> tuple[Floats, Floats, Floats]:
    q = np.floor(x * INVERSE_HALF_PI + 0.5)
    rest = (x - q * r.P1) - q * r.P2
    a = rest - q * r.P3
    lost = ((rest - a) - q * r.P3) - q * r.P4
    y = a + lost
    return q, y, (a - y) + lost


def _sine(y: Floats, low: Floats, z: Floats) -> Floats:
    v = z * y
    series = r.S2 + z * (r.S3 + z * (r.S4 + z * (r.S5 + z * r.S6)))
    return y - ((z * (0.5 * low - v * series) - low) - v * r.S1)


def _cosine(y: Floats, low: Floats, z: Floats) -> Floats:
    half = 0.5 * z
    w = 1.0 - half
    series = z * (r.C1 + z * (r.C2 + z * (r.C3 + z * (r.C4 + z * (r.C5 + z * r.C6)))))
    return w + (((1.0 - w) - half) + (z * series - y * low))


def _both(x: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the quarter turns of angles, and the sine and the cosine of the rest."""
    q, y, low = _reduced(x)
    z = y * y
    return q, _sine(y, low, z), _cosine(y, low, z)


def _is_odd(q: Floats) -> Bools:
    odd: Bools = (q.astype(np.int64) & 1) == 1
    return odd


def _signed(value: Floats, q: Floats) -> Floats:
    return np.where((q.astype(np.int64) & 2) == 2, -value, value)


@blocked
def _sin(x: Floats) -> Floats:
    q, sine, cosine = _both(x)
    return np.where(np.abs(x) < SIN_TINY, x, _signed(np.where(_is_odd(q), cosine, sine), q))


@blocked
def _cos(x: Floats) -> Floats:
    q, sine, cosine = _both(x)
    return _signed(np.where(_is_odd(q), sine, cosine), q + 1.0)


@blocked
def _tan(x: Floats) -> Floats:
    q, sine, cosine = _both(x)
    return np.where(np.abs(x) < SIN_TINY, x, np.where(_is_odd(q), -cosine / sine, sine / cosine))


@blocked
def _cot(x: Floats) -> Floats:
    q, sine, cosine = _both(x)
    return np.where(_is_odd(q), -sine / cosine, cosine / sine)


def _within(x: Floats) -> tuple[Floats, Bools]:
    """Return the angles, those beyond the limit and NaN made harmless, and where they are within it or NaN."""
    valid = ~(np.abs(x) > CYCLE_LIMIT)
    return np.where(valid & (x == x), x, 1.0), valid


def _finished(x: Floats, values: Floats, valid: Bools) -> tuple[Floats, Bools]:
    return np.where(x == x, values, x), valid


def sin(x: Floats) -> tuple[Floats, Bools]:
    """Return sines, and where there is one."""
    angle, valid = _within(x)
    return _finished(x, _sin(angle), valid)


def cos(x: Floats) -> tuple[Floats, Bools]:
    """Return cosines, and where there is one."""
    angle, valid = _within(x)
    return _finished(x, _cos(angle), valid)


def tan(x: Floats) -> tuple[Floats, Bools]:
    """Return tangents, and where there is one."""
    angle, valid = _within(x)
    return _finished(x, _tan(angle), valid)


def cot(x: Floats) -> tuple[Floats, Bools]:
    """Return cotangents, and where there is one."""
    angle, valid = _within(x)
    return _finished(x, _cot(angle), valid & (x != 0.0))


def sec(x: Floats) -> tuple[Floats, Bools]:
    """Return 1 / cos(x), and where there is one."""
    values, valid = cos(x)
    return 1.0 / values, valid


def csc(x: Floats) -> tuple[Floats, Bools]:
    """Return 1 / sin(x), and where there is one."""
    values, valid = sin(x)
    with np.errstate(all="ignore"):
        return 1.0 / values, valid & (x != 0.0)


@blocked
def tanh(x: Floats) -> Floats:
    """Return hyperbolic tangents."""
    size = np.abs(x)
    inner = np.fmin(size, 22.0)
    t = expm1(np.where(size >= 1.0, 2.0 * inner, -2.0 * inner))
    value = np.where(size >= 1.0, 1.0 - 2.0 / (t + 2.0), -t / (t + 2.0))
    value = np.where(size >= 22.0, 1.0, value)
    value = np.where(x < 0.0, -value, value)
    return np.where(size < r.TANH_TINY, x * (1.0 + x), np.where(x != x, x, value))


@blocked
def cbrt(x: Floats) -> Floats:
    """Return cube roots."""
    size = np.abs(x)
    ordinary = (size > 0.0) & (size < INF)
    size = np.where(ordinary, size, 1.0)
    t = power(size, r.THIRD)
    root = t - (t - size / (t * t)) / 3.0
    return np.where(ordinary, np.copysign(root, x), x)


def _sine_of_degrees(degrees: Floats) -> Floats:
    s = degrees * ANGLE
    z = s * s
    series = b.C1 + z * (b.C2 + z * (b.C3 + z * (b.C4 + z * (b.C5 + z * (b.C6 + z * (b.C7 + z * b.C8))))))
    return s + (s * z) * series


@blocked
def _haversine(lat1: Floats, lon1: Floats, lat2: Floats, lon2: Floats) -> Floats:
    across = np.abs(lon1 - lon2) * 0.5
    height = _sine_of_degrees(np.abs(lat1 - lat2) * 0.5)
    width = _sine_of_degrees(np.where(across > QUARTER_TURN, HALF_TURN - across, across))
    cosines = _sine_of_degrees(QUARTER_TURN - np.abs(lat1)) * _sine_of_degrees(QUARTER_TURN - np.abs(lat2))
    part = height * height + cosines * (width * width)
    return DIAMETER * _asin(np.sqrt(np.where(part < 1.0, part, 1.0)))


def haversine(lat1: Floats, lon1: Floats, lat2: Floats, lon2: Floats) -> tuple[Floats, Bools]:
    """Return great-circle distances in kilometres, and where both places are on the sphere."""
    valid: Bools = (
        (np.abs(lat1) <= QUARTER_TURN)
        & (np.abs(lat2) <= QUARTER_TURN)
        & (np.abs(lon1) <= HALF_TURN)
        & (np.abs(lon2) <= HALF_TURN)
    )
    return _haversine(*(np.where(valid, degrees, 0.0) for degrees in (lat1, lon1, lat2, lon2))), valid
