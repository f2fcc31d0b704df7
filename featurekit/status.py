"""What a served value is: the six statuses of DESIGN T6, never mixed."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """The first four are stored in rows, two bits each; the last two arise when a request is answered."""

    PRESENT = 0
    NULL = 1
    MISSING = 2  # no visible event (or none younger than twice the ttl)
    EXPIRED = 3  # the newest event is older than the ttl
    UNAVAILABLE = 4  # the store could not answer: not a statement about the entity
    DEFAULTED = 5  # the declared default, in place of NULL, MISSING or EXPIRED
