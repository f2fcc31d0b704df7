"""Sources and views drawn from chance, each twice: as definitions, and as the plain reference reads them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any, Final

from featurekit.clock import DAY, HOUR, MINUTE, format_instant, parse_instant
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.source import Source
from featurekit.types import Boolean, DataType, Date, Float64, Int64, String, Timestamp, TimestampNtz
from tests.offline import logs, reference
from tests.offline.drawn_features import FILTERS, Drawn, Filter, drawn_features, drawn_window
from tests.offline.reference_time import Grid
from tests.offline.worlds import features

KEYS: Final[dict[str, DataType]] = {"world": Int64(), "name": String(), "number": Int64()}
ENTITY: Final = Entity(name="thing", join_keys=KEYS)
TIMES: Final = ("event", "created", "until")
# A place and an instant near which its clocks, or its calendar, do something.
FOCUSES: Final = tuple(
    (zone, parse_instant(at))
    for zone, at in (
        (None, "2013-11-03T05:00Z"),
        (None, "1970-01-01T00:00Z"),
        (None, "0001-03-01T00:00Z"),
        (None, "9999-10-01T00:00Z"),
        ("America/New_York", "2013-11-03T06:00Z"),
        ("America/New_York", "2014-03-09T07:00Z"),
        ("America/St_Johns", "2010-11-07T02:31Z"),  # 00:01 to 23:01 of the day before
        ("Australia/Lord_Howe", "2019-04-06T15:00Z"),  # half an hour
        ("Africa/Cairo", "2014-05-15T22:00Z"),  # no midnight
        ("Asia/Beirut", "2012-03-24T22:00Z"),
        ("America/Havana", "2016-11-06T05:00Z"),  # midnight twice
        ("Pacific/Apia", "2011-12-30T10:00Z"),  # no 30 December
        ("Pacific/Kiritimati", "1995-01-01T10:00Z"),
        ("Asia/Kathmandu", "1985-12-31T18:30Z"),
        ("Europe/Amsterdam", "1937-06-30T22:40Z"),
        ("America/New_York", "1883-11-18T17:00Z"),
    )
)


@dataclass(frozen=True, kw_only=True)
class DrawnView:
    """A view: its definition, its meaning, how it is refreshed, and the refreshes that are looked at."""

    source: Source
    columns: Mapping[str, DataType]
    definition: FeatureView
    drawn: Mapping[str, Drawn]
    only: Filter | None
    meaning: reference.View
    grid: Grid
    instants: tuple[int, ...]
    defaults: Mapping[str, Any]

    @property
    def name(self) -> str:
        return self.definition.name


def narrowed(view: DrawnView, names: tuple[str, ...], instants: tuple[int, ...]) -> DrawnView:
    """Return the view with some of its features alone, at some of its instants; what `where` says stays."""
    features = tuple(feature for feature in view.definition.features if feature.name in names)
    return replace(
        view,
        definition=view.definition.model_copy(update={"features": features}),
        drawn={name: view.drawn[name] for name in names},
        meaning=replace(
            view.meaning,
            features={name: view.drawn[name].meaning for name in names},
            order=order_of([view.drawn[name] for name in names], view.only, view.source),
        ),
        instants=instants,
        defaults={name: value for name, value in view.defaults.items() if name in names},
    )


def order_of(drawn: Iterable[Drawn], only: Filter | None, source: Source) -> tuple[str, ...]:
    """Return the columns that break ties, by name: those that features, `where` and `deleted` refer to."""
    deleted = (source.deleted,) if source.deleted else ()
    return tuple(sorted({*deleted, *(only.columns if only else ()), *(name for one in drawn for name in one.columns)}))


def columns_of(times: Mapping[str, DataType]) -> dict[str, DataType]:
    """Return the columns of a log: keys, times, what names things and versions, values."""
    named: dict[str, DataType] = {"id": String(), "thing": String(), "part": Float64(), "gone": Boolean()}
    values = {name: kind for name, kind in logs.COLUMNS.items() if name not in ("event", "created", "id")}
    return {"world": Int64(), **times, **named, **values, "number": Int64()}


def drawn_view(
    chance: random.Random, name: str, kind: str, focus: tuple[str | None, int], *, bounded: bool
) -> DrawnView:
    zone, near = focus
    grid = _grid(chance, zone)
    source, meaning, times = _source(chance, name, kind, zone or "America/New_York", near)

    def window() -> Any:
        return None if kind != reference.EVENTS else drawn_window(chance, grid.zone, bounded=bounded)

    drawn = drawn_features(chance, 12, window)
    only = chance.choice(FILTERS) if chance.random() < 0.5 else None
    lateness = chance.choice((0, 10 * MINUTE)) if grid.delay > 10 * MINUTE else 0
    defaults = {label: 7 for label, one in drawn.items() if label == "n" or one.written["sql"] == "coalesce(s, 7)"}
    written = {label: one.written | ({"default": 7} if label in defaults else {}) for label, one in drawn.items()}
    return DrawnView(
        source=source,
        columns=columns_of(times),
        definition=FeatureView(
            name=name,
            entity="thing",
            source=source.name,
            where=None if only is None else only.sql,
            refresh=Refresh(every=grid.every, timezone=grid.zone, anchor=_anchor(grid)),
            availability_delay=grid.delay,
            allowed_lateness=lateness,
            features=features(**written),
        ),
        drawn=drawn,
        only=only,
        meaning=reference.View(
            keys=tuple(KEYS),
            features={label: one.meaning for label, one in drawn.items()},
            order=order_of(drawn.values(), only, source),
            source=meaning,
            lateness=lateness,
            **({} if only is None else {"where": only.rule}),
        ),
        grid=grid,
        instants=tuple(sorted({grid.floor(near + step * grid.every + HOUR) for step in (0, 1, 3)})),
        defaults=defaults,
    )


def _grid(chance: random.Random, zone: str | None) -> Grid:
    delay = chance.choice((0, 11 * MINUTE, 2 * HOUR))
    if zone is None or chance.random() < 0.3:
        return Grid(chance.choice((HOUR, 6 * HOUR, DAY, 7 * DAY)), delay)
    days = chance.choice((1, 1, 2, 7))
    return Grid(days * DAY, delay, zone, None if days == 1 else chance.choice((0, 5, 15_000)))


def _anchor(grid: Grid) -> date | None:
    return None if grid.anchor is None else date(1970, 1, 1) + timedelta(days=grid.anchor)


def _source(
    chance: random.Random, name: str, kind: str, zone: str, near: int
) -> tuple[Source, reference.Source, dict[str, DataType]]:
    far = near < parse_instant("0002-01-01") or near > parse_instant("9998-01-01")  # no place for a clock's offset
    forms = {label: chance.choice(("instant", "instant", "clock", "date")) for label in TIMES}
    if kind == reference.EVENTS and forms["event"] == "date":
        forms["event"] = "clock"  # else nothing ever happens on the edge of a window
    if far:
        forms = dict.fromkeys(TIMES, "instant")
    clocks = tuple(label for label in TIMES if forms[label] == "clock")
    dates = tuple(label for label in TIMES if forms[label] == "date")
    kinds = {"instant": Timestamp(), "clock": TimestampNtz(), "date": Date()}
    created = "created" if chance.random() < 0.85 else None
    written: dict[str, Any] = {"event_timestamp": "event", "created_timestamp": created}
    plain: dict[str, Any] = {"kind": kind, "created": created, "zone": zone, "clocks": clocks, "dates": dates}
    if created and chance.random() < 0.3:
        written |= {"known_from": format_instant(near - DAY), "assumed_lag": "1h"}
        plain |= {"known_from": near - DAY, "lag": HOUR}
    if kind == reference.EVENTS and created and chance.random() < 0.6:
        written["event_id"] = plain["version_of"] = "id"
    if kind == reference.CHANGES:
        more_written, more_plain = _changes(chance)
        written, plain = written | more_written, plain | more_plain
    if clocks or any(written.get(label) in dates for label in ("event_timestamp", "created_timestamp", "valid_to")):
        written["timezone"] = zone
    if kind != reference.EVENTS:
        written["kind"] = kind
    source = Source(name=f"log_{name}", path=f"{name}.parquet", **written)
    return source, reference.Source(**plain), {label: kinds[form] for label, form in forms.items()}


def _changes(chance: random.Random) -> tuple[dict[str, Any], dict[str, Any]]:
    written: dict[str, Any] = {}
    plain: dict[str, Any] = {}
    if thing := chance.choice(((), ("thing",), ("thing",), ("thing", "part"))):
        written["row_key"] = plain["thing"] = thing
    if chance.random() < 0.6:
        written["valid_to"] = plain["until"] = "until"
    if chance.random() < 0.7:
        written["deleted"] = "gone"
        plain["deleted"] = lambda row: row["gone"]
    return written, plain
