"""Dates and times moved by units, and units between them, over arrays: the scalar kernels' whole numbers."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from featurekit.clock import DAY, SECOND
from featurekit.expr.nodes import Call
from featurekit.expr.time_forms import FIRST_NEXT, FIRST_STARTS, LAST_MONTH, last_before
from featurekit.expr.time_units import (
    ADD_UNITS,
    CLOCK_UNITS,
    DAY_UNITS,
    FIRST_DAY,
    LAST_DAY,
    LAST_MICRO,
    MONTH_UNITS,
    TRUNC_UNITS,
    WEEKDAYS,
)
from featurekit.targets.kernels.kernel import literal_value
from featurekit.targets.vectors.kernel import Computed, VectorFactory, VectorKernel, partial, propagating, unless
from featurekit.targets.vectors.times import STARTS, civil, first_of
from featurekit.targets.vectors.vector import Values
from featurekit.types import Int64

Int64s = NDArray[np.int64]
_DAYS_IN_MONTH: Final = np.array([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
_MICROS: Final = 1 << 63
_SECONDS_IN_MONTH: Final = 31 * 86400.0
_FIRST_WHOLE_DAY: Final = -(_MICROS // DAY)  # the first whose midnight is a timestamp
_MOST_MONTHS: Final = 12 * 600_000  # farther apart than any two timestamps


def days_in_month(year: Int64s, month: Int64s) -> Int64s:
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    days: Int64s = _DAYS_IN_MONTH[month] + (leap & (month == 2))
    return days


def _plus_months(days: Int64s, months: Int64s) -> Int64s:
    year, month, day = civil(days)
    total = year * 12 + month - 1 + months
    year, month = total // 12, total % 12 + 1
    return first_of(year, month) + np.minimum(day, days_in_month(year, month)) - 1


def _dates(days: Int64s) -> Computed:
    return days, unless((days < FIRST_DAY) | (days > LAST_DAY))


def _last_day(days: Int64s) -> Computed:
    year, month, day = civil(days)
    return days + days_in_month(year, month) - day, unless(days > LAST_MONTH)


def _next_day(call: Call) -> VectorKernel:
    weekday = WEEKDAYS[str(literal_value(call, 1)).lower()]
    last = last_before(weekday)
    return partial(lambda days: (days + 1 + (weekday - days - 4) % 7, unless((days < FIRST_NEXT) | (days > last))))


def _trunc(call: Call) -> VectorKernel:
    unit = TRUNC_UNITS[str(literal_value(call, 1)).lower()]
    start, first = STARTS[unit], FIRST_STARTS[unit]
    return partial(lambda days: (start(days), unless(days < first)))


def _timestamp_add(call: Call) -> VectorKernel:
    unit = ADD_UNITS[str(literal_value(call, 0)).lower()]
    if (months := MONTH_UNITS.get(unit)) is not None:
        return partial(lambda count, micros: _months_later(count, micros, months))
    size = CLOCK_UNITS.get(unit) or DAY_UNITS[unit]
    by_days = unit in DAY_UNITS

    def compute(count: Values, micros: Int64s) -> Computed:
        if by_days:  # Spark moves days as days: only where they end counts
            return _days_later(count * np.int64(size // DAY), count, micros, size // DAY)
        too_far = (count > LAST_MICRO // size) | (count < -(_MICROS // size))
        distance = count * np.int64(size)
        moved = micros + distance
        return moved, unless(too_far | (((micros ^ moved) & (distance ^ moved)) < 0))

    return partial(compute)


def _days_later(days: Int64s, count: Values, micros: Int64s, size: int) -> Computed:
    too_far = (count > LAST_DAY // size) | (count < FIRST_DAY // size)
    return _instants(micros // DAY + np.where(too_far, 0, days), micros % DAY, too_far)


def _months_later(count: Values, micros: Int64s, months: int) -> Computed:
    too_far = (count > _MOST_MONTHS) | (count < -_MOST_MONTHS)
    moved = _plus_months(micros // DAY, np.where(too_far, 0, count) * np.int64(months))
    return _instants(moved, micros % DAY, too_far)


def _instants(days: Int64s, clock: Int64s, undefined: Any) -> Computed:
    """Return the instants of days and the microseconds since midnight, undefined beyond 64 bits."""
    last = LAST_MICRO // DAY
    beyond = (days > last) | ((days == last) & (clock > LAST_MICRO % DAY))
    before = (days < _FIRST_WHOLE_DAY - 1) | ((days == _FIRST_WHOLE_DAY - 1) & (clock < -_MICROS % DAY))
    return days * DAY + clock, unless(undefined | beyond | before)


def _timestamp_diff(call: Call) -> VectorKernel:
    unit = str(literal_value(call, 0)).lower()
    if (months := MONTH_UNITS.get(unit)) is not None:
        return propagating(lambda start, end: _cut(_whole_months(start, end), months))
    size = CLOCK_UNITS.get(unit) or DAY_UNITS[unit]
    return partial(lambda start, end: _units(start, end, size))


def _units(start: Int64s, end: Int64s, size: int) -> Computed:
    distance = end - start
    wrapped = ((end ^ start) & (end ^ distance)) < 0
    if size == 1:
        return distance, unless(wrapped)
    whole = _cut(distance, size)
    if wrapped.any():  # beyond 64 bits of microseconds, few enough units
        for at in np.flatnonzero(np.broadcast_to(wrapped, whole.shape)):
            exact = int(np.broadcast_to(end, whole.shape)[at]) - int(np.broadcast_to(start, whole.shape)[at])
            whole[at] = exact // size if exact >= 0 else -(-exact // size)
    return whole, None


def _cut(count: Int64s, size: int) -> Int64s:
    floored = count // size
    cut: Int64s = floored + ((count < 0) & (floored * size != count))
    return cut


def _whole_months(start: Int64s, end: Int64s) -> Int64s:
    first, last = start // DAY, end // DAY
    earlier = end % DAY < start % DAY
    later = end % DAY > start % DAY
    last = last - ((last > first) & earlier) + ((last < first) & later)
    return _cut(_packed(last) - _packed(first), 32)


def _packed(days: Int64s) -> Int64s:
    year, month, day = civil(days)
    packed: Int64s = (year * 12 + month - 1) * 32 + day
    return packed


def _months_between(call: Call) -> VectorKernel:
    rounded = len(call.args) < 3 or bool(literal_value(call, 2))

    def compute(end: Int64s, start: Int64s) -> Computed:
        one, other = civil(end // DAY), civil(start // DAY)
        months = (one[0] - other[0]) * 12 + one[1] - other[1]
        ends = (one[2] == days_in_month(*one[:2])) & (other[2] == days_in_month(*other[:2]))
        clock = end % DAY // SECOND - start % DAY // SECOND
        seconds = np.where((one[2] == other[2]) | ends, 0, (one[2] - other[2]) * 86400 + clock)
        between = months + seconds / _SECONDS_IN_MONTH
        undefined = (end // DAY < _FIRST_WHOLE_DAY) | (start // DAY < _FIRST_WHOLE_DAY)
        if not rounded:
            return between, unless(undefined)
        whole = np.floor(between * 1e8)
        return (whole + (between * 1e8 - whole >= 0.5)) / 1e8, unless(undefined)

    return partial(compute)


def _times(factor: int) -> VectorKernel:
    return partial(
        lambda values: (
            values * np.int64(factor),
            unless((values > LAST_MICRO // factor) | (values < -(_MICROS // factor))),
        )
    )


def _seconds(call: Call) -> VectorKernel | None:
    return _times(SECOND) if call.args[0].type == Int64() else None


VECTORS: Final[dict[str, VectorFactory]] = {
    "date_add": lambda _: partial(lambda days, count: _dates(days + count)),
    "date_sub": lambda _: partial(lambda days, count: _dates(days - count)),
    "add_months": lambda _: partial(lambda days, months: _dates(_plus_months(days, months.astype(np.int64)))),
    "last_day": lambda _: partial(_last_day),
    "next_day": _next_day,
    "trunc": _trunc,
    "timestampadd": _timestamp_add,
    "timestampdiff": _timestamp_diff,
    "months_between": _months_between,
    "unix_date": lambda _: propagating(lambda days: days.astype(np.int32)),
    "date_from_unix_date": lambda _: propagating(lambda days: days.astype(np.int64)),
    "timestamp_seconds": _seconds,
    "timestamp_millis": lambda _: _times(1000),
    "timestamp_micros": lambda _: propagating(lambda micros: micros),
}
