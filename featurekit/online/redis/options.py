"""How every connection of ours behaves, and what a URL of a store may say."""

from __future__ import annotations

import re
from typing import Any, Final

import redis
from redis.backoff import ExponentialWithJitterBackoff
from redis.retry import Retry

from featurekit.errors import SettingsError

DEFAULT_TIMEOUT_MS: Final = 1000
_CONNECT_TIMEOUT_S: Final = 2.0
_RETRIES: Final = 3

Connection = Any  # redis-py's connections have methods without types


def options(timeout_ms: int) -> dict[str, Any]:
    """Return how every connection of ours behaves."""
    return {
        "socket_timeout": timeout_ms / 1000,
        "socket_connect_timeout": min(timeout_ms / 1000, _CONNECT_TIMEOUT_S),
        "retry": Retry(ExponentialWithJitterBackoff(cap=0.5, base=0.02), _RETRIES),
        "protocol": 2,  # nothing is pushed to us, and every server and proxy speaks it
        "driver_info": None,  # saves two commands on each connect
    }


def open_client(url: str, timeout_ms: int, name: str) -> redis.Redis:
    try:
        client = redis.Redis.from_url(url, **options(timeout_ms))
        pool = client.connection_pool
        pool.connection_class(**pool.connection_kwargs)  # connects to nothing, and tells an option that isn't one
    except (TypeError, ValueError):
        client = None
    if client is None or _is_cut(url):
        # None of the parser's text, nor its error as the cause: it quotes what it took for a port or a host.
        raise SettingsError(
            "this is no URL of an online store",
            where=name,
            try_="for example redis://127.0.0.1:6379/0, rediss://… for TLS, unix:///path/to/socket; in a user or a"
            " password, / ? # @ : are written %2F %3F %23 %40 %3A",
        )
    return client


def _is_cut(url: str) -> bool:
    """Return whether a parser would take a part of the user or the password for the server, a path or options."""
    scheme, _, rest = url.partition("://")
    server = re.split(r"[/?#]", rest, maxsplit=1)[0]
    return scheme != "unix" and ("@" in rest[len(server) :] or server.count("@") > 1)
