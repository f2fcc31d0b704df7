"""Counterfactual worlds: a view's answers for sampled entities with something done differently, in this process.

Source rows, definition, as-ofs and entities are each what they are, or others. What is done with them is the work of
the point-in-time path: its row expressions, its sweep, its features over slots, by the evaluators whose bits are
Spark's. With nothing changed the answers are those of `recompute_answers`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
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
from featurekit.expr.nodes import Column, Node
from featurekit.expr.nodes import columns as columns_of
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
from featurekit.types import DataType

Ints = npt.NDArray[np.int64]
Entities = Sequence[tuple[Any, ...]]
RowsChange = Callable[[SourceRows], SourceRows | None]
_MOST_KEPT: Final = 4
_MOST_MARKS: Final = 200_000


class _Events:
    """The rows that count, with what the sweep reads of them: each expression is computed once, whoever asks."""

    def __init__(self, view: CompiledView, table: pa.Table) -> None:
        table = visible_rows(view, table)
        kept = [table[label].is_valid() for label in key_names(view)]
        if view.where is not None:
            kept += computed([view.where], source_columns(view, table), view.columns, table.num_rows)
        table = table.filter(reduce(pc.and_, kept)).combine_chunks()
        self.table = table
        self.keys = tuple(_whole(table[label]) for label in key_names(view))
        self._times = {label: _whole(table[label]) for label in (EVENT, CREATED, SUPERSEDED)}
        self._columns, self._inputs = source_columns(view, table), view.columns
        self._count = table.num_rows
        self._values: dict[Node, pa.Array] = {}

    def inputs(self, view: CompiledView) -> pa.Table:
        """Return what the sweep reads for a view's slots."""
        inputs = event_inputs(view, self._times, self._columns, self._computed)
        arguments = RowExpressions.of(view).arguments
        for slot, swept in zip(view.slots, sweep_of(view).slots, strict=True):
            if slot.function is SlotFunction.APPROX_COUNT_DISTINCT and swept.argument not in inputs.column_names:
                assert slot.argument is not None
                hashes = _hashes(_whole(inputs[arguments[slot.argument]]), slot.argument.type)
                inputs = inputs.append_column(swept.argument, hashes)
        return inputs

    def _computed(self, nodes: list[Node]) -> list[pa.Array]:
        new = [node for node in dict.fromkeys(nodes) if node not in self._values]
        self._values |= zip(new, computed(new, self._columns, self._inputs, self._count), strict=True)
        return [self._values[node] for node in nodes]


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
        self._looked_at: dict[bytes, Answers] = {}

    @cached_property
    def base(self) -> Answers:
        """The answers with nothing changed: those of `recompute_answers`."""
        return self._computed(None, self.view, self._names, self.as_ofs, self.entities)

    def look_at(self, instants: Sequence[Ints]) -> None:
        """Compute together what will be asked for as of other instants alone: one sweep does for many."""
        size = len(self.entities)
        step = max(_MOST_MARKS // max(size, 1), 1)
        for start in range(0, len(instants), step):
            some = instants[start : start + step]
            as_ofs, entities = np.concatenate(some), [*self.entities] * len(some)
            found = self._computed(None, self.view, self._names, as_ofs, entities)
            for place, each in enumerate(some):
                self._looked_at[each.tobytes()] = found.take(np.arange(place * size, (place + 1) * size))

    def answers(
        self,
        *,
        rows: RowsChange | None = None,
        view: CompiledView | None = None,
        as_ofs: Ints | None = None,
        entities: Entities | None = None,
        fields: frozenset[str] | None = None,
    ) -> Answers:
        """Return the answers with source rows changed, by another definition, as of other instants, of other entities.

        A change of rows that returns None changes nothing. Fields beside `fields` (None: all of them), those that
        another definition lacks or has in another type, and those that it leaves alone are as they are.
        """
        view = self.view if view is None else view
        same_view, same_rows = view is self.view, rows is None and entities is None
        if same_view and same_rows and as_ofs is not None and (known := self._looked_at.get(as_ofs.tobytes())):
            return known
        names = self._names if fields is None else self._names & fields
        if same_rows and as_ofs is None:
            names &= _changed_fields(self.view, view)
        found = self._computed(
            rows,
            view,
            names,
            self.as_ofs if as_ofs is None else as_ofs,
            self.entities if entities is None else entities,
        )
        others = {spec.name: self.base.fields[spec.name] for spec in self.fields if spec.name not in found.fields}
        return Answers(found=found.found, fields={**found.fields, **others})

    def counted(self, rows: RowsChange | None = None, view: CompiledView | None = None) -> pa.Table:
        """Return the rows that count, whenever and for whomever, with `$superseded` and the view's source columns."""
        return self._events_of(rows, self.view if view is None else view).table

    @property
    def _names(self) -> frozenset[str]:
        return frozenset(spec.name for spec in self.fields)

    def _computed(
        self, rows: RowsChange | None, view: CompiledView, names: frozenset[str], as_ofs: Ints, entities: Entities
    ) -> Answers:
        part = narrowed(view, set(names))
        events = self._events_of(rows, part)
        # What the view as a whole looks back to decides whether an entity has a row.
        sweep = replace(sweep_of(part), reach=view.reach)
        keys = key_table([tuple(entity) for entity in entities], view_keys(view)).combine_chunks()
        asked = [_whole(column) for column in keys.columns]
        slots, places = slots_of_events(part, sweep, (events.keys, events.inputs(part)), asked, as_ofs)
        taken = slots.take(pa.array(places, pa.int64(), mask=places == NOBODY)).combine_chunks()
        found = np.asarray(taken[LAST].is_valid().to_numpy(), np.bool_)
        columns = _feature_columns(part, taken, as_ofs)
        table = pa.table(columns) if columns else pa.table({LAST: taken[LAST]})
        fields = {spec.name: cells_of(table, spec, found) for spec in _specs(part, self.fields)}
        return Answers(found=found, fields=fields)

    def _events_of(self, rows: RowsChange | None, view: CompiledView) -> _Events:
        source = (view.source.event_id, view.source.valid_to)
        which = (rows, view.where, view.columns, view.deleted, view.view.allowed_lateness, source)
        if which not in self._kept:
            changed = None if rows is None else rows(self.rows)
            events = _Events(view, (self.rows if changed is None else changed).table)
            oldest = [*self._kept][: max(len(self._kept) + 1 - _MOST_KEPT, 0)]
            self._kept = {each: kept for each, kept in self._kept.items() if each not in oldest} | {which: events}
        return self._kept[which]


def _changed_fields(view: CompiledView, other: CompiledView) -> frozenset[str]:
    """Return the features that another definition of the same rows has in another way."""

    def parts(one: CompiledView) -> dict[str, Hashable]:
        slots = {slot.name: slot for slot in one.slots}
        return {
            feature.name: (feature, tuple(slots[column.name] for column in columns_of(feature.expression)))
            for feature in one.features
        }

    def counted(one: CompiledView) -> Hashable:
        return one.where, one.columns, one.deleted, one.keys, one.view.allowed_lateness

    own, others = parts(view), parts(other)
    return frozenset(name for name in others if counted(view) != counted(other) or others[name] != own.get(name))


def _specs(view: CompiledView, fields: Sequence[FieldSpec]) -> tuple[FieldSpec, ...]:
    """Return how a definition fills those of the fields that it has: with its own defaults."""
    wanted = {field.name: field for field in fields}
    return tuple(
        replace(wanted[field.name], is_latest=field.is_latest, default=field.default, empty=field.empty)
        for field in plan_fields(view)
        if wanted[field.name].type == field.type
    )


def _hashes(values: pa.Array, kind: DataType) -> pa.Array:
    """Return what approximate counts go by: NULL of NULL."""
    column = Column(name="value", type=kind, nullable=True)
    (hashes,) = computed([infer.call("xxhash64", column)], {column.name: values}, [column], len(values))
    return pc.if_else(values.is_valid(), hashes, pa.scalar(None, hashes.type))


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
