"""Dates and times. Fields of a timestamp are those of its UTC clock."""

from __future__ import annotations

from typing import Final

from featurekit.expr import time_forms as forms
from featurekit.expr import time_patterns
from featurekit.expr import time_rules as rules
from featurekit.expr.catalogue.row import (
    BOOLEAN,
    DATE,
    INT,
    INTEGER,
    NUMBER,
    STRING,
    TIME,
    Function,
    Param,
    Takes,
    scalar,
)
from featurekit.expr.time_units import ADD_UNITS, DATE_TRUNC_UNITS, DIFF_UNITS, FIELDS, TRUNC_UNITS
from featurekit.types import DataType, Date, Decimal, Int32, Int64, String, Timestamp, TimestampNtz

UNITS: Final = tuple(dict.fromkeys(DATE_TRUNC_UNITS.values()))
ZONE_EDGES: Final = ("America/New_York", "UTC", "Asia/Kolkata", "Australia/Lord_Howe", "Europe/London")
_TEXT_OR_TIME: Final = Takes("string, date or timestamp", (String, *TIME.kinds))
_SECONDS: Final = Takes("integer or decimal", (*INTEGER.kinds, Decimal))

_ONE = (Param("t", TIME),)
_INSTANT = (Param("t", Takes("timestamp", (Timestamp, TimestampNtz))),)
_ZONE = Param("zone", STRING, literal=True, edges=ZONE_EDGES)
_COUNTS = (1, 0, -1, 12, 31, -400)
_DAYS = (Param("t", TIME), Param("days", INT, edges=_COUNTS))
_PATTERN = Param("pattern", STRING, literal=True, edges=time_patterns.EDGES)
_READ = (Param("x", _TEXT_OR_TIME), Param("pattern", STRING, literal=True, optional=True, edges=time_patterns.EDGES))
_YMD = (
    Param("year", INT, edges=(2024, 1970, 1900, -1, 10000)), Param("month", INT, edges=(2, 1, 12, 13, 0)),
    Param("day", INT, edges=(29, 1, 28, 30, 31, 0)),
)  # fmt: skip
_CLOCK = (
    *_YMD, Param("hour", INT, edges=(23, 0, 1, 2, 24)), Param("minute", INT, edges=(30, 0, 59, 60)),
    Param("second", _SECONDS, edges=(0, 59, 60, 61)),
)  # fmt: skip


def _unit(spellings: dict[str, str]) -> Param:
    return Param("unit", STRING, literal=True, edges=tuple(dict.fromkeys(spellings.values())))


def _part(name: str, takes: DataType, doc: str, *spellings: str) -> Function:
    rule = rules.of_time(takes=takes, result=Int32())
    return scalar(name, _ONE, rule, f"{name}({{0}})", doc, spellings=(name, *spellings))


def _name(name: str, doc: str) -> Function:
    return scalar(name, _ONE, rules.of_time(takes=Date(), result=String()), f"{name}({{0}})", doc)


def _epoch(name: str, doc: str) -> Function:
    return scalar(name, _INSTANT, rules.of_instant, f"{name}({{0}})", doc)


_FIELDS: Final = (
    _part("hour", Timestamp(), "The hour, 0 to 23."),
    _part("minute", Timestamp(), "The minute, 0 to 59."),
    _part("second", Timestamp(), "The second, 0 to 59."),
    _part("year", Date(), "The year."),
    _part("quarter", Date(), "The quarter, 1 to 4."),
    _part("month", Date(), "The month, 1 to 12."),
    _part("day", Date(), "The day of the month, 1 to 31.", "dayofmonth"),
    _part("dayofweek", Date(), "The day of the week: 1 is Sunday, 7 is Saturday."),
    _part("weekday", Date(), "The day of the week: 0 is Monday, 6 is Sunday."),
    _part("dayofyear", Date(), "The day of the year, 1 to 366."),
    _part("weekofyear", Date(), "The ISO week, 1 to 53."),
    scalar("date_part", (Param("field", STRING, literal=True, edges=tuple(dict.fromkeys(FIELDS.values()))),
                         Param("t", TIME)),
           rules.field_of, "date_part({0}, {1})",
           "A field by its name; the second has its fraction. Also `EXTRACT(field FROM t)`.",
           spellings=("date_part", "datepart")),
    _name("dayname", "The day of the week in three English letters: Mon."),
    _name("monthname", "The month in three English letters: Jan."),
)  # fmt: skip

_MOVED: Final = (
    scalar("date_add", _DAYS, rules.moved_date, "date_from_unix_date(try_add(unix_date({0}), {1}))",
           "The date so many days later. Also `d + 7`, `d + INTERVAL 7 DAY`.", raises=True,
           spellings=("date_add", "dateadd")),
    scalar("date_sub", _DAYS, rules.moved_date, "date_from_unix_date(try_subtract(unix_date({0}), {1}))",
           "The date so many days before. Also `d - 7`.", raises=True),
    scalar("add_months", (Param("t", TIME), Param("months", INT, edges=_COUNTS)), rules.moved_date,
           forms.held("add_months({0}, {1})"),
           "The same day so many months later, the month's last where it has no such day.", raises=True),
    scalar("timestampadd", (_unit(ADD_UNITS), Param("count", INTEGER, edges=_COUNTS), Param("t", TIME)),
           rules.added(ADD_UNITS), forms.added,
           "The timestamp so many units later: `timestampadd(HOUR, 2, t)`. Also `t + INTERVAL 2 HOUR`.", raises=True),
    scalar("last_day", _ONE, rules.of_time(takes=Date(), result=Date()), forms.last_day,
           "The last day of the month.", raises=True),
    scalar("next_day", (Param("t", TIME), Param("weekday", STRING, literal=True, edges=("MO", "wed", "Sunday", "FR"))),
           rules.next_weekday, forms.next_day, "The first such day of the week after the date.", raises=True),
    scalar("trunc", (Param("t", TIME), _unit(TRUNC_UNITS)), rules.truncated_date(TRUNC_UNITS), forms.truncated_date,
           "The first day of the unit.", raises=True),
    scalar("date_trunc", (_unit(DATE_TRUNC_UNITS), Param("t", TIME)), rules.truncated(DATE_TRUNC_UNITS),
           forms.held("date_trunc({0}, {1})"), "The start of the unit, by the UTC clock.", raises=True),
)  # fmt: skip

_DISTANCES: Final = (
    scalar("datediff", (Param("end", TIME), Param("start", TIME)), rules.days_between,
           "try_subtract(unix_date({0}), unix_date({1}))", "Days from the second date to the first.", raises=True,
           spellings=("datediff", "date_diff")),
    scalar("timestampdiff", (_unit(DIFF_UNITS), Param("start", TIME), Param("end", TIME)),
           rules.units_between(DIFF_UNITS), forms.difference,
           "Whole units from the first to the second, cut towards zero: `timestampdiff(HOUR, a, b)`.", raises=True),
    scalar("months_between",
           (Param("end", TIME), Param("start", TIME),
            Param("rounded", BOOLEAN, literal=True, optional=True, edges=(True, False))),
           rules.months_between, forms.months_between,
           "Months from the second to the first, of 31 days where they are not whole; to 8 digits unless told not to.",
           raises=True),
)  # fmt: skip

_EPOCHS: Final = (
    scalar("unix_timestamp", _READ, rules.unix_seconds, forms.unix_seconds,
           "Seconds since 1970, cut towards zero; of text by a pattern.",
           spellings=("unix_timestamp", "to_unix_timestamp"),
           raises=lambda kinds: kinds[0] == String()),
    _epoch("unix_seconds", "Seconds since 1970, floored."),
    _epoch("unix_millis", "Milliseconds since 1970, floored."),
    _epoch("unix_micros", "Microseconds since 1970."),
    scalar("unix_date", (Param("d", DATE),), rules.of_day, "unix_date({0})", "Days since 1970."),
    scalar("date_from_unix_date", (Param("days", INT),), rules.wholes(Int32(), result=Date()),
           "date_from_unix_date({0})", "The date so many days after 1970-01-01."),
    scalar("timestamp_seconds", (Param("seconds", NUMBER),), rules.from_seconds, forms.from_seconds,
           "The timestamp so many seconds after 1970; a decimal must have whole microseconds, a double is cut to them.",
           raises=True),
    scalar("timestamp_millis", (Param("millis", INTEGER),), rules.wholes(Int64(), result=Timestamp()),
           lambda _, args: forms.scaled_micros(args[0], 1000), "The timestamp so many milliseconds after 1970.",
           raises=True),
    scalar("timestamp_micros", (Param("micros", INTEGER),), rules.wholes(Int64(), result=Timestamp()),
           "timestamp_micros({0})", "The timestamp so many microseconds after 1970."),
)  # fmt: skip

_MADE: Final = (
    scalar("make_date", _YMD, rules.wholes(Int32(), Int32(), Int32(), result=Date()),
           forms.held("make_date({0}, {1}, {2})"), "The date of a year, a month and a day.", raises=True),
    scalar("make_timestamp", (*_CLOCK, Param("zone", STRING, literal=True, optional=True, edges=ZONE_EDGES)),
           rules.made_timestamp(Timestamp()), forms.made_timestamp("make_timestamp"),
           "The timestamp at which a clock, UTC's or a zone's, reads so; the second 60 is the next minute.",
           raises=True,
           spellings=("make_timestamp", "try_make_timestamp", "make_timestamp_ltz", "try_make_timestamp_ltz")),
    scalar("make_timestamp_ntz", _CLOCK, rules.made_timestamp(TimestampNtz()),
           forms.made_timestamp("make_timestamp_ntz"), "That reading of a clock without zone.", raises=True,
           spellings=("make_timestamp_ntz", "try_make_timestamp_ntz")),
)  # fmt: skip

_TEXTS: Final = (
    scalar("to_date", _READ, rules.read_as(Date()), forms.read_as,
           "The date that text names, by Spark's own grammar or by a pattern.", raises=True,
           spellings=("to_date", "try_to_date")),
    scalar("to_timestamp", _READ, rules.read_as(Timestamp()), forms.read_as,
           "The timestamp that text names, by Spark's own grammar or by a pattern; without a zone in UTC.", raises=True,
           spellings=("to_timestamp", "try_to_timestamp")),
    scalar("date_format", (Param("t", TIME), _PATTERN), rules.written, "date_format({0}, {1})",
           "The time as text, by a pattern."),
    scalar("from_unixtime",
           (Param("seconds", INTEGER),
            Param("pattern", STRING, literal=True, optional=True, edges=time_patterns.EDGES)),
           rules.written_seconds, forms.from_unixtime,
           "The time so many seconds after 1970 as text, by a pattern or as yyyy-MM-dd HH:mm:ss.", raises=True),
)  # fmt: skip

_ZONES: Final = (
    scalar("from_utc_timestamp", (Param("t", TIME), _ZONE), rules.in_zone, forms.held("from_utc_timestamp({0}, {1})"),
           "The timestamp whose UTC clock reads what a clock in the zone does.", raises=True),
    scalar("to_utc_timestamp", (Param("t", TIME), _ZONE), rules.in_zone, forms.held("to_utc_timestamp({0}, {1})"),
           "The timestamp at which a clock in the zone reads what this one's UTC clock does; the earlier of two.",
           raises=True),
    scalar("convert_timezone",
           (Param("from_zone", STRING, literal=True, edges=ZONE_EDGES),
            Param("to_zone", STRING, literal=True, edges=ZONE_EDGES), Param("t", TIME)),
           rules.converted, forms.held("convert_timezone({0}, {1}, {2})"),
           "What a clock in the second zone reads when one in the first reads so.", raises=True),
)  # fmt: skip

ROWS: Final[tuple[Function, ...]] = (
    *_FIELDS, *_MOVED, *_DISTANCES, *_EPOCHS, *_MADE, *_TEXTS, *_ZONES,
)  # fmt: skip
