"""One server, Redis or Valkey, as the online store."""

from __future__ import annotations

import contextlib
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import hiredis
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from featurekit.errors import EvictingStoreError, OnlineStoreError
from featurekit.online.redis.errors import translate
from featurekit.online.redis.options import DEFAULT_TIMEOUT_MS, Connection, open_client
from featurekit.online.store import Value
from featurekit.urls import shown_url

_SCAN_STEP: Final = 1000
_CHANGE_TRIES: Final = 100
_LEAST_S: Final = 0.001  # a socket takes 0 for "do not wait at all"


class RedisStore:
    """A standalone Redis or Valkey server, by URL (`redis://`, `rediss://`, `unix://`); safe to share by threads.

    Nothing is sent before the first command. `timeout_ms` is for each answer.
    """

    reads_at_once = True

    def __init__(self, url: str, *, timeout_ms: int = DEFAULT_TIMEOUT_MS) -> None:
        self.name = shown_url(url)
        self._timeout_ms = timeout_ms
        self._client = open_client(url, timeout_ms, self.name)
        # Connections of lookups, kept apart from redis-py's pool: that one polls the socket on each loan, and a
        # lookup finds out as soon by using it. A deque's ends are safe between threads.
        self._idle: deque[Connection] = deque()
        self._pid = os.getpid()

    def close(self) -> None:
        while self._idle:
            self._idle.pop().disconnect()
        self._client.close()

    def read(self, keys: Sequence[bytes], *, timeout_s: float | None = None) -> list[Value]:
        command = [hiredis.pack_command((b"MGET", *keys))]  # type: ignore[arg-type]  # its stub allows one word
        until = None if timeout_s is None else time.monotonic() + timeout_s
        if self._pid != os.getpid():  # a forked worker must not share its parent's sockets
            self._idle, self._pid = deque(), os.getpid()
        try:
            connection = self._idle.pop()
        except IndexError:
            return self._read_fresh(command, until)
        try:
            values = _answer(connection, command, until)
        except redis.ConnectionError:
            # The server may have closed an idle connection since: that is no outage yet. One fresh try tells.
            connection.disconnect()
            return self._read_fresh(command, until)
        except redis.RedisError as error:
            connection.disconnect()
            raise self._ours(error) from error
        self._idle.append(connection)
        return values

    def _read_fresh(self, command: list[bytes], until: float | None) -> list[Value]:
        connection: Connection = self._client.connection_pool.make_connection()
        connection.retry = Retry(NoBackoff(), 0)  # who looks up has a deadline: the second try is theirs
        if until is not None:
            left = until - time.monotonic()
            connection.socket_connect_timeout = max(min(left, connection.socket_connect_timeout), _LEAST_S)
        try:
            values = _answer(connection, command, until)
        except (redis.RedisError, OSError) as error:
            connection.disconnect()
            raise self._ours(error) from error
        self._idle.append(connection)
        return values

    def find(self, prefix: bytes) -> Iterator[bytes]:
        with self._translated():
            yield from self._client.scan_iter(match=_glob_escaped(prefix) + b"*", count=_SCAN_STEP)

    def write(self, values: Mapping[bytes, bytes], *, expires_at_ms: int | None = None) -> None:
        with self._translated(), self._client.pipeline(transaction=True) as pipeline:
            for key, value in values.items():
                pipeline.set(key, value, pxat=expires_at_ms)
            pipeline.execute()

    def change(self, key: bytes, to: Callable[[Value], Value]) -> Value:
        with self._translated(), self._client.pipeline(transaction=True) as pipeline:
            for _ in range(_CHANGE_TRIES):
                pipeline.watch(key)  # type: ignore[no-untyped-call]
                # A watching pipeline answers at once; redis-py's types say it returns itself.
                old: Any = pipeline.get(key)
                new = to(old)
                if new == old:
                    return new
                pipeline.multi()
                if new is None:
                    pipeline.delete(key)
                else:
                    pipeline.set(key, new, keepttl=True)
                try:
                    pipeline.execute()
                except redis.WatchError:
                    continue  # another writer was faster; begin again with what it wrote
                return new
        raise OnlineStoreError(
            f"{key.decode()} could not be changed: others changed it {_CHANGE_TRIES} times meanwhile", where=self.name
        )

    def extend(self, key: bytes, *, expires_at_ms: int) -> bool:
        with self._translated():
            if self._client.pexpireat(key, expires_at_ms, gt=True):
                return True
            # Not later than what it had, or gone: the two answer alike.
            return bool(self._client.exists(key))

    def delete(self, pattern: bytes, *, endings: tuple[bytes, ...] = (b"",)) -> int:
        deleted = 0
        with self._translated():
            cursor = 0
            while True:
                step: Any = self._client.scan(cursor, match=pattern, count=_SCAN_STEP)
                cursor, keys = step
                if found := [key for key in keys if key.endswith(endings)]:
                    deleted += int(self._client.unlink(*found))
                if not cursor:
                    return deleted

    def now_ms(self) -> int:
        with self._translated():
            seconds, micros = self._client.time()
            return int(seconds) * 1000 + int(micros) // 1000

    def check_keeps_rows(self) -> None:
        with self._translated():
            # INFO and not CONFIG: managed servers and narrow users often may not use CONFIG.
            policy = self._client.info("memory").get("maxmemory_policy")
        if policy != "noeviction":
            raise EvictingStoreError(
                f"the online store's maxmemory-policy is {policy}",
                where=self.name,
                why="an evicted row would read as an entity without one: a wrong answer nobody notices",
                try_="CONFIG SET maxmemory-policy noeviction, also in its configuration file",
            )

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (redis.RedisError, OSError) as error:
            raise self._ours(error) from error

    def _ours(self, error: Exception) -> OnlineStoreError:
        return translate(error, self.name, self._timeout_ms)


def _answer(connection: Connection, command: list[bytes], until: float | None) -> list[Value]:
    connection.send_packed_command(command)
    if until is None:
        answered: list[Value] = connection.read_response()
    else:
        answered = connection.read_response(timeout=max(until - time.monotonic(), _LEAST_S))
    return answered


def _glob_escaped(text: bytes) -> bytes:
    for special in (b"\\", b"*", b"?", b"["):
        text = text.replace(special, b"\\" + special)
    return text
