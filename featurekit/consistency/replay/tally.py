"""Cells counted: by verdict, by day, and as shares of the population that sampled rows stand for. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from featurekit.clock import DAY
from featurekit.consistency.cells import Codes, Flags
from featurekit.consistency.compare import Verdict
from featurekit.consistency.replay.logged import Floats, Ints
from featurekit.consistency.replay.report import Day


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Cells of one field that were compared."""

    counts: dict[Verdict, int]
    share: float | None
    days: tuple[Day, ...]


def tally(verdicts: Codes, differs: Flags, compared: Flags, times: Ints, weights: Floats) -> Tally:
    """Return the compared cells counted, a value for each cell in each argument."""
    verdicts, differs, times, weights = verdicts[compared], differs[compared], times[compared], weights[compared]
    codes = np.bincount(verdicts, minlength=len(Verdict))
    days, places = np.unique(times - times % DAY, return_inverse=True)
    cells, wrong = (np.bincount(places, each, len(days)) for each in (np.ones(len(places)), differs))
    whole, weighed = (np.bincount(places, each, len(days)) for each in (weights, weights * differs))
    return Tally(
        counts={verdict: int(codes[verdict]) for verdict in Verdict},
        share=float(weighed.sum() / whole.sum()) if len(days) else None,
        days=tuple(
            Day(start=int(day), compared=int(n), differing=int(bad), share=float(part / all_))
            for day, n, bad, part, all_ in zip(days, cells, wrong, weighed, whole, strict=True)
        ),
    )
