"""Why served and recomputed differ: the causes that can be named, and what each costs to believe.

A cause's `cost` is in bits: how many coin flips would have to fall right before it is believed without evidence.
What happens every week costs little, what fits anything with a parameter found from the data costs much; of causes
that explain the same cells the cheapest is named. A negative cost is that of what hardly needs any evidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any, assert_never

from featurekit.clock import Instant, format_instant
from featurekit.status import Status


class Layer(IntEnum):
    """What a cause changes, in the order in which a value comes about; a whole row's label comes before all of them."""

    LABEL = 0  # the stored row itself says what is wrong
    ROWS = 1  # the source rows, as the pipeline saw them
    VIEW = 2  # the definition
    AS_OF = 3  # the instant that was asked about
    KEY = 4  # whose row it is
    VALUE = 5  # the computed cell
    NONE = 6


class Cause(StrEnum):
    """The first six are about a whole row; the others are value mismatches: the right refresh's row, a wrong cell."""

    layer: Layer
    cost: int

    def __new__(cls, value: str, layer: Layer, cost: int) -> Cause:
        cause = str.__new__(cls, value)
        cause._value_ = value
        cause.layer, cause.cost = layer, cost
        return cause

    # what the stored row's label says
    UNAVAILABLE = ("unavailable", Layer.LABEL, 0)
    BROKEN_ROW = ("broken row", Layer.LABEL, 0)
    OTHER_VERSION = ("other version", Layer.LABEL, 0)
    STALE_ROW = ("stale row", Layer.LABEL, 0)
    MISSING_ROW = ("missing row", Layer.LABEL, 0)
    EXTRA_ROW = ("extra row", Layer.LABEL, 0)
    # as of another instant
    PREVIOUS_REFRESH = ("previous refresh", Layer.AS_OF, 2)
    LATER_REFRESH = ("later refresh", Layer.AS_OF, 4)
    REQUEST_TIME = ("as of the request", Layer.AS_OF, 4)
    WHOLE_DAY = ("whole day", Layer.AS_OF, 4)
    BOUND_CLOSED = ("bound closed", Layer.AS_OF, 3)
    TIME_ZONE_SHIFT = ("time zone shift", Layer.AS_OF, 5)
    DST_SHIFT = ("daylight saving hour", Layer.AS_OF, 6)
    # from other source rows
    LATE_ROWS_COUNTED = ("late rows counted", Layer.ROWS, 3)
    LATE_ROWS_LOST = ("late rows lost", Layer.ROWS, 4)
    DUPLICATE_EVENTS = ("duplicate events", Layer.ROWS, 3)
    VERSIONS_COUNTED = ("versions counted as events", Layer.ROWS, 4)
    TIE_ORDER = ("tie order", Layer.ROWS, 4)
    EVENT_TIME_SHIFTED = ("event times shifted", Layer.ROWS, 6)
    EVENT_TIME_DST = ("event times shifted by the daylight saving hour", Layer.ROWS, 7)
    TIME_UNIT = ("time unit", Layer.ROWS, 5)
    OTHER_SNAPSHOT = ("other source snapshot", Layer.ROWS, 4)
    INPUT_NULL_ZERO = ("input null as 0", Layer.ROWS, 4)
    INPUT_NULL_MEAN = ("input null as mean", Layer.ROWS, 5)
    INPUT_FLOAT32 = ("input as float32", Layer.ROWS, 6)
    INPUT_SCALED = ("input in another unit", Layer.ROWS, 6)
    INPUT_LOGARITHM = ("input logarithm", Layer.ROWS, 6)
    INPUT_TRUNCATED = ("input as integer", Layer.ROWS, 6)
    INPUT_TRIMMED = ("input trimmed", Layer.ROWS, 5)
    INPUT_LOWER_CASED = ("input lower-cased", Layer.ROWS, 5)
    INPUT_NORMALISED = ("input Unicode-normalised", Layer.ROWS, 5)
    SOURCE_KEY_TRIMMED = ("source key trimmed", Layer.ROWS, 3)
    SOURCE_KEY_LOWER_CASED = ("source key lower-cased", Layer.ROWS, 4)
    SOURCE_KEY_NORMALISED = ("source key Unicode-normalised", Layer.ROWS, 4)
    SOURCE_KEY_INT32 = ("source key cut to 32 bits", Layer.ROWS, 4)
    # by another definition
    TTL_IGNORED = ("TTL ignored", Layer.VIEW, 2)
    PREVIOUS_DEFINITION = ("previous definition", Layer.VIEW, 3)
    DEFAULT_LEFT_OUT = ("default left out", Layer.VIEW, 2)
    FILTER_DROPPED = ("filter left out", Layer.VIEW, 4)
    WINDOW_LENGTH = ("window length", Layer.VIEW, 4)
    WINDOW_START_CLOSED = ("window start", Layer.VIEW, 4)
    LOGARITHM_LEFT_OUT = ("logarithm left out", Layer.VIEW, 3)
    LOGARITHM_ADDED = ("logarithm added", Layer.VIEW, 4)
    COALESCE_DROPPED = ("coalesce left out", Layer.VIEW, 4)
    COUNTED_NULLS = ("nulls counted", Layer.VIEW, 4)
    NULLS_IN_AVERAGE = ("nulls in the average", Layer.VIEW, 4)
    SPREAD_DIVISOR = ("n or n − 1", Layer.VIEW, 3)
    EXPRESSION_CHANGED = ("expression changed", Layer.VIEW, 6)
    # of another entity
    OTHER_ENTITY = ("another entity's row", Layer.KEY, 5)
    NEXT_ENTITY = ("neighbouring entity's row", Layer.KEY, 5)
    ONE_ROW_FOR_ALL = ("one row for all", Layer.KEY, 6)
    KEY_TRIMMED = ("key trimmed", Layer.KEY, 3)
    KEY_LOWER_CASED = ("key lower-cased", Layer.KEY, 4)
    KEY_UPPER_CASED = ("key upper-cased", Layer.KEY, 4)
    KEY_NORMALISED = ("key Unicode-normalised", Layer.KEY, 4)
    KEY_INT32 = ("key cut to 32 bits", Layer.KEY, 4)
    # the cell itself, turned into another
    NULL_FILLED_WITH_DEFAULT = ("null filled with default", Layer.VALUE, -6)
    NULL_FILLED_WITH_ZERO = ("null filled with 0", Layer.VALUE, -5)
    NULL_FILLED_WITH_EMPTY = ("null filled with ''", Layer.VALUE, -3)
    NULL_FILLED_WITH_FALSE = ("null filled with false", Layer.VALUE, -3)
    NULL_FILLED_WITH_NAN = ("null filled with NaN", Layer.VALUE, -2)
    NULL_FILLED_WITH_CODE = ("null filled with an error code", Layer.VALUE, 0)
    NULL_FILLED_WITH_MEAN = ("null filled with mean", Layer.VALUE, 1)
    NULL_FILLED_WITH_MEDIAN = ("null filled with median", Layer.VALUE, 3)
    NULL_FILLED_WITH_CONSTANT = ("null filled with a constant", Layer.VALUE, 5)
    DEFAULT_MISSING = ("default missing", Layer.VALUE, 1)
    OTHER_DEFAULT = ("other default", Layer.VALUE, 4)
    STATUS_LOST = ("status lost", Layer.VALUE, 2)
    NAN_AS_NULL = ("NaN as null", Layer.VALUE, 0)
    EMPTY_AS_NULL = ("'' as null", Layer.VALUE, 0)
    ZERO_AS_NULL = ("0 as null", Layer.VALUE, 2)
    VALUE_AS_NULL = ("values lost", Layer.VALUE, 5)
    NEGATIVE_ZERO = ("-0.0 as 0.0", Layer.VALUE, 1)
    FLOAT_NOISE = ("rounded in another order", Layer.VALUE, 0)
    FLOAT32_ROUNDED = ("rounded to float32", Layer.VALUE, 1)
    FLOAT16_ROUNDED = ("rounded to float16", Layer.VALUE, 3)
    INTEGER_TRUNCATED = ("fraction cut off", Layer.VALUE, 2)
    FLOORED = ("rounded down", Layer.VALUE, 4)
    CEILED = ("rounded up", Layer.VALUE, 4)
    ROUNDED = ("rounded", Layer.VALUE, 3)
    SCALED = ("scaled", Layer.VALUE, 3)
    RATIO = ("multiplied by a constant", Layer.VALUE, 11)
    OFFSET = ("shifted by a constant", Layer.VALUE, 10)
    HOURS_OFF = ("shifted by hours", Layer.VALUE, 4)
    VALUE_TIME_UNIT = ("timestamp in another unit", Layer.VALUE, 4)
    LOGARITHM_TAKEN = ("logarithm taken", Layer.VALUE, 3)
    LOGARITHM_UNDONE = ("logarithm undone", Layer.VALUE, 3)
    SQUARED = ("squared", Layer.VALUE, 5)
    SQUARE_ROOT = ("square root taken", Layer.VALUE, 5)
    SIGN_FLIPPED = ("sign flipped", Layer.VALUE, 3)
    SIGN_DROPPED = ("absolute value taken", Layer.VALUE, 3)
    INVERTED = ("inverted", Layer.VALUE, 2)
    INT32_WRAPPED = ("wrapped at 32 bits", Layer.VALUE, 1)
    INT32_SATURATED = ("cut off at 32 bits", Layer.VALUE, 2)
    INT16_WRAPPED = ("wrapped at 16 bits", Layer.VALUE, 2)
    INT16_SATURATED = ("cut off at 16 bits", Layer.VALUE, 2)
    CLIPPED = ("clipped", Layer.VALUE, 9)
    TRIMMED = ("trimmed", Layer.VALUE, 1)
    LOWER_CASED = ("lower-cased", Layer.VALUE, 2)
    UPPER_CASED = ("upper-cased", Layer.VALUE, 2)
    NORMALISED = ("Unicode-normalised", Layer.VALUE, 2)
    TEXT_CUT = ("text cut off", Layer.VALUE, 6)
    MOJIBAKE = ("wrong encoding", Layer.VALUE, 1)
    ANOTHER_FIELD = ("another field's value", Layer.VALUE, 4)
    CONSTANT = ("constant", Layer.VALUE, 9)
    ERROR_CODE = ("error code", Layer.VALUE, 3)
    UNKNOWN = ("unknown", Layer.NONE, 99)

    @property
    def is_value_mismatch(self) -> bool:
        return self.layer is not Layer.LABEL

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
    """The refresh that was served: its as-of, and the definition's fingerprint."""

    as_of: Instant
    fingerprint: str


def explain(cause: Cause, row: StoredRow, refresh: Refresh) -> str:
    """Return one sentence on one entity's row: what is there, and what belongs there."""
    as_of = format_instant(refresh.as_of)
    # Requests of a log are each of a refresh of their own.
    own_as_of = as_of if row.as_of is None else format_instant(row.as_of)
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
            return f"Training has a row for this entity as of {own_as_of}; the online store has none."
        case Cause.EXTRA_ROW:
            return f"The online store has a row for this entity; training sees no event of it as of {own_as_of}."
        case _:
            return "Nothing that was tried explains the served value."


def _short(fingerprint: str | None) -> str:
    return fingerprint[:8] if fingerprint else "unknown"
