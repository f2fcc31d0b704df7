"""Why served and recomputed differ: a closed set, named only where it is certain, and each told in one sentence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, assert_never

from featurekit.clock import Instant, format_instant
from featurekit.status import Status


class Cause(StrEnum):
    """The first six are about a whole row; the others are value mismatches: the right refresh's row, a wrong cell."""

    UNAVAILABLE = "unavailable"
    BROKEN_ROW = "broken row"
    OTHER_VERSION = "other version"
    STALE_ROW = "stale row"
    MISSING_ROW = "missing row"
    EXTRA_ROW = "extra row"
    PREVIOUS_REFRESH = "previous refresh"
    NULL_FILLED_WITH_DEFAULT = "null filled with default"
    NULL_FILLED_WITH_ZERO = "null filled with 0"
    FLOAT32_ROUNDED = "rounded to float32"
    UNKNOWN = "unknown"

    @property
    def is_value_mismatch(self) -> bool:
        match self:
            case (
                Cause.UNAVAILABLE
                | Cause.BROKEN_ROW
                | Cause.OTHER_VERSION
                | Cause.STALE_ROW
                | Cause.MISSING_ROW
                | Cause.EXTRA_ROW
            ):
                return False
            case (
                Cause.PREVIOUS_REFRESH
                | Cause.NULL_FILLED_WITH_DEFAULT
                | Cause.NULL_FILLED_WITH_ZERO
                | Cause.FLOAT32_ROUNDED
                | Cause.UNKNOWN
            ):
                return True
            case _:
                assert_never(self)

    @property
    def label(self) -> str:
        """The cause as people read it; a value mismatch says that it is one."""
        return f"value mismatch: {self}" if self.is_value_mismatch else str(self)


class RowState(StrEnum):
    """What lies under the key that a lookup of the entity reads."""

    OWN = "own"  # a row of the served definition and refresh
    ABSENT = "absent"
    STALE = "stale"  # a row of the served definition that names an older refresh than its key
    OTHER_VERSION = "other version"  # a row that names another definition
    BROKEN = "broken"  # bytes that are no row
    UNAVAILABLE = "unavailable"  # the store could not say


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRow:
    """One stored row's label: its own as-of and fingerprint, or what is wrong with it.

    `values` and `statuses` are what it holds, in the order of the view's fields, where that can be read.
    """

    state: RowState
    as_of: Instant | None = None
    fingerprint: str | None = None
    problem: str = ""
    values: tuple[Any, ...] | None = None
    statuses: tuple[Status, ...] | None = None

    @property
    def cause(self) -> Cause | None:
        """The cause that the label alone proves, whatever the values are."""
        match self.state:
            case RowState.OWN | RowState.ABSENT:
                return None
            case RowState.STALE:
                return Cause.STALE_ROW
            case RowState.OTHER_VERSION:
                return Cause.OTHER_VERSION
            case RowState.BROKEN:
                return Cause.BROKEN_ROW
            case RowState.UNAVAILABLE:
                return Cause.UNAVAILABLE
            case _:
                assert_never(self.state)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refresh:
    """The refresh that was served: its as-of, the grid instant before that, and the definition's fingerprint."""

    as_of: Instant
    previous: Instant
    fingerprint: str


def explain(cause: Cause, row: StoredRow, refresh: Refresh, *, default: str = "") -> str:
    """Return one sentence on one entity: what is there, and what belongs there. `default` is the field's, as shown."""
    as_of = format_instant(refresh.as_of)
    match cause:
        case Cause.UNAVAILABLE:
            return f"The store could not answer: {row.problem or 'no reason was given'}."
        case Cause.BROKEN_ROW:
            return f"What lies under the entity's key is not a row: {row.problem}."
        case Cause.OTHER_VERSION:
            return (
                f"The row was written by definition {_short(row.fingerprint)}; "
                f"the one that is served is {_short(refresh.fingerprint)}."
            )
        case Cause.STALE_ROW:
            own = format_instant(row.as_of) if row.as_of is not None else "another instant"
            return f"The row says that it is as of {own}, and lies under the key of the refresh as of {as_of}."
        case Cause.MISSING_ROW:
            return f"Training has a row for this entity as of {as_of}; the online store has none."
        case Cause.EXTRA_ROW:
            return f"The online store has a row for this entity; training sees no event of it as of {as_of}."
        case Cause.PREVIOUS_REFRESH:
            return (
                f"The whole row equals the refresh before, as of {format_instant(refresh.previous)}, "
                f"though it says {as_of}."
            )
        case Cause.NULL_FILLED_WITH_DEFAULT:
            return f"Training has no value here; the row holds the default {default} as if it had been measured."
        case Cause.NULL_FILLED_WITH_ZERO:
            return "Training has no value here; the row holds 0 as if it had been measured."
        case Cause.FLOAT32_ROUNDED:
            return "The served value is the recomputed one after a detour through float32."
        case Cause.UNKNOWN:
            return "Nothing that was tried explains the served value."
        case _:
            assert_never(cause)


def _short(fingerprint: str | None) -> str:
    return fingerprint[:8] if fingerprint else "unknown"
