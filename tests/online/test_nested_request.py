"""Request values with parts in on-demand expressions: given for one entity, as rows, as columns and as a table."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from featurekit.expr.nodes import Column
from featurekit.expr.parse import parse_expression
from featurekit.expr.scope import ColumnScope
from featurekit.online.redis import RedisStore
from featurekit.plan import LookupPlan, PlanExpression
from featurekit.targets import crossover
from featurekit.types import Field, Float64, Schema, parse_type
from tests.online.servers import materialize, offline_batch, plan_field, view_plan
from tests.online.test_lookup import AS_OF, client_of, publish

VIEW = view_plan([plan_field("norm", Float64())], name="user")
REQUEST = {
    "embedding": parse_type("array<double>"),
    "counts": parse_type("map<string,int>"),
    "place": parse_type("struct<city:string,at:array<int>>"),
}
FEATURES = {
    "dot": "aggregate(transform(embedding, x -> x * user.norm), 0.0D, (acc, x) -> acc + x)",
    "first": "embedding[0]",
    "clicks": "counts['click']",
    "city": "upper(place.city)",
    "last": "element_at(place.at, -1)",
}
EMBEDDING = [[1.0, 2.5], [], None, [None, -0.0]]
COUNTS = [{"click": 3, "view": None}, {}, None, {"view": 1}]
PLACE = [{"city": "lyon", "at": [1, 2]}, {"city": None, "at": None}, None, {"city": "é", "at": []}]
EXPECTED = [
    {"calc.dot": 7.0, "calc.first": 1.0, "calc.clicks": 3, "calc.city": "LYON", "calc.last": 2},
    {"calc.dot": 0.0, "calc.first": None, "calc.clicks": None, "calc.city": None, "calc.last": None},
    {"calc.dot": None, "calc.first": None, "calc.clicks": None, "calc.city": None, "calc.last": None},
    {"calc.dot": None, "calc.first": None, "calc.clicks": None, "calc.city": "É", "calc.last": None},
]


def plan() -> LookupPlan:
    columns = [Column(name=name, type=kind, nullable=True) for name, kind in REQUEST.items()]
    columns.append(Column(name="norm", qualifier="user", type=Float64(), nullable=True))
    scope = ColumnScope.of(columns)
    items = []
    for name, text in FEATURES.items():
        node = parse_expression(text, scope, aggregates_allowed=False)
        items.append(PlanExpression(name=f"calc.{name}", type=node.type, node=node, default=None))
    return LookupPlan(
        service="service",
        fingerprint="e" * 64,
        views=(VIEW,),
        request=Schema(tuple(Field(name, kind) for name, kind in REQUEST.items())),
        on_demand=tuple(items),
        outputs=tuple(Field(item.name, item.type) for item in items),
    )


@pytest.mark.parametrize("fewest", [1, 1000])
def test_arrays_maps_and_structs_of_a_request(
    url: str, store: RedisStore, monkeypatch: pytest.MonkeyPatch, fewest: int
) -> None:
    monkeypatch.setattr(crossover, "FEWEST_ROWS_OF_VECTORS", fewest)
    publish(store, plan())
    rows: list[dict[str, Any]] = [{"user_id": user, "norm": 2.0} for user in range(4)]
    materialize(store, url, VIEW, AS_OF, offline_batch(VIEW, rows, {}))
    users = list(range(4))
    columns: dict[str, Any] = {"embedding": EMBEDDING, "counts": COUNTS, "place": PLACE}
    table = pa.table({name: pa.array(columns[name], _arrow(name)) for name in columns})
    with client_of(url) as client:
        assert client.lookup("service", {"user_id": users}, columns).to_dict() == EXPECTED
        assert client.lookup("service", {"user_id": users}, table).to_dict() == EXPECTED
        each = [{name: values[user] for name, values in columns.items()} for user in users]
        assert client.lookup("service", [{"user_id": user} for user in users], each).to_dict() == EXPECTED
        assert client.lookup("service", {"user_id": 0}, each[0]).to_dict() == EXPECTED[0]


def _arrow(name: str) -> pa.DataType:
    return {
        "embedding": pa.list_(pa.float64()),
        "counts": pa.map_(pa.string(), pa.int32()),
        "place": pa.struct([("city", pa.string()), ("at", pa.list_(pa.int32()))]),
    }[name]
