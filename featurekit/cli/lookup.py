"""`lookup`: features as a model would get them. Needs Redis and nothing else, and loads no Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import numpy.typing as npt
import typer

from featurekit.cli.answer import Answer, Block, Cell, Line, Table, Tone, Toned
from featurekit.cli.context import invocation
from featurekit.cli.values import Rows, read_pairs, read_rows, typed_rows, typed_text
from featurekit.clock import format_duration, format_instant, from_datetime, parse_instant
from featurekit.config import Settings
from featurekit.errors import InputError, OutsideError
from featurekit.online.client import FeatureClient
from featurekit.online.embedded import online_url
from featurekit.online.lookup_client import client_options
from featurekit.online.reason import Reason, is_degraded
from featurekit.online.result import Features
from featurekit.online.served_log import ServedLog
from featurekit.plan import LookupPlan
from featurekit.serving.json_values import shown
from featurekit.status import Status

_SHOWN: Final = 8
_SHOWN_PARTS: Final = 12
_TONES: Final = {Status.PRESENT: Tone.PLAIN, Status.UNAVAILABLE: Tone.BAD}
_PAST: Final = (
    "the store keeps the last few refreshes alone, and none of those was visible at that time",
    "featurekit history show {view} lists older ones; `featurekit dataset build` computes values as of any time",
)
_WHY: Final = {
    Reason.NO_REFRESH: ("no refresh of it is visible at that time", "featurekit materialize {view}"),
    Reason.KEY_SPACE_DROPPED: (
        "the key space of its refresh was dropped or has expired",
        "featurekit materialize {view} --restate lost",
    ),
    Reason.FOREIGN_ROW: (
        "its row was written by another version of the view",
        "featurekit materialize {view} --restate lost",
    ),
    Reason.STALE_ROW: ("its row is of another refresh than its key says", "featurekit check {view}"),
    Reason.BROKEN_ROW: ("its row is cut short or damaged", "featurekit materialize {view} --restate lost"),
    Reason.NEWER_ROW: ("its row was written by a later featurekit", "upgrade this featurekit"),
    Reason.INPUT_UNAVAILABLE: ("a feature that it is computed from is UNAVAILABLE", "see that feature"),
    Reason.STORE_UNREACHABLE: ("the online store can't be reached, or refuses", "featurekit doctor"),
    Reason.STORE_TIMEOUT: ("the online store did not answer in time", "featurekit doctor"),
    Reason.BREAKER_OPEN: ("the online store has failed again and again, and was not asked", "featurekit doctor"),
    Reason.STORE_EMPTY: ("the online store has lost what was registered", "featurekit register"),
    Reason.LAST_KNOWN: ("the online store could not say, and what it said last stands in", "featurekit doctor"),
    Reason.INPUT_DEGRADED: ("a feature that it is computed from is not what the store says now", "see that feature"),
    Reason.AHEAD: ("its refresh is being written in place, and its row is newer already", "wait for the refresh"),
}


def lookup(
    context: typer.Context,
    service: Annotated[str, typer.Argument(metavar="SERVICE", help="A feature service, or a view by itself.")],
    values: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Entity keys and request values.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", metavar="FILE", help="Rows in JSON instead: a list of objects.")
    ] = None,
    at: Annotated[str | None, typer.Option("--at", metavar="TIME", help="What would be served at this time.")] = None,
) -> Answer:
    """Look features up as a model would get them.

    Exits with 3 where a value is UNAVAILABLE: that says nothing about the entity.
    """
    with opened_client(invocation(context).settings()) as client:
        plan = client.plan(service)
        rows = asked_rows(plan, values, file)
        found = client.lookup(service, rows.entities, rows.requests, at=parse_instant(at) if at else None)
        later: frozenset[str] = frozenset()
        if any(as_of is None for as_of in found.as_of.values()):
            later = _served_later(found, client.lookup(service, rows.entities, rows.requests))
    return looked_up(found, rows, plan, later)


def _served_later(found: Features, now: Features) -> frozenset[str]:
    """Return the views that could not answer at an earlier time, and can now."""
    if found.at >= now.at:
        return frozenset()
    return frozenset(alias for alias, as_of in now.as_of.items() if as_of is not None and found.as_of[alias] is None)


@contextmanager
def opened_client(settings: Settings, log: ServedLog | None = None) -> Iterator[FeatureClient]:
    """Give a lookup client for the online store of the settings; what a person looks up is served to no model."""
    with FeatureClient(
        online_url(settings),
        project=settings.project,
        environment=settings.environment,
        timeout_ms=settings.redis_timeout_ms,
        **client_options(settings, log),
    ) as client:
        yield client


def asked_rows(plan: LookupPlan, values: list[str] | None, file: Path | None) -> Rows:
    """Return the rows that a command line asks about, with the types that the service's plan says."""
    keys = {key.request: key.type for key in plan.keys}
    request = {field.name: field.type for field in plan.request.fields}
    if file is not None and values:
        raise InputError("values and --file are both given", where=str(file), try_="keep one")
    if file is not None:
        return typed_rows(read_rows(file), keys, request)
    return typed_text(read_pairs(values or ()), keys, request)


def looked_up(found: Features, rows: Rows, plan: LookupPlan, later: frozenset[str] = frozenset()) -> Answer:
    """Return features as an answer; `later` are the views that answer now, and could not at the time that is asked."""
    values: list[Mapping[str, Any]] = found.to_dict()
    statuses = found.statuses.tolist()
    forms = {output.name: shown(output.type) for output in found.outputs}
    unavailable = unavailable_views(found, plan, later)
    degraded = _told(found, plan, is_degraded(found.statuses, found.reasons))
    document = {
        "service": found.service,
        "fingerprint": found.fingerprint,
        "at": format_instant(found.at),
        "as_of": {alias: None if as_of is None else format_instant(as_of) for alias, as_of in found.as_of.items()},
        "rows": [
            {
                "keys": keys,
                "features": {name: shown_json(forms[name](value)) for name, value in row.items()},
                "statuses": {name: Status(code).name for name, code in zip(found.names, codes, strict=True)},
            }
            for keys, row, codes in zip(rows.entities, values, statuses, strict=True)
        ],
        "unavailable": [{"view": view, "why": why, "try": try_} for view, why, try_ in unavailable],
        "degraded": [{"view": view, "why": why, "try": try_} for view, why, try_ in degraded],
    }
    is_one = len(values) == 1
    blocks: list[Block] = [_single(found, values[0], statuses[0])] if is_one else _many(found, rows, values)
    blocks.append(freshness(found))
    for view, why, try_ in unavailable:
        blocks += [Line(f"{view} is UNAVAILABLE: {why}", Tone.BAD), Line(f"  try    {try_}")]
    for view, why, try_ in degraded:
        blocks += [Line(f"{view} is degraded: {why}", Tone.WARNING), Line(f"  try    {try_}")]
    return Answer(document=document, blocks=tuple(blocks), exit_code=OutsideError.exit_code if unavailable else 0)


def _single(found: Features, row: Mapping[str, Any], codes: list[int]) -> Table:
    rows = tuple(_feature(name, row[name], Status(code)) for name, code in zip(found.names, codes, strict=True))
    return Table(columns=("feature", "value", "status"), rows=rows)


def _feature(name: str, value: Any, status: Status) -> tuple[Cell, ...]:
    return name, "" if value is None else shown_value(value), Toned(status.name, _TONES.get(status, Tone.WARNING))


def _many(found: Features, rows: Rows, values: list[Mapping[str, Any]]) -> list[Block]:
    shown = range(min(len(values), _SHOWN))
    titles = tuple(" ".join(map(shown_value, rows.entities[at].values())) for at in shown)
    statuses = found.statuses
    table = tuple(
        (name, *(_cell(values[at][name], Status(int(statuses[at, column]))) for at in shown))
        for column, name in enumerate(found.names)
    )
    blocks: list[Block] = [Table(columns=("feature", *titles), rows=table)]
    if len(values) > _SHOWN:
        blocks.append(Line(f"the first {_SHOWN} of {len(values):,} rows; --json has all of them", Tone.FAINT))
    return blocks


def _cell(value: Any, status: Status) -> Cell:
    return Toned(status.name, _TONES.get(status, Tone.WARNING)) if value is None else shown_value(value)


def freshness(found: Features) -> Table:
    """Return which refresh answered for each view, and how old it was."""
    rows = tuple(
        (alias, "nothing served" if as_of is None else f"as of {format_instant(as_of)}", _age(found, as_of))
        for alias, as_of in found.as_of.items()
    )
    return Table(title=f"at {format_instant(found.at)}", rows=rows)


def _age(found: Features, as_of: int | None) -> str:
    return "" if as_of is None else f"{format_duration((found.at - as_of) // 1_000_000 * 1_000_000)} old"


def unavailable_views(
    found: Features, plan: LookupPlan, later: frozenset[str] = frozenset()
) -> list[tuple[str, str, str]]:
    """Return each view with a value that the store could not give, why, and what to try."""
    return _told(found, plan, found.statuses == Status.UNAVAILABLE, later)


def _told(
    found: Features, plan: LookupPlan, which: npt.NDArray[np.bool_], later: frozenset[str] = frozenset()
) -> list[tuple[str, str, str]]:
    """Return the views of some values, why these are as they are, and what to try."""
    reasons = found.reasons
    told: dict[tuple[str, Reason], None] = {}
    for column, name in enumerate(found.names):
        for reason in sorted(set(reasons[which[:, column], column].tolist())):
            told[name.partition(".")[0], Reason(reason)] = None
    views = {view.alias: view.view for view in plan.views}
    # What answers now need not be materialized, and that would not bring the past back.
    texts = [(alias, _PAST if alias in later else _WHY[reason]) for alias, reason in told]
    return [(alias, why, try_.format(view=views.get(alias, alias))) for alias, (why, try_) in texts]


def shown_value(value: Any) -> str:
    """Return a value for people: instants as ISO text, booleans as SQL writes them."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).lower()
        case datetime() if value.tzinfo is not None:
            return format_instant(from_datetime(value))
        case Decimal():
            return f"{value:f}"
        case bytes():
            return f"0x{value.hex()}"
        case list() | tuple():
            return f"[{_parts(map(shown_value, value), len(value))}]"
        case dict():
            pairs = (f"{shown_value(name)}: {shown_value(part)}" for name, part in value.items())
            return f"{{{_parts(pairs, len(value))}}}"
        case _:
            return str(value)


def _parts(shown: Iterable[str], count: int) -> str:
    rest = f", … {count:,} in all" if count > _SHOWN_PARTS else ""
    return ", ".join(islice(shown, _SHOWN_PARTS)) + rest


def shown_json(value: Any) -> Any:
    """Return a value for a JSON document: instants as ISO text in UTC, the rest as it is."""
    match value:
        case datetime() if value.tzinfo is not None:
            return format_instant(from_datetime(value))
        case list():
            return [shown_json(part) for part in value]
        case dict():
            return {name: shown_json(part) for name, part in value.items()}
        case _:
            return value
