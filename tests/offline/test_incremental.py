"""A refresh computed from the one before has the bits of one computed in full, on each day of a fortnight."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest

from featurekit.clock import DAY, HOUR, MINUTE, parse_instant
from featurekit.compiled import CompiledView
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.source import Source
from featurekit.offline import incremental, touched
from featurekit.offline.history_folder import HistoryEntry, KeptFile
from featurekit.offline.incremental import incremental_frame
from featurekit.offline.materialize import materialized_frame
from featurekit.offline.session import SparkEngine
from featurekit.offline.snapshot import snapshot_source
from featurekit.types import DataType, Float64, Int32, Int64, String, Timestamp
from tests.offline.conftest import EngineAt
from tests.offline.worlds import bits, compiled, features, python_rows, write_rows

pytestmark = pytest.mark.spark
START: Final = parse_instant("2013-10-27T00:00Z")
DAYS: Final = 14  # New York's clocks go back on the 8th
LATENESS: Final = 10 * MINUTE
COLUMNS: Final[dict[str, DataType]] = {
    "name": String(),
    "number": Int32(),
    "event": Timestamp(),
    "created": Timestamp(),
    "id": String(),
    "s": Int32(),
    "d": Float64(),
    "i": Int64(),
}
NAMES: Final = ("a", "A", " a", "", "é", "{x}", "a\nb", "'; --", "NULL", "𝔘")
VIEWS: Final = ("versions", "ever", "zoned")


def drawn_rows(seed: int, days: int = DAYS + 8) -> list[dict[str, Any]]:
    """Return some rows a day: ties, boundaries, late rows, corrections that move, vanish, or fail a view's `where`."""
    chance = random.Random(seed)
    rows: list[dict[str, Any]] = []
    for day in range(-8, days - 8):
        if day in (3, 4):
            continue  # nothing happens, and windows go on
        for _ in range(chance.randrange(6, 12)):
            event = START + day * DAY + chance.choice((0, -1, 1, 4 * HOUR, 5 * HOUR, chance.randrange(DAY)))
            row = {
                "name": None if chance.random() < 0.02 else chance.choice(NAMES),
                "number": None if chance.random() < 0.02 else int(chance.random() ** 3 * 12),
                "event": event,
                "created": event + chance.choice((0, 0, 0, 1, LATENESS, HOUR, DAY, 2 * DAY, 5 * DAY, -HOUR, -2 * DAY)),
                "id": None if chance.random() < 0.1 else f"e{len(rows)}",
                "s": chance.choice((0, 1, 2, 3, None)),
                "d": chance.choice((0.1, -0.0, 1e16, 1e-20, 5e-324, float("nan"), float("inf"), chance.uniform(-9, 9))),
                "i": chance.choice((None, 2**63 - 1, -(2**63), chance.randrange(-99, 99))),
            }
            rows.append(row)
            if chance.random() < 0.25:
                rows.append(_corrected(chance, row, chance.choice(rows)))
    return rows


def _corrected(chance: random.Random, row: dict[str, Any], like: dict[str, Any]) -> dict[str, Any]:
    changes: dict[str, Any] = {"created": row["created"] + chance.choice((1, HOUR, DAY, 3 * DAY)), "i": 7}
    match chance.randrange(5):
        case 0:
            changes |= {"name": like["name"], "number": like["number"]}
        case 1:
            changes["event"] = None
        case 2:
            changes["s"] = 5
        case 3:
            changes["event"] = row["event"] + chance.choice((-DAY, -20 * DAY, HOUR, 3 * DAY))
        case _:
            changes["d"] = 2.5
    return row | changes


def views_of(base: Path, **source: Any) -> dict[str, CompiledView]:
    common: dict[str, Any] = {"entity": "thing", "allowed_lateness": "10m", "availability_delay": "2h"}
    utc, york = Refresh(every=DAY), Refresh(every=DAY, timezone="America/New_York")
    written: dict[str, Any] = {
        "n_1d": {"sql": "count(*)", "window": "1d"},
        "sum_1d": {"sql": "sum(d)", "window": "1d"},
        "sum_5d": {"sql": "sum(i) FILTER (WHERE s > 0)", "window": "5d"},
        "max_5d": {"sql": "max(d)", "window": "5d"},
        "two": {"sql": "collect_last(i, 5)", "window": {"rows": 2, "within": "3d"}},
        "brief": {"sql": "i", "ttl": "1d"},
        "lasting": {"sql": "d", "ttl": "2d12h"},
    }
    for_ever: dict[str, Any] = {
        "first": {"sql": "min_by(d, i)", "window": "lifetime"},
        "three": {"sql": "avg(i)", "window": {"rows": 3}},
        "n_1d": {"sql": "count(*)", "window": "1d"},
        "last": {"sql": "i"},
    }
    by_date: dict[str, Any] = {
        "days": {"sql": "count(*)", "window": {"calendar": "2d"}},
        "week": {"sql": "sum(d)", "window": {"calendar": "1w"}},
        "n_1d": {"sql": "count(*)", "window": "1d"},
        "brief": {"sql": "s", "ttl": "36h"},
    }
    given = {"path": "log", "event_timestamp": "event", "created_timestamp": "created"} | source
    return compiled(
        base,
        entities=[Entity(name="thing", join_keys={"name": String(), "number": Int64()})],
        sources=[Source(name="log", **given), Source(name="versions", event_id="id", **given)],
        views=[
            FeatureView(
                name="versions", source="versions", where="s < 3", refresh=utc, features=features(**written), **common
            ),
            FeatureView(name="ever", source="versions", refresh=utc, features=features(**for_ever), **common),
            FeatureView(name="zoned", source="log", refresh=york, features=features(**by_date), **common),
        ],
    ).views


@dataclass
class Fortnight:
    """Views over one log, and what they are in full as of each day, as rows and as bits; computed when asked for."""

    engine: SparkEngine
    views: dict[str, CompiledView]
    folder: Path
    kept: dict[tuple[str, int], HistoryEntry] = field(default_factory=dict)

    def days(self, view: CompiledView) -> tuple[int, ...]:
        return view.view.grid.between(START, START + DAYS * DAY)

    def full(self, view: CompiledView, as_of: int) -> HistoryEntry:
        if (view.name, as_of) not in self.kept:
            frame = materialized_frame(self.engine, view, as_of)
            self.kept[view.name, as_of] = self.keep(view, as_of, frame, "full")
        return self.kept[view.name, as_of]

    def keep(self, view: CompiledView, as_of: int, frame: Any, label: str) -> HistoryEntry:
        folder = self.folder / label / view.name / str(as_of)
        self.engine.write_parquet(frame, folder)
        rows = self.engine.to_arrow(self.engine.read_parquet(str(folder))).num_rows
        return HistoryEntry(
            view=view.name,
            fingerprint=view.fingerprint.data,
            as_of=as_of,
            restatement=0,
            visible_from=as_of,
            completed_at=as_of,
            snapshot=snapshot_source(self.engine, view),
            files=(KeptFile(name="all", rows=rows, bytes=1),),
            path=folder,
        )

    def rows(self, entry: HistoryEntry) -> Any:
        return self.engine.read_parquet(str(entry.path))

    def bits(self, view: CompiledView, frame: Any) -> dict[tuple[Any, ...], dict[str, Any]]:
        found = python_rows(self.engine.to_arrow(frame))
        keys = [key.name for key in view.keys]
        by_key = {
            tuple(row[key] for key in keys): {label: bits(value) for label, value in row.items()} for row in found
        }
        assert len(by_key) == len(found)
        return by_key


@pytest.fixture(scope="module")
def fortnight(engine_at: EngineAt, tmp_path_factory: pytest.TempPathFactory) -> Fortnight:
    base = tmp_path_factory.mktemp("fortnight")
    write_rows(base / "log" / "all.parquet", COLUMNS, drawn_rows(1))
    return Fortnight(engine_at(base), views_of(base), base)


@pytest.fixture(autouse=True)
def never_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few entities make a small log; what is tested is how they are told, not how many there are."""
    monkeypatch.setattr(incremental, "MOST_TOUCHED", 100.0)


@pytest.mark.parametrize("name", VIEWS)
def test_a_chain_of_incremental_refreshes_ends_in_the_bits_of_full_ones(name: str, fortnight: Fortnight) -> None:
    view = fortnight.views[name]
    first, *days = fortnight.days(view)
    base = fortnight.full(view, first)
    fewer = 0
    for as_of in days:
        found = incremental_frame(fortnight.engine, view, as_of, base, fortnight.rows(base))
        assert found.frame is not None, found.reason
        base = fortnight.keep(view, as_of, found.frame, "incremental")
        expected = fortnight.bits(view, fortnight.rows(fortnight.full(view, as_of)))
        assert fortnight.bits(view, fortnight.rows(base)) == expected
        assert found.changed is not None
        fewer += found.changed < len(expected)
    assert fewer > 1


Mutation = Callable[[pytest.MonkeyPatch], None]


def without_touch(why: str) -> Mutation:
    def mutate(patch: pytest.MonkeyPatch) -> None:
        all_of = touched.touches
        patch.setattr(
            touched,
            "touches",
            lambda view, span: tuple(touch for touch in all_of(view, span) if not touch.why.startswith(why)),
        )

    return mutate


def without_ages(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(touched, "ages", lambda _view, _span: ())


def without_superseded(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(touched, "thing", lambda _view: ())


def without_versions_of_others(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(incremental, "thing", lambda _view: ())


@pytest.mark.parametrize(
    ("name", "mutation"),
    [
        ("zoned", without_touch("happened")),
        ("zoned", without_touch("landed")),
        ("versions", without_touch("landed")),
        ("zoned", without_touch("left")),
        ("versions", without_touch("left")),
        ("zoned", without_ages),
        ("versions", without_ages),
        ("versions", without_superseded),
        ("ever", without_superseded),
        ("versions", without_versions_of_others),
    ],
)
def test_no_condition_can_be_left_out(
    name: str, mutation: Mutation, fortnight: Fortnight, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutation(monkeypatch)
    view = fortnight.views[name]
    days = fortnight.days(view)

    def differs(before: int, as_of: int) -> bool:
        base = fortnight.full(view, before)
        found = incremental_frame(fortnight.engine, view, as_of, base, fortnight.rows(base))
        expected = fortnight.bits(view, fortnight.rows(fortnight.full(view, as_of)))
        return fortnight.bits(view, found.frame) != expected

    assert any(differs(before, as_of) for before, as_of in pairwise(days))
