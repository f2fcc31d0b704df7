"""The servers of one store, asked from a thread: each key's own server, wherever that is or becomes; or all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final, TypeVar

from featurekit.online.redis.address import Address
from featurekit.online.redis.confirm import Confirmations
from featurekit.online.redis.errors import ReplyError, UnconfirmedError, is_passing, translate
from featurekit.online.redis.links import Link, Links
from featurekit.online.redis.peer import Command, Peer, Reply
from featurekit.online.redis.route import new_route
from featurekit.online.redis.single import SingleRoute
from featurekit.online.redis.steps import Layout, Steps, replies_in
from featurekit.online.store import Value

_SCAN_STEP: Final = 1000
_WALK_TRIES: Final = 5
_WALK_PASSES: Final = 2
# Between tries. A server that can't be reached is given up after the first few; what passes by itself, after all.
_PAUSES_S: Final = (0.02, 0.1, 0.3, 0.6, 1.0, 2.0, 3.0, 3.0)
_UNREACHABLE_TRIES: Final = 3

Result = TypeVar("Result")


class Servers:
    """Carries commands to the servers that a route names.

    `read`, `run` and `layout` raise what a server or a socket gave, the others OnlineStoreError.
    """

    def __init__(self, address: Address, timeout_ms: int) -> None:
        self.route = new_route(address)
        self.links = Links()
        # Where there is but one server, a read is one command to it: that takes no steps.
        self._only = self.route.peer if isinstance(self.route, SingleRoute) else None
        self._name = address.name
        self._timeout_ms = timeout_ms
        self._confirmations = Confirmations(on_disk=not self.route.reads_at_once)

    def ask_masters(self, *commands: Command) -> list[list[Reply]]:
        """Return each master's replies."""

        def ask(until: float) -> list[list[Reply]]:
            return [self._ask(peer, commands, until) for peer in self.layout(until).masters]

        return self.tried(ask)

    def _ask(self, peer: Peer, commands: Sequence[Command], until: float) -> list[Reply]:
        with self._lent(peer, until) as link:
            return link.ask(*commands, until=until)

    def each(self, keys: Sequence[bytes], commands: Callable[[bytes], Sequence[Command]]) -> list[list[Reply]]:
        """Write the keys, each with its commands, and return each one's replies: one connection to each server."""
        until = time.monotonic() + self._timeout_ms / 1000
        replies: dict[bytes, list[Reply]] = {}
        try:
            by_peer: dict[Peer, list[bytes]] = {}
            for key in keys:
                by_peer.setdefault(self.run(self.route.master_of(key), until), []).append(key)
            for peer, mine in by_peer.items():
                with self._lent(peer, until) as link:
                    answered = iter(link.ask(*(command for key in mine for command in commands(key)), until=until))
                    self._confirmations.confirm(peer, link, self._timeout_ms)
                replies |= {key: [next(answered) for _ in commands(key)] for key in mine}
        except UnconfirmedError as error:
            raise translate(error, self._name, self._timeout_ms) from error
        except (OSError, ReplyError):
            # Again, key by key: a server is gone, or a slot is on its way, and each is followed to where it is.
            replies = {key: self.at(key, partial(send_all, commands(key)), is_write=True) for key in keys}
        return [replies[key] for key in keys]

    def at(self, key: bytes, act: Callable[[Call], Result], *, is_write: bool = False) -> Result:
        """Return what `act` makes of a connection to the key's server, wherever that is or becomes."""
        to: Peer | None = None

        def attempt(until: float) -> Result:
            nonlocal to
            peer, is_guest = (self.run(self.route.master_of(key), until), False) if to is None else (to, True)
            to = None
            try:
                with self.links.loan(peer, until) as link:
                    result = act(Call(link, self._timeout_ms / 1000, is_guest))
                    if is_write:
                        self._confirmations.confirm(peer, link, self._timeout_ms)
                    return result
            except UnconfirmedError as error:
                # Done, on a server that may be the master no more: to do it again may be to do it twice.
                self.route.learn(peer, error)
                raise translate(error, self._name, self._timeout_ms) from error
            except (OSError, ReplyError) as error:
                to = self.route.learn(peer, error)
                raise

        return self.tried(attempt)

    def tried(self, attempt: Callable[[float], Result]) -> Result:
        """Return what `attempt` makes of the time until which it may ask; again where what it met passes by itself."""
        for tries, pause_s in enumerate((*_PAUSES_S, 0.0)):
            try:
                return attempt(time.monotonic() + self._timeout_ms / 1000)
            except (OSError, ReplyError) as error:
                most = _UNREACHABLE_TRIES if isinstance(error, OSError) else len(_PAUSES_S)
                if tries >= most or not is_passing(error):
                    raise translate(error, self._name, self._timeout_ms) from error
                time.sleep(pause_s)
        raise AssertionError

    @contextmanager
    def _lent(self, peer: Peer, until: float) -> Iterator[Link]:
        try:
            with self.links.loan(peer, until) as link:
                yield link
        except (OSError, ReplyError) as error:
            self.route.learn(peer, error)
            raise

    def walk(self, pattern: bytes) -> Iterator[list[bytes]]:
        """Yield the keys that match, of every master; all twice where keys move between masters meanwhile.

        A key that moves is passed over where its new server was walked before its old one: the second time it is there.
        """
        passes, failures = 0, 0
        while passes < _WALK_PASSES:
            before = self.tried(self.layout)
            try:
                for peer in before.masters:
                    yield from self._scan(peer, pattern)
            except (OSError, ReplyError) as error:
                failures += 1
                if failures == _WALK_TRIES or not is_passing(error):
                    raise translate(error, self._name, self._timeout_ms) from error
                continue
            passes += 1
            after = self.tried(self.layout)
            if after == before and not after.is_moving:
                return

    def layout(self, until: float) -> Layout:
        """Return which masters there are now."""
        return self.run(self.route.layout(), until)

    def _scan(self, peer: Peer, pattern: bytes) -> Iterator[list[bytes]]:
        cursor, step = b"0", b"%d" % _SCAN_STEP
        while True:
            command = (b"SCAN", cursor, b"MATCH", pattern, b"COUNT", step)
            ((cursor, keys),) = self._ask(peer, (command,), time.monotonic() + self._timeout_ms / 1000)
            yield keys
            if cursor == b"0":
                return

    def read(self, keys: Sequence[bytes], until: float) -> list[Value]:
        """Return the keys' values; raises what the servers failed with."""
        peer = self._only
        if peer is None:
            return self.run(self.route.read(keys), until)
        values: list[Value]
        (values,) = replies_in(self.links.ask(peer, [(b"MGET", *keys)], until))
        return values

    def run(self, steps: Steps[Result], until: float) -> Result:
        """Return what the steps come to, with all their answers in by then."""
        try:
            ask = next(steps)
            while True:
                ask = steps.send(self.links.exchange(ask, until))
        except StopIteration as done:
            result: Result = done.value
            return result


class Call:
    """A connection to the server that has a key, for commands in turn; each has the store's time to answer."""

    def __init__(self, link: Link, allowed_s: float, is_guest: bool) -> None:
        self._link = link
        self._allowed_s = allowed_s
        self._is_guest = is_guest  # the key's slot is just coming here: each command must say that we know

    def ask(self, *commands: Command) -> list[Reply]:
        """Return the replies; ReplyError where one is an error."""
        until = time.monotonic() + self._allowed_s
        if not self._is_guest:
            return self._link.ask(*commands, until=until)
        replies: list[Reply] = []
        # Within MULTI, what was said before it holds for all.
        for batch in [commands] if commands[0] == (b"MULTI",) else [(command,) for command in commands]:
            replies += self._link.ask((b"ASKING",), *batch, until=until)[1:]
        return replies


def send_all(commands: Sequence[Command], call: Call) -> list[Reply]:
    return call.ask(*commands)
