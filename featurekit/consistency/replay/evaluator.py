"""The third question of a replay: do on-demand values follow from the inputs that were served? And from the right ones?

Both by Spark, which is what the expressions mean. An input that the log has not is taken from the recomputed side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from featurekit.arrow_types import for_arrow, to_arrow
from featurekit.consistency.cells import Answers, Cells, FieldSpec, Flags, same_values
from featurekit.consistency.compare import FieldComparison, compare_fields
from featurekit.consistency.replay.logged import LoggedRows
from featurekit.consistency.replay.logic import Replayed
from featurekit.expr.nodes import Column, columns
from featurekit.offline.engine import BatchEngine
from featurekit.offline.sql import Query, Select, Sql, name, one_nan, render_query
from featurekit.online.reason import Reason, is_degraded
from featurekit.plan import PlanExpression
from featurekit.served_columns import input_column
from featurekit.status import Status
from featurekit.targets.spark import render

_INPUTS: Final = "featurekit_inputs"
_ROW: Final = "$row"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """One on-demand feature of some rows; everything is in the order of `logged`.

    `served_inputs` compares what was served with what follows from the inputs that were served, `right_inputs` with
    what follows from recomputed ones. `open` cells say nothing: an input was UNAVAILABLE. `degraded` ones do of the
    evaluator alone. `unlogged` are the inputs that the log has not, `unknown` the rows whose right inputs nobody knows.
    `inputs` are by path, as they were served where the log has them.
    """

    logged: LoggedRows
    item: PlanExpression
    field: FieldSpec
    served: Cells
    served_inputs: FieldComparison
    right_inputs: FieldComparison
    from_served: Cells
    from_right: Cells
    open: Flags
    degraded: Flags
    unknown: Flags
    unlogged: tuple[str, ...]
    inputs: Mapping[str, pa.Array]

    @property
    def evaluator_differs(self) -> Flags:
        """Which values do not follow from the inputs that they were served beside."""
        differs = self.served_inputs.differs & ~self.open
        return differs & ~self.unknown if self.unlogged else differs

    @property
    def inputs_differ(self) -> Flags:
        """Which values do, and are other ones from the right inputs: what differs is told of the inputs."""
        asked = ~self.open & ~self.degraded & ~self.unknown
        return self.right_inputs.differs & asked & ~self.evaluator_differs


def evaluate(engine: BatchEngine, logged: LoggedRows, replayed: Mapping[str, Replayed]) -> list[Evaluated]:
    """Return each on-demand feature that the rows have; `replayed` are their views by alias, those that could be."""
    items = [item for item in logged.plan.on_demand if logged.has(item.name)]
    if not items or not len(logged):
        return []
    inputs = {column.path: column for item in items for column in columns(item.node)}
    right = {path: _right(logged, column, replayed) for path, column in inputs.items()}
    served = {path: _served(logged, column) for path, column in inputs.items()}
    known = {path: _known(logged, column, replayed) for path, column in inputs.items()}
    both = {
        path: _Input(column, right[path] if (values := served[path]) is None else values, right[path])
        for path, column in inputs.items()
    }
    from_served, from_right = _computed(engine, items, both, len(logged))
    return [
        _evaluated(
            logged,
            item,
            from_served[item.name],
            from_right[item.name],
            unknown=~np.logical_and.reduce([known[path] for path in paths], initial=True),
            unlogged=tuple(path for path in paths if served[path] is None),
            inputs={path: both[path].served for path in paths},
        )
        for item in items
        for paths in [tuple(dict.fromkeys(column.path for column in columns(item.node)))]
    ]


def _served(logged: LoggedRows, column: Column) -> pa.Array | None:
    label = input_column(column.name) if column.qualifier is None else column.path
    if not logged.has(label):
        return None
    return logged.table.column(label).combine_chunks().cast(to_arrow(column.type))


def _right(logged: LoggedRows, column: Column, replayed: Mapping[str, Replayed]) -> pa.Array:
    """Return an input as it should have been served; NULL where nobody knows."""
    if column.qualifier is None:
        values = _served(logged, column)
        assert values is not None, "the log has every value of a request"
        return values
    nothing = pa.nulls(len(logged), to_arrow(column.type))
    view = replayed.get(column.qualifier)
    if view is None:
        return nothing
    places = np.full(len(logged), -1, np.int64)
    places[view.asked.rows] = np.arange(len(view.asked.rows))
    values = view.recomputed.fields[column.name].values
    return values.take(pa.array(places, pa.int64(), mask=places < 0)).cast(to_arrow(column.type))


def _known(logged: LoggedRows, column: Column, replayed: Mapping[str, Replayed]) -> Flags:
    known = np.zeros(len(logged), np.bool_)
    if column.qualifier is None:
        return ~known
    view = replayed.get(column.qualifier)
    if view is not None:
        known[view.asked.rows] = True
        known[view.asked.rows[view.unproven]] = False
    return known


class _Input(NamedTuple):
    column: Column
    served: pa.Array
    right: pa.Array


def _computed(
    engine: BatchEngine, items: Sequence[PlanExpression], inputs: Mapping[str, _Input], count: int
) -> tuple[dict[str, Cells], dict[str, Cells]]:
    """Return the features from both sides' inputs, in one query; rows whose inputs are the same are computed once."""
    other = np.zeros(count, np.bool_)
    for each in inputs.values():
        other |= ~_same(each)
    again = np.flatnonzero(other)
    stacked = [pa.concat_arrays([each.served, each.right.take(pa.array(again))]) for each in inputs.values()]
    rows = pa.array(np.arange(count + len(again)))
    table = pa.table([rows, *stacked], names=[_ROW, *(_label(each.column) for each in inputs.values())])
    found = _in_spark(engine, items, table)
    places = np.arange(count)
    places[again] = count + np.arange(len(again))
    return (
        {item.name: with_default(found[item.name].slice(0, count), item) for item in items},
        {item.name: with_default(found[item.name].take(pa.array(places)), item) for item in items},
    )


def _in_spark(engine: BatchEngine, items: Sequence[PlanExpression], table: pa.Table) -> dict[str, pa.Array]:
    made = [(item.name, _sql(item)) for item in items]
    query = Query(steps=(("outputs", Select(columns=((_ROW, name(_ROW)), *made), source=_INPUTS)),))
    found = engine.to_arrow(engine.query(render_query(query), {_INPUTS: engine.from_arrow(table)})).sort_by(_ROW)
    return {item.name: found.column(item.name).combine_chunks().cast(to_arrow(item.type)) for item in items}


def _sql(item: PlanExpression) -> Sql:
    return one_nan(render(item.node, _label), item.type)


def _label(column: Column) -> str:
    return f"${column.path}"


def with_default(values: pa.Array, item: PlanExpression) -> Cells:
    """Return computed values after the feature's default."""
    valid = np.asarray(values.is_valid().to_numpy(zero_copy_only=False), np.bool_)
    if item.default is None:
        return Cells(values=values, statuses=np.where(valid, Status.PRESENT, Status.NULL).astype(np.uint8))
    filled = pc.if_else(pa.array(valid), values, pa.scalar(for_arrow(item.default, item.type), values.type))
    return Cells(values=filled, statuses=np.where(valid, Status.PRESENT, Status.DEFAULTED).astype(np.uint8))


def _same(given: _Input) -> Flags:
    neither = pc.and_(given.served.is_null(), given.right.is_null()).to_numpy(zero_copy_only=False)
    return same_values(given.served, given.right, given.column.type) | np.asarray(neither, np.bool_)


def _evaluated(
    logged: LoggedRows,
    item: PlanExpression,
    from_served: Cells,
    from_right: Cells,
    *,
    unknown: Flags,
    unlogged: tuple[str, ...],
    inputs: Mapping[str, pa.Array],
) -> Evaluated:
    field = FieldSpec(name=item.name, type=item.type, is_latest=False, default=item.default, empty=None)
    served, reasons = logged.cells(item.name), logged.reasons(item.name)
    return Evaluated(
        logged=logged,
        item=item,
        field=field,
        served=served,
        served_inputs=_compared(field, served, from_served),
        right_inputs=_compared(field, served, from_right),
        from_served=from_served,
        from_right=from_right,
        open=(served.statuses == Status.UNAVAILABLE) | (reasons == Reason.INPUT_UNAVAILABLE),
        degraded=is_degraded(served.statuses, reasons),
        unknown=unknown,
        unlogged=unlogged,
        inputs=inputs,
    )


def _compared(field: FieldSpec, served: Cells, computed: Cells) -> FieldComparison:
    everything = np.ones(len(served.values), np.bool_)
    one = Answers(found=everything, fields={field.name: served})
    return compare_fields((field,), one, Answers(found=everything, fields={field.name: computed}))[field.name]
