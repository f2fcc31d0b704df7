"""The two paths and the plain reference agree on every bit and status, on logs drawn from seeds."""

from __future__ import annotations

import os
from collections.abc import Callable
from decimal import getcontext
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
from tests.offline.reference import Aggregate, Latest
from tests.offline.reference_numbers import canonical
from tests.offline.reference_time import Elapsed
from tests.offline.worlds import bits, compiled, features, materialized, swept, write_rows

pytestmark = pytest.mark.spark
SEEDS = range(int(os.environ.get("FEATUREKIT_SEEDS", "1")))
NUMBERS = "dfimsw"


def of(column: str) -> Callable[[reference.Row], Any]:
    """Return what a row holds in a column, as sources are read: without -0.0."""
    return lambda row: canonical(row[column])


def definitions() -> tuple[dict[str, dict[str, Any]], dict[str, reference.Feature]]:
    """Return each feature twice: as people write it, and as plain Python."""
    written: dict[str, dict[str, Any]] = {}
    plain: dict[str, reference.Feature] = {}

    def add(name: str, sql: str, window: str, meaning: Aggregate) -> None:
        written[name], plain[name] = {"sql": sql, "window": window}, meaning

    for text, width in (("1h", HOUR), ("1d", DAY), ("7d", 7 * DAY)):
        add(f"n_{text}", "count(*)", text, Aggregate(function="count", over=Elapsed(width)))
        add(
            f"n_where_{text}",
            "count(d) FILTER (WHERE b)",
            text,
            Aggregate(function="count", over=Elapsed(width), value=lambda row: row["d"], only=lambda row: row["b"]),
        )
    for column in NUMBERS:
        scale = {"m": 6, "w": 14}.get(column)
        for function in ("sum", "avg", "min", "max"):
            for text, width in (("1d", DAY), ("7d", 7 * DAY)):
                meaning = Aggregate(function=function, over=Elapsed(width), value=of(column), scale=scale)
                add(f"{function}_{column}_{text}", f"{function}({column})", text, meaning)
    for column in ("t", "b", "ts", "day"):
        for function in ("min", "max"):
            meaning = Aggregate(function=function, over=Elapsed(7 * DAY), value=of(column))
            add(f"{function}_{column}", f"{function}({column})", "7d", meaning)
    add(
        "sum_if",
        "sum(s) FILTER (WHERE t = 'a')",
        "7d",
        Aggregate(
            function="sum",
            over=Elapsed(7 * DAY),
            value=lambda row: row["s"],
            only=lambda row: None if row["t"] is None else row["t"] == "a",
        ),
    )
    for column in ("b", "d", "day", "f", "i", "m", "s", "t", "ts", "w"):
        written[f"last_{column}"] = {"sql": column, "ttl": "1d"}
        plain[f"last_{column}"] = Latest(value=of(column), ttl=DAY)
    written["last_brief"] = {"sql": "t", "ttl": "1h"}
    plain["last_brief"] = Latest(value=lambda row: row["t"], ttl=HOUR)
    return written, plain


def world(base: Path, rows: list[dict[str, Any]]) -> dict[str, tuple[CompiledView, reference.View]]:
    """Return the views over a log, each with its meaning: every row an event; versions of events; for ever."""
    write_rows(base / "log.parquet", logs.COLUMNS, rows)
    written, plain = definitions()
    events: dict[str, Any] = {"event_timestamp": "event", "created_timestamp": "created", "path": "log.parquet"}
    entity = Entity(name="thing", join_keys={"name": String(), "number": Int64()})
    common: dict[str, Any] = {
        "entity": "thing",
        "refresh": Refresh(every=DAY),
        "allowed_lateness": "10m",
        "availability_delay": "2h",
    }
    forever = {"last_ever": {"sql": "t"}, "n_ever": {"sql": "count(*)", "window": "1d"}}
    repository = compiled(
        base,
        entities=[entity],
        sources=[Source(name="log", **events), Source(name="versions", event_id="id", **events)],
        views=[
            FeatureView(name="rows", source="log", features=features(**written), **common),
            FeatureView(name="newest", source="versions", where="s < 3", features=features(**written), **common),
            FeatureView(name="ever", source="versions", features=features(**forever), **common),
        ],
    )
    order = tuple(column.name for column in repository.views["rows"].columns)
    meaning: dict[str, Any] = {"keys": ("name", "number"), "lateness": logs.LATENESS}
    return {
        "rows": (repository.views["rows"], reference.View(features=plain, order=order, **meaning)),
        "newest": (
            repository.views["newest"],
            reference.View(
                features=plain,
                order=order,
                where=lambda row: None if row["s"] is None else row["s"] < 3,
                source=reference.Source(version_of="id"),
                **meaning,
            ),
        ),
        "ever": (
            repository.views["ever"],
            reference.View(
                features={
                    "last_ever": Latest(value=lambda row: row["t"]),
                    "n_ever": Aggregate(function="count", over=Elapsed(DAY)),
                },
                order=("t",),
                source=reference.Source(version_of="id"),
                **meaning,
            ),
        ),
    }


def differences(
    found: dict[tuple[Any, ...], dict[str, Any]], expected: dict[tuple[Any, ...], reference.Expected]
) -> list[str]:
    """Return in words what differs, entity by entity and column by column."""
    lines = [f"{key}: {'not expected' if key in found else 'missing'}" for key in found.keys() ^ expected.keys()]
    for key in found.keys() & expected.keys():
        row, wanted = found[key], expected[key]
        columns = {"__last_event": wanted.last_event, **wanted.values}
        columns |= {f"__status_{name}": status for name, status in wanted.statuses.items()}
        assert row.keys() == columns.keys()
        lines += [
            f"{key} {name}: {row[name]!r}, not {value!r}"
            for name, value in columns.items()
            if bits(row[name]) != bits(value)
        ]
    return lines


@pytest.mark.parametrize("seed", SEEDS)
def test_both_paths_give_what_the_plain_reference_gives(seed: int, engine_at: EngineAt, tmp_path: Path) -> None:
    getcontext().prec = 80
    rows = logs.drawn_log(seed)
    engine = engine_at(tmp_path)
    for name, (view, meaning) in world(tmp_path, rows).items():
        by_sweep = swept(engine, view, logs.AS_OFS)
        compared = 0
        for as_of in logs.AS_OFS:
            expected = reference.rows_as_of(rows, meaning, as_of)
            compared += len(expected)
            assert differences(by_sweep[as_of], expected) == [], f"{name}: the sweep, as of {as_of}"
            by_group = materialized(engine, view, as_of)
            assert differences(by_group, expected) == [], f"{name}: the aggregation, as of {as_of}"
        assert compared > 10


def test_a_late_row_changes_no_refresh_that_was_complete(engine: SparkEngine, tmp_path: Path) -> None:
    rows = logs.drawn_log(99, rows=200)
    as_of = logs.AS_OFS[1]
    (view, _) = world(tmp_path, rows)["newest"]
    before = materialized(engine, view, as_of)
    late = [row | {"created": as_of + logs.LATENESS + 1} for row in logs.drawn_log(100, rows=200)]
    shuffled = [*late, *reversed(rows)]
    (view, _) = world(tmp_path, shuffled)["newest"]
    after = materialized(engine, view, as_of)
    assert {key: {name: bits(value) for name, value in row.items()} for key, row in after.items()} == {
        key: {name: bits(value) for name, value in row.items()} for key, row in before.items()
    }


def test_the_sql_gives_the_same_bits_without_ansi(engine: SparkEngine, tmp_path: Path) -> None:
    (view, _) = world(tmp_path, logs.drawn_log(7, rows=200))["rows"]
    as_of = logs.AS_OFS[1]

    def both() -> list[Any]:
        found = [materialized(engine, view, as_of), swept(engine, view, [as_of])[as_of]]
        return [{key: {name: bits(cell) for name, cell in row.items()} for key, row in rows.items()} for rows in found]

    with_ansi = both()
    engine.session.conf.set("spark.sql.ansi.enabled", "false")
    try:
        assert both() == with_ansi
    finally:
        engine.session.conf.set("spark.sql.ansi.enabled", "true")
