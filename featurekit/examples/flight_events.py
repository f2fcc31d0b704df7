"""The event tables of the flights of 2013: what happened, and in `recorded_at` when it could be known.

    departures     a flight left                     known 5 minutes later
    arrivals       a flight landed, not diverted     known 5 minutes later
    movements      either, seen from its airport     known 5 minutes later
    schedule       a flight was due to leave         known then; a second version of the row says that it was cancelled
    weather        an hour's weather at an airport   known when the hour is over
    planes         what a plane is                   known before the year began
    airports       where an airport lies             known before the year began

`departures.departed_at` is a naive New York clock reading, as many real tables have it, so its source must declare a
zone. All other times are UTC. The data hold no time of a cancellation: it counts as known at 04:00 in New York of the
next day, when a day's flights are over, which is never too early.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from featurekit.clock import DAY, HOUR, MINUTE, from_datetime
from featurekit.examples import flight_times as times
from featurekit.examples.nycflights import NycFlights

_LANDING_LAG: Final = 5 * MINUTE
_CANCELLATIONS_KNOWN: Final = DAY + 4 * HOUR  # on New York's clock, after the midnight that began the day
_LISTED: Final = from_datetime(datetime(2012, 12, 31, tzinfo=UTC))
_FLIGHT: Final = ("flight_id", "carrier", "flight", "tailnum", "origin", "dest", "distance")


@dataclass(frozen=True, kw_only=True, slots=True)
class Flights:
    """The tables with their instants: of all flights, of those that departed, of those that landed as planned."""

    raw: NycFlights
    scheduled: pa.Table
    departed: pa.Table
    landed: pa.Table


def add_instants(raw: NycFlights) -> Flights:
    scheduled_at = times.scheduled_instants(raw.flights)
    scheduled = raw.flights.append_column("flight_id", _flight_ids(raw.flights))
    scheduled = scheduled.set_column(  # a flight number is small: the sources hold it as an int32
        scheduled.column_names.index("flight"), "flight", scheduled["flight"].cast(pa.int32())
    )
    scheduled = scheduled.append_column("scheduled_at", pa.array(scheduled_at))
    departed = scheduled.filter(pc.is_valid(scheduled["dep_time"]))
    departed_at = times.departed_instants(departed, times.ints(departed, "scheduled_at"))
    departed = departed.append_column("departed_at", pa.array(departed_at))
    # A diverted flight has an arr_time of somewhere, sometime, but neither arrival delay nor air time.
    landed = departed.filter(pc.is_valid(departed["arr_delay"]))
    arrived_at = times.arrived_instants(landed, times.ints(landed, "departed_at"), raw.zones)
    landed = landed.append_column("arrived_at", pa.array(arrived_at))
    return Flights(raw=raw, scheduled=scheduled, departed=departed, landed=landed)


def _flight_ids(flights: pa.Table) -> pa.Array:
    """Return ids such as `2013-01-01/UA1545/EWR/0515`: no flight number leaves an airport twice on one date."""

    def padded(name: str, width: int) -> pa.Array:
        return pc.utf8_lpad(flights[name].cast(pa.string()), width, padding="0")

    on = pc.binary_join_element_wise(padded("year", 4), padded("month", 2), padded("day", 2), "-")
    number = pc.binary_join_element_wise(flights["carrier"], flights["flight"].cast(pa.string()), "")
    return pc.binary_join_element_wise(on, number, flights["origin"], padded("sched_dep_time", 4), "/")


def _departures(flights: Flights) -> pa.Table:
    departed = flights.departed
    departed_at = times.ints(departed, "departed_at")
    return pa.table(
        {
            **_columns(departed, *_FLIGHT),
            "scheduled_at": _instants(times.ints(departed, "scheduled_at")),
            "dep_delay": departed["dep_delay"],
            "departed_at": pa.array(times.to_readings(departed_at, times.NEW_YORK)).cast(pa.timestamp("us")),
            "recorded_at": _instants(departed_at + _LANDING_LAG),
        }
    ).sort_by([("recorded_at", "ascending"), ("flight_id", "ascending")])


def _arrivals(flights: Flights) -> pa.Table:
    landed = flights.landed
    arrived_at = times.ints(landed, "arrived_at")
    return pa.table(
        {
            **_columns(landed, *_FLIGHT, "air_time", "arr_delay"),
            "arrived_at": _instants(arrived_at),
            "recorded_at": _instants(arrived_at + _LANDING_LAG),
        }
    ).sort_by([("arrived_at", "ascending"), ("flight_id", "ascending")])


def _movements(flights: Flights) -> pa.Table:
    """Return departures and arrivals as one kind of event, so that every airport has some."""
    departed = _movement(flights.departed, kind="departure", airport="origin", delay="dep_delay", at="departed_at")
    arrived = _movement(flights.landed, kind="arrival", airport="dest", delay="arr_delay", at="arrived_at")
    order = [("moved_at", "ascending"), ("flight_id", "ascending"), ("kind", "ascending")]
    return pa.concat_tables([departed, arrived]).sort_by(order)


def _movement(flown: pa.Table, *, kind: str, airport: str, delay: str, at: str) -> pa.Table:
    moved_at = times.ints(flown, at)
    return pa.table(
        {
            **_columns(flown, "flight_id", "carrier"),
            "airport": flown[airport],
            "kind": pa.repeat(kind, flown.num_rows),
            "delay": flown[delay],
            "moved_at": _instants(moved_at),
            "recorded_at": _instants(moved_at + _LANDING_LAG),
        }
    )


def _schedule(flights: Flights) -> pa.Table:
    """Return one row per scheduled flight, and for a cancelled one a second, later version of it."""
    scheduled = flights.scheduled
    cancelled = scheduled.filter(pc.is_null(scheduled["dep_time"]))
    midnight = times.to_readings(times.ints(cancelled, "scheduled_at"), times.NEW_YORK) // DAY * DAY
    known = times.to_instants(midnight + _CANCELLATIONS_KNOWN, times.NEW_YORK)
    versions = [
        _schedule_version(scheduled, cancelled=False, recorded_at=times.ints(scheduled, "scheduled_at")),
        _schedule_version(cancelled, cancelled=True, recorded_at=known),
    ]
    order = [("scheduled_at", "ascending"), ("flight_id", "ascending"), ("recorded_at", "ascending")]
    return pa.concat_tables(versions).sort_by(order)


def _schedule_version(scheduled: pa.Table, *, cancelled: bool, recorded_at: times.Micros) -> pa.Table:
    return pa.table(
        {
            **_columns(scheduled, *_FLIGHT),
            "cancelled": pa.repeat(cancelled, scheduled.num_rows),
            "scheduled_at": _instants(times.ints(scheduled, "scheduled_at")),
            "recorded_at": _instants(recorded_at),
        }
    )


def _weather(flights: Flights) -> pa.Table:
    weather = flights.raw.weather
    began = pc.strptime(weather["time_hour"], "%Y-%m-%dT%H:%M:%SZ", "us").cast(pa.int64()).to_numpy()
    measured = ("temp", "dewp", "humid", "wind_dir", "wind_speed", "wind_gust", "precip", "pressure", "visib")
    return pa.table(
        {
            **_columns(weather, "origin", *measured),
            "observed_at": _instants(began),
            "recorded_at": _instants(began + HOUR),
        }
    ).sort_by([("observed_at", "ascending"), ("origin", "ascending")])


def _planes(flights: Flights) -> pa.Table:
    planes = flights.raw.planes
    listed_at = _instants(np.full(planes.num_rows, _LISTED))
    described = ("tailnum", "year", "type", "manufacturer", "model", "engines", "seats", "engine")
    return pa.table({**_columns(planes, *described), "listed_at": listed_at, "recorded_at": listed_at}).sort_by(
        "tailnum"
    )


def _airports(flights: Flights) -> pa.Table:
    airports = flights.raw.airports
    listed_at = _instants(np.full(airports.num_rows, _LISTED))
    place = {"airport": airports["faa"], "latitude": airports["lat"], "longitude": airports["lon"]}
    return pa.table({**place, "listed_at": listed_at, "recorded_at": listed_at}).sort_by("airport")


def _columns(table: pa.Table, *names: str) -> dict[str, pa.ChunkedArray]:
    return {name: table[name] for name in names}


def _instants(micros: times.Micros) -> pa.Array:
    return pa.array(micros).cast(pa.timestamp("us", tz="UTC"))


EVENT_TABLES: Final[Mapping[str, Callable[[Flights], pa.Table]]] = {
    "departures": _departures,
    "arrivals": _arrivals,
    "movements": _movements,
    "schedule": _schedule,
    "weather": _weather,
    "planes": _planes,
    "airports": _airports,
}
