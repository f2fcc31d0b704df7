"""The online store on Redis or Valkey: one server, Sentinel's master or a cluster, by what its route says."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from featurekit.clock import Instant
from featurekit.errors import EvictingStoreError, OnlineStoreError
from featurekit.online.redis.address import read_address
from featurekit.online.redis.confirm import Confirmations, server_fields
from featurekit.online.redis.errors import ReplyError, UnconfirmedError, is_passing, translate
from featurekit.online.redis.in_place import delete_older
from featurekit.online.redis.links import Link, Links
from featurekit.online.redis.peer import Command, Peer, Reply, raise_errors
from featurekit.online.redis.rights import Lacking, lacking_rights
from featurekit.online.redis.route import DEFAULT_TIMEOUT_MS, new_route, read_limit_s
from featurekit.online.redis.slots import is_copy
from featurekit.online.redis.steps import Layout, Steps
from featurekit.online.store import Value

if TYPE_CHECKING:
    from featurekit.online.redis.pushes import Pushes

_SCAN_STEP: Final = 1000
_CHANGE_TRIES: Final = 100
_WALK_TRIES: Final = 5
_WALK_PASSES: Final = 2
# Between tries. A server that can't be reached is given up after the first few; what passes by itself, after all.
_PAUSES_S: Final = (0.02, 0.1, 0.3, 0.6, 1.0, 2.0, 3.0, 3.0)
_UNREACHABLE_TRIES: Final = 3

Result = TypeVar("Result")


class RedisStore:
    """A store by its URL; safe to share by threads, and fork-safe. Nothing is sent before the first command.

    `timeout_ms` is for each answer. SettingsError for what is no URL of a store.
    """

    def __init__(self, url: str, *, timeout_ms: int = DEFAULT_TIMEOUT_MS) -> None:
        address = read_address(url)
        self.name = address.name
        self._timeout_ms = timeout_ms
        self._route = new_route(address)
        self._links = Links()
        self._confirmations = Confirmations(on_disk=not self._route.reads_at_once)
        self.reads_at_once = self._route.reads_at_once

    def close(self) -> None:
        self._links.close()

    def read(self, keys: Sequence[bytes], *, timeout_s: float | None = None) -> list[Value]:
        allowed = read_limit_s(self._route, self._timeout_ms, timeout_s)
        try:
            return self._run(self._route.read(keys), time.monotonic() + allowed)
        except (OSError, ReplyError) as error:
            raise translate(error, self.name, round(allowed * 1000)) from error

    def pushes(self, prefixes: Sequence[bytes]) -> Pushes:
        """Return what waits, in a thread of its own, for what servers say of keys that begin so."""
        from featurekit.online.redis.pushes import Pushes  # for who keeps a cache: it loads what TLS needs

        return Pushes(self._route, self.name, prefixes)

    def find(self, prefix: bytes) -> Iterator[bytes]:
        for keys in self._walk(_glob_escaped(prefix) + b"*"):
            yield from (key for key in keys if not is_copy(key))

    def write(self, values: Mapping[bytes, bytes], *, expires_at_ms: int | None = None) -> None:
        expiry = () if expires_at_ms is None else (b"PXAT", b"%d" % expires_at_ms)
        copied = {copy: value for key, value in values.items() for copy in (key, *self._route.copies(key))}
        groups = self._route.groups(list(copied))
        self._each([keys[0] for keys in groups if len(keys) == 1], lambda key: ((b"SET", key, copied[key], *expiry),))
        for keys in groups:
            if len(keys) > 1:
                commands = [(b"SET", key, copied[key], *expiry) for key in keys]
                self._at(keys[0], partial(_ask, [(b"MULTI",), *commands, (b"EXEC",)]), is_write=True)

    def change(self, key: bytes, to: Callable[[Value], Value]) -> Value:
        changed = self._at(key, partial(_change, key, to), is_write=True)
        copies = self._route.copies(key)
        if changed is None:
            self._each(copies, lambda copy: ((b"UNLINK", copy),))
        else:
            self._each(copies, lambda copy: ((b"SET", copy, changed, b"KEEPTTL"),))
        return changed

    def extend(self, key: bytes, *, expires_at_ms: int) -> bool:
        at = b"%d" % expires_at_ms
        # Not later than what it had, or gone: PEXPIREAT answers alike.
        answered = self._each(
            (key, *self._route.copies(key)), lambda one: ((b"PEXPIREAT", one, at, b"GT"), (b"EXISTS", one))
        )
        return all(is_later or is_there for is_later, is_there in answered)

    def delete(self, pattern: bytes, *, endings: tuple[bytes, ...] = (b"",)) -> int:
        deleted = 0
        for keys in self._walk(pattern):
            deleted += self.remove([key for key in keys if key.endswith(endings)])
        return deleted

    def delete_older(self, pattern: bytes, *, ending: bytes, before: Instant) -> int:
        deleted = 0
        for keys in self._walk(pattern):
            found = [key for key in keys if key.endswith(ending)]
            deleted += sum(count for (count,) in self._each(found, lambda key: (delete_older(key, before),)))
        return deleted

    def remove(self, keys: Sequence[bytes]) -> int:
        def unlink(key: bytes) -> tuple[Command]:
            return ((b"UNLINK", key),)

        self._each([copy for key in keys for copy in self._route.copies(key)], unlink)
        return sum(int(count) for (count,) in self._each(keys, unlink))

    def now_ms(self) -> int:
        times = self._ask_masters((b"TIME",))
        # The slowest clock of all: what expires by it does so nowhere later than meant.
        return min(int(seconds) * 1000 + int(micros) // 1000 for ((seconds, micros),) in times)

    def generation(self) -> str:
        """Return what changes when a server restarts or another takes its place: writes before may be lost then."""
        return " ".join(sorted(server_fields(text)["run_id"] for (text,) in self._ask_masters((b"INFO", b"server"))))

    def check_keeps_rows(self) -> None:
        # INFO and not CONFIG: managed servers and narrow users often may not use CONFIG.
        for (text,) in self._ask_masters((b"INFO", b"memory")):
            policy = server_fields(text).get("maxmemory_policy")
            if policy != "noeviction":
                raise EvictingStoreError(
                    f"the online store's maxmemory-policy is {policy}",
                    where=self.name,
                    why="an evicted row would read as an entity without one: a wrong answer nobody notices",
                    try_="CONFIG SET maxmemory-policy noeviction, also in its configuration file",
                )

    def lacking_rights(self, prefix: bytes) -> Lacking:
        """Return what this user is refused of what lookups and jobs send; nothing is changed.

        Of a cluster, one node is asked.
        """

        def look(until: float) -> Lacking:
            peer = self._run(self._route.master_of(prefix), until)
            link = Link(peer, until)
            try:
                return lacking_rights(
                    link,
                    prefix,
                    until,
                    is_cluster=not self.reads_at_once,
                    is_watched=peer.access.must_be_master,
                )
            finally:
                link.close()

        return self._tried(look)

    def _ask_masters(self, *commands: Command) -> list[list[Reply]]:
        def ask(until: float) -> list[list[Reply]]:
            return [self._ask(peer, commands, until) for peer in self._layout(until).masters]

        return self._tried(ask)

    def _ask(self, peer: Peer, commands: Sequence[Command], until: float) -> list[Reply]:
        with self._lent(peer, until) as link:
            return link.ask(*commands, until=until)

    def _each(self, keys: Sequence[bytes], commands: Callable[[bytes], Sequence[Command]]) -> list[list[Reply]]:
        """Write the keys, each with its commands, and return each one's replies: one connection to each server."""
        until = time.monotonic() + self._timeout_ms / 1000
        replies: dict[bytes, list[Reply]] = {}
        try:
            by_peer: dict[Peer, list[bytes]] = {}
            for key in keys:
                by_peer.setdefault(self._run(self._route.master_of(key), until), []).append(key)
            for peer, mine in by_peer.items():
                with self._lent(peer, until) as link:
                    answered = iter(link.ask(*(command for key in mine for command in commands(key)), until=until))
                    self._confirmations.confirm(peer, link, self._timeout_ms)
                replies |= {key: [next(answered) for _ in commands(key)] for key in mine}
        except UnconfirmedError as error:
            raise translate(error, self.name, self._timeout_ms) from error
        except (OSError, ReplyError):
            # Again, key by key: a server is gone, or a slot is on its way, and each is followed to where it is.
            replies = {key: self._at(key, partial(_ask, commands(key)), is_write=True) for key in keys}
        return [replies[key] for key in keys]

    def _at(self, key: bytes, act: Callable[[_Call], Result], *, is_write: bool = False) -> Result:
        """Return what `act` makes of a connection to the key's server, wherever that is or becomes."""
        to: Peer | None = None

        def attempt(until: float) -> Result:
            nonlocal to
            peer, is_guest = (self._run(self._route.master_of(key), until), False) if to is None else (to, True)
            to = None
            try:
                with self._links.loan(peer, until) as link:
                    result = act(_Call(link, self._timeout_ms / 1000, is_guest))
                    if is_write:
                        self._confirmations.confirm(peer, link, self._timeout_ms)
                    return result
            except UnconfirmedError as error:
                # Done, on a server that may be the master no more: to do it again may be to do it twice.
                self._route.learn(peer, error)
                raise translate(error, self.name, self._timeout_ms) from error
            except (OSError, ReplyError) as error:
                to = self._route.learn(peer, error)
                raise

        return self._tried(attempt)

    def _tried(self, attempt: Callable[[float], Result]) -> Result:
        for tries, pause_s in enumerate((*_PAUSES_S, 0.0)):
            try:
                return attempt(time.monotonic() + self._timeout_ms / 1000)
            except (OSError, ReplyError) as error:
                most = _UNREACHABLE_TRIES if isinstance(error, OSError) else len(_PAUSES_S)
                if tries >= most or not is_passing(error):
                    raise translate(error, self.name, self._timeout_ms) from error
                time.sleep(pause_s)
        raise AssertionError

    @contextmanager
    def _lent(self, peer: Peer, until: float) -> Iterator[Link]:
        try:
            with self._links.loan(peer, until) as link:
                yield link
        except (OSError, ReplyError) as error:
            self._route.learn(peer, error)
            raise

    def _walk(self, pattern: bytes) -> Iterator[list[bytes]]:
        """Yield the keys that match, of every master; all twice where keys move between masters meanwhile.

        A key that moves is passed over where its new server was walked before its old one: the second time it is there.
        """
        passes, failures = 0, 0
        while passes < _WALK_PASSES:
            before = self._tried(self._layout)
            try:
                for peer in before.masters:
                    yield from self._scan(peer, pattern)
            except (OSError, ReplyError) as error:
                failures += 1
                if failures == _WALK_TRIES or not is_passing(error):
                    raise translate(error, self.name, self._timeout_ms) from error
                continue
            passes += 1
            after = self._tried(self._layout)
            if after == before and not after.is_moving:
                return

    def _layout(self, until: float) -> Layout:
        return self._run(self._route.layout(), until)

    def _scan(self, peer: Peer, pattern: bytes) -> Iterator[list[bytes]]:
        cursor, step = b"0", b"%d" % _SCAN_STEP
        while True:
            command = (b"SCAN", cursor, b"MATCH", pattern, b"COUNT", step)
            ((cursor, keys),) = self._ask(peer, (command,), time.monotonic() + self._timeout_ms / 1000)
            yield keys
            if cursor == b"0":
                return

    def _run(self, steps: Steps[Result], until: float) -> Result:
        try:
            ask = next(steps)
            while True:
                ask = steps.send(self._links.exchange(ask, until))
        except StopIteration as done:
            result: Result = done.value
            return result


class _Call:
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


def _ask(commands: Sequence[Command], call: _Call) -> list[Reply]:
    return call.ask(*commands)


def _change(key: bytes, to: Callable[[Value], Value], call: _Call) -> Value:
    for _ in range(_CHANGE_TRIES):
        _, old = call.ask((b"WATCH", key), (b"GET", key))
        new = to(old)
        if new == old:
            call.ask((b"UNWATCH",))
            return new
        command: Command = (b"DEL", key) if new is None else (b"SET", key, new, b"KEEPTTL")
        try:
            done = call.ask((b"MULTI",), command, (b"EXEC",))[-1]
        except OSError as error:
            # Not tried again: it may be done, and to change it once more would be another change.
            raise OnlineStoreError(
                f"whether {key.decode()} was changed is not known: the store's answer was lost",
                why=str(error) or type(error).__name__,
                try_="run it again: what is done already is found so",
            ) from error
        if done is not None:
            raise_errors(done)
            return new
        # None: another writer was faster; begin again with what it wrote.
    raise OnlineStoreError(f"{key.decode()} could not be changed: others changed it {_CHANGE_TRIES} times meanwhile")


def _glob_escaped(text: bytes) -> bytes:
    for special in (b"\\", b"*", b"?", b"["):
        text = text.replace(special, b"\\" + special)
    return text
