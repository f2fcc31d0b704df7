"""Connections that carry bytes to servers and back, within a time: the blocking ones."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections import deque
from collections.abc import Iterator
from typing import Final

from featurekit.online.redis.errors import ReplyError
from featurekit.online.redis.peer import MORE, Command, Peer, Reply, new_reader, pack, raise_errors
from featurekit.online.redis.steps import Answered, Ask

_CONNECT_LIMIT_S: Final = 2.0
_CHUNK: Final = 65_536
_SAME_TIME: Final = 0.001  # of what is left: a time that is so little longer or shorter is as good


class Link:
    """One connection to one server; for one thread at a time. Every method raises OSError where it broke."""

    __slots__ = ("_allowed_s", "_buffer", "_reader", "_socket")

    def __init__(self, peer: Peer, until: float) -> None:
        """Connect and say the greeting; `until` is of the monotonic clock, here and below."""
        self._socket = _connect(peer, until)
        self._allowed_s = 0.0
        self._reader = new_reader()
        self._buffer = bytearray(_CHUNK)
        try:
            if greeting := peer.access.greeting():
                self.send(pack(greeting), until)
                peer.access.check(self.receive(len(greeting), until))
        except BaseException:
            self.close()
            raise

    def send(self, content: bytes | memoryview, until: float) -> None:
        self._allow(until)
        self._socket.sendall(content)

    def receive(self, count: int, until: float) -> list[Reply]:
        """Return the next replies, errors among them."""
        gets, buffer = self._reader.gets, self._buffer
        replies: list[Reply] = []
        while True:
            reply = gets()
            if reply is not MORE:
                replies.append(reply)
                if len(replies) == count:
                    return replies
                continue
            self._allow(until)
            size = self._socket.recv_into(buffer)
            if not size:
                raise ConnectionResetError("the server closed the connection")
            self._reader.feed(buffer, 0, size)

    def ask(self, *commands: Command, until: float) -> list[Reply]:
        """Return the reply to each command; ReplyError where one is an error."""
        self.send(pack(list(commands)), until)
        replies = self.receive(len(commands), until)
        raise_errors(replies)
        return replies

    def _allow(self, until: float) -> None:
        left = _left(until)
        if abs(left - self._allowed_s) > left * _SAME_TIME:  # to say it anew is one more call of the system
            self._socket.settimeout(left)
            self._allowed_s = left

    def close(self) -> None:
        self._socket.close()

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError):  # it never came to be
            self._socket.close()


class Links:
    """Idle connections of one store, by server; safe to share by threads, and a forked process has its own.

    Nobody asks an idle connection whether it still lives: whoever uses it finds out as soon.
    """

    def __init__(self) -> None:
        self._idle: dict[Peer, deque[Link]] = {}  # a deque's ends are safe between threads
        self._pid = os.getpid()

    def close(self) -> None:
        for idle in self._idle.values():
            while idle:
                idle.pop().close()

    def ask(self, peer: Peer, commands: list[Command], until: float) -> list[Reply] | Exception:
        """Return one server's replies, or the error in their place."""
        self._own()
        content = pack(commands)
        try:
            link, is_reused = self._sent(peer, content, until)
        except (OSError, ReplyError) as error:
            return error
        return self._received(peer, len(commands), content, link, is_reused, until)

    def exchange(self, ask: Ask, until: float) -> Answered:
        """Return each server's replies, or the error in their place. All is sent before any answer is awaited."""
        self._own()
        if ask.within_s is not None:
            until = min(until, time.monotonic() + ask.within_s)
        answered: Answered = {}
        sent: list[tuple[Peer, list[Command], bytes, Link, bool]] = []
        for peer, commands in ask.batches.items():
            content = pack(commands)
            try:
                link, is_reused = self._sent(peer, content, until)
                sent.append((peer, commands, content, link, is_reused))
            except (OSError, ReplyError) as error:
                answered[peer] = error
        for peer, commands, content, link, is_reused in sent:
            answered[peer] = self._received(peer, len(commands), content, link, is_reused, until)
        return answered

    @contextlib.contextmanager
    def loan(self, peer: Peer, until: float) -> Iterator[Link]:
        """Give a connection for several commands in turn; after an error it is closed, and all idle ones with it."""
        self._own()
        try:
            link = self._idle[peer].pop()
        except (KeyError, IndexError):
            link = Link(peer, until)
        try:
            yield link
        except BaseException:
            link.close()
            for other in self._idle.pop(peer, ()):
                other.close()
            raise
        self._give_back(peer, link)

    def _own(self) -> None:
        if self._pid != os.getpid():  # a forked worker must not share its parent's sockets
            self._idle, self._pid = {}, os.getpid()

    def _sent(self, peer: Peer, content: bytes, until: float) -> tuple[Link, bool]:
        try:
            link = self._idle[peer].pop()
        except (KeyError, IndexError):
            return _fresh(peer, content, until), False
        try:
            link.send(content, until)
        except TimeoutError:
            link.close()
            raise
        except OSError:
            link.close()
            return _fresh(peer, content, until), False
        return link, True

    def _received(
        self, peer: Peer, count: int, content: bytes, link: Link, is_reused: bool, until: float
    ) -> list[Reply] | Exception:
        try:
            try:
                replies = link.receive(count, until)
            except TimeoutError:
                raise
            except OSError:
                if not is_reused:
                    raise
                # The server may have closed an idle connection since: that is no outage yet. One fresh try tells.
                link.close()
                link = _fresh(peer, content, until)
                replies = link.receive(count, until)
        except (OSError, ReplyError) as error:
            link.close()
            return error
        self._give_back(peer, link)
        return replies

    def _give_back(self, peer: Peer, link: Link) -> None:
        idle = self._idle.get(peer)
        if idle is None:
            idle = self._idle.setdefault(peer, deque())
        idle.append(link)


def _fresh(peer: Peer, content: bytes, until: float) -> Link:
    link = Link(peer, until)
    try:
        link.send(content, until)
    except BaseException:
        link.close()
        raise
    return link


def _connect(peer: Peer, until: float) -> socket.socket:
    place, context = peer.place, peer.access.context
    allowed = min(_left(until), _CONNECT_LIMIT_S)
    if place.path:
        stream = socket.socket(socket.AF_UNIX)
        try:
            stream.settimeout(allowed)
            stream.connect(place.path)
        except BaseException:
            stream.close()
            raise
        return stream
    stream = socket.create_connection((place.host, place.port), timeout=allowed)
    try:
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        return stream if context is None else context.wrap_socket(stream, server_hostname=place.host)
    except BaseException:
        stream.close()
        raise


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError("no time is left")
    return left
