"""Errors of redis-py and of sockets as ours: the one place that knows both."""

from __future__ import annotations

import redis

from featurekit.errors import OnlineStoreError, OnlineStoreTimeoutError


def translate(error: Exception, name: str, timeout_ms: int) -> OnlineStoreError:
    """Return an error of redis-py or a socket as ours."""
    if isinstance(error, redis.TimeoutError | TimeoutError):
        return OnlineStoreTimeoutError(
            f"the online store does not answer within {timeout_ms} ms",
            where=name,
            why=str(error) or None,
            try_="look at its load (SLOWLOG GET), or allow more time",
        )
    if isinstance(error, redis.AuthenticationError | redis.exceptions.NoPermissionError):
        return OnlineStoreError(
            "the online store refuses this user", where=name, why=str(error), try_="check the user and password"
        )
    if isinstance(error, redis.BusyLoadingError):
        return OnlineStoreError(
            "the online store is reading its data back after a start", where=name, try_="wait, then try again"
        )
    if isinstance(error, redis.exceptions.OutOfMemoryError):
        return OnlineStoreError(
            "the online store is full", where=name, why=str(error), try_="raise its maxmemory, or drop old versions"
        )
    if isinstance(error, redis.ResponseError):
        return OnlineStoreError("the online store refuses a command", where=name, why=str(error))
    return OnlineStoreError(
        "the online store can't be reached",
        where=name,
        why=str(error) or type(error).__name__,
        try_="check that it runs and that the URL is right; `featurekit up` starts the embedded one",
    )
