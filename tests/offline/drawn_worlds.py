"""Rounds of worlds: a few definitions drawn from the round, and for each seed the rows of a world of its own.

The worlds of a round are told apart by a part of the key, so that one Spark job computes them all; they share the
instants of their snapshots. Rows gather where something changes: at refreshes, windows' starts, ends of a ttl.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from featurekit.clock import DAY, HOUR, MINUTE, parse_instant
from featurekit.types import Date, TimestampNtz
from tests.offline import logs, reference
from tests.offline.drawn_views import FOCUSES, KEYS, TIMES, DrawnView, drawn_view
from tests.offline.reference import Row
from tests.offline.reference_time import local_day, reading, start_of

WORLDS: Final = 8
"""Seeds of one round."""
ROWS: Final = 50
FAR: Final = tuple(map(parse_instant, ("0001-01-01T00:00Z", "1969-12-31T23:59:59.999999Z", "9999-12-30T00:00Z")))
NUMBERS: Final = (1, 1, 1, -(2**63), 2**63 - 1)


@dataclass(frozen=True, kw_only=True)
class Round:
    number: int
    views: tuple[DrawnView, ...]
    rows: dict[str, list[Row]]
    labels: list[tuple[Row, int]]


def drawn_round(number: int, seeds: Sequence[int]) -> Round:
    """Return the definitions of a round, and rows for each of its seeds."""
    chance = random.Random(f"round {number}")
    focus = FOCUSES[number % len(FOCUSES)]
    views = (
        drawn_view(chance, "near", reference.EVENTS, focus, bounded=True),
        drawn_view(chance, "ever", reference.EVENTS, focus, bounded=False),
        drawn_view(chance, "changes", reference.CHANGES, focus, bounded=False),
        drawn_view(chance, "snapshots", reference.SNAPSHOTS, focus, bounded=False),
    )
    snapshots = drawn_snapshots(chance, views[-1])
    rows: dict[str, list[Row]] = {}
    labels: list[tuple[Row, int]] = []
    for seed in seeds:
        world = random.Random(f"seed {seed}")
        names = world.sample(logs.NAMES, 3)
        for view in views:
            drawn = [drawn_row(world, seed, names, view, snapshots) for _ in range(ROWS)]
            rows.setdefault(view.name, []).extend(drawn)
        labels += [drawn_label(world, seed, names, views) for _ in range(12)]
    return Round(number=number, views=views, rows=rows, labels=labels)


def edges(view: DrawnView) -> list[int]:
    """Return the instants at which what a row is worth changes."""
    found = []
    for as_of in view.instants:
        found += [as_of, as_of, as_of]
        for feature in view.meaning.features.values():
            found += [start for start in reference.starts_of(feature, as_of) if start is not None]
            if isinstance(feature, reference.Aggregate) and feature.over is not None:
                start = start_of(feature.over, as_of)
                found += [] if start is None else [start]
            if isinstance(feature, reference.Latest) and feature.ttl is not None:
                found.append(as_of - feature.ttl)
    return [at for at in found if FAR[0] < at < FAR[-1]]


def drawn_snapshots(chance: random.Random, view: DrawnView) -> list[tuple[int, int]]:
    """Return when snapshots were taken, and when each began to land."""
    taken = sorted({at + chance.choice((-1, 0, 1, -HOUR)) for at in chance.choices(edges(view), k=6)})
    return [(at, _landed(chance, at, view)) for at in taken]


def drawn_row(
    chance: random.Random, seed: int, names: list[str], view: DrawnView, snapshots: list[tuple[int, int]]
) -> Row:
    if view.meaning.source.kind == reference.SNAPSHOTS:
        event, begun = chance.choice(snapshots)
        created = begun if chance.random() < 0.5 else max(begun, _landed(chance, event, view))
    else:
        event = _event(chance, view)
        created = _landed(chance, event, view)
    until = chance.choice((*edges(view), event, event + DAY)) + chance.choice((-1, 0, 1))
    row: Row = {
        "world": seed,
        "name": None if chance.random() < 0.03 else chance.choice(names),
        "number": None if chance.random() < 0.03 else chance.choice(NUMBERS),
        "event": None if chance.random() < 0.03 else event,
        "created": None if chance.random() < 0.03 else created,
        "until": None if chance.random() < 0.5 else until,
        "id": None if chance.random() < 0.1 else f"{seed} {chance.randrange(ROWS // 3)}",
        "thing": None if chance.random() < 0.05 else f"{seed} {chance.randrange(6)}",
        "part": chance.choice((0.0, -0.0, float("nan"), 1.5, None)),
        "gone": chance.choice((True, False, False, False, None)),
        **{name: None if chance.random() < 0.1 else logs.drawn_value(chance, name) for name in "bdfimstw"},
        "day": chance.choice((None, 0, -1, 16_000)),
        "ts": chance.choice((None, -1, 0, event)),
        "x": chance.choice((None, b"", b"\x00", b"\x7f", b"\x80", b"\xff\x00")),
    }
    return row | {label: _told(chance, row[label], view, label) for label in TIMES}


def _event(chance: random.Random, view: DrawnView) -> int:
    if chance.random() < 0.6:
        return chance.choice(edges(view)) + chance.choice((-1, 0, 0, 1))
    if chance.random() < 0.05:
        return chance.choice(FAR)
    # Few different instants: ties are what orders are about.
    return view.instants[0] - chance.choice((HOUR, 2 * HOUR, 30 * HOUR, 8 * DAY, -HOUR))


def _landed(chance: random.Random, event: int, view: DrawnView) -> int:
    if chance.random() < 0.3:
        return chance.choice(view.instants) + view.meaning.lateness + chance.choice((-1, 0, 1))
    return event + chance.choice((0, 0, 0, 1, MINUTE, HOUR, 3 * DAY, -HOUR))


def _told(chance: random.Random, at: int | None, view: DrawnView, column: str) -> int | None:
    """Return an instant as a column of its type tells it: itself, what a clock reads, or a date."""
    kind, zone = view.columns[column], view.meaning.source.zone
    if at is None or not isinstance(kind, TimestampNtz | Date):
        return None if at is None else min(max(at, FAR[0]), FAR[-1])
    assert zone is not None
    at = min(max(at, FAR[0] + 400 * DAY), FAR[-1] - 400 * DAY)
    if isinstance(kind, Date):
        return local_day(at, zone) + chance.choice((0, 0, 1))
    return reading(at, zone) + chance.choice((0, 0, 0, 30 * MINUTE, HOUR))  # also readings that no clock had


def drawn_label(chance: random.Random, seed: int, names: list[str], views: Sequence[DrawnView]) -> tuple[Row, int]:
    """Return a label's keys, those of its other role too, and its time: mostly where a refresh begins to serve."""
    view = chance.choice(views)
    at = chance.choice(view.instants) + view.grid.delay + chance.choice((-1, 0, 0, 1, HOUR))
    keys = {
        "world": seed,
        "name": chance.choice((*names, *names, "nobody", None)),
        "number": chance.choice((*NUMBERS, 3, None)),
    }
    assert keys.keys() == KEYS.keys()
    return {**keys, "other": chance.choice((*names, None))}, at
