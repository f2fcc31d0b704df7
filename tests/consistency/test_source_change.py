"""A source without a created timestamp that changed since the refresh: what differs is indeterminate (DESIGN T2)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from featurekit.cli.show_report import report_answer
from featurekit.clock import HOUR
from featurekit.config import Settings
from featurekit.consistency.compare import Verdict
from featurekit.consistency.diagnosis.causes import Cause
from featurekit.consistency.view_report import Outcome
from featurekit.feature_store import FeatureStore
from featurekit.online import embedded
from featurekit.online.keys import KeySpace
from tests.consistency.shop import AT, DEFINITIONS, PLACE, TODAY, write_shop

pytestmark = pytest.mark.spark
UNDATED = DEFINITIONS.replace("    created_timestamp: recorded_at\n", "")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FeatureStore]:
    """The shop whose sales do not say when they landed, refreshed for today."""
    write_shop(tmp_path, definitions=UNDATED)
    settings = Settings(
        root=tmp_path,
        project=PLACE.project,
        environment=PLACE.environment,
        definitions=tmp_path / "feature_defs",
        state=tmp_path / "state",
        now=AT,
        spark_master="local[2]",
        spark_driver_memory="1g",
    )
    with FeatureStore(settings) as store:
        store.register()
        store.materialize(as_of=TODAY)
        yield store
    embedded.stop(tmp_path / "state")


def test_what_differs_after_the_source_changed_is_indeterminate(store: FeatureStore, tmp_path: Path) -> None:
    space = KeySpace(
        namespace=PLACE, view="takings", fingerprint=store.definitions.views["takings"].fingerprint.data, as_of=TODAY
    )
    key = space.row(b"Aachen,5")
    store.online.change(key, lambda _: None)
    report = store.check()
    # Nothing happened to the source: a row that is not there is missing.
    assert (report.views[0].outcome, report.exit_code) == (Outcome.INCONSISTENT, 1)
    assert [finding.cause for finding in report.views[0].findings] == [Cause.MISSING_ROW]

    sales = tmp_path / "data" / "sales.parquet"
    rows = pq.read_table(sales)
    late = rows.slice(0, 1).set_column(4, "sold_at", pa.array([TODAY - HOUR], pa.timestamp("us", tz="UTC")))
    assert late["number"].to_pylist() == [1]
    pq.write_table(pa.concat_tables([rows, late]), sales)
    report = store.check()
    (view,) = report.views
    fields = len(view.fields)
    counts = {field.name: field.counts for field in view.fields}
    # All of the row that is gone, and what one more sale of the first stall on the last day changes.
    assert counts["sales_7d"][Verdict.INDETERMINATE] == 2
    assert (view.outcome, view.findings, view.differing_cells, report.exit_code) == (Outcome.INDETERMINATE, (), 0, 0)
    assert view.indeterminate_cells == report.indeterminate > fields
    assert counts["sales_7d"][Verdict.MATCH] == view.sampled - 2
    assert view.coverage == 1  # whether the row that is gone should be there is open, too
    assert view.source_change == f"{sales} was written again"
    text = " ".join(str(block) for block in report_answer(report).blocks)
    for shown in (text, report.to_html(), report.to_json()):
        assert "indeterminate" in shown.lower()
        assert "was written again" in shown
    assert not report.summary.startswith("Served and recomputed agree")

    # A row that is wrong by itself needs no source to be so.
    store.online.change(key, lambda _: b"no row of ours")
    report = store.check()
    assert [(each.cause, each.count) for each in report.views[0].findings] == [(Cause.BROKEN_ROW, 1)]
    assert (report.views[0].outcome, report.exit_code) == (Outcome.INCONSISTENT, 1)
