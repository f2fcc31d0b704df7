"""The lookup client under asyncio: the same answers, by the same rules, with `await`."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from datetime import datetime
from math import ceil
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

from featurekit.clock import Instant
from featurekit.errors import InputError, OnlineStoreError
from featurekit.online.calls import Call, checked_ms
from featurekit.online.lookup_client import ClientOptions, LookupClient
from featurekit.online.redis import DEFAULT_TIMEOUT_MS, open_async_store
from featurekit.online.result import Features
from featurekit.online.store import AsyncReadableStore, Value
from featurekit.plan import LookupPlan

Result = TypeVar("Result")


class AsyncFeatureClient(LookupClient):
    """Looks features up for the tasks of one event loop: that of its first lookup.

        async with AsyncFeatureClient("redis://localhost:6379", project="flights", environment="prod") as client:
            (await client.lookup("flight_delay", {"carrier": "UA"}, {"distance": 1400.0})).to_dict()

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
        store: AsyncReadableStore | None = None,
        **options: Unpack[ClientOptions],
    ) -> None:
        self._store = open_async_store(url, timeout_ms=ceil(checked_ms(timeout_ms))) if store is None else store
        self._home: list[asyncio.AbstractEventLoop] = []  # a list: shared with what `unlogged` returns
        super().__init__(self._store, project, environment, timeout_ms, options)
        self._plans = self._namespace.plans

    async def lookup(
        self,
        service: str,
        entities: Any,
        request: Any = None,
        *,
        at: datetime | Instant | None = None,
        timeout_ms: float | None = None,
        request_id: str | None = None,
    ) -> Features:
        """Return the service's features, as `FeatureClient.lookup` does; a task that is cancelled leaves no trace."""
        call = self._calls.begin(timeout_ms)
        try:
            features = await self._carry(self._steps(service, entities, request, at), call)
        except BaseException as error:
            self._count_failed(service, error, call)
            raise
        self._count_answered(features, call)
        if self._log is not None:
            self.log_served(features, request_id=request_id)
        return features

    async def plan(self, service: str) -> LookupPlan:
        """Return what the service reads and gives, as it is published now."""
        planned, _ = await self._carry(self._lookups.load(service), self._calls.begin())
        return planned.plan

    async def services(self) -> tuple[str, ...]:
        """Return the names of all services that are published now, sorted."""
        return await self._carry(self._lookups.services(), self._calls.begin())

    async def close(self) -> None:
        if self._tracking is not None:
            await asyncio.to_thread(self._tracking.close)
        await self._store.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def _carry(self, steps: Generator[list[bytes], list[Value], Result], call: Call) -> Result:
        """Return what the steps come to; FeatureClient has the same lines without `await`."""
        self._stay_home()
        try:
            keys = next(steps)
            while True:
                try:
                    values = await self._store.read(keys, timeout_s=call.admit())
                except OnlineStoreError as error:
                    pause = call.failed(error)
                    if pause is None:
                        keys = steps.throw(error)
                    else:
                        await asyncio.sleep(pause)
                    continue
                except BaseException:  # also a task that is cancelled
                    call.dropped()
                    raise
                call.succeeded()
                if keys[0].startswith(self._plans):
                    # A plan that has come is compiled: tens of milliseconds, in which the loop has others to serve.
                    sent = await asyncio.to_thread(_sent, steps, values)
                    if isinstance(sent, StopIteration):
                        raise sent
                    keys = sent
                else:
                    keys = steps.send(values)
        except StopIteration as done:
            result: Result = done.value
            return result

    def _stay_home(self) -> None:
        loop = asyncio.get_running_loop()
        if not self._home:
            self._home.append(loop)
        elif self._home[0] is not loop:
            raise InputError(
                "this AsyncFeatureClient belongs to another event loop",
                why="its connections are bound to the loop of its first lookup",
                try_="make a client in each loop, such as inside the function that asyncio.run is given;"
                " FeatureClient may be shared by threads",
            )


def _sent(steps: Generator[list[bytes], list[Value], Result], values: list[Value]) -> list[bytes] | StopIteration:
    """Return what the steps read next, or how they ended: a thread can't raise StopIteration for others."""
    try:
        return steps.send(values)
    except StopIteration as done:
        return done
