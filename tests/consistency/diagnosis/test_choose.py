"""A cause is named where it explains beyond chance, what explains as much is said beside it, and noise is unknown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal as Number
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featurekit.consistency.cells import Answers, Cells, Flags
from featurekit.consistency.diagnosis.causes import Cause
from featurekit.consistency.diagnosis.chance import evidence
from featurekit.consistency.diagnosis.counterfactuals import World
from featurekit.consistency.diagnosis.diagnose import diagnose
from featurekit.consistency.diagnosis.factors import Factor
from featurekit.consistency.diagnosis.findings import Finding
from featurekit.types import Boolean, DataType, Decimal, Float64, Int64, String, Timestamp
from tests.consistency.diagnosis.planted import ROWS, compared_sides, honest_side, mixed, served_as
from tests.consistency.sides import cells, field

FIELDS, HONEST = honest_side(11)
_, OTHER = honest_side(12)


def world(cause: Cause, answers: Answers, told: str = "") -> World:
    return World(factors=(Factor(cause=cause, told=told or f"It is {cause}."),), answers=answers)


def named(findings: tuple[Finding, ...], name: str) -> list[tuple[Cause, int]]:
    return [(finding.cause, finding.count) for finding in findings if finding.field == name]


def hit(share: float, seed: int) -> Flags:
    return np.random.default_rng(seed).random(ROWS) < share


SHARES = st.sampled_from([1.0, 0.1, 0.02])


@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 10**6), share=SHARES)
def test_a_world_that_is_planted_is_named_and_others_are_not(seed: int, share: float) -> None:
    world_is_named(seed, share)


@pytest.mark.long
@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6), share=SHARES)
def test_many_worlds_that_are_planted_are_named_and_others_are_not(seed: int, share: float) -> None:
    world_is_named(seed, share)


def world_is_named(seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    decoys = [
        world(cause, honest_side(seed + at)[1], f"decoy {at}")
        for at, cause in enumerate((Cause.BOUND_CLOSED, Cause.TTL_IGNORED, Cause.LATE_ROWS_COUNTED), start=1)
    ]
    chosen = rng.random(ROWS) < share
    served = {name: mixed(honest, OTHER.fields[name], chosen) for name, honest in HONEST.fields.items()}
    compared = served_as(FIELDS, HONEST, **served)
    findings = diagnose(compared, worlds=[*decoys, world(Cause.PREVIOUS_REFRESH, OTHER)])
    assert findings[0].cause is Cause.PREVIOUS_REFRESH
    wide = ("count", "mean", "logarithm", "instant", "big")
    assert all(
        [cause for cause, _ in named(findings, name)] == [Cause.PREVIOUS_REFRESH]
        for name in wide
        if compared.comparisons[name].differs.sum() >= 3
    )
    assert {finding.cause for finding in findings} <= {Cause.PREVIOUS_REFRESH, Cause.UNKNOWN}


NAMES = st.sampled_from(list(HONEST.fields))


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6), share=SHARES, name=NAMES)
def test_noise_is_unknown(seed: int, share: float, name: str) -> None:
    noise_is_unknown(seed, share, name)


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 10**6), share=SHARES, name=NAMES)
def test_much_noise_is_unknown(seed: int, share: float, name: str) -> None:
    noise_is_unknown(seed, share, name)


def noise_is_unknown(seed: int, share: float, name: str) -> None:
    _, noise = honest_side(seed + 100)
    _, another = honest_side(seed + 101)
    order = np.random.default_rng(seed).permutation(ROWS)
    noise = noise.take(order)
    turned = mixed(HONEST.fields[name], noise.fields[name], hit(share, seed))
    compared = served_as(FIELDS, HONEST, **{name: turned})
    findings = diagnose(compared, worlds=[world(Cause.PREVIOUS_REFRESH, another), world(Cause.BOUND_CLOSED, OTHER)])
    differing = int(compared.comparisons[name].differs.sum())
    claimed = sum(finding.count for finding in findings if finding.cause is not Cause.UNKNOWN)
    # Values that became NULL did so, whatever the reason; nothing else is claimed of noise.
    lost = sum(finding.count for finding in findings if finding.cause in (Cause.VALUE_AS_NULL, Cause.DEFAULT_MISSING))
    assert claimed - lost <= differing * 0.1, findings
    assert sum(finding.count for finding in findings) == differing


def test_a_flag_that_is_nearly_always_off_names_nothing_but_what_says_where() -> None:
    spec = field("rare", Float64())
    on = np.zeros(ROWS)
    on[:60] = 1.0
    honest = Answers(found=np.ones(ROWS, np.bool_), fields={"rare": cells(spec.type, *on.tolist())})
    wrong = on.copy()
    wrong[:6] = 0.0
    served = Answers(found=honest.found, fields={"rare": cells(spec.type, *wrong.tolist())})
    before = on.copy()
    before[:50] = 0.0  # the day before most of them were off: it explains all six, as it would any six
    old = world(Cause.PREVIOUS_REFRESH, replace(honest, fields={"rare": cells(spec.type, *before.tolist())}))
    (finding,) = diagnose(compared_sides((spec,), served, honest), worlds=[old])
    assert (finding.cause, finding.count) == (Cause.UNKNOWN, 6)
    before[6:50] = 1.0  # now it says which six
    exact = world(Cause.PREVIOUS_REFRESH, replace(honest, fields={"rare": cells(spec.type, *before.tolist())}))
    (finding,) = diagnose(compared_sides((spec,), served, honest), worlds=[exact])
    assert finding.cause is Cause.PREVIOUS_REFRESH


def test_other_fields_speak_for_a_world_that_one_alone_can_not_tell() -> None:
    chosen = hit(0.1, 4)
    served = {name: mixed(HONEST.fields[name], OTHER.fields[name], chosen) for name in ("rare", "mean")}
    compared = served_as(FIELDS, HONEST, **served)
    findings = diagnose(compared, worlds=[world(Cause.PREVIOUS_REFRESH, OTHER)])
    assert [cause for cause, _ in named(findings, "rare")] == [Cause.PREVIOUS_REFRESH]


def test_worlds_that_explain_as_much_are_said_beside_the_cheapest() -> None:
    compared = served_as(FIELDS, HONEST, mean=OTHER.fields["mean"])
    worlds = [world(Cause.LATER_REFRESH, OTHER), world(Cause.PREVIOUS_REFRESH, OTHER)]
    (finding,) = diagnose(compared, worlds=worlds)
    assert (finding.cause, finding.also) == (Cause.PREVIOUS_REFRESH, (Cause.LATER_REFRESH,))
    assert finding.confidence == pytest.approx(0.5)


def test_the_world_that_spares_what_matches_is_named() -> None:
    chosen = hit(0.1, 8)
    turned = mixed(HONEST.fields["mean"], OTHER.fields["mean"], chosen)
    exact = replace(HONEST, fields={**HONEST.fields, "mean": turned})
    compared = served_as(FIELDS, HONEST, mean=turned)
    worlds = [world(Cause.PREVIOUS_REFRESH, OTHER), world(Cause.SOURCE_KEY_TRIMMED, exact)]
    (finding,) = diagnose(compared, worlds=worlds)
    assert (finding.cause, finding.also) == (Cause.SOURCE_KEY_TRIMMED, ())


def test_two_faults_on_different_cells_are_both_named() -> None:
    first, second = np.arange(ROWS) < 100, np.arange(ROWS) >= 500
    honest = HONEST.fields["mean"]
    turned = mixed(mixed(honest, OTHER.fields["mean"], first), _times(honest, 1000), second)
    findings = diagnose(served_as(FIELDS, HONEST, mean=turned), worlds=[world(Cause.PREVIOUS_REFRESH, OTHER)])
    assert [cause for cause, _ in named(findings, "mean")] == [Cause.PREVIOUS_REFRESH, Cause.SCALED]


@pytest.mark.parametrize("share", [1.0, 0.1])
def test_two_faults_on_the_same_cells_are_named_together(share: float) -> None:
    turned = mixed(HONEST.fields["mean"], _times(OTHER.fields["mean"], 1000), hit(share, 2))
    (finding,) = [
        each
        for each in diagnose(served_as(FIELDS, HONEST, mean=turned), worlds=[world(Cause.PREVIOUS_REFRESH, OTHER)])
        if each.share > 0.5
    ]
    assert finding.causes == (Cause.PREVIOUS_REFRESH, Cause.SCALED)


def _times(honest: Cells, by: float) -> Cells:
    values = [None if value is None else value * by for value in honest.values.to_pylist()]
    return cells(Float64(), *values)


def test_a_ratio_of_no_unit_is_found_and_costs_evidence() -> None:
    turned = mixed(HONEST.fields["mean"], _times(HONEST.fields["mean"], 1.609344), hit(0.1, 3))
    (finding,) = diagnose(served_as(FIELDS, HONEST, mean=turned))
    assert finding.cause is Cause.RATIO
    assert "1.609344" in finding.evidence[0].explanation


def test_null_filled_with_the_mean_of_all_is_told_from_a_constant() -> None:
    known = [value for value in HONEST.fields["mean"].values.to_pylist() if value is not None]
    for fill, cause in (
        (float(np.mean(known)) + 0.3, Cause.NULL_FILLED_WITH_MEAN),
        (77.7, Cause.NULL_FILLED_WITH_CONSTANT),
    ):
        filled = [fill if value is None else value for value in HONEST.fields["mean"].values.to_pylist()]
        (finding,) = diagnose(served_as(FIELDS, HONEST, mean=cells(Float64(), *filled)))
        assert finding.cause is cause


EDGES = {
    "nulls everywhere": (Float64(), [None] * 50, [0.0] * 50, Cause.NULL_FILLED_WITH_ZERO),
    "a constant column": (Int64(), [3] * 50, [4] * 5 + [3] * 45, Cause.UNKNOWN),
    "one cell of many": (
        Float64(),
        [at / 7 for at in range(50)],
        [0.5, *[at / 7 for at in range(1, 50)]],
        Cause.UNKNOWN,
    ),
    "one cell, rounded": (
        Float64(),
        [1 + at / 7 for at in range(50)],
        [1.0, 1.1, *[1 + at / 7 for at in range(2, 50)]],
        Cause.ROUNDED,
    ),
    "all flags off": (Boolean(), [True] * 5 + [False] * 45, [False] * 50, Cause.UNKNOWN),
    "all flags the opposite": (Boolean(), [True] * 25 + [False] * 25, [False] * 25 + [True] * 25, Cause.INVERTED),
    "a stuck call": (Float64(), [at / 7 for at in range(50)], [-1.0] * 50, Cause.ERROR_CODE),
    "one text": (String(), [f"a{at}" for at in range(50)], ["?"] * 50, Cause.CONSTANT),
    "one decimal": (Decimal(8, 2), [None] * 50, [None] * 49 + ["1.00"], Cause.UNKNOWN),
    "hours": (
        Timestamp(),
        [at * 3_700_000_000 for at in range(50)],
        [(at * 3700 - 5 * 3600) * 10**6 for at in range(50)],
        Cause.HOURS_OFF,
    ),
}


@pytest.mark.parametrize(("kind", "honest", "served", "cause"), EDGES.values(), ids=EDGES)
def test_edges(kind: DataType, honest: list[Any], served: list[Any], cause: Cause) -> None:
    spec = field("x", kind)
    rows = np.ones(50, np.bool_)
    held = [Number(value) if isinstance(value, str) and isinstance(kind, Decimal) else value for value in served]
    one = Answers(found=rows, fields={"x": cells(spec.type, *held)})
    other = Answers(found=rows, fields={"x": cells(spec.type, *honest)})
    assert {finding.cause for finding in diagnose(compared_sides((spec,), one, other))} == {cause}


def test_nothing_is_found_where_nothing_differs() -> None:
    assert diagnose(served_as(FIELDS, HONEST), worlds=[world(Cause.PREVIOUS_REFRESH, OTHER)]) == ()


def test_no_world_is_asked_for_where_nothing_differs() -> None:
    def never() -> Iterator[World]:
        yield from [pytest.fail("a world was made")]

    diagnose(served_as(FIELDS, HONEST), worlds=never())


def test_rows_that_are_missing_for_a_reason_are_told_with_it() -> None:
    gone = np.arange(ROWS) % 50 == 0
    old = Answers(found=~gone, fields=OTHER.fields)
    findings = diagnose(compared_sides(FIELDS, old, HONEST), worlds=[world(Cause.PREVIOUS_REFRESH, old)])
    assert (Cause.PREVIOUS_REFRESH, None, int(gone.sum())) in {
        (finding.cause, finding.field, finding.count) for finding in findings
    }


def test_evidence_is_none_where_chance_would_do_as_well() -> None:
    half = np.full(20, 0.5)
    assert evidence(half, np.arange(20) < 10) == pytest.approx(0, abs=1e-9)
    assert evidence(half, np.ones(20, np.bool_)) == pytest.approx(20)
    assert evidence(np.full(20, 1e-6), np.arange(20) < 3) > 30
