"""What a user of the online store must be allowed (docs/deployments.md): to look features up, and to run jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from featurekit.online.redis.errors import ReplyError
from featurekit.online.redis.links import Link
from featurekit.online.redis.peer import Command

SERVING: Final = "-@all +mget +ping +role +client|tracking +cluster|slots +asking"
JOBS: Final = (
    "-@all +mget +get +set +del +unlink +exists +pexpireat +watch +unwatch +multi +exec +scan +time +info +wait"
    " +waitaof +eval +getrange +ping +role +cluster|slots +cluster|nodes +asking"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lacking:
    """The commands that a user is refused, of those that lookups send and of those that jobs send."""

    serving: tuple[str, ...]
    jobs: tuple[str, ...]


def lacking_rights(link: Link, prefix: bytes, until: float, *, is_cluster: bool, is_watched: bool) -> Lacking:
    """Try each command, in a way that changes nothing, on a key that begins with `prefix`.

    The link is of no use after.
    """
    key = prefix + b"doctor"
    serving: list[Command] = [(b"MGET", key)]
    jobs: list[Command] = [
        (b"MGET", key),
        (b"GET", key),
        (b"SET", key, b"", b"XX", b"PX", b"1"),  # sets only what is there already, and nothing is
        (b"DEL", key),
        (b"UNLINK", key),
        (b"EXISTS", key),
        (b"PEXPIREAT", key, b"1", b"GT"),
        (b"WATCH", key),
        (b"UNWATCH",),
        (b"EXEC",),
        (b"SCAN", b"0", b"COUNT", b"1"),
        (b"TIME",),
        (b"INFO", b"server"),
        (b"WAIT", b"0", b"1"),
        (b"GETRANGE", key, b"0", b"0"),
        (b"EVAL", b"return 0", b"0"),
    ]
    if is_watched:
        serving += [(b"PING",), (b"ROLE",)]
    if is_cluster:
        serving += [(b"CLUSTER", b"SLOTS"), (b"ASKING",)]
        jobs += [(b"CLUSTER", b"NODES"), (b"WAITAOF", b"0", b"0", b"1")]
    jobs.append((b"MULTI",))  # last: what follows would only be queued
    refused = _refused(link, [*serving, *jobs], until)
    return Lacking(
        serving=tuple(dict.fromkeys(name for name in map(_name, serving) if name in refused)),
        jobs=tuple(dict.fromkeys(name for name in map(_name, [*serving, *jobs]) if name in refused)),
    )


def _refused(link: Link, commands: Sequence[Command], until: float) -> set[str]:
    refused = set()
    for command in commands:
        try:
            link.ask(command, until=until)
        except ReplyError as error:
            # What else is wrong, such as a key of another node, comes after the rights.
            if "NOPERM" in str(error):  # EXEC says it within another error
                refused.add(_name(command))
    return refused


def _name(command: Command) -> str:
    words = command[:2] if command[0] == b"CLUSTER" else command[:1]
    return " ".join(word.decode() for word in words)
