"""Training rows: each label row with what serving would have answered at its timestamp.

Every view is taken as of its own g(t), then defaults are applied, then on-demand features are computed, in that order
and by the expressions that serving uses (DESIGN T3, T6).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from featurekit.clock import Instant, format_instant
from featurekit.compiled import CompiledService, CompiledView
from featurekit.errors import InputError, SourceError, TimeError
from featurekit.offline.as_of import as_of_slots
from featurekit.offline.engine import BatchEngine
from featurekit.offline.in_memory import joined_in_memory
from featurekit.offline.join_plan import JOINED, LABELS, JoinPlan, Times, slots_name, span_at
from featurekit.offline.join_shape import JoinShape, LabelSize, ShapeChoice, choose_shapes
from featurekit.offline.labels import LabelSpec, check_labels, read_labels
from featurekit.offline.sql import Query, Select, call, name, render_query
from featurekit.types import DataType, Field, parse_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Told = Callable[[dict[str, str]], None]


def point_in_time(
    engine: BatchEngine,
    service: CompiledService,
    labels: DataFrame | LabelSpec,
    *,
    timestamp: str = "event_timestamp",
    now: Instant | None = None,
    evidence: bool = False,
    shape: JoinShape | None = None,
    told: Told | None = None,
) -> DataFrame:
    """Return each label row exactly once, with the service's outputs behind its own columns; in no promised order.

    Where `now` is given, labels that serving could not have answered yet are refused. A null key is an entity without
    rows; a null timestamp is refused, with the number of such rows: there is no answer to give. With `evidence` the
    columns of `evidence_columns` come last. The shape is chosen by cost (`join_shapes`), unless `shape` names one;
    `told` gets by view what was chosen and why.
    """
    rows = _rows(engine, service, labels, timestamp=timestamp, now=now, evidence=evidence, shape=shape, told=told)
    return engine.from_arrow(rows) if isinstance(rows, pa.Table) else rows


def training_table(
    engine: BatchEngine,
    service: CompiledService,
    labels: DataFrame | LabelSpec,
    *,
    timestamp: str = "event_timestamp",
    now: Instant | None = None,
) -> pa.Table:
    """Return the rows of `point_in_time` here, as an Arrow table; Spark never sees them where they are made here."""
    rows = _rows(engine, service, labels, timestamp=timestamp, now=now)
    return rows if isinstance(rows, pa.Table) else engine.to_arrow(rows)


def _rows(
    engine: BatchEngine,
    service: CompiledService,
    labels: DataFrame | LabelSpec,
    *,
    timestamp: str,
    now: Instant | None,
    evidence: bool = False,
    shape: JoinShape | None = None,
    told: Told | None = None,
) -> DataFrame | pa.Table:
    if isinstance(labels, LabelSpec):
        timestamp = labels.timestamp
        labels = read_labels(engine, service, labels)
    fields = frame_fields(labels)
    check_labels(service, fields, timestamp)
    plan = JoinPlan(service, tuple(field.name for field in fields), timestamp, evidence=evidence)
    sizes = label_sizes(engine, plan, labels)
    times = Times(sizes[0].earliest, sizes[0].latest) if sizes else None
    if now is not None and times is not None:
        _check_now(plan, times, now)
    carried = next((field.name for field in fields if isinstance(field.type, _Carried)), None)
    choices = _choices(engine, plan, sizes, carried=carried)
    if shape is not None:
        choices = tuple(replace(choice, shape=shape, why="asked for") for choice in choices)
    if told is not None:
        told({choice.view: choice.described for choice in choices})
    if choices and {choice.shape for choice in choices} == {JoinShape.IN_MEMORY} and carried is None:
        roles = plan.roles(engine.root, times)
        if not isinstance(roles, str):
            asked = engine.to_arrow(engine.query(render_query(plan.asked()), {LABELS: labels}))
            joined = joined_in_memory(asked, roles)
            if plan.is_computed_here():
                return plan.outputs_in_memory(joined)
            return engine.query(render_query(plan.outputs(joined=True)), {JOINED: engine.from_arrow(joined)})
    frames: dict[str, DataFrame] = {LABELS: labels}
    for position, view in enumerate(plan.views):
        asked = engine.query(render_query(plan.requests(position)), {LABELS: labels})
        labelled = choices[position].shape is JoinShape.LABELLED
        frames[slots_name(position)] = as_of_slots(engine, view, asked, span_at(view, times), labelled=labelled)
    return engine.query(render_query(plan.outputs()), frames)


def join_shapes(
    engine: BatchEngine, service: CompiledService, labels: DataFrame | LabelSpec, timestamp: str = "event_timestamp"
) -> tuple[ShapeChoice, ...]:
    """Return the shape that the join takes for each view, and why: counts the labels, and reads footers and a sample.

    Where one view's events can't be read into this process, none are: the join is Spark's, view by view.
    """
    if isinstance(labels, LabelSpec):
        timestamp, labels = labels.timestamp, read_labels(engine, service, labels)
    fields = frame_fields(labels)
    check_labels(service, fields, timestamp)
    plan = JoinPlan(service, tuple(field.name for field in fields), timestamp)
    carried = next((field.name for field in fields if isinstance(field.type, _Carried)), None)
    return _choices(engine, plan, label_sizes(engine, plan, labels), carried=carried)


def _choices(
    engine: BatchEngine, plan: JoinPlan, sizes: tuple[LabelSize, ...], *, carried: str | None = None
) -> tuple[ShapeChoice, ...]:
    asked = [_asked_of(view, sizes[position]) if sizes else None for position, view in enumerate(plan.views)]
    refused = None if carried is None else f"the labels' column {carried} is of a type that only Spark carries"
    if not engine.is_local:
        refused = "the executors run on other machines"
    return choose_shapes(plan.views, engine.root, asked, refused=refused)


def _asked_of(view: CompiledView, size: LabelSize) -> LabelSize:
    grid = view.view.grid
    return replace(size, earliest=grid.served_at(size.earliest), latest=grid.served_at(size.latest))


def frame_fields(frame: DataFrame) -> tuple[Field, ...]:
    return tuple(Field(field.name, _type(field.dataType.simpleString())) for field in frame.schema.fields)


@dataclass(frozen=True, slots=True)
class _Carried(DataType):
    """A type that only label columns of no meaning to us have; it is carried along."""

    spelled: str

    @property
    def name(self) -> str:
        return self.spelled


def _type(spelled: str) -> DataType:
    try:
        return parse_type(spelled)
    except InputError:
        return _Carried(spelled)


def label_sizes(engine: BatchEngine, plan: JoinPlan, labels: DataFrame) -> tuple[LabelSize, ...]:
    """Return what the labels ask of each view, with the earliest and latest of their times; () of no labels."""
    at = name(plan.timestamp)
    entities = [call("approx_count_distinct", call("xxhash64", *plan.keys_of(view))) for view in plan.views]
    columns = (
        ("rows", "count(*)"),
        ("dated", f"count({at})"),
        ("low", f"unix_micros(min({at}))"),
        ("high", f"unix_micros(max({at}))"),
        *((f"entities{position}", counted) for position, counted in enumerate(entities)),
    )
    query = Query(steps=(("times", Select(columns=columns, source=LABELS)),))
    row = engine.to_arrow(engine.query(render_query(query), {LABELS: labels})).to_pylist()[0]
    if missing := row["rows"] - row["dated"]:
        raise SourceError(
            f"{missing} of {row['rows']} label rows have no {plan.timestamp}",
            why="what serving would have answered depends on when it was asked",
            try_="leave those rows out, or give them a time",
        )
    if row["low"] is None:
        return ()
    return tuple(
        LabelSize(rows=row["rows"], entities=row[f"entities{position}"], earliest=row["low"], latest=row["high"])
        for position in range(len(plan.views))
    )


def _check_now(plan: JoinPlan, times: Times, now: Instant) -> None:
    for view in plan.views:
        complete = view.view.grid.served_at(times.latest) + view.view.allowed_lateness
        if complete > now or times.latest > now:
            raise TimeError(
                f"the latest label, {format_instant(times.latest)}, can't be answered yet",
                why=f"rows of {view.name} may land until {format_instant(complete)}, and it is {format_instant(now)}",
                try_="leave out the labels that lie in the future",
            )
