"""`lookup`, `list`, `status` on a project that is served."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from featurekit.online.refresh import drop_space
from tests.cli.conftest import Cli
from tests.cli.served import Served, registered_project

ASKED = ("lookup", "checkout", "customer_id=1", "basket_amount=40")
WATCHED = """
import sys
from featurekit.cli.app import main
heavy = ("pyspark", "pandas", "sqlalchemy", "onnxruntime", "great_expectations")
try:
    main()
finally:
    print([name for name in heavy if name in sys.modules], file=sys.stderr)
"""


def test_lookup_shows_values_statuses_and_their_age(cli: Cli, served: Served) -> None:
    shown = cli(*ASKED)
    assert shown.exit_code == 0, shown.stderr
    lines = [line.split() for line in shown.stdout.splitlines()]
    assert ["customer_spend.orders_7d", "3", "PRESENT"] in lines
    assert ["customer_spend.spend_7d", "61.25", "PRESENT"] in lines
    assert "as of 2026-01-08T00:00Z  12h old" in shown.stdout
    (row,) = cli(*ASKED, "--json").document["rows"]
    assert row["keys"] == {"customer_id": 1}
    assert row["features"]["customer_spend.last_amount"] == "5.75"
    assert row["statuses"]["basket.times_usual"] == "PRESENT"


def test_an_entity_nobody_has_seen_is_told_by_status_and_default(cli: Cli, served: Served) -> None:
    shown = cli("lookup", "checkout", "customer_id=99", "basket_amount=40", "--json")
    assert shown.exit_code == 0
    statuses = shown.document["rows"][0]["statuses"]
    assert statuses["customer_spend.last_amount"] == "MISSING"
    assert statuses["customer_spend.orders_7d"] == "PRESENT"  # of no events, count is 0


def test_rows_of_a_file_are_looked_up_together(cli: Cli, served: Served, folder: Path) -> None:
    rows = [{"customer_id": number, "basket_amount": 10.5} for number in range(1, 12)]
    (folder / "rows.json").write_text(json.dumps(rows))
    shown = cli("lookup", "checkout", "--file", "rows.json")
    assert shown.exit_code == 0, shown.stderr
    assert "the first 8 of 11 rows" in shown.stdout
    assert "MISSING" in shown.stdout
    assert len(cli("lookup", "checkout", "--file", "rows.json", "--json").document["rows"]) == 11


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["customer_id=one", "basket_amount=40"], "customer_id is 'one', which is no bigint"),
        (["customer_id=9223372036854775808", "basket_amount=40"], "customer_id"),
        (["customer_id=1"], "basket_amount is missing"),
        (["customer_id=1", "basket_amount=40", "basket=1"], "asks for no basket"),
        (["customer_id", "basket_amount=40"], "'customer_id' is not name=value"),
    ],
)
def test_an_entity_key_of_the_wrong_type_exits_with_2(cli: Cli, served: Served, words: list[str], says: str) -> None:
    shown = cli("lookup", "checkout", *words)
    assert shown.exit_code == 2
    assert says in shown.stderr
    assert shown.stdout == ""


def test_a_file_with_a_key_of_the_wrong_type_exits_with_2(cli: Cli, served: Served, folder: Path) -> None:
    (folder / "rows.json").write_text('[{"customer_id": 1.0, "basket_amount": 40}]')
    shown = cli("lookup", "checkout", "--file", "rows.json")
    assert shown.exit_code == 2
    assert "customer_id is 1.0, a float" in shown.stderr
    assert cli("lookup", "checkout", "customer_id=1", "--file", "rows.json").exit_code == 2


def test_a_service_that_was_never_registered_exits_with_2(cli: Cli, served: Served) -> None:
    shown = cli("lookup", "chekout", "customer_id=1")
    assert shown.exit_code == 2
    assert "service 'chekout' is not registered" in shown.stderr
    assert "did you mean checkout?" in shown.stderr
    assert cli("lookup", "chekout", "customer_id=1", "--json").document["error"] == "NotRegisteredError"


def test_a_key_space_that_was_dropped_exits_with_3_and_says_so(cli: Cli, served: Served) -> None:
    drop_space(served.store, served.space)
    shown = cli(*ASKED)
    assert shown.exit_code == 3
    assert "customer_spend is UNAVAILABLE: the key space of its refresh was dropped or has expired" in shown.stdout
    assert "featurekit materialize customer_spend --restate" in shown.stdout
    document = cli(*ASKED, "--json").document
    assert [each["view"] for each in document["unavailable"]] == ["customer_spend", "basket"]
    assert document["rows"][0]["statuses"]["customer_spend.orders_7d"] == "UNAVAILABLE"


def test_a_view_that_was_never_materialized_is_unavailable_and_not_missing(cli: Cli, registered: Served) -> None:
    shown = cli(*ASKED)
    assert shown.exit_code == 3
    assert "featurekit materialize customer_spend" in shown.stdout
    assert "MISSING" not in shown.stdout


def test_what_stands_in_for_a_view_without_a_refresh_is_told_beside_what_is_unavailable(
    cli: Cli, project: Path
) -> None:
    written = project / "feature_defs" / "example.yaml"
    text = written.read_text()
    written.write_text(text.replace("[customer_spend, basket]}", "[customer_spend, basket], on_unavailable: default}"))
    with registered_project(project):
        shown = cli(*ASKED)
        document = cli(*ASKED, "--json").document
    assert shown.exit_code == 3  # spend_7d has no default
    assert "customer_spend is degraded: no refresh of it is visible at that time" in shown.stdout
    (row,) = document["rows"]
    assert (row["features"]["customer_spend.orders_7d"], row["features"]["customer_spend.spend_7d"]) == (0, None)
    assert row["statuses"]["customer_spend.orders_7d"] == "DEFAULTED"
    assert row["statuses"]["customer_spend.spend_7d"] == "UNAVAILABLE"
    assert [each["view"] for each in document["degraded"]] == ["customer_spend"]
    explained = cli("explain", "checkout")
    assert "the features' defaults; those without one are UNAVAILABLE" in " ".join(explained.stdout.split())


def test_a_time_before_the_refreshes_that_the_store_keeps_is_told_as_that(cli: Cli, served: Served) -> None:
    past = (*ASKED, "--at", "2026-01-05T00:00Z")
    shown = cli(*past)
    assert shown.exit_code == 3
    said = " ".join(shown.stdout.split())
    assert "customer_spend is UNAVAILABLE: the store keeps the last few refreshes alone" in said
    assert "featurekit history show customer_spend" in said
    assert "featurekit materialize" not in said
    told = {each["view"]: each["why"] for each in cli(*past, "--json").document["unavailable"]}
    assert told["basket"] == "a feature that it is computed from is UNAVAILABLE"
    drop_space(served.store, served.space)  # now nothing answers, and materializing helps
    assert "featurekit materialize customer_spend" in cli(*past).stdout


def test_a_redis_that_is_away_exits_with_3(cli: Cli, project: Path) -> None:
    shown = cli(*ASKED, "--redis-url", "redis://127.0.0.1:1")
    assert shown.exit_code == 3
    assert "the online store can't be reached" in shown.stderr
    assert "where  redis://127.0.0.1:1" in shown.stderr
    assert cli(*ASKED, "--redis-url", "redis://127.0.0.1:1", "--json").document["exit_code"] == 3


def test_lookup_loads_neither_spark_nor_pandas(program: Cli, served: Served) -> None:
    (served.settings.root / "watched.py").write_text(WATCHED)
    shown = program(*ASKED, script="watched.py")
    assert shown.exit_code == 0, shown.stderr
    assert shown.stderr == "[]\n"


def test_list_tells_what_is_defined_beside_what_is_registered(cli: Cli, served: Served) -> None:
    shown = cli("list")
    assert shown.exit_code == 0, shown.stderr
    assert "never materialized" in shown.stdout  # nothing went through the registry's refreshes here
    document = cli("list", "--json").document
    assert document["entities"] == {"customer": {"customer_id": "bigint"}}
    assert document["feature_views"]["customer_spend"]["state"] == "v1"
    assert document["feature_services"]["checkout"]["serving"] == 1
    definitions = served.settings.definitions / "example.yaml"
    definitions.write_text(definitions.read_text().replace("ttl: 30d", "ttl: 31d"))
    changed = cli("list", "--json").document
    assert changed["feature_views"]["customer_spend"]["state"] == "changed since v1"
    assert "changed since v1" in cli("list").stdout


def test_list_of_a_new_project_says_that_all_is_new_and_makes_no_registry(cli: Cli, project: Path) -> None:
    shown = cli("list", "--json")
    assert shown.document["feature_views"]["customer_spend"]["state"] == "new"
    assert cli("status", "--json").document["registered"] is None
    assert not (project / ".featurekit").exists()


def test_status_tells_what_is_served(cli: Cli, served: Served) -> None:
    document = cli("status", "--json").document
    assert document["store"]["running"] is True
    assert document["registered"]["services"] == {"checkout": 1}
    shown = cli("status").stdout
    assert "customer_spend  v1" in shown
    assert "checkout" in shown
