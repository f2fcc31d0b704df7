"""What servers say by themselves: which keys were changed (CLIENT TRACKING), over a connection to each master."""

from __future__ import annotations

import contextlib
import selectors
import ssl
import time
from collections.abc import Generator, Iterator, Sequence
from typing import Any, Final

import hiredis

from featurekit.errors import OnlineStoreError
from featurekit.online.redis.errors import ReplyError, translate
from featurekit.online.redis.links import Link, Links
from featurekit.online.redis.peer import MORE, Command, Peer, pack
from featurekit.online.redis.steps import Ask, Route

PING_S: Final = 1.0
_SILENCE_S: Final = 3 * PING_S
_MASTERS_S: Final = 5.0  # how soon a master that came to a cluster is heard of
_CONNECT_LIMIT_S: Final = 2.0
_PING: Final = pack([(b"PING",)])

Changed = list[bytes] | None
"""Keys that were changed; None where any may have been."""


class Pushes:
    """Waits for what servers push about keys that begin with one of `prefixes`; for one thread at a time.

    Every method raises OnlineStoreError where a server can't be heard (any more): then what it says is lost.
    """

    def __init__(self, route: Route, name: str, prefixes: Sequence[bytes]) -> None:
        self._route = route
        self._name = name
        self._greeting = _greeting(prefixes)
        self._asked = Links()
        self._links: dict[Peer, PushLink] = {}
        self._selector: selectors.BaseSelector | None = None
        self._pinged_s = self._checked_s = 0.0

    def open(self) -> None:
        """Connect to all masters: what is changed from now on is told by `wait`."""
        self.close()
        until = time.monotonic() + _CONNECT_LIMIT_S
        try:
            selector = self._selector = selectors.DefaultSelector()
            for peer in self._masters(until):
                with self._learning(peer):
                    link = self._links[peer] = PushLink(peer, self._greeting, until)
                selector.register(link.fileno(), selectors.EVENT_READ, (peer, link))
        except (OSError, ReplyError) as error:
            self.close()
            raise translate(error, self._name, round(_CONNECT_LIMIT_S * 1000)) from error
        self._pinged_s = self._checked_s = time.monotonic()

    def wait(self) -> Changed:
        """Return what was changed, at the latest after PING_S; an empty list where nothing was."""
        if self._selector is None:
            raise OnlineStoreError("nothing is heard of the online store", where=self._name, why="not connected")
        changed: list[bytes] = []
        try:
            for key, _ in self._selector.select(PING_S):
                peer, link = key.data
                with self._learning(peer):
                    told = link.take()
                if told is None:
                    return None
                changed += told
            self._look_after(time.monotonic())
        except (OSError, ReplyError) as error:
            self.close()
            raise translate(error, self._name, round(_SILENCE_S * 1000)) from error
        return changed

    def interrupt(self) -> None:
        """Let a `wait` in another thread end at once."""
        for link in tuple(self._links.values()):
            link.interrupt()

    def close(self) -> None:
        self._asked.close()
        if self._selector is not None:
            self._selector.close()
            self._selector = None
        for link in self._links.values():
            link.close()
        self._links.clear()

    def _look_after(self, now: float) -> None:
        """See that each server still answers, and that no other master has come."""
        if now - self._pinged_s >= PING_S:
            self._pinged_s = now
            for peer, link in self._links.items():
                with self._learning(peer):
                    if now - link.heard_s > _SILENCE_S:
                        raise TimeoutError(f"{peer.place} is silent")
                    link.ping(now + PING_S)
        if now - self._checked_s >= _MASTERS_S:
            self._checked_s = now
            if set(self._masters(now + _CONNECT_LIMIT_S)) != set(self._links):
                raise ConnectionError("other servers are masters now")

    @contextlib.contextmanager
    def _learning(self, peer: Peer) -> Iterator[None]:
        """Have the route know of a server that failed: another may be the master by now."""
        try:
            yield
        except (OSError, ReplyError) as error:
            self._route.learn(peer, error)
            raise

    def _masters(self, until: float) -> tuple[Peer, ...]:
        steps: Generator[Ask, Any, tuple[Peer, ...]] = self._route.masters()
        try:
            ask = next(steps)
            while True:
                ask = steps.send(self._asked.exchange(ask, until))
        except StopIteration as done:
            masters: tuple[Peer, ...] = done.value
            return masters


class PushLink(Link):
    """A connection over which a server pushes which keys were changed."""

    __slots__ = ("heard_s",)

    def __init__(self, peer: Peer, greeting: list[Command], until: float) -> None:
        super().__init__(peer, until)
        try:
            self.ask(*greeting, until=until)
            self._wait_no_more()
        except BaseException:
            self.close()
            raise
        self.heard_s = time.monotonic()

    def fileno(self) -> int:
        return self._socket.fileno()

    def interrupt(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(2)

    def ping(self, until: float) -> None:
        self.send(_PING, until)
        self._wait_no_more()

    def take(self) -> Changed:
        """Return the keys of all that has come; OSError where the connection is over."""
        changed: list[bytes] = []
        is_all = False
        while True:
            reply = self._reader.gets()
            if reply is MORE:
                if not self._fill():
                    return None if is_all else changed
            elif isinstance(reply, ReplyError):
                raise reply
            elif isinstance(reply, hiredis.PushNotification) and reply[0] == b"invalidate":
                is_all = is_all or reply[1] is None  # FLUSHALL and the like
                changed += reply[1] or ()

    def _wait_no_more(self) -> None:
        """Let reads give what has come; what is sent next has its own time again."""
        self._socket.settimeout(0)
        self._allowed_s = 0.0

    def _fill(self) -> bool:
        try:
            size = self._socket.recv_into(self._buffer)
        except (BlockingIOError, ssl.SSLWantReadError):
            return False
        if not size:
            raise ConnectionResetError("the server closed the connection")
        self.heard_s = time.monotonic()
        self._reader.feed(self._buffer, 0, size)
        return True


def _greeting(prefixes: Sequence[bytes]) -> list[Command]:
    words = [word for prefix in prefixes for word in (b"PREFIX", prefix)]
    # RESP3: what is pushed comes over the same connection, and takes no right to subscribe to channels.
    return [(b"HELLO", b"3"), (b"CLIENT", b"TRACKING", b"ON", b"BCAST", *words)]
