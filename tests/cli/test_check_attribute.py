"""What `check attribute` prints: the loss with its interval, what cost it, and no cost where none can be told."""

from __future__ import annotations

import json
from dataclasses import fields
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from onnx import helper

from featurekit.cli.check_attribute import By, lost
from featurekit.cli.render import Output
from featurekit.clock import parse_instant
from featurekit.consistency.attribution.attribution import Attribution, Estimate, Part
from featurekit.consistency.attribution.metrics import Metric
from featurekit.feature_store import FeatureStore
from featurekit.from_log_values import LogCount
from featurekit.model_loss import ModelLoss
from tests.cli.conftest import Cli
from tests.serving.onnx_models import save, tensor

NOTHING = Estimate(0.0, 0.0, 0.0)


def loss(gap: Estimate, *parts: Part, orders: int | None = None, **counts: int) -> ModelLoss:
    count = dict.fromkeys((field.name for field in fields(LogCount)), 0)
    told = Attribution(
        metric=Metric.AUC,
        rows=1200,
        requests=1000,
        served=Estimate(0.70, 0.68, 0.72),
        recomputed=Estimate(0.70 + gap.value, 0.69, 0.75),
        gap=gap,
        parts=parts,
        resamples=200,
        orders=orders,
        seed=0,
    )
    counted = LogCount(**count | counts)
    return ModelLoss(model="delay v1", service="trips", label="late", count=counted, attribution=told)


def part(name: str, cost: Estimate, share: float | None) -> Part:
    return Part(name=name, fields=(name,), cells=40, rows=40, cost=cost, alone=cost, share=share)


def test_a_loss_is_shown_with_what_cost_it(capsys: pytest.CaptureFixture[str]) -> None:
    found = loss(
        Estimate(0.03, 0.02, 0.04),
        part("carrier.mean_delay", Estimate(0.025, 0.015, 0.035), 0.83),
        part("trip.gap", Estimate(0.005, -0.001, 0.011), 0.17),
        unavailable=3,
        degraded=2,
    )
    Output().answer(lost(found, By.FIELD))
    text = capsys.readouterr().out
    assert "the model lost by what it was served" in text
    assert [line for line in text.splitlines() if "carrier.mean_delay" in line and "83%" in line and "0.0250" in line]
    assert "0.0200 to 0.0400" in text
    assert "all orders" in text
    assert "5 rows that the store could not answer in full, left out" in text


@pytest.mark.parametrize(
    ("gap", "parts", "verdict"),
    [
        (NOTHING, (), "what was served is what training says"),
        (Estimate(0.003, -0.002, 0.008), (part("a.b", NOTHING, None),), "can't be told from 0"),
        (Estimate(-0.02, -0.03, -0.01), (part("a.b", Estimate(-0.02, -0.03, -0.01), 1.0),), "the model did better"),
    ],
)
def test_what_is_no_loss_is_not_shown_as_one(
    gap: Estimate, parts: tuple[Part, ...], verdict: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Output().answer(lost(loss(gap, *parts, orders=64), By.CAUSE))
    text = capsys.readouterr().out
    assert verdict in text
    assert "the model lost" not in text
    assert ("64 random orders" in text) is bool(parts)


def test_the_document_has_all_of_it() -> None:
    answer = lost(loss(Estimate(0.03, 0.02, 0.04), part("a.b", Estimate(0.03, 0.02, 0.04), 1.0)), By.FIELD)
    document: dict[str, Any] = json.loads(json.dumps(answer.document))
    assert document["gap"] == {"value": 0.03, "low": 0.02, "high": 0.04}
    assert document["gap_is_nonzero"] is True
    assert document["parts"] == [
        {
            "name": "a.b",
            "fields": ["a.b"],
            "cost": {"value": 0.03, "low": 0.02, "high": 0.04},
            "share": 1.0,
            "alone": {"value": 0.03, "low": 0.02, "high": 0.04},
            "rows": 40,
            "values": 40,
        }
    ]
    assert (document["model"], document["metric"], document["by"]) == ("delay v1", "auc", "field")
    assert answer.exit_code == 0


def serve_without_spend(cli: Cli, project: Path) -> None:
    """Look three customers up, and write into the log that nobody spent anything."""
    with (project / "featurekit.toml").open("a") as settings:
        settings.write('\n[served_log]\npath = "served"\n')
    for words in (("register",), ("materialize", "--at", "2026-01-08T12:00Z")):
        assert cli(*words).exit_code == 0
    with FeatureStore.from_settings() as store:
        for customer in (1, 2, 3):
            asked = {"customer_id": customer, "basket_amount": 40.0}
            store.lookup("checkout", asked, at=parse_instant("2026-01-08T12:00Z"), request_id=f"r{customer}")
    (file,) = (project / "served" / "checkout").glob("*.parquet")
    table = pq.read_table(file)
    spend = table.schema.get_field_index("customer_spend.spend_7d")
    nothing = pa.array([Decimal(0)] * table.num_rows, table.schema.field(spend).type)
    pq.write_table(table.set_column(spend, table.schema.field(spend), nothing), file)


@pytest.mark.spark
@pytest.mark.long
def test_a_log_labels_and_a_model_are_all_that_it_takes(cli: Cli, project: Path) -> None:
    serve_without_spend(cli, project)
    names = ["customer_spend.orders_7d", "customer_spend.spend_7d", "customer_spend.last_amount", "basket.times_usual"]
    model = total(project / "total.onnx", names)
    (project / "outcomes.csv").write_text("request_id,spent,said\nr1,61.25,a\nr2,20.25,b\nr3,99.9,c\n")
    words = ("check", "attribute", "served", "--labels", "outcomes.csv", "--metric", "rmse", "--model")
    assert cli("model", "register", "total", "--onnx", str(model), "--service", "checkout").exit_code == 0

    shown = cli(*words, "total@1", "--label", "spent")
    assert shown.exit_code == 0, shown.stderr
    assert "the model lost by what it was served" in shown.stdout
    document = cli(*words, "total.onnx", "--service", "checkout", "--label", "spent", "--json").document
    assert [part["name"] for part in document["parts"]] == ["customer_spend.spend_7d"]
    assert (document["rows"], document["recomputed"]["value"]) == (3, pytest.approx(0, abs=1e-5))
    by_cause = cli(*words, "total", "--label", "spent", "--by", "cause", "--json").document
    assert [part["fields"] for part in by_cause["parts"]] == [["customer_spend.spend_7d"]]
    assert by_cause["gap"]["value"] == document["gap"]["value"]

    for label, what in (("said", "label said is string, no number"), ("price", "have no column price")):
        refused = cli(*words, "total", "--label", label)
        assert (refused.exit_code, what in refused.stderr) == (2, True)
    assert cli(*words, "total.onnx", "--label", "spent").exit_code == 2  # for which service


def total(path: Path, columns: list[str]) -> Path:
    """A model that answers what a customer spent: its second column."""
    nodes = [
        helper.make_node("Constant", [], ["second"], value_ints=[1]),
        helper.make_node("Gather", ["features", "second"], ["answer"], axis=1),
    ]
    return save(path, nodes, [tensor("features", ["rows", 4])], [tensor("answer", ["rows", 1])], columns=columns)
