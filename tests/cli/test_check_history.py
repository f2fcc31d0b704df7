"""What checks found is listed, drawn by day and shown again from the registry; no Spark and no Redis is needed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from featurekit.clock import DAY
from featurekit.consistency.recording import recorded, recorded_replay
from featurekit.consistency.report import ConsistencyReport
from featurekit.registry.check_run import Retention
from featurekit.registry.registry import Registry
from tests.browser.reports import AS_OF, AT, replay_report, right_report, wrong_report
from tests.cli.conftest import Cli

Keep = Callable[[ConsistencyReport, int], ConsistencyReport]


@pytest.fixture
def registry(project: Path) -> Registry:
    """The registry of the project that `init` writes."""
    folder = project / ".featurekit"
    url = f"sqlite:///{folder / 'registry.db'}"
    return Registry(url, project="example", environment="dev", models=folder / "models")


@pytest.fixture
def keep(registry: Registry) -> Keep:
    """Keeps a report as that of a day."""

    def kept(report: ConsistencyReport, day: int) -> ConsistencyReport:
        views = tuple(
            replace(view, as_of=AS_OF + day * DAY, findings=tuple(replace(each, since=None) for each in view.findings))
            for view in report.views
        )
        daily = replace(report, at=AT + day * DAY, run=None, views=views)
        return recorded(daily, registry.checks, at=daily.at, retention=Retention(), forgotten=lambda: False)

    return kept


def test_runs_are_listed_with_what_they_found(cli: Cli, keep: Keep) -> None:
    for day, report in enumerate((right_report(), wrong_report(), wrong_report())):
        keep(report, day)
    shown = cli("check", "history")
    assert shown.exit_code == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert [line.split()[0] for line in lines[:4]] == ["run", "3", "2", "1"]
    assert "failed" in lines[1]
    assert "null filled with 0" in lines[1]
    assert "passed" in lines[3]
    assert lines[4].strip() == "by day, 2013-11-15 to 2013-11-17: ·██"


def test_a_field_is_followed_through_the_runs(cli: Cli, keep: Keep) -> None:
    for day in (0, 1, 3):
        keep(wrong_report(), day)
    found = cli("check", "history", "--view", "carrier_punctuality", "--field", "mean_delay_7d", "--json").document
    fields = [(run["run"], field) for run in found["runs"] for view in run["views"] for field in view["fields"]]
    assert [(run, field["differing"], field["share"]) for run, field in fields] == [(n, 260, 0.26) for n in (3, 2, 1)]
    assert {cause["since"] for _, field in fields for cause in field["causes"]} == {"2013-11-15T00:00Z"}
    assert "no run of a check is kept of nobody" in cli("check", "history", "--view", "nobody").stdout


def test_a_run_is_shown_again_as_it_was(cli: Cli, keep: Keep, project: Path) -> None:
    first = keep(wrong_report(), 0)
    keep(right_report(), 1)
    assert json.loads(cli("check", "show", "--json").stdout)["run"] == 2
    shown = cli("check", "show", "1", "--html", "page.html", "--report-json", "report.json")
    assert shown.exit_code == 0
    assert (project / "page.html").read_text() == first.to_html()
    assert (project / "report.json").read_text() == first.to_json()
    assert "carrier_punctuality.mean_delay_7d: value mismatch: null filled with 0 (260)" in shown.stdout
    assert (
        "carrier_punctuality.late_share_7d: value mismatch: rounded to float32 (9, 0.75 of what differs)"
        in shown.stdout
    )
    assert "or     previous refresh, which would explain the same" in " ".join(shown.stdout.split("\n"))
    assert "do     Keep doubles as doubles on the way to the store." in shown.stdout


def test_a_replay_is_kept_beside_the_checks_and_shown_as_a_page(cli: Cli, registry: Registry, project: Path) -> None:
    kept = recorded_replay(replay_report(), registry.checks, at=AT, retention=Retention(), forgotten=lambda: False)
    (run,) = cli("check", "history", "--field", "trip.flights_log", "--json").document["runs"]
    assert (run["run"], run["kind"], run["views"][0]["fields"][0]["differing"]) == (1, "replay", 2_000)
    shown = cli("check", "show", "--html", "page.html")
    assert kept.summary in shown.stdout
    assert (project / "page.html").read_text() == kept.to_html()


def test_a_report_is_not_lost_where_the_registry_fails(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    broken = Registry(f"sqlite:///{tmp_path}/file/registry.db", project="p", environment="e", models=tmp_path)
    report = recorded(wrong_report(), broken.checks, at=AT, retention=Retention(), forgotten=lambda: False)
    assert (report.run, report.views) == (wrong_report().run, wrong_report().views)
    assert "This run is not in the history: the registry's folder can't be made" in report.notes[0]
    assert report.notes[0] in report.to_html().replace("&#39;", "'")


def test_entities_that_are_forgotten_while_a_check_runs_are_in_no_kept_evidence(registry: Registry) -> None:
    report = recorded(wrong_report(), registry.checks, at=AT, retention=Retention(), forgotten=lambda: True)
    replay = recorded_replay(replay_report(), registry.checks, at=AT, retention=Retention(), forgotten=lambda: True)
    for kept, number in ((report, 1), (replay, 2)):
        text = registry.checks.document(number)
        assert text == kept.to_json()
        assert "carrier = " not in text
        assert "entities were forgotten while the check ran" in text


def test_what_is_not_kept_is_told_with_what_to_try(cli: Cli, keep: Keep) -> None:
    none = cli("check", "show")
    assert (none.exit_code, "featurekit register" in none.stderr) == (2, True)
    keep(right_report(), 0)
    missing = cli("check", "show", "7")
    assert (missing.exit_code, "there is no run 7" in missing.stderr) == (2, True)
    assert "featurekit check history" in missing.stderr


def test_the_trend_of_a_run_is_what_runs_before_it_found(keep: Keep) -> None:
    keep(right_report(), 0)
    keep(wrong_report(), 1)
    keep(replace(wrong_report(), views=wrong_report().views[:1]), 40)  # more than a month later
    last = keep(wrong_report(), 41)
    days = last.trends["carrier_punctuality"].fields["mean_delay_7d"]
    assert [(day.start - AT) // DAY + 1 for day in days] == [40, 41]
    assert [day.share for day in days] == [0.26, 0.26]
    assert last.views[0].findings[0].since == AS_OF + DAY  # and since when is still known
