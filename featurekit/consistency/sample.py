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

    Beside them `per_stratum` of each kind that a few in a thousand would miss (`strata`), and as many keys that nobody
    has. Another seed chooses other entities; the same seed the same ones, as long as they exist.
    """

    share: float = 1.0
    max_entities: int = 1000
    per_stratum: int = 20
    seed: str = ""

    def __post_init__(self) -> None:
        threshold(self.share)
        if self.max_entities < 1:
            raise InputError(
                f"{self.max_entities} entities are no sample",
                why="a check that compares nothing must not pass",
                try_="at least 1",
            )
        if self.per_stratum < 0:
            raise InputError(f"{self.per_stratum} entities of each stratum", try_="a number from 0 on")

    def hasher(self) -> KeyHash:
        """Return the function from a key to its place in the order in which entities are chosen, 0 to 2^64 - 1."""
        return key_hash(self.seed)

    @property
    def threshold(self) -> int:
        """Keys with a hash below this are in the share."""
        return threshold(self.share)


@dataclass(slots=True)
class KeySampler:
    """Takes keys, in any order and any number of times; keeps the `limit` with the smallest hashes below `below`.

    Two sides that are cut to the smallest hashes each, then joined and cut again, give the smallest of all: no key
    that belongs to the sample is lost by sampling before the union.
    """

    hash_of: KeyHash
    limit: int
    below: int = threshold(1.0)
    seen: int = 0
    _kept: dict[int, bytes] = field(default_factory=dict)
    _largest: list[int] = field(default_factory=list)  # a heap of the kept hashes, negated

    def add(self, keys: Iterable[bytes]) -> None:
        """Look at some keys; each counts as seen."""
        for key in keys:
            self.add_at(self.hash_of(key), key)

    def add_at(self, place: int, key: bytes) -> None:
        """Look at a key whose hash is known."""
        self.seen += 1
        if place >= self.below or place in self._kept or not self.limit:
            return
        if len(self._kept) < self.limit:
            heapq.heappush(self._largest, -place)
        elif place < -self._largest[0]:
            del self._kept[-heapq.heapreplace(self._largest, -place)]
        else:
            return
        self._kept[place] = key

    @property
    def keys(self) -> list[bytes]:
        """The keys kept so far, in the order of their hashes."""
        return [self._kept[place] for place in self.places]

    @property
    def places(self) -> list[int]:
        """The hashes of the keys kept so far, in order."""
        return sorted(self._kept)


def plain_sampler(rule: SampleRule) -> KeySampler:
    """Return what keeps the keys of one side that may be in the plain sample, and the one after them.

    That one says how likely the others were to be chosen: `strata.draw`.
    """
    return KeySampler(rule.hasher(), rule.max_entities + 1, rule.threshold)
