"""Bad input gets a message with a place, a reason and a next step, and its exit code; nothing is left half-done."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import Cli

MOMENT = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.fixture
def parquet(project: Path) -> Path:
    """A project whose source is a Parquet file, which is returned."""
    file = project / "data" / "orders.parquet"
    columns = {
        "customer_id": pa.array([1, 2], pa.int64()),
        "amount": pa.array([Decimal("1.50"), Decimal("2.50")], pa.decimal128(10, 2)),
        "ordered_at": pa.array([MOMENT, MOMENT], pa.timestamp("us", tz="UTC")),
        "recorded_at": pa.array([MOMENT, MOMENT], pa.timestamp("us", tz="UTC")),
    }
    pq.write_table(pa.table(columns), file)
    definitions = project / "feature_defs" / "example.yaml"
    kept = [line for line in definitions.read_text().splitlines() if not line.startswith("    columns:")]
    definitions.write_text("\n".join(kept).replace("orders.csv", "orders.parquet"))
    return file


def shows(cli: Cli, exit_code: int, *texts: str, command: tuple[str, ...] = ("validate",)) -> None:
    """Run a command both ways and look for the texts in what people read, and for the four parts in the JSON."""
    shown = cli(*command)
    assert shown.exit_code == exit_code, shown.stdout
    assert shown.stdout == ""
    for text in texts:
        assert text in shown.stderr
    document = cli(*command, "--json").document
    assert document["exit_code"] == exit_code
    for error in document.get("mistakes", [document]):
        assert error["what"]
        assert error["where"]
        assert error["why"] or error["try"]


def test_a_good_parquet_file_is_valid(cli: Cli, parquet: Path) -> None:
    shown = cli("validate")
    assert shown.exit_code == 0, shown.stderr


def test_a_source_path_that_does_not_exist(cli: Cli, parquet: Path) -> None:
    parquet.unlink()
    shows(cli, 2, "does not exist", "orders.parquet", "feature_defs/example.yaml:8:")


def test_a_parquet_file_cut_short(cli: Cli, parquet: Path) -> None:
    parquet.write_bytes(parquet.read_bytes()[:-20])
    shows(cli, 2, "orders.parquet", "feature_defs/example.yaml:8:")


def test_a_timestamp_column_of_strings(cli: Cli, parquet: Path) -> None:
    table = pq.read_table(parquet)
    at = table.schema.get_field_index("ordered_at")
    pq.write_table(table.set_column(at, "ordered_at", pa.array(["2026-01-02", "soon"])), parquet)
    shows(cli, 2, "event_timestamp ordered_at is string", "CAST(ordered_at AS TIMESTAMP)")


def test_a_timestamp_column_without_a_zone(cli: Cli, parquet: Path) -> None:
    table = pq.read_table(parquet)
    at = table.schema.get_field_index("ordered_at")
    naive = table.column("ordered_at").cast(pa.timestamp("us"))
    pq.write_table(table.set_column(at, "ordered_at", naive), parquet)
    shows(cli, 2, "ordered_at has no zone", "America/New_York")


def test_a_bad_definition_shows_every_mistake(cli: Cli, project: Path) -> None:
    definitions = project / "feature_defs" / "example.yaml"
    text = definitions.read_text().replace("count(*)", "rand()").replace("sum(amount)", "sum(amuont)")
    definitions.write_text(text)
    shows(cli, 2, "rand", "amuont", "2 mistakes in the definitions")
