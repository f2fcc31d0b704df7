"""One server, or the one master that Sentinels name."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final

from featurekit.online.redis.address import Address, Place
from featurekit.online.redis.errors import NoServerError, ReplyError
from featurekit.online.redis.peer import Access, Peer
from featurekit.online.redis.steps import Ask, Layout, Steps, replies_of
from featurekit.online.store import Value

_SENTINEL_LIMIT_S: Final = 0.5


class SingleRoute:
    """All keys on one server."""

    reads_at_once = True

    def __init__(self, address: Address) -> None:
        self.peer = Peer(address.places[0], Access(address.login, address.tls, address.db))

    def read(self, keys: Sequence[bytes]) -> Steps[list[Value]]:
        values: list[Value]
        (values,) = replies_of((yield Ask({self.peer: [(b"MGET", *keys)]})), self.peer)
        return values

    def master_of(self, key: bytes) -> Steps[Peer]:  # noqa: ARG002
        yield from ()
        return self.peer

    def masters(self) -> Steps[tuple[Peer, ...]]:
        yield from ()
        return (self.peer,)

    def layout(self) -> Steps[Layout]:
        yield from ()
        return Layout((self.peer,))

    def learn(self, peer: Peer, error: Exception) -> Peer | None:
        """It is the one server, whatever it says."""

    def groups(self, keys: Sequence[bytes]) -> list[list[bytes]]:
        return [list(keys)]

    def copies(self, key: bytes) -> tuple[bytes, ...]:  # noqa: ARG002
        return ()


class SentinelRoute:
    """All keys on the master that Sentinels name; asked again whenever that one fails or is none any more."""

    reads_at_once = True

    def __init__(self, address: Address) -> None:
        self._master_name = address.master.encode()
        self._access = Access(address.login, address.tls, address.db, must_be_master=True)
        sentinels = Access(address.sentinel_login, address.tls)
        self._sentinels = deque(Peer(place, sentinels) for place in address.places)
        self._master: Peer | None = None

    def read(self, keys: Sequence[bytes]) -> Steps[list[Value]]:
        known = self._master
        if known is not None:
            try:
                return (yield from self._read_from(known, keys))
            except (OSError, ReplyError) as error:
                self.learn(known, error)
                if self._master is not None or isinstance(error, TimeoutError):
                    raise
        found = yield from self.master_of(b"")
        try:
            return (yield from self._read_from(found, keys))
        except (OSError, ReplyError) as error:
            self.learn(found, error)
            raise

    def _read_from(self, master: Peer, keys: Sequence[bytes]) -> Steps[list[Value]]:
        values: list[Value]
        (values,) = replies_of((yield Ask({master: [(b"MGET", *keys)]})), master)
        return values

    def master_of(self, key: bytes) -> Steps[Peer]:  # noqa: ARG002
        if self._master is None:
            self._master = yield from self._ask_sentinels()
        return self._master

    def masters(self) -> Steps[tuple[Peer, ...]]:
        return ((yield from self.master_of(b"")),)

    def layout(self) -> Steps[Layout]:
        return Layout((yield from self.masters()))

    def learn(self, peer: Peer, error: Exception) -> Peer | None:
        is_gone = isinstance(error, OSError) or (
            isinstance(error, ReplyError) and error.code in ("READONLY", "MASTERDOWN", "LOADING")
        )
        if is_gone and self._master == peer:
            self._master = None
        return None

    def groups(self, keys: Sequence[bytes]) -> list[list[bytes]]:
        return [list(keys)]

    def copies(self, key: bytes) -> tuple[bytes, ...]:  # noqa: ARG002
        return ()

    def _ask_sentinels(self) -> Steps[Peer]:
        said: list[str] = []
        for sentinel in tuple(self._sentinels):
            answered = yield Ask({sentinel: [(b"SENTINEL", b"GET-MASTER-ADDR-BY-NAME", self._master_name)]},
                                 within_s=_SENTINEL_LIMIT_S)  # fmt: skip
            try:
                (place,) = replies_of(answered, sentinel)
            except (OSError, ReplyError) as error:
                said.append(f"{sentinel.place}: {error}")
                self._put_last(sentinel)
                continue
            if place is None:
                said.append(f"{sentinel.place}: it knows no such master")
                continue
            host, port = place
            master = Peer(Place(host.decode(), int(port)), self._access)
            # Not yet believed: a Sentinel that was away names who was the master then.
            try:
                replies_of((yield Ask({master: [(b"PING",)]})), master)
            except OSError as error:  # it is none any more, or is gone: other Sentinels may know better
                self._put_last(sentinel)
                if isinstance(error, TimeoutError):
                    raise  # no time is left for them: the next read begins with them
                said.append(f"{sentinel.place} names {master.place}: {error}")
                continue
            return master
        raise NoServerError(
            f"no Sentinel names a master {self._master_name.decode()}",
            why="; ".join(said),
            try_="wait for a failover to end; else check the master's name and that the Sentinels run",
        )

    def _put_last(self, sentinel: Peer) -> None:
        try:
            self._sentinels.remove(sentinel)
        except ValueError:
            return  # another thread is just doing the same
        self._sentinels.append(sentinel)
