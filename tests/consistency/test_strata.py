"""A stratified sample says of each entity what it stands for, and does not depend on who looked at what first."""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featurekit.consistency.sample import SampleRule, plain_sampler
from featurekit.consistency.shares import weighted_share
from featurekit.consistency.strata import HASHED, Candidate, Drawn, StrataSampler, Stratum, draw

LATE = 1 << HASHED.index(Stratum.LATE)
EDGE = 1 << HASHED.index(Stratum.EDGE)


def entity(number: int) -> Candidate:
    """Every 50th is at an edge, every 180th late; the number of rows goes up with the number."""
    bits = (EDGE if number % 50 == 0 else 0) | (LATE if number % 180 == 0 else 0)
    return Candidate(key=b"entity-%d" % number, bits=bits, rows=1 + number // 10)


ENTITIES = [entity(number) for number in range(1800)]
ONLINE_ONLY = [b"stray-%d" % number for number in range(200)]


def sample(rule: SampleRule, entities: Sequence[Candidate] = ENTITIES, *, parts: int = 1) -> tuple[Drawn, ...]:
    """Return the sample of entities that lie in several parts, half of them and some others in the store."""
    together = StrataSampler(rule)
    for part in range(parts):
        one = StrataSampler(rule)
        one.add(entities[part::parts])
        together.add(one.candidates())
    online = plain_sampler(rule)
    online.add(each.key for each in entities[::2])
    online.add(ONLINE_ONLY)
    return draw(rule, together, online.keys)


@pytest.mark.parametrize("parts", [2, 7, 300])
def test_the_same_seed_gives_the_same_sample_whatever_the_partitioning(parts: int) -> None:
    rule = SampleRule(max_entities=60, per_stratum=5, seed="monday")
    shuffled = random.Random(parts).sample(ENTITIES, len(ENTITIES))
    assert sample(rule, shuffled, parts=parts) == sample(rule)


def test_another_seed_gives_another_sample() -> None:
    monday, tuesday = (
        {each.key for each in sample(SampleRule(max_entities=60, per_stratum=5, seed=seed))}
        for seed in ("monday", "tuesday")
    )
    assert len(monday & tuesday) < 30  # the heaviest are in each


def test_rare_strata_are_in_a_small_sample() -> None:
    found = sample(SampleRule(max_entities=40, per_stratum=5, seed="s"))
    counts = {stratum: sum(stratum in each.strata for each in found) for stratum in Stratum}
    assert counts[Stratum.EDGE] >= 5
    assert counts[Stratum.LATE] >= 5
    assert counts[Stratum.HEAVY] == 5
    assert counts[Stratum.RECENT] == counts[Stratum.UNSEEN] == 0


def test_the_heaviest_entities_are_always_in_it_and_stand_for_themselves_alone() -> None:
    heaviest = {each.key for each in ENTITIES[-5:]} | {b"entity-1790"}
    for seed in "abc":
        found = sample(SampleRule(max_entities=40, per_stratum=5, seed=seed))
        heavy = [each for each in found if Stratum.HEAVY in each.strata]
        assert {each.key for each in heavy} <= heaviest | {b"entity-%d" % number for number in range(1790, 1800)}
        assert all(each.chance == 1 for each in heavy)


def test_a_stratum_that_is_taken_whole_stands_for_itself() -> None:
    found = sample(SampleRule(max_entities=40, per_stratum=10, seed="s"))
    late = [each for each in found if Stratum.LATE in each.strata]
    assert len(late) == 10
    assert all(each.chance == 1 for each in late)


def test_a_sample_of_everybody_stands_for_everybody() -> None:
    found = sample(SampleRule(max_entities=5000))
    assert len(found) == 2000
    assert {each.chance for each in found} == {1.0}


def test_a_share_is_the_chance_of_an_entity_that_nothing_else_speaks_for() -> None:
    found = sample(SampleRule(share=0.25, max_entities=5000, per_stratum=0))
    assert {each.chance for each in found} == {0.25}
    assert len(found) == pytest.approx(500, abs=80)


def test_what_has_no_visible_row_is_looked_at_for_its_stratum_and_not_in_the_plain_sample() -> None:
    hidden = [Candidate(key=b"hidden-%d" % number, bits=LATE, rows=0) for number in range(30)]
    rule = SampleRule(max_entities=5000, per_stratum=4)
    offline = StrataSampler(rule)
    offline.add([*ENTITIES, *hidden])
    found = {each.key for each in draw(rule, offline, [])}
    assert 0 < len(found & {each.key for each in hidden}) <= 4
    assert offline.seen == len(ENTITIES)
    assert offline.sizes[Stratum.LATE] == 10


def test_the_plain_sample_is_the_same_whatever_is_taken_beside_it() -> None:
    alone = sample(SampleRule(max_entities=60, per_stratum=0, seed="s"))
    beside = sample(SampleRule(max_entities=60, per_stratum=9, seed="s"))
    assert len(alone) == 60 < len(beside)
    assert [each.key for each in beside if each.plain] == [each.key for each in alone]
    assert all(each.plain for each in alone)


def faulty(each: Drawn) -> bool:
    """Late rows are wrong, and a fifth of those at an edge; in all 17 of 2,000 entities."""
    return Stratum.LATE in each.strata or (Stratum.EDGE in each.strata and each.key.endswith(b"50"))


FAULTY = [each for each in ENTITIES if each.bits & LATE or (each.bits & EDGE and each.key.endswith(b"50"))]


def test_reweighted_shares_are_unbiased_over_seeds_where_plain_ones_are_far_off() -> None:
    truth = len(FAULTY) / 2000
    shares, sizes, plain, inside = [], [], [], 0
    for seed in range(120):
        found = sample(SampleRule(max_entities=60, per_stratum=6, seed=str(seed)))
        weights = np.array([1 / each.chance for each in found])
        flags = np.array([faulty(each) for each in found], np.bool_)
        share = weighted_share(flags, weights)
        assert share is not None
        shares.append(share.value)
        sizes.append(float(weights.sum()))
        plain.append(float(flags.mean()))
        inside += share.low <= truth <= share.high
    error = statistics.stdev(sizes) / len(sizes) ** 0.5
    assert statistics.mean(sizes) == pytest.approx(2000, abs=4 * error)
    error = statistics.stdev(shares) / len(shares) ** 0.5
    assert statistics.mean(shares) == pytest.approx(truth, abs=4 * error)
    assert statistics.mean(plain) > 4 * truth
    assert inside >= 0.9 * 120


@given(
    st.lists(st.tuples(st.integers(0, 15), st.integers(0, 5)), max_size=60),
    st.integers(1, 20),
    st.integers(0, 5),
    st.integers(1, 4),
)
@settings(deadline=None)
def test_sampling_parts_first_loses_nothing(drawn: list[tuple[int, int]], most: int, quota: int, parts: int) -> None:
    entities = [Candidate(key=b"%d" % at, bits=bits, rows=rows) for at, (bits, rows) in enumerate(drawn)]
    rule = SampleRule(max_entities=most, per_stratum=quota, seed="s")
    assert sample(rule, entities, parts=parts) == sample(rule, entities)


def test_shares_of_a_census_are_exact_and_others_have_an_interval() -> None:
    flags = np.array([True, False, False, False])
    census = weighted_share(flags, np.ones(4))
    sampled = weighted_share(flags, np.full(4, 10.0))
    assert census is not None
    assert sampled is not None
    assert (census.low, census.value, census.high) == (0.25, 0.25, 0.25)
    assert sampled.low < 0.25 == sampled.value < sampled.high


def test_nothing_found_in_a_sample_is_not_nothing_there() -> None:
    share = weighted_share(np.zeros(100, np.bool_), np.full(100, 1000.0))
    assert share is not None
    assert (share.value, share.low) == (0, 0)
    assert 0.01 < share.high < 0.06


def test_who_is_in_no_population_counts_for_nothing() -> None:
    share = weighted_share(np.array([True, False, True]), np.array([1.0, 1.0, 0.0]))
    assert share is not None
    assert share.value == 0.5
    assert weighted_share(np.array([True]), np.array([0.0])) is None
    whole = weighted_share(np.array([True, True, False]), np.array([1 / 3, 1 / 7, 0.0]))
    assert whole is not None
    assert whole.value == 1
