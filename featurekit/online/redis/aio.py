"""Connections that carry bytes to servers and back, within a time, under asyncio; and the store that reads by them."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from typing import Final

from featurekit.online.redis.address import read_address
from featurekit.online.redis.errors import ReplyError, translate
from featurekit.online.redis.peer import MORE, Peer, Reply, new_reader, pack
from featurekit.online.redis.pushes import Pushes
from featurekit.online.redis.route import DEFAULT_TIMEOUT_MS, new_route, read_limit_s
from featurekit.online.redis.steps import Answered, Ask
from featurekit.online.store import Value

_CONNECT_LIMIT_S: Final = 2.0
_CHUNK: Final = 65_536
_MOST_AT_ONCE: Final = 64  # reads, and so connections to each server: more would only wait there


class AsyncLink:
    """One connection to one server; for one task at a time."""

    __slots__ = ("_reader", "_replies", "_writer")

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._replies = new_reader()

    @classmethod
    async def open(cls, peer: Peer) -> AsyncLink:
        """Return a link that has been greeted."""
        place, context = peer.place, peer.access.context
        async with asyncio.timeout(_CONNECT_LIMIT_S):
            if place.path:
                link = cls(*await asyncio.open_unix_connection(place.path))
            else:
                link = cls(*await asyncio.open_connection(place.host, place.port, ssl=context))
            try:
                if greeting := peer.access.greeting():
                    link.send(pack(greeting))
                    peer.access.check(await link.receive(len(greeting)))
            except BaseException:
                link.close()
                raise
        return link

    def send(self, content: bytes) -> None:
        self._writer.write(content)

    async def receive(self, count: int) -> list[Reply]:
        """Return the next replies, errors among them."""
        replies: list[Reply] = []
        while True:
            reply = self._replies.gets()
            if reply is not MORE:
                replies.append(reply)
                if len(replies) == count:
                    return replies
                continue
            content = await self._reader.read(_CHUNK)
            if not content:
                raise ConnectionResetError("the server closed the connection")
            self._replies.feed(content)

    def close(self) -> None:
        self._writer.transport.abort()  # nothing is left to be sent that anybody waits for


class AsyncRedisStore:
    """A store by its URL, read under asyncio; each event loop has connections of its own. As RedisStore."""

    def __init__(self, url: str, *, timeout_ms: int = DEFAULT_TIMEOUT_MS) -> None:
        address = read_address(url)
        self.name = address.name
        self._timeout_ms = timeout_ms
        self._route = new_route(address)
        self.reads_at_once = self._route.reads_at_once
        self._idle: dict[Peer, deque[AsyncLink]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._room = asyncio.Semaphore(_MOST_AT_ONCE)

    async def close(self) -> None:
        for idle in self._idle.values():
            while idle:
                idle.pop().close()
        await asyncio.sleep(0)  # the transports are gone when the loop comes round

    async def read(self, keys: Sequence[bytes], *, timeout_s: float | None = None) -> list[Value]:
        allowed = read_limit_s(self._route, self._timeout_ms, timeout_s)
        until = time.monotonic() + allowed
        steps = self._route.read(keys)
        try:
            ask = next(steps)
            while True:
                ask = steps.send(await self._exchange(ask, until))
        except StopIteration as done:
            values: list[Value] = done.value
            return values
        except (OSError, ReplyError) as error:
            raise translate(error, self.name, round(allowed * 1000)) from error

    def pushes(self, prefixes: Sequence[bytes]) -> Pushes:
        """Return what waits, in a thread of its own, for what servers say of keys that begin so."""
        return Pushes(self._route, self.name, prefixes)

    async def _exchange(self, ask: Ask, until: float) -> Answered:
        """As `Links.exchange`."""
        self._own()
        if ask.within_s is not None:
            until = min(until, time.monotonic() + ask.within_s)
        answered: Answered = {}
        sent: dict[Peer, tuple[AsyncLink, bool]] = {}
        try:
            async with asyncio.timeout(until - time.monotonic()), self._room:
                for peer, commands in ask.batches.items():
                    try:
                        sent[peer] = await self._sent(peer, pack(commands))
                    except (OSError, ReplyError) as error:
                        answered[peer] = error
                for peer in tuple(sent):
                    answered[peer] = await self._received(peer, ask, sent)
        except TimeoutError:
            answered |= {peer: TimeoutError("no answer came") for peer in ask.batches if peer not in answered}
        finally:
            for link, _ in sent.values():  # where the answer is still to come, also of a task that is cancelled
                link.close()
        return answered

    async def _sent(self, peer: Peer, content: bytes) -> tuple[AsyncLink, bool]:
        idle = self._idle.get(peer)
        link, is_reused = (idle.pop(), True) if idle else (await AsyncLink.open(peer), False)
        link.send(content)
        return link, is_reused

    async def _received(
        self, peer: Peer, ask: Ask, sent: dict[Peer, tuple[AsyncLink, bool]]
    ) -> list[Reply] | Exception:
        commands = ask.batches[peer]
        link, is_reused = sent[peer]
        try:
            try:
                replies = await link.receive(len(commands))
            except OSError:
                if not is_reused:
                    raise
                # The server may have closed an idle connection since: that is no outage yet. One fresh try tells.
                link.close()
                sent[peer] = link, _ = await AsyncLink.open(peer), False
                link.send(pack(commands))
                replies = await link.receive(len(commands))
        except (OSError, ReplyError) as error:
            return error
        del sent[peer]
        self._idle.setdefault(peer, deque()).append(link)
        return replies

    def _own(self) -> None:
        loop = asyncio.get_running_loop()
        if self._loop is not loop:  # the links of a loop that is over can't be used or closed any more
            self._idle, self._loop, self._room = {}, loop, asyncio.Semaphore(_MOST_AT_ONCE)
