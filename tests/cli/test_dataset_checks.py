"""`dataset audit` and `dataset from-log` by command line, on the project that `init` writes."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from featurekit.clock import parse_instant
from featurekit.feature_store import FeatureStore
from tests.cli.conftest import Cli

pytestmark = pytest.mark.spark

LABELS = """\
customer_id,basket_amount,asked_at,outcome
1,40.0,2026-01-08T12:00:00Z,yes
2,10.5,2026-01-07T01:00:00Z,no
99,1.0,2026-01-08T12:00:00Z,no
"""


def test_a_table_is_audited_feature_by_feature(cli: Cli, project: Path) -> None:
    (project / "labels.csv").write_text(LABELS)
    words = ("--labels", "labels.csv", "--timestamp", "asked_at", "--out", "training")
    assert cli("dataset", "build", "checkout", *words).exit_code == 0
    audit = ("dataset", "audit", "training", "--service", "checkout", "--timestamp", "asked_at")
    shown = cli(*audit)
    assert shown.exit_code == 0, shown.stdout
    assert "every value is what serving would have had" in " ".join(shown.stdout.split())

    table = pq.read_table("training")
    at = table.column_names.index("customer_spend.orders_7d")
    orders = pa.array([value + 7 for value in table.column(at).to_pylist()], table.schema.field(at).type)
    pq.write_table(table.set_column(at, "orders", orders), "table.parquet")
    audit = ("dataset", "audit", "table.parquet", *audit[3:])
    missing = cli(*audit)
    assert missing.exit_code == 2
    assert "the table has no column customer_spend.orders_7d" in missing.stderr
    hidden = cli(*audit, "--map", "orders=customer_spend.orders_7d")
    assert hidden.exit_code == 2  # Spark's schema in the file still says the old name
    assert "replace_schema_metadata(None)" in " ".join(hidden.stderr.split())
    pq.write_table(table.set_column(at, "orders", orders).replace_schema_metadata(None), "table.parquet")
    document = cli(*audit, "--map", "orders=customer_spend.orders_7d", "--json").document
    by_name = {feature["feature"]: feature for feature in document["features"]}
    assert by_name["customer_spend.orders_7d"]["verdict"] == "other"
    assert by_name["customer_spend.orders_7d"]["differing"] == 3
    assert by_name["customer_spend.spend_7d"]["verdict"] == "as served"
    found = cli(*audit, "--map", "orders=customer_spend.orders_7d")
    assert found.exit_code == 1
    assert "1 of 4 features is not what serving had" in " ".join(found.stdout.split())
    assert cli(*audit, "--map", "orders").exit_code == 2
    assert cli(*audit, "--tolerance", "customer_spend.spend_7d=few").exit_code == 2


def test_a_training_set_is_made_of_what_was_served(cli: Cli, project: Path) -> None:
    with (project / "featurekit.toml").open("a") as settings:
        settings.write('\n[served_log]\npath = "served"\n')
    assert cli("register").exit_code == 0
    assert cli("materialize", "--at", "2026-01-08T12:00Z").exit_code == 0
    with FeatureStore.from_settings() as store:
        for customer in (1, 2, 99):
            asked = {"customer_id": customer, "basket_amount": 40.0}
            store.lookup("checkout", asked, at=parse_instant("2026-01-08T12:00Z"), request_id=f"r{customer}")
    (project / "outcomes.csv").write_text("request_id,outcome\nr1,yes\nr99,no\nr5,no\n")
    words = ("dataset", "from-log", "served", "--labels", "outcomes.csv", "--service", "checkout", "--recompute")
    shown = cli(*words, "--out", "training")
    assert shown.exit_code == 0, shown.stderr
    assert "2 rows of checkout" in shown.stdout
    assert "labels without a request in the log" in shown.stdout
    assert "served by example/dev" in shown.stdout
    rows = {row["request_id"]: row for row in pq.read_table("training").to_pylist()}
    assert str(rows["r1"]["customer_spend.spend_7d"]) == "61.25"
    assert rows["r99"]["outcome"] == "no"
    document = cli(*words, "--out", "again", "--mature-after", "1d", "--now", "2026-01-10", "--json").document
    assert set(document["differing"].values()) == {0}
    assert (document["rows"], document["labels_without_request"], document["rows_without_label"]) == (2, 1, 1)
    assert cli("dataset", "audit", "training", "--service", "checkout").exit_code == 0
    assert cli(*words, "--out", "again").exit_code == 2
