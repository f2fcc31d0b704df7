"""A server as it is spoken to: where it is, what is said first, and how bytes become answers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import hiredis

from featurekit.errors import SettingsError
from featurekit.online.redis.address import Login, Place, Tls
from featurekit.online.redis.errors import NotMasterError, ReplyError

if TYPE_CHECKING:
    import ssl

Command = tuple[bytes, ...]
Reply = Any  # bytes, int, None, a list of them, or a ReplyError in the place of any

_pack: Final[Callable[[Command], bytes]] = hiredis.pack_command  # type: ignore[assignment]  # its stub allows one word
MORE: Final = object()  # what a reader gives where the answer is not whole yet


@dataclass(frozen=True, eq=False)
class Access:
    """How servers of one kind are entered: one object for all of them."""

    login: Login
    tls: Tls | None
    db: int = 0
    must_be_master: bool = False

    def greeting(self) -> list[Command]:
        """Return what is asked first over each connection."""
        commands: list[Command] = []
        if self.login.password is not None:
            user = () if self.login.user is None else (self.login.user.encode(),)
            commands.append((b"AUTH", *user, self.login.password.encode()))
        if self.db:
            commands.append((b"SELECT", b"%d" % self.db))
        if self.must_be_master:
            # Sentinels can be behind, and so can be whom they name: a replica answers, with an older state.
            commands.append((b"ROLE",))
        return commands

    def check(self, replies: list[Reply]) -> None:
        """Raise ReplyError or NotMasterError where the greeting was not answered as it should."""
        raise_errors(replies)
        if self.must_be_master and replies[-1][0] != b"master":
            raise NotMasterError(f"it is a {replies[-1][0].decode()} now, no master")

    @functools.cached_property
    def context(self) -> ssl.SSLContext | None:
        """The TLS settings, None without TLS; SettingsError where a file can't be read."""
        if self.tls is None:
            return None
        import ssl  # it costs more than the rest of a client together

        try:
            context = ssl.create_default_context(cafile=self.tls.ca)
            if self.tls.cert is not None:
                context.load_cert_chain(self.tls.cert, self.tls.key, password=_no_password)
        except (OSError, ValueError) as error:
            files = [file for file in (self.tls.ca, self.tls.cert, self.tls.key) if file is not None]
            raise SettingsError(
                "the TLS files of the online store can't be read",
                where=", ".join(files),
                why=str(error),
                try_="ca, cert and key are files in PEM; the key without a password",
            ) from error
        return context


@dataclass(frozen=True, slots=True)
class Peer:
    """One server: what a command is sent to."""

    place: Place
    access: Access
    _hash: int = field(init=False, repr=False, compare=False)  # connections are looked up by it twice for each read

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.place, self.access)))

    def __hash__(self) -> int:
        return self._hash


def new_reader() -> Any:
    """Return a reader that is fed bytes and gives replies, `MORE` where there are none yet."""
    return hiredis.Reader(protocolError=ConnectionError, replyError=ReplyError, notEnoughData=MORE)


def pack(commands: list[Command]) -> bytes:
    """Return commands as they go over the wire."""
    if len(commands) == 1:
        return _pack(commands[0])
    return b"".join([_pack(command) for command in commands])


def raise_errors(replies: list[Reply]) -> None:
    """Raise the first reply that is an error."""
    for reply in replies:
        if isinstance(reply, ReplyError):
            raise reply


def _no_password() -> str:
    raise ValueError("the key has a password")  # OpenSSL would ask for it on the terminal
