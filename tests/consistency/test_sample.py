"""The sample is the same on both sides, by hash, and never empty without being noticed."""

from __future__ import annotations

import random
from decimal import Decimal as Exact
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from featurekit.consistency.entity_keys import decode_entity_key, key_table, sdk_value, show_entity
from featurekit.consistency.sample import KeySampler, SampleRule, plain_sampler
from featurekit.errors import InputError
from featurekit.online.keys import entity_key_encoder
from featurekit.types import Boolean, Date, Decimal, Field, Float64, Int32, Int64, String, Timestamp

KEYS = [b"carrier-%d" % number for number in range(10_000)]


def sampled(rule: SampleRule, *sides: list[bytes]) -> list[bytes]:
    sampler = KeySampler(rule.hasher(), rule.max_entities, rule.threshold)
    for keys in sides:
        sampler.add(keys)
    assert sampler.seen == sum(map(len, sides))
    return sampler.keys


def test_a_share_of_a_tenth_is_about_every_tenth_entity() -> None:  # one unit, asserted: cases.md #54
    rule = SampleRule(share=0.1, max_entities=len(KEYS))
    assert 900 < len(sampled(rule, KEYS)) < 1100


@pytest.mark.parametrize("share", [0, -0.1, 1.1, 10, 100, float("nan")])
def test_a_share_in_another_unit_is_refused(share: float) -> None:
    with pytest.raises(InputError, match="not a share"):
        SampleRule(share=share)


def test_the_refusal_of_percent_says_what_was_meant() -> None:
    with pytest.raises(InputError) as raised:
        SampleRule(share=10)
    assert raised.value.try_ == "0.1 for 10 %"


def test_a_sample_of_no_entity_is_refused() -> None:
    with pytest.raises(InputError, match="0 entities are no sample"):
        SampleRule(max_entities=0)


@pytest.mark.parametrize("rule", [SampleRule(share=0.05, max_entities=10**6), SampleRule(max_entities=50)])
def test_identical_sides_give_identical_samples(rule: SampleRule) -> None:  # cases.md #53
    shuffled = random.Random(1).sample(KEYS, len(KEYS))
    online, offline = sampled(rule, KEYS), sampled(rule, shuffled)
    assert online == offline == sampled(rule, online, offline)


@given(st.sets(st.integers(0, 300)), st.sets(st.integers(0, 300)), st.integers(1, 20), st.sampled_from([1.0, 0.5, 0.1]))
def test_sampling_each_side_first_loses_no_key_of_the_sample_of_the_union(
    online: set[int], offline: set[int], limit: int, share: float
) -> None:
    rule = SampleRule(share=share, max_entities=limit, seed="s")
    one, other = [b"%d" % number for number in online], [b"%d" % number for number in offline]
    of_the_union = sampled(rule, [b"%d" % number for number in online | offline])
    assert sampled(rule, sampled(rule, one), sampled(rule, other)) == of_the_union


def test_a_key_that_comes_twice_is_sampled_once() -> None:
    sampler = plain_sampler(SampleRule(max_entities=3))
    sampler.add([b"a", b"b", b"a"])
    sampler.add([b"a"])
    assert sorted(sampler.keys) == [b"a", b"b"]


def test_another_seed_chooses_other_entities() -> None:
    monday, tuesday = (sampled(SampleRule(max_entities=100, seed=seed), KEYS) for seed in ("monday", "tuesday"))
    assert len(set(monday) & set(tuesday)) < 10


def test_the_order_of_entities_never_changes() -> None:
    assert sampled(SampleRule(max_entities=3, seed="2013"), KEYS) == [b"carrier-2608", b"carrier-3611", b"carrier-704"]


KEY_CASES: list[tuple[tuple[Field, ...], tuple[Any, ...]]] = [
    ((Field("carrier", String()),), ("AA",)),
    ((Field("origin", String()), Field("dest", String())), ("a,b{%}", "")),
    ((Field("name", String()),), ("é\x00 %41",)),
    ((Field("n", Int64()),), (-(2**63),)),
    ((Field("n", Int32()), Field("flag", Boolean())), (7, True)),
    ((Field("x", Float64()),), (0.1,)),
    ((Field("price", Decimal(10, 2)),), (Exact("12.50"),)),
    ((Field("day", Date()), Field("at", Timestamp())), (15000, 1384473600000001)),
    ((Field("at", Timestamp()),), (-(10**17),)),
]


@pytest.mark.parametrize(("keys", "values"), KEY_CASES)
def test_a_key_text_is_read_back_as_the_values_it_was_made_of(keys: tuple[Field, ...], values: tuple[Any, ...]) -> None:
    (text,) = entity_key_encoder([key.type for key in keys])([[value] for value in values])
    assert text is not None
    assert decode_entity_key(text, keys) == values
    assert key_table([values], keys).num_rows == 1


FOREIGN = [
    (b"x", Int64()),
    (b"007", Int64()),
    (b"1_000", Int64()),
    (b" 1", Int64()),
    (b"True", Boolean()),
    (b"%41", String()),
    (b"\xff", String()),
    (b"a,b", String()),
    (b"2013-11-15", Timestamp()),
    (b"", String()),
    (b"1.50", Decimal(10, 1)),
]


@pytest.mark.parametrize(("text", "kind"), FOREIGN)
def test_a_text_that_the_encoder_would_not_make_is_no_key(text: bytes, kind: Any) -> None:
    assert decode_entity_key(text, (Field("k", kind),)) is None


def test_an_entity_is_shown_with_its_keys_names() -> None:
    assert show_entity(("JFK", ""), (Field("origin", String()), Field("dest", String()))) == "origin = 'JFK', dest = ''"


def test_instants_and_dates_go_to_the_client_as_the_sdk_takes_them() -> None:
    assert sdk_value(1384473600000000, Timestamp()).isoformat() == "2013-11-15T00:00:00+00:00"
    assert sdk_value(15000, Date()).isoformat() == "2011-01-26"
    assert sdk_value("x", String()) == "x"
