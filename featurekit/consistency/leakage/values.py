"""What serving would have answered, had it looked at other times, known more, or kept no TTL: counterfactuals.

All as-ofs that are asked of a view and differ in time alone are answered by one sweep of its source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from featurekit.arrow_types import for_arrow, held_values, to_arrow
from featurekit.clock import DAY
from featurekit.compiled import CompiledService, CompiledView, OnDemandOutput, ServiceView
from featurekit.consistency.cells import Cells, FieldSpec
from featurekit.consistency.leakage.table import Ints
from featurekit.consistency.population import view_keys
from featurekit.consistency.recompute import cells_of, field_specs, recompute_requests
from featurekit.expr.nodes import Column
from featurekit.expr.nodes import columns as columns_of
from featurekit.offline.as_of import FOUND
from featurekit.offline.engine import BatchEngine
from featurekit.offline.join_plan import narrowed, used_features
from featurekit.status import Status
from featurekit.targets.python import compile_loop
from featurekit.types import DataType, Timestamp, integer_range, is_integer

FOREVER: Final = 36_525 * DAY
"""A lateness by which everything has landed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """Another way to look: each view as of the instants given by its name, row by row.

    With `knows_all` every row counts whenever it landed, and of an event its last version. With `no_ttl` no latest
    value expires.
    """

    as_of: Mapping[str, Ints]
    knows_all: bool = False
    no_ttl: bool = False


class Counterfactuals:
    """The outputs of a service for rows of a table, looked at in alternative ways."""

    def __init__(self, engine: BatchEngine, service: CompiledService) -> None:
        self._engine = engine
        self._service = service
        used = used_features(service)
        names: dict[str, set[str]] = {}
        for part in service.views:
            names.setdefault(part.view.name, set()).update(used.get(part.alias, set()))
        self.views: Mapping[str, CompiledView] = {
            part.view.name: narrowed(part.view, names[part.view.name])
            for part in service.views
            if names[part.view.name]
        }
        self.unseen: dict[str, int] = {}
        """How many rows of `cells`' first alternative are of entities without a row, by alias."""
        self._loop = _OnDemand(service.on_demand) if service.on_demand else None

    def cells(self, inputs: pa.Table, alternatives: Sequence[Alternative]) -> list[dict[str, Cells]]:
        """Return each alternative's outputs, after defaults, for the rows of `inputs`."""
        fields: list[dict[str, Cells]] = [{} for _ in alternatives]
        for view in self.views.values():
            parts = [part for part in self._service.views if part.view.name == view.name]
            for which in dict.fromkeys((each.knows_all, each.no_ttl) for each in alternatives):
                asked = [at for at, each in enumerate(alternatives) if (each.knows_all, each.no_ttl) == which]
                self._sweep(variant(view, *which), parts, inputs, alternatives, asked, fields)
        outputs = []
        for found in fields:
            if self._loop is not None:
                found |= self._loop.cells(found, inputs)
            outputs.append({output.name: found[output.name] for output in self._service.outputs})
        return outputs

    def _sweep(
        self,
        view: CompiledView,
        parts: Sequence[ServiceView],
        inputs: pa.Table,
        alternatives: Sequence[Alternative],
        asked: Sequence[int],
        into: list[dict[str, Cells]],
    ) -> None:
        keys = [role_keys(view, part, inputs) for part in parts]
        requests = pa.concat_tables(
            keyed.append_column("as_of", pa.array(alternatives[at].as_of[view.name], to_arrow(Timestamp())))
            for at in asked
            for keyed in keys
        )
        rows = recompute_requests(self._engine, view, requests)
        specs = field_specs(view, {})
        pairs = [(at, part) for at in asked for part in parts]
        for place, (at, part) in enumerate(pairs):
            mine = rows.slice(place * inputs.num_rows, inputs.num_rows)
            found = np.asarray(mine.column(FOUND).combine_chunks().to_numpy(zero_copy_only=False), np.bool_)
            if at == 0:
                self.unseen.setdefault(part.alias, int((~found).sum()))
            into[at] |= {f"{part.alias}.{spec.name}": cells_of(mine, spec, found) for spec in specs}


def role_keys(view: CompiledView, part: ServiceView, inputs: pa.Table) -> pa.Table:
    """Return a view's join keys as a service's role of it reads them; NULL where the view's type has no such value."""
    columns = [
        _as_key(inputs.column(request).combine_chunks(), key.type)
        for key, request in zip(view.keys, part.request_keys, strict=True)
    ]
    return pa.table(columns, names=[key.name for key in view_keys(view)])


def output_specs(service: CompiledService, ulps: Mapping[str, int]) -> dict[str, FieldSpec]:
    """Return how each output of a service is compared."""
    defaults = {
        f"{part.alias}.{feature.name}": feature.default for part in service.views for feature in part.view.features
    }
    defaults |= {f"{item.view}.{item.name}": item.default for item in service.on_demand}
    return {
        output.name: FieldSpec(
            name=output.name,
            type=output.type,
            is_latest=False,
            default=defaults[output.name],
            empty=None,
            ulps=ulps.get(output.name, 0),
        )
        for output in service.outputs
    }


def _as_key(column: pa.Array, kind: DataType) -> pa.Array:
    if column.type == to_arrow(kind) or not is_integer(kind):
        return column.cast(to_arrow(kind))
    low, high = integer_range(kind)
    fits = pc.and_(pc.greater_equal(column, low), pc.less_equal(column, high)) if _is_wider(column, high) else None
    return (column if fits is None else pc.if_else(fits, column, None)).cast(to_arrow(kind))


def _is_wider(column: pa.Array, high: int) -> bool:
    return bool((1 << (column.type.bit_width - 1)) - 1 > high)


def variant(view: CompiledView, knows_all: bool, no_ttl: bool) -> CompiledView:
    """Return a view that knows all rows whenever they landed, or whose latest values never expire."""
    if knows_all:
        view = replace(view, view=view.view.model_copy(update={"allowed_lateness": FOREVER}))
    if no_ttl:
        view = replace(view, features=tuple(replace(each, ttl=None) for each in view.features))
    return view


class _OnDemand:
    """On-demand features over cells of views' features and request values."""

    def __init__(self, items: Sequence[OnDemandOutput]) -> None:
        self._items = items
        nodes = [item.expression for item in items]
        self._inputs: list[Column] = list(dict.fromkeys(column for node in nodes for column in columns_of(node)))
        self._loop = compile_loop(nodes, self._inputs)

    def cells(self, fields: Mapping[str, Cells], inputs: pa.Table) -> dict[str, Cells]:
        held = [
            held_values(fields[column.path].values if column.qualifier else inputs.column(column.name).combine_chunks())
            for column in self._inputs
        ]
        results = self._loop(held, inputs.num_rows)
        return {
            f"{item.view}.{item.name}": _computed(item, values)
            for item, values in zip(self._items, results, strict=True)
        }


def _computed(item: OnDemandOutput, values: Sequence[Any]) -> Cells:
    lacking = np.array([value is None for value in values], np.bool_)
    filled = [item.default if value is None else value for value in values]
    without = Status.NULL if item.default is None else Status.DEFAULTED
    return Cells(
        values=pa.array([for_arrow(value, item.type) for value in filled], to_arrow(item.type)),
        statuses=np.where(lacking, np.uint8(without), np.uint8(Status.PRESENT)).astype(np.uint8),
    )
