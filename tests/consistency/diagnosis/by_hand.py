"""Source rows by hand, and what a view says of them with something changed: no engine, no file but for the schema."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from featurekit.arrow_types import held_values, to_arrow
from featurekit.clock import DAY, HOUR, parse_instant
from featurekit.compiled import CompiledView
from featurekit.consistency.cells import Answers, FieldSpec
from featurekit.consistency.diagnosis.source_rows import SourceRows, with_places
from featurekit.consistency.diagnosis.worlds import Recomputation
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.source import Source
from featurekit.lookup_plan import plan_fields
from featurekit.offline.source import key_names
from featurekit.types import DataType, Float64, Int64, String, Timestamp
from tests.offline.worlds import compiled, features, write_rows

AS_OF = parse_instant("2026-03-10T00:00Z")
MINUTE_LATE = 60_000_000
COLUMNS: dict[str, DataType] = {
    "who": String(),
    "at": Timestamp(),
    "landed": Timestamp(),
    "id": Int64(),
    "amount": Float64(),
    "items": Int64(),
    "kind": String(),
}

Row = dict[str, Any]


def row(who: str | None, before: int, *, landed: int | None = None, **values: Any) -> Row:
    """Return a row that happened so long before the as-of, and landed a minute later unless `landed` is given."""
    at = AS_OF - before
    empty = {"id": None, "amount": None, "items": None, "kind": None}
    return {**empty, "who": who, "at": at, "landed": at + MINUTE_LATE if landed is None else AS_OF + landed, **values}


def view_of(
    base: Path, *, source: dict[str, Any] | None = None, view: dict[str, Any] | None = None, **of: Any
) -> CompiledView:
    """Return a daily view over the columns, served two hours later, with features from `name={"sql": …}`."""
    write_rows(base / "rows.parquet", COLUMNS, [])
    declared: dict[str, Any] = {"event_timestamp": "at", "created_timestamp": "landed"} | (source or {})
    declared_view: dict[str, Any] = {"refresh": Refresh(every=DAY), "availability_delay": 2 * HOUR} | (view or {})
    return compiled(
        base,
        entities=[Entity(name="person", join_keys={"who": String()})],
        sources=[Source(name="rows", path="rows.parquet", **declared)],
        views=[
            FeatureView(
                name="spend",
                entity="person",
                source="rows",
                **declared_view,
                features=features(**of),
            )
        ],
    ).views["spend"]


def source_rows(view: CompiledView, rows: Sequence[Row]) -> SourceRows:
    """Return rows as `fetch_rows` has them."""
    columns = {
        label: array_of(key.type, [each[key.source_column] for each in rows])
        for label, key in zip(key_names(view), view.keys, strict=True)
    }
    columns["$event"] = pa.array([each["at"] for each in rows], pa.int64())
    landed = view.source.created_timestamp or "at"
    columns["$created"] = pa.array([each[landed] for each in rows], pa.int64())
    if view.source.event_id is not None:
        columns["$id"] = pa.array([each["id"] for each in rows], pa.int64())
    columns |= {name: array_of(kind, [each[name] for each in rows]) for name, kind in COLUMNS.items()}
    return SourceRows(table=with_places(pa.table(columns)), whole=np.ones(1, np.bool_), since=None, means={})


def fields_of(view: CompiledView) -> tuple[FieldSpec, ...]:
    return tuple(
        FieldSpec(name=each.name, type=each.type, is_latest=each.is_latest, default=each.default, empty=each.empty)
        for each in plan_fields(view)
    )


def recomputation(view: CompiledView, rows: Sequence[Row], *who: str, as_of: int = AS_OF) -> Recomputation:
    """Return the recomputation of some people, all as of one instant."""
    people = [(each,) for each in who or ("a",)]
    return Recomputation(view, fields_of(view), source_rows(view, rows), people, np.full(len(people), as_of, np.int64))


def values(answers: Answers, field: str) -> list[Any]:
    """Return a field's values, as `types` holds them."""
    return held_values(answers.fields[field].values)


def array_of(kind: DataType, held: list[Any]) -> pa.Array:
    """Return values, held as `types` says, as a column."""
    arrow = to_arrow(kind)
    plain = pa.int64() if pa.types.is_timestamp(arrow) else pa.int32() if pa.types.is_date(arrow) else arrow
    return pa.array(held, plain).cast(arrow)
