"""Served beside recomputed, field by field: one verdict for each cell. Pure, and column by column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np

from featurekit.consistency.cells import Answers, Cells, Codes, FieldSpec, Flags, same_values, within_ulps
from featurekit.status import Status


class Verdict(IntEnum):
    """How a served cell stands to the recomputed one. Only the first two are agreement."""

    MATCH = 0
    WITHIN_TOLERANCE = 1  # differs by no more than the declared ulps
    MISMATCH = 2  # both have a value, and not the same one
    MISSING = 3  # the recomputed side has a row for the entity, the served side has none
    EXTRA = 4  # the served side has a row for the entity, the recomputed side has none
    NULL_TO_VALUE = 5  # recomputed: no value; served: one
    VALUE_TO_NULL = 6  # recomputed: a value; served: none
    STATUS = 7  # neither has a value of its own, for different reasons: NULL is not MISSING is not EXPIRED
    UNAVAILABLE = 8  # the served side could not answer
    INDETERMINATE = 9  # the two differ, and so do the sources that they were computed from (DESIGN T2)

    @property
    def agrees(self) -> bool:
        return self <= Verdict.WITHIN_TOLERANCE

    @property
    def differs(self) -> bool:
        """Whether the served value is known not to be what training says."""
        return not self.agrees and self is not Verdict.INDETERMINATE

    @property
    def label(self) -> str:
        return self.name.lower().replace("_to_", " → ").replace("_", " ")


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldComparison:
    """One field's verdicts, a `Verdict` code for each entity."""

    field: FieldSpec
    verdicts: Codes

    @property
    def differs(self) -> Flags:
        differs: Flags = (self.verdicts > Verdict.WITHIN_TOLERANCE) & (self.verdicts != Verdict.INDETERMINATE)
        return differs

    @property
    def counts(self) -> dict[Verdict, int]:
        """How many cells have each verdict, all verdicts listed."""
        counts = np.bincount(self.verdicts, minlength=len(Verdict))
        return {verdict: int(counts[verdict]) for verdict in Verdict}


def compare_fields(
    fields: tuple[FieldSpec, ...], served: Answers, recomputed: Answers
) -> Mapping[str, FieldComparison]:
    """Return each field's verdicts; both sides hold the same entities in the same order, after defaults.

    A field that one side lacks is a KeyError: what is not there can't agree.
    """
    return {
        field.name: FieldComparison(
            field=field,
            verdicts=_verdicts(
                field,
                served.fields[field.name],
                recomputed.fields[field.name],
                served_found=served.found,
                recomputed_found=recomputed.found,
            ),
        )
        for field in fields
    }


def without_proof(comparisons: Mapping[str, FieldComparison], proven: Flags) -> Mapping[str, FieldComparison]:
    """Return the verdicts where the source is another one by now: what differs is INDETERMINATE.

    Apart from what needs no recomputed value to be wrong: cells without an answer, and rows that are `proven` wrong.
    """

    def verdicts(found: FieldComparison) -> Codes:
        open_ = found.differs & ~proven & (found.verdicts != Verdict.UNAVAILABLE)
        return np.where(open_, np.uint8(Verdict.INDETERMINATE), found.verdicts)

    return {name: replace(found, verdicts=verdicts(found)) for name, found in comparisons.items()}


def _verdicts(
    field: FieldSpec, served: Cells, recomputed: Cells, *, served_found: Flags, recomputed_found: Flags
) -> Codes:
    own_served = served.statuses == Status.PRESENT
    own_recomputed = recomputed.statuses == Status.PRESENT
    same = same_values(served.values, recomputed.values, field.type)
    near = within_ulps(served.values, recomputed.values, field.type, field.ulps)
    same_status = served.statuses == recomputed.statuses
    # Two defaults are one value unless a plan of another version answered.
    same_without = same_status & (same | (served.statuses != Status.DEFAULTED))
    # The first that holds decides, so the order is the meaning: whether there is a row comes before what is in it.
    rules: tuple[tuple[Flags, Verdict], ...] = (
        (served.statuses == Status.UNAVAILABLE, Verdict.UNAVAILABLE),
        (~served_found & recomputed_found, Verdict.MISSING),
        (served_found & ~recomputed_found, Verdict.EXTRA),
        (own_served & own_recomputed & same, Verdict.MATCH),
        (own_served & own_recomputed & near, Verdict.WITHIN_TOLERANCE),
        (own_served & own_recomputed, Verdict.MISMATCH),
        (own_served, Verdict.NULL_TO_VALUE),
        (own_recomputed, Verdict.VALUE_TO_NULL),
        (same_without, Verdict.MATCH),
        (same_status, Verdict.MISMATCH),
    )
    return np.select(
        [flags for flags, _ in rules], [np.uint8(verdict) for _, verdict in rules], default=np.uint8(Verdict.STATUS)
    ).astype(np.uint8)
