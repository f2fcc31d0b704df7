"""The event sources hold the flights of 2013 at the right instants.

The instants of single flights were worked out by hand from the rows of flights.csv and the zones' offsets: New York
is UTC-5, from 10 March 07:00Z to 3 November 06:00Z it is UTC-4; Puerto Rico and St Thomas are UTC-4 all year.
"""

from __future__ import annotations

import hashlib
import importlib.util
from dataclasses import fields
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from featurekit.clock import MINUTE, parse_instant
from featurekit.errors import InputError, TimeError
from featurekit.examples import nycflights
from featurekit.examples.flight_times import NEW_YORK, to_instants
from featurekit.examples.flights import FlightSources, SourceFile, label_rows, main, write_labels, write_sources

FIVE_MINUTES = timedelta(minutes=5)

# flight, departure on New York's clock, instants of departure and arrival
FLOWN = [
    # 05:17 EST; 08:30 CST in Houston
    ("2013-01-01/UA1545/EWR/0515", "2013-01-01T05:17", "2013-01-01T10:17", "2013-01-01T14:30"),
    # 15:16 on the same day in Honolulu, UTC-10, is the next day in UTC
    ("2013-01-01/HA51/JFK/0900", "2013-01-01T08:57", "2013-01-01T13:57", "2013-01-02T01:16"),
    # 13:31 AST in St Thomas, which airports.csv doesn't list
    ("2013-01-01/AA655/JFK/0810", "2013-01-01T09:09", "2013-01-01T14:09", "2013-01-01T17:31"),
    # dep_delay 1301: it left on the next morning, dep_time alone would say the same morning
    ("2013-01-09/HA51/JFK/0900", "2013-01-10T06:41", "2013-01-10T11:41", "2013-01-10T22:42"),
    # arr_time 2400 is the midnight after, not the one before
    ("2013-01-01/B61109/JFK/2155", "2013-01-01T22:09", "2013-01-02T03:09", "2013-01-02T05:00"),
    # due at 00:18 and 18 minutes early, so back across midnight
    ("2013-01-05/B6383/LGA/2130", "2013-01-05T21:16", "2013-01-06T02:16", "2013-01-06T05:00"),
    # due at 23:59, left 7 minutes later on the next date; 03:36 AST in Aguadilla
    ("2013-03-10/B6727/JFK/2359", "2013-03-11T00:06", "2013-03-11T04:06", "2013-03-11T07:36"),
    # the night of 10 March: recorded as landing at 02:03, which Florida's clocks skipped; it was 03:03 EDT
    ("2013-03-09/B635/JFK/2145", "2013-03-09T23:06", "2013-03-10T04:06", "2013-03-10T07:03"),
    # 10 March after both changes: 06:52 EDT; 09:53 PDT in Los Angeles
    ("2013-03-10/UA387/EWR/0655", "2013-03-10T06:52", "2013-03-10T10:52", "2013-03-10T16:53"),
    # 08:55 in Phoenix, which keeps UTC-7 in July
    ("2013-07-01/UA1138/EWR/0658", "2013-07-01T06:55", "2013-07-01T10:55", "2013-07-01T15:55"),
    # dep_time 2400 is the midnight that begins the next date
    ("2013-10-30/B6839/JFK/2359", "2013-10-31T00:00", "2013-10-31T04:00", "2013-10-31T07:27"),
    # over the repeated hour of 3 November, 23:58 EDT to 03:50 AST in San Juan
    ("2013-11-02/B61503/JFK/2359", "2013-11-02T23:58", "2013-11-03T03:58", "2013-11-03T07:50"),
    # 3 November after both changes: 06:45 EST; 10:11 PST
    ("2013-11-03/B623/JFK/0700", "2013-11-03T06:45", "2013-11-03T11:45", "2013-11-03T18:11"),
    # the last night: the year ends while it waits
    ("2013-12-31/B6108/JFK/2245", "2014-01-01T00:26", "2014-01-01T05:26", "2014-01-01T06:29"),
]


def read(file: SourceFile) -> pa.Table:
    return pq.read_table(file.path)


def rows_of(file: SourceFile, flight_id: str) -> list[dict[str, Any]]:
    table = read(file)
    rows: list[dict[str, Any]] = table.filter(pc.equal(table["flight_id"], flight_id)).to_pylist()
    return rows


def row_of(file: SourceFile, flight_id: str) -> dict[str, Any]:
    (row,) = rows_of(file, flight_id)
    return row


@pytest.mark.parametrize(("flight_id", "on_new_yorks_clock", "departed", "arrived"), FLOWN)
def test_flight_has_the_times_worked_out_by_hand(
    flight_sources: FlightSources, flight_id: str, on_new_yorks_clock: str, departed: str, arrived: str
) -> None:
    left = row_of(flight_sources.departures, flight_id)
    landed = row_of(flight_sources.arrivals, flight_id)
    assert left["departed_at"].isoformat() == f"{on_new_yorks_clock}:00"
    assert landed["arrived_at"].isoformat() == f"{arrived}:00+00:00"
    # each is known five minutes later; for the departure that is the only column with the instant itself
    assert (left["recorded_at"] - FIVE_MINUTES).isoformat() == f"{departed}:00+00:00"
    assert (landed["recorded_at"] - FIVE_MINUTES).isoformat() == f"{arrived}:00+00:00"


def test_sources_hold_every_row_of_the_package(flight_sources: FlightSources) -> None:
    assert {field.name: getattr(flight_sources, field.name).rows for field in fields(flight_sources)} == {
        "departures": 328_521,  # 336,776 flights less 8,255 cancelled
        "arrivals": 327_346,  # less 1,175 that left and were diverted or lost
        "movements": 328_521 + 327_346,
        "schedule": 336_776 + 8_255,
        "weather": 26_115,
        "planes": 3_322,
        "airports": 1_458,
    }


def test_departure_on_new_yorks_clock_is_the_dep_time_of_the_package(flight_sources: FlightSources) -> None:
    flights = nycflights.read_nycflights(nycflights.package_folder()).flights
    told = flights.filter(pc.is_valid(flights["dep_time"]))["dep_time"]
    departed_at = read(flight_sources.departures)["departed_at"]
    hhmm = pc.add(pc.multiply(pc.hour(departed_at), 100), pc.minute(departed_at))
    assert sorted(hhmm.to_pylist()) == sorted(time % 2400 for time in told.to_pylist())


def test_no_departure_reads_a_skipped_or_a_repeated_hour(flight_sources: FlightSources) -> None:
    # so reading departed_at in New York's zone gives back the very instant, whatever the rule for doubtful readings
    table = read(flight_sources.departures)
    read_hours = set(pc.strftime(table["departed_at"], "%m-%d %H").to_pylist())
    assert not read_hours & {"03-10 02", "11-03 01"}
    readings = table["departed_at"].cast(pa.int64()).to_numpy()
    recorded_at = table["recorded_at"].cast(pa.int64()).to_numpy()
    assert np.array_equal(to_instants(readings, NEW_YORK) + 5 * MINUTE, recorded_at)


@pytest.mark.parametrize(
    ("reading", "instant"),
    [
        ("2013-03-10T01:59", "2013-03-10T06:59"),
        ("2013-03-10T02:30", "2013-03-10T07:30"),  # skipped: moves forward by the hour
        ("2013-03-10T03:00", "2013-03-10T07:00"),
        ("2013-11-03T00:59", "2013-11-03T04:59"),
        ("2013-11-03T01:30", "2013-11-03T06:30"),  # repeated: the later one
        ("2013-11-03T02:00", "2013-11-03T07:00"),
    ],
)
def test_doubtful_readings_of_new_yorks_clock_follow_the_contract(reading: str, instant: str) -> None:
    given = np.array([parse_instant(f"{reading}Z")])
    assert to_instants(given, NEW_YORK).tolist() == [parse_instant(f"{instant}Z")]


def test_flight_takes_its_air_time_and_some_time_on_the_ground(flight_sources: FlightSources) -> None:
    arrivals = read(flight_sources.arrivals)
    departures = read(flight_sources.departures).select(["flight_id", "recorded_at"])
    both = arrivals.join(departures, keys="flight_id", right_suffix="_departure")
    elapsed = pc.divide(pc.subtract(both["recorded_at"], both["recorded_at_departure"]).cast(pa.int64()), 60_000_000)
    ground = pc.subtract(elapsed, both["air_time"])
    # a wrong zone or date would be off by an hour or by a day
    assert pc.min_max(elapsed).as_py() == {"min": 33, "max": 738}
    assert pc.min_max(ground).as_py() == {"min": 5.0, "max": 235.0}


def test_cancellation_is_a_later_version_known_at_four_the_next_morning(flight_sources: FlightSources) -> None:
    first, second = rows_of(flight_sources.schedule, "2013-01-01/EV4308/EWR/1630")
    assert (first["cancelled"], second["cancelled"]) == (False, True)
    assert first["scheduled_at"] == second["scheduled_at"] == first["recorded_at"]
    assert first["scheduled_at"].isoformat() == "2013-01-01T21:30:00+00:00"
    assert second["recorded_at"].isoformat() == "2013-01-02T09:00:00+00:00"


def test_flight_that_left_has_one_version_in_the_schedule(flight_sources: FlightSources) -> None:
    assert row_of(flight_sources.schedule, "2013-01-01/UA1545/EWR/0515")["cancelled"] is False


def test_movements_show_a_flight_at_both_its_airports(flight_sources: FlightSources) -> None:
    left, landed = rows_of(flight_sources.movements, "2013-01-01/UA1545/EWR/0515")
    assert (left["airport"], left["kind"], left["delay"]) == ("EWR", "departure", 2.0)
    assert (landed["airport"], landed["kind"], landed["delay"]) == ("IAH", "arrival", 11.0)
    assert landed["moved_at"].isoformat() == "2013-01-01T14:30:00+00:00"


def test_weather_has_both_of_the_repeated_hours_and_is_known_when_its_hour_is_over(
    flight_sources: FlightSources,
) -> None:
    table = read(flight_sources.weather)
    newark = table.filter(pc.equal(table["origin"], "EWR")).to_pylist()
    observed = {row["observed_at"].isoformat(): row for row in newark}
    assert observed["2013-11-03T05:00:00+00:00"]["temp"] == 51.98  # 01:00 EDT
    assert observed["2013-11-03T06:00:00+00:00"]["temp"] == 50.0  # 01:00 EST
    assert observed["2013-11-03T06:00:00+00:00"]["recorded_at"].isoformat() == "2013-11-03T07:00:00+00:00"


def test_every_row_is_recorded_at_or_after_its_event(flight_sources: FlightSources) -> None:
    for file, event in (
        (flight_sources.arrivals, "arrived_at"),
        (flight_sources.movements, "moved_at"),
        (flight_sources.schedule, "scheduled_at"),
        (flight_sources.weather, "observed_at"),
        (flight_sources.planes, "listed_at"),
        (flight_sources.airports, "listed_at"),
    ):
        table = read(file)
        assert pc.all(pc.greater_equal(table["recorded_at"], table[event])).as_py(), file.path.name


def test_sources_are_the_same_bytes_on_every_run(flight_sources: FlightSources, tmp_path: Path) -> None:
    again = write_sources(tmp_path)
    for field in fields(again):
        first, second = (hashlib.sha256(getattr(run, field.name).path.read_bytes()) for run in (flight_sources, again))
        assert first.digest() == second.digest(), field.name


def test_rerun_makes_only_what_is_missing_or_cut_short(flight_sources: FlightSources) -> None:
    folder = flight_sources.planes.path.parent
    whole = flight_sources.planes.path.read_bytes()
    untouched = {path: path.stat().st_mtime_ns for path in folder.iterdir() if path.name != "planes.parquet"}
    flight_sources.planes.path.write_bytes(whole[: len(whole) // 2])
    assert write_sources(folder) == flight_sources
    assert flight_sources.planes.path.read_bytes() == whole
    assert {path: path.stat().st_mtime_ns for path in untouched} == untouched
    assert len(list(folder.iterdir())) == len(fields(flight_sources))  # nothing half-written is left


def test_label_row_is_asked_for_two_hours_before_the_scheduled_departure(flight_sources: FlightSources) -> None:
    folder = flight_sources.schedule.path.parent
    labels = label_rows(folder, parse_instant("2013-11-03T05:00Z"), parse_instant("2013-11-04T05:00Z"))
    (row,) = labels.table.filter(pc.equal(labels.table["flight_id"], "2013-11-03/B623/JFK/0700")).to_pylist()
    assert row["event_timestamp"].isoformat() == "2013-11-03T10:00:00+00:00"  # 07:00 EST is 12:00Z
    assert row["scheduled_at"].isoformat() == "2013-11-03T12:00:00+00:00"
    del row["event_timestamp"], row["scheduled_at"]
    assert row == {
        "flight_id": "2013-11-03/B623/JFK/0700",
        "carrier": "B6",
        "origin": "JFK",
        "dest": "LAX",
        "tailnum": "N807JB",
        "distance": 2475.0,
        "late": 0.0,
    }


def test_label_is_late_from_the_sixteenth_minute(flight_sources: FlightSources) -> None:
    folder = flight_sources.schedule.path.parent
    table = label_rows(folder, parse_instant("2013-01-01"), parse_instant("2014-01-02")).table
    arrivals = read(flight_sources.arrivals).select(["flight_id", "arr_delay"])
    both = table.join(arrivals, keys="flight_id")
    late = pc.equal(both["late"], 1.0)
    assert pc.min(both.filter(late)["arr_delay"]).as_py() == 16.0
    assert pc.max(both.filter(pc.invert(late))["arr_delay"]).as_py() == 15.0


def test_flight_that_never_arrived_as_planned_has_no_label_and_is_counted(flight_sources: FlightSources) -> None:
    folder = flight_sources.schedule.path.parent
    labels = label_rows(folder, parse_instant("2013-01-01"), parse_instant("2014-01-02"))
    assert (labels.table.num_rows, labels.dropped) == (327_346, 9_430)
    assert labels.table["late"].null_count == 0


def test_label_period_is_half_open(flight_sources: FlightSources) -> None:
    folder = flight_sources.schedule.path.parent
    due = parse_instant("2013-11-03T12:00Z")
    at, before = label_rows(folder, due, due + 1), label_rows(folder, due - 1, due)
    assert "2013-11-03/B623/JFK/0700" in at.table["flight_id"].to_pylist()
    assert before.table.num_rows == 0


def test_label_rows_say_how_to_make_the_sources_they_lack(tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        write_labels(tmp_path, 0, 1)
    assert raised.value.try_ == f"python -m featurekit.examples.flights {tmp_path}"
    assert list(tmp_path.iterdir()) == []


def test_package_that_is_not_installed_is_an_input_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(InputError) as raised:
        nycflights.package_folder()
    assert raised.value.try_ == "pip install 'featurekit[examples]'"


def test_damaged_package_file_is_an_input_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "flights.csv.zip").write_bytes(b"not a zip")
    with pytest.raises(InputError) as raised:
        nycflights.read_nycflights(tmp_path)
    assert raised.value.where == str(tmp_path / "flights.csv.zip")


def test_folder_that_is_a_file_is_an_input_error(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(InputError):
        write_sources(tmp_path / "data")
    assert (tmp_path / "data").read_text() == ""


def test_command_writes_and_names_sources_and_labels(
    flight_sources: FlightSources, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = flight_sources.planes.path.parent
    try:
        assert main([str(folder), "--labels", "2013-11-01", "2013-12-01"]) == 0
    finally:
        (folder / "labels.parquet").unlink(missing_ok=True)  # the folder is shared with other tests
    said = capsys.readouterr().out.splitlines()
    assert said[0].split() == ["328,521", "rows", str(folder / "departures.parquet")]
    assert said[-1].split() == ["26,901", "rows", str(folder / "labels.parquet")]


def test_command_refuses_a_period_without_a_zone(
    flight_sources: FlightSources, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = flight_sources.planes.path.parent
    assert main([str(folder), "--labels", "2013-11-01T00:00", "2013-12-01"]) == TimeError.exit_code
    assert "has no zone" in capsys.readouterr().err
