"""Training rows: each label row with what serving would have answered at its timestamp.

Every view is taken as of its own g(t), then defaults are applied, then on-demand features are computed, in that order
and by the expressions that serving uses (DESIGN T3, T6).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from featurekit.clock import Instant, format_instant
from featurekit.compiled import CompiledFeature, CompiledService, CompiledView, ServiceView
from featurekit.errors import InputError, SourceError, TimeError
from featurekit.expr.nodes import Column, Literal
from featurekit.expr.nodes import columns as columns_of
from featurekit.grid import Grid
from featurekit.offline.as_of import Span, as_of_slots, sweep_of
from featurekit.offline.direct_source import direct_source
from featurekit.offline.engine import BatchEngine
from featurekit.offline.in_memory import LABEL_KEY, Role, joined_in_memory
from featurekit.offline.join_shape import JoinShape, LabelSize, ShapeChoice, choose_shapes
from featurekit.offline.labels import LabelSpec, check_labels, read_labels
from featurekit.offline.outputs_in_memory import features_in_memory, found_and_expired, is_computed_here
from featurekit.offline.rows_sql import LAST, feature_sql
from featurekit.offline.source import entity_key, key_names
from featurekit.offline.sql import Join, Query, Select, Sql, call, long, name, one_nan, render_query, try_cast
from featurekit.offline.sweep import AS_OF
from featurekit.targets.spark import render, render_literal, render_string
from featurekit.types import DataType, Field, parse_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

LABELS: Final = "featurekit_labels"
_JOINED: Final = "featurekit_joined"
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
    if isinstance(labels, LabelSpec):
        timestamp = labels.timestamp
        labels = read_labels(engine, service, labels)
    fields = _fields(labels)
    check_labels(service, fields, timestamp)
    plan = _Plan(service, tuple(field.name for field in fields), timestamp, evidence=evidence)
    sizes = _sizes(engine, plan, labels)
    times = _Times(sizes[0].earliest, sizes[0].latest) if sizes else None
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
                return engine.from_arrow(plan.outputs_in_memory(joined))
            return engine.query(render_query(plan.outputs(joined=True)), {_JOINED: engine.from_arrow(joined)})
    frames: dict[str, DataFrame] = {LABELS: labels}
    for position, view in enumerate(plan.views):
        asked = engine.query(render_query(plan.requests(position)), {LABELS: labels})
        labelled = choices[position].shape is JoinShape.LABELLED
        frames[_slots_name(position)] = as_of_slots(engine, view, asked, _span(view, times), labelled=labelled)
    return engine.query(render_query(plan.outputs()), frames)


def join_shapes(
    engine: BatchEngine, service: CompiledService, labels: DataFrame | LabelSpec, timestamp: str = "event_timestamp"
) -> tuple[ShapeChoice, ...]:
    """Return the shape that the join takes for each view, and why: counts the labels, and reads footers and a sample.

    Where one view's events can't be read into this process, none are: the join is Spark's, view by view.
    """
    if isinstance(labels, LabelSpec):
        timestamp, labels = labels.timestamp, read_labels(engine, service, labels)
    fields = _fields(labels)
    check_labels(service, fields, timestamp)
    plan = _Plan(service, tuple(field.name for field in fields), timestamp)
    carried = next((field.name for field in fields if isinstance(field.type, _Carried)), None)
    return _choices(engine, plan, _sizes(engine, plan, labels), carried=carried)


def _choices(
    engine: BatchEngine, plan: _Plan, sizes: tuple[LabelSize, ...], *, carried: str | None = None
) -> tuple[ShapeChoice, ...]:
    asked = [_asked_of(view, sizes[position]) if sizes else None for position, view in enumerate(plan.views)]
    refused = None if carried is None else f"the labels' column {carried} is of a type that only Spark carries"
    if not engine.is_local:
        refused = "the executors run on other machines"
    return choose_shapes(plan.views, engine.root, asked, refused=refused)


def _asked_of(view: CompiledView, size: LabelSize) -> LabelSize:
    grid = view.view.grid
    return replace(size, earliest=grid.served_at(size.earliest), latest=grid.served_at(size.latest))


def evidence_columns(service: CompiledService) -> dict[tuple[str, str | None], str]:
    """Return the columns that say whether an entity had a visible row, and whether its newest was too old.

    Found by (alias, None), expired by (alias, feature) for each latest feature with a ttl among the outputs.
    """
    columns: dict[tuple[str, str | None], str] = {(part.alias, None): f"$found {part.alias}" for part in service.views}
    outputs = {output.name for output in service.outputs}
    for part in service.views:
        for feature in part.view.features:
            if feature.is_latest and feature.ttl is not None and f"{part.alias}.{feature.name}" in outputs:
                columns[part.alias, feature.name] = f"$expired {part.alias}.{feature.name}"
    return columns


def _fields(frame: DataFrame) -> tuple[Field, ...]:
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


@dataclass(frozen=True, slots=True)
class _Times:
    earliest: Instant
    latest: Instant


def _sizes(engine: BatchEngine, plan: _Plan, labels: DataFrame) -> tuple[LabelSize, ...]:
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


def _span(view: CompiledView, times: _Times | None) -> Span | None:
    grid = view.view.grid
    return None if times is None else Span(grid.served_at(times.earliest), grid.served_at(times.latest))


def _check_now(plan: _Plan, times: _Times, now: Instant) -> None:
    for view in plan.views:
        complete = view.view.grid.served_at(times.latest) + view.view.allowed_lateness
        if complete > now or times.latest > now:
            raise TimeError(
                f"the latest label, {format_instant(times.latest)}, can't be answered yet",
                why=f"rows of {view.name} may land until {format_instant(complete)}, and it is {format_instant(now)}",
                try_="leave out the labels that lie in the future",
            )


def _slots_name(position: int) -> str:
    return f"featurekit_slots{position}"


class _Plan:
    """The queries of one training set: which views, what is asked of each, how it comes together.

    A view that the service uses in several roles is swept once for all of them.
    """

    def __init__(
        self, service: CompiledService, labels: tuple[str, ...], timestamp: str, *, evidence: bool = False
    ) -> None:
        self.service = service
        self.evidence = evidence_columns(service) if evidence else {}
        self.labels = labels
        self.timestamp = timestamp
        used = used_features(service)
        names: dict[str, set[str]] = {}
        for part in service.views:
            names.setdefault(part.view.name, set()).update(used.get(part.alias, set()))
        views = {part.view.name: part.view for part in service.views}
        self.views = tuple(narrowed(view, names[label]) for label, view in views.items())
        self._position = {view.name: position for position, view in enumerate(self.views)}

    def requests(self, position: int) -> Query:
        """Return what is asked of a view: its keys and as-ofs, from the labels, for each of its roles."""
        parts = [part for part in self.service.views if self._position[part.view.name] == position]
        step: Select | None = None
        for part in reversed(parts):
            columns = (*zip(key_names(part.view), _keys(part), strict=True), (AS_OF, self._served_at(part.view)))
            step = Select(columns=columns, source=LABELS, union=step)
        assert step is not None
        return Query(steps=(("requests", step),))

    def keys_of(self, view: CompiledView) -> list[Sql]:
        """Return the keys that labels ask a view about, in the first of its roles."""
        return _keys(next(part for part in self.service.views if part.view.name == view.name))

    def asked(self) -> Query:
        """Return the label rows with the as-of of each view and the keys of each role, for a join in memory."""
        keys = [
            (_label_key(role, at), key)
            for role, part in enumerate(self.service.views)
            for at, key in enumerate(_keys(part))
        ]
        columns = [(label, name(label)) for label in self.labels]
        columns += [(_as_of(view), self._served_at(view)) for view in self.views]
        return Query(steps=(("asked", Select(columns=(*columns, *keys), source=LABELS)),))

    def roles(self, root: Path, times: _Times | None) -> tuple[Role, ...] | str:
        """Return what a join in memory needs of each role, or why there can be none."""
        sources = [direct_source(view, root) for view in self.views]
        found = []
        for role, part in enumerate(self.service.views):
            position = self._position[part.view.name]
            view, source = self.views[position], sources[position]
            if isinstance(source, str):
                return source
            names = [LAST, *(slot.name for slot in view.slots)]
            found.append(
                Role(
                    source=source,
                    sweep=sweep_of(view),
                    between=_span(view, times),
                    keys=tuple(_label_key(role, at) for at in range(len(view.keys))),
                    as_of=_as_of(view),
                    names={label: _role(role, label) for label in names},
                    zero=frozenset(slot.name for slot in view.slots if not slot.nullable),
                )
            )
        return tuple(found)

    def outputs(self, *, joined: bool = False) -> Query:
        """Return what makes outputs of labels and slots, or of `joined` rows that have both."""
        asked = Select(
            columns=(
                ("*", "*"),
                *((_as_of(view), self._served_at(view)) for view in self.views),
            ),
            source=LABELS,
            note="each label row with the as-of that would have served it, per view",
        )
        query = Query(steps=(("asked", asked),)).then("joined", self._joined())
        if joined:
            query = Query(steps=(("joined", Select(columns=(("*", "*"),), source=_JOINED)),))
        return query.then("features", self._features()).then("outputs", self._outputs())

    def is_computed_here(self) -> bool:
        """Return whether a join in memory needs no SQL after it."""
        return is_computed_here(self.service, {view.name: view for view in self.views})

    def outputs_in_memory(self, joined: pa.Table) -> pa.Table:
        """Return the outputs of `joined` rows, as `outputs` would."""
        columns = {label: joined[label] for label in self.labels}
        computed: dict[str, pa.Array] = {}
        evidence: dict[tuple[str, str | None], pa.Array] = {}
        for role, part in enumerate(self.service.views):
            view = self.views[self._position[part.view.name]]
            times = {"last": _role(role, LAST), "as_of": _as_of(view)}
            values = features_in_memory(joined, view, slot=partial(_role, role), **times)
            computed |= {f"{part.alias}.{label}": value for label, value in values.items()}
            found, expired = found_and_expired(joined, view.features, **times)
            evidence[part.alias, None] = found
            evidence |= {(part.alias, label): old for label, old in expired.items()}
        columns |= {output.name: computed[output.name] for output in self.service.outputs}
        return pa.table(columns | {label: evidence[which] for which, label in self.evidence.items()})

    def _joined(self) -> Select:
        columns = [(label, name("l", label)) for label in (*self.labels, *map(_as_of, self.views))]
        joins = []
        for role, part in enumerate(self.service.views):
            view, alias = self.views[self._position[part.view.name]], f"s{role}"
            on = [f"{name(alias, label)} = {key}" for label, key in zip(key_names(view), _keys(part, "l"), strict=True)]
            on.append(f"{name(alias, AS_OF)} = {name('l', _as_of(view))}")
            joins.append(Join(source=_slots_name(self._position[view.name]), alias=alias, on=tuple(on)))
            columns.append((_role(role, LAST), name(alias, LAST)))
            for slot in view.slots:
                value = name(alias, slot.name)
                # A null key joins nothing: an entity without rows, of which every count is 0.
                empty = value if slot.nullable else call("coalesce", value, "0L")
                columns.append((_role(role, slot.name), empty))
        note = "each view as of its own instant"
        return Select(columns=tuple(columns), source="asked", alias="l", joins=tuple(joins), note=note)

    def _features(self) -> Select:
        columns = [(label, name(label)) for label in self.labels]
        for role, part in enumerate(self.service.views):
            view = self.views[self._position[part.view.name]]
            columns += [
                (_feature(part.alias, feature.name), self._feature(role, view, feature)) for feature in view.features
            ]
            columns += self._evidence(role, part.alias, view)
        inputs = {column.name for item in self.service.on_demand for column in columns_of(item.expression)}
        asked = [*self.service.keys.fields, *self.service.request.fields]
        columns += [
            (_request(field.name), try_cast(name(field.name), field.type)) for field in asked if field.name in inputs
        ]
        return Select(columns=tuple(columns), source="joined", note="features, then their defaults")

    def _feature(self, role: int, view: CompiledView, feature: CompiledFeature) -> Sql:
        def within(age: int) -> Sql:
            return f"{call('unix_micros', name(_role(role, LAST)))} >= {name(_as_of(view))} - {long(age)}"

        value = feature_sql(feature, within, lambda column: _role(role, column.name))
        return _defaulted(value, feature.default, feature.type)

    def _evidence(self, role: int, alias: str, view: CompiledView) -> list[tuple[str, Sql]]:
        last = call("unix_micros", name(_role(role, LAST)))
        columns = []
        for (owner, feature), label in self.evidence.items():
            if owner != alias:
                continue
            if feature is None:
                columns.append((label, f"{last} IS NOT NULL"))
                continue
            compiled = view.feature(feature)
            assert compiled is not None
            assert compiled.ttl is not None
            old = f"{name(_as_of(view))} - {long(compiled.ttl)}"
            # Older than twice its ttl it is MISSING (DESIGN T5).
            oldest = f"{name(_as_of(view))} - {long(2 * compiled.ttl)}"
            columns.append((label, f"coalesce({last} < {old} AND {last} >= {oldest}, false)"))
        return columns

    def _outputs(self) -> Select:
        computed = {f"{item.view}.{item.name}": item for item in self.service.on_demand}
        columns = [(label, name(label)) for label in self.labels]
        for output in self.service.outputs:
            if item := computed.get(output.name):
                value = one_nan(render(item.expression, self._input), item.type)
                columns.append((output.name, _defaulted(value, item.default, item.type)))
            else:
                columns.append((output.name, name(f"${output.name}")))
        columns += [(label, name(label)) for label in self.evidence.values()]
        return Select(columns=tuple(columns), source="features", note=f"the outputs of {self.service.name}, in order")

    @staticmethod
    def _input(column: Column) -> str:
        return _request(column.name) if column.qualifier is None else _feature(column.qualifier, column.name)

    def _served_at(self, view: CompiledView) -> Sql:
        return served_at_sql(view.view.grid, call("unix_micros", name(self.timestamp)))


def served_at_sql(grid: Grid, at: Sql) -> Sql:
    """Return g(t) of a time in microseconds: arithmetic in UTC, the grid itself where it follows local days."""
    if grid.timezone is None:
        shifted = f"({at} - {long(grid.availability_delay)})" if grid.availability_delay else at
        return f"({shifted} - pmod({shifted}, {long(grid.every)}))"
    anchor = "CAST(NULL AS INT)" if grid.anchor is None else str((grid.anchor - date(1970, 1, 1)).days)
    zone = render_string(grid.timezone)
    return call("featurekit_served_at", at, long(grid.every), long(grid.availability_delay), zone, anchor)


def used_features(service: CompiledService) -> dict[str, set[str]]:
    """Return the features that the service needs of each alias: its outputs, and inputs of on-demand features."""
    used: dict[str, set[str]] = {}
    for output in service.outputs:
        alias, _, feature = output.name.partition(".")
        used.setdefault(alias, set()).add(feature)
    for item in service.on_demand:
        for column in columns_of(item.expression):
            if column.qualifier is not None:
                used.setdefault(column.qualifier, set()).add(column.name)
    return used


def narrowed(view: CompiledView, names: set[str]) -> CompiledView:
    """Return the view with the named features alone; a feature depends on itself alone (DESIGN T5)."""
    features = tuple(feature for feature in view.features if feature.name in names)
    needed = {column.name for feature in features for column in columns_of(feature.expression)}
    return replace(view, features=features, slots=tuple(slot for slot in view.slots if slot.name in needed))


def _keys(part: ServiceView, table: str | None = None) -> list[Sql]:
    """Return the label columns that a view's keys are read from, as the events' keys are written."""
    columns = [name(label) if table is None else name(table, label) for label in part.request_keys]
    return [entity_key(key, column) for key, column in zip(part.view.keys, columns, strict=True)]


def _as_of(view: CompiledView) -> str:
    return f"$as of {view.name}"


def _label_key(role: int, position: int) -> str:
    return f"{LABEL_KEY}{role}.{position}"


def _role(role: int, label: str) -> str:
    return f"${role} {label}"


def _feature(alias: str, feature: str) -> str:
    return f"${alias}.{feature}"


def _request(label: str) -> str:
    return f"$request {label}"


def _defaulted(value: Sql, default: Any, kind: DataType) -> Sql:
    if default is None:
        return value
    return call("coalesce", value, render_literal(Literal(type=kind, nullable=False, value=default)))
