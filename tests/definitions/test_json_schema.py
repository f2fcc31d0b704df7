"""The JSON Schema that editors use: it takes what load_repo takes, and marks what is plainly wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from featurekit.definitions.json_schema import DIALECT, repo_schema

FEATURE_DEFS = Path(__file__).parents[2] / "feature_defs"
SCHEMA = repo_schema()
VIEW: dict[str, Any] = {
    "entity": "carrier",
    "source": "departures",
    "refresh": "1d",
    "features": {"n": {"sql": "count(*)", "window": "7d"}},
}


def complaints(document: Any) -> list[str]:
    """Where in the document the schema finds something wrong."""
    return [error.json_path for error in Draft202012Validator(SCHEMA).iter_errors(document)]


def view(**fields: Any) -> dict[str, Any]:
    return {"feature_views": {"load": {**VIEW, **fields}}}


def feature(**fields: Any) -> dict[str, Any]:
    return view(features={"n": {"sql": "delay", **fields}})


def service(*features: Any) -> dict[str, Any]:
    return {"feature_services": {"s": {"features": list(features)}}}


def standing_in(policy: Any) -> dict[str, Any]:
    return {"feature_services": {"s": {"features": ["load"], "on_unavailable": policy}}}


def test_schema_is_a_valid_schema_of_its_dialect() -> None:
    assert SCHEMA["$schema"] == DIALECT
    Draft202012Validator.check_schema(SCHEMA)


def test_schema_is_a_new_value_each_time() -> None:
    repo_schema()["properties"].clear()
    assert repo_schema() == SCHEMA


@pytest.mark.parametrize("path", sorted(FEATURE_DEFS.glob("*.yaml")), ids=lambda path: path.name)
def test_real_definitions_fit_the_schema(path: Path) -> None:
    assert complaints(yaml.safe_load(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "document",
    [
        {"entities": {"route": {"join_keys": {"origin": "string", "dest": "decimal(10, 2)"}, "owner": "ops"}}},
        {"sources": {"a": {"path": "a.parquet", "event_timestamp": "t", "timezone": "UTC"}}},
        {
            "sources": {
                "a": {"path": "a.csv", "event_timestamp": "t", "columns": {"any name": "int"}, "null_tokens": ["NA"]}
            }
        },
        view(),
        view(refresh={"every": "7d", "timezone": "America/New_York", "anchor": "2013-11-04"}),
        view(keys={"carrier": "op carrier"}, where="a = 1", availability_delay="2h", allowed_lateness="10m"),
        feature(ttl="30d", default=0, expect={"between": [0, 1.5], "not_null": True}),
        feature(window="lifetime"),
        feature(window={"rows": 10}),
        feature(window={"rows": 1000, "within": "30d"}),
        feature(window={"calendar": "3mo"}),
        feature(default="x", expect={"in_set": ["x", "y"], "max_null_share": 0.1}),
        feature(expect={"matches": "[A-Z]+", "length": [1, 3], "mostly": 0.99}),
        view(expect={"min_rows": 100}),
        {"on_demand_feature_views": {"trip": {"request": {"d": "double"}, "features": {"far": {"sql": "d > 1"}}}}},
        service("load", "load.n", "load as other", "load.n as other"),
        standing_in(None),
        standing_in("default"),
        standing_in({"last_known": "1h"}),
        view(thresholds={"mismatch_share": 0.01, "coverage": 1, "freshness": "26h", "null_share": {"n": 0.5}}),
        {"feature_services": {"s": {"features": ["load"], "thresholds": {"null_share": {"load.n": 0}}}}},
        service(
            {"view": "load", "alias": "a", "keys": {"airport": "dest"}},
            {"view": "load as b"},
            {"view": "load", "as": "c"},
        ),
    ],
)
def test_what_people_write_fits_the_schema(document: Any) -> None:
    assert complaints(document) == []


@pytest.mark.parametrize(
    ("document", "where"),
    [
        ({}, "$"),
        ([], "$"),
        ({"entity": {}}, "$"),
        ({"entities": {}}, "$.entities"),
        ({"entities": {"1b": {"join_keys": {"a": "int"}}}}, "$.entities"),
        ({"entities": {"found": {"join_keys": {"a": "int"}}}}, "$.entities"),
        ({"entities": {"__b": {"join_keys": {"a": "int"}}}}, "$.entities"),
        ({"entities": {"b": {}}}, "$.entities.b"),
        ({"entities": {"b": {"join_keys": {"a": "strin"}}}}, "$.entities.b.join_keys.a"),
        ({"entities": {"b": {"join_keys": {"a b": "string"}}}}, "$.entities.b.join_keys"),
        ({"sources": {"a": {"event_timestamp": "t"}}}, "$.sources.a"),
        ({"sources": {"a": {"event_timestamp": "t", "path": "p", "table": "q"}}}, "$.sources.a"),
        ({"sources": {"a": {"event_timestamp": "t", "path": "p", "format": "orc"}}}, "$.sources.a.format"),
        (view(refresh=1), "$.feature_views.load.refresh"),
        (view(refresh="daily"), "$.feature_views.load.refresh"),
        (view(features={}), "$.feature_views.load.features"),
        (view(features=["n"]), "$.feature_views.load.features"),
        (view(windw="1d"), "$.feature_views.load"),
        (view(thresholds={"mismatches": 0}), "$.feature_views.load.thresholds"),
        (view(thresholds={"coverage": "99 %"}), "$.feature_views.load.thresholds"),
        (view(thresholds={"freshness": 26}), "$.feature_views.load.thresholds"),
        (feature(window=7), "$.feature_views.load.features.n.window"),
        (feature(window="ever"), "$.feature_views.load.features.n.window"),
        (feature(window={"rows": 0}), "$.feature_views.load.features.n.window"),
        (feature(window={"rows": 1001}), "$.feature_views.load.features.n.window"),
        (feature(window={"within": "7d"}), "$.feature_views.load.features.n.window"),
        (feature(window={"calendar": "7h"}), "$.feature_views.load.features.n.window"),
        (feature(window={"calendar": "7d", "rows": 3}), "$.feature_views.load.features.n.window"),
        (feature(window="7d", ttl="1d"), "$.feature_views.load.features.n"),
        (feature(sql=1), "$.feature_views.load.features.n.sql"),
        (feature(name="m"), "$.feature_views.load.features.n"),
        (feature(expect={}), "$.feature_views.load.features.n.expect"),
        (feature(expect={"between": [1]}), "$.feature_views.load.features.n.expect"),
        (service(), "$.feature_services.s.features"),
        (service("a b"), "$.feature_services.s.features[0]"),
        (standing_in("nul"), "$.feature_services.s.on_unavailable"),
        (standing_in({"last_known": 3}), "$.feature_services.s.on_unavailable"),
        (service({"alias": "x"}), "$.feature_services.s.features[0]"),
        (service({"view": "load", "key": {}}), "$.feature_services.s.features[0]"),
    ],
)
def test_what_is_plainly_wrong_is_marked_where_it_stands(document: Any, where: str) -> None:
    assert where in complaints(document)
