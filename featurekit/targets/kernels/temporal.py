"""Dates and times as plain integers: days and microseconds since 1970, in the proleptic Gregorian calendar."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date
from decimal import Decimal as PyDecimal
from typing import Final

from featurekit.clock import DAY, HOUR, MINUTE, SECOND
from featurekit.expr.nodes import Call
from featurekit.expr.time_units import (
    CLOCK_UNITS,
    DATE_TRUNC_UNITS,
    FIELDS,
    FIRST_DAY,
    FIRST_MICRO,
    LAST_DAY,
    LAST_MICRO,
    MONTH_NAMES,
    WEEKDAY_NAMES,
)
from featurekit.targets.kernels import time_distances as distances
from featurekit.targets.kernels import time_zones
from featurekit.targets.kernels.calendar import civil, day_of, days_of
from featurekit.targets.kernels.cast import cast_kernel
from featurekit.targets.kernels.kernel import Factory, Inline, Kernel, always, literal_value
from featurekit.targets.kernels.numeric import WIDE
from featurekit.targets.kernels.time_patterns import reader, writer
from featurekit.targets.kernels.zones import zone_table
from featurekit.types import Decimal, Float64, String


def _year(days: int) -> int:
    return civil(days)[0]


_ORDINAL_OF_1970: Final = date(1970, 1, 1).toordinal()


def _calendar(part: str, otherwise: Callable[[int], int]) -> Inline:
    """Return the kernel of a part of the date; the years that Python's dates have are read by Python, in C."""
    first, last = date.min.toordinal() - _ORDINAL_OF_1970, date.max.toordinal() - _ORDINAL_OF_1970
    return Inline(
        f"({{date}}({{0}} + {{ordinal}}).{part} if {{first}} <= {{0}} <= {{last}} else {{otherwise}}({{0}}))",
        {"date": date.fromordinal, "ordinal": _ORDINAL_OF_1970, "first": first, "last": last, "otherwise": otherwise},
    )


def _quarter(days: int) -> int:
    return (civil(days)[1] + 2) // 3


def _month(days: int) -> int:
    return civil(days)[1]


def _day(days: int) -> int:
    return civil(days)[2]


def _day_of_year(days: int) -> int:
    return days - days_of(civil(days)[0], 1, 1) + 1


def _week_of_year(days: int) -> int:
    thursday = _thursday(days)
    return (thursday - days_of(civil(thursday)[0], 1, 1)) // 7 + 1


def _year_of_week(days: int) -> int:
    return civil(_thursday(days))[0]


def _thursday(days: int) -> int:
    return days - (days + 3) % 7 + 3  # the ISO week belongs to the year of its Thursday


def _day_name(days: int) -> str:
    return WEEKDAY_NAMES[(days + 3) % 7][:3]


def _month_name(days: int) -> str:
    return MONTH_NAMES[civil(days)[1] - 1][:3]


def _second_with_fraction(micros: int) -> PyDecimal:
    return PyDecimal(micros % MINUTE).scaleb(-6, WIDE)


_YEAR: Final = _calendar("year", _year)
_MONTH: Final = _calendar("month", _month)
_DAY: Final = _calendar("day", _day)
_WEEK: Final = _calendar("isocalendar()[1]", _week_of_year)
_HOUR: Final = Inline(f"{{0}} // {HOUR} % 24")
_MINUTE: Final = Inline(f"{{0}} // {MINUTE} % 60")
_DAY_OF_WEEK: Final = Inline("({0} + 4) % 7 + 1")
_BY_FIELD: Final[dict[str, Kernel]] = {
    "year": _YEAR,
    "yearofweek": _year_of_week,
    "quarter": _quarter,
    "month": _MONTH,
    "week": _WEEK,
    "day": _DAY,
    "dayofweek": _DAY_OF_WEEK,
    "dayofweek_iso": Inline("({0} + 3) % 7 + 1"),
    "doy": _day_of_year,
    "hour": _HOUR,
    "minute": _MINUTE,
    "second": _second_with_fraction,
}


def _part(call: Call) -> Kernel:
    return _BY_FIELD[FIELDS[str(literal_value(call, 0)).lower()]]


_BOUNDS: Final = {"first": FIRST_MICRO, "last": LAST_MICRO}


def _truncate(call: Call) -> Kernel:
    unit = DATE_TRUNC_UNITS[str(literal_value(call, 0)).lower()]
    if (size := DAY if unit == "day" else CLOCK_UNITS.get(unit)) is not None:
        return Inline(f"{{t}} if ({{t}} := {{0}} - {{0}} % {size}) >= {{first}} else None", _BOUNDS)
    start = distances.STARTS[unit]

    def kernel(micros: int) -> int | None:
        truncated = start(micros // DAY) * DAY
        return truncated if truncated >= FIRST_MICRO else None

    return kernel


def _seconds_towards_zero(micros: int) -> int:
    return micros // SECOND if micros >= 0 else -(-micros // SECOND)


def _unix_timestamp(call: Call) -> Kernel:
    if not isinstance(call.args[0].type, String):
        return _seconds_towards_zero
    read = reader(literal_value(call, 1))

    def kernel(text: str) -> int | None:
        micros = read(text)
        return None if micros is None else _seconds_towards_zero(micros)

    return kernel


def _timestamp_seconds(call: Call) -> Kernel:
    match call.args[0].type:
        case Decimal():
            return _exact_micros
        case Float64():
            return _saturated_micros
        case _:
            return _times(SECOND)


def _times(factor: int) -> Kernel:
    return Inline(f"{{t}} if {{first}} <= ({{t}} := {{0}} * {factor}) <= {{last}} else None", _BOUNDS)


def _exact_micros(seconds: PyDecimal) -> int | None:
    sign, digits, exponent = seconds.as_tuple()
    micros = int("".join(map(str, digits))) * (-1 if sign else 1)
    shift = 6 + int(exponent)
    micros, left = (micros * 10**shift, 0) if shift >= 0 else divmod(micros, 10**-shift)
    return None if left or not FIRST_MICRO <= micros <= LAST_MICRO else micros


def _saturated_micros(seconds: float) -> int | None:
    micros = seconds * 1e6
    if not math.isfinite(seconds):
        return None
    if math.isinf(micros):
        return LAST_MICRO if micros > 0 else FIRST_MICRO
    return max(FIRST_MICRO, min(LAST_MICRO, int(micros)))


def _make_timestamp(call: Call) -> Kernel:
    zone = zone_table(literal_value(call, 6) if len(call.args) == 7 else "UTC")

    def kernel(year: int, month: int, day: int, hour: int, minute: int, second: PyDecimal) -> int | None:
        days = day_of(year, month, day)
        micros = int(second.scaleb(6, WIDE))
        if days is None or not (0 <= hour < 24 and 0 <= minute < 60 and 0 <= micros <= MINUTE):
            return None
        local = days * DAY + hour * HOUR + minute * MINUTE + micros
        instant = local - zone.offset_of(local)
        return instant if FIRST_MICRO <= instant <= LAST_MICRO else None

    return kernel


def _make_date(year: int, month: int, day: int) -> int | None:
    days = day_of(year, month, day)
    return days if days is not None and FIRST_DAY <= days <= LAST_DAY else None


def _read(convert: Callable[[int], int]) -> Factory:
    """Return the factory of to_date and to_timestamp; `convert` takes microseconds."""

    def factory(call: Call) -> Kernel:
        if len(call.args) == 1:
            source = call.args[0].type
            return Inline("{0}") if source == call.type else cast_kernel(source, call.type)
        read = reader(literal_value(call, 1))

        def kernel(text: str) -> int | None:
            micros = read(text)
            return None if micros is None else convert(micros)

        return kernel

    return factory


def _from_unixtime(call: Call) -> Kernel:
    write = writer(literal_value(call, 1) if len(call.args) == 2 else "yyyy-MM-dd HH:mm:ss")

    def kernel(seconds: int) -> str | None:
        micros = seconds * SECOND
        return write(micros) if FIRST_MICRO <= micros <= LAST_MICRO else None

    return kernel


KERNELS: Final[dict[str, Factory]] = {
    "hour": always(_HOUR),
    "minute": always(_MINUTE),
    "second": always(Inline(f"{{0}} // {SECOND} % 60")),
    "year": always(_YEAR),
    "quarter": always(_quarter),
    "month": always(_MONTH),
    "day": always(_DAY),
    "dayofweek": always(_DAY_OF_WEEK),
    "weekday": always(Inline("({0} + 3) % 7")),
    "dayofyear": always(_day_of_year),
    "weekofyear": always(_WEEK),
    "date_part": _part,
    "dayname": always(_day_name),
    "monthname": always(_month_name),
    "date_add": always(distances.DATE_ADD),
    "date_sub": always(distances.DATE_SUB),
    "add_months": always(distances.add_months),
    "timestampadd": distances.timestamp_add,
    "last_day": always(distances.last_day),
    "next_day": distances.next_day,
    "trunc": distances.truncated_date,
    "date_trunc": _truncate,
    "datediff": always(distances.DATE_SUB),
    "timestampdiff": distances.timestamp_diff,
    "months_between": distances.months_between,
    "unix_timestamp": _unix_timestamp,
    "unix_seconds": always(Inline(f"{{0}} // {SECOND}")),
    "unix_millis": always(Inline("{0} // 1000")),
    "unix_micros": always(Inline("{0}")),
    "unix_date": always(Inline("{0}")),
    "date_from_unix_date": always(Inline("{0}")),
    "timestamp_seconds": _timestamp_seconds,
    "timestamp_millis": always(_times(1000)),
    "timestamp_micros": always(Inline("{0}")),
    "make_date": always(_make_date),
    "make_timestamp": _make_timestamp,
    "make_timestamp_ntz": _make_timestamp,
    "to_date": _read(lambda micros: micros // DAY),
    "to_timestamp": _read(lambda micros: micros),
    "date_format": lambda call: writer(literal_value(call, 1)),
    "from_unixtime": _from_unixtime,
    "from_utc_timestamp": time_zones.from_utc,
    "to_utc_timestamp": time_zones.to_utc,
    "convert_timezone": time_zones.convert,
}
