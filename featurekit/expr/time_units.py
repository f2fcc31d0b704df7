"""The words for parts of time, as Spark spells them, and what each means."""

from __future__ import annotations

from typing import Final

from featurekit.clock import DAY, HOUR, MINUTE, SECOND

FIRST_DAY: Final = -(1 << 31)
LAST_DAY: Final = (1 << 31) - 1
FIRST_MICRO: Final = -(1 << 63)
LAST_MICRO: Final = (1 << 63) - 1

# Units of a fixed length, in microseconds, and units that are a number of months.
CLOCK_UNITS: Final[dict[str, int]] = {
    "microsecond": 1, "millisecond": 1000, "second": SECOND, "minute": MINUTE, "hour": HOUR,
}  # fmt: skip
DAY_UNITS: Final[dict[str, int]] = {"day": DAY, "week": 7 * DAY}
MONTH_UNITS: Final[dict[str, int]] = {"month": 1, "quarter": 3, "year": 12}

_DATE_STARTS: Final = {
    "year": "year", "yyyy": "year", "yy": "year", "quarter": "quarter",
    "month": "month", "mm": "month", "mon": "month", "week": "week",
}  # fmt: skip
# What trunc, date_trunc, timestampadd and timestampdiff take, by spelling.
TRUNC_UNITS: Final[dict[str, str]] = _DATE_STARTS
DATE_TRUNC_UNITS: Final[dict[str, str]] = {
    **_DATE_STARTS, "day": "day", "dd": "day", **{unit: unit for unit in CLOCK_UNITS},
}  # fmt: skip
DIFF_UNITS: Final[dict[str, str]] = {unit: unit for unit in (*CLOCK_UNITS, *DAY_UNITS, *MONTH_UNITS)}
ADD_UNITS: Final[dict[str, str]] = {**DIFF_UNITS, "dayofyear": "day"}
# What an INTERVAL counts; each has a plural too.
INTERVAL_UNITS: Final[tuple[str, ...]] = (*CLOCK_UNITS, *DAY_UNITS, "month", "year")

# Fields of extract and date_part, by spelling. Spark reads M as minute.
_FIELDS: Final[dict[str, str]] = {
    "year": "y years yr yrs", "yearofweek": "", "quarter": "qtr", "month": "mon mons months",
    "week": "w weeks", "day": "d days", "dayofweek": "dow", "dayofweek_iso": "dow_iso", "doy": "",
    "hour": "h hours hr hrs", "minute": "m min mins minutes", "second": "s sec seconds secs",
}  # fmt: skip
FIELDS: Final[dict[str, str]] = {
    spelling: field for field, others in _FIELDS.items() for spelling in (field, *others.split())
}
CLOCK_FIELDS: Final = frozenset(("hour", "minute", "second"))

# Days of the week as next_day takes them; 0 is Monday.
_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
WEEKDAYS: Final[dict[str, int]] = {
    name[:length]: index for index, name in enumerate(_WEEKDAYS) for length in (2, 3, len(name))
}
WEEKDAY_NAMES: Final = tuple(name.capitalize() for name in _WEEKDAYS)
MONTH_NAMES: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
