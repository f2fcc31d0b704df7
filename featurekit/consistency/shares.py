"""Shares of the population, from a sample whose entities stand for unequal numbers of others.

An entity that was chosen with probability p stands for 1/p entities. What all entities of a sample stand for together
estimates the population without bias (Horvitz and Thompson); a share is one such sum divided by another (Hájek).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from featurekit.consistency.cells import Flags

Weights = npt.NDArray[np.float64]
_Z: Final = 1.959963984540054  # 95 % of a normal distribution lie within so many standard deviations


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """An estimated share of the population, 0 to 1, and the interval that holds the true one 95 times in 100.

    The interval is the share alone where every entity of the population was looked at.
    """

    value: float
    low: float
    high: float


def weighted_share(flags: Flags, weights: Weights) -> Share | None:
    """Return the share of the population for which the flag is true; None where the sample stands for nobody.

    >>> weighted_share(np.array([True, False, False]), np.array([1.0, 1.0, 2.0])).value
    0.25
    """
    total = weights.sum()
    if not total:
        return None
    # Both sums over the same places, in the same order: a share of all is 1, and not what fractions add up to.
    value = float(np.where(flags, weights, 0.0).sum() / total)
    size = _effective_size(weights)
    if math.isinf(size):
        return Share(value=value, low=value, high=value)
    # Wilson's interval: also of a share of 0 or 1 it says how far off the truth may be.
    spread = _Z * _Z / size
    centre = (value + spread / 2) / (1 + spread)
    half = _Z * math.sqrt(value * (1 - value) / size + spread / (4 * size)) / (1 + spread)
    return Share(value=value, low=max(0.0, min(value, centre - half)), high=min(1.0, max(value, centre + half)))


def _effective_size(weights: Weights) -> float:
    """Return of how many equal draws from an endless population the sample says as much; infinity for a census.

    An entity that was certain to be chosen adds nothing to the uncertainty.
    """
    own = weights[weights > 0]
    uncertain = float((own * (own - 1)).sum())  # (1 - p) / p²
    return math.inf if uncertain <= 0 else float(own.sum()) ** 2 / uncertain
