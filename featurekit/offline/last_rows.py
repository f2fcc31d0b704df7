"""The last n rows of many marks: in which stretches of marks each row is one of the n greatest that cover them.

A row that comes or goes changes the greatest n by two rows at most, whatever n is and however many marks there are, so
there are at most three stretches a row.
"""

from __future__ import annotations

from heapq import heappop, heappush, heapreplace

import numpy as np

from featurekit.offline.intervals import Flags, Ints

_Stretches = tuple[Ints, Ints, Ints]


def last_rows(entities: Ints, first: Ints, stop: Ints, limit: int) -> _Stretches:
    """Return stretches of marks as (row, first, stop): at each mark those of the `limit` last rows that cover it.

    `entities` are in order, and each one's rows in theirs; no mark is covered by rows of two entities.
    """
    rows = np.flatnonzero(stop > first)
    entities, first, stop = entities[rows], first[rows], stop[rows]
    simple = _come_and_go_in_order(entities, first, stop)
    found = _in_order(rows[simple], first[simple], stop[simple], limit)
    if not simple.all():
        rest = _by_heaps(rows[~simple], first[~simple], stop[~simple], limit)
        found = tuple(np.concatenate(pair) for pair in zip(found, rest, strict=True))  # type: ignore[assignment]
        order = np.lexsort((found[1], found[0]))
        found = found[0][order], found[1][order], found[2][order]
    return found


def _come_and_go_in_order(entities: Ints, first: Ints, stop: Ints) -> Flags:
    """Return for each row whether no row of its entity comes, or goes, before one that is less."""
    if not len(entities):
        return np.ones(0, bool)
    same = entities[1:] == entities[:-1]
    early = np.append(False, same & ((first[1:] < first[:-1]) | (stop[1:] < stop[:-1])))
    numbers = np.cumsum(np.append(True, ~same)) - 1
    disordered = np.zeros(numbers[-1] + 1, bool)
    disordered[numbers[early]] = True
    simple: Flags = ~disordered[numbers]
    return simple


def _in_order(rows: Ints, first: Ints, stop: Ints, limit: int) -> _Stretches:
    """A row is one of the last until the row `limit` further on comes: those between came before it and are there.

    Where that is another entity's, its marks are further on, too.
    """
    stop = stop.copy()
    stop[:-limit] = np.minimum(stop[:-limit], first[limit:])
    kept = stop > first
    return rows[kept], first[kept], stop[kept]


def _by_heaps(rows: Ints, first: Ints, stop: Ints, limit: int) -> _Stretches:
    """Rows come and go mark by mark: the greatest are in one heap, the least of them on top, all others in another."""
    count = len(rows)
    marks = np.concatenate([stop, first])
    order = np.lexsort((np.arange(2 * count) >= count, marks)).tolist()  # what goes at a mark goes before what comes
    times = marks.tolist()
    since: list[int] = [-1] * count  # from when on a row is one of the greatest, -1 where it is not
    gone = [False] * count
    greatest: list[int] = []
    others: list[int] = []  # negative, so that the greatest is on top
    held = 0
    found: list[tuple[int, int, int]] = []

    def out(row: int, mark: int) -> None:
        if since[row] < mark:
            found.append((row, since[row], mark))
        since[row] = -1

    for step in order:
        mark, row = times[step], step % count
        if step < count:
            gone[row] = True
            if since[row] < 0:
                continue
            out(row, mark)
            held -= 1
            while others:
                following = -heappop(others)
                if not gone[following]:
                    heappush(greatest, following)
                    since[following] = mark
                    held += 1
                    break
            continue
        while greatest and gone[greatest[0]]:
            heappop(greatest)
        if held < limit:
            heappush(greatest, row)
            held += 1
        elif row > greatest[0]:
            least = heapreplace(greatest, row)
            out(least, mark)
            heappush(others, -least)
        else:
            heappush(others, -row)
            continue
        since[row] = mark
    stretches = np.array(found, np.int64).reshape(-1, 3)
    return rows[stretches[:, 0]], stretches[:, 1], stretches[:, 2]
