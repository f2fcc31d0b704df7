"""The bench's own flights: those of autumn 2013, with what makes pipelines stumble.

Some planes report times by blocks of six hours, so that events lie on the very edges of windows and on each other; some
rows are on record a day late; texts and keys come with blanks, in other cases and in other Unicode forms; numbers and
odometers go beyond 32 bits; delays and distances are missing here and there.
"""

from __future__ import annotations

import unicodedata
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from featurekit.clock import DAY, HOUR, MINUTE, Instant, parse_instant

FIRST: Final = parse_instant("2013-10-12")
LAST: Final = parse_instant("2013-11-12")
TODAY: Final = parse_instant("2013-11-06")  # the clocks went back on the third
YESTERDAY: Final = TODAY - DAY
AT: Final = TODAY + 9 * HOUR
LAG: Final = 5 * MINUTE
INSTANT: Final = pa.timestamp("us", tz="UTC")
_BLOCK: Final = 6 * HOUR
_MEMOS: Final = (
    "Turbo-Fan ", " turbo-jet", "Café au départ", "Cafe\u0301 de nuit ", "HELD at GATE", "de-iced  twice", "Zoë boards",
    "nothing to report, all doors closed", "", "ÅRE via ÖSTERSUND",
)  # fmt: skip
_WIDE: Final = 2**32


def write_flights(departures: Path, folder: Path, seed: int) -> None:
    """Write hops.parquet, legs.parquet and undated.parquet into a folder, from the departures of 2013."""
    hops = hop_table(departures, seed)
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(hops, folder / "hops.parquet")
    pq.write_table(with_corrections(hops, seed), folder / "legs.parquet")
    pq.write_table(hops.drop_columns(["recorded_at"]), folder / "undated.parquet")


def hop_table(departures: Path, seed: int) -> pa.Table:
    """Return one row per flight that left, in the order in which they were recorded."""
    flown = pq.read_table(departures)
    left = flown["recorded_at"].cast(pa.int64()).to_numpy() - LAG
    flown = flown.filter(pa.array((left >= FIRST) & (left < LAST))).filter(pc.is_valid(pc.field("tailnum")))
    draw = np.random.default_rng(seed)
    count = flown.num_rows
    tailnums = flown["tailnum"].to_pylist()
    left = flown["recorded_at"].cast(pa.int64()).to_numpy() - LAG
    by_blocks = np.array([sum(map(ord, tailnum)) % 3 == 0 for tailnum in tailnums])
    left = np.where(by_blocks, -(-left // _BLOCK) * _BLOCK, left)
    late = draw.random(count) < 0.12
    recorded = left + LAG + np.where(late, draw.integers(HOUR, 40 * HOUR, count), 0)
    distance = flown["distance"].to_numpy().astype(np.float64)
    delay = np.round(flown["dep_delay"].to_numpy().astype(np.float64) + draw.random(count), 1)
    table = pa.table(
        {
            "leg": flown["flight_id"],
            "tailnum": flown["tailnum"],
            "number": pa.array(flown["flight"].to_numpy().astype(np.int64) + _WIDE * draw.integers(0, 2, count)),
            "tag": pa.array(_tags(tailnums, draw)),
            "dest": flown["dest"],
            "memo": _some(draw, count, 0.05, np.array(_MEMOS, object)[draw.integers(0, len(_MEMOS), count)]),
            "dep_delay": _some(draw, count, 0.1, delay),
            "distance": _some(draw, count, 0.03, distance),
            "fare": _fares(distance, draw),
            "odometer": pa.array(draw.integers(2**30, 2**33, count)),
            "left_at": _instants(left),
            "recorded_at": _instants(recorded),
        }
    )
    return table.sort_by([("recorded_at", "ascending"), ("leg", "ascending")])


def with_corrections(hops: pa.Table, seed: int) -> pa.Table:
    """Return the rows and, for some, a later version of the same leg with another delay."""
    draw = np.random.default_rng(seed + 1)
    again = hops.filter(pa.array(draw.random(hops.num_rows) < 0.15))
    recorded = again["recorded_at"].cast(pa.int64()).to_numpy() + draw.integers(HOUR, 30 * HOUR, again.num_rows)
    again = again.set_column(again.column_names.index("recorded_at"), "recorded_at", _instants(recorded))
    delay = pc.add(again["dep_delay"], pa.array(np.round(draw.random(again.num_rows) * 20, 1)))
    again = again.set_column(again.column_names.index("dep_delay"), "dep_delay", delay)
    return pa.concat_tables([hops, again]).sort_by([("recorded_at", "ascending"), ("leg", "ascending")])


def _tags(tailnums: list[str], draw: np.random.Generator) -> list[str]:
    """Return a crew's tag for each flight: of each crew's, five spellings are about, each an entity of its own."""
    spellings = (
        lambda tag: tag,
        lambda tag: f"{tag} ",
        lambda tag: unicodedata.normalize("NFD", tag),
        str.lower,
        str.upper,
    )
    chosen = draw.choice(len(spellings), len(tailnums), p=(0.4, 0.2, 0.15, 0.15, 0.1))
    return [
        spellings[spelling](f"Équipe {sum(map(ord, tailnum)) * 31 % 400} Zoë")
        for tailnum, spelling in zip(tailnums, chosen.tolist(), strict=True)
    ]


def _fares(distance: npt.NDArray[np.float64], draw: np.random.Generator) -> pa.Array:
    cents = (distance * 11).astype(np.int64) + draw.integers(0, 5000, len(distance))
    return pa.array([Decimal(one).scaleb(-2) for one in cents.tolist()], pa.decimal128(10, 2))


def _some(draw: np.random.Generator, count: int, missing: float, values: npt.NDArray[Any]) -> pa.Array:
    """Return the values, a share of them missing."""
    return pa.array(values, mask=draw.random(count) < missing)


def _instants(micros: npt.NDArray[np.int64]) -> pa.Array:
    return pa.array(micros, pa.int64()).cast(INSTANT)


def instant_column(table: pa.Table, name: str) -> npt.NDArray[np.int64]:
    """Return a column of instants as microseconds."""
    found: npt.NDArray[np.int64] = table[name].cast(pa.int64()).to_numpy()
    return found


def with_instants(table: pa.Table, name: str, micros: npt.NDArray[np.int64]) -> pa.Table:
    """Return the table with other instants in a column."""
    return table.set_column(table.column_names.index(name), name, _instants(micros))


def until(table: pa.Table, name: str, instant: Instant) -> pa.Table:
    """Return the rows whose instant in a column is before another."""
    return table.filter(pa.array(instant_column(table, name) < instant))
