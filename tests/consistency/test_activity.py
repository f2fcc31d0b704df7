"""What the source says of entities is what plain Python counts: their rows, their strata, and who has none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from featurekit.clock import DAY, HOUR, MINUTE
from featurekit.config import Settings
from featurekit.consistency.entity_keys import decode_entity_key
from featurekit.consistency.population import offline_entities, view_keys
from featurekit.consistency.sample import SampleRule
from featurekit.consistency.strata import Stratum
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.source import Source, SourceKind
from featurekit.offline.session import start_engine
from featurekit.types import Int64, String, Timestamp
from tests.consistency.airport import START, Flight, flights_of, visible, write_airport
from tests.offline.worlds import compiled, features, write_rows

pytestmark = pytest.mark.spark
AS_OF = START + 8 * DAY
SINCE = AS_OF - 3 * DAY  # n_3d; the latest delay matters for two days
EVERYBODY = SampleRule(max_entities=1000, per_stratum=1000)
Facts = dict[str, tuple[int, frozenset[Stratum]]]


def counted(flights: list[Flight]) -> Facts:
    """Return each carrier's visible rows and its strata, as of AS_OF."""
    edges = [(AS_OF - DAY, 3 * HOUR), (AS_OF - 3 * DAY, 9 * HOUR)]  # an eighth of each window
    found: Facts = {}
    for carrier in dict.fromkeys(one.carrier for one in flights):
        seen = [one for one in flights if one.carrier == carrier and SINCE - 9 * HOUR <= one.at < AS_OF]
        holds = [one for one in visible(flights, carrier, AS_OF, lambda one: one.landed <= AS_OF) if one in seen]
        reached = [one for one in holds if one.at >= SINCE]
        strata = set()
        if reached and max(one.at for one in reached) >= AS_OF - DAY:
            strata.add(Stratum.RECENT)
        if reached and max(one.at for one in reached) < AS_OF - 36 * HOUR:  # half of the look-back
            strata.add(Stratum.COLD)
        if any(abs(one.at - at) < around or one.at == at - around for one in holds for at, around in edges):
            strata.add(Stratum.EDGE)
        if any(one.landed - one.at > DAY or one.landed > AS_OF for one in seen):
            strata.add(Stratum.LATE)
        if seen:
            found[carrier] = (len(reached), frozenset(strata))
    return found


def test_strata_are_counted_from_the_rows_that_the_as_of_sees(tmp_path: Path) -> None:
    flights = [replace(one, carrier=f"{one.carrier}{one.flight % 40}") for one in flights_of(3)]
    view = write_airport(tmp_path, flights).views["delays"]
    engine = start_engine(Settings(root=tmp_path, state=tmp_path / "state", spark_master="local[2]"))
    found = offline_entities(engine, view, AS_OF, EVERYBODY)
    told: Facts = {}
    for each in found.sampler.candidates():
        values = decode_entity_key(each.key, view_keys(view))
        assert values is not None
        told[values[0]] = (each.rows, frozenset(each.strata))
    expected = counted(flights)
    assert told == expected
    in_population = [strata for rows, strata in expected.values() if rows]
    assert found.seen == len(in_population)
    for stratum in (Stratum.RECENT, Stratum.COLD, Stratum.EDGE, Stratum.LATE):
        assert found.strata[stratum] == sum(stratum in strata for strata in in_population) > 0
        assert found.strata[stratum] < found.seen
    assert any(not rows for rows, _ in expected.values())
    nobody = offline_entities(engine, view, START - DAY, EVERYBODY)
    assert (nobody.seen, list(nobody.sampler.candidates())) == (0, [])


def test_what_things_were_is_no_row_of_an_entity_and_snapshots_count_by_the_newest(tmp_path: Path) -> None:
    kinds = {"thing": Int64(), "owner": String(), "at": Timestamp()}
    write_rows(
        tmp_path / "owners.parquet",
        kinds,
        [
            {"thing": 1, "owner": "ann", "at": AS_OF - 9 * DAY},
            {"thing": 1, "owner": "bob", "at": AS_OF - 2 * HOUR},
            {"thing": 2, "owner": "bob", "at": AS_OF - 3 * DAY},
            {"thing": 3, "owner": "cy", "at": AS_OF + MINUTE},
        ],
    )
    engine = start_engine(Settings(root=tmp_path, state=tmp_path / "state", spark_master="local[2]"))

    def owners(kind: SourceKind, **more: object) -> dict[str, int]:
        window = {"window": "lifetime"} if kind is SourceKind.EVENTS else {}
        repository = compiled(
            tmp_path,
            entities=[Entity(name="owner", join_keys={"owner": String()})],
            sources=[
                Source.model_validate(
                    {"name": "owners", "path": "owners.parquet", "event_timestamp": "at", "kind": kind, **more}
                )
            ],
            views=[
                FeatureView(
                    name="holdings",
                    entity="owner",
                    source="owners",
                    refresh=Refresh(every=DAY),
                    features=features(things={"sql": "count(*)", **window}),
                )
            ],
        )
        found = offline_entities(engine, repository.views["holdings"], AS_OF, EVERYBODY)
        return {each.key.decode(): each.rows for each in found.sampler.candidates()}

    assert positive(owners(SourceKind.EVENTS)) == {"ann": 1, "bob": 2}
    assert positive(owners(SourceKind.CHANGES, row_key=("thing",))) == {"bob": 2}
    assert positive(owners(SourceKind.SNAPSHOTS)) == {"bob": 1}


def positive(rows: Mapping[str, int]) -> dict[str, int]:
    return {owner: count for owner, count in rows.items() if count}
