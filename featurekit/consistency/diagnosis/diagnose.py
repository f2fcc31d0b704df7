"""Differing cells -> causes. A row's label is asked first, then whether there is a row, then its cells one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from featurekit.arrow_types import for_arrow
from featurekit.clock import format_instant
from featurekit.consistency.cells import (
    Answers,
    Cells,
    FieldSpec,
    Flags,
    rounded_to_float32,
    same_values,
    zeros_of,
)
from featurekit.consistency.compare import FieldComparison, Verdict, compare_fields
from featurekit.consistency.diagnosis.causes import Cause, Refresh, RowState, StoredRow, explain
from featurekit.consistency.diagnosis.findings import Evidence, Finding
from featurekit.consistency.show import show_cell, show_row, show_status, show_value, shown_fields
from featurekit.types import Boolean, Float64

EVIDENCE_ROWS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One view's sample with all that a diagnosis looks at; everything is in the order of `entities`.

    `previous` holds the entities at `previous_rows` as the refresh before had them, where it was recomputed.
    """

    entities: tuple[str, ...]
    fields: tuple[FieldSpec, ...]
    refresh: Refresh
    rows: tuple[StoredRow, ...]
    served: Answers
    recomputed: Answers
    comparisons: Mapping[str, FieldComparison]
    previous: Answers | None = None
    previous_rows: npt.NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))


def unlabelled_mismatches(compared: Compared) -> npt.NDArray[np.intp]:
    """Return the positions of entities whose cells differ in a row that is there and whose label says nothing.

    For these it is worth recomputing the refresh before.
    """
    causes = _row_causes(compared)
    differs = np.logical_or.reduce([comparison.differs for comparison in compared.comparisons.values()])
    return np.flatnonzero(differs & np.array([cause is None for cause in causes], np.bool_))


def diagnose(compared: Compared) -> tuple[Finding, ...]:
    """Return what differs and why, rows before cells; empty where everything agrees."""
    rows = _row_causes(compared)
    findings = [_row_finding(cause, rows, compared) for cause in Cause if cause in rows]
    is_previous = _is_previous_refresh(compared)
    for spec in compared.fields:
        causes = _cell_causes(spec, compared, rows, is_previous)
        findings += [_cell_finding(cause, spec, causes, compared) for cause in Cause if cause in causes]
    return tuple(findings)


def _row_causes(compared: Compared) -> list[Cause | None]:
    """Return each entity's cause that is about its whole row, None where there is none."""
    presence = _presence(compared)
    return [
        # The label first: the client answers nothing for a row that it refuses, and the label says why.
        row.cause or next((cause for flags, cause in presence if flags[position]), None)
        for position, row in enumerate(compared.rows)
    ]


def _presence(compared: Compared) -> tuple[tuple[Flags, Cause], ...]:
    """Return which rows have a verdict that is about the whole row, and the cause that it is."""

    def some(verdict: Verdict) -> Flags:
        found: Flags = np.logical_or.reduce([each.verdicts == verdict for each in compared.comparisons.values()])
        return found

    return (
        (some(Verdict.UNAVAILABLE), Cause.UNAVAILABLE),
        (some(Verdict.MISSING), Cause.MISSING_ROW),
        (some(Verdict.EXTRA), Cause.EXTRA_ROW),
    )


def _is_previous_refresh(compared: Compared) -> Flags:
    """Return which rows equal the refresh before in every field, and differ from their own in more than flags.

    All fields must agree with the one and some differ from the other: a single flag takes an old value by chance.
    """
    found = np.zeros(len(compared.entities), np.bool_)
    if compared.previous is None:
        return found
    positions = compared.previous_rows
    old = compare_fields(compared.fields, compared.served.take(positions), compared.previous)
    equals_old = np.logical_and.reduce([comparison.verdicts == Verdict.MATCH for comparison in old.values()])
    telling = [
        compared.comparisons[spec.name].differs[positions]
        for spec in compared.fields
        if not isinstance(spec.type, Boolean)
    ]
    differs = np.logical_or.reduce(telling) if telling else np.zeros(len(positions), np.bool_)
    found[positions] = equals_old & differs
    return found


def _cell_causes(
    spec: FieldSpec, compared: Compared, rows: list[Cause | None], is_previous: Flags
) -> list[Cause | None]:
    """Return each entity's cause for this field, None where the cell agrees or its row has a cause of its own."""
    comparison = compared.comparisons[spec.name]
    served, recomputed = compared.served.fields[spec.name], compared.recomputed.fields[spec.name]
    filled = comparison.verdicts == Verdict.NULL_TO_VALUE
    mismatched = comparison.verdicts == Verdict.MISMATCH
    candidates: tuple[tuple[Flags, Cause], ...] = (
        (is_previous, Cause.PREVIOUS_REFRESH),
        # Before zero: where the default is 0, that it is the default says more.
        (filled & _holds_default(spec, served), Cause.NULL_FILLED_WITH_DEFAULT),
        (filled & zeros_of(served.values), Cause.NULL_FILLED_WITH_ZERO),
        (mismatched & _is_rounded(spec, served, recomputed), Cause.FLOAT32_ROUNDED),
    )
    causes: list[Cause | None] = [None] * len(rows)
    for position in np.flatnonzero(comparison.differs):
        if rows[position] is None:
            named = (cause for flags, cause in candidates if flags[position])
            causes[position] = next(named, Cause.UNKNOWN)
    return causes


def _holds_default(spec: FieldSpec, served: Cells) -> Flags:
    if spec.default is None:
        return np.zeros(len(served.values), np.bool_)
    default = pa.array([for_arrow(spec.default, spec.type)], served.values.type)
    return same_values(served.values, default.take(pa.array(np.zeros(len(served.values), np.int64))), spec.type)


def _is_rounded(spec: FieldSpec, served: Cells, recomputed: Cells) -> Flags:
    if not isinstance(spec.type, Float64):
        return np.zeros(len(served.values), np.bool_)
    return same_values(served.values, rounded_to_float32(recomputed.values), spec.type)


def _row_finding(cause: Cause, causes: list[Cause | None], compared: Compared) -> Finding:
    positions = [position for position, each in enumerate(causes) if each is cause]
    evidence = tuple(_row_evidence(cause, position, compared) for position in positions[:EVIDENCE_ROWS])
    return Finding(cause=cause, field=None, count=len(positions), evidence=evidence)


def _row_evidence(cause: Cause, position: int, compared: Compared) -> Evidence:
    # The fields that differ come first: only the first few are shown.
    order = sorted(
        range(len(compared.fields)),
        key=lambda at: not compared.comparisons[compared.fields[at].name].differs[position],
    )
    fields = tuple(compared.fields[at] for at in order)
    served = show_row(fields, compared.served, position)
    row = compared.rows[position]
    if row.state is RowState.STALE and row.values is not None and row.statuses is not None:
        held = [
            (spec.name, show_status(row.values[at], row.statuses[at], spec.type))
            for at, spec in zip(order, fields, strict=True)
        ]
        served += f"; the row holds {shown_fields(held)}"
    return Evidence(
        entity=compared.entities[position],
        field=None,
        served=served,
        recomputed=show_row(fields, compared.recomputed, position),
        explanation=explain(cause, row, compared.refresh),
    )


def _cell_finding(cause: Cause, spec: FieldSpec, causes: list[Cause | None], compared: Compared) -> Finding:
    positions = [position for position, each in enumerate(causes) if each is cause]
    default = "" if spec.default is None else show_value(spec.default, spec.type)
    evidence = tuple(
        Evidence(
            entity=compared.entities[position],
            field=spec.name,
            served=show_cell(spec, compared.served.fields[spec.name], position),
            recomputed=show_cell(spec, compared.recomputed.fields[spec.name], position),
            explanation=_told(cause, compared.refresh, default),
        )
        for position in positions[:EVIDENCE_ROWS]
    )
    return Finding(cause=cause, field=spec.name, count=len(positions), evidence=evidence)


def _told(cause: Cause, refresh: Refresh, default: str) -> str:
    as_of = format_instant(refresh.as_of)
    return {
        Cause.PREVIOUS_REFRESH: (
            f"The whole row equals the refresh before, as of {format_instant(refresh.previous)}, "
            f"though it says {as_of}."
        ),
        Cause.NULL_FILLED_WITH_DEFAULT: (
            f"Training has no value here; the row holds the default {default} as if it had been measured."
        ),
        Cause.NULL_FILLED_WITH_ZERO: "Training has no value here; the row holds 0 as if it had been measured.",
        Cause.FLOAT32_ROUNDED: "The served value is the recomputed one after a detour through float32.",
    }.get(cause, "Nothing that was tried explains the served value.")
