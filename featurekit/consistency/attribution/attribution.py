"""A model scored with what it was served and with what training says, and with everything between: pure.

    served values ──▶ scores ──▶ metric      what the model was worth
    + some groups of cells recomputed         what it would have been worth had these been right
    recomputed    ──▶ scores ──▶ metric      what it is worth on what it was trained on

How sure each number is comes of requests drawn again and again, with their labels, from those that there are: the same
draws for every number, so what they have in common falls out of differences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from featurekit.consistency.attribution.metrics import Floats, Metric, Scores, terms
from featurekit.consistency.attribution.shapley import Made, shapley_values

Cells = npt.NDArray[np.bool_]
Matrix = npt.NDArray[np.floating[Any]]
Score = Callable[[Matrix], Scores]

RESAMPLES: Final = 200
ORDERS: Final = 64
OTHER: Final = "unknown"
_LEVEL: Final = 0.95
_AT_ONCE: Final = 1 << 22  # so many counts as floats


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number, and the interval that holds it in 95 of 100 draws of the requests."""

    value: float
    low: float
    high: float

    @property
    def is_nonzero(self) -> bool:
        """Whether it can be told from 0."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Labelled rows that a model takes: what was `served` and `recomputed`, by column, and the request each is of."""

    columns: tuple[str, ...]
    served: Matrix
    recomputed: Matrix
    truth: Floats
    requests: npt.NDArray[np.int64]

    @property
    def differs(self) -> Cells:
        """Which cells the model would see otherwise; two missing values are alike."""
        both_missing = np.isnan(self.served) & np.isnan(self.recomputed)
        differs: Cells = (self.served != self.recomputed) & ~both_missing
        return differs


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one group of cells costs, in the metric's unit; parts add up to the gap.

    `alone` is what the model would gain if these cells alone were right. `share` is that of the gap: None where the
    gap can't be told from 0.
    """

    name: str
    fields: tuple[str, ...]
    cells: int
    rows: int
    cost: Estimate
    alone: Estimate
    share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """What a model lost by being served other values than it was trained on; `gap` is positive where it did worse.

    `orders` is in how many orders groups were made right, None where it was all. `resamples` of the requests were drawn
    by `seed`; those in which the metric says nothing do not count.
    """

    metric: Metric
    rows: int
    requests: int
    served: Estimate
    recomputed: Estimate
    gap: Estimate
    parts: tuple[Part, ...]
    resamples: int
    orders: int | None
    seed: int


def attribute(
    rows: Rows,
    score: Score,
    metric: Metric,
    *,
    causes: Mapping[str, str] | None = None,
    resamples: int = RESAMPLES,
    orders: int = ORDERS,
    seed: int = 0,
) -> Attribution:
    """Return how much of the gap between served and recomputed values each field costs, or each of `causes` by column.

    Columns that differ and have no cause are one group, `unknown`.
    """
    groups = _groups(rows, causes)
    random = np.random.default_rng(seed)
    different, places = np.unique(rows.requests, return_inverse=True)
    draws = _draws(len(different), resamples, random)
    differs = rows.differs

    @cache
    def worth(made: Made) -> Floats:
        """Return the metric on all rows, then on each draw."""
        right = np.zeros_like(differs)
        for number in made:
            right[:, groups[number][1]] = True
        told = terms(metric, score(np.where(right, rows.recomputed, rows.served)), rows.truth)
        by_request = np.column_stack([np.bincount(places, column).astype(np.float64) for column in told.rows.T])
        return metric.sign * told.value(_sums(draws, by_request))

    values, taken = shapley_values(worth, len(groups), orders=orders, random=random)
    nothing, everything = worth(frozenset()), worth(frozenset(range(len(groups))))
    gap = _estimate(everything - nothing)
    parts = [
        Part(
            name=name,
            fields=tuple(rows.columns[place] for place in places),
            cells=int(differs[:, places].sum()),
            rows=int(differs[:, places].any(axis=1).sum()),
            cost=_estimate(values[number]),
            alone=_estimate(worth(frozenset({number})) - nothing),
            share=float(values[number][0]) / gap.value if gap.is_nonzero and gap.value else None,
        )
        for number, (name, places) in enumerate(groups)
    ]
    return Attribution(
        metric=metric,
        rows=len(rows.truth),
        requests=len(different),
        served=_estimate(metric.sign * nothing),
        recomputed=_estimate(metric.sign * everything),
        gap=gap,
        parts=tuple(sorted(parts, key=lambda part: (-part.cost.value, part.name))),
        resamples=resamples,
        orders=taken,
        seed=seed,
    )


def _groups(rows: Rows, causes: Mapping[str, str] | None) -> list[tuple[str, list[int]]]:
    """Return the columns that differ, by field or by cause, in the order of the columns."""
    found: dict[str, list[int]] = {}
    for place in np.flatnonzero(rows.differs.any(axis=0)).tolist():
        column = rows.columns[place]
        found.setdefault(column if causes is None else causes.get(column, OTHER), []).append(place)
    return list(found.items())


def _draws(requests: int, count: int, random: np.random.Generator) -> npt.NDArray[np.uint8]:
    """Return how often each request counts: once, then as often as it was drawn, a row for each draw."""
    drawn = np.ones((count + 1, requests), np.uint8)
    for row in drawn[1:]:
        # No request is drawn more than 255 times: of fewer there are no more draws, of more the chance is none.
        row[:] = np.bincount(random.integers(0, requests, requests), minlength=requests)
    return drawn


def _sums(draws: npt.NDArray[np.uint8], by_request: Floats) -> Floats:
    """Return the sums of the requests' terms, a row for each draw."""
    step = max(1, _AT_ONCE // max(1, draws.shape[1]))
    parts = [draws[at : at + step].astype(np.float64) @ by_request for at in range(0, len(draws), step)]
    return np.concatenate(parts)


def _estimate(values: Floats) -> Estimate:
    told = values[1:][~np.isnan(values[1:])]
    if not len(told):
        return Estimate(float(values[0]), float("-inf"), float("inf"))
    low, high = np.quantile(told, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2]).tolist()
    return Estimate(float(values[0]), low, high)
