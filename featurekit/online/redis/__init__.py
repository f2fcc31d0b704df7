"""The online store on Redis or Valkey: the one package that speaks to them. Its errors become ours here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from featurekit.online.redis.in_place import SET_IN_PLACE
from featurekit.online.redis.route import DEFAULT_TIMEOUT_MS, WRITE_RETRIES
from featurekit.online.redis.store import RedisStore
from featurekit.online.store import AsyncReadableStore, OnlineStore

if TYPE_CHECKING:
    from featurekit.online.redis.pipeline import RowPipeline

__all__ = [
    "DEFAULT_TIMEOUT_MS",
    "SET_IN_PLACE",
    "WRITE_RETRIES",
    "RedisStore",
    "open_async_store",
    "open_store",
    "row_pipeline",
]


def open_store(url: str, *, timeout_ms: int = DEFAULT_TIMEOUT_MS) -> OnlineStore:
    """Return the store of a URL; nothing is sent before the first command. SettingsError for what is no such URL."""
    return RedisStore(url, timeout_ms=timeout_ms)


def open_async_store(url: str, *, timeout_ms: int = DEFAULT_TIMEOUT_MS) -> AsyncReadableStore:
    """Return the store of a URL, as lookups under asyncio read it."""
    from featurekit.online.redis.aio import AsyncRedisStore  # loads asyncio

    return AsyncRedisStore(url, timeout_ms=timeout_ms)


def row_pipeline(url: str, *, timeout_ms: int, retries: int = WRITE_RETRIES) -> RowPipeline:
    """Return a writer's connection to the store of a URL."""
    from featurekit.online.redis.pipeline import RowPipeline  # loads pyarrow

    return RowPipeline(url, timeout_ms=timeout_ms, retries=retries)
