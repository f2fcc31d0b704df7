"""Each difference has a cause, and a cause is named only where it is certain."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from featurekit.clock import DAY
from featurekit.consistency.diagnosis.causes import Cause, RowState, StoredRow
from featurekit.consistency.diagnosis.counterfactuals import World
from featurekit.consistency.diagnosis.diagnose import diagnose
from featurekit.consistency.diagnosis.factors import Factor
from featurekit.consistency.diagnosis.findings import EVIDENCE_ROWS
from featurekit.status import Status
from featurekit.types import Boolean, DataType, Float32, Float64, Int64, String
from tests.consistency.sides import OWN, REFRESH, compared, field, side

ROUNDED = struct.unpack("<f", struct.pack("<f", 0.1))[0]

CELLS: dict[str, tuple[DataType, Any, Any, Any, Cause | None]] = {
    "agreement": (Float64(), None, 1.0, 1.0, None),
    "0 for null": (Float64(), None, 0.0, None, Cause.NULL_FILLED_WITH_ZERO),
    "minus 0 for null": (Float64(), None, -0.0, None, Cause.NULL_FILLED_WITH_ZERO),
    "0 for missing": (Int64(), None, 0, Status.MISSING, Cause.NULL_FILLED_WITH_ZERO),
    "0 for expired": (Int64(), None, 0, Status.EXPIRED, Cause.NULL_FILLED_WITH_ZERO),
    "7 for null": (Int64(), None, 7, None, Cause.UNKNOWN),
    "the default, written as a value": (Int64(), 7, 7, (7, Status.DEFAULTED), Cause.NULL_FILLED_WITH_DEFAULT),
    "a default of 0, written as a value": (Int64(), 0, 0, (0, Status.DEFAULTED), Cause.NULL_FILLED_WITH_DEFAULT),
    "0 where the default is 7": (Int64(), 7, 0, (7, Status.DEFAULTED), Cause.NULL_FILLED_WITH_ZERO),
    "a default of text": (String(), "?", "?", ("?", Status.DEFAULTED), Cause.NULL_FILLED_WITH_DEFAULT),
    "an empty string for null": (String(), None, "", None, Cause.UNKNOWN),
    "false for null": (Boolean(), None, False, None, Cause.UNKNOWN),
    "a detour through float32": (Float64(), None, ROUNDED, 0.1, Cause.FLOAT32_ROUNDED),
    "almost a detour through float32": (Float64(), None, ROUNDED + 1e-12, 0.1, Cause.UNKNOWN),
    "a float32 is no detour": (Float32(), None, 0.25, 0.1, Cause.UNKNOWN),
    "too large for float32": (Float64(), None, float("inf"), 1e300, Cause.FLOAT32_ROUNDED),
    "null for a value": (Int64(), None, None, 7, Cause.UNKNOWN),
    "expired for missing": (Int64(), None, Status.EXPIRED, Status.MISSING, Cause.UNKNOWN),
    "no answer": (Int64(), None, Status.UNAVAILABLE, 1, Cause.UNAVAILABLE),
}


@pytest.mark.parametrize(("kind", "default", "served", "recomputed", "expected"), CELLS.values(), ids=CELLS)
def test_a_cell_has_the_cause_of_its_case(
    kind: DataType, default: Any, served: Any, recomputed: Any, expected: Cause | None
) -> None:
    findings = diagnose(compared((field("x", kind, default=default),), [(served,)], [(recomputed,)]))
    assert [finding.cause for finding in findings] == ([expected] if expected else [])


STALE = StoredRow(
    state=RowState.STALE,
    as_of=19 * DAY,
    fingerprint=REFRESH.fingerprint,
    values=(4, None),
    statuses=(Status.PRESENT, Status.NULL),
)
REFUSED = (Status.UNAVAILABLE, Status.UNAVAILABLE)  # what the client answers for a row that it does not take
FOREIGN = StoredRow(state=RowState.OTHER_VERSION, as_of=20 * DAY, fingerprint="ab12" * 16)
BROKEN = StoredRow(state=RowState.BROKEN, problem="the row has 20 bytes where 40 belong")
AWAY = StoredRow(state=RowState.UNAVAILABLE, problem="the key space is gone")

ROWS: dict[str, tuple[Any, Any, StoredRow, Cause, str]] = {
    "a deleted row": (
        None,
        (5, 6.0),
        StoredRow(state=RowState.ABSENT),
        Cause.MISSING_ROW,
        "Training has a row for this entity as of 1970-01-21T00:00Z; the online store has none.",
    ),
    "a row that training does not have": (
        (5, 6.0),
        None,
        OWN,
        Cause.EXTRA_ROW,
        "The online store has a row for this entity; training sees no event of it as of 1970-01-21T00:00Z.",
    ),
    "yesterday's row": (
        REFUSED,
        (5, 6.0),
        STALE,
        Cause.STALE_ROW,
        (
            "The row says that it is as of 1970-01-20T00:00Z, and lies under the key of the refresh "
            "as of 1970-01-21T00:00Z."
        ),
    ),
    "yesterday's row with today's values": (
        (5, 6.0),
        (5, 6.0),
        STALE,
        Cause.STALE_ROW,
        (
            "The row says that it is as of 1970-01-20T00:00Z, and lies under the key of the refresh "
            "as of 1970-01-21T00:00Z."
        ),
    ),
    "a row of another definition": (
        REFUSED,
        (5, 6.0),
        FOREIGN,
        Cause.OTHER_VERSION,
        "The row was written by definition ab12ab12; the one that is served is 9f3c9f3c.",
    ),
    "a row cut short": (
        REFUSED,
        (5, 6.0),
        BROKEN,
        Cause.BROKEN_ROW,
        "What lies under the entity's key is not a row: the row has 20 bytes where 40 belong.",
    ),
    "a key space that is gone": (
        REFUSED,
        (5, 6.0),
        AWAY,
        Cause.UNAVAILABLE,
        "The store could not answer: the key space is gone.",
    ),
}


@pytest.mark.parametrize(("served", "recomputed", "row", "cause", "sentence"), ROWS.values(), ids=ROWS)
def test_what_is_wrong_with_a_whole_row_is_told_once_and_not_per_cell(
    served: Any, recomputed: Any, row: StoredRow, cause: Cause, sentence: str
) -> None:
    fields = (field("n", Int64()), field("mean", Float64()))
    (finding,) = diagnose(compared(fields, [served], [recomputed], rows=[row]))
    assert (finding.cause, finding.field, finding.count) == (cause, None, 1)
    assert finding.evidence[0].entity == "id = 0"
    assert finding.evidence[0].explanation == sentence
    assert not cause.is_value_mismatch


MIXED = (field("n", Int64()), field("mean", Float64()), field("any", Boolean()))


def test_rows_of_the_refresh_before_are_told_from_chance() -> None:
    today = [(5 + at % 7, 2.5 + at / 7, True) for at in range(40)]
    before = [(4 + at % 7, 1.5 + at / 9, True) for at in range(40)]
    served = [*before[:6], *today[6:38], (0, 9.5, True), (5 + 39 % 7, 2.5 + 39 / 7, False)]
    before[39] = (today[39][0], today[39][1], False)
    old = Factor(cause=Cause.PREVIOUS_REFRESH, told="It is the day before.")
    worlds = [World(factors=(old,), answers=side(MIXED, [*before]))]
    result = compared(MIXED, served=[*served], recomputed=[*today])
    found = {(finding.cause, finding.field): finding.count for finding in diagnose(result, worlds=worlds)}
    assert found == {
        (Cause.PREVIOUS_REFRESH, "n"): 6,  # the first six: every field is that of the day before
        (Cause.PREVIOUS_REFRESH, "mean"): 6,
        (Cause.UNKNOWN, "n"): 1,  # the last but one: both fields are anything
        (Cause.UNKNOWN, "mean"): 1,
        (Cause.UNKNOWN, "any"): 1,  # the last: only a flag differs, and half of all flags fit by chance
    }


def test_evidence_shows_what_was_served_what_was_recomputed_and_some_entities() -> None:
    served: list[tuple[Any, ...] | None] = [(0.0,)] * 9
    recomputed: list[tuple[Any, ...] | None] = [(None,)] * 9
    (finding,) = diagnose(compared((field("mean", Float64()),), served, recomputed))
    assert (finding.count, len(finding.evidence)) == (9, EVIDENCE_ROWS)
    first = finding.evidence[0]
    assert (first.field, first.served, first.recomputed) == ("mean", "0.0", "NULL")
    assert first.explanation == "Training has no value here; the row holds 0 as if it had been measured."


def test_evidence_of_a_stale_row_shows_what_it_holds_though_nobody_is_served_it() -> None:
    fields = (field("n", Int64()), field("mean", Float64()))
    (finding,) = diagnose(compared(fields, [REFUSED], [(5, 6.0)], rows=[STALE]))
    (evidence,) = finding.evidence
    assert evidence.served == "UNAVAILABLE; the row holds n = 4, mean = NULL"
    assert evidence.recomputed == "n = 5, mean = 6.0"


def test_evidence_of_a_row_shows_the_fields_that_differ_first() -> None:
    fields = tuple(field(f"x{at}", Int64()) for at in range(9))
    today = tuple(range(9))
    (finding,) = diagnose(compared(fields, [(*today[:8], 0)], [None]))
    assert finding.evidence[0].served == "x0 = 0, x1 = 1, x2 = 2, x3 = 3, …"
    stale = compared(fields, [(*today[:8], 0)], [today], rows=[StoredRow(state=RowState.STALE, as_of=19 * DAY)])
    (finding,) = diagnose(stale)
    assert finding.evidence[0].served == "x8 = 0, x0 = 0, x1 = 1, x2 = 2, …"


def test_a_default_is_shown_as_one() -> None:
    spec = field("n", Int64(), default=7)
    (finding,) = diagnose(compared((spec,), [(7,)], [((7, Status.DEFAULTED),)]))
    (evidence,) = finding.evidence
    assert (evidence.served, evidence.recomputed) == ("7", "7 (default)")
    assert "the default 7 as if" in evidence.explanation


def test_what_agrees_has_no_finding() -> None:
    assert diagnose(compared(MIXED, [(1, 1.0, True), None], [(1, 1.0, True), None])) == ()
