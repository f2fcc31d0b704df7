"""What every store must do under asyncio, asked of each real deployment."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from featurekit.errors import OnlineStoreError, OnlineStoreTimeoutError
from featurekit.online.redis import open_async_store
from featurekit.online.redis.store import RedisStore
from featurekit.online.store import AsyncReadableStore
from tests.online.deployments import standalone
from tests.online.servers import masters_of

VALUES = {b"k%d" % i: b"%d" % i * 100 for i in range(200)}
KEYS = [*VALUES, b"nothing"]
FOUND = [*VALUES.values(), None]


def run(url: str, work: Callable[[AsyncReadableStore], Awaitable[None]]) -> None:
    async def whole() -> None:
        store = open_async_store(url, timeout_ms=5000)
        try:
            await work(store)
        finally:
            await store.close()

    asyncio.run(whole())


def test_a_read_gives_what_a_blocking_one_gives(any_store: RedisStore, any_url: str) -> None:
    async def read(store: AsyncReadableStore) -> None:
        assert store.name == any_store.name
        assert store.reads_at_once == any_store.reads_at_once
        for _ in range(3):
            assert await store.read(KEYS) == any_store.read(KEYS) == FOUND

    any_store.write(VALUES)
    run(any_url, read)


def test_tasks_share_a_store(any_store: RedisStore, any_url: str) -> None:
    async def read(store: AsyncReadableStore) -> None:
        async def one(key: bytes) -> None:
            for _ in range(5):
                assert await store.read([key, b"nothing"]) == [VALUES[key], None]

        await asyncio.gather(*map(one, VALUES))
        for admin in masters_of(any_url):
            with admin:
                # Of 200 tasks, at most 64 read at once.
                assert int(str(admin.info("clients")["connected_clients"])) < 64 + 30

    any_store.write(VALUES)
    run(any_url, read)


def test_a_read_that_is_cancelled_at_any_moment_leaves_no_answer_to_the_next(
    any_store: RedisStore, any_url: str
) -> None:
    async def read(store: AsyncReadableStore) -> None:
        for rounds in range(40):
            task = asyncio.ensure_future(store.read(KEYS[:50]))
            for _ in range(rounds % 12):
                await asyncio.sleep(0)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            assert await store.read(KEYS[50:]) == FOUND[50:]

    any_store.write(VALUES)
    run(any_url, read)


def test_a_read_survives_servers_that_closed_the_idle_connections(any_store: RedisStore, any_url: str) -> None:
    async def read(store: AsyncReadableStore) -> None:
        assert await store.read(KEYS) == FOUND
        for admin in masters_of(any_url):
            with admin:
                admin.client_kill_filter(_type="normal", skipme=True)
        assert await store.read(KEYS) == FOUND

    any_store.write(VALUES)
    run(any_url, read)


def test_a_server_that_hangs_is_a_timeout_and_no_answer_for_later(tmp_path: Path) -> None:
    async def read(store: AsyncReadableStore) -> None:
        assert await store.read([b"a"]) == [b"1"]
        server.pause()
        with pytest.raises(OnlineStoreTimeoutError, match="within 100 ms"):
            await store.read([b"a"], timeout_s=0.1)
        server.resume()
        assert await store.read([b"b"]) == [b"2"]
        server.kill()
        with pytest.raises(OnlineStoreError, match="can't be reached"):
            await store.read([b"a"])

    with standalone(tmp_path, "valkey") as server:
        blocking = RedisStore(server.url)
        blocking.write({b"a": b"1", b"b": b"2"})
        blocking.close()
        run(server.url, read)
