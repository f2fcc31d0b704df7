"""Every aggregate under every kind of window: both paths and the plain reference agree on every bit."""

from __future__ import annotations

import os
from collections.abc import Callable
from decimal import getcontext
from pathlib import Path
from typing import Any, Final

import pytest

from featurekit.clock import DAY, HOUR, parse_instant
from featurekit.compiled import CompiledView, SlotFunction
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.source import Source
from featurekit.types import Int64, String
from tests.offline import logs, reference
from tests.offline.conftest import EngineAt
from tests.offline.reference import Aggregate, Latest
from tests.offline.reference_time import Calendar, Elapsed, LastRows, Lifetime, Window
from tests.offline.test_agreement import differences, of
from tests.offline.worlds import compiled, features, materialized, swept, write_rows

pytestmark = pytest.mark.spark
SEEDS: Final = range(int(os.environ.get("FEATUREKIT_SEEDS", "1")))
ZONE: Final = "America/New_York"
# Of a grid of days in UTC, of one in New York around the change to winter time, and in between.
AS_OFS: Final = tuple(
    map(parse_instant, ("2013-11-03T04:00Z", "2013-11-04T05:00Z", "2013-11-04T00:00Z", "2013-11-09T00:00Z"))
)
WINDOWS: Final[dict[str, tuple[Any, Callable[[str | None], Window]]]] = {
    "elapsed": ("1d", lambda _: Elapsed(DAY)),
    "lifetime": ("lifetime", lambda _: Lifetime()),
    "rows": ({"rows": 4}, lambda _: LastRows(4)),
    "row": ({"rows": 1}, lambda _: LastRows(1)),
    "within": ({"rows": 3, "within": "2d"}, lambda _: LastRows(3, 2 * DAY)),
    "many": ({"rows": 1000, "within": "1d"}, lambda _: LastRows(1000, DAY)),
    "days": ({"calendar": "2d"}, lambda zone: Calendar(2, "d", zone)),
    "week": ({"calendar": "1w"}, lambda zone: Calendar(1, "w", zone)),
    "month": ({"calendar": "1mo"}, lambda zone: Calendar(1, "mo", zone)),
}
FUNCTIONS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "n": ("count(*)", {"function": "count"}),
    "n_if": ("count(*) FILTER (WHERE b)", {"function": "count", "only": of("b")}),
    "sum_d": ("sum(d)", {"function": "sum", "value": of("d")}),
    "sum_i": ("sum(i) FILTER (WHERE b)", {"function": "sum", "value": of("i"), "only": of("b")}),
    "avg_m": ("avg(m)", {"function": "avg", "value": of("m"), "scale": 6}),
    "min_t": ("min(t)", {"function": "min", "value": of("t")}),
    "max_w": ("max(w)", {"function": "max", "value": of("w")}),
    **{
        function: (f"{function}(s)", {"function": function, "value": of("s")})
        for function in ("var_pop", "var_samp", "stddev_pop", "stddev_samp")
    },
    "first": ("first(d)", {"function": "min_by", "value": of("d")}),
    "last_known": (
        "last(t) IGNORE NULLS",
        {"function": "max_by", "value": of("t"), "only": lambda row: row["t"] is not None},
    ),
    "min_by": ("min_by(t, s)", {"function": "min_by", "value": of("t"), "by": of("s")}),
    "max_by": ("max_by(t, d)", {"function": "max_by", "value": of("t"), "by": of("d")}),
    "top": ("top_k(i, 3)[1]", {"function": "top_k", "value": of("i"), "limit": 3, "place": 1}),
    "recent": ("collect_last(d, 3)[0]", {"function": "collect_last", "value": of("d"), "limit": 3, "place": 0}),
    "distinct": ("count(DISTINCT t)", {"function": "count_distinct", "value": of("t")}),
    "about": (
        "approx_count_distinct(i)",
        {"function": "approx_count_distinct", "value": of("i"), "limit": 9, "kind": "bigint"},
    ),
}  # fmt: skip


def definitions(windows: tuple[str, ...], zone: str | None) -> tuple[dict[str, Any], dict[str, reference.Feature]]:
    """Return each feature twice: as people write it, and as plain Python."""
    written: dict[str, Any] = {"last_t": {"sql": "t", "ttl": "1d"}}
    plain: dict[str, reference.Feature] = {"last_t": Latest(value=of("t"), ttl=DAY)}
    for window in windows:
        text, over = WINDOWS[window]
        for name, (sql, meaning) in FUNCTIONS.items():
            written[f"{name}_{window}"] = {"sql": sql, "window": text}
            plain[f"{name}_{window}"] = Aggregate(over=over(zone), **meaning)
    return written, plain


# A view whose reach has an end, and one that looks back for ever; each with windows of all kinds beside each other.
GROUPS: Final = {
    "bounded": ("elapsed", "within", "many", "days", "week", "month"),
    "for ever": ("elapsed", "lifetime", "rows", "row", "within", "days"),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("group", GROUPS)
def test_both_paths_give_what_the_plain_reference_gives(
    seed: int, group: str, engine_at: EngineAt, tmp_path: Path
) -> None:
    getcontext().prec = 80
    rows = logs.drawn_log(seed + 40, rows=400)
    write_rows(tmp_path / "log.parquet", logs.COLUMNS, rows)
    events: dict[str, Any] = {"event_timestamp": "event", "created_timestamp": "created", "path": "log.parquet"}
    common: dict[str, Any] = {"entity": "thing", "allowed_lateness": "10m", "availability_delay": "2h"}
    zoned, (local, plain) = Refresh(every=DAY, timezone=ZONE), definitions(GROUPS[group], ZONE)
    utc, (written, other) = Refresh(every=DAY), definitions(GROUPS[group], None)
    views = compiled(
        tmp_path,
        entities=[Entity(name="thing", join_keys={"name": String(), "number": Int64()})],
        sources=[Source(name="log", **events), Source(name="versions", event_id="id", **events)],
        views=[
            FeatureView(name="rows", source="log", refresh=zoned, features=features(**local), **common),
            FeatureView(
                name="newest", source="versions", where="s < 3", refresh=utc, features=features(**written), **common
            ),
        ],
    ).views
    assert (views["rows"].reach is None) == (group == "for ever")
    meanings: dict[str, dict[str, Any]] = {
        "rows": {"features": plain},
        "newest": {
            "features": other,
            "where": lambda row: None if row["s"] is None else row["s"] < 3,
            "source": reference.Source(version_of="id"),
        },
    }
    engine = engine_at(tmp_path)
    for name, view in views.items():
        order = tuple(column.name for column in view.columns)
        meaning = reference.View(order=order, keys=("name", "number"), lateness=logs.LATENESS, **meanings[name])
        by_sweep = swept(engine, view, AS_OFS)
        compared = 0
        for as_of in AS_OFS:
            expected = reference.rows_as_of(rows, meaning, as_of)
            compared += len(expected)
            assert differences(by_sweep[as_of], expected) == [], f"{name}: the sweep, as of {as_of}"
            if as_of in AS_OFS[1:3]:
                by_group = materialized(engine, view, as_of)
                assert differences(by_group, expected) == [], f"{name}: the aggregation, as of {as_of}"
        assert compared > 20


def test_every_function_of_slots_is_under_every_window() -> None:
    assert {part for parts in GROUPS.values() for part in parts} == set(WINDOWS)
    functions = {meaning["function"] for _, meaning in FUNCTIONS.values()}
    assert functions == {str(function) for function in SlotFunction} - {"latest"}


def test_the_reach_of_a_view_is_its_widest_window(tmp_path: Path) -> None:
    write_rows(tmp_path / "log.parquet", logs.COLUMNS, [])
    as_of = parse_instant("2013-11-04T05:00Z")

    def view(**windows: Any) -> CompiledView:
        written = {name: {"sql": "count(*)", "window": window} for name, window in windows.items()}
        return compiled(
            tmp_path,
            entities=[Entity(name="thing", join_keys={"name": String()})],
            sources=[Source(name="log", path="log.parquet", event_timestamp="event")],
            views=[
                FeatureView(
                    name="v",
                    entity="thing",
                    source="log",
                    refresh=Refresh(every=DAY, timezone=ZONE),
                    features=features(**written),
                )
            ],
        ).views["v"]

    # That day had 25 hours.
    for windows, hours in (
        ({"a": "24h", "b": {"calendar": "1d"}}, 25),
        ({"a": "26h", "b": {"calendar": "1d"}}, 26),
        ({"a": "1h", "b": {"rows": 3, "within": "30h"}, "c": {"calendar": "1d"}}, 30),
        ({"a": {"calendar": "1d"}, "b": {"calendar": "2d"}}, 49),
        ({"a": {"rows": 3}, "b": "1d"}, None),
        ({"a": "lifetime", "b": "1d"}, None),
    ):
        assert view(**windows).since(as_of) == (None if hours is None else as_of - hours * HOUR), windows
