"""Which route a URL means."""

from __future__ import annotations

from typing import Final, assert_never

from featurekit.online.redis.address import Address
from featurekit.online.redis.cluster import ClusterRoute
from featurekit.online.redis.single import SentinelRoute, SingleRoute
from featurekit.online.redis.steps import Route
from featurekit.online.store import READ_SPAN_S

DEFAULT_TIMEOUT_MS: Final = 1000
WRITE_RETRIES: Final = 8  # some ten seconds: a writer waits for a restart or a failover, a lookup does not


def new_route(address: Address) -> Route:
    """Return the route of a deployment; it knows nothing of the servers yet."""
    match address.deployment:
        case "standalone":
            return SingleRoute(address)
        case "sentinel":
            return SentinelRoute(address)
        case "cluster":
            return ClusterRoute(address)
        case _:
            assert_never(address.deployment)


def read_limit_s(route: Route, timeout_ms: int, timeout_s: float | None) -> float:
    """Return how long a read may take: what is asked for, else the store's own timeout.

    Where it is not one instant, less than rows outlive what led to them, whatever is asked for.
    """
    allowed = timeout_ms / 1000 if timeout_s is None else timeout_s
    return allowed if route.reads_at_once else min(allowed, READ_SPAN_S - 1)
