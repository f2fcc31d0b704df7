"""What the choice of as-of does to each feature: the same labels as declared, as served and by event time."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from featurekit.clock import Instant
from featurekit.compiled import CompiledService, ServiceView
from featurekit.consistency.cells import Flags, same_values
from featurekit.consistency.leakage.evidence import hidden_rows
from featurekit.consistency.leakage.values import role_keys
from featurekit.expr.nodes import columns as columns_of
from featurekit.offline.engine import BatchEngine
from featurekit.offline.labels import LabelSpec
from featurekit.offline.manifest import AsOfMode, Manifest
from featurekit.offline.served_join import ServedHistory
from featurekit.offline.training import build_dataset, check_out
from featurekit.online.nested_arrow import value_bytes
from featurekit.types import Boolean, DataType, is_nested, is_numeric

_DATED_ROWS: Final = 200  # of those that differ: enough for a median, and few enough for their source rows
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How one way to tell values differs from the declared one, over all rows.

    `share` counts rows with another value, or with one where the other has none. Of numbers (true is 1): the mean of
    the absolute differences, of the differences, and the correlation, over rows where both have one; None where those
    can't be told. `effect` is how much it is, from 0 on: the mean absolute difference in standard deviations of the
    declared values, and the share of the rows where that says nothing.
    """

    share: float
    mean_absolute: float | None
    mean_shift: float | None
    correlation: float | None
    effect: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureEffect:
    """One output in the three sets; `known_later` is how long after a row's time serving had its event-time value.

    It is the median in microseconds over some of the rows that differ, None where none does.
    """

    name: str
    type: str
    served: Difference
    event_time: Difference
    known_later: int | None

    @property
    def worry(self) -> float:
        return max(self.served.effect, self.event_time.effect)


@dataclass(frozen=True, slots=True, kw_only=True)
class AsOfEffect:
    """Three training sets of the same labels, and how each output differs between them; what matters most first."""

    service: str
    rows: int
    sets: Mapping[AsOfMode, Manifest]
    features: tuple[FeatureEffect, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "service": self.service,
            "rows": self.rows,
            "sets": {mode.value: {"id": made.id, "views": made.to_json()["views"]} for mode, made in self.sets.items()},
            "features": [{**asdict(feature), "worry": feature.worry} for feature in self.features],
        }


def compare_as_of(
    engine: BatchEngine,
    service: CompiledService,
    labels: LabelSpec,
    *,
    served: ServedHistory,
    out: Path | None = None,
    now: Instant | None = None,
) -> AsOfEffect:
    """Build the three sets of the labels and compare them, each output with its declared values.

    They are kept as `declared`, `served` and `event-time` in the folder `out`, which must not exist yet, if there is
    one.
    """
    if out is not None:
        check_out(out)
    with _folder(out) as folder:
        sets = {
            mode: build_dataset(engine, service, labels, folder / mode.value, now=now, as_of=mode, served=served).record
            for mode in AsOfMode
        }
        tables = {mode: _table(service, labels, folder / mode.value) for mode in AsOfMode}
    features = _effects(engine, service, labels, tables)
    rows = sets[AsOfMode.DECLARED].rows
    order = sorted(features, key=lambda feature: -feature.worry)
    return AsOfEffect(service=service.name, rows=rows, sets=sets, features=tuple(order))


@contextmanager
def _folder(out: Path | None) -> Iterator[Path]:
    if out is None:
        with tempfile.TemporaryDirectory(prefix="featurekit-compare-") as folder:
            yield Path(folder)
        return
    try:
        yield out
    except BaseException:
        shutil.rmtree(out, ignore_errors=True)
        raise


def _table(service: CompiledService, labels: LabelSpec, folder: Path) -> pa.Table:
    """Return a set ordered by what its outputs follow from, so that rows of several sets lie side by side."""
    table = pq.read_table(folder)
    asked = dict.fromkeys((*service.keys.names, labels.timestamp, *service.request.names))
    types = {field.name: field.type for field in (*service.keys.fields, *service.request.fields)}
    columns = {}
    for place, label in enumerate(asked):
        column = table[label].combine_chunks()
        nested = label in types and is_nested(types[label])
        columns[str(place)] = value_bytes(column, types[label]) if nested else column
    order = pc.sort_indices(pa.table(columns), sort_keys=[(label, "ascending") for label in columns])
    return table.take(order)


def _effects(
    engine: BatchEngine, service: CompiledService, labels: LabelSpec, tables: Mapping[AsOfMode, pa.Table]
) -> list[FeatureEffect]:
    declared = tables[AsOfMode.DECLARED]
    differs = {
        mode: {
            output.name: _differs(declared[output.name], tables[mode][output.name], output.type)
            for output in service.outputs
        }
        for mode in (AsOfMode.SERVED, AsOfMode.EVENT_TIME)
    }
    later = _KnownLater(engine, service, labels, declared, differs[AsOfMode.EVENT_TIME])
    return [
        FeatureEffect(
            name=output.name,
            type=output.type.name,
            served=_difference(output.type, declared, tables[AsOfMode.SERVED], output.name, differs[AsOfMode.SERVED]),
            event_time=_difference(
                output.type, declared, tables[AsOfMode.EVENT_TIME], output.name, differs[AsOfMode.EVENT_TIME]
            ),
            known_later=later.of(output.name),
        )
        for output in service.outputs
    ]


def _differs(one: pa.ChunkedArray, other: pa.ChunkedArray, kind: DataType) -> Flags:
    left, right = _whole(one), _whole(other)
    neither = np.asarray(pc.and_(left.is_null(), right.is_null()).to_numpy(zero_copy_only=False), np.bool_)
    return ~(same_values(left, right, kind) | neither)


def _difference(
    kind: DataType, declared: pa.Table, other: pa.Table, label: str, differs: Mapping[str, Flags]
) -> Difference:
    share = float(differs[label].mean()) if len(differs[label]) else 0.0
    if not (is_numeric(kind) or isinstance(kind, Boolean)):
        return Difference(share=share, mean_absolute=None, mean_shift=None, correlation=None, effect=share)
    left, right = _numbers(declared[label]), _numbers(other[label])
    both = np.isfinite(left) & np.isfinite(right)
    alone = float((np.isfinite(left) != np.isfinite(right)).mean()) if len(both) else 0.0
    left, right = left[both], right[both]
    if not len(left):
        return Difference(share=share, mean_absolute=None, mean_shift=None, correlation=None, effect=share)
    apart = right - left
    spread = float(left.std())
    absolute = float(np.abs(apart).mean())
    moves = min(absolute / spread, 1.0) if spread else share
    return Difference(
        share=share,
        mean_absolute=absolute,
        mean_shift=float(apart.mean()),
        correlation=_correlation(left, right),
        effect=moves * (1 - alone) + alone,
    )


def _correlation(left: Floats, right: Floats) -> float | None:
    if len(left) < 2 or not left.std() or not right.std():
        return None
    return float(np.corrcoef(left, right)[0, 1])


def _numbers(column: pa.ChunkedArray) -> Floats:
    whole = _whole(column)
    if pa.types.is_boolean(whole.type):
        whole = whole.cast(pa.int8())
    return np.asarray(whole.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), np.float64)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    found = column.combine_chunks()
    return found if isinstance(found, pa.Array) else pa.concat_arrays(found.chunks)


class _KnownLater:
    """How long after its time serving had what a row has by event time, for some of the rows that differ."""

    def __init__(
        self,
        engine: BatchEngine,
        service: CompiledService,
        labels: LabelSpec,
        declared: pa.Table,
        differs: Mapping[str, Flags],
    ) -> None:
        self._service = service
        self._differs = differs
        anything = np.logical_or.reduce(list(differs.values())) if differs else np.zeros(0, np.bool_)
        places = np.flatnonzero(anything)
        if len(places) > _DATED_ROWS:
            places = places[np.linspace(0, len(places) - 1, _DATED_ROWS).astype(np.intp)]
        self._rows = places
        rows = declared.take(pa.array(places))
        asked = rows[labels.timestamp].cast(pa.timestamp("us", tz="UTC")).cast(pa.int64())
        at = np.asarray(asked.to_numpy(), np.int64)
        self._later = {part.alias: _later(engine, part, rows, at) for part in service.views} if len(places) else {}

    def of(self, output: str) -> int | None:
        """Return the median over the rows that differ in an output."""
        aliases = self._aliases(output)
        if not aliases or not len(self._rows):
            return None
        mine = self._differs[output][self._rows]
        latest = np.max([self._later[alias] for alias in aliases], axis=0)[mine]
        return int(median(latest.tolist())) if len(latest) else None

    def _aliases(self, output: str) -> Sequence[str]:
        for item in self._service.on_demand:
            if output == f"{item.view}.{item.name}":
                found = (column.qualifier for column in columns_of(item.expression))
                return list(dict.fromkeys(alias for alias in found if alias is not None))
        return [output.partition(".")[0]]


def _later(engine: BatchEngine, part: ServiceView, rows: pa.Table, at: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    view, grid = part.view, part.view.view.grid
    served = np.array([grid.served_at(time) for time in at.tolist()], np.int64)
    found = []
    hidden = hidden_rows(engine, view, role_keys(view, part, rows), served, at, knows_all=True)
    for time, each in zip(at.tolist(), hidden, strict=True):
        needed = time  # nothing more had happened: rows had left its windows by then
        if each.last_event is not None and each.last_created is not None:
            needed = max(each.last_event + 1, each.last_created - view.view.allowed_lateness)
        found.append(grid.next(needed - 1) + grid.availability_delay - time)
    return np.array(found, np.int64)
