"""Aggregates of values once more, in slow plain Python: exact sums by fractions, roots by trying."""

from __future__ import annotations

import math
import struct
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from typing import Any

from tests.offline.reference_hash import hyperloglog, xxhash64

INFINITY_BITS = 0x7FF0000000000000


def typed(value: Any) -> tuple[int, Any]:
    """Return a key that sorts as Spark does: NULL first, NaN last, -0.0 with 0.0, text by its UTF-8 bytes."""
    if value is None:
        return (0, 0)
    if isinstance(value, float) and math.isnan(value):
        return (2, 0)
    return (1, value.encode() if isinstance(value, str) else value)


def canonical(value: Any) -> Any:
    """Return a value as it counts: one zero, one NaN."""
    if not isinstance(value, float):
        return value
    return math.nan if math.isnan(value) else value + 0.0


def aggregate(function: str, values: list[Any], *, kind: str = "", limit: int = 1, scale: int | None = None) -> Any:
    """Return an aggregate that no order of the rows decides; `kind` is the values' type, where a hash asks for it."""
    present = [value for value in values if value is not None]
    if function == "count":
        return len(present)
    if function == "count_distinct":
        return len({typed(value) for value in present})
    if function == "approx_count_distinct":
        return hyperloglog({xxhash64(canonical(value), kind) for value in present}, limit)
    if not present:
        return None
    match function:
        case "min":
            return canonical(min(present, key=typed))
        case "max":
            return canonical(max(present, key=typed))
        case "sum":
            return total(present)
        case "var_pop" | "var_samp" | "stddev_pop" | "stddev_samp":
            return spread(function, present)
        case "top_k":
            return [canonical(value) for value in sorted(present, key=typed, reverse=True)[:limit]]
        case _:
            return average(present, scale)


def spread(function: str, values: list[Any]) -> float | None:
    """Return a variance or its root by the textbook: the squares of the distances from the mean."""
    sample = function.endswith("samp")
    if len(values) < 1 + sample:
        return None
    if any(isinstance(value, float) and not math.isfinite(value) for value in values):
        return math.nan
    exact = [Fraction(value) for value in values]
    mean = sum(exact, Fraction()) / len(exact)
    variance = sum(((value - mean) ** 2 for value in exact), Fraction()) / (len(exact) - sample)
    return nearest(variance) if function.startswith("var") else nearest_root(variance)


def nearest(exact: Fraction) -> float:
    try:
        return exact.numerator / exact.denominator
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def nearest_root(exact: Fraction) -> float:
    """Return the float nearest to a root, found by trying: the one whose neighbours' midpoints enclose it."""
    low, high = 0, INFINITY_BITS
    while low < high:  # floats of one sign are in the order of their bits
        middle = (low + high) // 2
        if midpoint(middle) ** 2 < exact:
            low = middle + 1
        else:
            high = middle
    if low < INFINITY_BITS and midpoint(low) ** 2 == exact and low % 2:
        low += 1
    return from_bits(low)


def midpoint(bits: int) -> Fraction:
    """Return what lies half way to the next float; the last one's next would be 2^1024."""
    value, following = from_bits(bits), from_bits(bits + 1)
    beyond = Fraction(2) ** 1024 if math.isinf(following) else Fraction(following)
    return (Fraction(value) + beyond) / 2


def from_bits(bits: int) -> float:
    value: float = struct.unpack("<d", struct.pack("<q", bits))[0]
    return value


def total(values: list[Any]) -> Any:
    if isinstance(values[0], float):
        return float_total(values)
    if isinstance(values[0], Decimal):
        with localcontext(prec=100):
            exact = sum(values, Decimal(0))
            unscaled = abs(exact.scaleb(-int(values[0].as_tuple().exponent)))
        return exact if unscaled < 10**38 else None
    whole = sum(values)
    return whole if -(2**63) <= whole < 2**63 else None


def float_total(values: list[float]) -> float:
    special = {value for value in values if math.isinf(value)}
    if any(math.isnan(value) for value in values) or len(special) == 2:
        return math.nan
    if special:
        return special.pop()
    return nearest(sum((Fraction(value) for value in values), Fraction()))


def average(values: list[Any], scale: int | None) -> Any:
    if isinstance(values[0], float):
        return float_total(values) / len(values)
    if isinstance(values[0], Decimal):
        whole = total(values)
        if whole is None:
            return None
        with localcontext(prec=200, rounding=ROUND_HALF_UP):
            quotient = (whole / len(values)).quantize(Decimal(1).scaleb(-(scale or 0)))
            return quotient if abs(quotient.scaleb(scale or 0)) < 10**38 else None
    return float(sum(values)) / len(values)
