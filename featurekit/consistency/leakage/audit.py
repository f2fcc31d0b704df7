"""The training-set audit: a table of feature values made elsewhere, beside what serving would have had (DESIGN §7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from featurekit.arrow_types import held_values
from featurekit.clock import Instant, format_instant
from featurekit.compiled import CompiledService
from featurekit.consistency.cells import (
    Cells,
    FieldSpec,
    Flags,
)
from featurekit.consistency.entity_keys import show_entity
from featurekit.consistency.leakage.evidence import Hidden, hidden_rows
from featurekit.consistency.leakage.factors import Factor, Verdict, declared, factors
from featurekit.consistency.leakage.fills import CellsBeside, beside, cells_at, fills, taken
from featurekit.consistency.leakage.report import AuditReport, FeatureAudit, Later, LeakEvidence
from featurekit.consistency.leakage.table import (
    AuditSpec,
    TableFeature,
    TrainingTable,
    audited_service,
    read_training_table,
)
from featurekit.consistency.leakage.values import Alternative, Counterfactuals, output_specs, role_keys
from featurekit.consistency.leakage.verdict import Trial, chance_of, judge
from featurekit.consistency.show import show_cell, show_value
from featurekit.errors import TimeError
from featurekit.expr.nodes import columns as columns_of
from featurekit.offline.engine import BatchEngine
from featurekit.urls import shown_path

EVIDENCE: Final = 5
_TRIED_CELLS: Final = 500  # of each feature, differing and matching: enough to tell a cause, and one sweep answers all
_DATED_CELLS: Final = 100
Places = npt.NDArray[np.intp]


def audit_training_table(
    engine: BatchEngine, service: CompiledService, spec: AuditSpec, *, now: Instant | None = None
) -> AuditReport:
    """Return, for each feature, whether its values are what serving would have had, or what was known when, or later.

    InputError and SourceError where the table is empty, lacks a column or can't be read; TimeError where rows lie so
    late that at `now` serving could not have answered them yet.
    """
    asked = audited_service(service, spec)
    table = read_training_table(engine, asked, spec)
    counterfactuals = Counterfactuals(engine, asked)
    serving = declared(counterfactuals.views, table.at)
    if now is not None:
        _check_now(counterfactuals, serving, int(table.at.max()), now)
    (served,) = counterfactuals.cells(table.inputs, [serving])
    specs = output_specs(asked, spec.ulps)
    audit = _Audit(engine, asked, spec, table, counterfactuals, serving, served, specs, now)
    return AuditReport(
        service=service.name,
        fingerprint=service.fingerprint.data,
        path=shown_path(spec.path) or spec.path,
        rows=table.rows,
        audited=len(table.at),
        unseen=counterfactuals.unseen,
        start=int(table.at.min()),
        end=int(table.at.max()),
        features=audit.features(),
    )


def _check_now(counterfactuals: Counterfactuals, serving: Alternative, end: Instant, now: Instant) -> None:
    for name, view in counterfactuals.views.items():
        complete = int(serving.as_of[name].max()) + view.view.allowed_lateness
        if end > now or complete > now:
            raise TimeError(
                f"the latest row, {format_instant(end)}, can't be answered yet",
                why=f"rows of {name} may land until {format_instant(complete)}, and it is {format_instant(now)}",
                try_="leave out the rows that lie in the future",
            )


class _Audit:
    """One table being audited: what differs is looked at in other ways, for some of its rows."""

    def __init__(
        self,
        engine: BatchEngine,
        service: CompiledService,
        spec: AuditSpec,
        table: TrainingTable,
        counterfactuals: Counterfactuals,
        serving: Alternative,
        served: Mapping[str, Cells],
        specs: Mapping[str, FieldSpec],
        now: Instant | None,
    ) -> None:
        self._engine, self._service, self._spec = engine, service, spec
        self._table, self._counterfactuals = table, counterfactuals
        self._serving, self._served, self._specs = serving, served, specs
        self._now = now

    def features(self) -> tuple[FeatureAudit, ...]:
        compared = {
            name: beside(spec, self._table.features[name], self._served[name]) for name, spec in self._specs.items()
        }
        rows = _chosen([each.differs for each in compared.values()])
        if not len(rows):
            return tuple(self._feature(name, each, None) for name, each in compared.items())
        tried = factors(self._counterfactuals.views, self._table.at[rows], int(self._table.at.max()), self._now)
        inputs = self._table.inputs.take(pa.array(rows))
        cells = self._counterfactuals.cells(inputs, [each.alternative for each in tried])
        looked = _Looked(rows=rows, factors=tried, cells=tuple(cells))
        return tuple(self._feature(name, each, looked) for name, each in compared.items())

    def _feature(self, name: str, compared: CellsBeside, looked: _Looked | None) -> FeatureAudit:
        spec = self._specs[name]
        differing = int(compared.differs.sum())
        as_served = FeatureAudit(
            name=name,
            type=spec.type.name,
            column=self._spec.columns.get(name, name),
            equal=int(compared.equal.sum()),
            within_tolerance=int(compared.near.sum()),
            differing=differing,
            foreign=int(self._table.features[name].is_foreign.sum()),
            verdict=Verdict.AS_SERVED,
        )
        if looked is None or not differing:
            return as_served
        trials, masks = self._trials(name, compared, looked)
        judged = judge(trials)
        best = judged.best
        explained = None if best is None else masks[best] & compared.differs[looked.rows]
        factor = looked.factors[best] if best is not None and best < len(looked.factors) else None
        dated = self._dated(name, looked, factor, explained)
        laters = sorted(each.later for each in dated if each.later is not None)
        order = sorted(range(len(trials)), key=lambda place: (-trials[place].turned, place))
        return replace(
            as_served,
            verdict=judged.verdict,
            cause=None if best is None else trials[best].told,
            explained=None if best is None else trials[best].share,
            also=judged.also,
            later=Later(least=laters[0], median=int(median(laters)), most=laters[-1]) if laters else None,
            trials=tuple(trials[place] for place in order if trials[place].turned)[:EVIDENCE],
            evidence=tuple(each.evidence for each in dated[:EVIDENCE])
            if dated
            else self._plain_evidence(name, looked.rows[compared.differs[looked.rows]][:EVIDENCE]),
        )

    def _trials(self, name: str, compared: CellsBeside, looked: _Looked) -> tuple[list[Trial], list[Flags]]:
        """Return how each factor did on a feature, and which cells each makes equal to the table's."""
        spec, rows = self._specs[name], looked.rows
        found, served = taken(self._table.features[name], rows), cells_at(self._served[name], rows)
        differs = compared.differs[rows]
        places = pa.array(np.flatnonzero(differs))
        masks = [beside(spec, found, cells[name]) for cells in looked.cells]
        trials = []
        for factor, cells, mask in zip(looked.factors, looked.cells, masks, strict=True):
            chance = chance_of(found.values.take(places), cells[name].values, spec.type)
            trials.append(_trial(factor.told, factor.verdict, ~mask.differs, differs, chance))
        equals = [~mask.differs for mask in masks]
        for told, verdict, equal, chance in fills(spec, self._table.features[name], self._served[name], rows, served):
            trials.append(_trial(told, verdict, equal, differs, chance))
            equals.append(equal)
        return trials, equals

    def _dated(self, name: str, looked: _Looked, factor: Factor | None, explained: Flags | None) -> list[_Dated]:
        """Return some of the explained cells with how much later serving could have had each."""
        if factor is None or explained is None or factor.verdict is not Verdict.LEAKS:
            return []
        places = _spread(np.flatnonzero(explained), _DATED_CELLS)
        rows = looked.rows[places]
        inputs = self._table.inputs.take(pa.array(rows))
        laters: list[list[tuple[int, Hidden, str]]] = [[] for _ in rows]
        for part in self._service.views:
            if part.alias not in self._aliases(name):
                continue
            view = self._counterfactuals.views[part.view.name]
            as_of = factor.alternative.as_of[view.name][places]
            hidden = hidden_rows(
                self._engine,
                view,
                role_keys(view, part, inputs),
                self._serving.as_of[view.name][rows],
                as_of,
                knows_all=factor.alternative.knows_all,
            )
            for into, each, at in zip(laters, hidden, as_of.tolist(), strict=True):
                needed = at
                if each.last_event is not None and each.last_created is not None:
                    needed = max(each.last_event + 1, each.last_created - view.view.allowed_lateness)
                grid = view.view.grid
                into.append((grid.next(needed - 1) + grid.availability_delay, each, view.name))
        made = []
        for place, row, parts in zip(places.tolist(), rows.tolist(), laters, strict=True):
            had, hidden_of, view_name = max(parts, key=lambda each: each[0])
            later = had - int(self._table.at[row])
            as_of_cell = int(factor.alternative.as_of[view_name][place])
            made.append(
                _Dated(later=later, evidence=self._evidence(name, row, view_name, as_of_cell, later, hidden_of))
            )
        return made

    def _aliases(self, name: str) -> set[str]:
        for item in self._service.on_demand:
            if name == f"{item.view}.{item.name}":
                return {column.qualifier for column in columns_of(item.expression) if column.qualifier is not None}
        return {name.partition(".")[0]}

    def _plain_evidence(self, name: str, rows: Places) -> tuple[LeakEvidence, ...]:
        return tuple(self._evidence(name, int(row), None, None, None, None) for row in rows)

    def _evidence(
        self,
        name: str,
        row: int,
        view: str | None,
        as_of: Instant | None,
        later: int | None,
        hidden: Hidden | None,
    ) -> LeakEvidence:
        spec = self._specs[name]
        fields = self._service.keys.fields
        entity = [held_values(self._table.inputs.column(key.name).combine_chunks().slice(row, 1))[0] for key in fields]
        return LeakEvidence(
            entity=show_entity(entity, fields),
            at=int(self._table.at[row]),
            table=_shown(spec, self._table.features[name], row),
            served=show_cell(spec, self._served[name], row),
            served_as_of=None if view is None else int(self._serving.as_of[view][row]),
            as_of=as_of,
            later=later,
            rows=() if hidden is None else hidden.rows,
            hidden=0 if hidden is None else hidden.count,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Looked:
    """Some rows of the table, looked at in other ways: for each factor the cells of all outputs."""

    rows: Places
    factors: tuple[Factor, ...]
    cells: tuple[Mapping[str, Cells], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Dated:
    later: int | None
    evidence: LeakEvidence


def _chosen(differing: Sequence[Flags]) -> Places:
    """Return rows to look at in other ways: of each feature that differs some that do, and some that don't."""
    rows = [
        _spread(np.flatnonzero(flags == wanted), _TRIED_CELLS)
        for flags in differing
        if flags.any()
        for wanted in (True, False)
    ]
    return np.unique(np.concatenate(rows)).astype(np.intp) if rows else np.zeros(0, np.intp)


def _spread(places: Places, most: int) -> Places:
    """Return at most so many of some places, evenly spread over them."""
    if len(places) <= most:
        return places
    return places[np.linspace(0, len(places) - 1, most).astype(np.intp)]


def _trial(told: str, verdict: Verdict, equal: Flags, differs: Flags, chance: float) -> Trial:
    return Trial(
        told=told,
        verdict=verdict,
        turned=int((equal & differs).sum()),
        differing=int(differs.sum()),
        kept=int((equal & ~differs).sum()),
        matching=int((~differs).sum()),
        chance=chance,
    )


def _shown(spec: FieldSpec, found: TableFeature, row: int) -> str:
    if found.is_foreign[row]:
        return str(found.raw[row].as_py())
    (value,) = held_values(found.values.slice(row, 1))
    return show_value(value, spec.type)
