"""Rows of forgotten entities, told by their join keys: found in a batch, and refused on their way into a store.

A row is of an entity when its view's join keys are that entity's, or those and more: who forgets a customer forgets
what was kept of each of the customer's orders, too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from featurekit.counters import counter_batch
from featurekit.online.arrow_keys import key_array
from featurekit.online.keys import SEPARATOR
from featurekit.tombstones import Scope, Tombstones, key_hash
from featurekit.types import Field

FORGOTTEN: Final = "forgotten"
"""The counter of rows that were refused."""

Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]
Sink = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


class Among(Protocol):
    """Tells which key texts, null where there is no whole key, are of some entities."""

    def __call__(self, texts: pa.BinaryArray) -> Mask: ...


@dataclass(frozen=True, slots=True)
class Hashed:
    """Among the entities of tombstones of one scope."""

    secret: bytes
    scope: Scope
    hashes: frozenset[str]

    def __call__(self, texts: pa.BinaryArray) -> Mask:
        found = [
            text is not None and key_hash(self.secret, self.scope, text) in self.hashes for text in texts.to_pylist()
        ]
        return np.array(found, np.bool_)


@dataclass(frozen=True, slots=True)
class Named:
    """Among entities whose key texts are known."""

    texts: tuple[bytes, ...]

    def __call__(self, texts: pa.BinaryArray) -> Mask:
        found = pc.is_in(texts, value_set=pa.array(self.texts, pa.binary()))
        return np.asarray(found.to_numpy(zero_copy_only=False), np.bool_)


@dataclass(frozen=True, slots=True)
class Scoped:
    """Some entities, by the columns of a batch that are their join keys, in the order of the scope's names."""

    columns: tuple[Field, ...]
    among: Among


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Finds rows of entities in batches that have their join keys as columns; it pickles."""

    scopes: tuple[Scoped, ...]

    def __bool__(self) -> bool:
        return bool(self.scopes)

    def mask(self, batch: pa.RecordBatch) -> Mask:
        """Return which rows are of these entities."""
        found = np.zeros(batch.num_rows, np.bool_)
        for scoped in self.scopes:
            found |= scoped.among(key_array(batch, scoped.columns))
        return found


def forgotten_rows(tombstones: Tombstones, keys: Sequence[Field], columns: Sequence[str] = ()) -> Forgotten:
    """Return what finds the rows of forgotten entities of a view with these join keys.

    `columns` are what batches call the keys, where that is not by their names.
    """
    found = tombstones.of_keys([key.name for key in keys])
    return Forgotten(
        tuple(
            Scoped(_columns(scope, keys, columns), Hashed(found.secret, scope, hashes))
            for scope, hashes in found.hashes.items()
        )
    )


def kept_keys(tombstones: Tombstones, keys: Sequence[Field], texts: Iterable[bytes]) -> list[bytes]:
    """Return the entity key texts of a view with these join keys that are not of forgotten entities."""
    names = [key.name for key in keys]
    found = [(scope, [names.index(name) for name in scope]) for scope in tombstones.of_keys(names).hashes]

    def is_kept(text: bytes) -> bool:
        parts = text.split(SEPARATOR)
        return len(parts) != len(names) or not any(
            key_hash(tombstones.secret, scope, SEPARATOR.join(parts[at] for at in places)) in tombstones.hashes[scope]
            for scope, places in found
        )

    return [text for text in texts if is_kept(text)]


def named_rows(scope: Scope, texts: Collection[bytes], keys: Sequence[Field], columns: Sequence[str] = ()) -> Forgotten:
    """Return what finds the rows of the entities with these key texts, in the order of the scope's names."""
    if not set(scope) <= {key.name for key in keys}:
        return Forgotten(())
    return Forgotten((Scoped(_columns(scope, keys, columns), Named(tuple(sorted(texts)))),))


def _columns(scope: Scope, keys: Sequence[Field], columns: Sequence[str]) -> tuple[Field, ...]:
    names = columns or [key.name for key in keys]
    found = {key.name: Field(column, key.type) for key, column in zip(keys, names, strict=True)}
    return tuple(found[name] for name in scope)


@dataclass(frozen=True)
class RefusingSink:
    """Hands rows on to `inner`, but for those of forgotten entities, which are counted; it pickles."""

    inner: Sink
    forgotten: Forgotten

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        refused = 0

        def kept() -> Iterator[pa.RecordBatch]:
            nonlocal refused
            for batch in batches:
                mask = self.forgotten.mask(batch)
                count = int(mask.sum())
                refused += count
                yield batch.filter(pa.array(~mask)) if count else batch

        yield from self.inner(kept())
        yield counter_batch({FORGOTTEN: refused})


def refusing(sink: Sink, tombstones: Tombstones, keys: Sequence[Field]) -> Sink:
    """Return the sink, refusing what is forgotten of a view with these join keys; itself where nothing is."""
    forgotten = forgotten_rows(tombstones, keys)
    return RefusingSink(sink, forgotten) if forgotten else sink
