"""Dates and times where Spark's own answer can't be recorded: it wraps, or raises an error of Java's; and refusals."""

from __future__ import annotations

from typing import Any

import pytest

from featurekit.clock import DAY, HOUR, instant_to_local, local_candidates
from featurekit.errors import ExpressionError
from featurekit.expr.nodes import Column
from featurekit.expr.parse import parse_expression
from featurekit.expr.scope import ColumnScope
from featurekit.targets.kernels.calendar import civil, days_of
from featurekit.targets.kernels.time_patterns import reader, writer
from featurekit.targets.kernels.zones import zone_table
from featurekit.targets.python import compile_row
from featurekit.types import Date, Int64, String, Timestamp

COLUMNS = (
    Column(name="d", type=Date(), nullable=True),
    Column(name="t", type=Timestamp(), nullable=True),
    Column(name="n", type=Int64(), nullable=True),
    Column(name="s", type=String(), nullable=True),
)
FIRST_DAY, LAST_DAY = -(1 << 31), (1 << 31) - 1
FIRST, LAST = -(1 << 63), (1 << 63) - 1
ZONES = ("America/New_York", "Europe/London", "Australia/Lord_Howe", "Europe/Dublin", "Asia/Kolkata", "UTC",
         "Africa/Casablanca", "America/Santiago", "Pacific/Apia")  # fmt: skip


def value(expression: str, **row: Any) -> Any:
    node = parse_expression(expression, ColumnScope.of(COLUMNS), aggregates_allowed=False)
    return compile_row([node], COLUMNS)(tuple(row.get(column.name) for column in COLUMNS))[0]


@pytest.mark.parametrize(
    ("expression", "row"),
    [
        ("date_add(d, 1)", {"d": LAST_DAY}),
        ("date_sub(d, 1)", {"d": FIRST_DAY}),
        ("d - CAST(-2147483648 AS INT)", {"d": 0}),
        ("add_months(d, 1)", {"d": LAST_DAY}),
        ("last_day(d)", {"d": LAST_DAY}),
        ("next_day(d, 'MO')", {"d": LAST_DAY}),
        ("next_day(d, 'MO')", {"d": FIRST_DAY}),
        ("trunc(d, 'week')", {"d": FIRST_DAY}),
        ("trunc(d, 'year')", {"d": FIRST_DAY}),
        ("datediff(d, DATE '1969-12-31')", {"d": LAST_DAY}),
        ("make_date(5881580, 7, 12)", {}),
        ("hour(d)", {"d": LAST_DAY}),
        ("date_trunc('week', t)", {"t": FIRST}),
        ("date_trunc('millisecond', t)", {"t": FIRST}),
        ("timestampadd(MICROSECOND, 1, t)", {"t": LAST}),
        ("timestampadd(MONTH, -1, t)", {"t": FIRST}),
        ("timestampadd(HOUR, 2562047789, t)", {"t": FIRST}),
        ("t + INTERVAL 1 DAY", {"t": LAST}),
        ("timestampdiff(MICROSECOND, t, TIMESTAMP '1970-01-01T00:00:01Z')", {"t": FIRST}),
        ("months_between(t, TIMESTAMP '1970-01-01T00:00:01Z')", {"t": FIRST}),
        ("from_utc_timestamp(t, 'Asia/Tokyo')", {"t": LAST}),
        ("to_utc_timestamp(t, 'Asia/Tokyo')", {"t": FIRST}),
        ("convert_timezone('Asia/Tokyo', 'America/New_York', t)", {"t": FIRST}),
        ("make_timestamp(294248, 1, 1, 0, 0, 0)", {}),
        ("make_timestamp(2013, 1, 1, 0, 0, 4294.967296)", {}),
        ("timestamp_seconds(n)", {"n": LAST}),
        ("timestamp_seconds(1.1234567)", {}),
        ("timestamp_millis(n)", {"n": FIRST}),
        ("from_unixtime(n)", {"n": LAST}),
        ("to_timestamp(s, 'yyyy-MM-dd')", {"s": "+294248-01-01"}),
        ("to_timestamp(s, 'yyyy-MM-dd')", {"s": "+99999999999999999999-01-01"}),
        ("to_date(s, 'yyyy-MM-dd')", {"s": "-290309-01-01"}),
    ],
)
def test_what_does_not_fit_is_null_where_spark_wraps_or_raises(expression: str, row: dict[str, Any]) -> None:
    assert value(expression, **row) is None


@pytest.mark.parametrize(
    ("expression", "row", "expected"),
    [
        ("date_add(d, 1)", {"d": LAST_DAY - 1}, LAST_DAY),
        ("last_day(d)", {"d": LAST_DAY - 11}, LAST_DAY - 11),
        ("trunc(d, 'month')", {"d": FIRST_DAY + 8}, FIRST_DAY + 8),
        ("datediff(d, DATE '1970-01-01')", {"d": LAST_DAY}, LAST_DAY),
        ("timestampadd(MICROSECOND, -9223372036854775808, t)", {"t": LAST}, -1),
        ("timestampadd(DAY, 106751992, t)", {"t": FIRST}, FIRST + 106_751_992 * DAY),
        ("date_trunc('microsecond', t)", {"t": FIRST}, FIRST),
        ("to_utc_timestamp(t, 'America/New_York')", {"t": FIRST}, FIRST + 17_762_000_000),
    ],
)
def test_the_last_value_that_fits_is_given(expression: str, row: dict[str, Any], expected: int) -> None:
    assert value(expression, **row) == expected


@pytest.mark.parametrize("name", ZONES)
def test_zone_tables_agree_with_zoneinfo_also_far_in_the_future(name: str) -> None:
    zone = zone_table(name)
    years = [*range(1850, 2060), 2400, 2437, 2438, 2439, 5000, 9998]
    instants = [days_of(year, month, day) * DAY + HOUR for year in years for month in (3, 4, 10, 11) for day in (1, 14)]
    changes = [start + shift for start in zone.starts[:240] for shift in (-1, 0) if start > days_of(2, 1, 1) * DAY]
    for micros in instants + changes:
        assert zone.offset_at(micros) == instant_to_local(micros, name) - micros


@pytest.mark.parametrize("name", ZONES)
def test_a_reading_that_occurs_twice_is_the_earlier_instant_and_one_that_does_not_exist_moves_on(name: str) -> None:
    zone = zone_table(name)
    for start in zone.local_starts[-40:-2]:
        if civil(start // DAY)[0] > 9990:
            continue
        for local in (start - HOUR, start - 1, start):
            earlier, later = local_candidates(local, name)
            exists = instant_to_local(earlier, name) == local
            assert local - zone.offset_of(local) == (earlier if exists else later)


def test_times_after_the_table_repeat_every_400_years() -> None:
    zone = zone_table("America/New_York")
    july = days_of(9000, 7, 1) * DAY
    assert zone.offset_at(july) == -4 * HOUR
    assert zone.offset_at(july + 200 * 146_097 * DAY) == -4 * HOUR
    assert zone_table("Asia/Kolkata").offset_at(LAST) == HOUR * 11 // 2


@pytest.mark.parametrize(
    ("pattern", "text"),
    [("yyyy-MM-dd", "2013-11-15"), ("ddMMyyyy", "15112013"), ("yyyy-MM-dd'T'HH:mm:ss.SSS", "2013-11-15T02:03:04.500")],
)
def test_what_a_pattern_writes_it_reads(pattern: str, text: str) -> None:
    micros = reader(pattern)(text)
    assert micros is not None
    assert writer(pattern)(micros) == text


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("to_date(s, 'yy-MM-dd')", "yy is not among the letters"),
        ("to_date(s, 'YYYY-MM-dd')", "YYYY is not among the letters"),
        ("to_date(s, 'dd MMM yyyy')", "only written, not read"),
        ("to_date(s, 'yyyy-dd')", "d stands in it without M"),
        ("to_date(s, 'yyyy-MM-MM')", "M stands in it twice"),
        ("to_date(s, 'yyyyMd')", "nothing parts"),
        ("to_timestamp(s, 'yyyyMMddHHmmssSSS')", "nothing parts s from S"),
        ("to_date(s, 'yyyy-MM-dd''')", "a quote is not closed"),
        ("to_date(s, '--')", "it has no field"),
        ("to_date(s, 'yyyy[-MM]')", "can't stand between fields"),
        ("to_date(s, s)", "the pattern"),
        ("to_date(d, 'yyyy')", "a pattern says how text is read"),
        ("date_format(t, 'a')", "a is not among the letters"),
        ("unix_timestamp(s)", "text is read by a pattern"),
        ("to_timestamp(n)", "it takes a timestamp or a date"),
        ("date_add(d, n)", "it takes an int there"),
        ("next_day(d, 'XX')", "'XX' is not a day of the week"),
        ("trunc(d, 'hour')", "'hour' is not a unit"),
        ("date_trunc('decade', t)", "'decade' is not a unit"),
        ("EXTRACT(EPOCH FROM t)", "'epoch' is not a field"),
        ("EXTRACT(1 FROM t)", "EXTRACT begins with a field"),
        ("timestampadd(HOURS, 1, t)", "HOURS is not a unit"),
        ("timestampdiff(DAYOFYEAR, t, t)", "DAYOFYEAR is not a unit"),
        ("to_utc_timestamp(t, 'PST')", "'PST' is not a time zone"),
        ("convert_timezone('America/New_York', 'Nowhere/Land', t)", "'Nowhere/Land' is not a time zone"),
        ("t - t", "an interval is not a value"),
        ("d - d", "an interval is not a value"),
        ("t + 1", "it takes numbers"),
        ("n + INTERVAL 1 DAY", "can't be added to bigint"),
        ("t + INTERVAL 1 FORTNIGHT", "can't be read"),
        ("t + INTERVAL 1.5 DAY", "can't be read"),
        ("t + INTERVAL 1 MONTH 1 DAY", "is two"),
        ("t + INTERVAL 300000000 DAYS", "too long"),
        ("t + INTERVAL '1-2' YEAR TO MONTH", "after an INTERVAL"),
        ("TIMESTAMP_NTZ '2013-11-15T02:00Z'", "not a reading of a clock"),
        ("unix_date(t)", "it takes a date"),
        ("make_timestamp(2013, 1, 1, 0, 0, 1.5D)", "a whole number or a decimal"),
    ],
)
def test_refusals_name_what_is_wrong(expression: str, says: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        value(expression)
    assert says in str(caught.value)


def test_two_arguments_and_a_column_named_like_a_unit_are_the_function_of_dates() -> None:
    columns = (Column(name="day", type=Date(), nullable=True), COLUMNS[0])
    node = parse_expression("datediff(day, d)", ColumnScope.of(columns), aggregates_allowed=False)
    assert compile_row([node], columns)((5, 3)) == (2,)
