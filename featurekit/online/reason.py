"""Why a served value is not simply PRESENT."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from featurekit.status import Status


class Reason(IntEnum):
    """Why a value has its status, or is not what its status alone says.

    Of a DEFAULTED value: what it stands for, numbered as in `Status`, or why its view is unavailable. Of an UNAVAILABLE
    one: what went wrong. Of any other one: NONE, or in what way it is degraded.
    """

    NONE = 0
    NULL = 1
    MISSING = 2
    EXPIRED = 3
    NO_REFRESH = 4  # the view's head lists no refresh that is visible at the request's time, or is not there at all
    KEY_SPACE_DROPPED = 5  # the head lists the refresh, but its keys were dropped or have expired
    FOREIGN_ROW = 6  # another version of the view wrote the row
    STALE_ROW = 7  # the row is of another as-of than its key says
    BROKEN_ROW = 8  # cut short or damaged
    NEWER_ROW = 9  # of a later wire version
    INPUT_UNAVAILABLE = 10  # an on-demand feature that needs a feature which is UNAVAILABLE
    STORE_UNREACHABLE = 11  # the store can't be reached, or refuses
    STORE_TIMEOUT = 12  # the store did not answer in time
    BREAKER_OPEN = 13  # the store has failed again and again, and was not asked
    STORE_EMPTY = 14  # the store answers, and has lost what was registered
    LAST_KNOWN = 15  # the store could not say: the value is the one it said last, `as_of` is its refresh
    INPUT_DEGRADED = 16  # an on-demand feature computed from one that is degraded
    AHEAD = 17  # of a refresh that is being written in place: newer than `as_of`


def is_degraded(statuses: npt.NDArray[Any], reasons: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return which values stand in for what the store could not say, or are of another time than `as_of`.

    They are values, so not UNAVAILABLE ones; and nothing that a comparison or a training set may take for the view's.
    """
    degraded: npt.NDArray[np.bool_] = (reasons >= Reason.NO_REFRESH) & (statuses != Status.UNAVAILABLE)
    return degraded
