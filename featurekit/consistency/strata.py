"""Kinds of entities that are looked at apart, and a sample that has some of each and says what each stands for.

A plain sample of a thousand has none of what is one in ten thousand, and faults live there: at the edge of a window, in
rows that land late, in the entity with a million rows. So of each stratum the entities with the smallest hashes are
taken too. All take the same hash, and that makes the chances simple: an entity is in the sample when its hash is below
the cut of any stratum that it belongs to; the cut of a stratum is the hash of the first entity that it leaves out. That
one is another entity, so the chance that this one was chosen is the largest of its cuts, and it stands for one divided
by that chance.

What an entity belongs to follows from the source alone, so both sides and every partitioning give the same sample.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from featurekit.consistency.sample import KeySampler, SampleRule, plain_sampler
from featurekit.key_sample import threshold


class Stratum(StrEnum):
    """What entities are looked at for. An entity can be of several strata."""

    RECENT = "recently active"
    COLD = "cold"
    EDGE = "window edge"
    LATE = "late rows"
    HEAVY = "heavy keys"
    UNSEEN = "never seen"


HASHED: Final = (Stratum.RECENT, Stratum.COLD, Stratum.EDGE, Stratum.LATE)
"""The strata that the source's rows put an entity into, in the order of their bits; of each some are chosen by hash."""
_CERTAIN: Final = threshold(1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An entity of the source that may be in the sample: its strata as bits in the order of HASHED, its visible rows.

    One that has rows, but none that is visible yet, is in no population.
    """

    key: bytes
    bits: int
    rows: int

    @property
    def strata(self) -> tuple[Stratum, ...]:
        return tuple(stratum for at, stratum in enumerate(HASHED) if self.bits >> at & 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """An entity of the sample: how likely it was to be chosen, if it is in the population, and its strata.

    Those of the `plain` sample were all as likely to be in that one: of them alone, every one counts the same.
    """

    key: bytes
    chance: float
    strata: tuple[Stratum, ...] = ()
    plain: bool = False


@dataclass(slots=True)
class StrataSampler:
    """Takes the entities of one part of the source, each once and in any order; keeps those that may be in the sample.

    What several parts keep, taken together, holds the sample of all parts.
    """

    rule: SampleRule
    seen: int = 0
    sizes: Counter[Stratum] = field(default_factory=Counter)
    _plain: KeySampler = field(init=False)
    _samplers: tuple[KeySampler, ...] = field(init=False)
    _known: dict[bytes, Candidate] = field(default_factory=dict)
    _heaviest: list[tuple[int, bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._plain = plain_sampler(self.rule)
        hash_of = self._plain.hash_of
        self._samplers = tuple(KeySampler(hash_of, self.rule.per_stratum + 1) for _ in HASHED)

    def add(self, candidates: Iterable[Candidate]) -> None:
        """Look at some entities."""
        for each in candidates:
            place = self._plain.hash_of(each.key)
            if each.rows:
                self.seen += 1
                self._plain.add_at(place, each.key)
                self._weigh(each)
            for at, sampler in enumerate(self._samplers):
                if each.bits >> at & 1:
                    self.sizes[HASHED[at]] += bool(each.rows)
                    sampler.add_at(place, each.key)
            self._known[each.key] = each
            if len(self._known) > 4 * self._most():
                self._known = {found.key: found for found in self.candidates()}

    def _weigh(self, each: Candidate) -> None:
        heapq.heappush(self._heaviest, (each.rows, each.key))
        if len(self._heaviest) > self.rule.per_stratum:
            heapq.heappop(self._heaviest)

    def _most(self) -> int:
        return self.rule.max_entities + (len(HASHED) + 1) * self.rule.per_stratum + 64

    def candidates(self) -> Iterator[Candidate]:
        """Yield what may be in the sample, each once."""
        kept = [self._plain.keys, *(sampler.keys for sampler in self._samplers), self.heaviest]
        for key in dict.fromkeys(key for keys in kept for key in keys):
            yield self._known[key]

    @property
    def heaviest(self) -> list[bytes]:
        """The entities with the most rows: which, is certain, so each of them is in every sample."""
        return [key for _, key in self._heaviest]

    def cuts(self) -> Iterator[tuple[Stratum, list[bytes], int]]:
        """Yield each stratum's sample, and the hash below which its entities are chosen."""
        yield Stratum.HEAVY, self.heaviest, _CERTAIN
        for stratum, sampler in zip(HASHED, self._samplers, strict=True):
            yield stratum, *_cut(sampler, self.rule.per_stratum)


def draw(rule: SampleRule, offline: StrataSampler, online: Iterable[bytes]) -> tuple[Drawn, ...]:
    """Return the sample of all entities that the source or the store has, in the order of their hashes.

    `online` are the store's keys, cut by `plain_sampler`. An entity that the source does not know is in no stratum.
    """
    plain = plain_sampler(rule)
    plain.add(online)
    found = {each.key: each for each in offline.candidates()}
    plain.add(key for key, each in found.items() if each.rows)
    first, cut = _cut(plain, rule.max_entities)
    chances = dict.fromkeys(first, cut)
    heavy, in_plain = set(offline.heaviest), set(first)
    for _, keys, cut in offline.cuts():
        for key in keys:
            chances[key] = max(cut, chances.get(key, 0))
    return tuple(
        Drawn(
            key=key,
            chance=chances[key] / _CERTAIN,
            strata=(*(found[key].strata if key in found else ()), *((Stratum.HEAVY,) if key in heavy else ())),
            plain=key in in_plain,
        )
        for key in sorted(chances, key=plain.hash_of)
    )


def _cut(sampler: KeySampler, most: int) -> tuple[list[bytes], int]:
    """Return the first `most` keys that were kept, and the hash below which keys were chosen."""
    places = sampler.places
    return sampler.keys[:most], places[most] if len(places) > most else sampler.below
