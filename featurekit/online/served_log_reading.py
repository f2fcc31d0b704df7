"""The files of the served-feature log, as their metadata tell of them: who served, by which definitions, how many."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from featurekit.clock import Instant
from featurekit.errors import InputError, SourceError
from featurekit.served_columns import METADATA, READ_FORMATS, TIMESTAMP


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFile:
    """A file of the log; `place` is the project/environment that served, `share` the share of entities it has.

    `views` are the views that were read, by alias: name and fingerprint. `earliest` and `latest` are the times of its
    requests, None where the file says nothing of them.
    """

    path: Path
    place: str
    service: str
    fingerprint: str
    rows: int
    schema: pa.Schema
    views: Mapping[str, tuple[str, str]]
    share: float
    earliest: Instant | None
    latest: Instant | None


def log_files(folder: Path, service: str) -> list[LogFile]:
    """Return the log's files of a service; InputError where there is none.

    SourceError where one can't be read, or is no file of the log.
    """
    place = folder / service if (folder / service).is_dir() else folder
    files = [each for each in _files_in(place) if each.service == service]
    if not files:
        raise InputError(
            f"there is no log of {service}",
            where=str(folder),
            why="it holds no file that the served-feature log wrote for this service",
            try_="the folder that the setting served_log.path names; what is served is in it after `rotate`",
        )
    return files


def logged_services(folder: Path) -> dict[str, list[LogFile]]:
    """Return the log's files by service, in the folder itself and in those of services; errors as of `log_files`."""
    found: dict[str, list[LogFile]] = {}
    for place in (folder, *sorted(path for path in folder.glob("*") if path.is_dir())):
        for file in _files_in(place):
            found.setdefault(file.service, []).append(file)
    if not found:
        raise InputError(
            "there is no log",
            where=str(folder),
            why="it holds no file that the served-feature log wrote" if folder.is_dir() else "there is no such folder",
            try_="the folder that the setting served_log.path names; what is served is in it after `rotate`",
        )
    return found


def _files_in(folder: Path) -> Iterator[LogFile]:
    # A name that begins with a dot is a file that is being written.
    for path in sorted(path for path in folder.glob("*.parquet") if not path.name.startswith(".")):
        yield _log_file(path)


def _log_file(path: Path) -> LogFile:
    try:
        meta = pq.read_metadata(path)
        schema = meta.schema.to_arrow_schema()
    except (OSError, pa.ArrowException) as error:
        raise SourceError("a file of the log can't be read", where=str(path), why=str(error)) from error
    text = (meta.metadata or {}).get(METADATA)
    told: Mapping[str, Any] = {} if text is None else json.loads(text)
    if told.get("format") not in READ_FORMATS:
        raise SourceError(
            "it is not a file of the served-feature log" if not told else f"it has format {told.get('format')!r}",
            where=str(path),
            why=f"this featurekit reads formats {' and '.join(map(str, READ_FORMATS))} of what the log writes",
            try_="name the log's own folder" if not told else "upgrade this featurekit",
        )
    earliest, latest = _times(meta)
    return LogFile(
        path=path,
        place=f"{told['project']}/{told['environment']}",
        service=told["service"],
        fingerprint=told["fingerprint"],
        rows=meta.num_rows,
        schema=schema,
        views={alias: (view["view"], view["fingerprint"]) for alias, view in told["views"].items()},
        share=told["sample"]["share"],
        earliest=earliest,
        latest=latest,
    )


def _times(meta: pq.FileMetaData) -> tuple[Instant | None, Instant | None]:
    at = meta.schema.names.index(TIMESTAMP) if TIMESTAMP in meta.schema.names else None
    if at is None:
        return None, None
    found = [meta.row_group(number).column(at).statistics for number in range(meta.num_row_groups)]
    told = [each for each in found if each is not None and each.has_min_max]
    if not told or len(told) < len(found):
        return None, None
    return min(each.min_raw for each in told), max(each.max_raw for each in told)
