"""What a report says of a definition: as it was written, and from which columns to which services a value goes."""

from __future__ import annotations

import pytest

from featurekit.consistency.described import DescribedField, DescribedSlot, DescribedView, describe_view
from tests.consistency.shop import DEFINITIONS, write_shop

MORE = (
    DEFINITIONS.replace("    refresh: 1d\n", "    refresh: 1d\n    where: amount >= 0\n    owner: till\n")
    + """
on_demand_feature_views:
  basket:
    features:
      above: {sql: takings.total_1d - takings.mean_7d}
feature_services:
  all_of_it: {features: [takings]}
  two: {features: [takings.busy, basket]}
"""
)


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> DescribedView:
    compiled = write_shop(tmp_path_factory.mktemp("shop"), definitions=MORE)
    return describe_view(compiled.views["takings"], compiled.services.values())


def field(described: DescribedView, name: str) -> DescribedField:
    found = described.field(name)
    assert found is not None
    return found


def test_a_view_is_told_as_it_was_written(described: DescribedView) -> None:
    assert (described.entity, described.keys, described.owner) == ("stall", ("town", "number"), "till")
    assert (described.source, described.origin) == ("sales", "data/sales.parquet")
    assert (described.event_timestamp, described.created_timestamp) == ("sold_at", "recorded_at")
    assert described.where == "amount >= 0"
    assert "1d" in described.refresh


def test_a_feature_is_told_as_it_was_written(described: DescribedView) -> None:
    total, latest = field(described, "total_1d"), field(described, "last_item")
    assert (total.sql, total.default, total.ttl, total.owner) == ("sum(amount)", "0.0", "", "till")
    assert (latest.sql, latest.default, latest.ttl) == ("item", "nothing", "2d")
    assert field(described, "mean_7d").expect == "between: [0, 1000], not_null: true"


def test_the_way_of_a_value_begins_at_the_columns_that_decide_it(described: DescribedView) -> None:
    (slot,) = field(described, "mean_1d").slots
    assert slot == DescribedSlot(name=slot.name, aggregate="avg(`amount`)", rows="the last 1d", columns=("amount",))
    (count,) = field(described, "sales_7d").slots
    assert (count.aggregate, count.columns) == ("count(*)", ("amount",))  # by the view's condition
    (latest,) = field(described, "last_item").slots
    assert (latest.rows, latest.columns) == ("the latest row", ("item", "amount"))
    assert slot.name in field(described, "mean_1d").spark_sql


def test_the_way_of_a_value_ends_at_the_services_that_answer_it_or_compute_from_it(described: DescribedView) -> None:
    assert field(described, "busy").services == ("all_of_it", "two")
    assert field(described, "total_1d").services == ("all_of_it", "two")  # on demand, in the second
    assert field(described, "mean_1d").services == ("all_of_it",)
    assert described.field("nobody") is None
