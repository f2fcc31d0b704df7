"""Why replayed values differ: a sample of the rows that do, and of those that don't, is handed to the diagnosis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pyarrow as pa

from featurekit.arrow_types import held_values
from featurekit.clock import format_instant
from featurekit.consistency.cells import Answers, Cells, FieldSpec, Flags
from featurekit.consistency.compare import FieldComparison
from featurekit.consistency.diagnosis.causes import Cause, Refresh, RowState, StoredRow
from featurekit.consistency.diagnosis.compared import Compared
from featurekit.consistency.diagnosis.counterfactuals import Counterfactuals, World
from featurekit.consistency.diagnosis.diagnose import diagnose
from featurekit.consistency.diagnosis.factors import Factor
from featurekit.consistency.diagnosis.findings import EVIDENCE_ROWS, Finding, by_weight
from featurekit.consistency.diagnosis.view_factors import expression_changes
from featurekit.consistency.entity_keys import show_entity
from featurekit.consistency.population import view_keys
from featurekit.consistency.replay.evaluator import Evaluated, with_default
from featurekit.consistency.replay.logged import LoggedRows, distinct
from featurekit.consistency.replay.logic import Replayed, Rows
from featurekit.consistency.replay.versions import Earlier
from featurekit.expr.nodes import columns, transform
from featurekit.offline.engine import BatchEngine
from featurekit.served_columns import REQUEST_ID
from featurekit.targets.arrow import compile_batch
from featurekit.types import Field

MOST_OF_A_KIND: Final = 500
"""How many rows that differ a diagnosis looks at, and how many that don't."""


def view_findings(engine: BatchEngine, replayed: Iterable[Replayed], earlier: Earlier) -> tuple[Finding, ...]:
    """Return what differs in one view and why; the parts of the log in which it differs are diagnosed one by one."""
    return _merged([finding for each in replayed for finding in _view_findings(engine, each, earlier)])


def _view_findings(engine: BatchEngine, replayed: Replayed, earlier: Earlier) -> Iterator[Finding]:
    by_field = {spec.name: replayed.differs(spec.name) for spec in replayed.fields}
    differs = np.logical_or.reduce([np.zeros(len(replayed.asked.rows), np.bool_), *by_field.values()])
    if not differs.any():
        return
    keys = view_keys(replayed.asked.view)
    held = _held(replayed.asked.requests, keys)
    usable = ~replayed.unproven & ~np.logical_or.reduce(list(replayed.open.values()))
    usable &= np.array([None not in entity for entity in held], np.bool_)
    rows = _chosen(usable, differs, (held, replayed.asked.as_ofs.tolist()))
    if not len(rows):
        return
    view, as_ofs = replayed.asked.view, replayed.asked.as_ofs[rows]
    entities = [held[at] for at in rows.tolist()]
    latest = int(as_ofs.max())
    compared = Compared(
        entities=_shown(
            replayed.asked.logged, replayed.asked.rows[rows], [show_entity(each, keys) for each in entities]
        ),
        fields=replayed.fields,
        refresh=Refresh(as_of=latest, fingerprint=replayed.asked.part.fingerprint),
        rows=tuple(StoredRow(state=RowState.OWN, as_of=as_of) for as_of in as_ofs.tolist()),
        served=replayed.served.take(rows),
        recomputed=replayed.recomputed.take(rows),
        comparisons=_taken(replayed.comparisons, rows),
    )
    worlds = Counterfactuals(
        engine,
        view,
        replayed.fields,
        entities,
        as_ofs,
        asked_at=replayed.asked.logged.times[replayed.asked.rows[rows]],
        previous=earlier(view),
    )
    for finding in diagnose(compared, worlds):
        flags = differs if finding.field is None else by_field[finding.field]
        yield _of_all(finding, flags, rows, since=int(replayed.asked.as_ofs[flags].min()))


def on_demand_findings(items: Sequence[Evaluated]) -> tuple[Finding, ...]:
    """Return why on-demand values of one name do not follow from the inputs they were served beside."""
    return _merged([finding for item in items for finding in _on_demand_findings(item)])


def _on_demand_findings(item: Evaluated) -> Iterator[Finding]:
    differs = item.evaluator_differs
    if not differs.any():
        return
    paths = list(dict.fromkeys(column.path for column in columns(item.item.node)))
    texts = [list(map(repr, held_values(item.inputs[path]))) for path in paths]
    rows = _chosen(~item.open & ~item.unknown if item.unlogged else ~item.open, differs, texts)
    if not len(rows) or not paths:  # a constant has no inputs that could say anything
        return
    inputs = {path: held_values(item.inputs[path].take(pa.array(rows))) for path in paths}
    beside = [
        ", ".join(f"{path} = {value!r}" for path, value in zip(inputs, values, strict=True))
        for values in zip(*inputs.values(), strict=True)
    ]
    compared = Compared(
        entities=_shown(item.logged, rows, beside),
        fields=(item.field,),
        refresh=Refresh(as_of=0, fingerprint=item.logged.plan.fingerprint),
        rows=(StoredRow(state=RowState.OWN),) * len(rows),
        served=_one_field(item.field, item.served).take(rows),
        recomputed=_one_field(item.field, item.from_served).take(rows),
        comparisons=_taken({item.field.name: item.served_inputs}, rows),
    )
    for finding in diagnose(compared, worlds=_other_expressions(item, rows)):
        yield _of_all(finding, differs, rows)


def _other_expressions(item: Evaluated, rows: Rows) -> Iterator[World]:
    """Yield what the values would be by other expressions: with a function left out."""
    inputs = {column.path: column for column in columns(item.item.node)}
    batch = pa.record_batch([item.inputs[path].take(pa.array(rows)) for path in inputs], list(inputs))
    for cause, told, change in expression_changes():
        node = transform(item.item.node, change)
        if node == item.item.node:
            continue
        (values,) = compile_batch([node], list(inputs.values()))(batch)
        yield World(
            factors=(Factor(cause=cause, told=told),), answers=_one_field(item.field, with_default(values, item.item))
        )


def _chosen(usable: Flags, differs: Flags, texts: Sequence[Sequence[Any]]) -> Rows:
    """Return the rows to look at: of those that ask the same, one that differs and one that doesn't, spread evenly."""
    candidates = np.flatnonzero(usable)
    asked = [[each[at] for at in candidates.tolist()] for each in texts]
    firsts, _ = distinct(*asked, differs[candidates].tolist())
    rows = candidates[firsts]
    kinds = (rows[differs[rows]], rows[~differs[rows]])
    if not len(kinds[0]):
        return kinds[0]
    return np.sort(np.concatenate([_spread(each) for each in kinds]))


def _spread(rows: Rows) -> Rows:
    if len(rows) <= MOST_OF_A_KIND:
        return rows
    return rows[np.linspace(0, len(rows) - 1, MOST_OF_A_KIND).astype(np.intp)]


def _of_all(finding: Finding, differs: Flags, rows: Rows, since: int | None = None) -> Finding:
    """Return a finding about a sample as one about all rows: what it explains counted among all that differ."""
    looked_at = int(differs[rows].sum())
    count = round(finding.count * int(differs.sum()) / looked_at) if looked_at else finding.count
    return replace(finding, count=count, since=since)


def _merged(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings of several parts of a log, those of one cause and field as one."""
    groups: dict[tuple[str | None, tuple[Cause, ...]], list[Finding]] = {}
    totals: dict[str | None, float] = {}
    for finding in findings:
        groups.setdefault((finding.field, finding.causes), []).append(finding)
        totals[finding.field] = totals.get(finding.field, 0) + finding.count
    return by_weight(_as_one(group, totals[field]) for (field, _), group in groups.items())


def _as_one(group: Sequence[Finding], total: float) -> Finding:
    if len(group) == 1:
        return group[0]
    first, count = group[0], sum(each.count for each in group)
    return replace(
        first,
        count=count,
        share=1.0 if first.field is None else count / total,
        confidence=min(each.confidence for each in group),
        evidence=tuple(one for each in group for one in each.evidence)[:EVIDENCE_ROWS],
        also=tuple(dict.fromkeys(one for each in group for one in each.also)),
        since=min((each.since for each in group if each.since is not None), default=None),
    )


def _shown(logged: LoggedRows, rows: Rows, entities: Sequence[str]) -> tuple[str, ...]:
    """Return rows as people find them again: the entity or inputs, the request and its time."""
    ids = logged.table.column(REQUEST_ID).take(pa.array(rows)).to_pylist()
    times = logged.times[rows].tolist()
    return tuple(
        f"{entity} at {format_instant(at)}, request {id_}" for entity, at, id_ in zip(entities, times, ids, strict=True)
    )


def _held(table: pa.Table, keys: Sequence[Field]) -> list[tuple[Any, ...]]:
    return list(zip(*(held_values(table.column(key.name).combine_chunks()) for key in keys), strict=True))


def _taken(comparisons: Mapping[str, FieldComparison], rows: Rows) -> dict[str, FieldComparison]:
    return {name: replace(found, verdicts=found.verdicts[rows]) for name, found in comparisons.items()}


def _one_field(field: FieldSpec, cells: Cells) -> Answers:
    return Answers(found=np.ones(len(cells.values), np.bool_), fields={field.name: cells})
