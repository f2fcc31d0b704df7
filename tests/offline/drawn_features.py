"""Features drawn from chance, each twice: as people write it, and as the plain reference reads it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from featurekit.clock import DAY, HOUR, format_duration
from tests.offline import logs
from tests.offline.reference import Aggregate, Combined, Feature, Latest, Row
from tests.offline.reference_numbers import canonical, typed
from tests.offline.reference_time import Calendar, Elapsed, LastRows, Lifetime, Window

Rule = Callable[[Row], Any]
NUMBERS: Final = "dfimsw"
ANY: Final = ("b", "d", "day", "f", "i", "m", "s", "t", "ts", "w", "x")
SCALES: Final = {"m": 6, "w": 14}
LENGTHS: Final = (HOUR, 6 * HOUR, DAY, 7 * DAY, 30 * DAY)
SPREADS: Final = ("var_samp", "var_pop", "stddev_samp", "stddev_pop")


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A feature: `written` is what a definition holds, `columns` what it reads."""

    written: dict[str, Any]
    meaning: Feature
    columns: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Filter:
    sql: str
    rule: Rule
    columns: frozenset[str]


def of(column: str) -> Rule:
    """Return what a row holds in a column, as sources are read: without -0.0."""
    return lambda row: canonical(row[column])


def compared(column: str, test: Callable[[Any], bool]) -> Rule:
    return lambda row: None if row[column] is None else test(row[column])


FILTERS: Final = (
    Filter(sql="b", rule=of("b"), columns=frozenset("b")),
    Filter(sql="s > 0", rule=compared("s", lambda value: value > 0), columns=frozenset("s")),
    Filter(sql="t = 'a'", rule=compared("t", lambda value: value == "a"), columns=frozenset("t")),
    Filter(sql="d >= 0D", rule=compared("d", lambda value: typed(value) >= typed(0.0)), columns=frozenset("d")),
)


def drawn_features(chance: random.Random, count: int, window: Callable[[], Window | None]) -> dict[str, Drawn]:
    """Return so many features; `window` draws what each aggregate is over, None where rows are states."""
    found: dict[str, Drawn] = {}
    for number in range(count):
        draw = chance.choice((drawn_latest, drawn_combined, *[drawn_aggregate] * 5))
        found[f"f{number}"] = draw(chance, window())
    if chance.random() < 0.5:  # then nothing but a ttl bounds how far the view looks back
        found = {name: one for name, one in found.items() if not isinstance(one.meaning, Latest) or one.meaning.ttl}
    found["n"] = _over("count(*)", window(), "count", frozenset())
    return found


def written_window(window: Window | None) -> dict[str, Any]:
    match window:
        case None:
            return {}
        case Elapsed(length):
            return {"window": format_duration(length)}
        case Lifetime():
            return {"window": "lifetime"}
        case LastRows(rows, within):
            return {"window": {"rows": rows} | ({} if within is None else {"within": format_duration(within)})}
        case Calendar(count, unit, _):
            return {"window": {"calendar": f"{count}{unit}"}}


def drawn_window(chance: random.Random, zone: str | None, *, bounded: bool) -> Window:
    """Return a window of any kind, or of those that don't reach back for ever."""
    match chance.choice(("elapsed", "elapsed", "calendar", "rows", "lifetime")):
        case "calendar":
            unit = chance.choice(("d", "d", "w", "mo"))
            return Calendar(chance.choice((1, 2, 3, 7) if unit == "d" else (1, 2)), unit, zone)
        case "rows":
            within = chance.choice((DAY, 7 * DAY)) if bounded else chance.choice((None, DAY, 30 * DAY))
            return LastRows(chance.choice((1, 2, 3, 10, 1000)), within)
        case "lifetime" if not bounded:
            return Lifetime()
        case _:
            return Elapsed(chance.choice(LENGTHS))


def drawn_latest(chance: random.Random, _: Window | None) -> Drawn:
    ttl = chance.choice((None, HOUR, DAY, DAY, 7 * DAY))
    written = {} if ttl is None else {"ttl": format_duration(ttl)}
    if chance.random() < 0.2:
        rule: Rule = lambda row: 7 if row["s"] is None else row["s"]  # noqa: E731
        return Drawn(
            written={"sql": "coalesce(s, 7)", **written}, meaning=Latest(value=rule, ttl=ttl), columns=frozenset("s")
        )
    column = chance.choice(tuple(name for name in ANY if name != "x"))
    return Drawn(
        written={"sql": column, **written}, meaning=Latest(value=of(column), ttl=ttl), columns=frozenset((column,))
    )


def drawn_combined(chance: random.Random, window: Window | None) -> Drawn:
    """Return a quotient or a difference of two aggregates over one window."""
    total = Aggregate(function="sum", over=window, value=of("s"))
    every = Aggregate(function="count", over=window)
    some = chance.choice(FILTERS)
    chosen = Aggregate(function="count", over=window, only=some.rule)

    def drawn(sql: str, columns: frozenset[str], parts: tuple[Aggregate, ...], meaning: Callable[..., Any]) -> Drawn:
        return Drawn(
            written={"sql": sql, **written_window(window)},
            meaning=Combined(parts=parts, meaning=meaning),
            columns=columns,
        )

    if chance.random() < 0.5:
        return drawn("sum(s) / count(*)", frozenset("s"), (total, every), _quotient)
    sql = f"count(*) - count(*) FILTER (WHERE {some.sql})"
    return drawn(sql, some.columns, (every, chosen), lambda rows, left_out: rows - left_out)


def _quotient(total: int | None, rows: int) -> float | None:
    return None if total is None or rows == 0 else float(total) / float(rows)


def _over(
    sql: str, window: Window | None, function: str, columns: frozenset[str], only: Filter | None = None, **meaning: Any
) -> Drawn:
    if only is not None:
        sql, columns, meaning = (
            f"{sql} FILTER (WHERE {only.sql})",
            columns | only.columns,
            {**meaning, "only": only.rule},
        )
    if "place" in meaning:
        sql = f"({sql})[{meaning['place']}]"
    return Drawn(
        written={"sql": sql, **written_window(window)},
        meaning=Aggregate(function=function, over=window, **meaning),
        columns=columns,
    )


def drawn_aggregate(chance: random.Random, window: Window | None) -> Drawn:
    only = chance.choice(FILTERS) if chance.random() < 0.3 else None
    number, column = chance.choice(NUMBERS), chance.choice(ANY)
    kind, place = chance.choice(("math", "ends", "order", "set", "list", "logic")), chance.choice((0, 1, 2))

    def over(sql: str, function: str, *columns: str, **meaning: Any) -> Drawn:
        return _over(sql, window, function, frozenset(columns), only, **meaning)

    match kind:
        case "math":
            function = chance.choice(("sum", "sum", "avg", *SPREADS))
            return over(f"{function}({number})", function, number, value=of(number), scale=SCALES.get(number))
        case "ends":
            function = chance.choice(("min", "max", "count"))
            return over(f"{function}({column})", function, column, value=of(column))
        case "order":
            return _ordered(chance, column, over)
        case "set":
            if chance.random() < 0.5:
                return over(f"count(DISTINCT {column})", "count_distinct", column, value=of(column))
            hashed = {"value": of(column), "limit": 9, "kind": logs.COLUMNS[column].name}
            return over(f"approx_count_distinct({column})", "approx_count_distinct", column, **hashed)
        case "list":
            function = chance.choice(("top_k", "collect_last"))
            chosen = {"value": of(column), "limit": 3, "place": place}
            return over(f"{function}({column}, 3)", function, column, **chosen)
        case _:
            function, plain = chance.choice((("every", "min"), ("any", "max")))
            return over(f"{function}(b)", plain, "b", value=of("b"))


def _ordered(chance: random.Random, column: str, over: Callable[..., Drawn]) -> Drawn:
    end, function = chance.choice((("first", "min_by"), ("last", "max_by")))
    if chance.random() < 0.5:
        return over(f"{end}({column})", function, column, value=of(column))
    by = chance.choice(ANY)
    return over(f"{function}({column}, {by})", function, column, by, value=of(column), by=of(by))
