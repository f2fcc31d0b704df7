"""The lookup client: features of a service for one entity or many, from Redis and nothing else."""

from __future__ import annotations

import time
from collections.abc import Generator
from datetime import datetime
from math import ceil
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

from featurekit.clock import Instant
from featurekit.errors import OnlineStoreError
from featurekit.online.calls import Call, checked_ms
from featurekit.online.lookup_client import ClientOptions, LookupClient
from featurekit.online.redis import DEFAULT_TIMEOUT_MS, open_store
from featurekit.online.result import Features
from featurekit.online.store import ReadableStore, Value
from featurekit.plan import LookupPlan

Result = TypeVar("Result")


class FeatureClient(LookupClient):
    """Looks features up; safe to share by threads, cheap to keep, and fork-safe.

        with FeatureClient("redis://localhost:6379", project="flights", environment="prod") as client:
            client.lookup("flight_delay", {"carrier": "UA"}, {"distance": 1400.0}).to_dict()

    `store` replaces the URL's. `timeout_ms` is for a whole call, all its reads and pauses together,
    where the call does not say otherwise. `options` are those of ClientOptions.
    """

    def __init__(
        self,
        url: str = "",
        *,
        project: str,
        environment: str,
        timeout_ms: float = DEFAULT_TIMEOUT_MS,
        store: ReadableStore | None = None,
        **options: Unpack[ClientOptions],
    ) -> None:
        self._store = open_store(url, timeout_ms=ceil(checked_ms(timeout_ms))) if store is None else store
        super().__init__(self._store, project, environment, timeout_ms, options)

    def lookup(
        self,
        service: str,
        entities: Any,
        request: Any = None,
        *,
        at: datetime | Instant | None = None,
        timeout_ms: float | None = None,
        request_id: str | None = None,
    ) -> Features:
        """Return the service's features for one entity or many, in one round trip.

        `entities` is a mapping of values, a sequence of mappings, a mapping of columns, or a table (Arrow, pandas);
        so is `request`, whose values may also stand among the entities'. `at` asks what would be served then; an
        instant is microseconds. `timeout_ms` is for the whole call. `request_id` names the request in the log, which
        else gives it a name of its own.

        KeyTypeError for values of a wrong type, NotRegisteredError for an unknown service. Where the store does not
        answer, what the service declares as `on_unavailable`; OnlineStoreError where it declares nothing, or `error`,
        and FeaturesUnavailableError for `error` where the store answers and a view has no values.
        """
        call = self._calls.begin(timeout_ms)
        try:
            features = self._carry(self._steps(service, entities, request, at), call)
        except BaseException as error:
            self._count_failed(service, error, call)
            raise
        self._count_answered(features, call)
        if self._log is not None:
            self.log_served(features, request_id=request_id)
        return features

    def plan(self, service: str) -> LookupPlan:
        """Return what the service reads and gives, as it is published now."""
        planned, _ = self._carry(self._lookups.load(service), self._calls.begin())
        return planned.plan

    def services(self) -> tuple[str, ...]:
        """Return the names of all services that are published now, sorted."""
        return self._carry(self._lookups.services(), self._calls.begin())

    def close(self) -> None:
        if self._tracking is not None:
            self._tracking.close()
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _carry(self, steps: Generator[list[bytes], list[Value], Result], call: Call) -> Result:
        """Return what the steps come to; AsyncFeatureClient has the same lines with `await`."""
        try:
            keys = next(steps)
            while True:
                try:
                    values = self._store.read(keys, timeout_s=call.admit())
                except OnlineStoreError as error:
                    pause = call.failed(error)
                    if pause is None:
                        keys = steps.throw(error)
                    else:
                        time.sleep(pause)
                    continue
                except BaseException:
                    call.dropped()
                    raise
                call.succeeded()
                keys = steps.send(values)
        except StopIteration as done:
            result: Result = done.value
            return result
