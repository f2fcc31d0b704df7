"""The queries of one training set: which views, what is asked of each, how it comes together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from featurekit.clock import Instant
from featurekit.compiled import CompiledFeature, CompiledService, CompiledView, ServiceView
from featurekit.expr.nodes import Column, Literal
from featurekit.expr.nodes import columns as columns_of
from featurekit.grid import Grid
from featurekit.offline.as_of import Span, sweep_of
from featurekit.offline.direct_source import direct_source
from featurekit.offline.in_memory import LABEL_KEY, Role
from featurekit.offline.outputs_in_memory import features_in_memory, found_and_expired, is_computed_here
from featurekit.offline.rows_sql import LAST, feature_sql
from featurekit.offline.source import entity_key, key_names
from featurekit.offline.sql import Join, Query, Select, Sql, call, long, name, one_nan, try_cast
from featurekit.offline.sweep import AS_OF
from featurekit.targets.spark import render, render_literal, render_string
from featurekit.types import DataType

LABELS: Final = "featurekit_labels"
JOINED: Final = "featurekit_joined"


@dataclass(frozen=True, slots=True)
class Times:
    earliest: Instant
    latest: Instant


def span_at(view: CompiledView, times: Times | None) -> Span | None:
    grid = view.view.grid
    return None if times is None else Span(grid.served_at(times.earliest), grid.served_at(times.latest))


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


def slots_name(position: int) -> str:
    return f"featurekit_slots{position}"


class JoinPlan:
    """The queries, and what a join in memory needs; a view that the service uses in several roles is swept once."""

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
            columns = (*zip(key_names(part.view), role_keys(part), strict=True), (AS_OF, self._served_at(part.view)))
            step = Select(columns=columns, source=LABELS, union=step)
        assert step is not None
        return Query(steps=(("requests", step),))

    def keys_of(self, view: CompiledView) -> list[Sql]:
        """Return the keys that labels ask a view about, in the first of its roles."""
        return role_keys(next(part for part in self.service.views if part.view.name == view.name))

    def asked(self) -> Query:
        """Return the label rows with the as-of of each view and the keys of each role, for a join in memory."""
        keys = [
            (_label_key(role, at), key)
            for role, part in enumerate(self.service.views)
            for at, key in enumerate(role_keys(part))
        ]
        columns = [(label, name(label)) for label in self.labels]
        columns += [(_as_of(view), self._served_at(view)) for view in self.views]
        return Query(steps=(("asked", Select(columns=(*columns, *keys), source=LABELS)),))

    def roles(self, root: Path, times: Times | None) -> tuple[Role, ...] | str:
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
                    between=span_at(view, times),
                    keys=tuple(_label_key(role, at) for at in range(len(view.keys))),
                    as_of=_as_of(view),
                    names={label: role_name(role, label) for label in names},
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
            query = Query(steps=(("joined", Select(columns=(("*", "*"),), source=JOINED)),))
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
            times = {"last": role_name(role, LAST), "as_of": _as_of(view)}
            values = features_in_memory(joined, view, slot=partial(role_name, role), **times)
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
            on = [
                f"{name(alias, label)} = {key}"
                for label, key in zip(key_names(view), role_keys(part, "l"), strict=True)
            ]
            on.append(f"{name(alias, AS_OF)} = {name('l', _as_of(view))}")
            joins.append(Join(source=slots_name(self._position[view.name]), alias=alias, on=tuple(on)))
            columns.append((role_name(role, LAST), name(alias, LAST)))
            for slot in view.slots:
                value = name(alias, slot.name)
                # A null key joins nothing: an entity without rows, of which every count is 0.
                empty = value if slot.nullable else call("coalesce", value, "0L")
                columns.append((role_name(role, slot.name), empty))
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
            return f"{call('unix_micros', name(role_name(role, LAST)))} >= {name(_as_of(view))} - {long(age)}"

        value = feature_sql(feature, within, lambda column: role_name(role, column.name))
        return defaulted(value, feature.default, feature.type)

    def _evidence(self, role: int, alias: str, view: CompiledView) -> list[tuple[str, Sql]]:
        last = call("unix_micros", name(role_name(role, LAST)))
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
                columns.append((output.name, defaulted(value, item.default, item.type)))
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


def role_keys(part: ServiceView, table: str | None = None) -> list[Sql]:
    """Return the label columns that a view's keys are read from, as the events' keys are written."""
    columns = [name(label) if table is None else name(table, label) for label in part.request_keys]
    return [entity_key(key, column) for key, column in zip(part.view.keys, columns, strict=True)]


def _as_of(view: CompiledView) -> str:
    return f"$as of {view.name}"


def _label_key(role: int, position: int) -> str:
    return f"{LABEL_KEY}{role}.{position}"


def role_name(role: int, label: str) -> str:
    return f"${role} {label}"


def _feature(alias: str, feature: str) -> str:
    return f"${alias}.{feature}"


def _request(label: str) -> str:
    return f"$request {label}"


def defaulted(value: Sql, default: Any, kind: DataType) -> Sql:
    if default is None:
        return value
    return call("coalesce", value, render_literal(Literal(type=kind, nullable=False, value=default)))
