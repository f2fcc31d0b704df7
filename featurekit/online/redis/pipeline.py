"""The writer's way into the store: whole commands, sent ahead of their answers."""

from __future__ import annotations

from collections import deque
from typing import Final

import pyarrow as pa
import redis
from redis.backoff import ExponentialWithJitterBackoff
from redis.retry import Retry

from featurekit.online.redis.errors import translate
from featurekit.online.redis.options import Connection, open_client
from featurekit.urls import shown_url

WRITE_RETRIES: Final = 8  # some ten seconds: a writer waits for a restart or a failover, a lookup does not


class RowPipeline:
    """Sends chunks of SET commands over one connection, one chunk ahead of the answers; for one thread.

    A chunk that was not answered in full is sent again over a new connection, a bounded number of times: to SET twice
    is to SET once. What is unanswered is all that is held: two chunks.
    """

    def __init__(self, url: str, *, timeout_ms: int, retries: int = WRITE_RETRIES) -> None:
        self._name = shown_url(url)
        self._timeout_ms = timeout_ms
        self._client = open_client(url, timeout_ms, self._name)
        self._connection: Connection = self._client.connection_pool.make_connection()
        self._retry = Retry(ExponentialWithJitterBackoff(cap=4.0, base=0.05), retries)
        self._unanswered: deque[tuple[memoryview, int]] = deque()
        self._sent = 0  # how many of them were sent over this connection

    def send(self, keys: pa.BinaryArray, commands: pa.BinaryArray) -> None:
        """Send a SET command per row, each as it goes over the wire; returns when all sent before are answered.

        `keys` are the commands' keys: they tell where a command goes where there are several servers.
        """
        assert len(keys) == len(commands)
        self._unanswered.append((_content(commands), len(commands)))
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


def _content(texts: pa.BinaryArray) -> memoryview:
    """Return the texts joined, without a copy."""
    _, offsets, content = texts.buffers()
    bounds = memoryview(offsets).cast("i")
    return memoryview(content)[bounds[texts.offset] : bounds[texts.offset + len(texts)]]
