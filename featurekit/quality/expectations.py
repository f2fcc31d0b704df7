"""A view's `expect:` as a Great Expectations suite, and offline rows validated with it.

The gate counts the same expectations on executors as rows are written; this asks an engine that knows nothing of the
gate, on a table that fits into memory: to look at a sample in detail, and to hold the gate to its meaning.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, assert_never

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

with warnings.catch_warnings():
    # Great Expectations imports what it may need, pyspark too, and that warns about the versions of others.
    warnings.simplefilter("ignore")
    import great_expectations as gx
    from great_expectations.core import ExpectationValidationResult
    from great_expectations.data_context.types.base import ProgressBarsConfig
    from great_expectations.datasource.fluent.interfaces import Batch
    from great_expectations.expectations.core.expect_column_value_lengths_to_be_between import (
        ExpectColumnValueLengthsToBeBetween,
    )
    from great_expectations.expectations.core.expect_column_values_to_be_between import ExpectColumnValuesToBeBetween
    from great_expectations.expectations.core.expect_column_values_to_be_in_set import ExpectColumnValuesToBeInSet
    from great_expectations.expectations.core.expect_column_values_to_match_regex import ExpectColumnValuesToMatchRegex
    from great_expectations.expectations.core.expect_column_values_to_not_be_null import ExpectColumnValuesToNotBeNull
    from great_expectations.expectations.expectation import Expectation

from featurekit.compiled import CompiledFeature, CompiledView
from featurekit.definitions.expectation import whole
from featurekit.errors import FeaturekitError
from featurekit.quality.checks import FeatureCheck, Kind, feature_check, feature_checks
from featurekit.types import Float32

_NAME: Final = "rows"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectationResult:
    """One expectation's result: `broken` of `rows` rows break it, and some of the values that do."""

    feature: str
    kind: Kind
    passed: bool
    broken: int
    rows: int
    examples: tuple[Any, ...]

    @property
    def key(self) -> tuple[str, Kind]:
        return self.feature, self.kind


def expectation_suite(view: CompiledView) -> gx.ExpectationSuite:
    """Return the view's expectations as a suite named after it; `meta` of each names its feature and kind."""
    # All at once: a suite that is added to one by one looks for itself in a data context.
    return gx.ExpectationSuite(name=view.name, expectations=list(_expectations(view)))


def validate_rows(view: CompiledView, table: pa.Table) -> tuple[ExpectationResult, ...]:
    """Return what Great Expectations says of offline rows, one result per expectation, in the order of the features.

    A column that is not there is a SourceError. Nothing is written, and nothing is sent anywhere. Bounds are doubles
    there, and decimals are compared as doubles; the gate compares both exactly.
    """
    return validate_values(view, {check.feature: check.served(table) for check in feature_checks(view)})


def validate_values(
    view: CompiledView, values: Mapping[str, pa.Array | pa.ChunkedArray]
) -> tuple[ExpectationResult, ...]:
    """Return what Great Expectations says of values a feature, as `validate_rows` does; what is not served is null."""
    suite = expectation_suite(view)
    if not suite.expectations:
        return ()
    checks = feature_checks(view)
    frame = pd.DataFrame({check.feature: _for_pandas(values[check.feature]) for check in checks})
    with warnings.catch_warnings():
        # pandas warns of every pattern with groups.
        warnings.filterwarnings("ignore", "This pattern is interpreted as a regular expression", UserWarning)
        results = _batch(frame).validate(suite).results
    found = {result.key: result for result in map(_result, results)}
    return tuple(found[check.feature, kind] for check in checks for kind in check.kinds)


def _expectations(view: CompiledView) -> Iterator[Expectation]:
    for feature in view.features:
        if feature.expectation is not None:
            check = feature_check(feature)
            for kind in check.kinds:
                yield _expectation(feature, check, kind)


def _batch(frame: pd.DataFrame) -> Batch:
    context = gx.get_context(mode="ephemeral")
    context.enable_analytics(enable=False)
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    asset = context.data_sources.add_pandas(_NAME).add_dataframe_asset(_NAME)
    return asset.add_batch_definition_whole_dataframe(_NAME).get_batch(batch_parameters={"dataframe": frame})


def _expectation(feature: CompiledFeature, check: FeatureCheck, kind: Kind) -> Expectation:
    name, meta = feature.name, {"feature": feature.name, "kind": kind.value}
    # A hair less than what was written: the share is computed in floats, and the gate's is exact.
    mostly = 1.0 if check.mostly is None else math.nextafter(check.mostly, 0)
    match kind:
        case Kind.BETWEEN:
            low, high = _bounds(feature, check)
            return ExpectColumnValuesToBeBetween(column=name, min_value=low, max_value=high, mostly=mostly, meta=meta)
        case Kind.NOT_NULL:
            return ExpectColumnValuesToNotBeNull(column=name, meta=meta)
        case Kind.IN_SET:
            assert check.members is not None
            members = [float(each) if isinstance(each, Decimal) else each for each in check.members]
            return ExpectColumnValuesToBeInSet(column=name, value_set=members, mostly=mostly, meta=meta)
        case Kind.MATCHES:
            assert check.pattern is not None
            pattern = whole(check.pattern)  # it searches
            return ExpectColumnValuesToMatchRegex(column=name, regex=pattern, mostly=mostly, meta=meta)
        case Kind.LENGTH:
            assert check.lengths is not None
            least, most = check.lengths
            return ExpectColumnValueLengthsToBeBetween(
                column=name, min_value=least, max_value=most, mostly=mostly, meta=meta
            )
        case Kind.MAX_NULL_SHARE:
            assert check.max_null_share is not None
            # 1 - 0.7 is a little more than 0.3, and 7 nulls of 10 would be too many: a hair less asks what was meant.
            there = max(0.0, math.nextafter(1 - check.max_null_share, 0))
            return ExpectColumnValuesToNotBeNull(column=name, mostly=there, meta=meta)
        case _:
            assert_never(kind)


def _bounds(feature: CompiledFeature, check: FeatureCheck) -> tuple[float, float]:
    assert feature.expectation is not None
    assert feature.expectation.between is not None
    assert check.bounds is not None
    # A float32 is compared as the double it widens to, so its bounds have to be float32 values too.
    return (check.bounds.low, check.bounds.high) if feature.type == Float32() else feature.expectation.between


def _for_pandas(values: pa.ChunkedArray) -> pd.Series:
    """Return a column in which null is not NaN and integers stay integers."""
    if pa.types.is_decimal(values.type):
        values = values.cast(pa.float64())
    if pa.types.is_floating(values.type):
        values = pc.add(values, pa.scalar(0.0, values.type))  # -0.0 is 0.0, in a set as elsewhere
        return values.to_pandas(types_mapper=pd.ArrowDtype)
    # As Python objects: compared with a double they compare exactly, as int64 they would be rounded to one.
    return pd.Series(values.to_pylist(), dtype=object)


def _result(result: ExpectationValidationResult) -> ExpectationResult:
    assert result.expectation_config is not None
    meta, counts = result.expectation_config.meta, result.result
    assert meta is not None
    if "unexpected_count" not in counts:
        # Columns and bounds are of one type, so it raised by a defect, ours or its own: no verdict on the rows.
        what = f"Great Expectations could not check {meta['kind']} of {meta['feature']}"
        raise FeaturekitError(what, why=str(result.exception_info))
    return ExpectationResult(
        feature=meta["feature"],
        kind=Kind(meta["kind"]),
        passed=bool(result.success),
        broken=counts["unexpected_count"],
        rows=counts["element_count"],
        examples=tuple(counts.get("partial_unexpected_list", ())),
    )
