"""A small airport: flights that land late in the source and are corrected, and tables of features made in plain Python.

The tables are what people make by hand, right or wrong; nothing of featurekit computes them.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from featurekit.clock import DAY, HOUR, MINUTE, parse_instant
from featurekit.compiled import CompiledRepository
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.on_demand import OnDemandFeature, OnDemandFeatureView
from featurekit.definitions.service import FeatureService, ServiceFeatures
from featurekit.definitions.source import Source
from featurekit.types import Float64, Int64, String, Timestamp
from tests.offline.worlds import compiled, features, write_rows

START = parse_instant("2026-03-02")
DAYS = 12
DELAY = 2 * HOUR
TTL = DAY
CARRIERS = ("AA", "UA", "WN", "é, {}", "")


@dataclass(frozen=True, kw_only=True)
class Flight:
    flight: int
    carrier: str
    at: int
    landed: int
    delay: float | None


@dataclass(frozen=True, kw_only=True)
class Label:
    carrier: str | None
    at: int


def flights_of(seed: int) -> list[Flight]:
    """Return flights: some without a delay, some that land a day late, some corrected later on."""
    chance = random.Random(seed)
    found = []
    for number in range(600):
        carrier = chance.choice(CARRIERS[:-1])
        if carrier == "WN" and chance.random() < 0.96:
            continue  # seldom: so that latest values expire
        at = START + chance.randrange(DAYS * DAY // MINUTE) * MINUTE
        landed = at + (30 * HOUR if chance.random() < 0.15 else 3 * MINUTE)
        delay = None if chance.random() < 0.05 else round(chance.gauss(10, 20), 1)
        found.append(Flight(flight=number, carrier=carrier, at=at, landed=landed, delay=delay))
        if chance.random() < 0.2:
            found.append(
                Flight(
                    flight=number, carrier=carrier, at=at, landed=landed + 8 * HOUR, delay=round(chance.gauss(40, 9), 1)
                )
            )
    return found


def labels_of(seed: int, count: int = 300) -> list[Label]:
    chance = random.Random(f"labels {seed}")
    carriers: list[str | None] = [*CARRIERS, "ZZ"]
    return [
        Label(
            carrier=None if n % 50 == 49 else chance.choice(carriers),
            at=START + 3 * DAY + chance.randrange((DAYS - 4) * DAY),
        )
        for n in range(count)
    ]


def write_airport(base: Path, flights: Sequence[Flight]) -> CompiledRepository:
    """Write the source, and return the definitions: a mean of a day, a count, the last delay, and one on demand."""
    rows = [
        {"flight": one.flight, "carrier": one.carrier, "at": one.at, "landed": one.landed, "delay": one.delay}
        for one in flights
    ]
    kinds = {"flight": Int64(), "carrier": String(), "at": Timestamp(), "landed": Timestamp(), "delay": Float64()}
    write_rows(base / "flights.parquet", kinds, rows)
    return compiled(
        base,
        entities=[Entity(name="carrier", join_keys={"carrier": String()})],
        sources=[
            Source(
                name="flights",
                path="flights.parquet",
                event_timestamp="at",
                created_timestamp="landed",
                event_id="flight",
            )
        ],
        views=[
            FeatureView(
                name="delays",
                entity="carrier",
                source="flights",
                refresh=Refresh(every=DAY),
                availability_delay=DELAY,
                features=features(
                    mean_1d={"sql": "avg(delay)", "window": "1d"},
                    n_3d={"sql": "count(*)", "window": "3d"},
                    last={"sql": "delay", "ttl": "1d"},
                    last_or={"sql": "delay", "ttl": "1d", "default": -1.0},
                ),
            )
        ],
        on_demand=[
            OnDemandFeatureView(
                name="trip",
                request={"hours": Float64()},
                features=(OnDemandFeature(name="share", sql="delays.mean_1d / hours"),),
            ),
            OnDemandFeatureView(
                name="odds", features=(OnDemandFeature(name="flights", sql="ln(1.0D + delays.n_3d)", default=0.0),)
            ),
        ],
        services=[
            FeatureService(name="late", features=(ServiceFeatures(view="delays"),)),
            # What it computes from is no output.
            FeatureService(
                name="odds", features=(ServiceFeatures(view="delays", feature="last_or"), ServiceFeatures(view="odds"))
            ),
            FeatureService(name="trips", features=(ServiceFeatures(view="delays"), ServiceFeatures(view="trip"))),
            FeatureService(
                name="pairs",
                features=(
                    ServiceFeatures(view="delays"),
                    ServiceFeatures(view="delays", alias="other", keys={"carrier": "rival"}),
                ),
            ),
        ],
    )


Known = Callable[[Flight], bool]


def visible(flights: Sequence[Flight], carrier: str | None, until: int, known: Known) -> list[Flight]:
    """Return a carrier's flights before an instant: of each the last version that is known."""
    newest: dict[int, Flight] = {}
    for one in sorted((one for one in flights if known(one)), key=lambda one: (one.landed, one.at, one.delay or 0)):
        newest[one.flight] = one
    return [one for one in newest.values() if one.carrier == carrier and one.at < until]


def served_at(at: int) -> int:
    shifted = at - DELAY
    return shifted - shifted % DAY


@dataclass(frozen=True, kw_only=True)
class Way:
    """A way to make a table: the as-of and what is known of a label's row, and whether latest values expire."""

    as_of: Callable[[int], int] = served_at
    known: Callable[[int, Flight], bool] = lambda as_of, one: one.landed <= as_of
    ttl: int | None = TTL

    def row(self, flights: Sequence[Flight], label: Label) -> dict[str, Any]:
        as_of = self.as_of(label.at)
        rows = visible(flights, label.carrier, as_of, lambda one: self.known(as_of, one))
        day = [one.delay for one in rows if one.at >= as_of - DAY and one.delay is not None]
        mean = math.fsum(day) / len(day) if day else None
        newest = max(rows, key=lambda one: (one.at, one.landed, one.carrier, one.delay is not None), default=None)
        fresh = newest is not None and (self.ttl is None or newest.at >= as_of - self.ttl)
        last = newest.delay if newest is not None and fresh else None
        return {
            "delays.mean_1d": mean,
            "delays.n_3d": len([one for one in rows if one.at >= as_of - 3 * DAY]),
            "delays.last": last,
            "delays.last_or": -1.0 if last is None else last,
        }


def everything(_: int, __: Flight) -> bool:
    return True


def end_of_day(at: int) -> int:
    return at - at % DAY + DAY


KINDS = {"delays.mean_1d": pa.float64(), "delays.n_3d": pa.int64(), "delays.last": pa.float64()}
KINDS["delays.last_or"] = pa.float64()


def write_table(path: Path, labels: Sequence[Label], rows: Sequence[dict[str, Any]], **kinds: pa.DataType) -> Path:
    """Write a training table: carrier, event_timestamp, hours, and features."""
    columns: dict[str, pa.Array] = {
        "carrier": pa.array([one.carrier for one in labels], pa.string()),
        "event_timestamp": pa.array([one.at for one in labels], pa.timestamp("us", tz="UTC")),
        "hours": pa.array([2.0] * len(labels)),
    }
    for name in rows[0] if rows else KINDS:
        kind = kinds.get(name) or KINDS.get(name)
        columns[name] = pa.array([row[name] for row in rows], kind)
    pq.write_table(pa.table(columns), path)
    return path
