"""Dates and times as plain integers: days and microseconds since 1970, in the proleptic Gregorian calendar.

No datetime objects, so no limit at the years 1 and 9999: Spark's timestamps reach beyond both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from featurekit.clock import DAY, HOUR, MINUTE, SECOND, instant_to_local
from featurekit.expr.nodes import Call
from featurekit.targets.kernels.calendar import DAYS_IN_400_YEARS, civil, days_of
from featurekit.targets.kernels.kernel import Factory, Inline, Kernel, always, literal_value

_LOW: Final = -(1 << 63)


def _year(days: int) -> int:
    return civil(days)[0]


def _quarter(days: int) -> int:
    return (civil(days)[1] + 2) // 3


def _month(days: int) -> int:
    return civil(days)[1]


def _day(days: int) -> int:
    return civil(days)[2]


def _day_of_year(days: int) -> int:
    return days - days_of(civil(days)[0], 1, 1) + 1


def _week_of_year(days: int) -> int:
    thursday = days - (days + 3) % 7 + 3  # the ISO week belongs to the year of its Thursday
    return (thursday - days_of(civil(thursday)[0], 1, 1)) // 7 + 1


def _seconds_towards_zero(micros: int) -> int:
    return micros // SECOND if micros >= 0 else -(-micros // SECOND)


def _start_of_week(days: int) -> int:
    return days - (days + 3) % 7


def _start_of_month(days: int) -> int:
    year, month, _ = civil(days)
    return days_of(year, month, 1)


def _start_of_quarter(days: int) -> int:
    year, month, _ = civil(days)
    return days_of(year, (month - 1) // 3 * 3 + 1, 1)


def _start_of_year(days: int) -> int:
    return days_of(civil(days)[0], 1, 1)


_CLOCK_UNITS: Final = {
    "microsecond": 1, "millisecond": 1000, "second": SECOND, "minute": MINUTE, "hour": HOUR, "day": DAY,
}  # fmt: skip
_CALENDAR_UNITS: Final[dict[str, Callable[[int], int]]] = {
    "week": _start_of_week,
    "month": _start_of_month,
    "quarter": _start_of_quarter,
    "year": _start_of_year,
}


def _truncate(call: Call) -> Kernel:
    unit = str(literal_value(call, 0)).lower()
    if (size := _CLOCK_UNITS.get(unit)) is not None:
        return lambda micros: _in_range(micros - micros % size)
    start = _CALENDAR_UNITS[unit]
    return lambda micros: _in_range(start(micros // DAY) * DAY)


def _in_range(micros: int) -> int | None:
    return micros if micros >= _LOW else None


_BUCKET: Final = 15 * MINUTE  # no two changes of one zone's clock lie closer
_MAX_CACHED: Final = 20_000
_FIRST: Final = days_of(1, 1, 3) * DAY
_LAST: Final = days_of(9999, 12, 29) * DAY
_400_YEARS: Final = DAYS_IN_400_YEARS * DAY


def _from_utc(call: Call) -> Kernel:
    """Return the kernel that adds the zone's offset; offsets are remembered by quarter hour, zoneinfo takes 2 µs."""
    name = literal_value(call, 1)
    known: dict[int, int | None] = {}

    def offset(micros: int) -> int:
        if micros < _FIRST:
            micros = _FIRST  # the zone's first offset holds for all time before
        elif micros > _LAST:
            micros -= -(-(micros - _LAST) // _400_YEARS) * _400_YEARS  # the calendar repeats after 400 years
        return instant_to_local(micros, name) - micros

    def kernel(micros: int) -> int:
        bucket = micros // _BUCKET
        shift = known.get(bucket)
        if shift is None:
            if bucket in known:  # the clock changes inside this quarter hour
                return micros + offset(micros)
            if len(known) >= _MAX_CACHED:
                known.clear()
            start, end = offset(bucket * _BUCKET), offset(bucket * _BUCKET + _BUCKET - 1)
            known[bucket] = start if start == end else None
            return kernel(micros)
        return micros + shift

    return kernel


KERNELS: Final[dict[str, Factory]] = {
    "hour": always(Inline(f"{{0}} // {HOUR} % 24")),
    "minute": always(Inline(f"{{0}} // {MINUTE} % 60")),
    "second": always(Inline(f"{{0}} // {SECOND} % 60")),
    "year": always(_year),
    "quarter": always(_quarter),
    "month": always(_month),
    "day": always(_day),
    "dayofweek": always(Inline("({0} + 4) % 7 + 1")),
    "weekday": always(Inline("({0} + 3) % 7")),
    "dayofyear": always(_day_of_year),
    "weekofyear": always(_week_of_year),
    "datediff": always(Inline("{0} - {1}")),
    "date_trunc": _truncate,
    "unix_timestamp": always(_seconds_towards_zero),
    "unix_seconds": always(Inline(f"{{0}} // {SECOND}")),
    "unix_millis": always(Inline("{0} // 1000")),
    "unix_micros": always(Inline("{0}")),
    "from_utc_timestamp": _from_utc,
}
