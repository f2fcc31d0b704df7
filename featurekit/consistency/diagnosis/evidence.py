"""The source rows behind a cell, as people read them: those that it is made of, or that a factor brings or takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from featurekit.arrow_types import held_values
from featurekit.compiled import CompiledFeature, CompiledView, SlotFunction
from featurekit.consistency.diagnosis.changes import changed_by
from featurekit.consistency.diagnosis.factors import Factor
from featurekit.consistency.diagnosis.source_rows import ROW
from featurekit.consistency.diagnosis.worlds import Recomputation
from featurekit.consistency.entity_keys import key_table
from featurekit.consistency.population import view_keys
from featurekit.consistency.show import show_value
from featurekit.expr.nodes import Column
from featurekit.expr.nodes import columns as columns_of
from featurekit.offline.source import CREATED, EVENT, SUPERSEDED, column_name, key_names
from featurekit.types import Timestamp
from featurekit.windows import Window, start_of

SHOWN_ROWS: Final = 3
_MOST_COLUMNS: Final = 6


def evidence_rows(
    computed: Recomputation, factors: Sequence[Factor], position: int, field: str, *, most: int = SHOWN_ROWS
) -> tuple[str, ...]:
    """Return source rows that show what some factors do to a cell, the newest first.

    They are the rows that count with the factors and not without, or the other way; where there are none, because the
    factors change how rows count and not which, the rows that the cell is made of.
    """
    honest = _rows_behind(computed, (), position, field)
    other = _rows_behind(computed, factors, position, field) if factors else honest
    more, less = Counter(other) - Counter(honest), Counter(honest) - Counter(other)
    text = _Texts(computed, field)
    lines = [f"counted, and should not be: {text.of(row)}" for row in _in_order(more, other)]
    lines += [f"not counted, and should be: {text.of(row)}" for row in _in_order(less, honest)]
    return tuple(lines[:most]) or tuple(text.of(row) for row in honest[:most])


def _in_order(chosen: Counter[int], rows: Sequence[int]) -> list[int]:
    return [row for row in dict.fromkeys(rows) for _ in range(chosen[row])]


def _rows_behind(computed: Recomputation, factors: Sequence[Factor], position: int, field: str) -> list[int]:
    """Return the places of the source rows that a cell is made of with some factors at work, the newest first."""
    changed = changed_by(computed, factors)
    if changed is None:
        return []
    view, as_of = changed.view, int(changed.as_ofs[position])
    feature = view.feature(field)
    if feature is None:
        return []
    table = computed.counted(changed.rows, view)
    key = key_table([tuple(changed.entities[position])], view_keys(view))
    waited = as_of + view.view.allowed_lateness
    kept = [pc.equal(table[label], key.column(at)[0]) for at, label in enumerate(key_names(view))]
    kept += [pc.less(table[EVENT], as_of), pc.less_equal(table[CREATED], waited)]
    kept.append(pc.fill_null(pc.greater(table[SUPERSEDED], waited), True))
    if (start := _start(view, feature, as_of)) is not None:
        kept.append(pc.greater_equal(table[EVENT], start))
    chosen = np.logical_and.reduce([np.asarray(each.fill_null(False).to_numpy(), np.bool_) for each in kept])
    rows = table.select([ROW, EVENT, CREATED]).filter(pa.array(chosen))
    rows = rows.sort_by([(EVENT, "descending"), (CREATED, "descending"), (ROW, "ascending")])
    found: list[int] = rows[ROW].to_pylist()
    return found[:1] if feature.is_latest else found


def _start(view: CompiledView, feature: CompiledFeature, as_of: int) -> int | None:
    """Return the instant from which on rows are in one of the feature's windows; None where any row is."""
    used = {column.name for column in columns_of(feature.expression)}
    slots = [slot for slot in view.slots if slot.name in used]
    windows: list[Window | None] = [None if slot.function is SlotFunction.LATEST else slot.window for slot in slots]
    starts = [None if window is None else start_of(window, as_of) for window in windows]
    known = [start for start in starts if start is not None]
    return min(known) if known and len(known) == len(starts) else None


class _Texts:
    """Source rows as people read them: when each happened and landed, and what a field reads of it."""

    def __init__(self, computed: Recomputation, field: str) -> None:
        self._view, self._table = computed.view, computed.rows.table
        feature = self._view.feature(field)
        self._columns = _columns_read(self._view, feature) if feature is not None else ()

    def of(self, row: int) -> str:
        event, created = (self._value(row, label) for label in (EVENT, CREATED))
        when = show_value(event, Timestamp())
        if created != event:
            when += f", landed {show_value(created, Timestamp())}"
        read = ", ".join(
            f"{column.name} = {show_value(self._value(row, column_name(column)), column.type)}"
            for column in self._columns[:_MOST_COLUMNS]
        )
        return f"{when}: {read}" if read else when

    def _value(self, row: int, label: str) -> Any:
        return held_values(self._table[label].slice(row, 1).combine_chunks())[0]


def _columns_read(view: CompiledView, feature: CompiledFeature) -> tuple[Column, ...]:
    used = {column.name for column in columns_of(feature.expression)}
    parts = [part for slot in view.slots if slot.name in used for part in (slot.argument, slot.by, slot.filter)]
    nodes = [*(part for part in parts if part is not None), *(() if view.where is None else (view.where,))]
    times = view.source.time_columns
    found = dict.fromkeys(column for node in nodes for column in columns_of(node) if column.name not in times)
    return tuple(found)
