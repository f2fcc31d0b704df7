"""Rows of other entities are recognised among those of the sample, and keys that were spelled otherwise are tried."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from featurekit.consistency.cells import Answers
from featurekit.consistency.diagnosis.causes import Cause
from featurekit.consistency.diagnosis.counterfactuals import World
from featurekit.consistency.diagnosis.diagnose import diagnose
from featurekit.consistency.diagnosis.factors import Factor
from featurekit.consistency.diagnosis.key_factors import key_factors
from tests.consistency.diagnosis.planted import ROWS, compared_sides, honest_side

FIELDS, HONEST = honest_side(21)


def served_from(rows: np.ndarray[Any, np.dtype[np.int64]]) -> Answers:
    """Return the side on which each row is that of the entity at a place."""
    return HONEST.take(rows.astype(np.intp))


def swapped(share: float) -> np.ndarray[Any, np.dtype[np.int64]]:
    rows = np.arange(ROWS)
    chosen = np.flatnonzero(np.random.default_rng(2).random(ROWS) < share)
    rows[chosen] = np.roll(chosen, 7)
    return rows


@pytest.mark.parametrize(
    ("rows", "cause"),
    [
        (np.minimum(np.arange(ROWS) + 1, ROWS - 1), Cause.NEXT_ENTITY),
        (swapped(1.0), Cause.OTHER_ENTITY),
        (swapped(0.05), Cause.OTHER_ENTITY),
        (np.where(np.arange(ROWS) % 3 == 0, 17, np.arange(ROWS)), Cause.ONE_ROW_FOR_ALL),
    ],
    ids=["the next one's", "any other's", "a few any other's", "one for all"],
)
def test_rows_of_other_entities_are_named(rows: np.ndarray[Any, np.dtype[np.int64]], cause: Cause) -> None:
    findings = diagnose(compared_sides(FIELDS, served_from(rows), HONEST))
    assert findings[0].cause is cause
    wide = {
        finding.field: finding.cause for finding in findings if finding.field in ("count", "mean", "big", "instant")
    }
    assert set(wide.values()) == {cause}


def test_a_single_row_that_another_has_too_is_no_swap() -> None:
    rows = np.arange(ROWS)
    rows[3] = 9
    findings = diagnose(compared_sides(FIELDS, served_from(rows), HONEST))
    assert Cause.OTHER_ENTITY not in {finding.cause for finding in findings}


def test_only_keys_that_another_spelling_changes_are_asked_for_under_it() -> None:
    asked = [("ab",), (" Ab",), ("é",), ("e\u0301",)]
    found = {factor.cause: factor.entities(asked) for factor in key_factors(asked) if factor.entities is not None}
    assert found == {
        Cause.KEY_TRIMMED: [("ab",), ("Ab",), ("é",), ("e\u0301",)],
        Cause.KEY_LOWER_CASED: [("ab",), (" ab",), ("é",), ("e\u0301",)],
        Cause.KEY_UPPER_CASED: [("AB",), (" AB",), ("É",), ("E\u0301",)],
        Cause.KEY_NORMALISED: [("ab",), (" Ab",), ("é",), ("é",)],
    }
    (cut,) = list(key_factors([(2**32 + 5, 1), (7, 2)]))
    assert cut.entities is not None
    assert (cut.cause, cut.entities([(2**32 + 5, 1)])) == (Cause.KEY_INT32, [(5, 1)])
    assert list(key_factors([(7,)])) == []


def test_rows_that_are_not_there_are_nobodys() -> None:
    gone = np.arange(ROWS) < 3
    served = replace(HONEST, found=~gone)
    assert {finding.cause for finding in diagnose(compared_sides(FIELDS, served, HONEST))} == {Cause.MISSING_ROW}


def test_where_no_row_is_there_no_spelling_of_keys_is_blamed() -> None:
    honest = replace(HONEST, found=np.arange(ROWS) % 50 > 0)  # of some keys nobody has a row
    nobody = replace(HONEST, found=np.zeros(ROWS, np.bool_))
    lower = Factor(cause=Cause.KEY_LOWER_CASED, told="The key was lower-cased.")
    worlds = [World(factors=(lower,), answers=nobody)]
    found = diagnose(compared_sides(FIELDS, nobody, honest), worlds=worlds)
    assert {finding.cause for finding in found} == {Cause.MISSING_ROW}

    some = replace(HONEST, found=np.arange(ROWS) % 3 > 0)
    worlds = [World(factors=(lower,), answers=some)]
    found = diagnose(compared_sides(FIELDS, some, HONEST), worlds=worlds)
    assert {finding.cause for finding in found} == {Cause.KEY_LOWER_CASED}  # it says just which are not
