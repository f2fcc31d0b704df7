"""Reading as steps without I/O: which servers to ask what, given what they answered. Stores only carry the bytes.

The blocking store and the one under asyncio run the same steps; a deployment is a route that makes them.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

from featurekit.online.redis.errors import ReplyError
from featurekit.online.redis.peer import Command, Peer, Reply
from featurekit.online.store import Value

Result = TypeVar("Result")


class Ask(NamedTuple):
    """Commands for servers: to be sent to all of them before any answer is awaited."""

    batches: Mapping[Peer, list[Command]]
    within_s: float | None = None  # sooner than the caller's time is over: another server may know


Answered = dict[Peer, list[Reply] | Exception]
Steps = Generator[Ask, Answered, Result]


class Layout(NamedTuple):
    """Which masters hold the keys, in a form that is equal where nothing moved."""

    masters: tuple[Peer, ...]
    slots: tuple[object, ...] = ()
    is_moving: bool = False


class Route(Protocol):
    """Which server has which key, and what was learned of that; shared by threads."""

    reads_at_once: bool

    def read(self, keys: Sequence[bytes]) -> Steps[list[Value]]:
        """Return the keys' values; raises the last error where no server gives them."""

    def master_of(self, key: bytes) -> Steps[Peer]:
        """Return the server that takes writes of a key."""

    def masters(self) -> Steps[tuple[Peer, ...]]:
        """Return the servers that have keys now, asked with no more rights than a read takes."""

    def layout(self) -> Steps[Layout]:
        """Return the masters as they are now."""

    def learn(self, peer: Peer, error: Exception) -> Peer | None:
        """Take note of an error that `peer` gave; return whom to ask instead, just this once, where it said so."""

    def groups(self, keys: Sequence[bytes]) -> list[list[bytes]]:
        """Return the keys in groups that one command may name."""

    def copies(self, key: bytes) -> tuple[bytes, ...]:
        """Return the keys under which a value is kept beside `key` itself."""


def replies_of(answered: Answered, peer: Peer) -> list[Reply]:
    """Return what a server replied; raises what it failed with, or the first reply that is an error."""
    return replies_in(answered[peer])


def replies_in(replies: list[Reply] | Exception) -> list[Reply]:
    """As `replies_of`, of one server's part."""
    if isinstance(replies, Exception):
        raise replies
    for reply in replies:
        if isinstance(reply, ReplyError):
            raise reply
    return replies
