"""Which source rows are visible from when until when, in this process: what `offline.visible_rows` has Spark say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from featurekit.compiled import CompiledView
from featurekit.consistency.diagnosis.source_rows import ROW
from featurekit.definitions.source import SourceKind
from featurekit.offline.arrow_columns import by_bits, canonical_column, computed, ranks_as_spark, whole_column
from featurekit.offline.source import CREATED, EVENT, ID, SUPERSEDED, VALID_TO, column_name, key_names, row_key_names

Ints = npt.NDArray[np.int64]
_NEVER: Final = 1 << 62
"""Beyond all timestamps, and far enough inside int64 to add a lateness to."""


def visible_rows(view: CompiledView, table: pa.Table) -> pa.Table:
    """Return the rows that any as-of sees, with `$superseded`: the known-at from which on each holds no more.

    That is NULL where it holds for ever. Rows without an event timestamp or that were never known are seen by none.
    """
    table = table.select(_needed(view))
    if table[CREATED].null_count:
        table = table.filter(table[CREATED].is_valid())
    if view.source.kind is not SourceKind.EVENTS:
        table = table.filter(_is_a_thing(view, table))
    until = _superseded(view, table)
    table = table.append_column(SUPERSEDED, pa.array(until, pa.int64(), mask=until >= _NEVER))
    return table.filter(pc.and_(table[EVENT].is_valid(), _is_there(view, table)))


def _needed(view: CompiledView) -> list[str]:
    labels = [ROW, *key_names(view), EVENT, CREATED, *row_key_names(view), *map(column_name, view.columns)]
    labels += [] if view.source.event_id is None else [ID]
    labels += [] if view.source.valid_to is None else [VALID_TO]
    return [*dict.fromkeys(labels)]


def source_columns(view: CompiledView, table: pa.Table) -> dict[str, pa.Array]:
    """Return the columns that decide the view's values, as expressions take them, by name."""
    return {
        column.name: canonical_column(whole_column(table[column_name(column)], column.type)) for column in view.columns
    }


def _is_a_thing(view: CompiledView, table: pa.Table) -> pa.Array:
    kept = table[EVENT].is_valid()
    for part in row_key_names(view) if view.source.kind is SourceKind.CHANGES else ():
        kept = pc.and_(kept, table[part].is_valid())
    return kept


def _is_there(view: CompiledView, table: pa.Table) -> pa.Array:
    if view.deleted is None:
        return pa.array(np.ones(table.num_rows, np.bool_))
    (gone,) = computed([view.deleted], source_columns(view, table), view.columns, table.num_rows)
    return pc.fill_null(pc.invert(gone), True)


def _superseded(view: CompiledView, table: pa.Table) -> Ints:
    match view.source.kind:
        case SourceKind.EVENTS:
            return _by_version(view, table)
        case SourceKind.CHANGES:
            return np.minimum(_by_later_state(view, table), _ended(view, table))
        case SourceKind.SNAPSHOTS:
            return _by_later_snapshot(view, table)


def _by_version(view: CompiledView, table: pa.Table) -> Ints:
    """Return when the next newer version of each row's event could be known."""
    until = np.full(table.num_rows, _NEVER, np.int64)
    if view.source.event_id is None:
        return until
    versions = np.flatnonzero(_flags(table[ID].is_valid()))
    groups = groups_of([table[ID].take(pa.array(versions))])
    several = np.bincount(groups, minlength=1)[groups] > 1
    versions, groups = versions[several], groups[several]
    chosen = table.take(pa.array(versions))
    created, event = _instants(chosen[CREATED]), _instants(chosen[EVENT].fill_null(-_NEVER))
    rest = (*key_names(view), *map(column_name, view.columns))
    order = order_of([groups, created, event], chosen, rest)
    follows = groups[order][1:] == groups[order][:-1]
    until[versions[order[:-1]]] = np.where(follows, created[order[1:]], _NEVER)
    return until


def _by_later_state(view: CompiledView, table: pa.Table) -> Ints:
    """Return from when on a later row about the same thing can be seen."""
    groups = groups_of([table[part] for part in row_key_names(view)])
    ends = () if view.source.valid_to is None else (VALID_TO,)
    rest = (*key_names(view), *ends, *map(column_name, view.columns))
    order = order_of([groups, _instants(table[EVENT]), _instants(table[CREATED])], table, rest)[::-1]
    return _least_before(groups, order, _comes(view, table))


def _by_later_snapshot(view: CompiledView, table: pa.Table) -> Ints:
    """Return from when on the first row of any later snapshot can be seen."""
    taken, of_row = np.unique(_instants(table[EVENT]), return_inverse=True)
    comes = np.full(len(taken) + 1, _NEVER, np.int64)
    np.minimum.at(comes, of_row, _comes(view, table))
    later = np.minimum.accumulate(comes[::-1])[::-1]
    found: Ints = later[of_row + 1]
    return found


def _comes(view: CompiledView, table: pa.Table) -> Ints:
    """Return the known-at of the first as-of that each row is visible at: it happened before it, and is known."""
    happened = _instants(table[EVENT]) + view.view.allowed_lateness + 1
    return np.maximum(happened, _instants(table[CREATED]))


def _ended(view: CompiledView, table: pa.Table) -> Ints:
    if view.source.valid_to is None:
        return np.full(table.num_rows, _NEVER, np.int64)
    ends = table[VALID_TO]
    known_at = _instants(ends.fill_null(0)) + view.view.allowed_lateness + 1
    return np.where(_flags(ends.is_valid()), known_at, _NEVER)


def _least_before(groups: Ints, order: Ints, values: Ints) -> Ints:
    """Return for each row the least value among those before it in its group; groups stand together in the order."""
    found = np.full(len(groups), _NEVER, np.int64)
    if not len(order):
        return found
    levels, ranks = np.unique(values, return_inverse=True)
    # Numbers of a later group are all less than those of an earlier one, so that no minimum goes on into the next.
    new = np.append(True, groups[order][1:] != groups[order][:-1])
    base = np.cumsum(new) * (len(levels) + 1)
    least = np.minimum.accumulate(ranks[order] - base) + base
    found[order[1:]] = np.where(new[1:], _NEVER, levels[np.minimum(least[:-1], len(levels) - 1)])
    return found


def order_of(first: Sequence[Ints], table: pa.Table, rest: Sequence[str]) -> Ints:
    """Return the order of rows by some numbers, then by columns as Spark sorts them; few rows tie, as a rule."""
    order = np.lexsort(tuple(reversed(first)))
    same = np.logical_and.reduce([numbers[order][1:] == numbers[order][:-1] for numbers in first])
    tied = np.flatnonzero(np.append(same, False) | np.append(False, same))
    if len(tied):
        stretch = np.cumsum(np.append(True, ~same))[tied]
        alike = table.take(pa.array(order[tied]))
        codes = [ranks_of(alike[label]) for label in rest]
        order[tied] = order[tied][np.lexsort((*reversed(codes), stretch))]
    return order


def groups_of(columns: Sequence[pa.ChunkedArray]) -> Ints:
    """Return a number for each row, the same for rows that have the same values in some columns."""
    numbers = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        codes = by_bits(canonical_column(_whole(column))).dictionary_encode(null_encoding="encode").indices
        pairs = numbers * (len(codes) + 1) + codes.to_numpy(zero_copy_only=False)
        numbers = np.unique(pairs, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return numbers


def ranks_of(column: pa.ChunkedArray) -> Ints:
    """Return numbers that are ordered as Spark orders a column's values."""
    return ranks_as_spark(canonical_column(_whole(column)))


def _instants(column: pa.ChunkedArray) -> Ints:
    instants: Ints = _whole(column).to_numpy(zero_copy_only=False).astype(np.int64)
    return np.clip(instants, -_NEVER, _NEVER)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _flags(column: pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    return np.asarray(_whole(column).to_numpy(zero_copy_only=False), np.bool_)
