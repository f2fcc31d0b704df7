"""An answered request, as it is handed to the served-feature log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from featurekit.clock import MILLISECOND, Instant
from featurekit.online.answer import AnswerPlan, ViewRows
from featurekit.online.request import Columns


class Served(NamedTuple):  # and no dataclass: made for every request
    """What a request asked and what the store returned, not yet decoded; for which model, None where for nobody's.

    And not the `Features` themselves: what they decoded for the caller would be kept alive with them. A request that
    was given no id has a number, which is spelled out when somebody reads it.
    """

    plan: AnswerPlan
    columns: Columns
    views: Sequence[ViewRows]
    at: Instant
    request_id: str | int
    model: str | None
    model_version: int | None


_STAMP: Final = (1 << 48) - 1
_LOW: Final = (1 << 62) - 1


def request_name(at: Instant, number: int) -> str:
    """Return the id of a request that was given none: a UUID of version 7 (RFC 9562), which sorts by time.

    >>> request_name(1_384_480_800_000_000, 5)
    '0142597c-7d00-7000-8000-000000000005'
    """
    stamp, high, low = (at // MILLISECOND) & _STAMP, number >> 62, number & _LOW
    text = f"{stamp << 80 | 7 << 76 | high << 64 | 2 << 62 | low:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
