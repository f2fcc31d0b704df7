"""Reports are what the published schema says: all of them, and all that is in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from featurekit.consistency.replay.report import ReplayReport
from featurekit.consistency.report import ConsistencyReport
from tests.browser.reports import replay_report, right_report, wrong_report
from tests.consistency.test_report import OUTCOMES, report

ROOT = Path(__file__).parents[2]
SCHEMAS: dict[str, dict[str, Any]] = {
    kind: json.loads((ROOT / "docs" / "schemas" / f"{name}-report.schema.json").read_text())
    for kind, name in (("store", "consistency"), ("replay", "replay"))
}
REPORTS: dict[str, ConsistencyReport | ReplayReport] = {
    "a replay": replay_report(),
    "all that can be in one": wrong_report(),
    "all agrees": right_report(),
    "no view": report(),
    **{name: report(view) for name, (view, *_) in OUTCOMES.items()},
}


def check_schema(document: Any) -> None:
    """Raise ValidationError where a report's document is not what the schema says."""
    jsonschema.Draft202012Validator(SCHEMAS[document["kind"]]).validate(document)


@pytest.mark.parametrize("kind", SCHEMAS)
def test_the_schema_is_one(kind: str) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[kind])


@pytest.mark.parametrize("each", REPORTS.values(), ids=REPORTS)
def test_every_report_is_valid(each: ConsistencyReport | ReplayReport) -> None:
    check_schema(json.loads(each.to_json()))


def test_every_part_of_the_schema_is_met_by_a_report() -> None:
    document = json.loads(wrong_report().to_json())
    for path in (
        ("views", 0, "definition"),
        ("views", 0, "strata", 0),
        ("views", 0, "breaches", 0),
        ("views", 0, "expectations", 1),
    ):
        assert part(document, *path)
    field = part(document, "views", 0, "fields", 1)
    assert all(field[name] for name in ("differences", "definition", "trend"))
    assert part(document, "views", 0, "findings", 0, "evidence", 0, "source_rows", 0)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("format",), 1),
        (("views", 0, "outcome"), "fine"),
        (("views", 0, "coverage"), 1.5),
        (("views", 0, "fields", 0, "match"), -1),
        (("views", 0, "findings", 0, "since"), "yesterday"),
        (("more",), 1),
        (("views", 0, "more"), 1),
    ],
)
def test_what_is_no_report_is_not_valid(path: tuple[Any, ...], value: Any) -> None:
    document = json.loads(wrong_report().to_json())
    part(document, *path[:-1])[path[-1]] = value
    with pytest.raises(jsonschema.ValidationError):
        check_schema(document)


def part(document: Any, *path: Any) -> Any:
    """Return what lies under a path."""
    for step in path:
        document = document[step]
    return document
