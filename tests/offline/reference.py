"""What a view's rows are, in slow plain Python: DESIGN T1 to T5 and V2 to V4 once more, from the text alone.

Nothing of featurekit's computation is used. Rows are dicts in memory, a feature is a Python function, and for each
entity every row is looked at for every feature.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from typing import Any

Row = dict[str, Any]
PRESENT, NULL, MISSING, EXPIRED = range(4)


@dataclass(frozen=True, kw_only=True)
class Window:
    """An aggregate over the rows of [as_of - width, as_of) for which `only` is true."""

    function: str
    width: int
    value: Callable[[Row], Any] = lambda row: row
    only: Callable[[Row], Any] = lambda _: True
    scale: int | None = None  # of a decimal average


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
    newest = max(rows, key=lambda row: tuple(typed(row[name]) for name in (view.event, view.created, *view.order)))
    row = Expected(newest[view.event])
    for name, feature in view.features.items():
        if isinstance(feature, Latest):
            row.values[name], row.statuses[name] = latest(newest, feature, as_of, view)
        else:
            inside = [one for one in rows if one[view.event] >= as_of - feature.width and feature.only(one) is True]
            row.values[name] = aggregate(feature, [feature.value(one) for one in inside])
    return row


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
    if not present:
        return None
    match feature.function:
        case "min":
            return canonical(min(present, key=typed))
        case "max":
            return canonical(max(present, key=typed))
        case "sum":
            return total(present)
        case _:
            return average(present, feature.scale)


def canonical(value: Any) -> Any:
    return value + 0.0 if isinstance(value, float) else value


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
    exact = sum((Fraction(value) for value in values), Fraction())
    try:
        return exact.numerator / exact.denominator
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


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
