"""One client in many hands: threads, forked processes, tasks, event loops."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from featurekit.clock import DAY, HOUR
from featurekit.errors import InputError, OnlineStoreError
from featurekit.on_unavailable import Instead, OnUnavailable
from featurekit.online.async_client import AsyncFeatureClient
from featurekit.online.breaker import Breaker
from featurekit.online.client import FeatureClient
from featurekit.online.publish import PlanBody, publish_plans, switch_services
from featurekit.online.redis import RedisStore
from featurekit.online.retries import Retries
from featurekit.types import Int64
from tests.online.deployments import Server, standalone
from tests.online.servers import NAMESPACE, materialize, offline_batch, plan_field, service_plan, view_plan

AS_OF = 20 * DAY
NOON = AS_OF + 12 * HOUR
USERS = 50
SPEND = view_plan([plan_field("id", Int64()), plan_field("twice", Int64())], name="spend")
LAST_KNOWN = OnUnavailable(Instead.LAST_KNOWN, HOUR)
PLACE: dict[str, Any] = {"project": NAMESPACE.project, "environment": NAMESPACE.environment, "clock": lambda: NOON}
PATIENT: dict[str, Any] = {**PLACE, "timeout_ms": 60_000}  # what is tested is not how busy the machine is


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with standalone(tmp_path_factory.mktemp("store"), "valkey", "appendonly yes", "appendfsync always") as found:
        store = RedisStore(found.url)
        rows = [{"user_id": user, "id": user, "twice": 2 * user} for user in range(USERS)]
        materialize(store, found.url, SPEND, AS_OF, offline_batch(SPEND, rows), completed_at=AS_OF)
        for name, policy in (("plain", None), ("kept", LAST_KNOWN)):
            body = PlanBody.of(replace(service_plan(SPEND, name=name), on_unavailable=policy))
            publish_plans(store, NAMESPACE, [body])
            switch_services(store, NAMESPACE, {name: body.pointer})
        store.close()
        yield found


def asked(user: int) -> list[int]:
    return [(user + more) % USERS for more in range(1 + user % 7)]


def is_right(found: Any, users: list[int]) -> bool:
    rows = found.to_dict()
    return [(row["spend.id"], row["spend.twice"]) for row in rows] == [(user, 2 * user) for user in users]


@pytest.mark.parametrize("service", ["plain", "kept"])
def test_threads_that_share_a_client_get_each_their_own_answers(server: Server, service: str) -> None:
    with FeatureClient(server.url, **PATIENT) as client, ThreadPoolExecutor(8) as pool:

        def look_up(n: int) -> bool:
            users = asked(n)
            return is_right(client.lookup(service, {"user_id": users}), users)

        assert all(pool.map(look_up, range(2000)))


def test_children_that_are_forked_under_load_look_up_by_themselves(server: Server) -> None:
    with FeatureClient(server.url, **PATIENT) as client:
        done, wrong = threading.Event(), []

        def load() -> None:
            n = 0
            while not done.is_set():
                n += 1
                users = asked(n)
                if not is_right(client.lookup("kept", {"user_id": users}), users):
                    wrong.append(users)

        threads = [threading.Thread(target=load) for _ in range(4)]
        for thread in threads:
            thread.start()
        children = []
        try:
            for n in range(12):
                time.sleep(0.01)
                child = os.fork()
                if not child:
                    _in_child(client, n)
                children.append(child)
        finally:
            done.set()
            for thread in threads:
                thread.join()
            statuses = [_ended(child) for child in children]
        assert statuses == [0] * 12
        assert wrong == []


def _in_child(client: FeatureClient, n: int) -> None:
    code = 2  # what raises; a child must not go on with the parent's tests
    try:
        answers = [is_right(client.lookup("kept", {"user_id": asked(n + i)}), asked(n + i)) for i in range(50)]
        code = 0 if all(answers) else 1
    finally:
        os._exit(code)


def _ended(child: int) -> int:
    timer = threading.Timer(30, os.kill, (child, signal.SIGKILL))  # a lock that nobody gives back
    timer.start()
    _, status = os.waitpid(child, 0)
    timer.cancel()
    return os.waitstatus_to_exitcode(status)


def test_an_outage_under_load_of_threads_ends_with_right_answers(server: Server) -> None:
    retries = Retries(tries=3, pause_ms=2)
    breaker = Breaker(failures=5, open_ms=50)
    with FeatureClient(server.url, timeout_ms=5000, retries=retries, breaker=breaker, **PLACE) as client:
        for n in range(USERS):
            client.lookup("kept", {"user_id": [n]})
        done, wrong, counts = threading.Event(), [], {"plain": 0, "kept": 0, "errors": 0}

        def load(service: str) -> None:
            n = 0
            while not done.is_set():
                n += 1
                users = asked(n)
                try:
                    found = client.lookup(service, {"user_id": users})
                except OnlineStoreError:
                    counts["errors"] += 1
                    continue
                counts[service] += 1
                if not is_right(found, users):
                    wrong.append((service, users))

        threads = [threading.Thread(target=load, args=(service,)) for service in ("plain", "kept") * 2]
        for thread in threads:
            thread.start()
        time.sleep(0.1)
        server.kill()
        time.sleep(0.3)
        server.start()
        until = time.monotonic() + 10
        while breaker.state != "closed" and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.1)
        done.set()
        for thread in threads:
            thread.join()
        assert wrong == []
        assert counts["errors"] > 0
        assert breaker.state == "closed"
        assert is_right(client.lookup("plain", {"user_id": [1]}), [1])


def test_tasks_that_share_a_client_get_each_their_own_answers(server: Server) -> None:
    async def run() -> list[bool]:
        async with AsyncFeatureClient(server.url, **PATIENT) as client:

            async def look_up(n: int) -> bool:
                users = asked(n)
                return is_right(await client.lookup("kept" if n % 2 else "plain", {"user_id": users}), users)

            return [all(await asyncio.gather(*(look_up(100 * i + n) for n in range(100)))) for i in range(5)]

    assert asyncio.run(run()) == [True] * 5


def test_a_cancelled_task_leaves_nothing_behind_that_another_reads(server: Server) -> None:
    async def run() -> tuple[int, bool]:
        cancelled = 0
        async with AsyncFeatureClient(server.url, **PATIENT) as client:
            await client.lookup("plain", {"user_id": [0]})
            for n in range(200):
                task = asyncio.create_task(client.lookup("plain", {"user_id": asked(n)}))
                for _ in range(n % 4):
                    await asyncio.sleep(0)
                task.cancel()
                try:
                    await task
                except asyncio.CancelledError:
                    cancelled += 1
                users = asked(n + 3)
                if not is_right(await client.lookup("plain", {"user_id": users}), users):
                    return cancelled, False
            return cancelled, client.breaker.state == "closed"

    cancelled, is_sound = asyncio.run(run())
    assert cancelled > 50
    assert is_sound


def test_a_cancelled_trial_is_given_to_the_next(server: Server) -> None:
    async def run() -> str:
        breaker = Breaker(failures=1, open_ms=1)
        async with AsyncFeatureClient(server.url, breaker=breaker, **PATIENT) as client:
            await client.lookup("plain", {"user_id": [0]})
            breaker.failed(breaker.admit())
            await asyncio.sleep(0.002)
            task = asyncio.create_task(client.lookup("plain", {"user_id": [0]}))
            await asyncio.sleep(0)
            assert breaker.state == "half-open"
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await client.lookup("plain", {"user_id": [0]})
            return breaker.state

    assert asyncio.run(run()) == "closed"


def test_an_async_client_belongs_to_the_loop_of_its_first_lookup(server: Server) -> None:
    client = AsyncFeatureClient(server.url, **PATIENT)

    async def look_up(of: AsyncFeatureClient) -> None:
        await of.lookup("plain", {"user_id": [1]})

    with asyncio.Runner() as home:
        home.run(look_up(client))
        for stranger in (client, client.unlogged()):
            with pytest.raises(InputError, match="belongs to another event loop"):
                asyncio.run(look_up(stranger))
        home.run(look_up(client))
        home.run(client.close())


def test_a_caller_may_bound_an_async_lookup_by_its_own_timeout(server: Server) -> None:
    async def run() -> bool:
        async with AsyncFeatureClient(server.url, **PATIENT) as client:
            await client.lookup("plain", {"user_id": [1]})
            server.pause()
            try:
                async with asyncio.timeout(0.1):
                    await client.lookup("plain", {"user_id": [1]})
            except TimeoutError:
                pass
            finally:
                server.resume()
            return is_right(await client.lookup("plain", {"user_id": [2]}), [2])

    assert asyncio.run(run())


def test_a_client_is_made_where_it_is_used_and_not_pickled(server: Server) -> None:
    with FeatureClient(server.url, **PATIENT) as client, pytest.raises(TypeError, match="FeatureClient"):
        pickle.dumps(client)


def test_the_text_of_a_client_has_no_password() -> None:
    with FeatureClient("redis://:hush@127.0.0.1:1/0", **PLACE) as client:
        assert "hush" not in repr(client) + repr(vars(client))
