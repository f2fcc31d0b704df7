"""What lookup clients share, whatever carries the bytes: what they know, how they read, what they log."""

from __future__ import annotations

import random as randomness
import time
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self, TypedDict

from featurekit.clock import Clock, Instant, from_datetime, system_clock
from featurekit.online.breaker import Breaker, Elapsed
from featurekit.online.cache import Cache, CachedReads, since_boot
from featurekit.online.calls import Call, Calls, Random
from featurekit.online.counts import Counted, Counts
from featurekit.online.degrade import LAST_KNOWN_BYTES, LastKnown
from featurekit.online.keys import Namespace
from featurekit.online.lookup import Lookups, Steps
from featurekit.online.result import Features
from featurekit.online.retries import Retries
from featurekit.online.store import AsyncReadableStore, ReadableStore
from featurekit.online.tracking import Hearing, tracking

if TYPE_CHECKING:  # who makes neither loads neither
    from featurekit.config import Settings
    from featurekit.online.served_log import ServedLog


class ClientOptions(TypedDict, total=False):
    """What every client can be given; each may be left away.

    `clock` is asked once per request: what is served is as of then. `breaker` may be shared with other clients of the
    store. Up to `last_known_bytes` of rows are kept for services that answer with them (`on_unavailable:
    {last_known: …}`). With `cache`, what was just read is answered without a read. What is answered goes into `log`,
    which stays the caller's to close. `elapsed` measures what passes, `random` draws how long to wait before a read is
    sent again.
    """

    clock: Clock
    retries: Retries
    breaker: Breaker
    last_known_bytes: int
    cache: Cache | None
    log: ServedLog | None
    elapsed: Elapsed
    random: Random


def client_options(settings: Settings, log: ServedLog | None = None) -> ClientOptions:
    """Return what the settings say of a client, beside where its store is and how long it may take."""
    return {
        "log": log,
        "clock": settings.clock,
        "retries": Retries(tries=settings.redis_tries),
        "breaker": Breaker(failures=settings.redis_breaker_failures, open_ms=settings.redis_breaker_open_ms),
    }


class LookupClient:
    """The part of a client that reads nothing itself."""

    def __init__(
        self,
        store: ReadableStore | AsyncReadableStore,
        project: str,
        environment: str,
        timeout_ms: float,
        options: ClientOptions,
    ) -> None:
        elapsed = options.get("elapsed", time.monotonic)
        kept = LastKnown(elapsed, options.get("last_known_bytes", LAST_KNOWN_BYTES))
        self._namespace = Namespace(project, environment)
        self._counts = Counts()
        self._lookups = Lookups(self._namespace, kept, self._counts)
        self._calls = Calls(
            store.name,
            timeout_ms=timeout_ms,
            retries=options.get("retries") or Retries(),
            breaker=options.get("breaker") or Breaker(elapsed=elapsed),
            elapsed=elapsed,
            random=options.get("random", randomness.random),
        )
        self._clock = options.get("clock", system_clock)
        cache = options.get("cache")
        self._cached = (
            None if cache is None else CachedReads(cache, self._namespace, options.get("elapsed", since_boot))
        )
        self._tracking = None if cache is None or self._cached is None else tracking(cache, self._cached, store)
        self._log = options.get("log")

    @property
    def breaker(self) -> Breaker:
        return self._calls.breaker

    @property
    def hearing(self) -> Hearing:
        """Whether the servers are heard saying what was changed; OFF without a cache."""
        return Hearing.OFF if self._tracking is None else self._tracking.hearing

    @property
    def hearing_losses(self) -> int:
        """How often the servers came to be heard no more."""
        return 0 if self._tracking is None else self._tracking.losses

    def counted(self) -> Counted:
        """Return what was counted of the lookups so far, the unlogged ones too."""
        return self._counts.read()

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

    def unlogged(self) -> Self:
        """Return the same client for lookups that serve nobody, such as those of a check: they are not logged."""
        client = object.__new__(type(self))
        client.__dict__.update(self.__dict__, _log=None)
        return client

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError(
            f"a {type(self).__name__} can't be pickled or copied: it has connections."
            " Make one where it is used; forked processes may share their parent's"
        )

    def _count_answered(self, features: Features, call: Call) -> None:
        self._counts.answered(
            features.service,
            len(features),
            call.spent_s(),
            reads=call.reads,
            retries=call.retries,
            unavailable=features.unavailable_views,
            ages={alias: features.at - as_of for alias, as_of in features.as_of.items() if as_of is not None},
        )

    def _count_failed(self, service: str, error: BaseException, call: Call) -> None:
        self._counts.failed(self._lookups.known_name(service), error, call.spent_s(), retries=call.retries)

    def _steps(self, service: str, entities: Any, request: Any, at: datetime | Instant | None) -> Steps:
        instant = self._clock() if at is None else (from_datetime(at) if isinstance(at, datetime) else at)
        steps = self._lookups.steps(service, entities, request, instant)
        if self._cached is None:
            return steps
        if self._tracking is not None:
            self._tracking.begin()
        return self._cached.steps(steps)
