"""What a server has acknowledged, its replica has too: where there is one, who writes waits for it."""

from __future__ import annotations

import time

from featurekit.online.redis.errors import ReplyError, UnconfirmedError
from featurekit.online.redis.links import Link
from featurekit.online.redis.peer import Command, Peer


class Confirmations:
    """Waits until what was written is safe; remembers which servers had a replica, of one that has none any more.

    That one may have been replaced already, without having heard of it: what it takes then is lost.
    """

    def __init__(self, *, on_disk: bool) -> None:
        """`on_disk`: also until the server's append-only file has it on its disk, where it keeps one and can tell."""
        self._on_disk = on_disk
        self._replicated: set[Peer] = set()

    def confirm(self, peer: Peer, link: Link, timeout_ms: int) -> None:
        """Return when one replica has all that was written over the link; at once where the server never had one.

        UnconfirmedError where that takes longer than `timeout_ms`.
        """
        until = time.monotonic() + timeout_ms / 1000 + 1  # the server answers when its own time is over
        sections: list[Command] = [(b"INFO", b"replication")]
        if self._on_disk:
            sections.append((b"INFO", b"persistence"))
        told = {name: value for text in link.ask(*sections, until=until) for name, value in server_fields(text).items()}
        if _has_replica(told):
            self._replicated.add(peer)
        if peer in self._replicated:
            (count,) = link.ask((b"WAIT", b"1", b"%d" % timeout_ms), until=until)
            if not count:
                raise UnconfirmedError("a replica")
        if told.get("aof_enabled") == "1":
            _confirm_on_disk(link, timeout_ms, until)


def server_fields(text: bytes) -> dict[str, str]:
    """Return the lines of INFO by their names."""
    lines = text.decode(errors="replace").splitlines()
    return {name: value for name, mark, value in (line.partition(":") for line in lines) if mark}


def _has_replica(told: dict[str, str]) -> bool:
    """Return whether a replica follows by now; one that is still copying everything does not."""
    return any(name.startswith("slave") and ",state=online," in f",{value}," for name, value in told.items())


def _confirm_on_disk(link: Link, timeout_ms: int, until: float) -> None:
    try:
        ((count, _),) = link.ask((b"WAITAOF", b"1", b"0", b"%d" % timeout_ms), until=until)
    except ReplyError as error:
        if "unknown command" in str(error):  # Redis before 7.2
            return
        raise
    if not count:
        raise UnconfirmedError("its disk")
