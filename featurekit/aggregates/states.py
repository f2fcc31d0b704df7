"""Aggregates in parts: a state of some rows, merged with the states of others, finished once.

    state = aggregation.zero
    state = aggregation.add(state, Row(value, key))   for each row that passes the filter
    state = aggregation.merge(state, other)           states of disjoint rows, in any order
    aggregation.finish(state)                         the slot's value

Whatever the order, the partition and the tiles, the finished value has the same bits. States are immutable values of
ints, floats, bytes and tuples.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal as PyDecimal
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from featurekit.aggregates.finish import finish_total
from featurekit.aggregates.hyperloglog import HASH_BITS, estimate, register_and_rank
from featurekit.aggregates.moments import FLOAT_UNIT, SPREADS, Spread
from featurekit.aggregates.order import Key, canonical, order_key
from featurekit.exact import scaled, unscaled
from featurekit.types import DataType, Decimal, is_float

S = TypeVar("S")


class Row(NamedTuple):
    """What an aggregate takes of a row: its argument, and a key where it asks which row comes first.

    The key is `order.order_key` of what is compared (`by`), then of the row's total order: its event timestamp, its
    created timestamp, the view's columns.
    """

    value: Any
    key: Key = ()


class Aggregation(Protocol, Generic[S]):
    """An aggregate's partial form."""

    @property
    def zero(self) -> S:
        """The state of no rows."""
        ...

    def add(self, state: S, row: Row) -> S:
        """Return the state with one more row."""
        ...

    def merge(self, left: S, right: S) -> S:
        """Return the state of the rows of both."""
        ...

    def finish(self, state: S) -> Any:
        """Return the aggregate's value."""
        ...


@dataclass(frozen=True, slots=True)
class Count:
    """Rows, or rows whose value is not NULL."""

    rows: bool
    zero: int = 0

    def add(self, state: int, row: Row) -> int:
        return state + (self.rows or row.value is not None)

    def merge(self, left: int, right: int) -> int:
        return left + right

    def finish(self, state: int) -> int:
        return state


class Sums(NamedTuple):
    """Exact sums of the finite values and of their squares, as whole multiples of the type's unit and its square."""

    size: int = 0
    total: int = 0
    squares: int = 0
    nans: int = 0
    positive_infinities: int = 0
    negative_infinities: int = 0

    @property
    def special(self) -> float | None:
        """What the sum is where a value was no finite number."""
        if self.nans or (self.positive_infinities and self.negative_infinities):
            return math.nan
        if self.positive_infinities or self.negative_infinities:
            return math.inf if self.positive_infinities else -math.inf
        return None


@dataclass(frozen=True, slots=True)
class Numbers:
    """What sums, averages and spreads have in common: exact sums that merge by adding."""

    argument: DataType
    squared: bool = False

    @property
    def zero(self) -> Sums:
        return Sums()

    def add(self, state: Sums, row: Row) -> Sums:
        value = row.value
        if value is None:
            return state
        if isinstance(value, float) and not math.isfinite(value):
            one = (value != value, value > 0, value < 0)
            return self.merge(state, Sums(1, 0, 0, *map(int, one)))
        whole = self._whole(value)
        return self.merge(state, Sums(1, whole, whole * whole if self.squared else 0))

    def _whole(self, value: Any) -> int:
        if isinstance(value, float):
            return scaled(value)
        if isinstance(self.argument, Decimal):
            numerator, denominator = PyDecimal(value).as_integer_ratio()
            return int(numerator * 10**self.argument.scale // denominator)
        return int(value)

    def merge(self, left: Sums, right: Sums) -> Sums:
        return Sums(*(a + b for a, b in zip(left, right, strict=True)))


@dataclass(frozen=True, slots=True)
class Total(Numbers):
    """sum and avg."""

    finish_number: Callable[[Any, int], Any] = lambda total, _: total

    def finish(self, state: Sums) -> Any:
        if state.size == 0:
            return None
        if not is_float(self.argument):
            return self.finish_number(state.total, state.size)
        special = state.special
        return self.finish_number(unscaled(state.total) if special is None else special, state.size)


@dataclass(frozen=True, slots=True)
class Deviation(Numbers):
    """Variances and standard deviations."""

    spread: Spread = SPREADS["var_pop"]

    def finish(self, state: Sums) -> float | None:
        if state.special is not None and state.size > self.spread.sample:
            return math.nan
        unit = FLOAT_UNIT if is_float(self.argument) else 10 ** getattr(self.argument, "scale", 0)
        return self.spread.finish(state.size, state.total, state.squares, unit * unit)


Kept = tuple[Row, ...]
"""Rows in the order of their keys."""


@dataclass(frozen=True, slots=True)
class Greatest:
    """The `limit` rows of the greatest keys, or of the least; the key of a value is its own where `by_value`.

    Rows of equal keys have equal values: a key holds all that a row's values are made of.
    """

    limit: int = 1
    least: bool = False
    by_value: bool = False
    skips_nulls: bool = False
    many: bool = False
    descending: bool = False
    zero: Kept = ()

    def add(self, state: Kept, row: Row) -> Kept:
        if row.value is None and self.skips_nulls:
            return state
        value = canonical(row.value)
        return self.merge(state, (Row(value, order_key((value,)) if self.by_value else row.key),))

    def merge(self, left: Kept, right: Kept) -> Kept:
        rows = sorted((*left, *right), key=lambda row: row.key)
        return tuple(rows[: self.limit] if self.least else rows[-self.limit :])

    def finish(self, state: Kept) -> Any:
        if not state:
            return None
        values = tuple(row.value for row in state)
        if not self.many:
            return values[0]
        return values[::-1] if self.descending else values


@dataclass(frozen=True, slots=True)
class Distinct:
    """The number of distinct values, all of which it keeps."""

    zero: frozenset[Key] = frozenset()

    def add(self, state: frozenset[Key], row: Row) -> frozenset[Key]:
        return state if row.value is None else state | {order_key((row.value,))}

    def merge(self, left: frozenset[Key], right: frozenset[Key]) -> frozenset[Key]:
        return left | right

    def finish(self, state: frozenset[Key]) -> int:
        return len(state)


@dataclass(frozen=True, slots=True)
class Sketch:
    """HyperLogLog++ of 64-bit hashes (`xxhash64`): the largest rank of each register, a byte each."""

    precision: int

    @property
    def zero(self) -> bytes:
        return bytes(1 << self.precision)

    def add(self, state: bytes, row: Row) -> bytes:
        if row.value is None:
            return state
        register, rank = register_and_rank(row.value, self.precision)
        if rank <= state[register]:
            return state
        return state[:register] + bytes((rank,)) + state[register + 1 :]

    def merge(self, left: bytes, right: bytes) -> bytes:
        return bytes(map(max, left, right))

    def finish(self, state: bytes) -> int:
        return estimate(self.precision, [state.count(rank) for rank in range(HASH_BITS)])


def aggregation(
    function: str, argument: DataType | None, result: DataType, parameter: int | None = None
) -> Aggregation[Any]:
    """Return the partial form of a slot's function; `parameter` is its limit or its precision.

    >>> total = aggregation("sum", Decimal(10, 2), Decimal(20, 2))
    >>> total.finish(total.merge(*(total.add(total.zero, Row(PyDecimal(text))) for text in ("0.10", "0.20"))))
    Decimal('0.30')
    """
    if function == "count" or argument is None:
        return Count(rows=argument is None)
    if function in SPREADS:
        return Deviation(argument, squared=True, spread=SPREADS[function])
    if function in ("sum", "avg"):
        return Total(argument, finish_number=finish_total(result, argument, average=function == "avg"))
    match function:
        case "min" | "max":
            return Greatest(least=function == "min", by_value=True, skips_nulls=True)
        case "min_by" | "max_by":
            return Greatest(least=function == "min_by")
        case "top_k":
            return Greatest(limit=parameter or 1, by_value=True, skips_nulls=True, many=True, descending=True)
        case "collect_last":
            return Greatest(limit=parameter or 1, skips_nulls=True, many=True)
        case "count_distinct":
            return Distinct()
        case "approx_count_distinct":
            assert parameter is not None
            return Sketch(parameter)
        case _:
            raise AssertionError(f"{function} is no slot's function")
