"""What a server counts, for Prometheus: the requests, and what its lookup clients count themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, start_http_server
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from featurekit.errors import SettingsError
from featurekit.online.lookup_client import LookupClient

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
        except OSError as error:
            raise SettingsError(
                f"metrics can't be shown on {host}:{port}", why=error.strerror, try_="another --metrics-port"
            ) from error


class _ClientCounts(Collector):
    def __init__(self, clients: Sequence[LookupClient]) -> None:
        self._clients = tuple(clients)

    def collect(self) -> Iterable[Metric]:
        states = {client.breaker.state for client in self._clients}
        breaker = GaugeMetricFamily(
            "featurekit_breaker_state", "1 for the state that the store's circuit breaker is in.", labels=("state",)
        )
        for state in _BREAKER_STATES:
            breaker.add_metric((state,), float(state in states))
        yield breaker
