"""Dates and times over arrays of days and microseconds: the calendar in whole numbers, zones as tables of changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from featurekit.clock import DAY, HOUR, MINUTE, SECOND
from featurekit.expr.nodes import Call
from featurekit.expr.time_units import CLOCK_UNITS, DATE_TRUNC_UNITS, FIELDS, FIRST_DAY, LAST_DAY
from featurekit.targets.kernels.kernel import literal_value
from featurekit.targets.kernels.zones import CYCLE, Zone, zone_table
from featurekit.targets.vectors.kernel import Computed, VectorFactory, VectorKernel, partial, propagating, unless
from featurekit.targets.vectors.vector import Values
from featurekit.types import String

Days = NDArray[np.int64]
_DAYS_TO_1970: Final = 719_468  # from 0000-03-01, where leap days come last in the year
_DAYS_IN_400_YEARS: Final = 146_097
_FIRST_WHOLE_DAY: Final = -((1 << 63) // DAY)  # the first whose midnight is a timestamp


def civil(days: Days) -> tuple[Days, Days, Days]:
    """Return the years, months and days of the month; `kernels.calendar.civil`, day by day."""
    shifted = days + _DAYS_TO_1970
    era = shifted // _DAYS_IN_400_YEARS
    day_of_era = shifted - era * _DAYS_IN_400_YEARS
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36524 - day_of_era // 146096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    months_since_march = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * months_since_march + 2) // 5 + 1
    month = np.where(months_since_march < 10, months_since_march + 3, months_since_march - 9)
    return year_of_era + era * 400 + (month <= 2), month, day


def first_of(year: Days, month: Days | int) -> Days:
    """Return the first day of months."""
    year = year - (np.asarray(month) <= 2)
    era = year // 400
    year_of_era = year - era * 400
    day_of_year = (153 * np.where(np.asarray(month) > 2, month - 3, month + 9) + 2) // 5
    whole = year_of_era * 365 + year_of_era // 4 - year_of_era // 100
    first: Days = era * _DAYS_IN_400_YEARS + whole + day_of_year - _DAYS_TO_1970
    return first


def _year(days: Days) -> Days:
    return civil(days)[0]


def _month(days: Days) -> Days:
    return civil(days)[1]


def _thursday(days: Days) -> Days:
    return days - (days + 3) % 7 + 3  # the ISO week belongs to the year of its Thursday


def _week(days: Days) -> Days:
    thursday = _thursday(days)
    return (thursday - first_of(civil(thursday)[0], 1)) // 7 + 1


_OF_DAYS: Final[dict[str, Callable[[Days], Days]]] = {
    "year": _year,
    "quarter": lambda days: (_month(days) + 2) // 3,
    "month": _month,
    "day": lambda days: civil(days)[2],
    "dayofweek": lambda days: (days + 4) % 7 + 1,
    "dayofweek_iso": lambda days: (days + 3) % 7 + 1,
    "weekday": lambda days: (days + 3) % 7,
    "dayofyear": lambda days: days - first_of(civil(days)[0], 1) + 1,
    "weekofyear": _week,
    "yearofweek": lambda days: _year(_thursday(days)),
}
_OF_MICROS: Final[dict[str, Callable[[Values], Values]]] = {
    "hour": lambda micros: micros // HOUR % 24,
    "minute": lambda micros: micros // MINUTE % 60,
    "second": lambda micros: micros // SECOND % 60,
}
_OTHER_NAMES: Final = {"week": "weekofyear", "doy": "dayofyear"}


def _field(name: str) -> VectorFactory:
    compute = _OF_DAYS.get(name) or _OF_MICROS[name]
    return lambda _: propagating(lambda values: compute(values).astype(np.int32))


def _date_part(call: Call) -> VectorKernel | None:
    field = FIELDS[str(literal_value(call, 0)).lower()]
    if field == "second":
        return None  # a decimal
    return _field(_OTHER_NAMES.get(field, field))(call)


def _seconds(call: Call) -> VectorKernel | None:
    if isinstance(call.args[0].type, String):
        return None
    return propagating(lambda micros: micros // SECOND + ((micros < 0) & (micros % SECOND != 0)))


def _days_apart(end: Days, start: Days) -> Computed:
    days = end - start
    return days.astype(np.int32), unless((days < FIRST_DAY) | (days > LAST_DAY))


STARTS: Final[dict[str, Callable[[Days], Days]]] = {
    "week": lambda days: days - (days + 3) % 7,
    "month": lambda days: days - civil(days)[2] + 1,
    "quarter": lambda days: first_of(civil(days)[0], (_month(days) - 1) // 3 * 3 + 1),
    "year": lambda days: first_of(civil(days)[0], 1),
}


def _truncate(call: Call) -> VectorKernel:
    unit = DATE_TRUNC_UNITS[str(literal_value(call, 0)).lower()]
    size = DAY if unit == "day" else CLOCK_UNITS.get(unit)
    if size is not None:
        return partial(lambda micros: _cut(micros, size))
    start = STARTS[unit]

    def compute(micros: Values) -> Computed:
        days = start(micros // DAY)
        return days * DAY, unless(days < _FIRST_WHOLE_DAY)

    return partial(compute)


def _cut(micros: Values, size: int) -> Computed:
    cut = micros - micros % size
    return cut, unless(cut > micros)  # it went below the first one, and wrapped


def _from_utc(call: Call) -> VectorKernel:
    zone = zone_table(literal_value(call, 1))
    return partial(_shifted(zone, zone.starts, zone.end, 1))


def _to_utc(call: Call) -> VectorKernel:
    zone = zone_table(literal_value(call, 1))
    return partial(_shifted(zone, zone.local_starts, zone.local_end, -1))


def _shifted(zone: Zone, starts: tuple[int, ...], end: int, sign: int) -> Callable[[Values], Computed]:
    changes = np.array(starts, np.int64)
    offsets = np.array(zone.offsets, np.int64) * sign

    def compute(micros: Values) -> Computed:
        within = micros
        if end < 1 << 63 and (late := micros >= end).any():
            within = np.where(late, micros - ((micros - end) // CYCLE + 1) * CYCLE, micros)
        offset = offsets[np.searchsorted(changes, within, side="right")]
        shifted = micros + offset
        return shifted, unless(((micros ^ shifted) & (offset ^ shifted)) < 0)

    return compute


VECTORS: Final[dict[str, VectorFactory]] = {
    **{name: _field(name) for name in (*_OF_DAYS, *_OF_MICROS) if name not in ("dayofweek_iso", "yearofweek")},
    "date_part": _date_part,
    "datediff": lambda _: partial(_days_apart),
    "date_trunc": _truncate,
    "unix_timestamp": _seconds,
    "unix_seconds": lambda _: propagating(lambda micros: micros // SECOND),
    "unix_millis": lambda _: propagating(lambda micros: micros // 1000),
    "unix_micros": lambda _: propagating(lambda micros: micros),
    "from_utc_timestamp": _from_utc,
    "to_utc_timestamp": _to_utc,
}
