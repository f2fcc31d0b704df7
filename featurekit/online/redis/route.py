"""Which route a URL means."""

from __future__ import annotations

from typing import Final, assert_never

from featurekit.online.redis.address import Address
from featurekit.online.redis.cluster import ClusterRoute
from featurekit.online.redis.single import SentinelRoute, SingleRoute
from featurekit.online.redis.steps import Route

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
