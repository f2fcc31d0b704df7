"""A view with one feature per expectation, compiled for real, and batches of its offline rows."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from featurekit.arrow_types import to_arrow_schema
from featurekit.clock import DAY
from featurekit.compiled import CompiledView
from featurekit.compiler import compile_view
from featurekit.definitions.entity import Entity
from featurekit.definitions.expectation import RowExpectation
from featurekit.definitions.feature_view import Expectation, Feature, FeatureView, Refresh
from featurekit.definitions.source import Source
from featurekit.errors import FeaturekitError
from featurekit.rows import LAST_EVENT, STATUS_PREFIX, offline_schema
from featurekit.source_schema import SourceSchema
from featurekit.status import Status
from featurekit.types import DataType, Field, Int64, Schema, Timestamp


def view_of(kind: DataType, expectation: Expectation, *, is_latest: bool = False) -> CompiledView:
    """Return a view `small` of entity `thing` (key `id`) with one feature `x` of the type, under the expectation."""
    return small_view({"x": kind}, {"x": expectation}, latest=frozenset({"x"} if is_latest else ()))


def small_view(
    features: dict[str, DataType],
    expectations: dict[str, Expectation],
    *,
    latest: frozenset[str] = frozenset(),
    defaults: dict[str, Any] | None = None,
    min_rows: int | None = None,
) -> CompiledView:
    """Return a view with these features, each `max(column)` of a day, or the latest row's value."""
    fields = (
        Field("id", Int64()),
        Field("at", Timestamp()),
        *(Field(f"{name}_of_row", kind) for name, kind in features.items()),
    )
    source = Source(
        name="rows", sql="SELECT 1", columns={field.name: field.type for field in fields}, event_timestamp="at"
    )
    mistakes: list[FeaturekitError] = []
    compiled = compile_view(
        FeatureView(
            name="small",
            entity="thing",
            source="rows",
            expect=None if min_rows is None else RowExpectation(min_rows=min_rows),
            refresh=Refresh(every=DAY),
            features=tuple(
                Feature(
                    name=name,
                    sql=f"{name}_of_row" if name in latest else f"max({name}_of_row)",
                    window=None if name in latest else DAY,
                    ttl=DAY if name in latest else None,
                    default=(defaults or {}).get(name),
                    expect=expectations.get(name),
                )
                for name in features
            ),
        ),
        Entity(name="thing", join_keys={"id": Int64()}),
        source,
        SourceSchema(schema=Schema(fields), zoned=frozenset({"at"})),
        lambda _, error: mistakes.append(error),
    )
    assert compiled is not None, [str(mistake) for mistake in mistakes]
    return compiled


def rows_of(view: CompiledView, **columns: list[Any]) -> pa.RecordBatch:
    """Return offline rows with these feature values; a latest feature is PRESENT or NULL unless its status is given."""
    schema = to_arrow_schema(offline_schema(view))
    count = len(next(iter(columns.values())))
    plain: dict[str, list[Any]] = {"id": list(range(count)), LAST_EVENT: [0] * count, **columns}
    for feature in view.features:
        if feature.is_latest:
            own = [Status.NULL if value is None else Status.PRESENT for value in columns[feature.name]]
            plain.setdefault(STATUS_PREFIX + feature.name, list(map(int, own)))
    return pa.RecordBatch.from_arrays([pa.array(plain[part.name], part.type) for part in schema], schema=schema)
