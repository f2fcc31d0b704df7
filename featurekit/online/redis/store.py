"""The online store on Redis or Valkey: one server, Sentinel's master or a cluster, by what its route says."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from featurekit.clock import Instant
from featurekit.errors import EvictingStoreError, OnlineStoreError
from featurekit.online.redis.address import read_address
from featurekit.online.redis.confirm import server_fields
from featurekit.online.redis.errors import ReplyError, translate
from featurekit.online.redis.in_place import delete_older
from featurekit.online.redis.links import Link
from featurekit.online.redis.peer import Command, raise_errors
from featurekit.online.redis.rights import Lacking, lacking_rights
from featurekit.online.redis.route import DEFAULT_TIMEOUT_MS, read_limit_s
from featurekit.online.redis.servers import Call, Servers
from featurekit.online.redis.slots import is_copy
from featurekit.online.store import Value

if TYPE_CHECKING:
    from featurekit.online.redis.pushes import Pushes

_CHANGE_TRIES: Final = 100


class RedisStore:
    """A store by its URL; safe to share by threads, and fork-safe. Nothing is sent before the first command.

    `timeout_ms` is for each answer. SettingsError for what is no URL of a store.
    """

    def __init__(self, url: str, *, timeout_ms: int = DEFAULT_TIMEOUT_MS) -> None:
        address = read_address(url)
        self.name = address.name
        self._timeout_ms = timeout_ms
        self._servers = Servers(address, timeout_ms)
        self.reads_at_once = self._servers.route.reads_at_once

    def close(self) -> None:
        self._servers.links.close()

    def read(self, keys: Sequence[bytes], *, timeout_s: float | None = None) -> list[Value]:
        allowed = read_limit_s(self._servers.route, self._timeout_ms, timeout_s)
        try:
            return self._servers.read(keys, time.monotonic() + allowed)
        except (OSError, ReplyError) as error:
            raise translate(error, self.name, round(allowed * 1000)) from error

    def pushes(self, prefixes: Sequence[bytes]) -> Pushes:
        """Return what waits, in a thread of its own, for what servers say of keys that begin so."""
        from featurekit.online.redis.pushes import Pushes  # for who keeps a cache: it loads what TLS needs

        return Pushes(self._servers.route, self.name, prefixes)

    def find(self, prefix: bytes) -> Iterator[bytes]:
        for keys in self._servers.walk(_glob_escaped(prefix) + b"*"):
            yield from (key for key in keys if not is_copy(key))

    def write(self, values: Mapping[bytes, bytes], *, expires_at_ms: int | None = None) -> None:
        expiry = () if expires_at_ms is None else (b"PXAT", b"%d" % expires_at_ms)
        copied = {copy: value for key, value in values.items() for copy in (key, *self._servers.route.copies(key))}
        groups = self._servers.route.groups(list(copied))
        self._servers.each(
            [keys[0] for keys in groups if len(keys) == 1], lambda key: ((b"SET", key, copied[key], *expiry),)
        )
        for keys in groups:
            if len(keys) > 1:
                commands = [(b"SET", key, copied[key], *expiry) for key in keys]
                self._servers.at(keys[0], partial(_at_once, commands), is_write=True)

    def change(self, key: bytes, to: Callable[[Value], Value]) -> Value:
        changed = self._servers.at(key, partial(_change, key, to), is_write=True)
        copies = self._servers.route.copies(key)
        if changed is None:
            self._servers.each(copies, lambda copy: ((b"UNLINK", copy),))
        else:
            self._servers.each(copies, lambda copy: ((b"SET", copy, changed, b"KEEPTTL"),))
        return changed

    def extend(self, key: bytes, *, expires_at_ms: int) -> bool:
        at = b"%d" % expires_at_ms
        # Not later than what it had, or gone: PEXPIREAT answers alike.
        answered = self._servers.each(
            (key, *self._servers.route.copies(key)), lambda one: ((b"PEXPIREAT", one, at, b"GT"), (b"EXISTS", one))
        )
        return all(is_later or is_there for is_later, is_there in answered)

    def delete(self, pattern: bytes, *, endings: tuple[bytes, ...] = (b"",)) -> int:
        deleted = 0
        for keys in self._servers.walk(pattern):
            deleted += self.remove([key for key in keys if key.endswith(endings)])
        return deleted

    def delete_older(self, pattern: bytes, *, ending: bytes, before: Instant) -> int:
        deleted = 0
        for keys in self._servers.walk(pattern):
            found = [key for key in keys if key.endswith(ending)]
            deleted += sum(count for (count,) in self._servers.each(found, lambda key: (delete_older(key, before),)))
        return deleted

    def remove(self, keys: Sequence[bytes]) -> int:
        def unlink(key: bytes) -> tuple[Command]:
            return ((b"UNLINK", key),)

        self._servers.each([copy for key in keys for copy in self._servers.route.copies(key)], unlink)
        return sum(int(count) for (count,) in self._servers.each(keys, unlink))

    def now_ms(self) -> int:
        times = self._servers.ask_masters((b"TIME",))
        # The slowest clock of all: what expires by it does so nowhere later than meant.
        return min(int(seconds) * 1000 + int(micros) // 1000 for ((seconds, micros),) in times)

    def generation(self) -> str:
        """Return what changes when a server restarts or another takes its place: writes before may be lost then."""
        return " ".join(
            sorted(server_fields(text)["run_id"] for (text,) in self._servers.ask_masters((b"INFO", b"server")))
        )

    def check_keeps_rows(self) -> None:
        # INFO and not CONFIG: managed servers and narrow users often may not use CONFIG.
        for (text,) in self._servers.ask_masters((b"INFO", b"memory")):
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
            peer = self._servers.run(self._servers.route.master_of(prefix), until)
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

        return self._servers.tried(look)


def _at_once(commands: Sequence[Command], call: Call) -> None:
    """Send commands that all take place at one instant; ReplyError where the server refused any of them."""
    raise_errors(call.ask((b"MULTI",), *commands, (b"EXEC",))[-1])


def _change(key: bytes, to: Callable[[Value], Value], call: Call) -> Value:
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
