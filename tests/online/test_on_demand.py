"""On-demand features of many rows are computed over columns: the same answers as one row after the other."""

from __future__ import annotations

from typing import Any

import pytest

from featurekit.clock import DAY, to_datetime
from featurekit.expr.nodes import Column, Node
from featurekit.expr.parse import parse_expression
from featurekit.expr.scope import ColumnScope
from featurekit.online.redis import RedisStore
from featurekit.online.refresh import drop_space
from featurekit.plan import LookupPlan, PlanExpression
from featurekit.status import Status
from featurekit.targets import crossover
from featurekit.types import Boolean, Date, Decimal, Field, Float64, Int64, Schema, String, Timestamp
from tests.online.servers import key_space, materialize, offline_batch, plan_field, view_plan
from tests.online.test_lookup import AS_OF, client_of, publish

VIEW = view_plan(
    [
        plan_field("orders", Int64(), empty=0),
        plan_field("mean", Float64()),
        plan_field("city", String(), is_latest=True),
        plan_field("since", Date(), default=0),
        plan_field("price", Decimal(10, 2)),
    ],
    name="spend",
)
COLUMNS = (
    Column(name="orders", qualifier="spend", type=Int64(), nullable=False),
    Column(name="mean", qualifier="spend", type=Float64(), nullable=True),
    Column(name="city", qualifier="spend", type=String(), nullable=True),
    Column(name="since", qualifier="spend", type=Date(), nullable=False),
    Column(name="price", qualifier="spend", type=Decimal(10, 2), nullable=True),
    Column(name="amount", type=Float64(), nullable=True),
    Column(name="at", type=Timestamp(), nullable=True),
)
FEATURES = {
    "ratio": ("amount / spend.mean", 0.5),
    "more": ("spend.orders + 1", None),
    "days": ("datediff(at, spend.since)", None),
    "label": ("concat(upper(spend.city), CASE WHEN amount > 10 THEN '!' ELSE '?' END)", "none"),
    "is_large": ("amount > spend.mean", False),
    "day": ("CAST(at AS date)", None),
    "twice": ("spend.price * 2", None),
    "plain": ("amount + 1", -1.0),
}


def plan() -> LookupPlan:
    scope = ColumnScope.of(COLUMNS)
    items = []
    for name, (text, default) in FEATURES.items():
        node: Node = parse_expression(text, scope, aggregates_allowed=False)
        items.append(PlanExpression(name=f"calc.{name}", type=node.type, node=node, default=default))
    return LookupPlan(
        service="service",
        fingerprint="d" * 64,
        views=(VIEW,),
        request=Schema((Field("amount", Float64()), Field("at", Timestamp()))),
        on_demand=tuple(items),
        outputs=tuple(Field(item.name, item.type) for item in items),
    )


@pytest.mark.parametrize("is_away", [False, True])
def test_many_rows_over_columns_are_answered_as_one_by_one(
    url: str, store: RedisStore, monkeypatch: pytest.MonkeyPatch, is_away: bool
) -> None:
    publish(store, plan())
    rows: list[dict[str, Any]] = [
        {
            "user_id": user,
            "orders": user * 7,
            "mean": None if user % 5 == 0 else user / 3,
            "city": None if user % 4 == 0 else f"city {user}",
            "since": None if user % 6 == 0 else user * 100,
            "price": None,
        }
        for user in range(100)
    ]
    statuses = [Status.EXPIRED if user % 4 == 0 else Status.PRESENT for user in range(100)]
    materialize(store, url, VIEW, AS_OF, offline_batch(VIEW, rows, {"city": statuses}))
    if is_away:
        drop_space(store, key_space(VIEW, AS_OF))
    users = [user % 130 for user in range(300)]  # from 100 on they have no row
    request: dict[str, list[Any]] = {
        "amount": [None if row % 11 == 0 else row / 7 for row in range(300)],
        "at": [None if row % 13 == 0 else to_datetime(row * DAY + row) for row in range(300)],
    }
    answers = []
    with client_of(url) as client:
        for fewest in (1, 1000):
            monkeypatch.setattr(crossover, "FEWEST_ROWS_OF_VECTORS", fewest)
            answers.append(client.lookup("service", {"user_id": users}, request))
        many, few = answers
        rows_of_many: Any = many.to_dict()
        assert repr(many.to_dict()) == repr(few.to_dict())
        assert many.statuses.tolist() == few.statuses.tolist()
        assert many.reasons.tolist() == few.reasons.tolist()
        assert many.to_arrow().equals(few.to_arrow())
        assert [output.type for output in plan().outputs][4:6] == [Boolean(), Date()]
        one = client.lookup("service", {"user_id": users[37]}, {name: values[37] for name, values in request.items()})
        assert repr(one.to_dict()) == repr(rows_of_many[37])
