"""What `explain` and `trace` say of windows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from featurekit.clock import DAY, parse_instant
from featurekit.compiled import CompiledView
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.source import Source
from featurekit.explain import explain_view
from featurekit.online.keys import Namespace
from featurekit.types import Int64, String, Timestamp
from featurekit.windows import Elapsed, LastRows, Lifetime
from tests.offline.worlds import compiled, features, write_rows

COLUMNS = {"name": String(), "at": Timestamp(), "v": Int64()}
ZONED = Refresh(every=DAY, timezone="America/New_York")


def view_of(base: Path, written: dict[str, dict[str, Any]], refresh: Refresh = ZONED) -> CompiledView:
    write_rows(base / "log.parquet", COLUMNS, [])
    return compiled(
        base,
        entities=[Entity(name="thing", join_keys={"name": String()})],
        sources=[Source(name="log", path="log.parquet", event_timestamp="at")],
        views=[
            FeatureView(name="v", entity="thing", source="log", refresh=refresh, features=features(**written)),
        ],
    ).views["v"]


@pytest.mark.parametrize(
    ("window", "rows", "looks_back"),
    [
        ("7d", "the last 7d", "7d"),
        ("lifetime", "all rows", "for ever"),
        ({"rows": 10}, "the last 10 rows", "for ever"),
        ({"rows": 10, "within": "30d"}, "the last 10 rows of the last 30d", "30d"),
        (
            {"calendar": "2w"},
            "the last 2 calendar weeks in America/New_York",
            "2 calendar weeks in America/New_York",
        ),
    ],
)
def test_the_rows_of_a_slot_are_told_in_words(tmp_path: Path, window: Any, rows: str, looks_back: str) -> None:
    view = view_of(tmp_path, {"n": {"sql": "count(*) FILTER (WHERE v > 1)", "window": window}})
    as_of = parse_instant("2024-05-13T04:00Z")
    found = explain_view(view, Namespace(project="p", environment="e"), as_of=as_of)
    assert [slot.rows for slot in found.slots] == [f"{rows} where gt(v:bigint?, 1:bigint):boolean?"]
    assert dict(found.summary)["looks back"] == looks_back


def test_a_view_looks_back_as_far_as_any_of_its_windows(tmp_path: Path) -> None:
    written: dict[str, dict[str, Any]] = {
        "a": {"sql": "count(*)", "window": "3d"},
        "b": {"sql": "count(*)", "window": {"calendar": "2d"}},
        "c": {"sql": "v", "ttl": "4d"},
    }
    view = view_of(tmp_path, written)
    found = explain_view(view, Namespace(project="p", environment="e"), as_of=parse_instant("2024-05-13T04:00Z"))
    assert dict(found.summary)["looks back"] == "8d, 2 calendar days in America/New_York"


def test_a_feature_has_the_windows_of_all_that_it_is_made_of(tmp_path: Path) -> None:
    written: dict[str, dict[str, Any]] = {
        "a": {"sql": "count(*)", "window": {"rows": 3}},
        "b": {"sql": "sum(v) / count(v)", "window": "lifetime"},
        "c": {"sql": "a / b", "default": 0.0},
        "d": {"sql": "v"},
        "e": {"sql": "a + n"},
        "n": {"sql": "count(*)", "window": "1d"},
    }
    view = view_of(tmp_path, written)
    assert {feature.name: view.windows_of(feature) for feature in view.features} == {
        "a": (LastRows(3),),
        "b": (Lifetime(),),
        "c": (LastRows(3), Lifetime()),
        "d": (),
        "e": (LastRows(3), Elapsed(DAY)),
        "n": (Elapsed(DAY),),
    }
