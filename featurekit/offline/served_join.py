"""Training rows as they were served: each label row with the rows of the refreshes that really answered at its time.

    labels ─▶ their instants ─▶ Picker: as-of, token, supply per view ─▶ joined to kept rows, and to recomputed ones
        ─▶ features, their defaults ─▶ on-demand features

Where no refresh answered, a view's features are UNAVAILABLE: NULL, and no default takes their place (DESIGN T6).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from featurekit.clock import Instant, format_instant
from featurekit.compiled import CompiledFeature, CompiledService, CompiledView
from featurekit.errors import InputError, TimeError
from featurekit.expr.nodes import columns as columns_of
from featurekit.offline.as_of import Span, as_of_rows
from featurekit.offline.engine import BatchEngine
from featurekit.offline.history import REFRESH_COLUMN, History, HistoryEntry
from featurekit.offline.join_plan import LABELS, JoinPlan, defaulted, role_keys, role_name
from featurekit.offline.labels import check_labels
from featurekit.offline.point_in_time import frame_fields, label_sizes
from featurekit.offline.rows_sql import LAST
from featurekit.offline.served_refreshes import (
    AT,
    HAS_ROWS,
    Picker,
    ServedView,
    Supply,
    as_of_column,
    supply_column,
    timeline,
    token,
    token_column,
)
from featurekit.offline.snapshot import SourceSnapshot
from featurekit.offline.sql import Join, Query, Select, Sql, call, case, cast, name, one_nan, render_query
from featurekit.rows import LAST_EVENT, STATUS_PREFIX
from featurekit.status import Status
from featurekit.targets.spark import render
from featurekit.types import String

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PICKED: Final = "featurekit_picked"
_KEPT: Final = "featurekit_kept"
_COMPUTED: Final = "featurekit_computed"
_TOKEN: Final = "$token"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedHistory:
    """What is on record of a service's views, by name, and the history that keeps their rows."""

    history: History
    views: Mapping[str, ServedView]

    def require_any(self, service: str) -> ServedHistory:
        """Return it; InputError where no view has any refresh on record, so that nothing can have been answered."""
        if any(view.refreshes or view.others for view in self.views.values()):
            return self
        raise InputError(
            f"no refresh of {service} is on record",
            why="as served means by the refreshes that answered lookups, and there was none",
            try_="--as declared; or featurekit materialize, from which on there is a record",
        )


def served_evidence(service: CompiledService) -> dict[tuple[str, Supply], str]:
    """Return the columns that say what a label row got of each view's alias; all but rows that are kept."""
    return {
        (part.alias, each): f"${each.name.lower()} {part.alias}"
        for part in service.views
        for each in Supply
        if each is not Supply.KEPT
    }


def as_served(
    engine: BatchEngine,
    service: CompiledService,
    labels: DataFrame,
    served: ServedHistory,
    *,
    timestamp: str,
    snapshots: Mapping[str, SourceSnapshot],
    now: Instant | None = None,
    evidence: bool = False,
) -> DataFrame:
    """Return each label row exactly once, with the outputs that lookups had at its time behind its own columns.

    `snapshots` are the sources as they are now. Labels later than `now` are refused. With `evidence` the columns of
    `evidence_columns` come last, then those of `served_evidence`.
    """
    fields = frame_fields(labels)
    check_labels(service, fields, timestamp)
    plan = ServedPlan(service, tuple(field.name for field in fields), timestamp, evidence=evidence)
    sizes = label_sizes(engine, plan, labels)
    if now is not None and sizes and sizes[0].latest > now:
        raise TimeError(
            f"the latest label, {format_instant(sizes[0].latest)}, was not asked yet",
            why=f"it is {format_instant(now)}",
            try_="leave out the labels that lie in the future",
        )
    picker = Picker(
        timelines=tuple(timeline(view, served.views[view.name], snapshots[view.source.name]) for view in plan.views)
    )
    times = engine.query(render_query(plan.times()), {LABELS: labels})
    picked = engine.map_batches(times, picker, picker.schema)
    used = _used_tokens(engine, plan, picked)
    frames = {LABELS: labels, _PICKED: picked}
    for position, view in enumerate(plan.views):
        frames[rows_name(position)] = _rows(engine, plan, position, served, used[view.name], frames)
    return engine.query(render_query(plan.served()), frames)


class ServedPlan(JoinPlan):
    """The queries of a set as served: rows of refreshes in place of slots."""

    def times(self) -> Query:
        """Return the instants at which labels ask, each once."""
        at = call("unix_micros", name(self.timestamp))
        return Query(steps=(("times", Select(columns=((AT, at),), source=LABELS, group_by=(at,))),))

    def computed_requests(self, position: int) -> Query:
        """Return what is asked of a view whose rows are gone, in each of its roles."""
        view = self.views[position]
        step: Select | None = None
        for part in self.service.views:
            if part.view.name != view.name:
                continue
            keys = zip((key.name for key in view.keys), role_keys(part, "l"), strict=True)
            as_of = call("timestamp_micros", name("p", as_of_column(view.name)))
            step = Select(
                columns=(*keys, ("as_of", as_of)),
                source=LABELS,
                alias="l",
                joins=(self._picked(),),
                where=(f"{name('p', supply_column(view.name))} = {int(Supply.RECOMPUTED)}",),
                union=step,
            )
        assert step is not None
        return Query(steps=(("requests", step),))

    def served(self) -> Query:
        """Return what makes outputs of labels, what was picked for them, and the refreshes' rows."""
        query = Query(steps=(("joined", self._joined()),))
        return query.then("features", self._features()).then("outputs", self._outputs())

    def _picked(self) -> Join:
        at = call("unix_micros", name("l", self.timestamp))
        return Join(source=_PICKED, alias="p", on=(f"{at} = {name('p', AT)}",))

    def _joined(self) -> Select:
        columns = [(label, name("l", label)) for label in self.labels]
        columns += [(supply_column(view.name), name("p", supply_column(view.name))) for view in self.views]
        joins = [self._picked()]
        for role, part in enumerate(self.service.views):
            position = self._position[part.view.name]
            view, alias = self.views[position], f"s{role}"
            keys = zip(view.keys, role_keys(part, "l"), strict=True)
            on = [f"{name(alias, key.name)} = {asked}" for key, asked in keys]
            on.append(f"{name(alias, _TOKEN)} = {name('p', token_column(view.name))}")
            joins.append(Join(source=rows_name(position), alias=alias, on=tuple(on)))
            columns.append((role_name(role, LAST), name(alias, LAST_EVENT)))
            columns += [(role_name(role, label), name(alias, label)) for label in _value_columns(view)]
            # What a slot is of no rows: expressions name columns.
            columns += [
                (_empty(role, slot.name), cast("NULL" if slot.nullable else "0", slot.type)) for slot in view.slots
            ]
        note = "each view's row of the refresh that answered"
        return Select(columns=tuple(columns), source=LABELS, alias="l", joins=tuple(joins), note=note)

    def _features(self) -> Select:
        step = super()._features()
        has = tuple((_has_rows(part.alias), _is_one_of(part.view, HAS_ROWS)) for part in self.service.views)
        return replace(step, columns=(*step.columns, *has))

    def _feature(self, role: int, view: CompiledView, feature: CompiledFeature) -> Sql:
        row = f"{name(role_name(role, LAST))} IS NOT NULL"
        value = case((row, name(role_name(role, feature.name))), otherwise=_of_no_row(role, feature))
        return case((_is_one_of(view, HAS_ROWS), defaulted(value, feature.default, feature.type)))

    def _evidence(self, role: int, alias: str, view: CompiledView) -> list[tuple[str, Sql]]:
        columns = []
        for (owner, feature), label in self.evidence.items():
            if owner == alias:
                expired = f"{name(role_name(role, STATUS_PREFIX + str(feature)))} = {int(Status.EXPIRED)}Y"
                found = f"{name(role_name(role, LAST))} IS NOT NULL"
                columns.append((label, found if feature is None else call("coalesce", expired, "false")))
        own = served_evidence(self.service) if self.evidence else {}
        return columns + [(label, _is_one_of(view, (each,))) for (owner, each), label in own.items() if owner == alias]

    def _outputs(self) -> Select:
        step = super()._outputs()
        needs = {f"{item.view}.{item.name}": columns_of(item.expression) for item in self.service.on_demand}

        def where_available(label: str, value: Sql) -> Sql:
            aliases = dict.fromkeys(column.qualifier for column in needs.get(label, ()) if column.qualifier is not None)
            # An on-demand feature of something that is UNAVAILABLE is so too, as in a lookup.
            return case((" AND ".join(name(_has_rows(alias)) for alias in aliases), value)) if aliases else value

        own = served_evidence(self.service).values() if self.evidence else ()
        columns = [(label, where_available(label, value)) for label, value in step.columns]
        return replace(step, columns=(*columns, *((label, name(label)) for label in own)))


def rows_name(position: int) -> str:
    return f"featurekit_rows{position}"


def _used_tokens(engine: BatchEngine, plan: ServedPlan, picked: DataFrame) -> dict[str, frozenset[str]]:
    columns = tuple((str(at), call("collect_set", name(token_column(view.name)))) for at, view in enumerate(plan.views))
    query = Query(steps=(("used", Select(columns=columns, source=_PICKED)),))
    (row,) = engine.to_arrow(engine.query(render_query(query), {_PICKED: picked})).to_pylist()
    return {view.name: frozenset(row[str(at)]) for at, view in enumerate(plan.views)}


def _rows(
    engine: BatchEngine,
    plan: ServedPlan,
    position: int,
    served: ServedHistory,
    used: frozenset[str],
    frames: Mapping[str, DataFrame],
) -> DataFrame:
    """Return the rows of the refreshes that labels need of a view, with their tokens; those that are gone computed."""
    view = plan.views[position]
    whole = next(part.view for part in plan.service.views if part.view.name == view.name)
    kept: list[HistoryEntry] = []
    computed: list[Instant] = []
    for refresh in served.views[view.name].refreshes:
        if refresh.entry is not None and token(refresh, Supply.KEPT) in used:
            kept.append(refresh.entry)
        elif token(refresh, Supply.RECOMPUTED) in used:
            computed.append(refresh.as_of)
    step = _selected(view, _KEPT, name(REFRESH_COLUMN))
    found = {_KEPT: served.history.read_many(engine, whole, kept)}
    if computed:
        requests = engine.query(render_query(plan.computed_requests(position)), frames)
        found[_COMPUTED] = as_of_rows(engine, view, requests, between=Span(min(computed), max(computed)))
        as_of = cast(call("unix_micros", name("as_of")), String())
        step = replace(step, union=_selected(view, _COMPUTED, as_of))
    return engine.query(render_query(Query(steps=(("rows", step),))), found)


def _selected(view: CompiledView, source: str, found_by: Sql) -> Select:
    labels = [key.name for key in view.keys] + [LAST_EVENT, *_value_columns(view)]
    return Select(columns=(*((label, name(label)) for label in labels), (_TOKEN, found_by)), source=source)


def _value_columns(view: CompiledView) -> Sequence[str]:
    statuses = [STATUS_PREFIX + feature.name for feature in view.features if feature.is_latest]
    return [feature.name for feature in view.features] + statuses


def _of_no_row(role: int, feature: CompiledFeature) -> Sql:
    """Return what a feature is of an entity without a row: of nothing, a count is 0 and the rest NULL (DESIGN T5)."""
    return one_nan(render(feature.expression, lambda slot: _empty(role, slot.name)), feature.type)


def _empty(role: int, slot: str) -> str:
    return role_name(role, f"empty {slot}")


def _has_rows(alias: str) -> str:
    return f"$has rows {alias}"


def _is_one_of(view: CompiledView, supplies: Sequence[Supply]) -> Sql:
    return f"{name(supply_column(view.name))} IN ({', '.join(f'{int(each)}Y' for each in supplies)})"
