"""Java's StrictMath, bit for bit: inverse trigonometric functions and hypot.

The algorithms and constants are those Sun published as fdlibm 5.3 (e_asin.c, e_acos.c, s_atan.c, e_atan2.c, e_hypot.c);
`fdlibm` says how they are written here.
"""

from __future__ import annotations

import math
import struct
from math import sqrt
from typing import Final

from featurekit.targets.kernels.fdlibm import INF, NAN, upper, without_lower

PI: Final = math.pi
PI_LOW: Final = float.fromhex("0x1.1a62633145c07p-53")
HALF_PI: Final = float.fromhex("0x1.921fb54442d18p0")
HALF_PI_LOW: Final = float.fromhex("0x1.1a62633145c07p-54")
QUARTER_PI: Final = float.fromhex("0x1.921fb54442d18p-1")
ASIN_TINY: Final = 2.0**-27
ASIN_TOP: Final = upper(0x3FEF3333)  # about 0.975
ACOS_TINY: Final = upper(0x3C600001)
PS0: Final = float.fromhex("0x1.5555555555555p-3")
PS1: Final = float.fromhex("-0x1.4d61203eb6f7dp-2")
PS2: Final = float.fromhex("0x1.9c1550e884455p-3")
PS3: Final = float.fromhex("-0x1.48228b5688f3bp-5")
PS4: Final = float.fromhex("0x1.9efe07501b288p-11")
PS5: Final = float.fromhex("0x1.23de10dfdf709p-15")
QS1: Final = float.fromhex("-0x1.33a271c8a2d4bp1")
QS2: Final = float.fromhex("0x1.02ae59c598ac8p1")
QS3: Final = float.fromhex("-0x1.6066c1b8d0159p-1")
QS4: Final = float.fromhex("0x1.3b8c5b12e9282p-4")


def _series(t: float) -> float:
    """Return (asin(x) - x) / x of t = x²."""
    p = t * (PS0 + t * (PS1 + t * (PS2 + t * (PS3 + t * (PS4 + t * PS5)))))
    return p / (1.0 + t * (QS1 + t * (QS2 + t * (QS3 + t * QS4))))


def asin(x: float) -> float:
    """Return the arc sine, NaN beyond -1 and 1."""
    size = abs(x)
    if size < 0.5:
        return x if size < ASIN_TINY else x + x * _series(x * x)
    if not size < 1.0:
        return x * HALF_PI + x * HALF_PI_LOW if size == 1.0 else NAN
    t = (1.0 - size) * 0.5
    r = _series(t)
    s = sqrt(t)
    if size >= ASIN_TOP:
        angle = HALF_PI - (2.0 * (s + s * r) - HALF_PI_LOW)
    else:
        w = without_lower(s)
        c = (t - w * w) / (s + w)
        p = 2.0 * s * r - (HALF_PI_LOW - 2.0 * c)
        angle = QUARTER_PI - (p - (QUARTER_PI - 2.0 * w))
    return angle if x > 0.0 else -angle


def acos(x: float) -> float:
    """Return the arc cosine, NaN beyond -1 and 1."""
    size = abs(x)
    if size < 0.5:
        if size < ACOS_TINY:
            return HALF_PI + HALF_PI_LOW
        return HALF_PI - (x - (HALF_PI_LOW - x * _series(x * x)))
    if not size < 1.0:
        if size == 1.0:
            return 0.0 if x > 0.0 else PI + 2.0 * HALF_PI_LOW
        return NAN
    if x < 0.0:
        z = (1.0 + x) * 0.5
        s = sqrt(z)
        return PI - 2.0 * (s + (_series(z) * s - HALF_PI_LOW))
    z = (1.0 - x) * 0.5
    s = sqrt(z)
    high = without_lower(s)
    c = (z - high * high) / (s + high)
    return 2.0 * (high + (_series(z) * s + c))


ATAN_MOST: Final = upper(0x44100000)
ATAN_TINY: Final = 2.0**-29
ATAN_HALF: Final = (float.fromhex("0x1.dac670561bb4fp-2"), float.fromhex("0x1.a2b7f222f65e2p-56"))
ATAN_ONE: Final = (float.fromhex("0x1.921fb54442d18p-1"), float.fromhex("0x1.1a62633145c07p-55"))
ATAN_ONE_AND_HALF: Final = (float.fromhex("0x1.f730bd281f69bp-1"), float.fromhex("0x1.007887af0cbbdp-56"))
ATAN_INF: Final = (HALF_PI, HALF_PI_LOW)
AT0: Final = float.fromhex("0x1.555555555550dp-2")
AT1: Final = float.fromhex("-0x1.999999998ebc4p-3")
AT2: Final = float.fromhex("0x1.24924920083ffp-3")
AT3: Final = float.fromhex("-0x1.c71c6fe231671p-4")
AT4: Final = float.fromhex("0x1.745cdc54c206ep-4")
AT5: Final = float.fromhex("-0x1.3b0f2af749a6dp-4")
AT6: Final = float.fromhex("0x1.10d66a0d03d51p-4")
AT7: Final = float.fromhex("-0x1.dde2d52defd9ap-5")
AT8: Final = float.fromhex("0x1.97b4b24760debp-5")
AT9: Final = float.fromhex("-0x1.2b4442c6a6c2fp-5")
AT10: Final = float.fromhex("0x1.0ad3ae322da11p-6")


def atan(x: float) -> float:
    """Return the arc tangent."""
    if -0.4375 < x < 0.4375:
        return x if -ATAN_TINY < x < ATAN_TINY else x - x * _atan_series(x * x)
    size = abs(x)
    if not size < ATAN_MOST:
        return x if x != x else HALF_PI + HALF_PI_LOW if x > 0.0 else -HALF_PI - HALF_PI_LOW
    if size < 1.1875:
        if size < 0.6875:
            (high, low), t = ATAN_HALF, (2.0 * size - 1.0) / (2.0 + size)
        else:
            (high, low), t = ATAN_ONE, (size - 1.0) / (size + 1.0)
    elif size < 2.4375:
        (high, low), t = ATAN_ONE_AND_HALF, (size - 1.5) / (1.0 + 1.5 * size)
    else:
        (high, low), t = ATAN_INF, -1.0 / size
    angle = high - ((t * _atan_series(t * t) - low) - t)
    return angle if x > 0.0 else -angle


def _atan_series(z: float) -> float:
    w = z * z
    odd = z * (AT0 + w * (AT2 + w * (AT4 + w * (AT6 + w * (AT8 + w * AT10)))))
    return odd + w * (AT1 + w * (AT3 + w * (AT5 + w * (AT7 + w * AT9))))


def atan2(y: float, x: float) -> float:
    """Return the angle of the point (x, y), from -π to π; for Spark a coordinate -0.0 is 0.0."""
    if x != x or y != y:
        return NAN
    if abs(y) == INF:
        angle = HALF_PI if abs(x) != INF else 3.0 * QUARTER_PI if x < 0.0 else QUARTER_PI
    elif x == 0.0:
        angle = HALF_PI if y else 0.0
    else:
        angle = atan(abs(y / x))
        angle = PI - (angle - PI_LOW) if x < 0.0 else angle
    return -angle if y < 0.0 else angle


HYPOT_LARGE: Final = float.fromhex("0x1.00000ffffffffp500")
HYPOT_SMALL: Final = 2.0**-500
HYPOT_LOST: Final = 2.0**59  # from 2^60 on, the smaller one does not count
SMALLEST_NORMAL: Final = 2.0**-1022


def hypot(x: float, y: float) -> float:
    """Return the length of the vector (x, y)."""
    a, b = abs(x), abs(y)
    if not (a < INF and b < INF):
        return INF if a == INF or b == INF else NAN
    if b > a:
        a, b = b, a
    if a > b * HYPOT_LOST and (b == 0.0 or _upper_word(a) - _upper_word(b) > 0x3C00000):
        return a + b
    scale = 1.0
    if a > HYPOT_LARGE:
        a, b, scale = a * 2.0**-600, b * 2.0**-600, 2.0**600
    if b < SMALLEST_NORMAL:
        a, b, scale = a * 2.0**1022, b * 2.0**1022, scale * 2.0**-1022
        # fdlibm forgets to scale the upper halves: they vanish
        return scale * sqrt(a * a + b * b) if a - b > b else scale * sqrt((a - b) * (a - b) + (a + a) * b)
    if b < HYPOT_SMALL:
        a, b, scale = a * 2.0**600, b * 2.0**600, scale * 2.0**-600
    w = a - b
    if w > b:
        high = without_lower(a)
        length = sqrt(high * high - (b * -b - (a - high) * (a + high)))
    else:
        b_high, double = without_lower(b), a + a
        high = without_lower(double)
        length = sqrt(high * b_high - (w * -w - (high * (b - b_high) + (double - high) * b)))
    return scale * length


def _upper_word(value: float) -> int:
    return struct.unpack(">I", struct.pack(">d", value)[:4])[0]  # type: ignore[no-any-return]
