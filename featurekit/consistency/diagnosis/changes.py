"""All that may be otherwise about a view before its cells are computed, as factors: what `Recomputation` can answer."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from featurekit.compiled import CompiledView
from featurekit.consistency.cells import Answers
from featurekit.consistency.diagnosis.as_of_factors import as_of_factors
from featurekit.consistency.diagnosis.causes import Cause
from featurekit.consistency.diagnosis.factors import Entities, Factor
from featurekit.consistency.diagnosis.input_factors import input_factors
from featurekit.consistency.diagnosis.rows_factors import rows_factors
from featurekit.consistency.diagnosis.source_rows import SourceRows
from featurekit.consistency.diagnosis.view_factors import view_factors
from featurekit.consistency.diagnosis.worlds import Recomputation, RowsChange
from featurekit.offline.join_plan import narrowed
from featurekit.offline.source import column_name

Ints = npt.NDArray[np.int64]


def changes_of(
    computed: Recomputation, *, asked_at: Ints | None = None, previous: Sequence[CompiledView] = ()
) -> Iterator[Factor]:
    """Yield what may have been otherwise for the fields of a recomputation, cheapest first.

    `asked_at` is when each row was asked for, where that is known; `previous` are earlier definitions of the view.
    What would need source rows that are not here is left out, and so is what changes nothing.
    """
    view, rows, as_ofs = computed.view, computed.rows, computed.as_ofs
    view = narrowed(view, {spec.name for spec in computed.fields})
    known = [other for other in previous if _is_computable(other, view, rows)]
    instants = [*as_of_factors(view, as_ofs, asked_at)]
    computed.look_at([factor.as_ofs(as_ofs) for factor in instants if factor.as_ofs is not None])
    found = chain(
        instants,
        rows_factors(view, rows, as_ofs),
        (factor for factor in view_factors(view, known) if _is_within(factor, view, rows, as_ofs)),
        input_factors(view, rows),
    )
    yield from sorted(found, key=lambda factor: factor.cost)


def _is_computable(other: CompiledView, view: CompiledView, rows: SourceRows) -> bool:
    """Return whether another definition reads the same rows by the same keys, and only columns that are here."""

    def read(one: CompiledView) -> Hashable:
        source = one.source
        times = (*source.time_columns, source.timezone, source.known_from, source.assumed_lag)
        return source.name, source.kind, times, one.keys, one.row_key

    versions_are_known = other.source.event_id in (None, view.source.event_id)
    there = all(column_name(column) in rows.table.column_names for column in other.columns)
    return read(other) == read(view) and versions_are_known and there


def _is_within(factor: Factor, view: CompiledView, rows: SourceRows, as_ofs: Ints) -> bool:
    """Return whether all rows that another definition looks back to are here."""
    assert factor.view is not None
    other = factor.view(view)
    if rows.since is None or other is None or not len(as_ofs) or factor.cause is Cause.TTL_IGNORED:
        return True  # of what is older than a ttl, the newest is here
    start = other.since(int(as_ofs.min()))
    return start is not None and start >= rows.since


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """What a recomputation is of with some factors at work."""

    rows: RowsChange | None
    view: CompiledView
    as_ofs: Ints
    entities: Entities


def changed_by(computed: Recomputation, factors: Sequence[Factor]) -> Changed | None:
    """Return what some factors make of a recomputation, each in its layer; None where one of them changes nothing.

    Factors that turn cells make nothing of it: they come after all others, and need no source rows.
    """
    view, as_ofs, entities = computed.view, computed.as_ofs, computed.entities
    for factor in factors:
        if factor.view is not None:
            changed = factor.view(view)
            if changed is None:
                return None
            view = changed
        if factor.as_ofs is not None:
            as_ofs = factor.as_ofs(as_ofs)
        if factor.entities is not None:
            asked = factor.entities(entities)
            if asked is None:
                return None
            entities = asked
    rows = tuple(factor.rows for factor in factors if factor.rows is not None)
    in_turn = None if not rows else rows[0] if len(rows) == 1 else _InTurn(rows)
    return Changed(rows=in_turn, view=view, as_ofs=as_ofs, entities=entities)


def answers_with(computed: Recomputation, factors: Sequence[Factor]) -> Answers | None:
    """Return the answers with some factors at work; None where one of them changes nothing."""
    changed = changed_by(computed, factors)
    if changed is None:
        return None
    return computed.answers(
        rows=changed.rows,
        view=changed.view,
        as_ofs=None if changed.as_ofs is computed.as_ofs else changed.as_ofs,
        entities=None if changed.entities is computed.entities else changed.entities,
        fields=_touched(factors),
    )


def _touched(factors: Sequence[Factor]) -> frozenset[str] | None:
    """Return the fields that one of the factors is meant for; None where one is meant for all."""
    fields = [factor.fields for factor in factors if factor.fields is not None]
    return frozenset().union(*fields) if len(fields) == len(factors) else None


@dataclass(frozen=True, slots=True)
class _InTurn:
    """Changes of rows, one after the other; one that changes nothing is passed over."""

    changes: tuple[RowsChange, ...]

    def __call__(self, rows: SourceRows) -> SourceRows:
        for change in self.changes:
            rows = change(rows) or rows
        return rows
