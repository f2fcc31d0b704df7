"""On-demand features: from what a service's views and the request hold to values, statuses and reasons.

Few rows are computed one after the other from Python values, many from arrays; `targets.crossover` says which.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from featurekit.expr.nodes import Column
from featurekit.online.columns import Array, Codes, ViewColumns, is_held_as_object, storage_dtype
from featurekit.online.nested_columns import NestedColumn
from featurekit.online.planned import OnDemand, PlannedView
from featurekit.online.reason import Reason, is_degraded
from featurekit.plan import PlanExpression
from featurekit.status import Status
from featurekit.targets.crossover import takes_vectors
from featurekit.types import DataType

_VALUES: Final = (Status.PRESENT, Status.DEFAULTED)
_Mask = npt.NDArray[np.bool_]


class Computed(NamedTuple):
    """One on-demand feature: `values` as a `Part` of one output has them."""

    values: Array | list[Sequence[Any]]
    statuses: Codes
    reasons: Codes


class _Lacking(NamedTuple):
    """For which rows a feature's inputs are not what they should be: `away` without a value, or `degraded`."""

    away: Sequence[_Mask]
    degraded: Sequence[_Mask]
    default_stands_in: bool


class _Input(NamedTuple):
    """Where an input's values are: a request column, or a view's field at `place`."""

    column: Column
    request: Sequence[Any] | None
    view: PlannedView | None
    read: ViewColumns | None
    place: int

    @property
    def statuses(self) -> Codes | None:
        """None where all are PRESENT."""
        return None if self.read is None or self.read.statuses is None else self.read.statuses[self.place]

    @property
    def degraded(self) -> _Mask | None:
        if self.read is None or self.read.statuses is None or self.read.reasons is None:
            return None
        mask = is_degraded(self.read.statuses[self.place], self.read.reasons[self.place])
        return mask if mask.any() else None


def compute(
    on_demand: OnDemand,
    views: Sequence[PlannedView],
    columns: Sequence[ViewColumns],
    request: Mapping[str, Sequence[Any]],
    count: int,
) -> list[Computed]:
    """Return each on-demand feature of `count` rows."""
    inputs = list(_inputs(on_demand, views, columns, request))
    lacking = _lacking(on_demand, inputs)
    if takes_vectors(count):
        return _over_columns(on_demand, inputs, lacking, count)
    results = on_demand.loop([_held(each) for each in inputs], count)
    return [
        _completed(item, list(values), lacks)
        for item, values, lacks in zip(on_demand.features, results, lacking, strict=True)
    ]


def _lacking(on_demand: OnDemand, inputs: Sequence[_Input]) -> list[_Lacking]:
    codes = [each.statuses for each in inputs]
    away = [None if each is None else each == Status.UNAVAILABLE for each in codes]
    degraded = [each.degraded for each in inputs]
    return [
        _Lacking(
            [mask for i in needed if (mask := away[i]) is not None],
            [mask for i in needed if (mask := degraded[i]) is not None],
            on_demand.defaults_stand_in,
        )
        for needed in on_demand.feature_inputs
    ]


def _inputs(
    on_demand: OnDemand,
    views: Sequence[PlannedView],
    columns: Sequence[ViewColumns],
    request: Mapping[str, Sequence[Any]],
) -> Iterator[_Input]:
    by_path = {
        path: (view, read, place)
        for view, read in zip(views, columns, strict=True)
        for path, place in view.places.items()
    }
    for column in on_demand.inputs:
        if column.qualifier is None:
            yield _Input(column, request[column.name], None, None, 0)
        else:
            yield _Input(column, None, *by_path[column.path])


def _held(given: _Input) -> Sequence[Any]:
    """Return an input's held values, None where there is no value."""
    if given.view is None or given.read is None:
        assert given.request is not None
        return given.request
    group, at = given.view.reader.group_of(given.place)
    values = given.read.values[group]
    held: Sequence[Any] = values[at] if isinstance(values, list) else values[at].tolist()
    statuses = given.statuses
    if statuses is None:
        return held
    # The evaluator trusts a column that can't be NULL after defaults, so an UNAVAILABLE one gets a value to compute
    # with: what becomes of it is UNAVAILABLE whatever it is.
    stand_in = given.view.reader.stand_in(given.place)
    return [
        value if status in _VALUES else (stand_in if status == Status.UNAVAILABLE else None)
        for value, status in zip(held, statuses.tolist(), strict=True)
    ]


def _completed(item: PlanExpression, values: list[Any], lacks: _Lacking) -> Computed:
    """Return a feature with its default where it is NULL, and nothing (or that) where an input is away."""
    statuses, reasons = _codes(item, np.array([value is not None for value in values], np.bool_), len(values), lacks)
    if item.default is not None or lacks.away:
        instead = {Status.DEFAULTED: item.default, Status.UNAVAILABLE: None}
        values = [instead.get(status, value) for value, status in zip(values, statuses.tolist(), strict=True)]
    return Computed(_as_part(values, item.type), statuses, reasons)


def _codes(item: PlanExpression, valid: _Mask | None, count: int, lacks: _Lacking) -> tuple[Codes, Codes]:
    statuses = np.full(count, Status.PRESENT, np.uint8)
    if valid is not None:
        statuses[~valid] = Status.NULL
    reasons = np.zeros(count, np.uint8)
    if item.default is not None:
        reasons = statuses.copy()
        statuses[statuses == Status.NULL] = Status.DEFAULTED
    for mask in lacks.degraded:
        reasons[mask] = Reason.INPUT_DEGRADED
    instead = Status.DEFAULTED if lacks.default_stands_in and item.default is not None else Status.UNAVAILABLE
    for mask in lacks.away:
        statuses[mask] = instead
        reasons[mask] = Reason.INPUT_UNAVAILABLE
    return statuses, reasons


def _as_part(values: list[Any], kind: DataType) -> Array | list[Sequence[Any]]:
    if is_held_as_object(kind):
        return [values]
    return np.array([[0 if value is None else value for value in values]], storage_dtype(kind))


def _over_columns(
    on_demand: OnDemand, inputs: Sequence[_Input], lacking: Sequence[_Lacking], count: int
) -> list[Computed]:
    # Here: who looks up few rows loads no vector kernels.
    from featurekit.online.nested_vectors import nested_vector
    from featurekit.targets.vectors.vector import Vector

    def vector(given: _Input) -> Vector:
        array = _array(given)
        if isinstance(array, NestedColumn):
            return nested_vector(array.column)
        if array is None:
            return Vector.of_held(_held(given), given.column.type)
        return Vector.of_array(array, _valid(given), given.column.type)

    found = on_demand.columns()([vector(each) for each in inputs], count)
    computed = []
    for item, result, lacks in zip(on_demand.features, found, lacking, strict=True):
        if is_held_as_object(item.type):
            computed.append(_completed(item, list(result.held(count)), lacks))
            continue
        statuses, reasons = _codes(item, result.valid, count, lacks)
        values = result.values
        if result.valid is not None or lacks.away:
            values = np.where(
                statuses == Status.PRESENT, values, values.dtype.type(0 if item.default is None else item.default)
            )
        computed.append(Computed(values.astype(storage_dtype(item.type), copy=False)[None], statuses, reasons))
    return computed


def _array(given: _Input) -> Array | NestedColumn | None:
    """Return an input's array, None where it is held as objects."""
    if given.view is None or given.read is None:
        return None
    group, at = given.view.reader.group_of(given.place)
    values = given.read.values[group]
    stand_in = given.view.reader.stand_in(given.place)
    if isinstance(values, list):
        column = values[at]
        return column if isinstance(column, NestedColumn) and (given.statuses is None or stand_in is None) else None
    array: Array = values[at]
    if given.statuses is None or stand_in is None:
        return array
    return np.where(given.statuses == Status.UNAVAILABLE, array.dtype.type(stand_in), array)


def _valid(given: _Input) -> _Mask | None:
    """Return where an input has a value, or one that stands in for what is not there."""
    statuses = given.statuses
    if statuses is None or given.view is None:
        return None
    valid: _Mask = (statuses == Status.PRESENT) | (statuses == Status.DEFAULTED)
    if given.view.reader.stand_in(given.place) is not None:
        valid |= statuses == Status.UNAVAILABLE
    return valid
