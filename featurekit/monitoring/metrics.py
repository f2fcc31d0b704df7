"""What a server counts, for Prometheus: the requests, and what its lookup clients count themselves."""

from __future__ import annotations

from collections import Counter as Counts
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from featurekit.clock import SECOND
from featurekit.errors import SettingsError
from featurekit.online.counts import LATENCY_S, ServiceCounts
from featurekit.online.lookup_client import LookupClient
from featurekit.online.tracking import Hearing

_SECONDS: Final = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
_BREAKER_STATES: Final = ("closed", "open", "half-open")


class ServerMetrics:
    """The counts of one process; safe to share by threads. No label holds what a caller can make up."""

    def __init__(self, clients: Sequence[LookupClient] = ()) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "featurekit_http_requests",
            "Requests by route, HTTP status and name of the API key they showed.",
            ("route", "status", "key"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "featurekit_http_request_seconds",
            "How long requests took, from their headers to their answer.",
            ("route",),
            buckets=_SECONDS,
            registry=self._registry,
        )
        if clients:
            self._registry.register(_ClientCounts(clients))

    def observe(self, *, route: str, status: int, key: str, seconds: float) -> None:
        """Count one request."""
        self._requests.labels(route, str(status), key).inc()
        self._seconds.labels(route).observe(seconds)

    def exposition(self) -> tuple[bytes, str]:
        """Return all counts as Prometheus' text, and its media type."""
        return generate_latest(self._registry), CONTENT_TYPE_LATEST

    def listen(self, host: str, port: int) -> None:
        """Show the counts on a port of their own, for as long as the process lives."""
        try:
            start_http_server(port, host, self._registry)
        except (OSError, OverflowError) as error:  # the last of many workers may have a number that is no port
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise SettingsError(
                f"metrics can't be shown on {host}:{port}", why=why, try_="another --metrics-port"
            ) from error


class _ClientCounts(Collector):
    """What the clients of one store have counted since they were made, all together."""

    def __init__(self, clients: Sequence[LookupClient]) -> None:
        self._clients = tuple(clients)

    def collect(self) -> Iterable[Metric]:
        counted = [client.counted() for client in self._clients]
        yield self._breaker()
        yield from self._hearing()
        yield from _lookups([(name, one) for each in counted for name, one in each.services.items()])
        values = CounterMetricFamily(
            "featurekit_values", "Looked-up values by view and status.", labels=("service", "view", "status")
        )
        statuses: Counts[tuple[str, ...]] = Counts()
        for each in counted:
            statuses.update(
                {(service, view, status.name): count for (service, view, status), count in each.statuses.items()}
            )
        yield _filled(values, statuses)

    def _breaker(self) -> Metric:
        states = {client.breaker.state for client in self._clients}
        family = GaugeMetricFamily(
            "featurekit_breaker_state", "1 for the state that the store's circuit breaker is in.", labels=("state",)
        )
        for state in _BREAKER_STATES:
            family.add_metric((state,), float(state in states))
        return family

    def _hearing(self) -> Iterator[Metric]:
        family = GaugeMetricFamily(
            "featurekit_cache_hearing",
            "Clients by whether they hear servers say what was changed; off: they keep no cache, or have read nothing.",
            labels=("state",),
        )
        states = Counts(client.hearing for client in self._clients)
        for state in Hearing:
            family.add_metric((state.value,), float(states[state]))
        yield family
        losses = CounterMetricFamily(
            "featurekit_cache_hearing_losses", "How often caches stopped to hear their servers."
        )
        losses.add_metric((), sum(client.hearing_losses for client in self._clients))
        yield losses


def _lookups(services: Sequence[tuple[str, ServiceCounts]]) -> Iterator[Metric]:
    lookups, unavailable = Counts[tuple[str, ...]](), Counts[tuple[str, ...]]()
    entities, retries, cached = Counts[tuple[str, ...]](), Counts[tuple[str, ...]](), Counts[tuple[str, ...]]()
    took: dict[str, tuple[list[int], float]] = {}
    for name, one in services:
        lookups.update({(name, "answered"): one.answered} | {(name, error): n for error, n in one.failed.items()})
        unavailable.update({(name, view, reason): count for (view, reason), count in one.unavailable.items()})
        entities.update({(name,): one.entities})
        retries.update({(name,): one.retries})
        cached.update({(name,): one.from_cache})
        buckets, seconds = took.get(name, ([0] * len(one.latencies), 0.0))
        took[name] = ([a + b for a, b in zip(buckets, one.latencies, strict=True)], seconds + one.seconds)
    for family, counts in (
        (_family("featurekit_lookups", "Lookups by outcome: answered, or the error's name.", "outcome"), lookups),
        (_family("featurekit_lookup_entities", "Entities that were looked up."), entities),
        (_family("featurekit_lookup_retries", "Reads that were sent again."), retries),
        (_family("featurekit_lookups_from_cache", "Lookups that took no read."), cached),
        (_family("featurekit_unavailable_views", "Views of lookups without values.", "view", "reason"), unavailable),
    ):
        yield _filled(family, counts)
    yield _latencies(took)
    yield _ages(services)


def _ages(services: Sequence[tuple[str, ServiceCounts]]) -> Metric:
    told = "How old a view's values were at the time that the last lookup asked for."
    family = GaugeMetricFamily("featurekit_served_age_seconds", told, labels=("service", "view"))
    # Of several clients the oldest: that is what somebody got.
    oldest: dict[tuple[str, str], int] = {}
    for name, one in services:
        for view, age in one.ages.items():
            oldest[name, view] = max(age, oldest.get((name, view), age))
    for labels, age in oldest.items():
        family.add_metric(labels, age / SECOND)
    return family


def _latencies(took: Mapping[str, tuple[list[int], float]]) -> Metric:
    family = HistogramMetricFamily(
        "featurekit_lookup_seconds", "How long lookups took, reads and pauses together.", labels=("service",)
    )
    bounds = [*map(str, LATENCY_S), "+Inf"]
    for name, (buckets, seconds) in took.items():
        family.add_metric((name,), list(zip(bounds, accumulate(buckets), strict=True)), seconds)
    return family


def _family(name: str, told: str, *labels: str) -> CounterMetricFamily:
    return CounterMetricFamily(name, told, labels=("service", *labels))


def _filled(family: CounterMetricFamily, counts: Mapping[tuple[str, ...], int]) -> Metric:
    for labels, count in counts.items():
        family.add_metric(labels, count)
    return family
