"""All aggregates of the language: both paths and the plain reference agree on every bit, on logs drawn from seeds."""

from __future__ import annotations

import os
from collections.abc import Callable
from decimal import getcontext
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from featurekit.clock import DAY, HOUR
from featurekit.compiled import CompiledView
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.source import Source
from featurekit.offline.session import SparkEngine
from featurekit.types import Int64, String
from tests.offline import logs, reference
from tests.offline.conftest import EngineAt
from tests.offline.reference import Aggregate
from tests.offline.reference_time import Elapsed
from tests.offline.test_agreement import differences, of
from tests.offline.worlds import bits, compiled, features, materialized, swept, write_rows

pytestmark = pytest.mark.spark
SEEDS = range(int(os.environ.get("FEATUREKIT_SEEDS", "1")))
WINDOWS = (("1h", HOUR), ("1d", DAY), ("7d", 7 * DAY))
SPREADS = ("var_samp", "var_pop", "stddev_samp", "stddev_pop")
Written = dict[str, dict[str, Any]]
Plain = dict[str, Aggregate]


def of_present(column: str, what: Callable[[Any], Any]) -> Callable[[reference.Row], Any]:
    return lambda row: None if row[column] is None else what(row[column])


def is_true(column: str) -> Callable[[reference.Row], Any]:
    return lambda row: row[column]


def definitions() -> tuple[Written, Plain]:
    """Return each feature twice: as people write it, and as plain Python; the windows take turns."""
    written: Written = {}
    plain: Plain = {}
    windows = cycle(WINDOWS)

    def add(name: str, sql: str, function: str, **meaning: Any) -> None:
        text, width = next(windows)
        written[name] = {"sql": sql, "window": text}
        plain[name] = Aggregate(function=function, over=Elapsed(width), **meaning)

    add("min_x", "min(x)", "min", value=of("x"))
    add("max_x", "max(x)", "max", value=of("x"))
    add("count_if", "count_if(b)", "count", only=is_true("b"))
    add("every", "every(b)", "min", value=of("b"))
    add("any", "any(s > 0) FILTER (WHERE b)", "max", only=is_true("b"), value=of_present("s", lambda value: value > 0))
    for column in "dfimsw":
        for function in ("var_samp", "stddev_samp", "var_pop", "stddev_pop"):
            add(f"{function}_{column}", f"{function}({column})", function, value=of(column))
    for column in ("b", "d", "day", "f", "i", "m", "t", "ts", "w", "x"):
        add(f"first_{column}", f"first({column})", "min_by", value=of(column))
        add(f"last_{column}", f"last({column})", "max_by", value=of(column))
        add(f"min_by_{column}", f"min_by({column}, s)", "min_by", value=of(column), by=of("s"))
        add(f"max_by_{column}", f"max_by(t, {column})", "max_by", value=of("t"), by=of(column))
        add(f"distinct_{column}", f"count(DISTINCT {column})", "count_distinct", value=of(column))
        add(
            f"about_{column}",
            f"approx_count_distinct({column})",
            "approx_count_distinct",
            value=of(column),
            limit=9,
            kind=logs.COLUMNS[column].name,
        )
    for column in ("d", "i", "t", "w", "day", "x"):
        for place in (0, 2):
            chosen: dict[str, Any] = {"value": of(column), "limit": 3, "place": place}
            add(f"top_{column}_{place}", f"top_k({column}, 3)[{place}]", "top_k", **chosen)
            add(f"recent_{column}_{place}", f"collect_last({column}, 3)[{place}]", "collect_last", **chosen)
    known = of_present("t", lambda _: True)
    add("last_known", "last(t) IGNORE NULLS", "max_by", value=of("t"), only=known)
    add("first_known", "first(d, true) FILTER (WHERE b)", "min_by", value=of("d"),
        only=lambda row: row["d"] is not None and row["b"])  # fmt: skip
    add("spread_if", "stddev(d) FILTER (WHERE d BETWEEN -50 AND 50)", "stddev_samp", value=of("d"),
        only=of_present("d", lambda value: -50 <= value <= 50))  # fmt: skip
    add("negative", "first(-d)", "min_by", value=of_present("d", lambda value: -value))
    return written, plain


def world(base: Path, rows: list[dict[str, Any]], written: Written, plain: Plain) -> Any:
    """Return the views over a log, each with its meaning: every row an event; versions of events."""
    write_rows(base / "log.parquet", logs.COLUMNS, rows)
    events: dict[str, Any] = {"event_timestamp": "event", "created_timestamp": "created", "path": "log.parquet"}
    common: dict[str, Any] = {
        "entity": "thing",
        "refresh": Refresh(every=DAY),
        "allowed_lateness": "10m",
        "availability_delay": "2h",
    }
    repository = compiled(
        base,
        entities=[Entity(name="thing", join_keys={"name": String(), "number": Int64()})],
        sources=[Source(name="log", **events), Source(name="versions", event_id="id", **events)],
        views=[
            FeatureView(name="rows", source="log", features=features(**written), **common),
            FeatureView(name="newest", source="versions", where="s < 3", features=features(**written), **common),
        ],
    )

    def meaning(view: CompiledView, **more: Any) -> reference.View:
        order = tuple(column.name for column in view.columns)
        return reference.View(
            features=dict(plain), order=order, keys=("name", "number"), lateness=logs.LATENESS, **more
        )

    newest = {
        "where": lambda row: None if row["s"] is None else row["s"] < 3,
        "source": reference.Source(version_of="id"),
    }
    return [
        (repository.views["rows"], meaning(repository.views["rows"])),
        (repository.views["newest"], meaning(repository.views["newest"], **newest)),
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_both_paths_give_what_the_plain_reference_gives(seed: int, engine_at: EngineAt, tmp_path: Path) -> None:
    getcontext().prec = 80
    rows = logs.drawn_log(seed)
    engine = engine_at(tmp_path)
    for view, meaning in world(tmp_path, rows, *definitions()):
        by_sweep = swept(engine, view, logs.AS_OFS)
        compared = 0
        for as_of in logs.AS_OFS[1:3]:
            expected = reference.rows_as_of(rows, meaning, as_of)
            compared += len(expected)
            assert differences(by_sweep[as_of], expected) == [], f"{view.name}: the sweep, as of {as_of}"
            by_group = materialized(engine, view, as_of)
            assert differences(by_group, expected) == [], f"{view.name}: the aggregation, as of {as_of}"
        assert compared > 5


def test_the_sql_gives_the_same_bits_without_ansi(engine: SparkEngine, tmp_path: Path) -> None:
    getcontext().prec = 80
    (view, _), _ = world(tmp_path, logs.drawn_log(7, rows=200), *definitions())
    as_of = logs.AS_OFS[1]

    def rows() -> dict[Any, Any]:
        found = materialized(engine, view, as_of)
        return {key: {name: bits(cell) for name, cell in row.items()} for key, row in found.items()}

    with_ansi = rows()
    engine.session.conf.set("spark.sql.ansi.enabled", "false")
    try:
        assert rows() == with_ansi
    finally:
        engine.session.conf.set("spark.sql.ansi.enabled", "true")
