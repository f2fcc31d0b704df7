"""The writer's way into the store: whole commands, sent ahead of their answers to each server that has the keys."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from featurekit.online.redis.address import read_address
from featurekit.online.redis.confirm import Confirmations
from featurekit.online.redis.errors import ReplyError, UnconfirmedError, is_passing, translate
from featurekit.online.redis.links import Link, Links
from featurekit.online.redis.peer import Peer, raise_errors
from featurekit.online.redis.route import WRITE_RETRIES, new_route
from featurekit.online.redis.slots import slot_of
from featurekit.online.redis.steps import Steps

_FIRST_PAUSE_S: Final = 0.05
_LONGEST_PAUSE_S: Final = 4.0
_ASKING: Final = b"*1\r\n$6\r\nASKING\r\n"


@dataclass(frozen=True, slots=True)
class _Rows:
    """Commands and their keys, row by row; `to` is a server that said to be asked just this once."""

    keys: pa.BinaryArray
    commands: pa.BinaryArray
    to: Peer | None = None

    def at(self, places: list[int]) -> _Rows:
        if len(places) == len(self.keys):
            return _Rows(self.keys, self.commands)
        chosen = pa.array(places, pa.int32())
        return _Rows(self.keys.take(chosen), self.commands.take(chosen))


@dataclass(frozen=True, slots=True)
class _Post:
    """Rows as they were sent over a link: their replies are still to come."""

    peer: Peer
    link: Link
    rows: _Rows


class RowPipeline:
    """Sends chunks of SET commands, one chunk ahead of the answers; for one thread.

    What was not answered, or answered by a server that has the key no more, is sent again, a bounded number of times:
    to SET twice is to SET once. What is unanswered is all that is held: two chunks.
    """

    def __init__(self, url: str, *, timeout_ms: int, retries: int = WRITE_RETRIES) -> None:
        address = read_address(url)
        self._name = address.name
        self._timeout_ms = timeout_ms
        self._retries = retries
        self._route = new_route(address)
        self._confirmations = Confirmations(on_disk=not self._route.reads_at_once)
        self._finder = Links()
        self._links: dict[Peer, Link] = {}
        self._written: dict[Peer, tuple[Link, _Rows]] = {}  # by whom each server was written to last, and what
        self._posted: deque[list[_Post]] = deque()
        self._left: list[_Rows] = []
        self._why: Exception | None = None

    def send(self, keys: pa.BinaryArray, commands: pa.BinaryArray) -> None:
        """Send a SET command per row, each as it goes over the wire; returns when all sent before are answered.

        `keys` are the commands' keys: they tell which server a command goes to.
        """
        assert len(keys) == len(commands)
        self._posted.append(self._post(_Rows(keys, commands)))
        self._collect(leave=1)
        if self._left:
            self._settle()

    def finish(self) -> None:
        """Return when all commands are answered, and confirmed by a replica where there are any."""
        self._settle()
        for peer, (link, rows) in self._written.items():
            self._confirm(peer, link, rows)

    def close(self) -> None:
        for link in self._links.values():
            link.close()
        self._links.clear()
        self._finder.close()

    def _settle(self) -> None:
        """Send what is left over until nothing is."""
        self._collect(leave=0)
        for pause_s in self._pauses():
            if not self._left:
                return
            time.sleep(pause_s)
            left, self._left = self._left, []
            self._posted.append([post for rows in left for post in self._post(rows)])
            self._collect(leave=0)
        if self._left:
            assert self._why is not None
            raise self._ours(self._why)

    def _post(self, rows: _Rows) -> list[_Post]:
        posts: list[_Post] = []
        try:
            shares = list(self._shares(rows))
        except (OSError, ReplyError) as error:
            self._leave(rows, error)
            return posts
        for peer, share in shares:
            try:
                link = self._link(peer)
                link.send(_content(share), self._until())
            except (OSError, ReplyError) as error:
                self._lose(peer, error)
                self._leave(share, error)
            else:
                posts.append(_Post(peer, link, share))
        return posts

    def _shares(self, rows: _Rows) -> Iterator[tuple[Peer, _Rows]]:
        if rows.to is not None:
            yield rows.to, rows
        elif self._route.reads_at_once:
            yield self._run(self._route.master_of(b"")), rows
        else:
            by_peer: dict[Peer, list[int]] = {}
            owners: dict[int, Peer] = {}
            for place, key in enumerate(rows.keys.to_pylist()):
                slot = slot_of(key)
                if slot not in owners:
                    owners[slot] = self._run(self._route.master_of(key))
                by_peer.setdefault(owners[slot], []).append(place)
            for peer, places in by_peer.items():
                yield peer, rows.at(places)

    def _collect(self, *, leave: int) -> None:
        while len(self._posted) > leave:
            for post in self._posted.popleft():
                self._receive(post)

    def _receive(self, post: _Post) -> None:
        rows = post.rows
        count = len(rows.keys) if rows.to is None else 2 * len(rows.keys)
        try:
            if self._links.get(post.peer) is not post.link:
                raise ConnectionResetError("the connection broke before the answers came")
            replies = post.link.receive(count, self._until())
        except OSError as error:
            self._lose(post.peer, error)
            self._leave(rows, error)
            return
        if rows.to is not None:
            replies = replies[1::2]
        self._written[post.peer] = (post.link, rows.at([0]))
        failed = [i for i, reply in enumerate(replies) if isinstance(reply, ReplyError)]
        for to, places in self._redirected(post.peer, failed, replies).items():
            again = rows.at(places)
            self._left.append(_Rows(again.keys, again.commands, to))

    def _redirected(self, peer: Peer, failed: list[int], replies: list[Any]) -> dict[Peer | None, list[int]]:
        by_target: dict[Peer | None, list[int]] = {}
        for i in failed:
            error = replies[i]
            if not is_passing(error):
                raise self._ours(error)
            self._why = error
            by_target.setdefault(self._route.learn(peer, error), []).append(i)
        return by_target

    def _confirm(self, peer: Peer, link: Link, rows: _Rows) -> None:
        for pause_s in (*self._pauses(), None):
            try:
                if self._links.get(peer) is not link:
                    # The connection that wrote is gone, and a new one waits only for what it wrote itself.
                    link = self._link(peer)
                    link.send(_content(rows), self._until())
                    raise_errors(link.receive(len(rows.keys) if rows.to is None else 2 * len(rows.keys), self._until()))
                return self._confirmations.confirm(peer, link, self._timeout_ms)
            except (OSError, ReplyError) as error:
                self._lose(peer, error)
                if pause_s is None or isinstance(error, UnconfirmedError) or not is_passing(error):
                    raise self._ours(error) from error
                time.sleep(pause_s)
        raise AssertionError

    def _pauses(self) -> Iterator[float]:
        return (min(_FIRST_PAUSE_S * 2**number, _LONGEST_PAUSE_S) for number in range(self._retries))

    def _link(self, peer: Peer) -> Link:
        link = self._links.get(peer)
        if link is None:
            link = self._links[peer] = Link(peer, self._until())
        return link

    def _lose(self, peer: Peer, error: Exception) -> None:
        link = self._links.pop(peer, None)
        if link is not None:
            link.close()
        self._route.learn(peer, error)

    def _leave(self, rows: _Rows, error: Exception) -> None:
        if not is_passing(error) and not isinstance(error, TimeoutError):
            raise self._ours(error) from error
        self._why = error
        self._left.append(_Rows(rows.keys, rows.commands))

    def _run(self, steps: Steps[Peer]) -> Peer:
        try:
            ask = next(steps)
            while True:
                ask = steps.send(self._finder.exchange(ask, self._until()))
        except StopIteration as done:
            peer: Peer = done.value
            return peer

    def _until(self) -> float:
        return time.monotonic() + self._timeout_ms / 1000

    def _ours(self, error: Exception) -> Exception:
        return translate(error, self._name, self._timeout_ms)


def _content(rows: _Rows) -> memoryview:
    """Return the commands joined: without a copy, but where each must say first that it knows to be a guest."""
    texts = rows.commands
    if rows.to is not None:
        texts = pc.binary_join_element_wise(pa.scalar(_ASKING, pa.binary()), texts, pa.scalar(b"", pa.binary()))
    _, offsets, content = texts.buffers()
    bounds = memoryview(offsets).cast("i")
    return memoryview(content)[bounds[texts.offset] : bounds[texts.offset + len(texts)]]
