"""Lookups that the client's cache answers, beside those that read and beside a raw MGET of the same rows.

`python -m benchmarks.bench_cache` prints the table, against a server of its own: entities are asked for again and
again, so that all but the first lookups are hits; then lookups of which none is (the cache is emptied before each).
"""

from __future__ import annotations

import tempfile
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import redis

from benchmarks.online_shapes import SHAPES, Shape
from benchmarks.online_turns import Timing, calling, in_turns
from benchmarks.online_world import AS_OF, NAMESPACE, make_tables, publish_services, write_view
from benchmarks.report import finish
from featurekit.clock import DAY
from featurekit.online import embedded
from featurekit.online.cache import Cache
from featurekit.online.client import FeatureClient
from featurekit.online.keys import KeySpace

_MEASURED: Final = ("1x50", "1x50_numbers", "100x50", "100x50_numbers", "1000x50")
_ROUNDS: Final = 7
_TURNS: Final = 4
_KEPT_ROWS: Final = 10_000


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        try:
            url = embedded.start(Path(folder)).url
            spaces = {view: write_view(url, view, table) for view, table in make_tables().items()}
            publish_services(url)
            found = {shape.name: _measure(url, shape, spaces) for shape in SHAPES if shape.name in _MEASURED}
            row_bytes, kept_bytes = _memory(url)
        finally:
            embedded.stop(Path(folder))
    print(f"{'':16}{'raw':>10}{'read':>10}{'hit':>10}{'missed':>10}   µs, p50 of {_ROUNDS} rounds in turns; to NumPy")
    for name, timings in found.items():
        print(f"{name:16}" + "".join(f"{timing.p50_us:10.1f}" for timing in timings.values()))
    values: dict[str, Any] = {}
    for name in ("1x50", "100x50"):
        timings = found[name]
        values[f"hit_{name}_vs_raw"] = round(timings["hit"].over(timings["raw"]), 3)
        values[f"hit_{name}_vs_read"] = round(timings["hit"].over(timings["read"]), 3)
        values[f"missed_{name}_vs_read"] = round(timings["missed"].over(timings["read"]), 3)
    values |= {"row_bytes": round(row_bytes), "kept_row_bytes": round(kept_bytes)}
    details = {name: {form: timing.p50_us for form, timing in timings.items()} for name, timings in found.items()}
    finish("bench-cache", values, details=details)
    return 0


def _measure(url: str, shape: Shape, spaces: dict[str, KeySpace]) -> dict[str, Timing]:
    raw = redis.Redis.from_url(url)
    space = spaces[shape.service]

    def client(cache: Cache | None) -> FeatureClient:
        return FeatureClient(
            url, project=NAMESPACE.project, environment=NAMESPACE.environment, clock=lambda: AS_OF + DAY, cache=cache
        )

    requests: Sequence[Any] = [[space.row(b"%d" % user) for user in users] for users in shape.requests]
    asked: Sequence[Any] = [{"user_id": users} for users in shape.requests]
    with client(None) as read, client(Cache(max_staleness="1h")) as hit, client(Cache(max_staleness="1h")) as missed:
        cached = missed._cached
        assert cached is not None

        def look_up(one: FeatureClient) -> Callable[[Any], Any]:
            return lambda users: one.lookup(shape.service, users).to_numpy()

        def miss(users: Any) -> Any:
            cached.forget(None)
            return missed.lookup(shape.service, users).to_numpy()

        for users in asked:
            hit.lookup(shape.service, users)
        forms = {
            "raw": calling(raw.mget, requests, shape.calls),
            "read": calling(look_up(read), asked, shape.calls),
            "hit": calling(look_up(hit), asked, shape.calls),
            "missed": calling(miss, asked, shape.calls),
        }
        return in_turns(forms, rounds=_ROUNDS, turns=_TURNS)


def _memory(url: str) -> tuple[float, float]:
    """Return the bytes of a row in the store, and what one takes in the cache with all that belongs to it."""
    with (
        redis.Redis.from_url(url) as raw,
        FeatureClient(
            url, project=NAMESPACE.project, environment=NAMESPACE.environment, clock=lambda: AS_OF + DAY,
            cache=Cache(max_staleness="1h", max_bytes=1 << 30),
        ) as client,
    ):  # fmt: skip
        client.lookup("wide", {"user_id": [0]})
        tracemalloc.start()
        before, _ = tracemalloc.get_traced_memory()
        for first in range(1, _KEPT_ROWS, 100):
            client.lookup("wide", {"user_id": list(range(first, first + 100))})
        after, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        sizes = [len(raw.get(key) or b"") for key in raw.scan_iter(b"*:wide@*:*") if b"{" in key]
        return sum(sizes) / len(sizes), (after - before) / _KEPT_ROWS


if __name__ == "__main__":
    raise SystemExit(main())
