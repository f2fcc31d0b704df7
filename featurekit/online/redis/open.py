"""Which store a URL means."""

from __future__ import annotations

from featurekit.online.redis.aio import AsyncRedisStore
from featurekit.online.redis.options import DEFAULT_TIMEOUT_MS
from featurekit.online.redis.pipeline import WRITE_RETRIES, RowPipeline
from featurekit.online.redis.standalone import RedisStore
from featurekit.online.store import AsyncReadableStore, OnlineStore


def open_store(url: str, *, timeout_ms: int = DEFAULT_TIMEOUT_MS) -> OnlineStore:
    """Return the store of a URL; nothing is sent before the first command. SettingsError for what is no such URL."""
    return RedisStore(url, timeout_ms=timeout_ms)


def open_async_store(url: str, *, timeout_ms: int = DEFAULT_TIMEOUT_MS) -> AsyncReadableStore:
    """Return the store of a URL, as lookups under asyncio read it."""
    return AsyncRedisStore(url, timeout_ms=timeout_ms)


def row_pipeline(url: str, *, timeout_ms: int, retries: int = WRITE_RETRIES) -> RowPipeline:
    """Return a writer's connection to the store of a URL."""
    return RowPipeline(url, timeout_ms=timeout_ms, retries=retries)
