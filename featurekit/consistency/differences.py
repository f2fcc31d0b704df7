"""How far apart served and recomputed numbers are: counts in bins of served − recomputed, for a report's chart.

The differences are for people to look at, so they are doubles whatever the type.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from featurekit.arrow_types import held_values
from featurekit.clock import SECOND
from featurekit.consistency.cells import Flags
from featurekit.types import DataType, Date, Timestamp, TimestampNtz, is_numeric

BINS: Final = 24
_TAILS: Final = (1.0, 99.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """served − recomputed of the cells that differ and have a number on both sides.

    `edges` bound the bins of `counts`; what lies beyond the outer hundredths is in the outer bins, from `least` to
    `most`. `unit` is empty for numbers, s for timestamps, d for dates. `others` differ too, and have no difference: a
    side without a value, or one that is not finite.
    """

    unit: str
    least: float
    median: float
    most: float
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    others: int


def differences(served: pa.Array, recomputed: pa.Array, differs: Flags, kind: DataType) -> Differences | None:
    """Return the distribution over the cells that differ; None for types without one, and where none has a number.

    >>> from featurekit.types import Float64
    >>> one, other = pa.array([3.0, None, 5.0]), pa.array([1.0, 2.0, 5.0])
    >>> found = differences(one, other, np.array([True, True, False]), Float64())
    >>> found.median, found.others, sum(found.counts)
    (2.0, 1, 1)
    """
    if not is_numeric(kind) and not isinstance(kind, Timestamp | TimestampNtz | Date):
        return None
    rows = pa.array(np.flatnonzero(differs))
    pairs = zip(held_values(served.take(rows)), held_values(recomputed.take(rows)), strict=True)
    # Subtracted as they are held, one by one: two int64 that are one apart can be one double.
    apart = [float(one - other) for one, other in pairs if one is not None and other is not None]
    found = np.sort([each for each in apart if math.isfinite(each)])
    if not len(found):
        return None
    if isinstance(kind, Timestamp | TimestampNtz):
        found = found / SECOND
    # Of numbers that are there, not between them: the sum of two large ones is infinite.
    low, high = np.percentile(found, _TAILS, method="nearest")
    edges = _edges(low, high) if low < high else _edges(found[0], found[-1])
    counts, _ = np.histogram(np.clip(found, edges[0], edges[-1]), edges)
    return Differences(
        unit="s" if isinstance(kind, Timestamp | TimestampNtz) else "d" if isinstance(kind, Date) else "",
        least=float(found[0]),
        median=float(found[(len(found) - 1) // 2]),
        most=float(found[-1]),
        edges=tuple(map(float, edges)),
        counts=tuple(map(int, counts)),
        others=len(rows) - len(found),
    )


def _edges(low: float, high: float) -> npt.NDArray[Any]:
    """Return the bins' edges; one bin where there is no room for more."""
    if low < high and math.isfinite(float(high) - float(low)):
        with np.errstate(over="ignore"):  # the last edge is computed, and then put in its place
            edges = np.linspace(low, high, BINS + 1)
        if (np.diff(edges) > 0).all():
            return edges
    return np.array([low, high] if low < high else sorted((low, np.nextafter(low, 0.0 if low else 1.0))))
