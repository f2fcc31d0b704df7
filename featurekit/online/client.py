"""The lookup client: features of a service for one entity or many, from Redis and nothing else."""

from __future__ import annotations

from collections.abc import Generator
from copy import copy
from datetime import datetime
from types import TracebackType
from typing import Any, Self, TypeVar

from featurekit.clock import Clock, Instant, from_datetime, system_clock
from featurekit.errors import NotRegisteredError
from featurekit.online.keys import Namespace
from featurekit.online.lookup import Lookups
from featurekit.online.publish import published_services
from featurekit.online.redis import DEFAULT_TIMEOUT_MS, open_store
from featurekit.online.request import did_you_mean
from featurekit.online.result import Features
from featurekit.online.served_log import ServedLog
from featurekit.online.store import ReadableStore, Value
from featurekit.plan import LookupPlan

Result = TypeVar("Result")


class FeatureClient:
    """Looks features up; safe to share by threads, cheap to keep, and fork-safe.

        with FeatureClient("redis://localhost:6379", project="flights", environment="prod") as client:
            client.lookup("flight_delay", {"carrier": "UA"}, {"distance": 1400.0}).to_dict()

    `timeout_ms` is for each answer of the store; `clock` is asked once per request. `store` replaces the URL's. What is
    answered goes into `log`, where one is given; it stays the caller's to close.
    """

    def __init__(
        self,
        url: str = "",
        *,
        project: str,
        environment: str,
        clock: Clock = system_clock,
        timeout_ms: int = DEFAULT_TIMEOUT_MS,
        store: ReadableStore | None = None,
        log: ServedLog | None = None,
    ) -> None:
        self._store = open_store(url, timeout_ms=timeout_ms) if store is None else store
        self._namespace = Namespace(project, environment)
        self._lookups = Lookups(self._namespace)
        self._clock = clock
        self._log = log

    def lookup(
        self,
        service: str,
        entities: Any,
        request: Any = None,
        *,
        at: datetime | Instant | None = None,
        request_id: str | None = None,
    ) -> Features:
        """Return the service's features for one entity or many, in one round trip.

        `entities` is a mapping of values, a sequence of mappings, a mapping of columns, or a table (Arrow, pandas);
        so is `request`, whose values may also stand among the entities'. `at` asks what would be served then; an
        instant is microseconds. `request_id` names the request in the log, which else gives it a name of its own.
        KeyTypeError for values of a wrong type, NotRegisteredError for an unknown service, OnlineStoreError where the
        store does not answer.
        """
        instant = self._clock() if at is None else (from_datetime(at) if isinstance(at, datetime) else at)
        features = self._run(service, self._lookups.steps(service, entities, request, instant))
        if self._log is not None:
            self.log_served(features, request_id=request_id)
        return features

    def log_served(
        self,
        features: Features,
        *,
        request_id: str | None = None,
        model: str | None = None,
        model_version: int | None = None,
    ) -> None:
        """Hand features to the log, where there is one, as served to a model; `lookup` does so for who asks itself."""
        if self._log is not None:
            self._log.add(features.served(request_id or self._log.new_number(), model, model_version))

    def unlogged(self) -> FeatureClient:
        """Return the same client for lookups that serve nobody, such as those of a check: they are not logged."""
        client = copy(self)
        client._log = None
        return client

    def plan(self, service: str) -> LookupPlan:
        """Return what the service reads and gives, as it is published now."""
        planned, _ = self._run(service, self._lookups.load(service))
        return planned.plan

    def services(self) -> tuple[str, ...]:
        """Return the names of all services that are published now, sorted."""
        return published_services(self._store, self._namespace)

    def close(self) -> None:
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _run(self, service: str, steps: Generator[list[bytes], list[Value], Result]) -> Result:
        try:
            keys = next(steps)
            while True:
                keys = steps.send(self._read(keys))
        except StopIteration as done:
            result: Result = done.value
            return result
        except NotRegisteredError as error:
            error.try_ = (
                did_you_mean(service, published_services(self._store, self._namespace)) or "featurekit register"
            )
            raise

    def _read(self, keys: list[bytes]) -> list[Value]:
        # The one place where a policy for a store that does not answer will go.
        return self._store.read(keys)
