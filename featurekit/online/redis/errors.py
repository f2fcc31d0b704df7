"""What a server answers instead of an answer, and all of it as our errors: the one place that knows both."""

from __future__ import annotations

import sys
from typing import Final

from featurekit.errors import OnlineStoreError, OnlineStoreTimeoutError

# What passes by itself: data are being read back, a replica takes over, a slot is on its way.
_PASSING: Final = frozenset({"LOADING", "MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN", "READONLY", "MASTERDOWN"})


class ReplyError(Exception):
    """The server's answer is an error; the text is the server's."""

    @property
    def code(self) -> str:
        """The first word: what kind of error it is."""
        return str(self).partition(" ")[0]

    @property
    def redirect(self) -> tuple[int, str, int] | None:
        """The slot, and the host and port that a cluster's node sends us to; an empty host is that node's own."""
        if self.code not in ("MOVED", "ASK"):
            return None
        _, slot, place = str(self).split(" ")[:3]
        host, _, port = place.rpartition(":")
        return int(slot), "" if host == "?" else host, int(port)


class NotMasterError(ConnectionError):
    """The server that was taken for the master is none, or none any more."""


class NoServerError(ConnectionError):
    """Nobody tells which server has the keys."""

    def __init__(self, what: str, *, why: str, try_: str) -> None:
        super().__init__(f"{what}: {why}")
        self.what, self.why, self.try_ = what, why, try_


class UnconfirmedError(ConnectionError):
    """What was written is on one server alone: it is lost when another takes its place."""


def is_passing(error: Exception) -> bool:
    """Return whether the same may succeed a moment later, perhaps with another server."""
    if isinstance(error, ReplyError):
        return error.code in _PASSING
    return isinstance(error, OSError) and not isinstance(error, TimeoutError) and not _is_of_tls(error)


def translate(error: Exception, name: str, timeout_ms: int) -> OnlineStoreError:
    """Return an error of a socket or a server's answer as ours."""
    if isinstance(error, OnlineStoreError):
        return error
    if isinstance(error, NoServerError):
        return OnlineStoreError(error.what, where=name, why=error.why, try_=error.try_)
    if isinstance(error, UnconfirmedError):
        return OnlineStoreError(
            f"the online store did not confirm within {timeout_ms} ms that {error} has what was written",
            where=name,
            why="what one server alone has may be lost when another takes its place",
            try_="run it again when the replica keeps up (INFO replication shows how far it is)",
        )
    if isinstance(error, TimeoutError):
        return OnlineStoreTimeoutError(
            f"the online store does not answer within {timeout_ms} ms",
            where=name,
            why=str(error) or None,
            try_="look at its load (SLOWLOG GET), or allow more time",
        )
    if isinstance(error, ReplyError):
        what, try_ = _REPLIES.get(error.code, ("the online store refuses a command", None))
        return OnlineStoreError(what, where=name, why=str(error), try_=try_)
    if _is_of_tls(error):
        return OnlineStoreError(
            "the online store can't be reached by TLS",
            where=name,
            why=str(error),
            try_="check that it speaks TLS on this port, that ?ca= names who signed its certificate, and that the"
            " certificate names the host of the URL",
        )
    return OnlineStoreError(
        "the online store can't be reached",
        where=name,
        why=str(error) or type(error).__name__,
        try_="check that it runs and that the URL is right; `featurekit up` starts the embedded one",
    )


def _is_of_tls(error: Exception) -> bool:
    ssl = sys.modules.get("ssl")  # who never imported it has none of its errors
    return ssl is not None and isinstance(error, ssl.SSLError)


_NO_USER: Final = ("the online store refuses this user", "check the user and password")
_NO_RIGHT: Final = (
    "the online store refuses this user",
    "`featurekit doctor` says which rights it lacks; docs/deployments.md lists them",
)
_FAILOVER: Final = (
    "the online store is changing its master",
    "try again in a moment; if it lasts, look at which server is the master (ROLE)",
)
_MOVING: Final = (
    "the cluster's slots are moving",
    "try again; if it lasts, `redis-cli --cluster check` shows the slots that are open",
)
_REPLIES: Final = {
    "NOAUTH": _NO_USER,
    "WRONGPASS": _NO_USER,
    "NOPERM": _NO_RIGHT,
    "LOADING": ("the online store is reading its data back after a start", "wait, then try again"),
    "OOM": ("the online store is full", "raise its maxmemory, or drop old versions"),
    "READONLY": _FAILOVER,
    "MASTERDOWN": _FAILOVER,
    "NOREPLICAS": (
        "the online store takes no writes: too few replicas are connected",
        "bring the replicas back (min-replicas-to-write asks for them)",
    ),
    "MISCONF": ("the online store takes no writes: it can't save its data", "look at its disk and its log"),
    "MOVED": _MOVING,
    "ASK": _MOVING,
    "TRYAGAIN": _MOVING,
    "CLUSTERDOWN": (
        "the cluster does not serve all its slots",
        "wait for a replica to take over; if it lasts, bring the lost node back (CLUSTER NODES shows it)",
    ),
}
