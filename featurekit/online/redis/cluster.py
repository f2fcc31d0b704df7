"""A cluster: keys on several masters, found by their slots; redirects and lost nodes are followed.

A read is one pipeline per node. The nodes answer at different instants, and a node can lose its data where others keep
theirs: a key space's marker has copies on all nodes, and is there for a reader only where each node whose rows it reads
has one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from featurekit.online.redis.address import Address, Place
from featurekit.online.redis.errors import NoServerError, ReplyError
from featurekit.online.redis.peer import Access, Command, Peer, Reply
from featurekit.online.redis.slots import (
    SlotMap,
    copy_of,
    is_marker,
    prefixes,
    read_slot_map,
    slot_of,
    witness_tags,
)
from featurekit.online.redis.steps import Answered, Ask, Layout, Steps, replies_of
from featurekit.online.store import Value

_ROUNDS: Final = 6  # a redirect each; a cluster at rest needs one
_MAP_LIMIT_S: Final = 0.5
_MISLED: Final = frozenset({"MOVED", "CLUSTERDOWN", "READONLY", "MASTERDOWN", "LOADING"})
_ASKING: Final[Command] = (b"ASKING",)


@dataclass(slots=True)
class _Piece:
    """Keys of one slot, and where the values go."""

    keys: list[bytes]
    places: list[int]
    to: Peer | None = None  # whom a node said to ask, just this once


@dataclass(slots=True)
class _Wanted:
    """A read as it stands: what was asked for in all, and what is still to come."""

    values: list[Value]  # with the markers' copies after all others
    pieces: list[_Piece] = field(default_factory=list)


class ClusterRoute:
    """Keys on the masters of a cluster."""

    reads_at_once = False

    def __init__(self, address: Address) -> None:
        self._access = Access(address.login, address.tls)
        self._seeds = tuple(Peer(place, self._access) for place in address.places)
        self._map: SlotMap | None = None
        self._is_stale = False
        self._suspect: Peer | None = None  # asked last for the map: it just failed

    def read(self, keys: Sequence[bytes]) -> Steps[list[Value]]:
        slot_map = yield from self._current()
        wanted, copies = _with_copies(keys, slot_map)
        last: Exception | None = None
        for _ in range(_ROUNDS):
            sent = self._batches(wanted.pieces, slot_map)
            answered = yield Ask({peer: commands for peer, (commands, _) in sent.items()})
            wanted.pieces, error = self._take(sent, answered, wanted)
            if not wanted.pieces:
                return _without_copies(keys, wanted.values, copies)
            if isinstance(error, TimeoutError) or (isinstance(error, OSError) and isinstance(last, OSError)):
                raise error
            last = error or last
            slot_map = yield from self._current()
        raise last or ReplyError("TRYAGAIN the cluster's nodes keep sending this reader to each other")

    def master_of(self, key: bytes) -> Steps[Peer]:
        slot_map = yield from self._current()
        return self._owner(slot_map, slot_of(key))

    def masters(self) -> Steps[tuple[Peer, ...]]:
        return (yield from self._loaded()).masters

    def layout(self) -> Steps[Layout]:
        slot_map = yield from self._loaded()
        answered = yield Ask({peer: [(b"CLUSTER", b"NODES")] for peer in slot_map.masters})
        lines = [replies_of(answered, peer)[0] for peer in slot_map.masters]
        # Only a node itself tells, in its own line, which of its slots are on their way: [slot->-node], [slot-<-node].
        is_moving = any(b"[" in line for text in lines for line in text.splitlines() if b"myself" in line)
        return Layout(slot_map.masters, slot_map.ranges, is_moving)

    def learn(self, peer: Peer, error: Exception) -> Peer | None:
        if isinstance(error, OSError):
            self._is_stale, self._suspect = True, peer
        elif isinstance(error, ReplyError):
            redirect = error.redirect
            if redirect is not None:
                slot, host, port = redirect
                other = Peer(Place(host or peer.place.host, port), self._access)
                if error.code == "ASK":
                    return other
                if self._map is not None:
                    self._map.owners[slot] = other
            if error.code in _MISLED:
                self._is_stale = True
        return None

    def groups(self, keys: Sequence[bytes]) -> list[list[bytes]]:
        by_slot: dict[int, list[bytes]] = {}
        for key in keys:
            by_slot.setdefault(slot_of(key), []).append(key)
        return list(by_slot.values())

    def copies(self, key: bytes) -> tuple[bytes, ...]:
        return tuple(copy_of(key, tag) for tag in witness_tags()) if is_marker(key) else ()

    def _current(self) -> Steps[SlotMap]:
        """Return the slot map; loads it where it is not known, or not right any more."""
        known = self._map
        if known is not None and not self._is_stale:
            return known
        return (yield from self._loaded())

    def _loaded(self) -> Steps[SlotMap]:
        """Return the slot map as the nodes tell it now."""
        said: list[str] = []
        for peer in self._informed(self._map):
            answered = yield Ask({peer: [(b"CLUSTER", b"SLOTS")]}, within_s=_MAP_LIMIT_S)
            try:
                (reply,) = replies_of(answered, peer)
            except OSError as error:
                said.append(f"{peer.place}: {error}")
                continue
            loaded = read_slot_map(reply, self._access, peer)
            if not loaded.masters:
                said.append(f"{peer.place}: it knows no node with slots")
                continue
            self._map, self._is_stale, self._suspect = loaded, False, None
            return loaded
        raise NoServerError(
            "no node of the cluster tells which has which slot",
            why="; ".join(said[:5]),
            try_="check that its nodes run and that the URL names some of them",
        )

    def _informed(self, known: SlotMap | None) -> Iterable[Peer]:
        """Return all nodes heard of, those first that are most likely to know and to answer."""
        heard = (*known.masters, *known.others, *self._seeds) if known else self._seeds
        suspect = self._suspect
        return sorted(dict.fromkeys(heard), key=lambda peer: peer == suspect)

    def _owner(self, slot_map: SlotMap, slot: int) -> Peer:
        owner = slot_map.owners[slot]
        if owner is None:
            self._is_stale = True  # a node may have it by the next try
            raise ReplyError(f"CLUSTERDOWN no node has slot {slot}")
        return owner

    def _batches(self, pieces: Sequence[_Piece], slot_map: SlotMap) -> dict[Peer, tuple[list[Command], list[_Piece]]]:
        sent: dict[Peer, tuple[list[Command], list[_Piece]]] = {}
        for piece in pieces:
            peer = piece.to or self._owner(slot_map, slot_of(piece.keys[0]))
            commands, mine = sent.setdefault(peer, ([], []))
            if piece.to is not None:
                commands.append(_ASKING)
            commands.append((b"MGET", *piece.keys))
            mine.append(piece)
        return sent

    def _take(
        self, sent: dict[Peer, tuple[list[Command], list[_Piece]]], answered: Answered, wanted: _Wanted
    ) -> tuple[list[_Piece], Exception | None]:
        """Put the values where they belong; return what is to be asked again, and an error that says why."""
        again: list[_Piece] = []
        why: Exception | None = None
        for peer, (commands, pieces) in sent.items():
            replies = answered[peer]
            if isinstance(replies, Exception):
                self.learn(peer, replies)
                why = replies
                again += [_Piece(piece.keys, piece.places) for piece in pieces]
                continue
            for piece, reply in zip(pieces, _without_asking(commands, replies), strict=True):
                if not isinstance(reply, ReplyError):
                    for place, value in zip(piece.places, reply, strict=True):
                        wanted.values[place] = value
                    continue
                why = reply
                again += self._again(peer, piece, reply)
        return again, why

    def _again(self, peer: Peer, piece: _Piece, error: ReplyError) -> Iterator[_Piece]:
        to = self.learn(peer, error)
        if error.code in ("ASK", "TRYAGAIN") and len(piece.keys) > 1:
            # The slot is on its way and its keys are on two nodes: each key's own node is told key by key.
            for key, place in zip(piece.keys, piece.places, strict=True):
                yield _Piece([key], [place])
        elif error.code in ("ASK", "MOVED"):
            yield _Piece(piece.keys, piece.places, to)
        else:
            raise error


def _without_asking(commands: Sequence[Command], replies: Sequence[Reply]) -> Iterator[Reply]:
    return (reply for command, reply in zip(commands, replies, strict=True) if command is not _ASKING)


def _with_copies(keys: Sequence[bytes], slot_map: SlotMap) -> tuple[_Wanted, dict[int, list[int]]]:
    """Return the read in pieces by slot, and for each marker's place the places of its copies.

    The markers come last: where one is still there when the rows of its node were read, no row was deleted before.
    """
    by_slot: dict[int, _Piece] = {}
    markers: list[int] = []
    of_rows: set[int] = set()
    wanted = _Wanted([None] * len(keys))
    marker, row = prefixes(keys[0]) if keys else (b"", b"")
    for place, key in enumerate(keys):
        slot = slot_of(key)
        if key.startswith(row):
            of_rows.add(slot)
        elif key.startswith(marker):
            markers.append(place)
            continue
        piece = by_slot.get(slot)
        if piece is None:
            by_slot[slot] = _Piece([key], [place])
        else:
            piece.keys.append(key)
            piece.places.append(place)
    wanted.pieces = list(by_slot.values())
    nodes = {slot_map.owners[slot] for slot in of_rows} or slot_map.masters
    tags = [tag for node, tag in slot_map.witnesses.items() if node in nodes]
    copies: dict[int, list[int]] = {}
    for place in markers:
        copied = [copy_of(keys[place], tag) for tag in tags] or [keys[place]]
        copies[place] = list(range(len(wanted.values), len(wanted.values) + len(copied)))
        wanted.pieces += [_Piece([key], [at]) for key, at in zip(copied, copies[place], strict=True)]
        wanted.values += [None] * len(copied)
    return wanted, copies


def _without_copies(keys: Sequence[bytes], values: list[Value], copies: dict[int, list[int]]) -> list[Value]:
    for place, at in copies.items():
        copied = [values[i] for i in at]
        values[place] = None if None in copied else copied[0]
    return values[: len(keys)]
