"""Rows of a key space that each refresh overwrites: what they are as of the refresh that the head lists."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from featurekit.online.columns import Codes, Rows
from featurekit.online.layout import HEADER
from featurekit.online.planned import Pick
from featurekit.online.reason import Reason

_AS_OF = slice(8, 16)


def rows_in_place(rows: Rows, pick: Pick, identity: bytes) -> tuple[Sequence[bytes | None], Codes | None]:
    """Return what the store gave for a refresh in place as rows as of it, and each one's reason (None: all have none).

    An older row is of an entity that the refresh has none of: there is no row. A newer one is of the refresh that is
    being written now, and AHEAD; and where that one is complete, so is that there is no row: it may have been swept.
    What is no row of this view version stays as it is: the reader says so.
    """
    as_of = pick.as_of
    mine = as_of.to_bytes(8, "little", signed=True)
    if not pick.is_overwritten and all(row is None or row[_AS_OF] == mine for row in rows):
        return rows, None
    reasons = np.zeros(len(rows), np.uint8)
    found: list[bytes | None] = []
    for place, row in enumerate(rows):
        if row is not None and (row[_AS_OF] == mine or len(row) < HEADER.size or row[:8] != identity):
            found.append(row)
        elif row is None or int.from_bytes(row[_AS_OF], "little", signed=True) < as_of:
            found.append(None)
            reasons[place] = Reason.AHEAD if pick.is_overwritten else Reason.NONE
        else:
            found.append(row[:8] + mine + row[16:])
            reasons[place] = Reason.AHEAD
    return found, reasons if reasons.any() else None
