"""Rows of some entities in the online store, of all versions and refreshes: found by one walk over its keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from featurekit.online.keys import SEPARATOR, Namespace
from featurekit.online.store import OnlineStore, ReadableStore
from featurekit.tombstones import Scope

_AT_ONCE: Final = 1000
_END: Final = b"}:"  # braces of the key's own are escaped

IsOf = Callable[[str, bytes], bool]
"""Tells whether the entity with a key text, in a view of a name, is one of those that are looked for."""


def rows_of(store: ReadableStore, namespace: Namespace, is_of: IsOf) -> Iterator[tuple[str, bytes]]:
    """Yield view version and key of each row of some entities; a row can come twice."""
    prefix = namespace.row_prefix()
    for key in store.find(prefix):
        text, _, rest = key.removeprefix(prefix).partition(_END)
        version = rest.partition(b":")[0].decode()
        if is_of(version.partition("@")[0], text):
            yield version, key


def erase_rows(store: OnlineStore, namespace: Namespace, is_of: IsOf) -> dict[str, int]:
    """Delete the rows of some entities, one walk over all keys; return how many there were, by view version."""
    counts: dict[str, int] = {}
    found = rows_of(store, namespace, is_of)
    while some := tuple(islice(found, _AT_ONCE)):
        for version in {version for version, _ in some}:
            gone = store.remove([key for each, key in some if each == version])
            counts[version] = counts.get(version, 0) + gone
    return {version: count for version, count in sorted(counts.items()) if count}


def tell_caches(store: OnlineStore, namespace: Namespace, token: bytes) -> None:
    """Have clients that keep rows forget them; `token` is one that was not used before."""
    store.write({namespace.erased: token})


def is_of_scope(scope: Scope, texts: Iterable[bytes], keys: Mapping[str, Sequence[tuple[str, ...]]]) -> IsOf:
    """Return what tells entities by their key texts, whose parts are in the order of the scope's names.

    `keys` are the join keys of each view, in order, as all of its versions had them.
    """
    wanted = frozenset(texts)
    places = {
        view: tuple({(len(names), tuple(map(names.index, scope))) for names in each if set(scope) <= set(names)})
        for view, each in keys.items()
    }

    def is_of(view: str, text: bytes) -> bool:
        parts = text.split(SEPARATOR)
        return any(
            length == len(parts) and SEPARATOR.join(parts[at] for at in chosen) in wanted
            for length, chosen in places.get(view, ())
        )

    return is_of
