"""What a server has acknowledged, its replica has too: where there is one, who writes waits for it."""

from __future__ import annotations

import time

from featurekit.errors import OnlineStoreError
from featurekit.online.redis.errors import ReplyError
from featurekit.online.redis.links import Link
from featurekit.online.redis.peer import Command


def confirm(link: Link, timeout_ms: int, *, on_disk: bool) -> None:
    """Return when one replica has all that was written over this connection; at once where the server has none.

    `on_disk`: also when the server's append-only file has it on its disk, where it keeps one and can tell.
    OnlineStoreError where that takes longer than `timeout_ms`.
    """
    until = time.monotonic() + timeout_ms / 1000 + 1  # the server answers when its own time is over
    sections: list[Command] = [(b"INFO", b"replication")]
    if on_disk:
        sections.append((b"INFO", b"persistence"))
    told = {name: value for text in link.ask(*sections, until=until) for name, value in server_fields(text).items()}
    if has_replica(told):
        (count,) = link.ask((b"WAIT", b"1", b"%d" % timeout_ms), until=until)
        if not count:
            raise _unconfirmed("a replica", timeout_ms)
    if told.get("aof_enabled") == "1":
        _confirm_on_disk(link, timeout_ms, until)


def server_fields(text: bytes) -> dict[str, str]:
    """Return the lines of INFO by their names."""
    lines = text.decode(errors="replace").splitlines()
    return {name: value for name, mark, value in (line.partition(":") for line in lines) if mark}


def has_replica(told: dict[str, str]) -> bool:
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
        raise _unconfirmed("its disk", timeout_ms)


def _unconfirmed(what: str, timeout_ms: int) -> OnlineStoreError:
    return OnlineStoreError(
        f"the online store did not confirm within {timeout_ms} ms that {what} has what was written",
        why="what one server alone has may be lost when another takes its place",
        try_="run it again when the replica keeps up (INFO replication shows how far it is)",
    )
