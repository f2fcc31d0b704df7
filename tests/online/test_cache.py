"""The cache with real servers: what it saves, what it survives, and what makes it forget."""

from __future__ import annotations

import asyncio
import os
import random
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from featurekit.clock import DAY
from featurekit.errors import NotRegisteredError, OnlineStoreError, SettingsError
from featurekit.on_unavailable import Instead, OnUnavailable
from featurekit.online.async_client import AsyncFeatureClient
from featurekit.online.breaker import Breaker
from featurekit.online.cache import Cache, CachedReads
from featurekit.online.client import FeatureClient
from featurekit.online.reason import Reason
from featurekit.online.redis import RedisStore
from featurekit.online.redis.address import Login, read_address
from featurekit.online.redis.peer import Access, Peer
from featurekit.online.redis.pushes import Pushes, PushLink
from featurekit.online.redis.rights import SERVING
from featurekit.online.store import Value
from featurekit.online.tracking import Hearing
from featurekit.status import Status
from featurekit.types import Int64
from tests.online.deployments import KINDS, cluster, sentinels, standalone, until
from tests.online.servers import (
    NAMESPACE,
    flush,
    key_space,
    materialize,
    offline_batch,
    plan_field,
    service_plan,
    view_plan,
)
from tests.online.test_lookup import publish

AS_OF = 20 * DAY
VIEW = view_plan([plan_field("x", Int64(), is_latest=True)])
OTHER = view_plan([plan_field("y", Int64(), is_latest=True)], name="other", fingerprint="89abcdef" * 8)
PLAN = service_plan(VIEW, OTHER)


class CountingStore:
    """A real store, and what it was asked."""

    def __init__(self, url: str) -> None:
        self._store = RedisStore(url, timeout_ms=300)
        self.name, self.reads_at_once = self._store.name, self._store.reads_at_once
        self.asked: list[int] = []

    def read(self, keys: Sequence[bytes], *, timeout_s: float | None = None) -> list[Value]:
        self.asked.append(len(keys))
        return self._store.read(keys, timeout_s=timeout_s)

    def find(self, prefix: bytes) -> Iterator[bytes]:
        return self._store.find(prefix)

    def close(self) -> None:
        self._store.close()


class Passing:
    """A clock that stands until it is told."""

    now_s = 50.0

    def __call__(self) -> float:
        return self.now_s


def write(
    store: RedisStore, url: str, users: dict[int, int], *, as_of: int = AS_OF, completed_at: int | None = None
) -> None:
    for view, field in ((VIEW, "x"), (OTHER, "y")):
        rows = [{"user_id": user, field: value} for user, value in users.items()]
        materialize(store, url, view, as_of, offline_batch(view, rows), completed_at=completed_at)


@contextmanager
def cached_client(store: Any, elapsed: Passing, **options: Any) -> Iterator[FeatureClient]:
    with FeatureClient(
        store=store, project="shop", environment="test", clock=lambda: AS_OF + 9 * DAY, elapsed=elapsed,
        cache=Cache(max_staleness="5s", tracking=False), **options,
    ) as client:  # fmt: skip
        yield client


def values(client: FeatureClient, *users: int) -> list[Any]:
    return [row["view.x"] for row in client.lookup("service", {"user_id": list(users)}).to_dict()]


@pytest.fixture
def world(url: str, store: RedisStore) -> RedisStore:
    publish(store, PLAN)
    write(store, url, {1: 10, 2: 20})
    return store


@pytest.mark.usefixtures("world")
def test_what_was_just_looked_up_takes_no_read_and_the_rest_one_with_what_lacks(url: str) -> None:
    counting = CountingStore(url)
    with cached_client(counting, Passing()) as client:
        assert values(client, 1, 404) == [10, None]
        counting.asked.clear()
        assert values(client, 404, 1, 1) == [None, 10, 10]
        found = client.lookup("service", {"user_id": 404})
        assert counting.asked == []
        assert found.statuses.tolist() == [[Status.MISSING, Status.MISSING]]
        assert found.as_of == {"view": AS_OF, "other": AS_OF}
        assert values(client, 1, 2) == [10, 20]
        assert counting.asked == [5 + 2]  # the pointer, two heads, two markers, and the second user's rows


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize(("instead", "reason"), [(None, None), (Instead.NULL, Reason.STORE_UNREACHABLE)])
def test_without_its_store_it_answers_within_the_bound_and_by_the_policy_after(
    tmp_path: Path, instead: Instead | None, reason: Reason | None
) -> None:
    elapsed = Passing()
    with standalone(tmp_path, "valkey") as server:
        store = RedisStore(server.url)
        plan = PLAN if instead is None else replace(PLAN, on_unavailable=OnUnavailable(instead))
        publish(store, plan)
        write(store, server.url, {1: 10})
        with cached_client(RedisStore(server.url, timeout_ms=300), elapsed) as client:
            assert values(client, 1) == [10]
            server.kill()
            elapsed.now_s += 5.0
            assert values(client, 1) == [10]
            elapsed.now_s += 0.1
            if reason is None:
                with pytest.raises(OnlineStoreError):
                    values(client, 1)
            else:
                found = client.lookup("service", {"user_id": 1})
                assert found.statuses.tolist() == [[Status.UNAVAILABLE] * 2]
                assert found.reasons.tolist() == [[reason] * 2]
        store.close()


@pytest.mark.usefixtures("world")
def test_an_answer_from_the_cache_asks_nothing_of_the_breaker_and_tells_it_nothing(url: str) -> None:
    elapsed = Passing()
    breaker = Breaker(failures=1, open_ms=1000, elapsed=elapsed)
    with cached_client(CountingStore(url), elapsed, breaker=breaker) as client:
        values(client, 1)
        breaker.failed(breaker.admit())
        assert breaker.state == "open"
        assert values(client, 1) == [10]
        assert breaker.state == "open"
        elapsed.now_s += 1.5
        assert values(client, 1) == [10]
        assert breaker.state == "half-open"  # its trial is still to come


def test_rows_of_a_space_that_was_lost_and_written_anew_are_not_mixed_with_those_before(
    url: str, store: RedisStore
) -> None:
    """The same key space, with the same entities, other values, and one that was not there."""
    elapsed = Passing()
    publish(store, PLAN)
    write(store, url, {1: 10, 2: 20}, completed_at=AS_OF + 1)
    with cached_client(CountingStore(url), elapsed) as client:
        assert values(client, 1, 3) == [10, None]
        flush(url)
        publish(store, PLAN)
        write(store, url, {1: 11, 2: 21, 3: 31}, completed_at=AS_OF + 2)
        elapsed.now_s += 1.0
        assert values(client, 1, 2, 3) == [11, 21, 31]
        assert values(client, 3, 1) == [31, 11]


def test_a_space_without_its_marker_leaves_nothing_in_the_cache(url: str, store: RedisStore) -> None:
    publish(store, PLAN)
    write(store, url, {1: 10})
    marker = key_space(VIEW, AS_OF).marker
    (content,) = store.read([marker])
    assert content is not None
    with cached_client(CountingStore(url), Passing()) as client:
        store.change(marker, lambda _: None)
        assert client.lookup("service", {"user_id": [1, 2]}).reasons[:, 0].tolist() == [Reason.KEY_SPACE_DROPPED] * 2
        store.change(marker, lambda _: content)
        assert values(client, 1, 2) == [10, None]


@pytest.mark.usefixtures("world")
def test_an_erased_entity_is_gone_after_the_bound_and_at_once_where_it_is_heard(url: str, store: RedisStore) -> None:
    elapsed = Passing()
    with cached_client(CountingStore(url), elapsed) as client:
        assert values(client, 1) == [10]
        store.delete(b"fk:shop:test:{1}:*")
        assert values(client, 1) == [10]  # nobody has said so
        values(client, 1, 2)  # what says which rows count is younger than the row now
        elapsed.now_s += 5.1
        assert values(client, 1) == [None]
        assert client._cached is not None
        assert values(client, 2) == [20]
        store.delete(b"fk:shop:test:{2}:*")
        client._cached.forget([NAMESPACE.erased])
        assert values(client, 1) == [
            None
        ]  # what says which rows count is believed again: it is the second's row that is not
        assert values(client, 2) == [None]


def test_last_known_counts_the_time_in_the_cache_too(url: str, store: RedisStore) -> None:
    elapsed = Passing()
    publish(store, replace(PLAN, on_unavailable=OnUnavailable(Instead.LAST_KNOWN, max_age=8_000_000)))
    write(store, url, {1: 10})
    counting = CountingStore(url)
    with cached_client(counting, elapsed) as client:
        assert values(client, 1) == [10]
        elapsed.now_s += 4.0
        assert values(client, 1) == [10]  # read 4 s ago
        counting._store.close()
        counting._store = RedisStore("redis://127.0.0.1:1", timeout_ms=300)
        elapsed.now_s += 3.9
        assert values(client, 1) == [10]
        elapsed.now_s += 0.2
        assert values(client, 1) == [None]


@pytest.mark.parametrize("kind", [kind for kind, binary in KINDS.items() if binary])
def test_what_servers_push_makes_it_forget_within_moments(tmp_path: Path, kind: str) -> None:
    with standalone(tmp_path, kind) as server:
        store = RedisStore(server.url)
        publish(store, PLAN)
        write(store, server.url, {1: 10})
        with FeatureClient(
            server.url, project="shop", environment="test", clock=lambda: AS_OF + 9 * DAY, timeout_ms=300,
            cache=Cache(max_staleness=timedelta(hours=1)),
        ) as client:  # fmt: skip
            assert values(client, 1) == [10]
            until(lambda: client.hearing is Hearing.ON, "the server to be heard")
            for day in range(1, 6):
                values(client, 1)
                write(store, server.url, {1: 10 + day}, as_of=AS_OF + day * DAY)
                took_s = until(lambda day=day: values(client, 1) == [10 + day], "the new refresh", limit_s=5)  # type: ignore[misc]
                assert took_s < 1.0
            reads = client.counted().services["service"].from_cache
            values(client, 1)
            values(client, 1)
            assert client.counted().services["service"].from_cache >= reads + 1

            server.ask("CLIENT", "KILL", "TYPE", "NORMAL", "SKIPME", "YES")
            write(store, server.url, {1: 99}, as_of=AS_OF + 6 * DAY)  # while nobody listens
            until(lambda: values(client, 1) == [99], "the connection to be made again", limit_s=10)

            server.kill()
            until(lambda: client.hearing is Hearing.LOST, "the loss to be noticed", limit_s=10)
            server.start()  # empty
            until(lambda: client.hearing is Hearing.ON, "the server to be heard again", limit_s=10)
            assert client.lookup("service", {"user_id": 1}).statuses.tolist() == [[Status.UNAVAILABLE] * 2]
        store.close()
        until(
            lambda: " flags=t" not in str(server.ask("CLIENT", "LIST", "TYPE", "NORMAL")), "the connection to be over"
        )


def test_in_a_cluster_every_master_is_heard(tmp_path: Path) -> None:
    with cluster(tmp_path, "valkey") as found:
        store = RedisStore(found.url)
        publish(store, PLAN)
        write(store, found.url, dict.fromkeys(range(9), 10))
        with FeatureClient(
            found.url, project="shop", environment="test", clock=lambda: AS_OF + 9 * DAY,
            cache=Cache(max_staleness="1h"),
        ) as client:  # fmt: skip
            assert values(client, *range(9)) == [10] * 9
            until(lambda: client.hearing is Hearing.ON, "the cluster to be heard")
            for day in range(1, 5):
                values(client, *range(9))
                write(store, found.url, dict.fromkeys(range(9), 10 + day), as_of=AS_OF + day * DAY)
                until(lambda day=day: values(client, *range(9)) == [10 + day] * 9, "the new refresh", limit_s=5)  # type: ignore[misc]
            values(client, *range(9))
            kept = client.counted().services["service"].from_cache
            assert values(client, *range(4)) == [14] * 4
            assert client.counted().services["service"].from_cache == kept + 1
            # One space's marker goes, which lies on one node: the markers' copies on the others tell as well.
            store.change(key_space(VIEW, AS_OF + 4 * DAY).marker, lambda _: None)
            until(
                lambda: client.lookup("service", {"user_id": 1}).reasons[0, 0] == Reason.KEY_SPACE_DROPPED,
                "the dropped space to be noticed",
                limit_s=5,
            )
        store.close()


@pytest.mark.long
def test_after_a_failover_the_new_master_is_heard(tmp_path: Path) -> None:
    with sentinels(tmp_path, "valkey") as found:
        store = RedisStore(found.url, timeout_ms=3000)
        publish(store, PLAN)
        write(store, found.url, {1: 10})
        with FeatureClient(
            found.url, project="shop", environment="test", clock=lambda: AS_OF + 9 * DAY,
            cache=Cache(max_staleness="1h"),
        ) as client:  # fmt: skip
            assert values(client, 1) == [10]
            until(lambda: client.hearing is Hearing.ON, "the master to be heard")
            found.master().kill()
            until(lambda: client.hearing is Hearing.LOST, "the loss to be noticed", limit_s=10)
            until(lambda: client.hearing is Hearing.ON, "the new master to be heard", limit_s=30)
            found.servers[0].start()
            found.await_replicas()
            write(store, found.url, {1: 11}, as_of=AS_OF + DAY)
            until(lambda: values(client, 1) == [11], "the new refresh", limit_s=5)
        store.close()


def test_a_server_that_hangs_is_given_up_and_heard_again(tmp_path: Path) -> None:
    with standalone(tmp_path, "valkey") as server:
        store = RedisStore(server.url)
        publish(store, PLAN)
        write(store, server.url, {1: 10})
        with FeatureClient(server.url, project="shop", environment="test", cache=Cache(max_staleness="1h")) as client:
            values(client, 1)
            until(lambda: client.hearing is Hearing.ON, "the server to be heard")
            server.pause()
            until(lambda: client.hearing is Hearing.LOST, "the silence to be noticed", limit_s=10)
            server.resume()
            until(lambda: client.hearing is Hearing.ON, "the server to be heard again", limit_s=10)
        store.close()


def test_a_server_is_given_time_to_take_each_ping(url: str) -> None:
    allowed: list[float | None] = []

    class Watched:
        """The link's socket, and how long it would have waited to send."""

        def __init__(self, socket: Any) -> None:
            self._socket = socket

        def sendall(self, content: bytes) -> None:
            allowed.append(self._socket.gettimeout())
            self._socket.sendall(content)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._socket, name)

    (place,) = read_address(url).places
    link = PushLink(Peer(place, Access(Login(), None)), [(b"PING",)], time.monotonic() + 5)
    link._socket = Watched(link._socket)  # type: ignore[assignment]
    for _ in range(3):
        link.ping(time.monotonic() + 5)
        assert link._socket.gettimeout() == 0
    link.close()

    assert [round(seconds or 0) for seconds in allowed] == [5, 5, 5]


@pytest.mark.usefixtures("world")
def test_after_a_mistake_of_ours_it_listens_again_and_keeps_nothing_from_before(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mistakes: list[Exception] = []
    wait = Pushes.wait

    def mistaken(pushes: Pushes) -> list[bytes] | None:
        if mistakes:
            raise mistakes.pop()
        return wait(pushes)

    monkeypatch.setattr(Pushes, "wait", mistaken)
    with FeatureClient(
        url, project="shop", environment="test", clock=lambda: AS_OF + 9 * DAY, cache=Cache(max_staleness="1h")
    ) as client:
        values(client, 1)
        until(lambda: client.hearing is Hearing.ON, "the server to be heard")
        values(client, 1)
        assert client._tracking is not None
        assert client._cached is not None
        assert client._cached._beliefs
        mistakes.append(RuntimeError("a mistake"))
        until(lambda: client._tracking.losses == 1, "the mistake", limit_s=5)  # type: ignore[union-attr]
        until(lambda: client.hearing is Hearing.ON, "the server to be heard again")
        assert client._cached._beliefs == {}
        assert values(client, 1) == [10]


def test_a_user_who_may_not_hear_has_the_bound(tmp_path: Path) -> None:
    with standalone(tmp_path, "valkey") as server:
        store = RedisStore(server.url)
        publish(store, PLAN)
        write(store, server.url, {1: 10})
        server.ask("ACL", "SETUSER", "reader", "on", ">secret", "%R~fk:*", "-@all", "+mget")
        url = server.url.replace("redis://", "redis://reader:secret@")
        with FeatureClient(
            url, project="shop", environment="test", clock=lambda: AS_OF + 9 * DAY, cache=Cache(max_staleness="200ms")
        ) as client:
            assert values(client, 1) == [10]
            until(lambda: client.hearing is Hearing.LOST, "the refusal")
            assert client._tracking is not None
            assert client._tracking.why is not None
            assert "NOPERM" in client._tracking.why
            assert "secret" not in client._tracking.why
            write(store, server.url, {1: 11}, as_of=AS_OF + DAY)
            time.sleep(0.25)
            assert values(client, 1) == [11]
        server.ask("ACL", "SETUSER", "reader", *SERVING.split())
        with FeatureClient(url, project="shop", environment="test", cache=Cache()) as client:
            client.lookup("service", {"user_id": 1})
            until(lambda: client.hearing is Hearing.ON, "the server to be heard with the rights that are documented")
        store.close()


@pytest.mark.usefixtures("world")
def test_under_asyncio_it_is_the_same(url: str, store: RedisStore) -> None:
    async def ask() -> None:
        async with AsyncFeatureClient(
            url, project="shop", environment="test", clock=lambda: AS_OF + 9 * DAY, cache=Cache(max_staleness="1h")
        ) as client:

            async def value() -> Any:
                return (await client.lookup("service", {"user_id": 1})).to_dict()["view.x"]

            assert await value() == 10
            while client.hearing is not Hearing.ON:
                await asyncio.sleep(0.01)
            assert [await value() for _ in range(3)] == [10, 10, 10]
            assert client.counted().services["service"].from_cache >= 2
            write(store, url, {1: 11}, as_of=AS_OF + DAY)
            await asyncio.sleep(0.2)
            assert await value() == 11

    asyncio.run(ask())


@pytest.mark.usefixtures("world")
def test_a_forked_process_listens_and_keeps_for_itself(url: str, store: RedisStore) -> None:
    with FeatureClient(
        url, project="shop", environment="test", clock=lambda: AS_OF + 9 * DAY, cache=Cache(max_staleness="1h")
    ) as client:
        values(client, 1)
        until(lambda: client.hearing is Hearing.ON, "the server to be heard")
        assert client._cached is not None
        with client._cached._lock, client._cached.rows._lock:  # as another thread may have them
            child = os.fork()
            if not child:
                is_right = client.hearing is Hearing.OFF and values(client, 1, 2) == [10, 20]
                until(lambda: client.hearing is Hearing.ON, "the child to hear")
                write(store, url, {1: 11}, as_of=AS_OF + DAY)
                until(lambda: values(client, 1) == [11], "the child to hear of it", limit_s=5)
                os._exit(0 if is_right else 1)
        assert os.waitpid(child, 0)[1] == 0
        until(lambda: values(client, 1) == [11], "the parent to hear of it", limit_s=5)


@pytest.mark.usefixtures("world")
def test_names_that_callers_make_up_leave_nothing_in_the_cache(url: str) -> None:
    with cached_client(RedisStore(url), Passing()) as client:
        assert client._cached is not None
        for i in range(10):
            with pytest.raises(NotRegisteredError):
                client.lookup(f"nothing_{i}", {"user_id": 1})
        assert client._cached._seen == {}
        assert values(client, 1) == [10]
        assert len(client._cached._seen) == 5  # the pointer, two heads and two markers


@pytest.mark.usefixtures("world")
def test_who_forgets_to_close_leaves_no_thread(url: str) -> None:
    client = FeatureClient(url, project="shop", environment="test", cache=Cache())
    values(client, 1)
    assert client._tracking is not None
    thread = client._tracking._thread
    assert thread is not None
    del client
    until(lambda: not thread.is_alive(), "the thread to end", limit_s=5)


@pytest.mark.parametrize("nonsense", [{"max_bytes": 0}, {"max_staleness": "0s"}, {"max_staleness": timedelta(0)}])
def test_nonsense_is_refused(nonsense: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        Cache(**nonsense)


def test_rows_of_a_space_that_is_written_in_place_are_used_beside_the_head_they_were_read_beside() -> None:
    """The entity's row was overwritten when the head moved: beside the new head, the one before would read as none."""
    prefix = NAMESPACE.prefix
    controls = [NAMESPACE.pointer("service"), prefix + b"head:view@01234567", prefix + b"space:view@01234567:live"]
    row_of = NAMESPACE.row_prefix() + b"%d}:view@01234567:live"
    cached = CachedReads(Cache(tracking=False), NAMESPACE, Passing())
    stored: dict[bytes, bytes | None] = dict(zip(controls, [b"pointer", b"first head", b"marker"], strict=True))
    stored |= {row_of % 1: b"one, first", row_of % 2: b"two, first"}
    asked: list[list[bytes]] = []

    def lookup(*users: int) -> list[Value]:
        def reads() -> Generator[list[bytes], list[Value], list[Value]]:
            return (yield [*controls, *(row_of % user for user in users)])

        steps = cached.steps(reads())
        try:
            keys = next(steps)
            while True:
                asked.append(keys)
                keys = steps.send([stored.get(key) for key in keys])
        except StopIteration as done:
            return list(done.value[len(controls) :])

    assert lookup(1) == [b"one, first"]
    assert lookup(1, 2) == [b"one, first", b"two, first"]
    assert len(asked[-1]) == len(controls) + 1
    stored |= {controls[1]: b"second head", row_of % 1: b"one, second", row_of % 2: b"two, second"}
    assert lookup(3, 1) == [None, b"one, second"]
    assert lookup(1, 2) == [b"one, second", b"two, second"]
    asked.clear()
    assert lookup(2, 1, 3) == [b"two, second", b"one, second", None]
    assert asked == []


@pytest.mark.parametrize("changed", [[NAMESPACE.pointer("service")], [NAMESPACE.erased], None])
def test_what_is_on_its_way_while_something_changes_is_answered_and_not_kept(
    world: RedisStore, url: str, changed: list[bytes] | None
) -> None:
    with cached_client(CountingStore(url), Passing()) as client:
        values(client, 2)
        assert client._cached is not None
        steps = client._steps("service", {"user_id": [1]}, None, AS_OF + 9 * DAY)
        read = world.read(next(steps))
        client._cached.forget(changed)
        with pytest.raises(StopIteration) as done:
            steps.send(read)
        assert done.value.value.to_dict()[0]["view.x"] == 10
        write(world, url, {1: 11}, as_of=AS_OF + DAY)
        assert values(client, 1) == [11]


def test_threads_that_share_a_cache_see_each_refresh_whole_and_in_time(world: RedisStore, url: str) -> None:
    """Real threads, pushes and time: an answer is of one refresh, and of none that was replaced too long ago."""
    users = list(range(20))
    written_s: dict[int, float] = {}

    def refresh(day: int) -> None:
        write(world, url, dict.fromkeys(users, day), as_of=AS_OF + day * DAY)
        written_s[day] = time.monotonic()

    refresh(1)
    wrong: list[Any] = []
    days: set[int] = set()
    is_done = threading.Event()
    cache = Cache(max_staleness="300ms", max_bytes=20_000)
    with FeatureClient(url, project="shop", environment="test", clock=lambda: AS_OF + 99 * DAY, cache=cache) as client:

        def look_up(seed: int) -> None:
            draw = random.Random(seed)
            while not is_done.is_set():
                begun_s = time.monotonic()
                found = client.lookup("service", {"user_id": draw.sample(users, 4)})
                seen = {value for row in found.to_dict() for value in row.values()}
                days.update(seen)
                replaced_s = written_s.get(min(seen) + 1)
                for view, name in (("view", "view.x"), ("other", "other.y")):
                    as_of = found.as_of[view]
                    if as_of is None or set(found.to_numpy()[name].tolist()) != {(as_of - AS_OF) // DAY}:
                        wrong.append(("mixed", found.to_dict(), found.as_of))
                if replaced_s is not None and begun_s - replaced_s > 0.3:
                    wrong.append(("old", seen, begun_s - replaced_s))

        threads = [threading.Thread(target=look_up, args=(seed,)) for seed in range(3)]
        for thread in threads:
            thread.start()
        for day in range(2, 40):
            refresh(day)
        time.sleep(0.4)
        is_done.set()
        for thread in threads:
            thread.join()
        assert client.counted().services["service"].from_cache > 0
    assert wrong == []
    assert len(days) > 3
