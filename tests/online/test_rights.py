"""With just the rights that the documentation lists, everything works; and who serves can't write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from featurekit.clock import DAY
from featurekit.errors import OnlineStoreError
from featurekit.online.client import FeatureClient
from featurekit.online.publish import PlanBody, publish_plans, switch_services
from featurekit.online.redis import rights
from featurekit.online.redis.store import RedisStore
from featurekit.online.refresh import drop_space
from featurekit.types import Int64
from featurekit.urls import with_login
from tests.online.deployments import Server, cluster, sentinels, standalone
from tests.online.servers import (
    DEBIAN_SERVER,
    NAMESPACE,
    key_space,
    materialize,
    offline_batch,
    plan_field,
    row_sink,
    service_plan,
    view_plan,
)

KEYS = f"~{NAMESPACE.prefix.decode()}*"
VIEW = view_plan([plan_field("n", Int64())])
PLAN = service_plan(VIEW)
AS_OF = 20 * DAY


def grant(server: Server, user: str, commands: str, keys: str) -> None:
    words = commands.split()
    if server.kind == "redis":
        words = [word for word in words if word != "+waitaof"]  # Redis 7.0 does not know it
    server.ask("ACL", "SETUSER", user, "on", f">{user}'s secret", "resetkeys", "resetchannels", keys, *words)


@pytest.fixture(scope="module", params=["valkey", "redis", "sentinel", "cluster"])
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], str]]:
    """The store's URL for a user, of each kind of deployment in turn."""
    folder: Path = tmp_path_factory.mktemp("rights")
    opened: Any
    match request.param:
        case "redis" if DEBIAN_SERVER is None:
            pytest.skip("no redis-server on this machine (Debian: apt-get install redis-server)")
        case "valkey" | "redis":
            opened = standalone(folder, request.param)
        case "sentinel":
            opened = sentinels(folder, "valkey")
        case _:
            opened = cluster(folder, "valkey")
    with opened as found:
        servers = [found] if isinstance(found, Server) else getattr(found, "servers", None) or found.nodes
        for server in servers:
            grant(server, "serving", rights.SERVING, KEYS.replace("~", "%R~"))
            grant(server, "jobs", rights.JOBS, KEYS)
            grant(server, "blind", "+mget", "~other:*")
        yield lambda user: with_login(found.url, user, f"{user}'s secret")


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with standalone(tmp_path_factory.mktemp("one"), "valkey") as server:
        yield server


def test_the_rights_of_jobs_and_of_serving_are_enough(url: Callable[[str], str], monkeypatch: Any) -> None:
    monkeypatch.setattr("featurekit.online.refresh.READ_SPAN_S", 0.01)
    store = RedisStore(url("jobs"))
    body = PlanBody.of(PLAN)
    publish_plans(store, NAMESPACE, [body])
    switch_services(store, NAMESPACE, {body.service: body.pointer})
    materialize(store, url("jobs"), VIEW, AS_OF, offline_batch(VIEW, [{"user_id": i, "n": i} for i in range(20)]))
    with FeatureClient(url("serving"), project=NAMESPACE.project, environment=NAMESPACE.environment) as client:
        answer = client.lookup("service", [{"user_id": i} for i in range(20)], at=AS_OF + DAY)
        assert [row["view.n"] for row in answer.to_dict()] == list(range(20))
    serving = RedisStore(url("serving"))
    pushes = serving.pushes([NAMESPACE.prefix])
    pushes.open()
    pushes.close()
    serving.close()
    assert drop_space(store, key_space(VIEW, AS_OF)) == 20
    live = replace(key_space(VIEW, AS_OF), live=0)
    for as_of in (AS_OF + DAY, AS_OF):  # the older one comes late, and changes nothing
        sink = row_sink(url("jobs"), VIEW, replace(live, as_of=as_of))
        list(sink(iter([offline_batch(VIEW, [{"user_id": 1, "n": as_of}])])))
    assert store.delete_older(live.row_pattern, ending=live.row_suffix, before=AS_OF + DAY) == 0
    assert store.delete_older(live.row_pattern, ending=live.row_suffix, before=AS_OF + 2 * DAY) == 1
    for allowed in store.lacking_rights(NAMESPACE.prefix).serving, store.lacking_rights(NAMESPACE.prefix).jobs:
        assert allowed == ()
    store.close()


def test_who_serves_can_not_write(url: Callable[[str], str]) -> None:
    store = RedisStore(url("serving"))
    space = key_space(VIEW, AS_OF)
    for attempt in (
        lambda: store.write({space.marker: b""}),
        lambda: store.change(space.head, lambda _: b""),
        lambda: store.delete(b"*"),
        lambda: list(store.find(b"")),
        lambda: store.extend(space.marker, expires_at_ms=1),
        lambda: store.read([b"fk:other:test:head:view@01234567"]),
    ):
        with pytest.raises(OnlineStoreError, match="refuses this user") as caught:
            attempt()
        assert "secret" not in f"{caught.value!r} {caught.value}"
        assert "NOPERM" in str(caught.value.why)
    lacking = store.lacking_rights(NAMESPACE.prefix)
    assert lacking.serving == ()
    assert {"SET", "UNLINK", "SCAN", "INFO"} <= set(lacking.jobs)
    store.close()


def test_what_a_user_lacks_is_told(url: Callable[[str], str]) -> None:
    store = RedisStore(url("blind"))
    if store.reads_at_once and "sentinel" not in store.name:
        assert store.lacking_rights(NAMESPACE.prefix).serving == ("MGET",)
        assert "SET" in store.lacking_rights(NAMESPACE.prefix).jobs
    else:  # it may not even ask where the keys are
        with pytest.raises(OnlineStoreError, match="refuses this user"):
            store.lacking_rights(NAMESPACE.prefix)
    store.close()


@pytest.mark.parametrize("right", [word for word in rights.JOBS.split() if word[0] == "+" and "cluster" not in word])
def test_each_right_that_is_taken_away_is_told(right: str, one: Server) -> None:
    grant(one, "jobs", f"{rights.JOBS} -{right[1:]}", KEYS)
    store = RedisStore(with_login(one.url, "jobs", "jobs's secret"))
    of_others = {"+waitaof", "+ping", "+role", "+asking"}  # only Sentinel and clusters need them
    assert store.lacking_rights(NAMESPACE.prefix).jobs == (() if right in of_others else (right[1:].upper(),))
    store.close()


def test_a_wrong_password_is_told_without_it(url: Callable[[str], str]) -> None:
    store = RedisStore(url("jobs").replace("secret", "hunter2"))
    with pytest.raises(OnlineStoreError, match="refuses this user") as caught:
        store.read([b"a"])
    shown = f"{caught.value!r} {caught.value} {store!r} {vars(store)!r} {caught.value.__cause__!r}"
    assert "hunter2" not in shown
    store.close()


def test_the_documentation_lists_these_rights() -> None:
    text = " ".join((Path(__file__).parents[2] / "docs" / "deployments.md").read_text(encoding="utf-8").split())
    assert rights.SERVING in text
    assert rights.JOBS in text
