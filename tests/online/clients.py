"""The two clients behind one face, so that one test is a test of both."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Unpack

from featurekit.online.async_client import AsyncFeatureClient
from featurekit.online.client import FeatureClient
from featurekit.online.lookup_client import ClientOptions, LookupClient
from featurekit.online.result import Features
from featurekit.plan import LookupPlan
from tests.online.servers import NAMESPACE

KINDS: Final = ("sync", "async")


@dataclass(frozen=True, kw_only=True)
class Client:
    """A client of either kind; `lookup`, `plan` and `services` block until they are answered."""

    client: LookupClient
    lookup: Callable[..., Features]
    plan: Callable[[str], LookupPlan]
    services: Callable[[], tuple[str, ...]]


@contextmanager
def client_of(
    kind: str, url: str = "", *, store: Any = None, timeout_ms: float = 10_000, **options: Unpack[ClientOptions]
) -> Iterator[Client]:
    """Give a client of the tests' project, of either kind."""
    place: dict[str, Any] = {
        "project": NAMESPACE.project,
        "environment": NAMESPACE.environment,
        "store": store,
        "timeout_ms": timeout_ms,
        **options,
    }
    if kind == "sync":
        with FeatureClient(url, **place) as client:
            yield Client(client=client, lookup=client.lookup, plan=client.plan, services=client.services)
        return
    with asyncio.Runner() as runner:
        awaited = AsyncFeatureClient(url, **place)
        yield Client(
            client=awaited,
            lookup=lambda *asked, **how: runner.run(awaited.lookup(*asked, **how)),
            plan=lambda service: runner.run(awaited.plan(service)),
            services=lambda: runner.run(awaited.services()),
        )
        runner.run(awaited.close())
