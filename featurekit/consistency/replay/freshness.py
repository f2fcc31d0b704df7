"""The first question of a replay: was each view's as-of the one that its declaration promises? Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from featurekit.consistency.cells import Flags
from featurekit.consistency.replay.logged import Floats, Ints
from featurekit.errors import TimeError
from featurekit.grid import Grid


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness:
    """How many answers of a view were of which refresh; `late` by how many refreshes.

    `ahead` were newer than promised, or of a refresh that was being written in place; `off_grid` name an instant that
    is no refresh of the view; `unavailable` had none at all. `last_known`, of any of these, stood in for a store that
    did not answer. `late_share` is that of the population that had an answer, `oldest` the greatest age, in µs.
    """

    on_time: int = 0
    late: dict[int, int] = field(default_factory=dict)
    ahead: int = 0
    off_grid: int = 0
    unavailable: int = 0
    last_known: int = 0
    late_share: float | None = None
    oldest: int | None = None

    @property
    def late_rows(self) -> int:
        return sum(self.late.values())

    @property
    def wrong(self) -> int:
        """Answers of an as-of that nothing promises: no delay of a refresh explains these."""
        return self.off_grid


@dataclass(frozen=True, slots=True, kw_only=True)
class Ages:
    """One view's answers beside what was promised, a value for each row; `steps` is how many refreshes late it was.

    A row without an answer has no step, and one ahead or off the grid has 0.
    """

    answered: Flags
    steps: Ints
    ahead: Flags
    off_grid: Flags
    last_known: Flags
    age: Ints

    @property
    def late(self) -> Flags:
        late: Flags = self.steps > 0
        return late


def ages(grid: Grid, times: Ints, as_ofs: pa.Array, *, ahead: Flags, last_known: Flags) -> Ages:
    """Return how old each answer was, by the times of requests and the as-ofs that they were answered from.

    `ahead` and `last_known` are the rows that were said to be so when they were answered.
    """
    answered: Flags = np.asarray(as_ofs.is_valid().to_numpy(zero_copy_only=False), np.bool_)
    served = np.asarray(pc.fill_null(as_ofs, 0).to_numpy(zero_copy_only=False), np.int64)
    promised = np.where(answered, _promised(grid, times), served)
    off_grid = answered & ~_on_grid(grid, served)
    behind = promised - served
    # Days of a zone are not all as long as others: half of one is no refresh.
    steps = np.where(behind > 0, np.maximum(1, np.rint(behind / grid.every)), 0).astype(np.int64)
    return Ages(
        answered=answered,
        steps=np.where(answered & ~off_grid & ~ahead, steps, 0),
        ahead=answered & ~off_grid & (ahead | (behind < 0)),
        off_grid=off_grid,
        last_known=answered & last_known,
        age=np.where(answered, times - served, 0),
    )


def freshness(found: Ages, weights: Floats) -> Freshness:
    """Return the rows counted, and the share that was late of the rows that these stand for."""
    late = found.late
    plain = found.answered & ~found.off_grid & ~found.ahead & ~late
    whole = float(weights[found.answered].sum())
    return Freshness(
        on_time=int(plain.sum()),
        late=dict(sorted(Counter(found.steps[late].tolist()).items())),
        ahead=int(found.ahead.sum()),
        off_grid=int(found.off_grid.sum()),
        unavailable=int((~found.answered).sum()),
        last_known=int(found.last_known.sum()),
        late_share=float(weights[late].sum()) / whole if whole else None,
        oldest=int(found.age[found.answered].max()) if found.answered.any() else None,
    )


def _promised(grid: Grid, times: Ints) -> Ints:
    if grid.timezone is None:
        shifted = times - grid.availability_delay
        return shifted - shifted % grid.every
    different, places = np.unique(times, return_inverse=True)
    return np.array([_served_at(grid, at) for at in different.tolist()], np.int64)[places]


def _served_at(grid: Grid, at: int) -> int:
    try:
        return grid.served_at(at)
    except TimeError:  # a request of the year 1: there is nothing before it
        return at


def _on_grid(grid: Grid, as_ofs: Ints) -> Flags:
    different, places = np.unique(as_ofs, return_inverse=True)
    return np.array([grid.contains(at) for at in different.tolist()], np.bool_)[places]
