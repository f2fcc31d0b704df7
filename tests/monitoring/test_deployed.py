"""The dashboard and the alert rules ask for metrics that are shown, by labels that they have."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from featurekit.monitoring.batch import exposition
from tests.monitoring.test_batch import STATE

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
RULES = yaml.safe_load((DEPLOY / "prometheus" / "featurekit.rules.yml").read_text())
DASHBOARD = json.loads((DEPLOY / "grafana" / "featurekit.json").read_text())
ALERTS = [rule for group in RULES["groups"] for rule in group["rules"]]
ADDED = {"instance", "job"}  # by Prometheus, to all that it scrapes


def known() -> dict[str, set[str]]:
    """Return the labels of each metric: of a server as its page tells, which a test holds to what it shows."""
    page = (ROOT / "docs" / "serving.md").read_text()
    rows = [line.split("|")[1:3] for line in page.splitlines() if line.startswith("| `featurekit_")]
    found = {
        name: set(re.findall(r"`(\w+)`", labels)) for names, labels in rows for name in re.findall(r"`(\w+)`", names)
    }
    for family in text_string_to_metric_families(exposition(lambda: STATE).decode()):
        found[family.name] = {label for sample in family.samples for label in sample.labels}
    return found


def panels() -> Iterator[tuple[str, str]]:
    for panel in DASHBOARD["panels"]:
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"]


QUERIES = [*((rule["alert"], rule["expr"]) for rule in ALERTS), *panels()]


@pytest.mark.parametrize(("name", "query"), QUERIES, ids=[name for name, _ in QUERIES])
def test_a_query_names_metrics_and_labels_that_there_are(name: str, query: str) -> None:
    metrics = known()
    used = [re.sub(r"_(bucket|sum|count)$", "", word) for word in re.findall(r"featurekit_\w+", query)]
    assert used
    assert set(used) <= metrics.keys()
    labels = set(re.findall(r"[{,]\s*(\w+)\s*(?:=~|!~|!=|=)", query))
    for group in re.findall(r"(?:by|on)\s*\(([^)]*)\)", query):
        labels |= {label.strip() for label in group.split(",")}
    assert labels - {"le"} <= set.union(*(metrics[each] for each in used)) | ADDED


def test_every_panel_and_every_label_it_shows_is_there() -> None:
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(ids) == len(set(ids))
    metrics = known()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        for target in panel.get("targets", ()):
            used = re.findall(r"featurekit_\w+", target["expr"])
            names = [re.sub(r"_(bucket|sum|count)$", "", word) for word in used]
            shown = set(re.findall(r"{{(\w+)}}", target["legendFormat"]))
            assert shown <= set.union(*(metrics[each] for each in names)), panel["title"]
            assert target["datasource"]["uid"] == "${datasource}"


def test_every_batch_metric_is_on_the_page_with_its_labels() -> None:
    page = (ROOT / "docs" / "operations.md").read_text()
    for family in text_string_to_metric_families(exposition(lambda: STATE).decode()):
        labels = {label for sample in family.samples for label in sample.labels}
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `{family.name}` |")]
        assert set(re.findall(r"`(\w+)`", row.split("|")[2])) == labels


def test_every_alert_says_what_it_means_and_has_a_place_in_the_runbook() -> None:
    page = (ROOT / "docs" / "operations.md").read_text()
    for rule in ALERTS:
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert rule["annotations"].keys() == {"summary", "description"}
        assert f"| `{rule['alert']}` |" in page


def test_every_alert_is_tested_to_fire_and_not_to() -> None:
    tests: dict[str, Any] = yaml.safe_load((DEPLOY / "prometheus" / "featurekit.rules.test.yml").read_text())
    names = {rule["alert"] for rule in ALERTS}
    well, wrong = tests["tests"]
    assert {one["alertname"] for one in well["alert_rule_test"]} == names
    (firing,) = wrong["promql_expr_test"]
    assert {re.findall(r'"(\w+)"', one["labels"])[0] for one in firing["exp_samples"]} == names


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed: Debian's package prometheus")
def test_prometheus_itself_takes_the_rules_and_they_fire() -> None:
    for words in (["check", "rules", "featurekit.rules.yml"], ["test", "rules", "featurekit.rules.test.yml"]):
        done = subprocess.run(["promtool", *words], cwd=DEPLOY / "prometheus", capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
