"""A training table made elsewhere: its rows' keys and times, and its features in the types that serving gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal as DecimalValue
from decimal import InvalidOperation
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from featurekit.arrow_types import from_arrow, to_arrow
from featurekit.compiled import CompiledService, ServiceOutput
from featurekit.consistency.cells import Flags
from featurekit.definitions.problem import did_you_mean
from featurekit.definitions.source import SourceFormat
from featurekit.errors import InputError, SourceError
from featurekit.offline.engine import BatchEngine
from featurekit.offline.labels import LabelSpec, check_labels, read_labels
from featurekit.offline.sql import Query, Select, call, long, name, render_query
from featurekit.source_files import is_remote, source_files
from featurekit.types import Boolean, DataType, Decimal, Field, Float32, Float64, Schema, integer_range, is_integer
from featurekit.urls import shown_path

Ints = npt.NDArray[np.int64]
MAX_ROWS: Final = 20_000
_TABLE: Final = "featurekit_training_table"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSpec:
    """A table to audit: where it is, its time column, and which of its columns holds which output.

    `columns` names the column of an output, `view.feature`, where it isn't called so. `only` are the outputs to look
    at; empty: all of the service. `ulps` is a tolerance for an output. Of more than `max_rows` rows about so many are
    looked at, chosen by a hash of keys and time.
    """

    path: str
    timestamp: str = "event_timestamp"
    timezone: str | None = None
    format: SourceFormat | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    ulps: Mapping[str, int] = field(default_factory=dict)
    max_rows: int = MAX_ROWS


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFeature:
    """One feature of the table: values in the feature's type, null where the table has none, or one that the type has
    no value for (`is_foreign`, such as 3.7 for an int); `raw` is what the table holds."""

    values: pa.Array
    is_foreign: Flags
    raw: pa.Array


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingTable:
    """The rows that are audited; `inputs` has the service's keys and request values, `at` each row's time."""

    rows: int
    at: Ints
    inputs: pa.Table
    features: Mapping[str, TableFeature]


def audited_service(service: CompiledService, spec: AuditSpec) -> CompiledService:
    """Return the service with the outputs that are audited alone; InputError for names it does not have."""
    outputs = {output.name: output for output in service.outputs}
    for label in (*spec.only, *spec.columns, *spec.ulps):
        if label not in outputs:
            raise InputError(
                f"service {service.name} has no output {label}", where=label, try_=did_you_mean(label, outputs)
            )
    chosen = tuple(outputs[label] for label in dict.fromkeys(spec.only)) or service.outputs
    names = {output.name for output in chosen}
    on_demand = tuple(item for item in service.on_demand if f"{item.view}.{item.name}" in names)
    # Request values are only asked for where something is computed from them.
    request = service.request if on_demand else Schema(())
    return replace(service, outputs=chosen, on_demand=on_demand, request=request)


def read_training_table(engine: BatchEngine, service: CompiledService, spec: AuditSpec) -> TrainingTable:
    """Return the table's rows; SourceError or InputError where a column is missing or of a type that can't be meant."""
    columns = {output.name: spec.columns.get(output.name, output.name) for output in service.outputs}
    types = {columns[output.name]: output.type for output in service.outputs}
    labels = LabelSpec(
        path=spec.path, timestamp=spec.timestamp, timezone=spec.timezone, format=spec.format, columns=types
    )
    frame = read_labels(engine, service, labels)
    present = _physical(engine, spec, [part.name for part in frame.schema.fields])
    where = shown_path(spec.path)
    for output, column in columns.items():
        if column not in present:
            raise SourceError(
                f"the table has no column {column}",
                where=where,
                why=f"it is to be compared with {output}, and what is not there agrees with nothing",
                try_=f"--map COLUMN={output} for a column of another name, --only for some features alone; "
                f"{did_you_mean(column, present) or 'the table has no columns'}",
            )
    rows, table = _rows(engine, {_TABLE: frame}, service, spec, tuple(dict.fromkeys(columns.values())))
    inputs = table.select([*service.keys.names, *service.request.names])
    check_labels(
        service, tuple(_field(part) for part in table.schema if part.name not in columns.values()), spec.timestamp
    )
    at = table.column(spec.timestamp).combine_chunks().cast(pa.int64()).to_numpy()
    features = {
        output.name: _feature(output, columns[output.name], table.column(columns[output.name]).combine_chunks(), where)
        for output in service.outputs
    }
    return TrainingTable(rows=rows, at=at, inputs=inputs, features=features)


def _physical(engine: BatchEngine, spec: AuditSpec, seen: list[str]) -> list[str]:
    """Return the columns that Spark sees and the files have; SourceError where that is not the same.

    Spark believes the schema that it wrote into a file once, also where pyarrow has renamed a column since and kept
    that text: then the old name is still there, and all NULL, and the new one is not.
    """
    if is_remote(spec.path):
        return seen
    files = [file.path for file in source_files(spec.path, engine.root) if file.path.suffix == ".parquet"]
    held = [set(pq.read_schema(file).names) for file in files]
    wanted = (spec.timestamp, *spec.columns.values())
    if hidden := next(
        (column for column in wanted if column not in seen and any(column in names for names in held)), None
    ):
        raise SourceError(
            f"Spark does not see the table's column {hidden}",
            where=shown_path(spec.path),
            why="the file was written by Spark, renamed its columns since, and still carries Spark's schema of then",
            try_="write it without: table.replace_schema_metadata(None) in pyarrow",
        )
    return [column for column in seen if all(column in names for names in held)]


def _rows(
    engine: BatchEngine, frames: Mapping[str, Any], service: CompiledService, spec: AuditSpec, columns: Sequence[str]
) -> tuple[int, pa.Table]:
    """Return how many rows the table has, and those that are looked at."""
    time = name(spec.timestamp)
    counts = (("n", "count(*)"), ("dated", call("count", time)))
    counted = Query(steps=(("counts", Select(columns=counts, source=_TABLE)),))
    (found,) = engine.to_arrow(engine.query(render_query(counted), frames)).to_pylist()
    if not found["n"]:
        raise InputError(
            "the table has no rows", where=shown_path(spec.path), why="nothing was compared, so nothing agrees"
        )
    if missing := found["n"] - found["dated"]:
        raise SourceError(
            f"{missing} of {found['n']} rows have no {spec.timestamp}",
            where=shown_path(spec.path),
            why="what serving would have answered depends on when it was asked",
            try_="leave those rows out, or give them a time",
        )
    needed = dict.fromkeys((*service.keys.names, spec.timestamp, *service.request.names, *columns))
    share = spec.max_rows / found["n"]
    place = call("xxhash64", *map(name, service.keys.names), time)
    where = () if share >= 1 else (f"{place} < {long(int((2 * share - 1) * (1 << 63)))}",)
    step = Select(columns=tuple((label, name(label)) for label in needed), source=_TABLE, where=where)
    return found["n"], engine.to_arrow(engine.query(render_query(Query(steps=(("rows", step),))), frames))


def _field(part: pa.Field) -> Field:
    return Field(part.name, from_arrow(part.type))


def _feature(output: ServiceOutput, column: str, raw: pa.Array, where: str | None) -> TableFeature:
    kind, arrow = output.type, to_arrow(output.type)
    if raw.type == arrow:
        return TableFeature(values=raw, is_foreign=np.zeros(len(raw), np.bool_), raw=raw)
    convert = _conversion(raw.type, kind)
    if convert is None:
        raise SourceError(
            f"the table's column {column} is {raw.type}, and {output.name} is {kind}",
            where=where,
            why="no value of the one is a value of the other",
            try_="--map another column to it, or --only for some features alone",
        )
    made = [None if value is None else convert(value) for value in raw.to_pylist()]
    is_foreign = np.array([value is _FOREIGN for value in made], np.bool_)
    values = pa.array([None if value is _FOREIGN else value for value in made], arrow)
    return TableFeature(values=values, is_foreign=is_foreign, raw=raw)


_FOREIGN: Final = object()


def _conversion(found: pa.DataType, kind: DataType) -> Callable[[Any], Any] | None:
    """Return what makes of a table's value the same one in a feature's type; None where the types have none in common.

    pandas holds whole numbers and booleans as doubles where any is missing, and decimals always.
    """
    is_number = pa.types.is_integer(found) or pa.types.is_floating(found) or pa.types.is_decimal(found)
    if pa.types.is_null(found):
        return lambda _: None
    match kind:
        case Boolean() if is_number:
            return lambda value: None if value != value else {0: False, 1: True}.get(value, _FOREIGN)
        case Float64() if is_number:
            return lambda value: float(value) if value != value or float(value) == value else _FOREIGN
        case Float32() if is_number:
            return lambda value: float(value) if value != value or float(np.float32(value)) == value else _FOREIGN
        case Decimal() if is_number:
            return lambda value: _as_decimal(value, kind)
        case _ if is_integer(kind) and (is_number or pa.types.is_boolean(found)):
            low, high = integer_range(kind)
            return lambda value: _as_integer(value, low, high)
        case _:
            return None


def _as_integer(value: Any, low: int, high: int) -> Any:
    if value != value:  # a NaN is how pandas says that an integer is missing
        return None
    try:
        whole = int(value)
    except OverflowError:
        return _FOREIGN
    return whole if whole == value and low <= whole <= high else _FOREIGN


def _as_decimal(value: Any, kind: Decimal) -> Any:
    if value != value:
        return None
    try:
        number = DecimalValue(repr(value) if isinstance(value, float) else value)
        exact = number.quantize(DecimalValue(1).scaleb(-kind.scale))
    except InvalidOperation:
        return _FOREIGN
    return exact if exact == number and exact.adjusted() < kind.precision - kind.scale else _FOREIGN


def numbers(values: pa.Array) -> npt.NDArray[np.float64]:
    """Return a table's values as doubles, NaN where there is none or it is no number."""
    kind = values.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return np.full(len(values), np.nan)
    return np.asarray(pc.fill_null(values.cast(pa.float64()), np.nan).to_numpy(zero_copy_only=False), np.float64)
