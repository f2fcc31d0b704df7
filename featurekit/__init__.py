"""featurekit: a feature is defined once, compiled to several targets, and every target gives Spark's answer.

    FeatureClient   looks features up online; needs Redis and nothing else. AsyncFeatureClient does so under asyncio
    Cache           what a client may answer without a read
    Retries         how often a read that failed is sent again, and Breaker when none is sent for a while
    ModelClient     looks up and predicts
    FeatureStore    everything: register, materialize, training sets, checks
    Status          what a served value is

Names are loaded when they are used, so importing featurekit costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from featurekit.feature_store import FeatureStore as FeatureStore
    from featurekit.online.async_client import AsyncFeatureClient as AsyncFeatureClient
    from featurekit.online.breaker import Breaker as Breaker
    from featurekit.online.cache import Cache as Cache
    from featurekit.online.client import FeatureClient as FeatureClient
    from featurekit.online.retries import Retries as Retries
    from featurekit.serving.model import ModelClient as ModelClient
    from featurekit.status import Status as Status

_HOMES: Final = {
    "AsyncFeatureClient": "featurekit.online.async_client",
    "Breaker": "featurekit.online.breaker",
    "Cache": "featurekit.online.cache",
    "FeatureClient": "featurekit.online.client",
    "FeatureStore": "featurekit.feature_store",
    "ModelClient": "featurekit.serving.model",
    "Retries": "featurekit.online.retries",
    "Status": "featurekit.status",
}
__all__ = [
    "AsyncFeatureClient",
    "Breaker",
    "Cache",
    "FeatureClient",
    "FeatureStore",
    "ModelClient",
    "Retries",
    "Status",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'featurekit' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
