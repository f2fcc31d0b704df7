"""Which entities were forgotten: keyed hashes of their keys, so that they can be refused and are not on record.

A tombstone is of join keys, by their names: whatever entity or view is keyed by these, or by more beside them, is
refused its rows. What reads hashes alone learns nothing of a key; what also has the secret can try keys one by one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

SECRET_BYTES: Final = 32
MARK_BYTES: Final = 16  # another length than a secret's
_HASH_BYTES: Final = 16

Scope = tuple[str, ...]
"""The names of join keys, sorted: in whatever order they are declared, they name the same entities."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstones:
    """What is forgotten now, by join keys; `remembered` counts what no longer is, `changes` counts both.

    A secret that `is_given` comes from the settings, and is written down nowhere.
    """

    secret: bytes = field(default=b"", repr=False)
    is_given: bool = False
    hashes: Mapping[Scope, frozenset[str]] = field(default_factory=dict)
    remembered: Mapping[Scope, int] = field(default_factory=dict)
    changes: int = 0

    def of_keys(self, names: Collection[str]) -> Tombstones:
        """Return those that can be of entities with such join keys."""
        return Tombstones(
            secret=self.secret,
            is_given=self.is_given,
            hashes={scope: found for scope, found in self.hashes.items() if found and set(scope) <= set(names)},
            remembered={scope: count for scope, count in self.remembered.items() if set(scope) <= set(names)},
            changes=self.changes,
        )

    @property
    def times_remembered(self) -> int:
        return sum(self.remembered.values())

    def __bool__(self) -> bool:
        return any(self.hashes.values())


def secret_of(text: str) -> bytes:
    """Return the secret that a setting gives."""
    return hashlib.sha256(text.encode()).digest()


def mark_of(secret: bytes) -> bytes:
    """Return what a given secret is known again by, MARK_BYTES long: it tells nobody what it is."""
    return hashlib.blake2b(b"featurekit", digest_size=MARK_BYTES, key=secret).digest()


def key_hash(secret: bytes, scope: Scope, text: bytes) -> str:
    """Return what is on record of a key: the keyed hash of its text, its parts in the order of the scope's names.

    >>> key_hash(b"k" * 32, ("carrier",), b"UA")
    'd98ffd3afc9a39bcfe0409825af6004e'
    """
    return hashlib.blake2b(_named(scope, text), digest_size=_HASH_BYTES, key=secret).hexdigest()


def _named(scope: Scope, text: bytes) -> bytes:
    return ",".join(scope).encode() + b"\0" + text
