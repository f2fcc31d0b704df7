"""Counters: what a pass over rows counts on executors, as Arrow batches of names and values, summed on the driver."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import pyarrow as pa

COUNTERS: Final = pa.schema([("name", pa.string()), ("value", pa.int64())])


def counter_batch(counts: Mapping[str, int]) -> pa.RecordBatch:
    """Return counters as one batch."""
    return pa.RecordBatch.from_pydict({"name": list(counts), "value": list(counts.values())}, schema=COUNTERS)


def add_counters(batches: Iterable[pa.RecordBatch]) -> dict[str, int]:
    """Return the sum of each counter over all batches.

    >>> add_counters([counter_batch({"rows": 1, "bytes": 9}), counter_batch({"rows": 2})])
    {'rows': 3, 'bytes': 9}
    """
    totals: dict[str, int] = {}
    for batch in batches:
        for name, value in zip(batch["name"].to_pylist(), batch["value"].to_pylist(), strict=True):
            totals[name] = totals.get(name, 0) + value
    return totals
