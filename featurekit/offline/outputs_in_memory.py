"""A service's outputs over label rows that have their slots, computed here: what the SQL of `point_in_time` says.

For services of plain features, with vector kernels for all that they compute. On-demand features are Spark SQL's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from featurekit.arrow_types import for_arrow, to_arrow
from featurekit.compiled import CompiledFeature, CompiledService, CompiledView
from featurekit.expr.nodes import Column
from featurekit.offline.arrow_columns import one_nan
from featurekit.targets.arrow import compile_batch
from featurekit.targets.vectors.evaluate import is_vectorised
from featurekit.types import Boolean, DataType, is_nested

Name = Callable[[str], str]


def is_computed_here(service: CompiledService, views: Mapping[str, CompiledView]) -> bool:
    """Return whether all outputs can be computed here; `views` are the service's, with the features it needs."""
    features = [feature for view in views.values() for feature in view.features]
    return not service.on_demand and all(map(is_feature_computed_here, features))


def is_feature_computed_here(feature: CompiledFeature) -> bool:
    """Return whether vector kernels compute all of a feature."""
    return not is_nested(feature.type) and is_vectorised(feature.expression)


def features_in_memory(
    joined: pa.Table, view: CompiledView, *, slot: Name, last: str, as_of: str
) -> dict[str, pa.Array]:
    """Return a view's features by name, defaults applied; `slot` says what its slots are called in the rows."""
    inputs = [Column(name=part.name, type=part.type, nullable=part.nullable) for part in view.slots]
    columns = [_whole(joined[slot(part.name)]) for part in view.slots]
    names = [part.name for part in view.slots]
    values: list[pa.Array] = []
    if inputs:
        batch = pa.record_batch(columns, names)
        values = compile_batch([feature.expression for feature in view.features], inputs)(batch)
    ages = age(joined, last=last, as_of=as_of)
    found = {}
    for feature, value in zip(view.features, values, strict=True):
        value = one_nan(value)
        if feature.is_latest and feature.ttl is not None:
            kept = pc.fill_null(pc.less_equal(ages, feature.ttl), False)
            value = pc.if_else(kept, value, pa.scalar(None, value.type))
        found[feature.name] = _defaulted(value, feature.default, feature.type)
    return found


def age(joined: pa.Table, *, last: str, as_of: str) -> pa.Array:
    """Return how old the newest visible row is, in microseconds; NULL where there is none."""
    return pc.subtract(_whole(joined[as_of]), _whole(joined[last]).cast(pa.int64()))


def found_and_expired(
    joined: pa.Table, features: tuple[CompiledFeature, ...], *, last: str, as_of: str
) -> tuple[pa.Array, dict[str, pa.Array]]:
    """Return whether there is a visible row, and of latest features whether it is EXPIRED."""
    ages = age(joined, last=last, as_of=as_of)
    expired = {
        feature.name: pc.fill_null(pc.and_(pc.greater(ages, feature.ttl), pc.less_equal(ages, 2 * feature.ttl)), False)
        for feature in features
        if feature.is_latest and feature.ttl is not None
    }
    return ages.is_valid(), expired


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _defaulted(value: pa.Array, default: Any, kind: DataType) -> pa.Array:
    if default is None:
        return value
    held = bool(default) if isinstance(kind, Boolean) else for_arrow(default, kind)
    form = to_arrow(kind)
    stored = pa.array([held], pa.int64()).cast(form) if pa.types.is_timestamp(form) else pa.array([held], form)
    return pc.coalesce(value, stored[0])
