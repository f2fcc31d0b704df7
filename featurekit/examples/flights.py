"""The flights of 2013 out of New York as event sources and label rows.

    python -m featurekit.examples.flights data/
    python -m featurekit.examples.flights data/ --labels 2013-11-01 2013-12-01

writes data/departures.parquet and its siblings (`flight_events` says what they hold), and data/labels.parquet.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from featurekit.clock import HOUR, Instant, parse_instant
from featurekit.errors import FeaturekitError, InputError
from featurekit.examples.flight_events import EVENT_TABLES, add_instants
from featurekit.examples.nycflights import package_folder, read_nycflights, source_digest

LATE_AFTER_MINUTES: Final = 15.0  # the usual line in aviation: an arrival counts as late from the sixteenth minute on
_ASKED_BEFORE_DEPARTURE: Final = 2 * HOUR
_INSTANT: Final = pa.timestamp("us", tz="UTC")

# A file's footer names the CSV bytes and the recipe it was made from; one that names others is made anew.
_MADE_FROM: Final = b"featurekit.examples.flights"
_RECIPE: Final = "1"  # raise it when the event tables change


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceFile:
    path: Path
    rows: int


@dataclass(frozen=True, kw_only=True, slots=True)
class FlightSources:
    """The files that `write_sources` made, or found made."""

    departures: SourceFile
    arrivals: SourceFile
    movements: SourceFile
    schedule: SourceFile
    weather: SourceFile
    planes: SourceFile
    airports: SourceFile


@dataclass(frozen=True, kw_only=True, slots=True)
class LabelRows:
    """Rows to predict for, with what came of them; `dropped` counts flights that never arrived as planned."""

    table: pa.Table
    dropped: int


def write_sources(folder: Path) -> FlightSources:
    """Return the event sources under `folder`, written where they are not there yet.

    The same package gives the same bytes. A file appears whole or not at all, so a run that died is simply run again.
    """
    data = package_folder()
    made_from = f"{_RECIPE}:{source_digest(data)}".encode()
    missing = [name for name in EVENT_TABLES if not _is_made(folder / f"{name}.parquet", made_from)]
    if missing:
        _make_folder(folder)
        flights = add_instants(read_nycflights(data))
        for name in missing:
            table = EVENT_TABLES[name](flights).replace_schema_metadata({_MADE_FROM: made_from})
            _write(table, folder / f"{name}.parquet")
    files = {name: _source_file(folder / f"{name}.parquet") for name in EVENT_TABLES}
    return FlightSources(**files)


def label_rows(folder: Path, start: Instant, end: Instant) -> LabelRows:
    """Return one row per flight scheduled in [start, end): keys, event_timestamp, request columns and the label.

    `event_timestamp` is when one would ask, two hours before the scheduled departure. `late` is 1.0 for an arrival
    more than 15 minutes behind schedule, else 0.0; a flight that was cancelled or diverted has no label and is dropped.
    The rows are in order of event_timestamp, then flight_id.
    """
    since, until = (pa.scalar(at, _INSTANT) for at in (start, end))
    schedule = _read(folder / "schedule.parquet")
    scheduled_at = schedule["scheduled_at"]
    in_period = pc.and_(pc.greater_equal(scheduled_at, since), pc.less(scheduled_at, until))
    first_versions = schedule.filter(pc.and_(in_period, pc.invert(schedule["cancelled"])))
    arrivals = _read(folder / "arrivals.parquet").select(["flight_id", "arr_delay"])
    landed = first_versions.join(arrivals, keys="flight_id", join_type="inner")
    late = pc.greater(landed["arr_delay"], LATE_AFTER_MINUTES).cast(pa.float64())
    asked_at = pc.subtract(landed["scheduled_at"], pa.scalar(_ASKED_BEFORE_DEPARTURE, pa.duration("us")))
    table = landed.select(["flight_id", "carrier", "origin", "dest", "tailnum"])
    for name, column in (
        ("event_timestamp", asked_at),
        ("distance", landed["distance"]),
        ("scheduled_at", landed["scheduled_at"]),
        ("late", late),
    ):
        table = table.append_column(name, column)
    # Without the footer's mark: label rows are a selection of their own, not one of the sources.
    table = table.replace_schema_metadata(None).sort_by([("event_timestamp", "ascending"), ("flight_id", "ascending")])
    return LabelRows(table=table, dropped=first_versions.num_rows - table.num_rows)


def write_labels(folder: Path, start: Instant, end: Instant) -> SourceFile:
    """Return the file `labels.parquet` under `folder`, written with the label rows of [start, end)."""
    path = folder / "labels.parquet"
    rows = label_rows(folder, start, end).table
    _write(rows, path)
    return SourceFile(path=path, rows=rows.num_rows)


def _is_made(path: Path, made_from: bytes) -> bool:
    try:
        return (pq.read_schema(path).metadata or {}).get(_MADE_FROM) == made_from
    except (OSError, pa.ArrowException):  # not there, or not a whole Parquet file
        return False


def _source_file(path: Path) -> SourceFile:
    return SourceFile(path=path, rows=pq.read_metadata(path).num_rows)


def _write(table: pa.Table, path: Path) -> None:
    """Write beside the file and rename: a reader, or a run that dies, never sees half of it."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        # Row groups of about a month of flights, so that a reader of one week skips the rest of the year.
        pq.write_table(table, unfinished, compression="zstd", row_group_size=32_768)
        unfinished.replace(path)
    except OSError as error:
        raise _not_writable(path, error) from error
    finally:
        unfinished.unlink(missing_ok=True)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _not_writable(folder, error) from error


def _not_writable(path: Path, error: OSError) -> InputError:
    return InputError(f"{path} can't be written", why=str(error), try_="name a folder you may write to")


def _read(path: Path) -> pa.Table:
    try:
        return pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise InputError(
            f"{path} can't be read", why=str(error), try_=f"python -m featurekit.examples.flights {path.parent}"
        ) from error


def main(arguments: Sequence[str]) -> int:
    """Write what the arguments ask for, say so, and return the exit code."""
    parser = argparse.ArgumentParser(prog="featurekit.examples.flights", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=Path("data"), help="where the files go (data/)")
    parser.add_argument("--labels", nargs=2, metavar=("START", "END"), help="also label flights due in [START, END)")
    options = parser.parse_args(arguments)
    try:
        sources = write_sources(options.folder)
        files = [getattr(sources, field.name) for field in fields(sources)]
        if options.labels:
            start, end = (parse_instant(text) for text in options.labels)
            files.append(write_labels(options.folder, start, end))
    except FeaturekitError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    for file in files:
        print(f"{file.rows:>9,} rows  {file.path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
