"""Dates and times. Fields of a timestamp are those of its UTC clock."""

from __future__ import annotations

from typing import Final

from featurekit.clock import zone
from featurekit.errors import InputError
from featurekit.expr import signatures as rules
from featurekit.expr.catalogue.row import STRING, TIME, Function, Param, scalar
from featurekit.types import DataType, Date, Int32, Int64, Timestamp

UNITS: Final = (
    "microsecond", "millisecond", "second", "minute", "hour", "day", "week", "month", "quarter", "year",
)  # fmt: skip
ZONE_EDGES: Final = ("America/New_York", "UTC", "Asia/Kolkata", "Australia/Lord_Howe", "Europe/London")


def is_zone(name: str) -> bool:
    try:
        zone(name)
    except InputError:
        return False
    # Both sides know the IANA names; Spark also takes 'PST' and '+01:00', which mean other things to other engines.
    return "/" in name or name == "UTC"


_ONE = (Param("t", TIME),)


def _part(name: str, takes: DataType, doc: str, *spellings: str) -> Function:
    rule = rules.of_time(takes=takes, result=Int32())
    return scalar(name, _ONE, rule, f"{name}({{0}})", doc, spellings=(name, *spellings))


ROWS: Final[tuple[Function, ...]] = (
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
    scalar("datediff", (Param("end", TIME), Param("start", TIME)), rules.days_between, "datediff({0}, {1})",
           "Days from the second date to the first.", spellings=("datediff", "date_diff")),
    scalar("date_trunc", (Param("unit", STRING, literal=True, edges=UNITS), Param("t", TIME)), rules.truncated(UNITS),
           "date_trunc({0}, {1})", "The start of the unit, by the UTC clock."),
    scalar("unix_timestamp", _ONE, rules.of_time(takes=Timestamp(), result=Int64()), "unix_timestamp({0})",
           "Seconds since 1970, cut towards zero."),
    scalar("unix_seconds", _ONE, rules.of_time(takes=Timestamp(), result=Int64()), "unix_seconds({0})",
           "Seconds since 1970, floored."),
    scalar("unix_millis", _ONE, rules.of_time(takes=Timestamp(), result=Int64()), "unix_millis({0})",
           "Milliseconds since 1970, floored."),
    scalar("unix_micros", _ONE, rules.of_time(takes=Timestamp(), result=Int64()), "unix_micros({0})",
           "Microseconds since 1970."),
    scalar("from_utc_timestamp", (Param("t", TIME), Param("zone", STRING, literal=True, edges=ZONE_EDGES)),
           rules.in_zone(is_zone), "from_utc_timestamp({0}, {1})",
           "The timestamp whose UTC clock reads what a clock in the zone does."),
)  # fmt: skip
