"""A small store, whole: its keys and values, and what lookups of its two services answer at several instants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal as Exact
from functools import cache
from typing import Any, Final

from featurekit.clock import DAY, HOUR, Instant, parse_instant
from featurekit.expr.nodes import Column
from featurekit.expr.parse import parse_expression
from featurekit.expr.scope import ColumnScope
from featurekit.grid import Grid
from featurekit.on_unavailable import Instead, OnUnavailable
from featurekit.online.client import FeatureClient
from featurekit.online.codec import RowCodec
from featurekit.online.keys import KeySpace, entity_key_encoder
from featurekit.online.publish import PlanBody
from featurekit.online.reason import Reason
from featurekit.online.store import HeadEntry, decode_head, encode_head
from featurekit.plan import LookupPlan, PlanExpression, PlanView
from featurekit.status import Status
from featurekit.types import Field, Float64, Schema, parse_type
from tests.online.servers import NAMESPACE, plan_field, view_plan
from tests.online.vector_values import shown, told_by

TODAY: Final = parse_instant("2013-11-15")
GRID: Final = Grid(DAY, availability_delay=2 * HOUR)
SPEND: Final = view_plan(
    [
        plan_field("orders_7d", parse_type("bigint"), empty=0),
        plan_field("amount_7d", parse_type("double"), default=0.5),
        plan_field("share", parse_type("float")),
        plan_field("paid", parse_type("decimal(20,2)"), default=Exact("-1.00")),
        plan_field("last_city", parse_type("string"), is_latest=True, default="nowhere"),
        plan_field("last_items", parse_type("array<int>"), is_latest=True),
        plan_field("sizes", parse_type("map<string,smallint>"), empty=()),
        plan_field("first_at", parse_type("timestamp")),
        plan_field("is_new", parse_type("boolean"), empty=True),
    ],
    name="spend",
    keys={"user_id": parse_type("bigint")},
    fingerprint="5a" * 32,
    grid=GRID,
)
ROUTE: Final = view_plan(
    [plan_field("delay", parse_type("double")), plan_field("carrier", parse_type("string"), is_latest=True)],
    name="route",
    alias="there",
    keys={"origin": parse_type("string"), "dest": parse_type("string")},
    fingerprint="70" * 32,
    grid=GRID,
)
STOCK: Final = view_plan(
    [plan_field("count", parse_type("int"), default=-1), plan_field("place", parse_type("string"), empty="none")],
    name="stock",
    keys={"item": parse_type("string")},
    fingerprint="57" * 32,
    grid=GRID,
)
_FULL: Final = (7, 12.25, 0.5, Exact("19.99"), "Zürich", (3, None), (("m", 2), ("l", None)), TODAY - 1, False)
_NOTHING: Final = (0, *(None,) * 8)
_OLD: Final = [Status.PRESENT] * 4 + [Status.EXPIRED, Status.MISSING] + [Status.PRESENT] * 3


class Kept:
    """A store that is a dict."""

    name = "a dict"
    reads_at_once = True

    def __init__(self, values: Mapping[bytes, bytes]) -> None:
        self._values = values

    def read(self, keys: Sequence[bytes], *, timeout_s: float | None = None) -> list[bytes | None]:  # noqa: ARG002
        return [self._values.get(key) for key in keys]

    def find(self, prefix: bytes) -> Iterator[bytes]:
        return (key for key in self._values if key.startswith(prefix))

    def close(self) -> None: ...


def stored() -> list[dict[str, str]]:
    """Return the store's content; a value that is no text as hex."""
    return [
        {"key": key.decode(), "hex": value.hex()} if b":{" in key and b":service:" not in key
        else {"key": key.decode(), "text": value.decode()}
        for key, value in _content().items()
    ]  # fmt: skip


def lookups() -> Iterator[dict[str, Any]]:
    """Yield questions and their answers."""
    client = FeatureClient(project=NAMESPACE.project, environment=NAMESPACE.environment, store=Kept(_content()))
    instants = (TODAY, TODAY + 2 * HOUR - 1, TODAY + 2 * HOUR, TODAY + 6 * HOUR, TODAY + DAY + 2 * HOUR)
    asked: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("trip", {"user_id": 1, "origin": "JFK", "dest": "LAX"}, {"price": 24.5}),
        ("trip", {"user_id": 2, "origin": "JFK", "dest": None}, {"price": None}),
        ("trip", {"user_id": 3, "origin": "a,b", "dest": ""}, {"price": 1.0}),
        ("trip", {"user_id": 4, "origin": "broken", "dest": "row"}, {"price": 1.0}),
        ("spend@1", {"user_id": 1}, {}),
        *(("stock", {"item": item}, {}) for item in ("now", "gone", "ahead", "never")),
    ]
    for service, entity, request in asked:
        plan = client.plan(service)
        kinds = {key.request: key.type for key in plan.keys} | {field.name: field.type for field in plan.request.fields}
        for at in instants:
            features = client.lookup(service, entity, request or None, at=at)
            names = features.names
            types = {output.name: output.type for output in features.outputs}
            reasons = zip(names, (Reason(code) for code in features.reasons[0]), strict=True)
            yield {
                "service": service,
                "entity": {name: shown(value, kinds[name]) for name, value in entity.items()},
                "request": {name: shown(value, kinds[name]) for name, value in request.items()},
                "at": str(at),
                "as_of": {view: None if as_of is None else str(as_of) for view, as_of in features.as_of.items()},
                "values": {name: told_by(value, types[name]) for name, value in features.to_dict().items()},
                "statuses": {name: Status(code).name for name, code in zip(names, features.statuses[0], strict=True)},
                "reasons": {name: reason.name for name, reason in reasons if reason},
            }


@cache
def _content() -> dict[bytes, bytes]:
    content: dict[bytes, bytes] = {}
    _refresh(content, SPEND, TODAY, {(1,): _FULL, (2,): _NOTHING})
    _refresh(content, SPEND, TODAY, {(1,): (8, *_FULL[1:]), (4,): _FULL}, restatement=1, visible_from=TODAY + 5 * HOUR)
    _refresh(content, SPEND, TODAY + DAY, {(1,): _FULL}, statuses=_OLD)
    _refresh(
        content, ROUTE, TODAY, {("JFK", "LAX"): (1.5, "UA"), ("a,b", ""): (None, None), ("broken", "row"): (0.0, "B")}
    )
    _refresh(content, ROUTE, TODAY + DAY, {("JFK", "LAX"): (2.5, "DL")})
    # Written in place: one row is left of the refresh before, and one is of the next already.
    _refresh(content, STOCK, TODAY, {("now",): (1, "here")}, visible_from=TODAY + HOUR, live=1)
    codec = RowCodec([Field(field.name, field.type) for field in STOCK.fields], STOCK.fingerprint)
    live = _space(STOCK, TODAY, 0).at(TODAY, 0, 1)
    content[live.row(b"gone")] = codec.encode_row((2, "there"), as_of=TODAY - DAY, last_event=0)
    content[live.row(b"ahead")] = codec.encode_row((None, "soon"), as_of=TODAY + DAY, last_event=0)
    broken = _space(ROUTE, TODAY, 0).row(b"broken,row")
    content[broken] = content[broken][:-1]
    del content[_space(ROUTE, TODAY + DAY, 0).marker]  # dropped: the head still lists it
    for plan, names in (
        (_trip(), ("trip", "trip@1")),
        (_alone(SPEND, "2f"), ("spend", "spend@1")),
        (_alone(STOCK, "3f"), ("stock",)),
    ):
        body = PlanBody.of(plan)
        content[NAMESPACE.plan(plan.service, body.pointer)] = body.content
        content |= {NAMESPACE.pointer(name): body.pointer for name in names}
    content[NAMESPACE.names] = b'["spend", "stock", "trip"]'
    return content


def _space(view: PlanView, as_of: Instant, again: int) -> KeySpace:
    return KeySpace(namespace=NAMESPACE, view=view.view, fingerprint=view.fingerprint, as_of=as_of, restatement=again)


def _refresh(
    content: dict[bytes, bytes],
    view: PlanView,
    as_of: Instant,
    rows: Mapping[tuple[Any, ...], tuple[Any, ...]],
    *,
    statuses: Sequence[Status] | None = None,
    restatement: int = 0,
    visible_from: Instant | None = None,
    live: int | None = None,
) -> None:
    space = _space(view, as_of, restatement).at(as_of, restatement, live)
    codec = RowCodec([Field(field.name, field.type) for field in view.fields], view.fingerprint)
    encode = entity_key_encoder([key.type for key in view.keys])
    for key, values in rows.items():
        (text,) = encode([[part] for part in key])
        assert text is not None
        content[space.row(text)] = codec.encode_row(values, as_of=as_of, last_event=as_of - 1, statuses=statuses)
    content[space.marker] = b"1"
    visible = as_of + 2 * HOUR if visible_from is None else visible_from
    entry = HeadEntry(
        as_of=as_of, restatement=restatement, visible_from=visible, completed_at=visible, rows=len(rows), live=live
    )
    content[space.head] = encode_head(decode_head(content.get(space.head)).with_entry(entry))


def _trip() -> LookupPlan:
    """A service over both views, with on-demand features: one that needs a request value, one that needs a view."""
    price = Column(name="price", type=Float64(), nullable=True)
    amount = Column(name="amount_7d", qualifier="spend", type=Float64(), nullable=False)
    orders = Column(name="orders_7d", qualifier="spend", type=parse_type("bigint"), nullable=False)
    scope = ColumnScope.of((price, amount, orders))
    made = {"ratio": ("price / spend.amount_7d", -1.0), "busy": ("spend.orders_7d > 5", None)}
    on_demand = []
    for name, (text, default) in made.items():
        node = parse_expression(text, scope, aggregates_allowed=False)
        on_demand.append(PlanExpression(name=f"calc.{name}", type=node.type, node=node, default=default))
    outputs = [Field(f"{view.alias}.{field.name}", field.type) for view in (SPEND, ROUTE) for field in view.fields]
    return LookupPlan(
        service="trip",
        fingerprint="1f" * 32,
        views=(SPEND, ROUTE),
        request=Schema((Field("price", Float64()),)),
        on_demand=tuple(on_demand),
        outputs=(*outputs, *(Field(item.name, item.type) for item in on_demand)),
        on_unavailable=OnUnavailable(Instead.NULL),
    )


def _alone(view: PlanView, digits: str) -> LookupPlan:
    """A service of one view, of its name."""
    return LookupPlan(
        service=view.view,
        fingerprint=digits * 32,
        views=(view,),
        request=Schema(()),
        on_demand=(),
        outputs=tuple(Field(f"{view.alias}.{field.name}", field.type) for field in view.fields),
    )
