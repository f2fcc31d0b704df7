"""One server, Redis or Valkey, as lookups under asyncio read it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence

import hiredis
import redis
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from featurekit.errors import OnlineStoreError
from featurekit.online.redis.errors import translate
from featurekit.online.redis.options import DEFAULT_TIMEOUT_MS, Connection, open_client, options
from featurekit.online.store import Value
from featurekit.urls import shown_url


class AsyncRedisStore:
    """A standalone server, read under asyncio; for the tasks of one event loop. Nothing is sent before the first read.

    `timeout_ms` is for each answer.
    """

    reads_at_once = True

    def __init__(self, url: str, *, timeout_ms: int = DEFAULT_TIMEOUT_MS) -> None:
        self.name = shown_url(url)
        self._timeout_s = timeout_ms / 1000
        open_client(url, timeout_ms, self.name).close()  # tells what is no URL
        self._client: Redis = Redis.from_url(url, **{**options(timeout_ms), "retry": Retry(NoBackoff(), 0)})
        self._idle: deque[Connection] = deque()

    async def close(self) -> None:
        while self._idle:
            await self._idle.pop().disconnect()
        await self._client.aclose()

    async def read(self, keys: Sequence[bytes], *, timeout_s: float | None = None) -> list[Value]:
        command = [hiredis.pack_command((b"MGET", *keys))]  # type: ignore[arg-type]  # its stub allows one word
        allowed = self._timeout_s if timeout_s is None else timeout_s
        try:
            async with asyncio.timeout(allowed):
                return await self._read(command)
        except (redis.RedisError, OSError) as error:
            raise self._ours(error, allowed) from error

    async def _read(self, command: list[bytes]) -> list[Value]:
        try:
            connection = self._idle.pop()
        except IndexError:
            return await self._read_fresh(command)
        try:
            return await self._read_by(connection, command)
        except redis.ConnectionError:
            # The server may have closed an idle connection since: that is no outage yet. One fresh try tells.
            return await self._read_fresh(command)

    async def _read_fresh(self, command: list[bytes]) -> list[Value]:
        fresh: Connection = self._client.connection_pool.make_connection()  # type: ignore[no-untyped-call]
        return await self._read_by(fresh, command)

    async def _read_by(self, connection: Connection, command: list[bytes]) -> list[Value]:
        try:
            await connection.send_packed_command(command)
            values: list[Value] = await connection.read_response()
        except BaseException:  # also a task that is cancelled: the answer is still to come over this connection
            await connection.disconnect(nowait=True)
            raise
        self._idle.append(connection)
        return values

    def _ours(self, error: Exception, allowed_s: float) -> OnlineStoreError:
        return translate(error, self.name, round(allowed_s * 1000))
