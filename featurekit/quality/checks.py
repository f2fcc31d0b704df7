"""One feature's expectation, made ready to be counted over Arrow columns: bounds and members of its exact type."""

from __future__ import annotations

import decimal
import math
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from featurekit.compiled import CompiledFeature, CompiledView
from featurekit.defaults import typed_default
from featurekit.definitions.expectation import whole
from featurekit.errors import SourceError
from featurekit.rows import STATUS_PREFIX
from featurekit.status import Status
from featurekit.types import DataType, Decimal, Float32, Float64, integer_range, is_integer


class Kind(StrEnum):
    """What an expectation can ask of a value; each is counted on its own."""

    BETWEEN = "between"
    NOT_NULL = "not_null"
    IN_SET = "in_set"
    MATCHES = "matches"
    LENGTH = "length"
    MAX_NULL_SHARE = "max_null_share"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The values allowed, both ends included, as values of the column's own type."""

    low: Any
    high: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureCheck:
    """What is counted for one feature: plain values only, so that it travels to executors."""

    feature: str
    has_status: bool
    bounds: Bounds | None
    members: tuple[Any, ...] | None
    not_null: bool
    max_null_share: float | None
    pattern: str | None = None
    lengths: tuple[int, int] | None = None
    mostly: float | None = None

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The expectations declared, in the order of `Kind`."""
        return tuple(self._kinds())

    def _kinds(self) -> Iterator[Kind]:
        if self.bounds is not None:
            yield Kind.BETWEEN
        if self.not_null:
            yield Kind.NOT_NULL
        if self.members is not None:
            yield Kind.IN_SET
        if self.pattern is not None:
            yield Kind.MATCHES
        if self.lengths is not None:
            yield Kind.LENGTH
        if self.max_null_share is not None:
            yield Kind.MAX_NULL_SHARE

    def nulls_and_violations(self, batch: pa.RecordBatch) -> tuple[int, dict[Kind, int]]:
        """Return how many values are null, and how many break each expectation; a missing column is a SourceError.

        A latest feature that is MISSING or EXPIRED counts as null: whatever is under it, nobody is served it. Nulls
        break `not_null` and `max_null_share` alone; NaN breaks `between`, and `in_set` unless the set names it.
        """
        values = self.served(batch)
        violations: dict[Kind, int] = {}
        if self.bounds is not None:
            low, high = (pa.scalar(bound, values.type) for bound in (self.bounds.low, self.bounds.high))
            # Asked as "not within": NaN is neither below nor above, and it is not within.
            violations[Kind.BETWEEN] = _false(pc.and_(pc.greater_equal(values, low), pc.less_equal(values, high)))
        if self.not_null:
            violations[Kind.NOT_NULL] = values.null_count
        if self.members is not None:
            violations[Kind.IN_SET] = _not_in(values, self.members)
        if self.pattern is not None:
            violations[Kind.MATCHES] = _not_matching(values, self.pattern)
        if self.lengths is not None:
            sizes, (least, most) = pc.utf8_length(values), self.lengths
            violations[Kind.LENGTH] = _false(pc.and_(pc.greater_equal(sizes, least), pc.less_equal(sizes, most)))
        return values.null_count, violations

    def served(self, batch: pa.RecordBatch | pa.Table) -> pa.Array | pa.ChunkedArray:
        """Return the feature's values as they would be served: MISSING and EXPIRED are null, defaults not applied."""
        values = _column(batch, self.feature)
        if not self.has_status:
            return values
        status = _column(batch, STATUS_PREFIX + self.feature)
        gone = pc.greater_equal(status, pa.scalar(int(Status.MISSING), status.type))
        return pc.if_else(gone, pa.scalar(None, values.type), values)


def feature_checks(view: CompiledView) -> tuple[FeatureCheck, ...]:
    """Return what has to be counted for the view's expectations, in the order of its features."""
    return tuple(feature_check(feature) for feature in view.features if feature.expectation is not None)


def feature_check(feature: CompiledFeature) -> FeatureCheck:
    """Return what has to be counted for a feature that declares an expectation."""
    expectation = feature.expectation
    assert expectation is not None
    return FeatureCheck(
        feature=feature.name,
        has_status=feature.is_latest,
        bounds=typed_bounds(*expectation.between, feature.type) if expectation.between is not None else None,
        members=(
            tuple(typed_default(value, feature.type) for value in expectation.in_set)
            if expectation.in_set is not None
            else None
        ),
        not_null=bool(expectation.not_null),
        max_null_share=expectation.max_null_share,
        pattern=expectation.matches,
        lengths=expectation.length,
        mostly=expectation.mostly,
    )


def typed_bounds(low: float, high: float, kind: DataType) -> Bounds:
    """Return the written bounds as values of the type: exactly the type's values within them are within the result.

    Comparing in the column's type matters: as doubles, 2^53 + 1 would equal 2^53. Float32 bounds are the nearest
    float32, so that 0.1 as a float32 is within [0, 0.1], as it is for whoever wrote it.

    >>> from featurekit.types import Int32
    >>> typed_bounds(0.5, 9.5, Int32())
    Bounds(low=1, high=9)
    """
    if is_integer(kind):
        smallest, largest = integer_range(kind)
        return _clamped(math.ceil(low), math.floor(high), smallest, largest)
    if isinstance(kind, Decimal):
        return _decimal_bounds(low, high, kind)
    if isinstance(kind, Float32):
        return Bounds(low=_to_float32(low), high=_to_float32(high))
    assert isinstance(kind, Float64), "the compiler refuses `between` for what is not a number"
    return Bounds(low=float(low), high=float(high))


def _decimal_bounds(low: float, high: float, kind: Decimal) -> Bounds:
    step = decimal.Decimal(1).scaleb(-kind.scale)
    # Bounds may have some 300 digits more than any decimal type, and the digits meant are those that were written.
    with decimal.localcontext(prec=400):
        largest = (decimal.Decimal(10) ** kind.precision - 1) * step
        inner_low = decimal.Decimal(repr(low)).quantize(step, rounding=decimal.ROUND_CEILING)
        inner_high = decimal.Decimal(repr(high)).quantize(step, rounding=decimal.ROUND_FLOOR)
        return _clamped(inner_low, inner_high, -largest, largest)


def _clamped(low: Any, high: Any, smallest: Any, largest: Any) -> Bounds:
    if low > largest or high < smallest or low > high:
        return Bounds(low=largest, high=smallest)  # nothing is both: no value of the type is within what was written
    return Bounds(low=max(low, smallest), high=min(high, largest))


def _to_float32(bound: float) -> float:
    try:
        return float(struct.unpack("<f", struct.pack("<f", bound))[0])
    except OverflowError:
        return math.copysign(math.inf, bound)


def _not_in(values: pa.Array, members: tuple[Any, ...]) -> int:
    if pa.types.is_floating(values.type):
        values = pc.add(values, pa.scalar(0.0, values.type))  # -0.0 equals 0.0 but hashes apart from it
        members = tuple(member + 0.0 for member in members)
    found = pc.is_in(values, value_set=pa.array(members, values.type), skip_nulls=True)
    return _false(pc.if_else(pc.is_null(values), pa.scalar(None, pa.bool_()), found))


def _not_matching(values: pa.Array, pattern: str) -> int:
    """Return how many texts the pattern does not match as a whole; each different text is looked at once."""
    matches = re.compile(whole(pattern)).match
    counts = pc.value_counts(values.drop_null())
    return sum(
        count for text, count in zip(*map(pa.Array.to_pylist, counts.flatten()), strict=True) if not matches(text)
    )


def _false(flags: pa.Array) -> int:
    """Return how many are false; nulls are neither."""
    true: int = pc.sum(flags).as_py() or 0
    false: int = len(flags) - flags.null_count - true
    return false


def _column(batch: pa.RecordBatch | pa.Table, name: str) -> pa.Array | pa.ChunkedArray:
    position = batch.schema.get_field_index(name)
    if position < 0:
        raise SourceError(
            f"the rows have no column {name!r}, which an expectation is about",
            why="an expectation that finds nothing to check must not pass",
            try_=f"the columns are {', '.join(batch.schema.names)}",
        )
    return batch.column(position)
