"""Which entities are compared: chosen by a hash of their key text, the same on both sides.

A side that is sampled by itself shows entities that the other side never drew, and they look missing. So nothing is
drawn: a key is in the sample when its hash is small enough, wherever it is seen (cases.md calls this class a check
that lied). The hash is keyed by the seed and stable across processes, machines and versions.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field

from featurekit.errors import InputError
from featurekit.key_sample import KeyHash, key_hash, threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRule:
    """How many entities to compare: at most `max_entities`, and of all entities at most about `share` (0 to 1).

    Another seed chooses other entities; the same seed the same ones, as long as they exist.
    """

    share: float = 1.0
    max_entities: int = 1000
    seed: str = ""

    def __post_init__(self) -> None:
        threshold(self.share)
        if self.max_entities < 1:
            raise InputError(
                f"{self.max_entities} entities are no sample",
                why="a check that compares nothing must not pass",
                try_="at least 1",
            )

    def hasher(self) -> KeyHash:
        """Return the function from a key to its place in the order in which entities are chosen, 0 to 2^64 - 1."""
        return key_hash(self.seed)

    @property
    def threshold(self) -> int:
        """Keys with a hash below this are in the share."""
        return threshold(self.share)


@dataclass(slots=True)
class KeySampler:
    """Takes the keys of one side, all of them, in any order and any number of times; keeps those of the sample.

    Two sides that are cut to the smallest hashes each, then joined and cut again, give the smallest of all: no key
    that belongs to the sample is lost by sampling before the union.
    """

    rule: SampleRule
    seen: int = 0
    _kept: dict[int, bytes] = field(default_factory=dict)
    _largest: list[int] = field(default_factory=list)  # a heap of the kept hashes, negated

    def add(self, keys: Iterable[bytes]) -> None:
        """Look at some keys; each counts as seen."""
        hash_of, threshold, limit = self.rule.hasher(), self.rule.threshold, self.rule.max_entities
        for key in keys:
            self.seen += 1
            place = hash_of(key)
            if place >= threshold or place in self._kept:
                continue
            if len(self._kept) < limit:
                heapq.heappush(self._largest, -place)
            elif place < -self._largest[0]:
                del self._kept[-heapq.heapreplace(self._largest, -place)]
            else:
                continue
            self._kept[place] = key

    @property
    def keys(self) -> list[bytes]:
        """The keys kept so far, in the order of their hashes."""
        return [self._kept[place] for place in sorted(self._kept)]


def union(rule: SampleRule, *sides: Iterable[bytes]) -> list[bytes]:
    """Return the sample of all entities that any side has, from each side's own sample by the same rule.

    >>> rule = SampleRule(max_entities=2)
    >>> union(rule, [b"a", b"b"], [b"c"]) == union(rule, [b"c", b"a"], [b"b", b"a"])
    True
    """
    sampler = KeySampler(rule)
    for side in sides:
        sampler.add(side)
    return sampler.keys
