"""Runs that feature stores got wrong in public (watermarks, late rows, ranges), by command line, with the right values.

The numbers are those of the table in `tests/offline/test_cases_list.py`.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import Cli, Run

pytestmark = pytest.mark.spark
ASKED = ("lookup", "checkout", "basket_amount=40", "--json")


def well(run: Run) -> Any:
    assert run.exit_code == 0, run.stderr
    return run.document


def kept(project: Path, day: str) -> dict[int, dict[str, Any]]:
    """Return what the history has of customers as of a day of January 2026."""
    (folder,) = project.glob(f".featurekit/history/**/as_of=202601{day}T0000Z*")
    return {row.pop("customer_id"): row for row in pq.read_table(list(folder.glob("*.parquet"))).to_pylist()}


def test_each_day_of_a_range_holds_its_own_day(cli: Cli, project: Path) -> None:  # 27
    well(cli("register", "--json"))
    done = well(cli("materialize", "--from", "2026-01-05T00:00Z", "--json"))["refreshes"]
    assert [one["as_of"][:10] for one in done] == [f"2026-01-0{day}" for day in (5, 6, 7, 8)]
    spent = [kept(project, day)[1]["spend_7d"] for day in ("05", "06", "07", "08")]
    assert spent == [Decimal("20.00"), Decimal("55.50"), Decimal("55.50"), Decimal("61.25")]
    assert 3 not in kept(project, "07")


def test_a_range_into_the_future_is_refused_and_stalls_nothing(
    cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # 17
    well(cli("register", "--json"))
    refused = cli("materialize", "--from", "2026-01-05T00:00Z", "--to", "2027-01-05T00:00Z")
    assert refused.exit_code == 2
    assert "2027-01-05T00:00Z lies in the future" in refused.stderr
    assert well(cli("materialize", "--json"))["refreshes"][0]["as_of"] == "2026-01-08T00:00Z"
    monkeypatch.setenv("FEATUREKIT_NOW", "2026-01-09T12:00Z")
    (after,) = well(cli("materialize", "--json"))["refreshes"]
    assert (after["as_of"], after["is_new"]) == ("2026-01-09T00:00Z", True)


def test_registering_the_same_again_leaves_the_watermark(
    cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # 18
    well(cli("register", "--json"))
    well(cli("materialize", "--json"))
    definitions = project / "feature_defs" / "example.yaml"
    definitions.write_text(definitions.read_text().replace("    refresh: 1d", "    owner: shop\n    refresh: 1d"))
    well(cli("register", "--json"))
    fresh = well(cli("list", "--json"))["feature_views"]["customer_spend"]["freshness"]
    assert fresh["as_of"] == "2026-01-08T00:00Z"
    (again,) = well(cli("materialize", "--json"))["refreshes"]
    assert again["is_new"] is False
    monkeypatch.setenv("FEATUREKIT_NOW", "2026-01-11T12:00Z")
    filled = well(cli("materialize", "--from", "2026-01-08T00:00Z", "--json"))["refreshes"]
    assert [(one["as_of"][:10], one["is_new"]) for one in filled] == [
        ("2026-01-08", False),
        ("2026-01-09", True),
        ("2026-01-10", True),
        ("2026-01-11", True),
    ]


def test_rows_that_land_behind_the_watermark_count_and_replace_nothing_newer(
    cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # 16
    well(cli("register", "--json"))
    well(cli("materialize", "--json"))
    orders = project / "data" / "orders.csv"
    late = "2,100.00,2026-01-07T20:00:00Z,2026-01-08T03:00:00Z\n1,1.00,2026-01-03T00:00:00Z,2026-01-08T03:00:00Z\n"
    orders.write_text(orders.read_text() + late)
    assert served(cli, 2) == {"orders_7d": 2, "spend_7d": "20.25", "last_amount": "8.00"}
    monkeypatch.setenv("FEATUREKIT_NOW", "2026-01-09T12:00Z")
    well(cli("materialize", "--json"))
    assert served(cli, 2) == {"orders_7d": 3, "spend_7d": "120.25", "last_amount": "100.00"}
    assert served(cli, 1) == {"orders_7d": 4, "spend_7d": "62.25", "last_amount": "5.75"}


def served(cli: Cli, customer: int) -> dict[str, Any]:
    row = well(cli(*ASKED, f"customer_id={customer}"))["rows"][0]["features"]
    return {name.partition(".")[2]: value for name, value in row.items() if name.startswith("customer_spend.")}
