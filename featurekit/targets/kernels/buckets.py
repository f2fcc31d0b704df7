"""Buckets, distances and similarity, operation for operation what the Spark SQL of `expr/buckets_forms` does.

Sums are taken in element order with +, never with Python's sum(), which is more careful than Spark.
"""

from __future__ import annotations

from bisect import bisect_right
from math import isfinite, sqrt
from typing import Any, Final

from featurekit.expr.nodes import Call
from featurekit.expr.sphere import ANGLE, DIAMETER, HALF_TURN, QUARTER_TURN, SINE
from featurekit.targets.kernels.fdlibm import log
from featurekit.targets.kernels.fdlibm_angles import asin
from featurekit.targets.kernels.kernel import Factory, Kernel, always, literal_value

_LONG_LOW, _LONG_HIGH = -(1 << 63), (1 << 63) - 1


def width_bucket(value: float, low: float, high: float, count: int) -> int | None:
    """Return the bucket of a value, None where the bounds or the count make no buckets."""
    if not 0 < count < _LONG_HIGH or low == high or value != value or not (isfinite(low) and isfinite(high)):
        return None
    if low < high:
        if value < low:
            return 0
        return count + 1 if value >= high else _bucket(float(count) * (value - low) / (high - low))
    if value > low:
        return 0
    return count + 1 if value <= high else _bucket(float(count) * (low - value) / (low - high))


def _bucket(place: float) -> int:
    """Return one more than a double cut to a bigint, as Java cuts and adds: it saturates, then wraps."""
    if place != place:
        return 1
    whole = _LONG_HIGH if place >= 2.0**63 else _LONG_LOW if place < -(2.0**63) else int(place)
    return whole + 1 if whole < _LONG_HIGH else _LONG_LOW


def _bucketize(call: Call) -> Kernel:
    bounds = [literal_value(call, place) for place in range(1, len(call.args))]
    last = len(bounds)

    def kernel(value: Any, *_: Any) -> int:
        return bisect_right(bounds, value) if value == value else last

    return kernel


def log_ratio(a: float, b: float) -> float | None:
    """Return ln(a / b), None unless a / b is above zero."""
    return log(a / b) if b else None


C1, C2, C3, C4, C5, C6, C7, C8 = SINE


def haversine(lat1: float, lon1: float, lat2: float, lon2: float) -> float | None:
    """Return the great-circle distance in kilometres of two places in degrees, None where one is not on the sphere.

    >>> haversine(40.6413, -73.7781, 33.9416, -118.4085)
    3974.3416895777727
    """
    if not (
        -QUARTER_TURN <= lat1 <= QUARTER_TURN
        and -QUARTER_TURN <= lat2 <= QUARTER_TURN
        and -HALF_TURN <= lon1 <= HALF_TURN
        and -HALF_TURN <= lon2 <= HALF_TURN
    ):
        return None
    # The sines of four angles from 0 to 90 degrees, one after the other: calls would take a quarter of the time.
    s = abs(lat1 - lat2) * 0.5 * ANGLE
    z = s * s
    height = s + (s * z) * (C1 + z * (C2 + z * (C3 + z * (C4 + z * (C5 + z * (C6 + z * (C7 + z * C8)))))))
    across = abs(lon1 - lon2) * 0.5
    s = (HALF_TURN - across if across > QUARTER_TURN else across) * ANGLE
    z = s * s
    width = s + (s * z) * (C1 + z * (C2 + z * (C3 + z * (C4 + z * (C5 + z * (C6 + z * (C7 + z * C8)))))))
    s = (QUARTER_TURN - abs(lat1)) * ANGLE
    z = s * s
    cosine = s + (s * z) * (C1 + z * (C2 + z * (C3 + z * (C4 + z * (C5 + z * (C6 + z * (C7 + z * C8)))))))
    s = (QUARTER_TURN - abs(lat2)) * ANGLE
    z = s * s
    other = s + (s * z) * (C1 + z * (C2 + z * (C3 + z * (C4 + z * (C5 + z * (C6 + z * (C7 + z * C8)))))))
    part = height * height + cosine * other * (width * width)
    return DIAMETER * asin(sqrt(min(1.0, part)))


Numbers = tuple[float | None, ...]


def _unusable(a: Numbers, b: Numbers) -> bool:
    return len(a) != len(b) or None in a or None in b


def dot_product(a: Any, b: Any) -> float | None:
    """Return the sum of the products in element order, None where one is missing."""
    if _unusable(a, b):
        return None
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += x * y
    return total


def cosine_similarity(a: Any, b: Any) -> float | None:
    """Return a·b / (|a| |b|), None where an element is missing or a norm is zero.

    >>> cosine_similarity((1.0, 0.0), (1.0, 1.0)), cosine_similarity((0.0,), (1.0,))
    (0.7071067811865475, None)
    """
    if len(a) != len(b):
        return None
    ab = aa = bb = 0.0
    try:
        for x, y in zip(a, b):  # noqa: B905 - they are of one length
            ab += x * y
            aa += x * x
            bb += y * y
    except TypeError:  # an element is missing; to look for one beforehand takes as long as the sums
        return None
    norms = sqrt(aa) * sqrt(bb)
    return ab / norms if norms else None


def l2_norm(a: Any) -> float | None:
    """Return the root of the sum of the squares in element order, None where an element is missing."""
    if None in a:
        return None
    total = 0.0
    for x in a:
        total += x * x
    return sqrt(total)


def l2_distance(a: Any, b: Any) -> float | None:
    """Return the root of the sum of the squared differences in element order, None where one is missing."""
    if _unusable(a, b):
        return None
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += (x - y) * (x - y)
    return sqrt(total)


KERNELS: Final[dict[str, Factory]] = {
    "width_bucket": always(width_bucket),
    "bucketize": _bucketize,
    "log_ratio": always(log_ratio),
    "haversine": always(haversine),
    "dot_product": always(dot_product),
    "cosine_similarity": always(cosine_similarity),
    "l2_norm": always(l2_norm),
    "l2_distance": always(l2_distance),
}
