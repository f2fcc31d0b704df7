"""A cluster's slots: which key lies in which, and which server has it."""

from __future__ import annotations

import functools
from binascii import crc_hqx
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from featurekit.online.redis.address import Place
from featurekit.online.redis.peer import Access, Peer

SLOTS: Final = 16_384
WITNESSES: Final = 64


def slot_of(key: bytes) -> int:
    """Return the slot of a key: by what stands in its first braces, where they hold anything.

    >>> slot_of(b"123456789"), slot_of(b"a{123456789}b") == slot_of(b"123456789")
    (12739, True)
    """
    start = key.find(b"{") + 1
    if start:
        end = key.find(b"}", start)
        if end > start:
            key = key[start:end]
    return crc_hqx(key, 0) & (SLOTS - 1)


class SlotMap(NamedTuple):
    """Which master has each slot; None where none has."""

    owners: list[Peer | None]
    masters: tuple[Peer, ...]
    others: tuple[Peer, ...]  # replicas: they know the map too
    witnesses: dict[Peer, bytes]  # for each master a tag whose slot it has; one without any such slot has none

    @property
    def ranges(self) -> tuple[object, ...]:
        """Return where one master's slots end and another's begin."""
        owners = self.owners
        return tuple((i, owners[i]) for i in range(SLOTS) if not i or owners[i] != owners[i - 1])


def read_slot_map(reply: Sequence[Sequence[Any]], access: Access, asked: Peer) -> SlotMap:
    """Return what a node says to CLUSTER SLOTS; a node that does not tell its own host is where it was asked."""

    def peer(node: Sequence[Any]) -> Peer:
        host = node[0].decode() if node[0] else asked.place.host
        return Peer(Place(asked.place.host if host == "?" else host, int(node[1])), access)

    owners: list[Peer | None] = [None] * SLOTS
    masters: dict[Peer, None] = {}
    others: dict[Peer, None] = {}
    for first, last, master, *replicas in reply:
        owner = peer(master)
        masters[owner] = None
        others |= dict.fromkeys(map(peer, replicas))
        owners[first : last + 1] = [owner] * (last - first + 1)
    witnesses: dict[Peer, bytes] = {}
    for tag in witness_tags():
        found = owners[slot_of(tag)]
        if found is not None:
            witnesses.setdefault(found, tag)
    return SlotMap(owners, tuple(sorted(masters, key=str)), tuple(others), witnesses)


@functools.cache
def witness_tags() -> tuple[bytes, ...]:
    """Return 64 tags, one for each 256 slots: the smallest numbers that lie there.

    >>> len(witness_tags()), sorted(slot_of(tag) // 256 for tag in witness_tags()) == list(range(64))
    (64, True)
    """
    found: dict[int, bytes] = {}
    number = 0
    while len(found) < WITNESSES:
        tag = b"%d" % number
        found.setdefault(slot_of(tag) * WITNESSES // SLOTS, tag)
        number += 1
    return tuple(tag for _, tag in sorted(found.items()))


def is_marker(key: bytes) -> bool:
    """Return whether a key is a key space's marker: what says that the space's rows are all there."""
    return key.startswith(prefixes(key)[0])


def prefixes(key: bytes) -> tuple[bytes, bytes]:
    """Return how the markers and the rows of a key's project and environment begin; of no key where it is in none.

    >>> prefixes(b"fk:shop:prod:head:view@0123abcd")
    (b'fk:shop:prod:space:', b'fk:shop:prod:{')
    """
    parts = key.split(b":", 3)
    place = b":".join(parts[:3]) if len(parts) == 4 and parts[0] == b"fk" else b"\0"
    return place + b":space:", place + b":{"


def is_copy(key: bytes) -> bool:
    """Return whether a key is a marker's copy, which stands for itself only where it is read beside rows."""
    return key.endswith(b"}") and is_marker(key)


def copy_of(marker: bytes, tag: bytes) -> bytes:
    """Return the key of a marker's copy in the slot of a tag."""
    return b"%b{%b}" % (marker, tag)
