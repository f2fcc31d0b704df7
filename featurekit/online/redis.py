"""The online store on Redis or Valkey: the one module that knows redis-py. Its errors become ours here."""

from __future__ import annotations

import contextlib
import os
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import hiredis
import redis
from redis.backoff import ExponentialWithJitterBackoff, NoBackoff
from redis.retry import Retry

from featurekit.errors import EvictingStoreError, OnlineStoreError, OnlineStoreTimeoutError, SettingsError
from featurekit.online.store import Value
from featurekit.urls import shown_url

DEFAULT_TIMEOUT_MS: Final = 1000
_CONNECT_TIMEOUT_S: Final = 2.0
_RETRIES: Final = 3
WRITE_RETRIES: Final = 8  # some ten seconds: a writer waits for a restart or a failover, a lookup does not
_SCAN_STEP: Final = 1000
_CHANGE_TRIES: Final = 100


Connection = Any  # redis-py's connections have methods without types


class RedisStore:
    """A standalone Redis or Valkey server, by URL (`redis://`, `rediss://`, `unix://`); safe to share by threads.

    Nothing is sent before the first command. `timeout_ms` is for each answer.
    """

    def __init__(self, url: str, *, timeout_ms: int = DEFAULT_TIMEOUT_MS) -> None:
        self.name = shown_url(url)
        self._timeout_ms = timeout_ms
        self._client = _client(url, timeout_ms, self.name)
        # Connections of lookups, kept apart from redis-py's pool: that one polls the socket on each loan, and a
        # lookup finds out as soon by using it. A deque's ends are safe between threads.
        self._idle: deque[Connection] = deque()
        self._pid = os.getpid()

    def close(self) -> None:
        while self._idle:
            self._idle.pop().disconnect()
        self._client.close()

    def read(self, keys: Sequence[bytes]) -> list[Value]:
        command = [hiredis.pack_command((b"MGET", *keys))]  # type: ignore[arg-type]  # its stub allows one word
        if self._pid != os.getpid():  # a forked worker must not share its parent's sockets
            self._idle, self._pid = deque(), os.getpid()
        try:
            connection = self._idle.pop()
        except IndexError:
            return self._read_fresh(command)
        try:
            connection.send_packed_command(command)
            values: list[Value] = connection.read_response()
        except redis.ConnectionError:
            # The server may have closed an idle connection since: that is no outage yet. One fresh try tells.
            connection.disconnect()
            return self._read_fresh(command)
        except redis.RedisError as error:
            connection.disconnect()
            raise self._ours(error) from error
        self._idle.append(connection)
        return values

    def _read_fresh(self, command: list[bytes]) -> list[Value]:
        connection: Connection = self._client.connection_pool.make_connection()
        connection.retry = Retry(NoBackoff(), 0)  # who looks up has a deadline: the second try is theirs
        try:
            connection.send_packed_command(command)
            values: list[Value] = connection.read_response()
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


def translate(error: Exception, name: str, timeout_ms: int) -> OnlineStoreError:
    """Return an error of redis-py or a socket as ours."""
    if isinstance(error, redis.TimeoutError | TimeoutError):
        return OnlineStoreTimeoutError(
            f"the online store does not answer within {timeout_ms} ms",
            where=name,
            why=str(error) or None,
            try_="look at its load (SLOWLOG GET), or allow more time",
        )
    if isinstance(error, redis.AuthenticationError | redis.exceptions.NoPermissionError):
        return OnlineStoreError(
            "the online store refuses this user", where=name, why=str(error), try_="check the user and password"
        )
    if isinstance(error, redis.BusyLoadingError):
        return OnlineStoreError(
            "the online store is reading its data back after a start", where=name, try_="wait, then try again"
        )
    if isinstance(error, redis.exceptions.OutOfMemoryError):
        return OnlineStoreError(
            "the online store is full", where=name, why=str(error), try_="raise its maxmemory, or drop old versions"
        )
    if isinstance(error, redis.ResponseError):
        return OnlineStoreError("the online store refuses a command", where=name, why=str(error))
    return OnlineStoreError(
        "the online store can't be reached",
        where=name,
        why=str(error) or type(error).__name__,
        try_="check that it runs and that the URL is right; `featurekit up` starts the embedded one",
    )


def _options(timeout_ms: int) -> dict[str, Any]:
    """Return how every connection of ours behaves."""
    return {
        "socket_timeout": timeout_ms / 1000,
        "socket_connect_timeout": min(timeout_ms / 1000, _CONNECT_TIMEOUT_S),
        "retry": Retry(ExponentialWithJitterBackoff(cap=0.5, base=0.02), _RETRIES),
        "protocol": 2,  # nothing is pushed to us, and every server and proxy speaks it
        "driver_info": None,  # saves two commands on each connect
    }


def _client(url: str, timeout_ms: int, name: str) -> redis.Redis:
    try:
        client = redis.Redis.from_url(url, **_options(timeout_ms))
        pool = client.connection_pool
        pool.connection_class(**pool.connection_kwargs)  # connects to nothing, and tells an option that isn't one
    except (TypeError, ValueError):
        client = None
    if client is None or _is_cut(url):
        # None of the parser's text, nor its error as the cause: it quotes what it took for a port or a host.
        raise SettingsError(
            "this is no URL of an online store",
            where=name,
            try_="for example redis://127.0.0.1:6379/0, rediss://… for TLS, unix:///path/to/socket; in a user or a"
            " password, / ? # @ : are written %2F %3F %23 %40 %3A",
        )
    return client


def _is_cut(url: str) -> bool:
    """Return whether a parser would take a part of the user or the password for the server, a path or options."""
    scheme, _, rest = url.partition("://")
    server = re.split(r"[/?#]", rest, maxsplit=1)[0]
    return scheme != "unix" and ("@" in rest[len(server) :] or server.count("@") > 1)


def _glob_escaped(text: bytes) -> bytes:
    for special in (b"\\", b"*", b"?", b"["):
        text = text.replace(special, b"\\" + special)
    return text


class RowPipeline:
    """Sends chunks of SET commands over one connection, one chunk ahead of the answers; for one thread.

    A chunk that was not answered in full is sent again over a new connection, a bounded number of times: to SET twice
    is to SET once. What is unanswered is all that is held: two chunks.
    """

    def __init__(self, url: str, *, timeout_ms: int, retries: int = WRITE_RETRIES) -> None:
        self._name = shown_url(url)
        self._timeout_ms = timeout_ms
        self._client = _client(url, timeout_ms, self._name)
        self._connection: Connection = self._client.connection_pool.make_connection()
        self._retry = Retry(ExponentialWithJitterBackoff(cap=4.0, base=0.05), retries)
        self._unanswered: deque[tuple[memoryview, int]] = deque()
        self._sent = 0  # how many of them were sent over this connection

    def send(self, commands: memoryview, count: int) -> None:
        """Send `count` SET commands; returns when all that were sent before are answered."""
        self._unanswered.append((commands, count))
        self._advance(leave=1)

    def finish(self) -> None:
        """Return when all commands are answered."""
        self._advance(leave=0)

    def close(self) -> None:
        self._connection.disconnect()
        self._client.close()

    def _advance(self, *, leave: int) -> None:
        def step() -> None:
            while self._sent < len(self._unanswered):
                self._connection.send_packed_command([self._unanswered[self._sent][0]])
                self._sent += 1
            while len(self._unanswered) > leave:
                for _ in range(self._unanswered[0][1]):
                    self._connection.read_response()
                self._unanswered.popleft()
                self._sent -= 1

        def fail(_: Exception) -> None:
            self._connection.disconnect()
            self._sent = 0

        try:
            self._retry.call_with_retry(step, fail)
        except (redis.RedisError, OSError) as error:
            self._connection.disconnect()
            raise translate(error, self._name, self._timeout_ms) from error
