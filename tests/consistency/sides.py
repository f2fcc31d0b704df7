"""Small sides for comparisons: cells written as values, where a status in place of a value is that status."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from featurekit.arrow_types import to_arrow
from featurekit.clock import DAY
from featurekit.consistency.cells import Answers, Cells, FieldSpec
from featurekit.consistency.compare import Verdict, compare_fields
from featurekit.consistency.diagnosis.causes import Refresh, RowState, StoredRow
from featurekit.consistency.diagnosis.compared import Compared
from featurekit.status import Status
from featurekit.types import DataType

REFRESH = Refresh(as_of=20 * DAY, fingerprint="9f3c" * 16)
OWN = StoredRow(state=RowState.OWN, as_of=REFRESH.as_of, fingerprint=REFRESH.fingerprint)
ABSENT = StoredRow(state=RowState.ABSENT)

Written = Any
"""A value (None is NULL), a Status, or (value, Status) for a default."""


def field(name: str, kind: DataType, *, default: Any = None, ulps: int = 0) -> FieldSpec:
    return FieldSpec(name=name, type=kind, is_latest=False, default=default, empty=None, ulps=ulps)


def cells(kind: DataType, *written: Written) -> Cells:
    """Return cells of one field."""
    pairs = [_cell(each) for each in written]
    return Cells(
        values=pa.array([value for value, _ in pairs], to_arrow(kind)),
        statuses=np.array([status for _, status in pairs], np.uint8),
    )


def side(fields: tuple[FieldSpec, ...], rows: list[tuple[Written, ...] | None]) -> Answers:
    """Return one side's answers; None is an entity without a row, whose cells are NULL."""
    filled = [row if row is not None else (None,) * len(fields) for row in rows]
    columns = list(zip(*filled, strict=True)) if filled else [()] * len(fields)
    return Answers(
        found=np.array([row is not None for row in rows], np.bool_),
        fields={spec.name: cells(spec.type, *column) for spec, column in zip(fields, columns, strict=True)},
    )


def compared(
    fields: tuple[FieldSpec, ...],
    served: list[tuple[Written, ...] | None],
    recomputed: list[tuple[Written, ...] | None],
    *,
    rows: list[StoredRow] | None = None,
) -> Compared:
    """Return the comparison of two sides; without `rows` each served row is its own refresh's."""
    one, other = side(fields, served), side(fields, recomputed)
    return Compared(
        entities=tuple(f"id = {position}" for position in range(len(served))),
        fields=fields,
        refresh=REFRESH,
        rows=tuple(rows) if rows else tuple(OWN if row is not None else ABSENT for row in served),
        served=one,
        recomputed=other,
        comparisons=compare_fields(fields, one, other),
    )


def verdict_of(kind: DataType, served: Written, recomputed: Written, *, ulps: int = 0) -> Verdict:
    """Return the verdict on one cell of a row that both sides have."""
    fields = (field("x", kind, ulps=ulps),)
    (code,) = compare_fields(fields, side(fields, [(served,)]), side(fields, [(recomputed,)]))["x"].verdicts
    return Verdict(int(code))


def _cell(written: Written) -> tuple[Any, Status]:
    match written:
        case Status():
            return None, written
        case (value, Status() as status):
            return value, status
        case None:
            return None, Status.NULL
        case value:
            return value, Status.PRESENT
