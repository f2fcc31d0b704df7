"""Faults of the definition, as text: what a copy of the SQL in another job says after a while; and of the as-of."""

from __future__ import annotations

from typing import Final

from benchmarks.planted.flights import AT, TODAY
from benchmarks.planted.kind import Edit, Kind, kind
from benchmarks.planted.world import earlier_definition, edited
from featurekit.clock import DAY, HOUR


def _edit(old: str, new: str) -> Edit:
    return lambda text: edited(text, old, new)


def _one_day_longer(text: str) -> str:
    return edited(edited(text, "window: 7d", "window: 8d"), "window: 1d", "window: 2d")


DEFINITION_KINDS: Final[tuple[Kind, ...]] = (
    kind(
        "nulls count as 0 in averages",
        "input null as 0",
        "nulls in the average",
        definition=_edit("avg(dep_delay)", "avg(coalesce(dep_delay, 0.0D))"),
    ),
    kind("nulls counted", "nulls counted", definition=_edit("count(dep_delay)", "count(*)")),
    kind(
        "input as float32",
        "input as float32",
        definition=_edit("avg(dep_delay)", "avg(CAST(dep_delay AS FLOAT))"),
    ),
    kind(
        "input as integer",
        "input as integer",
        definition=_edit("avg(dep_delay)", "avg(CAST(dep_delay AS BIGINT))"),
    ),
    kind(
        "miles as kilometres",
        "input in another unit",
        "multiplied by a constant",
        "scaled",
        definition=_edit(
            '{sql: "sum(distance)", window: 7d, default', '{sql: "sum(distance * 1.609344D)", window: 7d, default'
        ),
    ),
    kind(
        "a threshold in seconds",
        "input in another unit",
        definition=_edit("dep_delay > 15 ", "dep_delay * 60 > 15 "),
    ),
    kind(
        "training takes a logarithm that serving forgets",
        "logarithm left out",
        "logarithm undone",
        definition=_edit("log1p(sum(distance))", "sum(distance)"),
    ),
    kind(
        "a logarithm added",
        "logarithm added",
        "logarithm taken",
        definition=_edit('{sql: "avg(dep_delay)", window: 7d}', '{sql: "log1p(avg(dep_delay))", window: 7d}'),
    ),
    kind(
        "a logarithm doubled",
        "logarithm added",
        "logarithm taken",
        definition=_edit("log1p(sum(distance))", "log1p(log1p(sum(distance)))"),
    ),
    kind("TTL ignored", "TTL ignored", definition=_edit(", ttl: 2d", "")),
    kind("filter left out", "filter left out", definition=_edit("    where: distance > 200\n", "")),
    kind("windows a day too long", "window length", definition=_one_day_longer),
    kind(
        "n in place of n - 1",
        "n or n − 1",
        definition=_edit("stddev(dep_delay)", "stddev_pop(dep_delay)"),
    ),
    kind(
        "coalesce left out",
        "coalesce left out",
        definition=_edit("coalesce(avg(dep_delay), 12.6D)", "avg(dep_delay)"),
    ),
    kind("previous definition", "previous definition", definition=earlier_definition),
    kind(
        "another threshold, as nobody can guess",
        "expression changed",
        "unknown",
        definition=_edit("dep_delay > 15 ", "dep_delay + distance / 100 > 23 "),
    ),
    kind(
        "versions counted as events",
        "versions counted as events",
        view="number_week",
        definition=_edit("    event_id: leg\n", ""),
    ),
    kind("previous refresh", "previous refresh", as_of=TODAY - DAY),
    kind("the refresh before the last", "previous refresh", as_of=TODAY - 2 * DAY),
    kind("a refresh of last week", "previous refresh", as_of=TODAY - 5 * DAY),
    kind("as of the request", "as of the request", as_of=AT),
    kind("a statistic of the whole day", "whole day", "later refresh", as_of=TODAY + DAY),
    kind(
        "windows end at New York's midnight",
        "time zone shift",
        "event times shifted",
        as_of=TODAY + 5 * HOUR,
    ),
    kind(
        "windows end an hour early since the clocks changed",
        "daylight saving hour",
        "time zone shift",
        "event times shifted",
        as_of=TODAY - HOUR,
    ),
)
