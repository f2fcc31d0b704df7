"""The recomputed side: what the training path says of some entities, at any as-of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from featurekit.arrow_types import for_arrow, to_arrow
from featurekit.clock import Instant
from featurekit.compiled import CompiledView
from featurekit.consistency.cells import Answers, Cells, Codes, FieldSpec, Flags
from featurekit.consistency.entity_keys import key_table
from featurekit.consistency.population import view_keys
from featurekit.lookup_plan import plan_fields
from featurekit.offline.as_of import FOUND, Span, as_of_rows
from featurekit.offline.engine import BatchEngine
from featurekit.online.arrow_keys import encode_key_columns
from featurekit.rows import STATUS_PREFIX
from featurekit.status import Status
from featurekit.types import Field, Schema, Timestamp

_AS_OF: Final = "as_of"


def recompute_rows(
    engine: BatchEngine, view: CompiledView, entities: Sequence[Sequence[Any]], as_ofs: Sequence[Instant]
) -> pa.Table:
    """Return the view's row of each entity as of the instant beside it, in their order, by the point-in-time path.

    `entities` are join-key values, held as `types` says and none of them NULL. The columns are those of
    `rows.offline_schema`, then `as_of` and `found`.
    """
    instants = pa.array(list(as_ofs), to_arrow(Timestamp()))
    keys = key_table([tuple(entity) for entity in entities], view_keys(view))
    return recompute_requests(engine, view, keys.append_column(_AS_OF, instants))


def recompute_requests(engine: BatchEngine, view: CompiledView, requests: pa.Table) -> pa.Table:
    """Return the same for a table of the view's join keys and `as_of`: a row for each of its rows, in its order.

    Where a key is NULL there is no entity, and all of the row but `found` is NULL.
    """
    keys = view_keys(view)
    schema = Schema((*keys, Field(_AS_OF, Timestamp(), nullable=False)))
    # A query of one row, which becomes the requests where it runs: they need not be spelled out as SQL.
    # Held, so that they are few enough to send to where the events are: those of nobody asked about go unsorted.
    frame, _ = engine.held(engine.map_batches(engine.query("SELECT 1 AS one"), InPlace(table=requests), schema))
    as_ofs = _numpy(requests.column(_AS_OF).cast(pa.int64()))
    span = Span(int(as_ofs.min()), int(as_ofs.max())) if len(as_ofs) else Span(0, 0)
    rows = engine.to_arrow(as_of_rows(engine, view, frame, between=span, labelled=True))
    place = {request: position for position, request in enumerate(_requests(rows, keys))}
    asked = [None if request[0] is None else place[request] for request in _requests(requests, keys)]
    found = rows.take(pa.array(asked, pa.int64()))
    has_row = pc.fill_null(found.column(FOUND), False)
    return found.set_column(found.schema.get_field_index(FOUND), FOUND, has_row)


def recompute_answers(
    engine: BatchEngine,
    view: CompiledView,
    fields: Sequence[FieldSpec],
    entities: Sequence[Sequence[Any]],
    as_of: Instant,
) -> Answers:
    """Return what lookups of the entities should be answered from the refresh as of an instant, defaults applied."""
    rows = recompute_rows(engine, view, entities, [as_of] * len(entities))
    found: Flags = _numpy(rows.column(FOUND)).astype(np.bool_)
    return Answers(found=found, fields={spec.name: cells_of(rows, spec, found) for spec in fields})


def field_specs(view: CompiledView, ulps: Mapping[str, int]) -> tuple[FieldSpec, ...]:
    """Return the view's fields as they are compared."""
    return tuple(
        FieldSpec(
            name=field.name,
            type=field.type,
            is_latest=field.is_latest,
            default=field.default,
            empty=field.empty,
            ulps=ulps.get(f"{view.name}.{field.name}", 0),
        )
        for field in plan_fields(view)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class InPlace:
    """Puts a table in place of a single row."""

    table: pa.Table

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.num_rows:
                yield from self.table.to_batches()


def _requests(table: pa.Table, keys: Sequence[Field]) -> Iterator[tuple[bytes | None, Instant]]:
    """Yield each row's entity key text and as-of: what tells one request from another, whatever the types."""
    for batch in table.to_batches():
        instants = batch.column(_AS_OF).cast(pa.int64()).to_pylist()
        yield from zip(encode_key_columns(batch, keys), instants, strict=True)


def cells_of(rows: pa.Table, spec: FieldSpec, found: Flags) -> Cells:
    """Return a field of recomputed rows after its default; where no row was found, what an entity without rows has."""
    values = _whole(rows.column(spec.name), to_arrow(spec.type))
    if not spec.is_latest:
        # Without a row there still is a value: of nothing, a count is 0 and the rest NULL (DESIGN T5).
        values = pc.if_else(pa.array(found), values, pa.scalar(for_arrow(spec.empty, spec.type), values.type))
    statuses = np.where(_numpy(values.is_valid()), np.uint8(Status.PRESENT), np.uint8(Status.NULL))
    if spec.is_latest:
        stored = _numpy(pc.fill_null(rows.column(STATUS_PREFIX + spec.name), 0)).astype(np.uint8)
        statuses = np.where(stored >= Status.MISSING, stored, statuses)
        statuses = np.where(found, statuses, np.uint8(Status.MISSING))
    return _with_default(values, statuses.astype(np.uint8), spec)


def _with_default(values: pa.Array, statuses: Codes, spec: FieldSpec) -> Cells:
    lacking = statuses != Status.PRESENT
    filler = pa.scalar(
        for_arrow(spec.default, spec.type), values.type
    )  # NULL where no default is declared: an expired value is no value
    values = pc.if_else(pa.array(lacking), filler, values)
    if spec.default is not None:
        statuses = np.where(lacking, np.uint8(Status.DEFAULTED), statuses)
    return Cells(values=values, statuses=statuses)


def _whole(column: pa.ChunkedArray, kind: pa.DataType) -> pa.Array:
    return column.combine_chunks().cast(kind)


def _numpy(values: pa.Array | pa.ChunkedArray) -> npt.NDArray[Any]:
    whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    return np.asarray(whole.to_numpy(zero_copy_only=False))
