"""What is wrong with whole rows: what the stored row's label says, and whether there is a row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from featurekit.consistency.cells import Flags
from featurekit.consistency.compare import Verdict
from featurekit.consistency.diagnosis.causes import Cause, RowState, explain
from featurekit.consistency.diagnosis.compared import Compared
from featurekit.consistency.diagnosis.findings import EVIDENCE_ROWS, Evidence, Finding
from featurekit.consistency.diagnosis.remedies import REMEDIES
from featurekit.consistency.show import show_row, show_status, shown_fields


def row_causes(compared: Compared) -> list[Cause | None]:
    """Return each entity's cause that is about its whole row, None where there is none."""
    presence = _presence(compared)
    return [
        # The label first: the client answers nothing for a row that it refuses, and the label says why.
        row.cause or next((cause for flags, cause in presence if flags[position]), None)
        for position, row in enumerate(compared.rows)
    ]


def row_finding(
    cause: Cause, positions: Sequence[int], compared: Compared, *, told: str = "", confidence: float = 1.0
) -> Finding:
    """Return the finding about some whole rows; `told` says why where the row itself does not."""
    evidence = tuple(_row_evidence(cause, position, compared, told) for position in positions[:EVIDENCE_ROWS])
    return Finding(
        cause=cause,
        field=None,
        count=len(positions),
        evidence=evidence,
        confidence=confidence,
        remedy=REMEDIES[cause],
    )


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


def _row_evidence(cause: Cause, position: int, compared: Compared, told: str) -> Evidence:
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
        explanation=told or explain(cause, row, compared.refresh),
    )
