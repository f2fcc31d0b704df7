"""Which refresh of a view answered lookups at which time, by the runs on record, and where its rows are to be had now.

Pure: runs come as values. `served_join` brings label rows and the refreshes' rows together.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np
import pyarrow as pa

from featurekit.clock import Instant
from featurekit.compiled import CompiledView
from featurekit.offline.engine import Batches
from featurekit.offline.history import HistoryEntry
from featurekit.offline.snapshot import SourceSnapshot, describe_change
from featurekit.types import Field, Int8, Int64, Schema, String

NOBODY: Final = -1
AT: Final = "$at"


class Supply(IntEnum):
    """What a label row can get of a view."""

    UNAVAILABLE = 0  # no refresh was visible: lookups were answered so
    OTHER_DEFINITION = 1  # nor was any of this definition; what answered was one of another
    KEPT = 2  # from the history
    RECOMPUTED = 3  # the rows are gone, and computing them again gives the same
    INDETERMINATE = 4  # the rows are gone, and what they were can't be told any more


HAS_ROWS: Final = (Supply.KEPT, Supply.RECOMPUTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedRefresh:
    """A complete refresh that lookups could see from `visible_from` on, until it was withdrawn.

    `entry` are its kept rows, where they are still there; `snapshot` is the source as it was read, where that is known.
    """

    as_of: Instant
    restatement: int
    visible_from: Instant
    withdrawn_at: Instant | None = None
    snapshot: SourceSnapshot | None = None
    entry: HistoryEntry | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedView:
    """The refreshes of a view as it is defined now, and those of its other definitions."""

    refreshes: tuple[ServedRefresh, ...]
    others: tuple[ServedRefresh, ...] = ()


def as_of_column(view: str) -> str:
    return f"$as of {view}"


def token_column(view: str) -> str:
    return f"$token {view}"


def supply_column(view: str) -> str:
    return f"$supply {view}"


def picks(refreshes: Sequence[ServedRefresh]) -> list[tuple[Instant, int]]:
    """Return from when on which refresh answered, by its place; NOBODY where none did.

    It is the one with the newest as-of, and of that the last restatement, of those that were visible and not withdrawn.
    """
    order = sorted(range(len(refreshes)), key=lambda at: (refreshes[at].as_of, refreshes[at].restatement))
    changes = [(refreshes[at].visible_from, rank, True) for rank, at in enumerate(order)]
    for rank, at in enumerate(order):
        gone = refreshes[at].withdrawn_at
        if gone is not None:
            # One that was withdrawn before it was visible never is.
            changes.append((max(gone, refreshes[at].visible_from), rank, False))
    visible: list[int] = []
    found: list[tuple[Instant, int]] = []
    for time, rank, appears in sorted(changes, key=lambda change: (change[0], not change[2])):
        if appears:
            insort(visible, rank)
        else:
            del visible[bisect_left(visible, rank)]
        now = order[visible[-1]] if visible else NOBODY
        if found and found[-1][0] == time:
            found.pop()
        if not found or found[-1][1] != now:
            found.append((time, now))
    return found


def supply(
    view: CompiledView, refresh: ServedRefresh, others: Sequence[ServedRefresh], now: SourceSnapshot | None
) -> Supply:
    """Return where a refresh's rows are to be had; `now` is the view's source as it is.

    A source that says when its rows could be known gives the same rows at any later time (DESIGN T2), unless somebody
    had a reason to compute the refresh again: then what it was at first was another thing.
    """
    if refresh.entry is not None:
        return Supply.KEPT
    if refresh.snapshot is not None and now is not None and describe_change(refresh.snapshot, now) is None:
        return Supply.RECOMPUTED
    is_last = all(one.restatement <= refresh.restatement for one in others if one.as_of == refresh.as_of)
    tells = view.source.created_timestamp is not None
    return Supply.RECOMPUTED if tells and is_last else Supply.INDETERMINATE


@dataclass(frozen=True, kw_only=True)
class Timeline:
    """What label rows get of one view, by their time: at `times[i]` begins what `as_ofs[i + 1]` and its like say."""

    view: str
    times: tuple[Instant, ...]
    as_ofs: tuple[Instant | None, ...]
    tokens: tuple[str | None, ...]
    supplies: tuple[Supply, ...]


def timeline(view: CompiledView, served: ServedView, now: SourceSnapshot | None) -> Timeline:
    """Return who answered for a view when; each refresh's rows go by its `token`."""
    own, other = picks(served.refreshes), picks(served.others)
    times = sorted({time for time, _ in (*own, *other)})
    supplies = [supply(view, each, served.refreshes, now) for each in served.refreshes]
    as_ofs: list[Instant | None] = [None]
    tokens: list[str | None] = [None]
    found = [Supply.UNAVAILABLE]
    for time in times:
        place, beside = _at(own, time), _at(other, time)
        if place == NOBODY:
            as_ofs.append(None)
            tokens.append(None)
            found.append(Supply.UNAVAILABLE if beside == NOBODY else Supply.OTHER_DEFINITION)
            continue
        refresh = served.refreshes[place]
        as_ofs.append(refresh.as_of)
        tokens.append(token(refresh, supplies[place]))
        found.append(supplies[place])
    return Timeline(
        view=view.name, times=tuple(times), as_ofs=tuple(as_ofs), tokens=tuple(tokens), supplies=tuple(found)
    )


def token(refresh: ServedRefresh, where: Supply) -> str | None:
    """Return what the rows of a refresh are found by: its label in the history, its as-of where they are computed."""
    if where is Supply.KEPT and refresh.entry is not None:
        return refresh.entry.label
    return str(refresh.as_of) if where is Supply.RECOMPUTED else None


def _at(found: Sequence[tuple[Instant, int]], time: Instant) -> int:
    place = bisect_left(found, time + 1, key=lambda each: each[0]) - 1
    return NOBODY if place < 0 else found[place][1]


@dataclass(frozen=True, kw_only=True)
class Picker:
    """Says for instants what each timeline has then: as-of, token and supply, in columns behind the instants."""

    timelines: tuple[Timeline, ...]

    @property
    def schema(self) -> Schema:
        """The columns of the result."""
        fields = [Field(AT, Int64())]
        for each in self.timelines:
            kinds = ((as_of_column, Int64()), (token_column, String()), (supply_column, Int8()))
            fields += [Field(column(each.view), kind) for column, kind in kinds]
        return Schema(tuple(fields))

    def __call__(self, batches: Batches) -> Batches:
        for batch in batches:
            at = batch.column(0).to_numpy(zero_copy_only=False)
            columns: list[pa.Array] = [batch.column(0)]
            for each in self.timelines:
                places = pa.array(np.searchsorted(np.array(each.times, np.int64), at, side="right"))
                columns.append(pa.array(each.as_ofs, pa.int64()).take(places))
                columns.append(pa.array(each.tokens, pa.string()).take(places))
                columns.append(pa.array([int(one) for one in each.supplies], pa.int8()).take(places))
            yield pa.RecordBatch.from_arrays(columns, names=list(self.schema.names))
