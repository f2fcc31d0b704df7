"""Small worlds for tests: rows in a Parquet file, definitions in Python, and the offline rows that come of them."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal as PyDecimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from featurekit.arrow_types import to_arrow
from featurekit.compiled import CompiledRepository, CompiledView
from featurekit.compiler import compile_repository
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import Feature, FeatureView
from featurekit.definitions.on_demand import OnDemandFeatureView
from featurekit.definitions.repo import check_repository
from featurekit.definitions.repository import Repository
from featurekit.definitions.service import FeatureService
from featurekit.definitions.source import Source
from featurekit.offline.as_of import as_of_rows, at_instants, known_entities
from featurekit.offline.materialize import materialized_frame
from featurekit.offline.session import SparkEngine
from featurekit.types import DataType, Schema
from featurekit.types import Field as SchemaField


def write_rows(path: Path, columns: Mapping[str, DataType], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows, as `types` holds values, as a Parquet file of the given types."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = list(rows)
    arrays = [
        pa.array([row[name] for row in rows], _plain(kind)).cast(to_arrow(kind)) for name, kind in columns.items()
    ]
    pq.write_table(pa.table(arrays, names=list(columns)), path, row_group_size=64)


def _plain(kind: DataType) -> pa.DataType:
    arrow = to_arrow(kind)
    return pa.int64() if pa.types.is_timestamp(arrow) else pa.int32() if pa.types.is_date(arrow) else arrow


def compiled(
    base: Path,
    *,
    entities: Sequence[Entity],
    sources: Sequence[Source],
    views: Sequence[FeatureView],
    on_demand: Sequence[OnDemandFeatureView] = (),
    services: Sequence[FeatureService] = (),
) -> CompiledRepository:
    repository = Repository(
        entities={part.name: part for part in entities},
        sources={part.name: part for part in sources},
        feature_views={part.name: part for part in views},
        on_demand_feature_views={part.name: part for part in on_demand},
        feature_services={part.name: part for part in services},
    )
    return compile_repository(check_repository(repository), base)


def features(**definitions: Any) -> tuple[Feature, ...]:
    """Return features from `name={"sql": …, "window": …}`."""
    return tuple(Feature(name=name, **definition) for name, definition in definitions.items())


def python_rows(table: pa.Table) -> list[dict[str, Any]]:
    """Return a table's rows with values as `types` holds them: timestamps and dates are ints."""
    arrays = {}
    for name in table.column_names:
        column = table[name]
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.int64())
        elif pa.types.is_date(column.type):
            column = column.cast(pa.int32())
        arrays[name] = column.to_pylist()
    return [dict(zip(arrays, row, strict=True)) for row in zip(*arrays.values(), strict=True)]


def bits(value: Any) -> Any:
    """Return a form of a value that is equal only for equal bits: 0.0 is not -0.0, and NaN is itself."""
    if isinstance(value, float):
        return ("float", struct.pack("<d", value))
    if isinstance(value, PyDecimal):
        return ("decimal", value.as_tuple())
    return (type(value).__name__, value)


def materialized(engine: SparkEngine, view: CompiledView, as_of: int) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Return what `materialize` makes of a view, by key."""
    return _by_key(view, python_rows(engine.to_arrow(materialized_frame(engine, view, as_of))))


def swept(
    engine: SparkEngine, view: CompiledView, instants: Sequence[int]
) -> dict[int, dict[tuple[Any, ...], dict[str, Any]]]:
    """Return what the point-in-time path makes of every entity at every instant, found ones by as-of and key."""
    requests = at_instants(engine, known_entities(engine, view), tuple(instants))
    rows = python_rows(engine.to_arrow(as_of_rows(engine, view, requests)))
    assert len(rows) == len({(row["as_of"], *(bits(row[key.name]) for key in view.keys)) for row in rows})
    found: dict[int, list[dict[str, Any]]] = {at: [] for at in instants}
    for row in rows:
        at = row.pop("as_of")
        if row.pop("found"):
            found[at].append(row)
    return {at: _by_key(view, group) for at, group in found.items()}


def _by_key(view: CompiledView, rows: list[dict[str, Any]]) -> dict[tuple[Any, ...], dict[str, Any]]:
    found = {tuple(row.pop(key.name) for key in view.keys): row for row in rows}
    assert len(found) == len(rows)
    return found


def schema(**columns: DataType) -> Schema:
    return Schema(tuple(SchemaField(name, kind) for name, kind in columns.items()))
