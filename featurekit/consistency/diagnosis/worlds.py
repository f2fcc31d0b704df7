"""Counterfactual worlds: a view's answers for sampled entities with something done differently, in this process.

Source rows, definition, as-ofs and entities are each what they are, or others. What is done with them is the work of
the point-in-time path: its row expressions, its sweep, its features over slots, by the evaluators whose bits are
Spark's. With nothing changed the answers are those of `recompute_answers`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from featurekit.compiled import CompiledFeature, CompiledView, SlotFunction
from featurekit.consistency.cells import Answers, FieldSpec
from featurekit.consistency.diagnosis.source_rows import SourceRows
from featurekit.consistency.diagnosis.visible import source_columns, visible_rows
from featurekit.consistency.entity_keys import key_table
from featurekit.consistency.population import view_keys
from featurekit.consistency.recompute import cells_of
from featurekit.expr import infer
from featurekit.expr.nodes import Column
from featurekit.lookup_plan import plan_fields
from featurekit.offline.arrow_columns import computed, one_nan
from featurekit.offline.as_of import sweep_of
from featurekit.offline.direct_source import event_inputs
from featurekit.offline.in_memory import NOBODY, slots_of_events
from featurekit.offline.join_plan import narrowed
from featurekit.offline.rows_sql import LAST, RowExpressions
from featurekit.offline.source import CREATED, EVENT, SUPERSEDED, key_names
from featurekit.rows import STATUS_PREFIX
from featurekit.status import Status

Ints = npt.NDArray[np.int64]
Entities = Sequence[tuple[Any, ...]]
RowsChange = Callable[[SourceRows], SourceRows | None]
_MOST_KEPT: Final = 4


@dataclass(frozen=True, slots=True)
class _Events:
    """The rows that a definition counts, with all that the sweep reads of them."""

    keys: tuple[pa.Array, ...]
    inputs: pa.Table


class Recomputation:
    """Fields of a view for entities, each as of an instant of its own, as they are and as they would be.

    `entities` are join-key values, held as `types` says, and `as_ofs` the instant beside each. The events of the last
    few worlds are kept: worlds that differ in as-ofs, entities, windows or the like share them.
    """

    def __init__(
        self, view: CompiledView, fields: Sequence[FieldSpec], rows: SourceRows, entities: Entities, as_ofs: Ints
    ) -> None:
        self.view, self.fields, self.rows = view, tuple(fields), rows
        self.entities, self.as_ofs = entities, as_ofs
        self._kept: dict[Hashable, _Events] = {}

    @cached_property
    def base(self) -> Answers:
        """The answers with nothing changed: those of `recompute_answers`."""
        return self._computed(None, self.view, self.as_ofs, self.entities)

    def answers(
        self,
        *,
        rows: RowsChange | None = None,
        view: CompiledView | None = None,
        as_ofs: Ints | None = None,
        entities: Entities | None = None,
    ) -> Answers:
        """Return the answers with source rows changed, by another definition, as of other instants, of other entities.

        A change of rows that returns None changes nothing. Fields that another definition lacks, or has in another
        type, are as they are.
        """
        found = self._computed(
            rows,
            self.view if view is None else view,
            self.as_ofs if as_ofs is None else as_ofs,
            self.entities if entities is None else entities,
        )
        lacking = {spec.name for spec in self.fields} - found.fields.keys()
        fields = {**found.fields, **{name: self.base.fields[name] for name in lacking}}
        return Answers(found=found.found, fields=fields)

    def _computed(self, rows: RowsChange | None, view: CompiledView, as_ofs: Ints, entities: Entities) -> Answers:
        part = narrowed(view, {spec.name for spec in self.fields})
        events = self._events_of(rows, part)
        # What the view as a whole looks back to decides whether an entity has a row.
        sweep = replace(sweep_of(part), reach=view.reach)
        keys = key_table([tuple(entity) for entity in entities], view_keys(view)).combine_chunks()
        asked = [_whole(column) for column in keys.columns]
        slots, places = slots_of_events(part, sweep, (events.keys, events.inputs), asked, as_ofs)
        taken = slots.take(pa.array(places, pa.int64(), mask=places == NOBODY)).combine_chunks()
        found = np.asarray(taken[LAST].is_valid().to_numpy(), np.bool_)
        table = pa.table(_feature_columns(part, taken, as_ofs))
        return Answers(
            found=found, fields={spec.name: cells_of(table, spec, found) for spec in _specs(part, self.fields)}
        )

    def _events_of(self, rows: RowsChange | None, view: CompiledView) -> _Events:
        reads = tuple((slot.function, slot.argument, slot.by, slot.filter) for slot in view.slots)
        which = (rows, view.where, view.columns, view.deleted, reads, view.view.allowed_lateness)
        if which not in self._kept:
            changed = None if rows is None else rows(self.rows)
            events = _events(view, (self.rows if changed is None else changed).table)
            oldest = [*self._kept][: max(len(self._kept) + 1 - _MOST_KEPT, 0)]
            self._kept = {each: kept for each, kept in self._kept.items() if each not in oldest} | {which: events}
        return self._kept[which]


def _specs(view: CompiledView, fields: Sequence[FieldSpec]) -> tuple[FieldSpec, ...]:
    """Return how a definition fills those of the fields that it has: with its own defaults."""
    wanted = {field.name: field for field in fields}
    return tuple(
        replace(wanted[field.name], is_latest=field.is_latest, default=field.default, empty=field.empty)
        for field in plan_fields(view)
        if wanted[field.name].type == field.type
    )


def _events(view: CompiledView, table: pa.Table) -> _Events:
    table = visible_rows(view, table)
    kept = [table[label].is_valid() for label in key_names(view)]
    if view.where is not None:
        kept += computed([view.where], source_columns(view, table), view.columns, table.num_rows)
    table = table.filter(reduce(pc.and_, kept)).combine_chunks()
    columns = source_columns(view, table)
    times = (_whole(table[label]) for label in (EVENT, CREATED, SUPERSEDED))
    inputs = event_inputs(view, columns, *times)
    return _Events(tuple(_whole(table[label]) for label in key_names(view)), _with_hashes(view, inputs))


def _with_hashes(view: CompiledView, inputs: pa.Table) -> pa.Table:
    """Return the inputs with the hashes that approximate counts go by: NULL of NULL."""
    arguments = RowExpressions.of(view).arguments
    for slot, swept in zip(view.slots, sweep_of(view).slots, strict=True):
        if slot.function is not SlotFunction.APPROX_COUNT_DISTINCT or swept.argument in inputs.column_names:
            continue
        assert slot.argument is not None
        column = Column(name=arguments[slot.argument], type=slot.argument.type, nullable=True)
        values = _whole(inputs[column.name])
        (hashes,) = computed([infer.call("xxhash64", column)], {column.name: values}, [column], len(values))
        hashes = pc.if_else(values.is_valid(), hashes, pa.scalar(None, hashes.type))
        inputs = inputs.append_column(swept.argument, hashes)
    return inputs


def _feature_columns(view: CompiledView, slots: pa.Table, as_ofs: Ints) -> dict[str, pa.Array]:
    """Return what `as_of_rows` has of the view's features: values before defaults, statuses of latest ones."""
    inputs = [Column(name=part.name, type=part.type, nullable=part.nullable) for part in view.slots]
    columns = {part.name: _whole(slots[part.name]) for part in view.slots}
    values = computed([feature.expression for feature in view.features], columns, inputs, slots.num_rows)
    ages = pc.subtract(pa.array(as_ofs, pa.int64()), _whole(slots[LAST]).cast(pa.int64()))
    found: dict[str, pa.Array] = {}
    for feature, value in zip(view.features, map(one_nan, values), strict=True):
        found[feature.name] = value
        if feature.is_latest:
            found[STATUS_PREFIX + feature.name] = _statuses(feature, value, ages)
            if feature.ttl is not None:
                fresh = pc.fill_null(pc.less_equal(ages, feature.ttl), False)
                found[feature.name] = pc.if_else(fresh, value, pa.scalar(None, value.type))
    return found


def _statuses(feature: CompiledFeature, value: pa.Array, ages: pa.Array) -> pa.Array:
    present = pc.if_else(value.is_valid(), _code(Status.PRESENT), _code(Status.NULL))
    if feature.ttl is None:
        return pc.if_else(ages.is_valid(), present, _code(Status.MISSING))
    fresh = pc.fill_null(pc.less_equal(ages, feature.ttl), False)
    expired = pc.fill_null(pc.less_equal(ages, 2 * feature.ttl), False)
    return pc.if_else(fresh, present, pc.if_else(expired, _code(Status.EXPIRED), _code(Status.MISSING)))


def _code(status: Status) -> pa.Scalar:
    return pa.scalar(int(status), pa.int8())


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
