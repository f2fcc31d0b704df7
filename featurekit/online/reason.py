"""Why a served value is not simply PRESENT."""

from __future__ import annotations

from enum import IntEnum


class Reason(IntEnum):
    """Of a DEFAULTED value: what it stands for, numbered as in `Status`. Of an UNAVAILABLE one: what went wrong."""

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
