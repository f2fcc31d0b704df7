"""What a view's rows are, in slow plain Python: DESIGN T1 to T5 and V2 to V4 once more, from the text alone.

Nothing of featurekit's computation is used. Rows are dicts in memory, a feature is a Python function, and for each
entity every row is looked at for every feature.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from typing import Any

Row = dict[str, Any]
PRESENT, NULL, MISSING, EXPIRED = range(4)
INFINITY_BITS = 0x7FF0000000000000


@dataclass(frozen=True, kw_only=True)
class Window:
    """An aggregate over the rows of [as_of - width, as_of) for which `only` is true."""

    function: str
    width: int
    value: Callable[[Row], Any] = lambda row: row
    only: Callable[[Row], Any] = lambda _: True
    scale: int | None = None  # of a decimal average
    by: Callable[[Row], Any] | None = None
    limit: int = 1
    hash_of: Callable[[Any], int] | None = None
    place: int | None = None  # in a result that is a list


@dataclass(frozen=True, kw_only=True)
class Latest:
    value: Callable[[Row], Any]
    ttl: int | None = None


@dataclass(frozen=True, kw_only=True)
class View:
    """`order` are the columns that break ties, by name; rows with the same non-null `version_of` are one event."""

    keys: tuple[str, ...]
    features: dict[str, Window | Latest]
    order: tuple[str, ...]
    where: Callable[[Row], Any] = lambda _: True
    lateness: int = 0
    version_of: str | None = None
    event: str = "event"
    created: str = "created"


@dataclass(frozen=True)
class Expected:
    last_event: int
    values: dict[str, Any] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)


def rows_as_of(log: Iterable[Row], view: View, as_of: int) -> dict[tuple[Any, ...], Expected]:
    """Return the row of each entity that has one."""
    known = [row for row in log if row[view.created] is not None and row[view.created] <= as_of + view.lateness]
    entities: dict[tuple[Any, ...], list[Row]] = {}
    for row in newest_versions(known, view):
        happened = row[view.event] is not None and row[view.event] < as_of
        key = tuple(row[name] for name in view.keys)
        if happened and None not in key and view.where(row) is True:
            entities.setdefault(key, []).append(row)
    found = {}
    for key, rows in entities.items():
        reach = max(reach_of(feature) for feature in view.features.values())
        if any(row[view.event] >= as_of - reach for row in rows):
            found[key] = entity_row(rows, view, as_of)
    return found


def reach_of(feature: Window | Latest) -> float:
    if isinstance(feature, Window):
        return feature.width
    return math.inf if feature.ttl is None else 2 * feature.ttl


def newest_versions(rows: list[Row], view: View) -> list[Row]:
    if view.version_of is None:
        return rows
    newest: dict[Any, Row] = {}
    alone = []
    for row in rows:
        event = row[view.version_of]
        if event is None:
            alone.append(row)
        elif event not in newest or version_key(row, view) > version_key(newest[event], view):
            newest[event] = row
    return [*newest.values(), *alone]


def version_key(row: Row, view: View) -> tuple[Any, ...]:
    return tuple(typed(row[name]) for name in (view.created, view.event, *view.keys, *view.order))


def typed(value: Any) -> tuple[int, Any]:
    """Return a key that sorts as Spark does: NULL first, NaN last, -0.0 with 0.0, text by its UTF-8 bytes."""
    if value is None:
        return (0, 0)
    if isinstance(value, float) and math.isnan(value):
        return (2, 0)
    return (1, value.encode() if isinstance(value, str) else value)


def entity_row(rows: list[Row], view: View, as_of: int) -> Expected:
    newest = max(rows, key=lambda row: place(row, view))
    row = Expected(newest[view.event])
    for name, feature in view.features.items():
        if isinstance(feature, Latest):
            row.values[name], row.statuses[name] = latest(newest, feature, as_of, view)
        else:
            inside = [one for one in rows if one[view.event] >= as_of - feature.width and feature.only(one) is True]
            if feature.function in ("min_by", "max_by", "collect_last"):
                row.values[name] = by_order(feature, sorted(inside, key=lambda one: place(one, view)))
            else:
                row.values[name] = aggregate(feature, [feature.value(one) for one in inside])
            if feature.place is not None:
                row.values[name] = ((row.values[name] or []) + [None] * feature.limit)[feature.place]
    return row


def place(row: Row, view: View) -> tuple[Any, ...]:
    """Return a row's place in the total order."""
    return tuple(typed(row[name]) for name in (view.event, view.created, *view.order))


def latest(newest: Row, feature: Latest, as_of: int, view: View) -> tuple[Any, int]:
    age = as_of - newest[view.event]
    if feature.ttl is not None and age > 2 * feature.ttl:
        return None, MISSING
    if feature.ttl is not None and age > feature.ttl:
        return None, EXPIRED
    value = feature.value(newest)
    return value, NULL if value is None else PRESENT


def aggregate(feature: Window, values: list[Any]) -> Any:
    present = [value for value in values if value is not None]
    if feature.function == "count":
        return len(present)
    if feature.function == "count_distinct":
        return len({typed(value) for value in present})
    if feature.function == "approx_count_distinct":
        assert feature.hash_of is not None
        return hyperloglog({feature.hash_of(canonical(value)) for value in present}, feature.limit)
    if not present:
        return None
    match feature.function:
        case "min":
            return canonical(min(present, key=typed))
        case "max":
            return canonical(max(present, key=typed))
        case "sum":
            return total(present)
        case "var_pop" | "var_samp" | "stddev_pop" | "stddev_samp":
            return spread(feature.function, present)
        case "top_k":
            return [canonical(value) for value in sorted(present, key=typed, reverse=True)[: feature.limit]]
        case _:
            return average(present, feature.scale)


def by_order(feature: Window, rows: list[Row]) -> Any:
    """Return what the first or the last row says; `rows` are in the total order."""
    if feature.function == "collect_last":
        present = [canonical(value) for row in rows if (value := feature.value(row)) is not None]
        return present[-feature.limit :] or None
    by = feature.by
    if by is not None:
        rows = sorted((row for row in rows if by(row) is not None), key=lambda row: typed(by(row)))
    if not rows:
        return None
    return canonical(feature.value(rows[0 if feature.function == "min_by" else -1]))


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


def hyperloglog(hashes: set[int], precision: int) -> int:
    """Return the estimate where registers are counted that are empty: few values, which is all these logs have."""
    registers: dict[int, int] = {}
    for value in hashes:
        text = f"{value & (2**64 - 1):064b}"
        place, rest = int(text[:precision], 2), text[precision:]
        registers[place] = max(registers.get(place, 0), len(rest) - len(rest.lstrip("0")) + 1)
    size: int = 2**precision
    return math.floor(size * math.log(size / (size - len(registers))) + 0.5)


def canonical(value: Any) -> Any:
    """Return a value as it counts: one zero, one NaN."""
    if not isinstance(value, float):
        return value
    return math.nan if math.isnan(value) else value + 0.0


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
