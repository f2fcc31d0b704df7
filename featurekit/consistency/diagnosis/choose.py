"""Which of many worlds is what happened: for the differing cells of one field, the cheapest that explains them.

A world explains a differing cell when it has the very value that was served. Of worlds that explain as much the one is
better that leaves more of the matching cells as they were served: it also says where. What remains after the best one
is asked again, as two faults may have hit different cells; what chance could have met as well is not named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from featurekit.consistency.cells import Flags
from featurekit.consistency.diagnosis.causes import Cause
from featurekit.consistency.diagnosis.chance import Bits, Chance, evidence, log2_choose
from featurekit.consistency.diagnosis.coding import Numbers
from featurekit.consistency.diagnosis.factors import Factor

MARGIN: Final = 7.0
"""Bits beyond a cause's cost before it is named: less than one in a hundred is named by chance."""
_TIE: Final = 3.0
_ENOUGH: Final = 0.9
"""The share of what is asked about that leaves no reason to look for two faults at once."""
_FEWEST: Final = 3
_MOST_CAUSES: Final = 5
_WORLD_SUPPORT: Final = 20.0
_CELL_SUPPORT: Final = 6.0
_LONE: Final = 6.0
_REFUTED: Final = 8.0
_SPOKEN_AGAINST: Final = 0.5
_PAIR_COST: Final = 4
_DEAR: Final = 9
"""From this cost on (a constant, a ratio, an offset, a bound: they fit anything) what explains a part is not named."""

Support = Mapping[tuple[str, ...], float]
"""The bits that other fields of the view have for the same change, by what is told of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One world's numbers of a field for all rows, and the factors that make it: one, or two on the same cells."""

    factors: tuple[Factor, ...]
    codes: Numbers
    refuted: Callable[[Numbers], float] = lambda _rows: 0.0
    """The share of what it would change in other fields of some rows that was served as it should be."""

    @property
    def is_world(self) -> bool:
        return any(factor.cells is None for factor in self.factors)

    @property
    def conditional(self) -> bool:
        return all(factor.conditional for factor in self.factors)

    @property
    def fitted(self) -> bool:
        return any(factor.fitted for factor in self.factors)

    @property
    def cost(self) -> float:
        if len(self.factors) == 1:
            return self.factors[0].cost
        return _PAIR_COST + sum(max(factor.cost, 1) for factor in self.factors)

    @property
    def told(self) -> tuple[str, ...]:
        return tuple(factor.told for factor in self.factors)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A world that is named: which cells it explains, how sure that is (0 to 1), and what explains them as well."""

    candidate: Candidate
    cells: Numbers
    confidence: float
    also: tuple[Candidate, ...] = ()

    def weighed(self, weights: Mapping[Cause, int]) -> Choice:
        """Return the choice with that one of those that explain as much which explains most in all fields."""
        every = (self.candidate, *self.also)
        best = max(every, key=lambda candidate: weights[candidate.factors[0].cause])
        return replace(self, candidate=best, also=tuple(each for each in every if each is not best))


def weights_of(choices: Iterable[Choice]) -> dict[Cause, int]:
    """Return how many cells each cause explains, as the one that is named or as well."""
    found: dict[Cause, int] = {}
    for choice in choices:
        for candidate in (choice.candidate, *choice.also):
            cause = candidate.factors[0].cause
            found[cause] = found.get(cause, 0) + len(choice.cells)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldCase:
    """One field's question: the cells, the worlds for them, and where more worlds come from.

    `found` makes factors of what the cells that are left have in common; `pairs` worlds of two factors for them.
    """

    chance: Chance
    candidates: Sequence[Candidate]
    found: Callable[[Numbers], Iterable[Candidate]] = lambda _asked: ()
    pairs: Callable[[Numbers], Iterable[Candidate]] = lambda _asked: ()
    support: Support = field(default_factory=dict)


def choose(case: FieldCase) -> tuple[tuple[Choice, ...], Numbers]:
    """Return what explains a field's differing cells, the first what explains most, and the cells that nothing does."""
    left = np.flatnonzero(case.chance.differs)
    total = len(left)
    choices: list[Choice] = []
    paired: list[Candidate] | None = None
    while len(left) and len(choices) < _MOST_CAUSES:
        pool = [*case.candidates, *case.found(left)]
        choice = _best(case, pool, left)
        if choice is None or len(choice.cells) < _ENOUGH * len(left):
            paired = _composed(case, pool, left) if paired is None else paired
            choice = _best(case, [*pool, *paired], left)
        if choice is None:
            break
        choices.append(choice)
        left = np.setdiff1d(left, choice.cells)
    return _kept(tuple(choices), left, total, case.chance)


def supports(chance: Chance, candidates: Iterable[Candidate]) -> dict[tuple[str, ...], float]:
    """Return the bits that a field has for each world that explains nearly all of its differing cells."""
    asked = np.flatnonzero(chance.differs)
    found: dict[tuple[str, ...], float] = {}
    for candidate in candidates:
        hits = candidate.codes[asked] == chance.coding.served[asked]
        if hits.mean() >= _ENOUGH:
            bits = max(evidence(_probabilities(chance, candidate, asked), hits), 0.0)
            limit = _WORLD_SUPPORT if candidate.is_world else _CELL_SUPPORT
            found[candidate.told] = max(found.get(candidate.told, 0.0), min(bits, limit))
    return found


def _best(case: FieldCase, pool: Sequence[Candidate], asked: Numbers) -> Choice | None:
    """Return the best world that chance does not account for."""
    chance = case.chance
    worth = np.maximum(-np.log2(chance.background(asked)), 1.0)
    open_ = chance.compared & ~chance.differs
    open_[asked] = True
    ranked = []
    for candidate in pool:
        hits = candidate.codes[asked] == chance.coding.served[asked]
        if _may_be_named(candidate, hits, worth):
            points = _points(candidate, hits, worth, chance, open_) + _backing(case, candidate, asked[hits])
            ranked.append((points - candidate.cost, points, candidate, hits))
    ranked.sort(key=lambda each: -each[0])
    for at, (_, points, candidate, hits) in enumerate(ranked):
        bits = evidence(_probabilities(chance, candidate, asked), hits)
        surplus = bits + case.support.get(candidate.told, 0.0) - _needed(candidate, hits)
        if hits.mean() < _ENOUGH and candidate.refuted(asked[hits]) > _SPOKEN_AGAINST:
            continue
        if surplus >= 0:
            also = _also(candidate, hits, points, ranked[at + 1 :])
            confidence = (1 - 2.0 ** -min(surplus + MARGIN, 60)) / (1 + len(also))
            return Choice(candidate=candidate, cells=asked[hits], confidence=confidence, also=also)
    return None


def _needed(candidate: Candidate, hits: Flags) -> float:
    """Return the bits that a world needs to be named; more where it is for a cell or two among others."""
    alone = hits.sum() < min(_FEWEST, len(hits) / 2)
    return candidate.cost + MARGIN + (_LONE if alone else 0.0)


def _may_be_named(candidate: Candidate, hits: Flags, worth: Bits) -> bool:
    if hits.sum() >= min(_FEWEST, len(hits) / 2):
        return True
    return bool(hits.any()) and float(worth[hits].sum()) >= _needed(candidate, hits)


def _backing(case: FieldCase, candidate: Candidate, rows: Numbers) -> float:
    """Return the bits by which other fields speak for a world, or against it."""
    return min(case.support.get(candidate.told, 0.0), _CELL_SUPPORT) - _REFUTED * candidate.refuted(rows)


def _points(candidate: Candidate, hits: Flags, worth: Bits, chance: Chance, open_: Flags) -> float:
    """Return the bits that a world saves who has to say which cells differ, and what they hold."""
    if candidate.fitted:
        return float(worth[hits].sum())
    touched = int((open_ & (candidate.codes != chance.coding.honest)).sum())
    asked, explained, cells = len(hits), int(hits.sum()), int(open_.sum())
    places = log2_choose(cells, asked) - log2_choose(cells - explained, asked - explained)
    return float(worth[hits].sum()) + places - log2_choose(touched, explained)


def _probabilities(chance: Chance, candidate: Candidate, asked: Numbers) -> Bits:
    touched = int((chance.compared & (candidate.codes != chance.coding.honest)).sum())
    if candidate.is_world:
        found = chance.of_world(asked, candidate.codes)
        hits = int((candidate.codes[asked] == chance.coding.served[asked]).sum())
        # A world that has one value for all says something too, where it changes hardly any other: which cells differ.
        is_precise = not candidate.fitted and hits >= max(_FEWEST, _ENOUGH * touched)
        return np.minimum(found, touched / int(chance.compared.sum())) if is_precise else found
    return chance.of_cells(asked, touched, conditional=candidate.conditional)


def _also(
    best: Candidate, hits: Flags, points: float, others: Sequence[tuple[float, float, Candidate, Flags]]
) -> tuple[Candidate, ...]:
    """Return what explains the same cells as well, one for each cause."""
    found: dict[str, Candidate] = {}
    for _, their_points, candidate, their_hits in others:
        same = (hits & their_hits).sum() >= 0.95 * hits.sum()
        cause = candidate.factors[0].cause
        dearer = candidate.cost - best.cost > MARGIN
        if same and their_points >= points - _TIE and cause is not best.factors[0].cause and not dearer:
            found.setdefault(cause, candidate)
    return tuple(found.values())


def _composed(case: FieldCase, pool: Sequence[Candidate], asked: Numbers) -> list[Candidate]:
    """Return the pairs that explain cells which neither of their factors does: others are two faults, one by one."""
    served = case.chance.coding.served[asked]
    alone = {candidate.told: candidate.codes[asked] == served for candidate in pool if len(candidate.factors) == 1}
    nothing = np.zeros(len(asked), np.bool_)
    found = []
    for pair in case.pairs(asked):
        hits = pair.codes[asked] == served
        apart = np.logical_or.reduce([alone.get((factor.told,), nothing) for factor in pair.factors])
        if (hits & ~apart).sum() > (1 - _ENOUGH) * hits.sum():
            found.append(pair)
    return found


def _kept(choices: tuple[Choice, ...], left: Numbers, total: int, chance: Chance) -> tuple[tuple[Choice, ...], Numbers]:
    """Return what is named: all where together they leave little, else what explains half or says just which cells."""
    together = len(left) <= (1 - _ENOUGH) * total
    kept, dropped = [], [left]
    for choice in choices:
        small_part = together and (choice.candidate.cost < _DEAR or len(choice.candidate.factors) > 1)
        if small_part or len(choice.cells) >= total / 2 or _is_precise(choice, chance):
            kept.append(choice)
        else:
            dropped.append(choice.cells)
    return tuple(kept), np.sort(np.concatenate(dropped))


def _is_precise(choice: Choice, chance: Chance) -> bool:
    """Whether a world changes hardly any cell but those that it explains."""
    touched = chance.compared & (choice.candidate.codes != chance.coding.honest)
    return len(choice.cells) >= _FEWEST and len(choice.cells) >= _ENOUGH * touched.sum()
