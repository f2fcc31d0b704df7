"""What was served, as tables of the log: requests of one plan and the same refreshes are decoded together."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa

from featurekit.arrow_types import for_arrow, to_arrow
from featurekit.expr.nodes import columns as columns_of
from featurekit.key_sample import KeyHash
from featurekit.online.answer import AnswerPlan
from featurekit.online.keys import Namespace, entity_key_encoder
from featurekit.online.planned import PlannedService
from featurekit.online.request import Columns
from featurekit.online.result import Features
from featurekit.online.served_answer import Served, request_name
from featurekit.plan import LookupPlan
from featurekit.served_columns import (
    AS_OF,
    FINGERPRINT,
    LOG_FORMAT,
    METADATA,
    MODEL,
    MODEL_VERSION,
    REASON,
    REQUEST_ID,
    SERVICE,
    STATUS,
    TIMESTAMP,
    input_column,
)
from featurekit.types import DataType, Field

_NOWHERE: Final = Namespace("log", "log")
_WITH_INPUTS: Final[WeakKeyDictionary[AnswerPlan, AnswerPlan]] = WeakKeyDictionary()


class KeySample(NamedTuple):
    """Which rows are logged: those whose key's hash is below the threshold."""

    hash_of: KeyHash
    threshold: int
    seed: str
    share: float


def log_tables(served: Sequence[Served], sample: KeySample) -> Iterator[tuple[LookupPlan, pa.Table]]:
    """Yield what the log keeps of some requests, and the plan that answered: rows of the sample alone."""
    groups: dict[Any, list[Served]] = {}
    for each in served:
        # Where everything is as of the same refreshes, many requests decode as one of many rows.
        refreshes = tuple([(view.as_of, view.reason, view.reasons is None) for view in each.views])
        groups.setdefault((each.plan, refreshes), []).append(each)
    for group in groups.values():
        plan = group[0].plan.plan
        counts = np.array([each.columns.length for each in group])
        columns = _together([each.columns.values for each in group])
        kept = _sampled(plan, columns, int(counts.sum()), sample)
        if kept.any():
            yield plan, _table(group, counts, columns, kept)


def log_schema_metadata(plan: LookupPlan, *, project: str, environment: str, sample: KeySample) -> dict[bytes, bytes]:
    """Return what a file of the log says of itself."""
    content = {
        "format": LOG_FORMAT,
        "project": project,
        "environment": environment,
        "service": plan.service,
        "fingerprint": plan.fingerprint,
        "views": {part.alias: {"view": part.view, "fingerprint": part.fingerprint} for part in plan.views},
        "keys": [key.request for key in plan.keys],
        "request": list(plan.request.names),
        "inputs": [field.name for field in unseen_inputs(plan)],
        "sample": {"share": sample.share, "seed": sample.seed},
    }
    return {METADATA: json.dumps(content, separators=(",", ":")).encode()}


def unseen_inputs(plan: LookupPlan) -> tuple[Field, ...]:
    """Return the features that on-demand outputs are computed from and that are no outputs themselves.

    Without them nobody could tell whether an on-demand value follows from what was read.
    """
    shown = {output.name for output in plan.outputs}
    used = {
        column.path: Field(column.path, column.type, column.nullable)
        for item in plan.on_demand
        if item.name in shown
        for column in columns_of(item.node)
        if column.qualifier is not None
    }
    return tuple(field for path, field in used.items() if path not in shown)


def _with_inputs(plan: AnswerPlan) -> AnswerPlan:
    """Return a plan that also answers with what on-demand features were computed from."""
    unseen = unseen_inputs(plan.plan)
    if not unseen:
        return plan
    if plan not in _WITH_INPUTS:
        wider = replace(plan.plan, outputs=(*plan.plan.outputs, *unseen))
        _WITH_INPUTS[plan] = AnswerPlan(PlannedService(wider, _NOWHERE, pointer_key=b"", pointer=b""))
    return _WITH_INPUTS[plan]


def _together(parts: Sequence[Any]) -> dict[str, list[Any]]:
    if len(parts) == 1:
        return {name: list(values) for name, values in parts[0].items()}
    return {name: [value for part in parts for value in part[name]] for name in parts[0]}


def _sampled(plan: LookupPlan, columns: dict[str, list[Any]], count: int, sample: KeySample) -> np.ndarray[Any, Any]:
    if sample.share == 1:
        return np.ones(count, np.bool_)
    texts = entity_key_encoder([key.type for key in plan.keys])([columns[key.request] for key in plan.keys])
    # A NULL key is an entity too: the empty text is no other one's.
    return np.array([sample.hash_of(text or b"") < sample.threshold for text in texts], np.bool_)


def _table(
    group: Sequence[Served], counts: np.ndarray[Any, Any], columns: dict[str, list[Any]], kept: np.ndarray[Any, Any]
) -> pa.Table:
    plan, rows = group[0].plan.plan, int(kept.sum())
    inputs = {name: _chosen(values, kept) for name, values in columns.items()}
    features = _features(group, Columns(inputs, rows, is_single=False), kept)
    owner = np.repeat(np.arange(len(group)), counts)[kept]

    def each(values: list[Any], kind: pa.DataType) -> pa.Array:
        return pa.array(values, kind).take(pa.array(owner))

    def same(value: Any, kind: pa.DataType) -> pa.Array:
        return pa.repeat(pa.scalar(value, kind), rows)

    instant = pa.timestamp("us", tz="UTC")
    named: list[tuple[str, pa.Array]] = [
        (REQUEST_ID, each([_name(one) for one in group], pa.string())),
        (TIMESTAMP, each([one.at for one in group], instant)),
        (SERVICE, same(plan.service, pa.string())),
        (FINGERPRINT, same(plan.fingerprint, pa.string())),
        (MODEL, each([one.model for one in group], pa.string())),
        (MODEL_VERSION, each([one.model_version for one in group], pa.int64())),
    ]
    kinds = {key.request: key.type for key in plan.keys} | {field.name: field.type for field in plan.request.fields}
    named += [(input_column(name), _array(inputs[name], kind)) for name, kind in kinds.items()]
    answer = features.to_arrow()
    named += [(name, answer.column(name).combine_chunks()) for name in answer.column_names]
    for column, codes in ((STATUS, features.statuses), (REASON, features.reasons)):
        each_output = [pa.array(code) for code in np.ascontiguousarray(codes.T.astype(np.int8))]
        named.append((column, pa.StructArray.from_arrays(each_output, list(features.names))))
    as_of = features.as_of
    named.append((AS_OF, pa.StructArray.from_arrays([same(at, instant) for at in as_of.values()], list(as_of))))
    return pa.table([array for _, array in named], names=[name for name, _ in named])


def _features(group: Sequence[Served], columns: Columns, kept: np.ndarray[Any, Any]) -> Features:
    """Return the sampled rows of some requests as one answer, with all that on-demand features were computed from."""
    plan = _with_inputs(group[0].plan)
    views = [
        view._replace(
            rows=_chosen([row for each in group for row in each.views[i].rows], kept),
            reasons=None if view.reasons is None else np.concatenate([each.views[i].reasons for each in group])[kept],
        )
        for i, view in enumerate(group[0].views)
    ]
    told = plan.plan
    return Features(plan, columns, views, service=told.service, fingerprint=told.fingerprint, at=group[0].at)


def _name(served: Served) -> str:
    named = served.request_id
    return request_name(served.at, named) if isinstance(named, int) else named


def _chosen(values: list[Any], kept: np.ndarray[Any, Any]) -> list[Any]:
    if not values or kept.all():  # a view that could not answer has no rows
        return values
    return [value for value, is_kept in zip(values, kept.tolist(), strict=True) if is_kept]


def _array(values: Sequence[Any], kind: DataType) -> pa.Array:
    return pa.array([for_arrow(value, kind) for value in values], to_arrow(kind))
