"""What is particular to a cluster: slots that move, nodes that lose their data, reads that are not one instant."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pytest

from featurekit.clock import DAY
from featurekit.errors import OnlineStoreError, OnlineStoreTimeoutError
from featurekit.online.client import FeatureClient
from featurekit.online.publish import PlanBody, publish_plans, switch_services
from featurekit.online.reason import Reason
from featurekit.online.redis.links import Links
from featurekit.online.redis.pipeline import RowPipeline
from featurekit.online.redis.slots import slot_of, witness_tags
from featurekit.online.redis.steps import Answered, Ask
from featurekit.online.redis.store import RedisStore
from featurekit.online.refresh import begin_refresh, drop_space, withdraw_refresh
from featurekit.plan import LookupPlan
from featurekit.status import Status
from featurekit.types import Int64
from tests.online.deployments import Cluster, Server, cluster
from tests.online.servers import (
    DEBIAN_SERVER,
    NAMESPACE,
    flush,
    key_space,
    materialize,
    offline_batch,
    plan_field,
    row_sink,
    service_plan,
    view_plan,
)

VIEWS = [view_plan([plan_field("n", Int64())], name=name) for name in ("a", "b", "c")]
VIEW = VIEWS[0]
PLAN = service_plan(*VIEWS)
AS_OF = 20 * DAY
NOW = AS_OF + 2 * DAY
USERS = [{"user_id": i} for i in range(30)]


@pytest.fixture(scope="module", params=["valkey", pytest.param("redis", marks=pytest.mark.long)])
def nodes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    if request.param == "redis" and DEBIAN_SERVER is None:
        pytest.skip("no redis-server on this machine (Debian: apt-get install redis-server)")
    with cluster(tmp_path_factory.mktemp("cluster"), request.param) as found:
        yield found


@pytest.fixture
def store(nodes: Cluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[RedisStore]:
    monkeypatch.setattr("featurekit.online.refresh.READ_SPAN_S", 0.01)
    flush(nodes.url)
    found = RedisStore(nodes.url, timeout_ms=3000)
    yield found
    found.close()


def rows(n: int) -> pa.RecordBatch:
    return offline_batch(VIEW, [{**user, "n": n} for user in USERS])


def publish(store: RedisStore, plan: LookupPlan = PLAN) -> None:
    body = PlanBody.of(plan)
    publish_plans(store, NAMESPACE, [body])
    switch_services(store, NAMESPACE, {body.service: body.pointer})


def client_of(nodes: Cluster, store: RedisStore | None = None) -> FeatureClient:
    return FeatureClient(nodes.url, project="shop", environment="test", clock=lambda: NOW, store=store, timeout_ms=3000)


class Watched(Links):
    """Notes what is asked, and can run something before each node's turn: then nodes are asked one by one."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Ask] = []
        self.before_node: Callable[[], None] | None = None
        self.shuffle: Callable[[list[Any]], object] = lambda _: None

    def exchange(self, ask: Ask, until: float) -> Answered:
        self.asked.append(ask)
        if self.before_node is None:
            return super().exchange(ask, until)
        answered: Answered = {}
        peers = list(ask.batches)
        self.shuffle(peers)
        for peer in peers:
            self.before_node()
            answered |= super().exchange(Ask({peer: ask.batches[peer]}), until)
        return answered


def watched(store: RedisStore) -> Watched:
    links = Watched()
    store._servers.links = links
    return links


def test_a_lookup_of_three_views_and_a_hundred_entities_is_one_pipeline_for_each_node(
    nodes: Cluster, store: RedisStore
) -> None:
    publish(store)
    for view in VIEWS:
        materialize(store, nodes.url, view, AS_OF, rows(1))
    reader = RedisStore(nodes.url)
    links = watched(reader)
    entities = [{"user_id": i} for i in range(100)]
    with client_of(nodes, reader) as client:
        client.lookup("service", entities)
        links.asked.clear()
        before = [calls(node, "mget") for node in nodes.nodes]
        client.lookup("service", entities)
    assert len(links.asked) == 1
    assert len(links.asked[0].batches) == 3
    sent = sum(map(len, links.asked[0].batches.values()))
    assert sent == sum(calls(node, "mget") - b for node, b in zip(nodes.nodes, before, strict=True))
    # An entity's rows of all views come in one command; beside them the pointer, three heads, three markers a node.
    assert sent <= len({slot_of(VIEW_KEY % i) for i in range(100)}) + 1 + 3 + 9


VIEW_KEY = b"{%d}"


def calls(node: Server, command: str) -> int:
    told = node.ask("INFO", "commandstats").get(f"cmdstat_{command}", {"calls": 0})
    return int(told["calls"])


def test_all_is_sent_before_any_answer_is_awaited(nodes: Cluster, store: RedisStore) -> None:
    keys = [b"k%d" % i for i in range(60)]
    store.read(keys)
    for hung in nodes.nodes:
        others = [node for node in nodes.nodes if node is not hung]
        before = [calls(node, "mget") for node in others]
        hung.pause()
        try:
            with pytest.raises(OnlineStoreTimeoutError):
                store.read(keys, timeout_s=0.2)
            assert all(calls(node, "mget") > b for node, b in zip(others, before, strict=True))
        finally:
            hung.resume()
        assert store.read(keys) == [None] * 60  # by other connections: the late answers belong to nobody


def test_reads_and_writes_follow_a_slot_that_moves(nodes: Cluster, store: RedisStore) -> None:
    slot = slot_of(b"{moving}")
    keys = [b"{moving}:%d" % i for i in range(12)]
    there = dict.fromkeys(keys[:8], b"1")
    store.write(there)
    counted = itertools.count()

    def check() -> None:
        assert store.read([*keys, b"elsewhere"]) == [there.get(key) for key in keys] + [None]
        step = next(counted)
        key = keys[step % 8]
        there[key] = store.change(key, lambda old: (old or b"") + b"!") or b"?"
        assert store.extend(key, expires_at_ms=1)
        assert not store.extend(keys[9], expires_at_ms=1)
        if step % 6 == 0:
            assert store.delete(b"{moving}:1[01]") == 0
            assert set(store.find(b"{moving}")) == set(there)

    for to in (*nodes.nodes, nodes.nodes[0]):
        if nodes.owner(slot) is not to:
            nodes.move_slot(slot, to, meanwhile=check)
            store.write({keys[8]: b"new", keys[9]: b"new"})
            assert store.read(keys[8:10]) == [b"new", b"new"]
            assert store.delete(b"{moving}:[89]") == 2
    assert next(counted) > 20
    assert store.read(keys) == [there.get(key) for key in keys]


def test_a_refresh_writes_every_row_while_slots_move(nodes: Cluster, store: RedisStore) -> None:
    def commands(values: dict[bytes, bytes]) -> tuple[pa.BinaryArray, pa.BinaryArray]:
        packed = [b"*3\r\n$3\r\nSET\r\n$%d\r\n%b\r\n$%d\r\n%b\r\n" % (len(k), k, len(v), v) for k, v in values.items()]
        return pa.array(values, pa.binary()), pa.array(packed, pa.binary())

    chunks = [{b"k{%d}%d" % (i, j): b"%d" % (j * 7) for i in range(200)} for j in range(8)]
    slot = slot_of(b"{3}")
    pending = iter(chunks)
    pipeline = RowPipeline(nodes.url, timeout_ms=3000)

    def send() -> None:
        if (chunk := next(pending, None)) is not None:
            pipeline.send(*commands(chunk))

    send()
    for to in [node for node in nodes.nodes if node is not nodes.owner(slot)]:
        nodes.move_slot(slot, to, meanwhile=send)
    for _ in chunks:
        send()
    pipeline.finish()
    pipeline.close()
    written = {key: value for chunk in chunks for key, value in chunk.items()}
    assert store.read(list(written)) == list(written.values())
    assert set(store.find(b"k{")) == set(written)


def test_a_node_that_restarted_empty_makes_its_views_unavailable_and_no_entity_missing(
    nodes: Cluster, store: RedisStore
) -> None:
    publish(store, service_plan(VIEW))
    materialize(store, nodes.url, VIEW, AS_OF, rows(5))
    with client_of(nodes) as client:
        for user in USERS:
            assert client.lookup("service", user).to_dict() == {"a.n": 5}
        # The one that has neither the head nor the pointer: without those, all is UNAVAILABLE anyway.
        busy = {nodes.owner(slot_of(key)).port for key in (NAMESPACE.pointer("service"), key_space(VIEW, 0).head)}
        lost = next(node for node in nodes.nodes if node.port not in busy)
        lost.kill()
        with pytest.raises(OnlineStoreError):
            [client.lookup("service", user) for user in USERS]
        lost.start()
        nodes.await_whole()
        seen = set()
        for user in USERS:
            answer = client.lookup("service", user)
            is_lost = nodes.owner(slot_of(key_space(VIEW, AS_OF).row(b"%d" % user["user_id"]))) is lost
            seen.add(is_lost)
            if is_lost:
                assert {int(status) for status in answer.statuses.ravel()} == {Status.UNAVAILABLE}
                assert {int(reason) for reason in answer.reasons.ravel()} == {Reason.KEY_SPACE_DROPPED}
            else:
                assert answer.to_dict() == {"a.n": 5}
        assert seen == {True, False}
        materialize(store, nodes.url, VIEW, AS_OF, rows(5))
        assert client.lookup("service", USERS).to_dict() == [{"a.n": 5}] * len(USERS)


def test_a_marker_is_on_every_node_and_is_one_key_to_who_asks(nodes: Cluster, store: RedisStore) -> None:
    space = key_space(VIEW, AS_OF)
    now = store.now_ms()
    store.write({space.marker: b"x"}, expires_at_ms=now + 60_000)
    assert store.read([space.marker]) == [b"x"]
    assert sum(int(node.ask("DBSIZE")) for node in nodes.nodes) == 1 + len(witness_tags())
    assert list(store.find(NAMESPACE.prefix)) == [space.marker]
    assert store.extend(space.marker, expires_at_ms=now + 90_000)
    tag = next(tag for tag in witness_tags() if nodes.owner(slot_of(tag)) is nodes.nodes[1])
    for copy in (f"{space.marker.decode()}{{{tag.decode()}}}",):
        assert nodes.nodes[1].ask("DEL", copy) == 1
    assert store.read([space.marker, space.row(b"%d" % user_on(nodes, nodes.nodes[1]))]) == [None, None]
    assert store.read([space.marker, space.row(b"%d" % user_on(nodes, nodes.nodes[0]))]) == [b"x", None]
    assert not store.extend(space.marker, expires_at_ms=now + 90_000)
    assert store.change(space.marker, lambda _: None) is None
    assert sum(int(node.ask("DBSIZE")) for node in nodes.nodes) == 0
    store.write({space.marker: b"x"})
    assert store.remove([space.marker, b"gone"]) == 1
    assert sum(int(node.ask("DBSIZE")) for node in nodes.nodes) == 0


def user_on(nodes: Cluster, node: Server) -> int:
    space = key_space(VIEW, AS_OF)
    return next(i for i in range(1000) if nodes.owner(slot_of(space.row(b"%d" % i))) is node)


Script = Sequence[Callable[[], object]]


def drop_and_begin_again(store: RedisStore, url: str) -> Script:
    space = key_space(VIEW, AS_OF + DAY)
    return (
        lambda: store.change(space.marker, lambda _: None),
        lambda: store.delete(space.row_pattern, endings=(space.row_suffix,)),
        lambda: withdraw_refresh(store, space),
    )


def next_refresh(store: RedisStore, url: str) -> Script:
    space = key_space(VIEW, AS_OF + DAY, restatement=1)
    return (
        lambda: begin_refresh(store, space, expires_in_s=3600),
        lambda: list(row_sink(url, VIEW, space)(iter([rows(3)]))),
        lambda: materialize(store, url, VIEW, space.as_of, rows(3), restatement=1),
    )


def withdraw_and_drop(store: RedisStore, url: str) -> Script:
    space = key_space(VIEW, AS_OF + DAY)
    return (lambda: withdraw_refresh(store, space), lambda: drop_space(store, space))


@pytest.mark.parametrize("rounds", [3, pytest.param(60, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "script", [drop_and_begin_again, next_refresh, withdraw_and_drop], ids=lambda one: one.__name__
)
def test_no_schedule_of_a_writer_between_the_nodes_makes_an_answer_wrong(
    script: Callable[[RedisStore, str], Script], rounds: int, nodes: Cluster, store: RedisStore
) -> None:
    drawn = random.Random(5)
    outcomes = set()
    for _ in range(rounds):
        flush(nodes.url)
        publish(store)
        for view in VIEWS:
            materialize(store, nodes.url, view, AS_OF, rows(1))
        materialize(store, nodes.url, VIEW, AS_OF + DAY, rows(2))
        reader = RedisStore(nodes.url, timeout_ms=3000)
        links = watched(reader)
        with client_of(nodes, reader) as client:
            assert client.lookup("service", USERS).to_dict()[0]["a.n"] == 2
            steps = iter(script(store, nodes.url))
            links.shuffle = drawn.shuffle

            def advance(steps: Iterator[Callable[[], object]] = steps) -> None:
                while drawn.random() < 0.4:
                    next(steps, lambda: None)()

            links.before_node = advance
            for _ in range(3):
                answer = client.lookup("service", USERS)
                of_view = {value["a.n"] for value in answer.to_dict()}
                assert len(of_view) == 1, "entities of one view moved apart"
                (value,) = of_view
                status = {int(code) for code in answer.statuses[:, 0]}
                assert status == ({int(Status.UNAVAILABLE)} if value is None else {int(Status.PRESENT)})
                assert {value["b.n"] for value in answer.to_dict()} == {1}
                outcomes.add(value)
    assert len(outcomes) > 1
