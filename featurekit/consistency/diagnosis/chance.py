"""How much it says that a world has the served values: in bits, with what chance alone does taken off.

A differing cell holds some other value than the honest one. A world that has the very same one may be what happened,
or have met it by chance: a flag that is wrong has only one value to be wrong with. So each cell is worth as many bits
as it is improbable to be met, by the easier of the ways that the kind of world leaves open:

- *background* (cells turned one by one): the served value is one that many cells should have;
- *shuffled* (worlds): another differing cell's value of the same world would have done as well;
- *grouped* (worlds): so would that of another row with the same honest value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from featurekit.consistency.cells import Flags
from featurekit.consistency.diagnosis.coding import Coding, Numbers
from featurekit.types import Boolean

Bits = npt.NDArray[np.float64]
_FLAG_ROWS: Final = 20
"""From so many rows on, two values in all are taken for a flag, whatever the type."""
_GROUP: Final = 10
"""Rows with one honest value are a group of their own from so many on; the others are one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chance:
    """What chance does in one field; `asked` are the cells that differ, `settled` those of rows that have a cause."""

    coding: Coding
    differs: Flags
    settled: Flags

    @property
    def compared(self) -> Flags:
        return ~self.settled

    def background(self, asked: Numbers) -> Bits:
        """Return how probable each served value is where a cell holds any value but the honest one."""
        coding = self.coding
        pool = coding.honest[self.compared]
        met = _counts(pool, coding.served[asked])
        other = len(pool) - _counts(pool, coding.honest[asked])
        prior, rest = self._priors(asked)
        found: Bits = (met + prior) / (other + prior + rest)
        return found

    def of_cells(self, asked: Numbers, touched: int, *, conditional: bool) -> Bits:
        """Return each cell's probability under a factor that turns cells one by one, `touched` of the compared ones."""
        found = self.background(asked)
        if conditional:
            found = np.minimum(found, max(touched, 1) / max(int(self.compared.sum()), 1))
        return found

    def of_world(self, asked: Numbers, world: Numbers) -> Bits:
        """Return each cell's probability under a world that is computed anew."""
        found: Bits = np.minimum(self._shuffled(asked, world), self._grouped(asked, world))
        lacking = self.coding.honest < 0
        share = int((lacking & self.compared).sum()) / max(int(self.compared.sum()), 1)
        rare: Bits = np.where(lacking[asked], np.minimum(found, max(share, 1e-3)), found)
        # No value, or one that no cell should have, is no neighbour of the honest one that a world comes near to.
        served = self.coding.served[asked]
        strange = (served < 0) | (_counts(self.coding.honest[self.compared], served) == 0)
        told: Bits = np.where(strange, np.minimum(rare, self.background(asked)), rare)
        return told

    def _priors(self, asked: Numbers) -> tuple[Bits, float]:
        """Return the weight of each served value that nothing is known of, and of all other such values together."""
        return 2.0 ** -self.coding.surprise[asked], 0.0 if self._is_flag else 1.0

    @property
    def _is_flag(self) -> bool:
        """Whether a cell that is wrong has but one value to be wrong with."""
        known = np.unique(np.concatenate([self.coding.served[self.compared], self.coding.honest[self.compared]]))
        if isinstance(self.coding.spec.type, Boolean):
            return bool((known >= 0).all())
        return len(known) <= 2 and bool((known >= 0).all()) and int(self.compared.sum()) >= _FLAG_ROWS

    def _shuffled(self, asked: Numbers, world: Numbers) -> Bits:
        served, honest, pool = self.coding.served[asked], self.coding.honest[asked], world[asked]
        hits = _counts(pool, served) - (pool == served)
        others = len(pool) - _counts(pool, honest) - (pool != honest)
        prior, rest = self._priors(asked)
        found: Bits = (hits + prior) / (np.maximum(others, 0) + prior + rest)
        return found

    def _grouped(self, asked: Numbers, world: Numbers) -> Bits:
        coding, rows = self.coding, np.flatnonzero(self.compared)
        _, group, sizes = np.unique(coding.honest[rows], return_inverse=True, return_counts=True)
        group = np.where(sizes[group] >= _GROUP, group, -1)
        place = np.full(len(coding.honest), -2)
        place[rows] = group
        pairs, pair_counts = np.unique(_paired(group, world[rows]), return_counts=True)
        served = coding.served[asked]
        wanted = _paired(place[asked], served)
        at = np.minimum(np.searchsorted(pairs, wanted), len(pairs) - 1)
        hits = np.where(pairs[at] == wanted, pair_counts[at], 0) - (world[asked] == served)
        members = _counts(group, place[asked]) - 1
        prior, _ = self._priors(asked)
        found: Bits = (np.maximum(hits, 0) + prior) / np.maximum(members + prior, 1)
        return found


def evidence(probabilities: Bits, explained: Flags) -> float:
    """Return the bits by which so many cells are not explained by chance, out of those that were asked about.

    Two bounds on the same chance, and the better of them: that of these cells being met, whichever they are, and
    Chernoff's for so large a share at the mean probability.
    """
    asked, hits = len(probabilities), int(explained.sum())
    if not hits:
        return 0.0
    chosen = float(-np.log2(np.minimum(probabilities[explained], 1)).sum()) - log2_choose(asked, hits)
    mean, share = min(float(probabilities.mean()), 1.0), hits / asked
    return max(chosen, asked * _divergence(share, mean) if share > mean else 0.0)


def log2_choose(of: int, chosen: int) -> float:
    """Return the bits that it takes to say which of some things are chosen."""
    if not 0 <= chosen <= of:
        return 0.0
    return (math.lgamma(of + 1) - math.lgamma(chosen + 1) - math.lgamma(of - chosen + 1)) / math.log(2)


def _divergence(share: float, mean: float) -> float:
    bits = share * math.log2(share / mean)
    return bits if share == 1 else bits + (1 - share) * math.log2((1 - share) / (1 - mean))


def _counts(pool: Numbers, wanted: Numbers) -> Numbers:
    """Return how often each wanted number is in the pool."""
    if not len(pool):
        return np.zeros(len(wanted), np.int64)
    values, counts = np.unique(pool, return_counts=True)
    at = np.minimum(np.searchsorted(values, wanted), len(values) - 1)
    return np.where(values[at] == wanted, counts[at], 0)


def _paired(first: Numbers, second: Numbers) -> Numbers:
    return first * np.int64(2**40) + second
