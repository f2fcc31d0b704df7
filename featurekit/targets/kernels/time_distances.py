"""Times moved by units, and units between times, as java.time counts them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from featurekit.clock import DAY, SECOND
from featurekit.expr.nodes import Call
from featurekit.expr.time_forms import FIRST_NEXT, FIRST_STARTS, LAST_MONTH, last_before
from featurekit.expr.time_units import (
    ADD_UNITS,
    CLOCK_UNITS,
    DAY_UNITS,
    FIRST_DAY,
    FIRST_MICRO,
    LAST_DAY,
    LAST_MICRO,
    MONTH_UNITS,
    TRUNC_UNITS,
    WEEKDAYS,
)
from featurekit.targets.kernels.calendar import civil, days_in_month, days_of
from featurekit.targets.kernels.kernel import Inline, Kernel, literal_value

_SECONDS_IN_MONTH: Final = 31 * 86400.0
_BOUNDS: Final = {"first": FIRST_DAY, "last": LAST_DAY}

DATE_ADD: Final = Inline("{t} if {first} <= ({t} := {0} + {1}) <= {last} else None", _BOUNDS)
DATE_SUB: Final = Inline("{t} if {first} <= ({t} := {0} - {1}) <= {last} else None", _BOUNDS)


def plus_months(days: int, months: int) -> int:
    """Return the same day so many months later, the last of the month where it has no such day."""
    year, month, day = civil(days)
    years, index = divmod(year * 12 + month - 1 + months, 12)
    return days_of(years, index + 1, min(day, days_in_month(years, index + 1)))


def add_months(days: int, months: int) -> int | None:
    moved = plus_months(days, months)
    return moved if FIRST_DAY <= moved <= LAST_DAY else None


def last_day(days: int) -> int | None:
    year, month, day = civil(days)
    return days + days_in_month(year, month) - day if days <= LAST_MONTH else None


def next_day(call: Call) -> Kernel:
    weekday = WEEKDAYS[str(literal_value(call, 1)).lower()]
    last = last_before(weekday)

    def kernel(days: int) -> int | None:
        return days + 1 + (weekday - days - 4) % 7 if FIRST_NEXT <= days <= last else None

    return kernel


def start_of_week(days: int) -> int:
    return days - (days + 3) % 7


def start_of_month(days: int) -> int:
    return days - civil(days)[2] + 1


def start_of_quarter(days: int) -> int:
    year, month, _ = civil(days)
    return days_of(year, (month - 1) // 3 * 3 + 1, 1)


def start_of_year(days: int) -> int:
    return days_of(civil(days)[0], 1, 1)


STARTS: Final[dict[str, Callable[[int], int]]] = {
    "week": start_of_week,
    "month": start_of_month,
    "quarter": start_of_quarter,
    "year": start_of_year,
}


def truncated_date(call: Call) -> Kernel:
    unit = TRUNC_UNITS[str(literal_value(call, 1)).lower()]
    start, first = STARTS[unit], FIRST_STARTS[unit]
    return lambda days: start(days) if days >= first else None


def timestamp_add(call: Call) -> Kernel:
    unit = ADD_UNITS[str(literal_value(call, 0)).lower()]
    if (months := MONTH_UNITS.get(unit)) is not None:
        return lambda count, micros: _in_range(plus_months(micros // DAY, count * months) * DAY + micros % DAY)
    if (size := DAY_UNITS.get(unit)) is not None:
        return lambda count, micros: _in_range(micros + count * size)
    size = CLOCK_UNITS[unit]

    def kernel(count: int, micros: int) -> int | None:
        distance = count * size  # Spark counts it in 64 bits before it adds
        return _in_range(micros + distance) if FIRST_MICRO <= distance <= LAST_MICRO else None

    return kernel


def _in_range(micros: int) -> int | None:
    return micros if FIRST_MICRO <= micros <= LAST_MICRO else None


def timestamp_diff(call: Call) -> Kernel:
    unit = str(literal_value(call, 0)).lower()
    if (months := MONTH_UNITS.get(unit)) is not None:
        return lambda start, end: _cut(_whole_months(start, end), months)
    size = CLOCK_UNITS.get(unit) or DAY_UNITS[unit]
    if size == 1:
        return lambda start, end: _in_range(end - start)
    return lambda start, end: _cut(end - start, size)


def _cut(count: int, size: int) -> int:
    return count // size if count >= 0 else -(-count // size)


def _whole_months(start: int, end: int) -> int:
    """Return the whole months from `start` to `end`, negative where it is before; a month's last day has no rule."""
    first, last = start // DAY, end // DAY
    if last > first and end % DAY < start % DAY:
        last -= 1
    elif last < first and end % DAY > start % DAY:
        last += 1
    return _cut(_packed(last) - _packed(first), 32)


def _packed(days: int) -> int:
    year, month, day = civil(days)
    return (year * 12 + month - 1) * 32 + day


def months_between(call: Call) -> Kernel:
    rounded = len(call.args) < 3 or bool(literal_value(call, 2))

    def kernel(end: int, start: int) -> float | None:
        if end // DAY * DAY < FIRST_MICRO or start // DAY * DAY < FIRST_MICRO:
            return None
        months, seconds = _months_and_seconds(end, start)
        if seconds is None:
            return float(months)
        between = months + seconds / _SECONDS_IN_MONTH
        return _rounded(between * 1e8) / 1e8 if rounded else between

    return kernel


def _months_and_seconds(end: int, start: int) -> tuple[int, int | None]:
    """Return the distance in months and seconds; no seconds between the same days, or two last days, of months."""
    (year, month, day), (year_2, month_2, day_2) = civil(end // DAY), civil(start // DAY)
    months = (year - year_2) * 12 + month - month_2
    if day == day_2 or (day == days_in_month(year, month) and day_2 == days_in_month(year_2, month_2)):
        return months, None
    return months, (day - day_2) * 86400 + end % DAY // SECOND - start % DAY // SECOND


def _rounded(value: float) -> float:
    """Return the nearest whole number, halves up, as Java's Math.round."""
    whole = math.floor(value)
    return float(whole + (value - whole >= 0.5))
