"""The online store on Redis or Valkey: the one package that knows redis-py. Its errors become ours here."""

from featurekit.online.redis.aio import AsyncRedisStore
from featurekit.online.redis.errors import translate
from featurekit.online.redis.open import open_async_store, open_store, row_pipeline
from featurekit.online.redis.options import DEFAULT_TIMEOUT_MS
from featurekit.online.redis.pipeline import WRITE_RETRIES, RowPipeline
from featurekit.online.redis.standalone import RedisStore

__all__ = [
    "DEFAULT_TIMEOUT_MS",
    "WRITE_RETRIES",
    "AsyncRedisStore",
    "RedisStore",
    "RowPipeline",
    "open_async_store",
    "open_store",
    "row_pipeline",
    "translate",
]
