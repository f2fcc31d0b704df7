"""Compiled definitions as desired state: a change of the definition is named, and by the right half."""

from __future__ import annotations

from pathlib import Path

import pytest

from featurekit.plan import decode_plan
from featurekit.registry.desired import desired_state
from featurekit.registry.diff import (
    Change,
    ServiceDataChanged,
    ServiceMetadataChanged,
    ViewDataChanged,
    ViewMetadataChanged,
    diff,
)
from featurekit.registry.state import Deployed
from tests.registry.definitions import compiled
from tests.registry.states import deployed, registered_service, registered_view


def registered(folder: Path) -> Deployed:
    """The state after the unchanged repo was registered."""
    desired = desired_state(compiled(folder))
    return deployed(
        [registered_view(view) for view in desired.views.values()],
        [registered_service(service) for service in desired.services.values()],
    )


def changes(folder: Path, *edits: tuple[str, str]) -> tuple[Change, ...]:
    return diff(desired_state(compiled(folder, *edits)), registered(folder))


def test_views_are_services_of_their_own_beside_the_declared_ones(tmp_path: Path) -> None:
    services = desired_state(compiled(tmp_path)).services

    assert {name: service.is_own for name, service in services.items()} == {"score": False, "spend": True}


def test_a_key_in_a_sources_query_is_not_kept_and_a_change_of_it_is_named(tmp_path: Path) -> None:
    def edited(secret: str) -> tuple[str, str]:
        return "path: data/orders.csv", f'sql: "SELECT * FROM csv.`s3a://KEY:{secret}@shop/orders`"'

    first, second = (desired_state(compiled(tmp_path, edited(secret))) for secret in ("SECRET", "SECRET2"))

    assert "s3a://shop/orders" in str(first.views["spend"].definition)
    assert "SECRET" not in str(first)
    (changed, *_) = diff(second, deployed([registered_view(first.views["spend"])], []))
    assert isinstance(changed, ViewDataChanged)
    assert changed.differs == ("source.sql",)


def test_a_service_carries_the_plan_that_clients_look_up_with(tmp_path: Path) -> None:
    score = desired_state(compiled(tmp_path)).services["score"]

    plan = decode_plan(score.lookup_plan)

    assert (plan.service, plan.fingerprint) == ("score", score.fingerprint.data)
    assert {view.view: view.fingerprint for view in plan.views} == score.views


def test_the_same_definitions_are_no_change(tmp_path: Path) -> None:
    assert changes(tmp_path) == ()


@pytest.mark.parametrize(
    ("old", "new", "differs"),
    [
        ("sum(amount), window: 7d", "sum(amount), window: 8d", ("amount_7d",)),
        ("sum(amount), window", "sum(amount + 1), window", ("amount_7d",)),
        ("default: 0", "default: 1", ("orders_7d",)),
        ("ttl: 30d", "ttl: 31d", ("last_items",)),
        ("      orders_7d: {sql: count(*), window: 7d, default: 0}\n", "", ("orders_7d",)),
        (
            "    features:\n      amount_7d",
            "    features:\n      more: {sql: max(items), window: 1d}\n      amount_7d",
            ("more",),
        ),
        ("refresh: 1d", "refresh: 6h", ("refresh",)),
        ("availability_delay: 2h", "availability_delay: 3h", ("availability_delay",)),
        ("refresh: 1d", "refresh: 1d\n    allowed_lateness: 10m", ("allowed_lateness",)),
        ("amount > 0", "amount >= 0", ("where",)),
        ("timezone: UTC", "timezone: Europe/Paris", ("source.timezone",)),
        ("timezone: UTC", "timezone: UTC\n    null_tokens: ['NA']", ("source.null_tokens",)),
    ],
)
def test_what_decides_values_is_a_change_of_data_by_name(
    tmp_path: Path, old: str, new: str, differs: tuple[str, ...]
) -> None:
    found = changes(tmp_path, (old, new))

    assert found == (
        ViewDataChanged(name="spend", number=2, differs=differs),
        ServiceDataChanged(name="score", number=2, differs=("spend",)),
        ServiceDataChanged(name="spend", number=2, differs=("spend",)),
    )


@pytest.mark.parametrize(
    ("old", "new", "differs"),
    [
        ("owner: ops", "owner: ml", ("owner",)),
        ("owner: ops", "owner: ops\n    description: What a user spends.", ("description",)),
        ("owner: crm", "owner: sales", ("entity",)),
        ("ttl: 30d}", "ttl: 30d, expect: {not_null: true}}", ("last_items",)),
    ],
)
def test_what_decides_no_value_is_a_change_of_metadata_by_name(
    tmp_path: Path, old: str, new: str, differs: tuple[str, ...]
) -> None:
    found = changes(tmp_path, (old, new))

    assert found == (
        ViewMetadataChanged(name="spend", number=1, differs=differs),
        ServiceMetadataChanged(name="score", number=1, differs=("spend",)),
        ServiceMetadataChanged(name="spend", number=1, differs=("spend",)),
    )


def test_sql_in_another_layout_is_a_change_of_what_is_written_and_of_no_fingerprint(tmp_path: Path) -> None:
    assert changes(tmp_path, ("sum(amount), window", "SUM( amount ), window")) == (
        ViewMetadataChanged(name="spend", number=1, differs=("amount_7d",)),
    )


def test_another_path_is_no_change(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "orders2.csv").write_text("user_id,at,amount,items\n")

    assert changes(tmp_path, ("orders.csv", "orders2.csv")) == ()


def test_an_on_demand_expression_is_a_change_of_the_service_alone(tmp_path: Path) -> None:
    assert changes(tmp_path, ("price / spend.amount_7d", "spend.amount_7d / price")) == (
        ServiceDataChanged(name="score", number=2, differs=("basket.ratio",)),
    )


def test_outputs_in_another_order_are_a_change_of_the_service(tmp_path: Path) -> None:
    assert changes(tmp_path, ("[spend, basket]", "[basket, spend]")) == (
        ServiceDataChanged(name="score", number=2, differs=("outputs",)),
    )
