"""What docs/evolution.md says of readers and writers of different versions."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from featurekit.clock import DAY, HOUR
from featurekit.errors import CodecError, NewerWireVersionError
from featurekit.expr.infer import call, literal
from featurekit.expr.nodes import Column
from featurekit.online.client import FeatureClient
from featurekit.online.codec import RowCodec
from featurekit.online.publish import PlanBody, publish_plans, switch_services
from featurekit.online.reason import Reason
from featurekit.online.redis import RedisStore
from featurekit.plan import LookupPlan, PlanExpression, PlanView, decode_plan, encode_plan
from featurekit.status import Status
from featurekit.types import Field, Float64, Int64, String
from tests.online.servers import NAMESPACE, key_space, materialize, offline_batch, plan_field, service_plan, view_plan

ROOT = Path(__file__).parents[2]
AS_OF = 20 * DAY
VIEW = view_plan([plan_field("n", Int64()), plan_field("s", String(), default="none")])
PLAN = service_plan(VIEW)


def publish(store: RedisStore, plan: LookupPlan, **changes: Any) -> None:
    """Publish a plan with members of its JSON changed, as another featurekit would."""
    content = json.dumps({**json.loads(encode_plan(plan)), **changes}).encode()
    body = PlanBody(service=plan.service, fingerprint=plan.fingerprint, content=content)
    publish_plans(store, NAMESPACE, [body])
    switch_services(store, NAMESPACE, {body.service: body.pointer})


def fill(store: RedisStore, url: str, view: PlanView, *rows: dict[str, Any]) -> None:
    materialize(store, url, view, AS_OF, offline_batch(view, rows))


def client_of(url: str) -> FeatureClient:
    return FeatureClient(url, project="shop", environment="test", clock=lambda: AS_OF + 12 * HOUR)


def test_members_of_a_plan_that_are_not_known_are_passed_over(url: str, store: RedisStore) -> None:
    views = [{**view, "hint": {"later": 1}} for view in json.loads(encode_plan(PLAN))["views"]]
    publish(store, PLAN, views=views, introduced_later=[1, 2])
    fill(store, url, VIEW, {"user_id": 1, "n": 7, "s": "a"})
    with client_of(url) as client:
        assert client.lookup("service", {"user_id": 1}).to_dict() == {"view.n": 7, "view.s": "a"}


def test_a_plan_of_a_later_format_is_refused_until_the_pointer_leads_back(url: str, store: RedisStore) -> None:
    fill(store, url, VIEW, {"user_id": 1, "n": 7, "s": "a"})
    with client_of(url) as client:
        for _ in range(2):  # the second time with nothing but the pointer moved back
            publish(store, PLAN)
            assert client.lookup("service", {"user_id": 1}).to_dict()["view.n"] == 7
            publish(store, PLAN, format=99)
            with pytest.raises(NewerWireVersionError, match="99"):
                client.lookup("service", {"user_id": 1})


def test_an_expression_that_is_not_known_is_refused() -> None:
    node = call("add", Column(type=Int64(), nullable=True, name="n", qualifier="view"), literal(1))
    item = PlanExpression(name="on.x", type=node.type, node=node, default=None)
    plan = replace(PLAN, on_demand=(item,), outputs=(Field("on.x", node.type),))
    assert decode_plan(encode_plan(plan)) == plan
    for old, new in (
        (b'"add"', b'"a_function_of_later"'),
        (b'{"version": 1, "node": {"call"', b'{"version": 2, "node": {"call"'),
    ):
        content = encode_plan(plan).replace(b'":', b'": ').replace(b',"', b', "').replace(old, new)
        assert new in content
        with pytest.raises(CodecError):
            decode_plan(content)


def test_rows_of_a_later_wire_version_are_unavailable_and_others_are_not(url: str, store: RedisStore) -> None:
    publish(store, PLAN)
    fill(store, url, VIEW, *({"user_id": user, "n": user, "s": "a"} for user in (1, 2, 3)))
    for user, header in ((1, b"\x02\x00"), (2, b"\x01\x80")):
        key = key_space(VIEW, AS_OF).row(b"%d" % user)
        (row,) = store.read([key])
        assert row is not None
        store.write({key: header + row[2:]})
    with client_of(url) as client:
        found = client.lookup("service", {"user_id": [1, 2, 3]})
    assert found.status("view.n").tolist() == [Status.UNAVAILABLE, Status.UNAVAILABLE, Status.PRESENT]
    assert found.reasons[:2].tolist() == [[Reason.NEWER_ROW] * 2] * 2
    assert found.to_dict()[2] == {"view.n": 3, "view.s": "a"}


def test_two_definitions_of_a_view_are_read_side_by_side(url: str, store: RedisStore) -> None:
    later = view_plan([*VIEW.fields, plan_field("x", Float64())], fingerprint="fedcba9876543210" * 4)
    publish(store, PLAN)
    publish(store, service_plan(later, name="later", fingerprint="e" * 64))
    fill(store, url, VIEW, {"user_id": 1, "n": 7, "s": "old"})
    fill(store, url, later, {"user_id": 1, "n": 8, "s": "new", "x": 0.5})
    with client_of(url) as client:
        assert client.lookup("service", {"user_id": 1}).to_dict() == {"view.n": 7, "view.s": "old"}
        assert client.lookup("later", {"user_id": 1}).to_dict() == {"view.n": 8, "view.s": "new", "view.x": 0.5}


def test_definitions_that_share_their_keys_are_told_apart_by_their_rows(url: str, store: RedisStore) -> None:
    # Eight digits alike: both write under the same keys, and the second overwrites the first.
    other = replace(
        VIEW, fingerprint=VIEW.fingerprint[:8] + "f" * 56, fields=(VIEW.fields[0], plan_field("s", Int64()))
    )
    publish(store, PLAN)
    fill(store, url, VIEW, {"user_id": 1, "n": 7, "s": "a"})
    fill(store, url, other, {"user_id": 1, "n": 8, "s": 9})
    assert key_space(VIEW, AS_OF).row(b"1") == key_space(other, AS_OF).row(b"1")
    with client_of(url) as client:
        found = client.lookup("service", {"user_id": 1})
    assert found.reasons.tolist() == [[Reason.FOREIGN_ROW] * 2]
    assert found.to_dict() == {"view.n": None, "view.s": None}


@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 7, 8, 9, 69, 70])
def test_fields_of_any_number_have_their_statuses_and_values(count: int) -> None:
    codec = RowCodec([Field(f"f{i}", Int64()) for i in range(count)], "ab" * 32)
    statuses = [Status(i % 4) for i in range(count)]
    values = [i if status is Status.PRESENT else None for i, status in enumerate(statuses)]
    row = codec.encode_row(values, as_of=1, last_event=2, statuses=statuses)
    # The header, eight bytes a field, and a byte for each four fields begun.
    assert len(row) == 24 + 8 * count + (count + 3) // 4
    found = codec.decode_row(row)
    assert (list(found.values), list(found.statuses)) == (values, statuses)


def test_each_claim_of_the_page_has_its_test() -> None:
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs" / "evolution.md").read_text(encoding="utf-8")))
    tests = "\n".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    assert len(named) > 8
    assert [name for name in sorted(named) if f"def {name}(" not in tests] == []
