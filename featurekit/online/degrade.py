"""Answers where the store has none: by the service's `on_unavailable`, from what the client knows."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Sequence
from math import inf
from typing import Final, NamedTuple

import numpy as np

from featurekit.clock import Instant
from featurekit.errors import (
    BreakerOpenError,
    FeaturesUnavailableError,
    OnlineStoreError,
    OnlineStoreTimeoutError,
    StoreEmptyError,
)
from featurekit.online.answer import ViewRows
from featurekit.online.breaker import Elapsed
from featurekit.online.columns import Rows
from featurekit.online.forking import renew_in_children
from featurekit.online.keys import KeyTexts
from featurekit.online.planned import Pick, PlannedView
from featurekit.online.reason import Reason
from featurekit.online.result import Features
from featurekit.online.store import Value
from featurekit.status import Status

LAST_KNOWN_BYTES: Final = 64 << 20
_SHOWN_NAMES: Final = 5
_HEAR_EVERY_S: Final = 1.0
_ENTRY_BYTES: Final = 400  # what an entry takes beside its key and its row, roughly


def reason_of(error: OnlineStoreError) -> Reason:
    """Return why nothing could be read."""
    match error:
        case OnlineStoreTimeoutError():
            return Reason.STORE_TIMEOUT
        case BreakerOpenError():
            return Reason.BREAKER_OPEN
        case StoreEmptyError():
            return Reason.STORE_EMPTY
        case _:
            return Reason.STORE_UNREACHABLE


def check_available(features: Features) -> None:
    """Raise FeaturesUnavailableError where a value is UNAVAILABLE."""
    away = features.statuses == Status.UNAVAILABLE
    if not away.any():
        return
    names = [name for name, is_away in zip(features.names, away.any(axis=0).tolist(), strict=True) if is_away]
    causes = sorted({Reason(code).name for code in features.reasons[away].tolist()})
    shown = names[:_SHOWN_NAMES]
    raise FeaturesUnavailableError(
        f"features of {features.service} are UNAVAILABLE for {int(away.any(axis=1).sum())} of {len(features)} rows",
        where=", ".join(shown) + (f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""),
        why=f"{', '.join(causes)}; the service declares on_unavailable: error",
        try_="featurekit list shows which views have no refresh",
    )


class _Known(NamedTuple):
    row: Value
    pick: Pick
    confirmed_s: float


class LastKnown:
    """The last rows that lookups were answered with, by view version and entity; those answered longest ago go first.

    A row counts for as long as its service says, by a clock that measures what passes: no jump of the time of day
    makes an old row young. All are forgotten where an entity was erased from the store: it says so under one key, which
    is read once in a while, and a row that was read before that is not kept after it. Safe to share by threads, and
    fork-safe.
    """

    def __init__(self, elapsed: Elapsed, max_bytes: int = LAST_KNOWN_BYTES) -> None:
        self._elapsed = elapsed
        self._max_bytes = max_bytes
        self._rows: OrderedDict[tuple[bytes, bytes], _Known] = OrderedDict()
        self._bytes = 0
        self._token: Value = None
        self._heard_s = self._due_s = -inf
        self.begin_in_child()
        renew_in_children(self)

    def begin_in_child(self) -> None:
        self._lock = threading.Lock()
        self.clear()  # a thread may have been in the middle of a change

    def clear(self) -> None:
        with self._lock:
            self._rows, self._bytes = OrderedDict(), 0

    def now(self) -> float:
        """Return the time that rows are told to be read at: taken before they are."""
        return self._elapsed()

    def is_due(self) -> bool:
        """Return whether the store should be asked for erasures."""
        return self._elapsed() >= self._due_s

    def heard(self, token: Value) -> None:
        """Take what the store says of erasures; one that lost its data says nothing."""
        with self._lock:
            if token is not None and token != self._token:
                self._rows, self._bytes = OrderedDict(), 0
                self._token = token
            self._heard_s = self._elapsed()

    def put_off(self) -> None:
        self._due_s = self._elapsed() + _HEAR_EVERY_S

    def remember(self, view: PlannedView, pick: Pick, keys: KeyTexts, rows: Rows, read_s: float) -> None:
        """Keep what the store answered for a view at a time: a row for each key."""
        with self._lock:
            if read_s < self._heard_s:  # an entity may have been erased since
                return
            for key, row in zip(keys, rows, strict=True):
                if key is not None:
                    self._forget((view.head_key, key))
                    self._rows[view.head_key, key] = _Known(row, pick, read_s)
                    self._bytes += _size(key, row)
            while self._bytes > self._max_bytes:
                self._forget(next(iter(self._rows)))

    def recall(
        self, view: PlannedView, keys: KeyTexts, *, at: Instant, max_age: int, otherwise: Reason
    ) -> ViewRows | None:
        """Return the last known rows for a request at an instant, all of one refresh; None where there are none.

        Entities of which there is none, or one of another refresh than most, are UNAVAILABLE, `otherwise` the reason.
        """
        oldest = self._elapsed() - max_age / 1_000_000
        with self._lock:
            found = [None if key is None else self._rows.get((view.head_key, key)) for key in keys]
        listed = view.head.picks
        usable = [
            known
            if known is not None
            and known.confirmed_s >= oldest
            and known.pick.visible_from <= at
            # What the head listed no longer when it was last read was taken back, or is long over.
            and (not listed or known.pick in listed)
            else None
            for known in found
        ]
        pick = _most_frequent(usable)
        if pick is None:
            return None
        is_known = np.array(
            [
                key is None or (known is not None and known.pick == pick)
                for key, known in zip(keys, usable, strict=True)
            ],
            np.bool_,
        )
        rows = [
            known.row if known is not None and is_it else None
            for known, is_it in zip(usable, is_known.tolist(), strict=True)
        ]
        reasons = np.where(is_known, np.uint8(Reason.LAST_KNOWN), np.uint8(otherwise))
        return ViewRows(rows=rows, as_of=pick.as_of, reasons=reasons)

    def _forget(self, key: tuple[bytes, bytes]) -> None:
        known = self._rows.pop(key, None)
        if known is not None:
            self._bytes -= _size(key[1], known.row)


def _size(key: bytes, row: Value) -> int:
    return _ENTRY_BYTES + len(key) + len(row or b"")


def _most_frequent(known: Sequence[_Known | None]) -> Pick | None:
    """Return the refresh that most rows are of, the newest of those; None without any."""
    counts = Counter(one.pick for one in known if one is not None)
    return max(counts, key=lambda pick: (counts[pick], pick.as_of, pick.restatement), default=None)
