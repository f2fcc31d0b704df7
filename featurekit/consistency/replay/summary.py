"""What was replayed of a service, put together over the versions of it that answered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from featurekit.consistency.cells import Codes, Flags
from featurekit.consistency.diagnosis.findings import Finding, by_weight
from featurekit.consistency.replay.diagnosis import on_demand_findings
from featurekit.consistency.replay.evaluator import Evaluated
from featurekit.consistency.replay.freshness import Ages, freshness
from featurekit.consistency.replay.logged import Floats, Ints, LoggedRows
from featurekit.consistency.replay.logic import Replayed
from featurekit.consistency.replay.report import (
    AnsweredBy,
    FieldReplay,
    OnDemandReplay,
    Question,
    ServiceReplay,
    ViewReplay,
)
from featurekit.consistency.replay.tally import tally
from featurekit.definitions.thresholds import Thresholds
from featurekit.plan import PlanView
from featurekit.served_columns import MODEL, MODEL_VERSION
from featurekit.status import Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of rows that one version of a service answered: by alias, and of its on-demand features."""

    logged: LoggedRows
    ages: Mapping[str, Ages]
    views: Mapping[str, Replayed]
    on_demand: tuple[Evaluated, ...]

    @property
    def differs(self) -> Flags:
        """Which rows have a value that is known not to be what it should be."""
        found = np.zeros(len(self.logged), np.bool_)
        for replayed in self.views.values():
            for spec in replayed.fields:
                found[replayed.asked.rows[replayed.differs(spec.name)]] = True
        for item in self.on_demand:
            found |= item.evaluator_differs
        return found

    @property
    def late(self) -> Flags:
        """Which rows have a view that was served late."""
        found: Flags = np.logical_or.reduce(
            [np.zeros(len(self.logged), np.bool_), *(a.late for a in self.ages.values())]
        )
        return found


def service_report(
    service: str,
    outcomes: Sequence[Outcome],
    *,
    most_late: float,
    findings: ViewFindings,
    thresholds: Thresholds | None,
) -> ServiceReplay:
    """Return what came of the log's rows; what was not looked at is for the caller to say.

    `thresholds` are the service's, asked for beside those of its views.
    """
    times = [outcome.logged.times for outcome in outcomes]
    return ServiceReplay(
        service=service,
        logged=0,
        sampled=0,
        forgotten=0,
        other_versions=0,
        other_places=0,
        start=min((int(each.min()) for each in times), default=None),
        end=max((int(each.max()) for each in times), default=None),
        views=tuple(_view(parts, findings, thresholds) for parts in _by_view(outcomes).values()),
        on_demand=tuple(_on_demand(outcomes)),
        answered_by=tuple(_answered_by(outcomes)),
        most_late=most_late,
    )


ViewFindings = Callable[[Sequence[Replayed]], tuple[Finding, ...]]
"""Returns why one view's values differ."""

Parts = list[tuple[Outcome, PlanView]]


def _by_view(outcomes: Iterable[Outcome]) -> dict[tuple[str, str], Parts]:
    found: dict[tuple[str, str], Parts] = {}
    for outcome in outcomes:
        for part in outcome.logged.plan.views:
            found.setdefault((part.alias, part.fingerprint), []).append((outcome, part))
    return found


def _view(parts: Parts, findings: ViewFindings, thresholds: Thresholds | None) -> ViewReplay:
    outcome, part = parts[0]
    aged = reduce(_joined, [each.ages[part.alias] for each, _ in parts])
    weights = np.concatenate([each.logged.weights for each, _ in parts])
    replayed = [found for each, _ in parts if (found := each.views.get(part.alias)) is not None]
    names = dict.fromkeys(spec.name for each in replayed for spec in each.fields)
    return ViewReplay(
        alias=part.alias,
        view=part.view,
        fingerprint=part.fingerprint,
        rows=sum(len(each.logged) for each, _ in parts),
        freshness=freshness(aged, weights),
        fields=tuple(_logic(name, [each for each in replayed if name in each.comparisons]) for name in names),
        findings=findings(replayed),
        lost=outcome.logged.version.lost.get(part.alias),
        source_change=next((each.source_change for each in replayed if each.source_change), None),
        most_age=_most_age([thresholds, *(each.asked.view.view.thresholds for each in replayed)]),
    )


def _most_age(asked: Iterable[Thresholds | None]) -> int | None:
    return min((each.freshness for each in asked if each is not None and each.freshness is not None), default=None)


def _logic(field: str, replayed: Sequence[Replayed]) -> FieldReplay:
    first = replayed[0]
    cells = [
        _Cells(
            verdicts=each.comparisons[field].verdicts,
            differs=each.differs(field),
            compared=~each.open[field],
            statuses=each.served.fields[field].statuses,
            times=each.asked.logged.times[each.asked.rows],
            weights=each.asked.logged.weights[each.asked.rows],
        )
        for each in replayed
    ]
    spec = first.comparisons[field].field
    return _field(first.asked.output(field), spec.type.name, Question.LOGIC, _together(cells))


def _on_demand(outcomes: Sequence[Outcome]) -> Iterable[OnDemandReplay]:
    for fingerprint in dict.fromkeys(each.logged.plan.fingerprint for each in outcomes):
        evaluated = [
            item for each in outcomes if each.logged.plan.fingerprint == fingerprint for item in each.on_demand
        ]
        by_name: dict[str, list[Evaluated]] = {}
        for item in evaluated:
            by_name.setdefault(item.field.name, []).append(item)
        if by_name:
            findings = [finding for items in by_name.values() for finding in on_demand_findings(items)]
            yield OnDemandReplay(
                fingerprint=fingerprint,
                fields=tuple(map(_evaluated, by_name.values())),
                findings=by_weight(findings),
            )


def _evaluated(items: Sequence[Evaluated]) -> FieldReplay:
    cells = [
        _Cells(
            verdicts=item.served_inputs.verdicts,
            differs=item.evaluator_differs,
            compared=~item.open & ~(item.unknown & bool(item.unlogged)),
            statuses=item.served.statuses,
            times=item.logged.times,
            weights=item.logged.weights,
        )
        for item in items
    ]
    return _field(
        items[0].field.name,
        items[0].field.type.name,
        Question.EVALUATOR,
        _together(cells),
        degraded=sum(int(item.degraded.sum()) for item in items),
        follows=sum(int(item.inputs_differ.sum()) for item in items),
        unknown=sum(int((~item.open & item.unknown).sum()) for item in items),
        unlogged=tuple(dict.fromkeys(path for item in items for path in item.unlogged)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cells:
    """One output's cells; `compared` are those that were, `differs` those among them that are wrong."""

    verdicts: Codes
    differs: Flags
    compared: Flags
    statuses: Codes
    times: Ints
    weights: Floats


def _field(
    name: str, kind: str, question: Question, cells: _Cells, degraded: int | None = None, **more: Any
) -> FieldReplay:
    found = tally(cells.verdicts, cells.differs, cells.compared, cells.times, cells.weights)
    unavailable = int((cells.statuses == Status.UNAVAILABLE).sum())
    return FieldReplay(
        name=name,
        type=kind,
        question=question,
        counts=found.counts,
        unavailable=unavailable,
        degraded=int((~cells.compared).sum()) - unavailable if degraded is None else degraded,
        share=found.share,
        days=found.days,
        **more,
    )


def _together(cells: Sequence[_Cells]) -> _Cells:
    return cells[0] if len(cells) == 1 else reduce(_joined, cells)


def _joined(one: Any, other: Any) -> Any:
    """Return two values of arrays, all of one length, as one."""
    return type(one)(
        **{each.name: np.concatenate([getattr(one, each.name), getattr(other, each.name)]) for each in fields(one)}
    )


def _answered_by(outcomes: Sequence[Outcome]) -> Iterable[AnsweredBy]:
    found: dict[tuple[str, int | None, str | None, int | None], npt.NDArray[np.int64]] = {}
    for outcome in outcomes:
        rows, version = outcome.logged, outcome.logged.version
        models = zip(rows.table.column(MODEL).to_pylist(), rows.table.column(MODEL_VERSION).to_pylist(), strict=True)
        for by_model, differs, late in zip(models, outcome.differs.tolist(), outcome.late.tolist(), strict=True):
            counts = found.setdefault((version.plan.fingerprint, version.number, *by_model), np.zeros(3, np.int64))
            counts += (1, differs, late)
    for (fingerprint, number, model, model_version), (rows_, differing, late_) in found.items():
        yield AnsweredBy(
            fingerprint=fingerprint,
            number=number,
            model=model,
            model_version=model_version,
            rows=int(rows_),
            differing=int(differing),
            late=int(late_),
        )
