"""A refresh computed from the one before has the bits of one computed in full, on each day of a fortnight."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal as PyDecimal
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from featurekit.clock import DAY, HOUR, MINUTE, parse_instant
from featurekit.compiled import CompiledView
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.source import Source
from featurekit.offline import corrections, incremental, tiled, touched
from featurekit.offline.history_folder import HistoryEntry, KeptFile
from featurekit.offline.incremental import Incremental, incremental_frame
from featurekit.offline.materialize import materialized_frame
from featurekit.offline.session import SparkEngine
from featurekit.offline.snapshot import snapshot_source
from featurekit.rows import offline_schema
from featurekit.types import DataType, Decimal, Float64, Int32, Int64, String, Timestamp
from tests.offline.conftest import EngineAt
from tests.offline.worlds import bits, compiled, features, python_rows, write_rows

pytestmark = pytest.mark.spark
START: Final = parse_instant("2013-10-27T00:00Z")
DAYS: Final = {  # on the 8th clocks go back
    "tiled": 9,
    "zoned": 9,
    "corrected": 9,
    "corrected_zoned": 9,
    "versions": 9,
    "ever": 7,
    "rows": 7,
    "changes": 7,
}
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
    "m": Decimal(12, 2),
    "thing": String(),
    "until": Timestamp(),
}
NAMES: Final = ("a", "A", " a", "", "é", "{x}", "a\nb", "'; --", "NULL", "𝔘")


def drawn_rows(seed: int, days: int = 22) -> list[dict[str, Any]]:
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
                "m": chance.choice((None, PyDecimal("0.01"), PyDecimal("-9999999999.99"))),
                "thing": None if chance.random() < 0.03 else f"t{chance.randrange(40)}",
                "until": None if chance.random() < 0.5 else event + chance.choice((-1, 0, HOUR, DAY, 3 * DAY)),
            }
            rows.append(row)
            if chance.random() < 0.25:
                rows.append(_corrected(chance, row, chance.choice(rows)))
    # Nothing else touches this one on the day on which its only event moves to another.
    lonely = rows[0] | {"name": "lonely", "number": 1, "id": "lonely", "s": 0, "event": START + DAY + 13 * HOUR}
    lonely["created"] = lonely["event"]
    # This one's first event moves to another, and the day after only this one is touched: of the other is to be known.
    left = lonely | {"name": "left", "id": "left", "s": 1, "d": 2.5, "i": 1, "event": START + 13 * HOUR}
    left["created"] = left["event"]
    again = left | {"id": "again", "d": 0.5, "i": 2, "event": START + 60 * HOUR, "created": START + 60 * HOUR}
    taken = left | {"name": "taken", "created": START + 36 * HOUR}
    return [*rows, lonely, lonely | {"name": "moved", "created": START + 5 * DAY + 12 * HOUR}, left, taken, again]


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


def views_of(base: Path) -> dict[str, CompiledView]:
    utc, york = Refresh(every=DAY), Refresh(every=DAY, timezone="America/New_York")
    sums: dict[str, Any] = {
        f"{function}_{column}_{window}": {"sql": f"{function}({column})", "window": window}
        for function in ("sum", "avg", "max")
        for column in ("d", "i", "m")
        for window in ("1d", "5d")
    }
    brief: dict[str, Any] = {"brief": {"sql": "i", "ttl": "1d"}, "lasting": {"sql": "d", "ttl": "2d12h"}}
    rows: dict[str, Any] = {
        "n_1d": {"sql": "count(*)", "window": "1d"},
        "max_5d": {"sql": "max(d) FILTER (WHERE s > 0)", "window": "5d"},
        "two": {"sql": "collect_last(i, 5)", "window": {"rows": 2, "within": "3d"}},
    }
    written: dict[str, dict[str, Any]] = {
        "tiled": {**sums, **brief, "n_if": {"sql": "count(i) FILTER (WHERE s > 0)", "window": "5d"}},
        "zoned": {
            "days": {"sql": "count(*)", "window": {"calendar": "2d"}},
            "week": {"sql": "sum(d)", "window": {"calendar": "1w"}},
            "n_1d": {"sql": "count(*)", "window": "1d"},
            "brief": {"sql": "s", "ttl": "36h"},
        },
        "corrected": {**sums, **brief, "n_if": {"sql": "count(i) FILTER (WHERE s > 0)", "window": "5d"}},
        "corrected_zoned": {
            "week": {"sql": "avg(d)", "window": {"calendar": "1w"}},
            "least": {"sql": "min(i)", "window": {"calendar": "2d"}},
            "brief": {"sql": "s", "ttl": "36h"},
        },
        "rows": {**rows, **brief},
        "versions": {**rows, **brief},
        "ever": {
            "first": {"sql": "min_by(d, i)", "window": "lifetime"},
            "three": {"sql": "avg(i)", "window": {"rows": 3}},
            "last": {"sql": "i"},
        },
        "changes": {"n": {"sql": "count(*)"}, "most": {"sql": "max(i)"}, "last": {"sql": "d", "ttl": "1d"}},
    }
    given: dict[str, Any] = {"path": "log", "event_timestamp": "event", "created_timestamp": "created"}
    state: dict[str, Any] = {"kind": "changes", "row_key": ("thing",), "valid_to": "until", "deleted": "s = 3"}
    versioned = ("versions", "ever", "corrected", "corrected_zoned")
    sources = {"changes": state, **{name: {"event_id": "id"} for name in versioned}}
    return compiled(
        base,
        entities=[Entity(name="one", join_keys={"name": String(), "number": Int64()})],
        sources=[Source(name=f"log_of_{name}", **given, **sources.get(name, {})) for name in written],
        views=[
            FeatureView(
                name=name,
                entity="one",
                source=f"log_of_{name}",
                where="s < 3 OR s IS NULL" if name in ("versions", "corrected") else None,
                refresh=york if name.endswith("zoned") else utc,
                allowed_lateness=LATENESS,
                availability_delay=2 * HOUR,
                features=features(**parts),
            )
            for name, parts in written.items()
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
        return view.view.grid.between(START, START + DAYS[view.name] * DAY)

    def full(self, view: CompiledView, as_of: int) -> HistoryEntry:
        if (view.name, as_of) not in self.kept:
            frame = materialized_frame(self.engine, view, as_of)
            self.kept[view.name, as_of] = self.keep(view, as_of, self.engine.to_arrow(frame), "full")
        return self.kept[view.name, as_of]

    def keep(self, view: CompiledView, as_of: int, rows: pa.Table, label: str) -> HistoryEntry:
        path = self.folder / label / view.name / str(as_of)
        path.mkdir(parents=True)
        pq.write_table(rows, path / "part.parquet")
        return HistoryEntry(
            view=view.name,
            fingerprint=view.fingerprint.data,
            as_of=as_of,
            restatement=0,
            visible_from=as_of,
            completed_at=as_of,
            snapshot=snapshot_source(self.engine, view),
            files=(KeptFile(name="part.parquet", rows=rows.num_rows, bytes=1),),
            path=path,
        )

    def refreshed(self, view: CompiledView, as_of: int, base: HistoryEntry) -> Incremental:
        rows = self.engine.read_files([base.path / "part.parquet"], offline_schema(view))
        return incremental_frame(self.engine, view, as_of, base, rows)


def bits_of(view: CompiledView, rows: pa.Table) -> dict[tuple[Any, ...], dict[str, Any]]:
    found = python_rows(rows)
    keys = [key.name for key in view.keys]
    by_key = {tuple(row[key] for key in keys): {label: bits(value) for label, value in row.items()} for row in found}
    assert len(by_key) == len(found)
    return by_key


def kept_bits(view: CompiledView, entry: HistoryEntry) -> dict[tuple[Any, ...], dict[str, Any]]:
    return bits_of(view, pq.read_table(entry.path / "part.parquet"))


@pytest.fixture(scope="module")
def fortnight(engine_at: EngineAt, tmp_path_factory: pytest.TempPathFactory) -> Fortnight:
    base = tmp_path_factory.mktemp("fortnight")
    write_rows(base / "log" / "all.parquet", COLUMNS, drawn_rows(1))
    return Fortnight(engine_at(base), views_of(base), base)


@pytest.fixture(autouse=True)
def never_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few entities make a small log; what is tested is how they are told, not how many there are."""
    monkeypatch.setattr(incremental, "MOST_TOUCHED", 100.0)


# In the gate the least like each other (test_corrections has corrections); `make test-long` has them all.
@pytest.mark.parametrize(
    "name",
    [name if name in ("tiled", "rows", "changes") else pytest.param(name, marks=pytest.mark.long) for name in DAYS],
)
def test_a_chain_of_incremental_refreshes_ends_in_the_bits_of_full_ones(name: str, fortnight: Fortnight) -> None:
    view = fortnight.views[name]
    first, *days = fortnight.days(view)
    base = fortnight.full(view, first)
    fewer = 0
    for as_of in days:
        found = fortnight.refreshed(view, as_of, base)
        assert found.frame is not None, found.reason
        base = fortnight.keep(view, as_of, fortnight.engine.to_arrow(found.frame), "incremental")
        expected = kept_bits(view, fortnight.full(view, as_of))
        assert kept_bits(view, base) == expected
        fewer += found.changed is not None and found.changed < len(expected)
    assert fewer > 1


Mutation = Callable[[pytest.MonkeyPatch], None]


def without_came(why: str) -> Mutation:
    """Return the mutation that takes rows of one kind for ones that were there before."""

    def mutate(patch: pytest.MonkeyPatch) -> None:
        came = touched.came
        for module in (touched, tiled):
            patch.setattr(
                module, "came", lambda view, span: tuple(touch for touch in came(view, span) if touch.why != why)
            )

    return mutate


def without(function: str, result: Any) -> Mutation:
    def mutate(patch: pytest.MonkeyPatch) -> None:
        for module in (touched, tiled, incremental):
            if hasattr(module, function):
                patch.setattr(module, function, lambda *_: result)

    return mutate


def without_superseded(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(touched, "thing", lambda _view: ())


def without_rows_of_others(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(incremental, "thing", lambda _view: ())


def without_voids(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(tiled, "without_voids", lambda _engine, _view, tiles, _folders: tiles)


def without_entities_of_voids(patch: pytest.MonkeyPatch) -> None:
    save = corrections.save_corrected
    patch.setattr(tiled, "save_corrected", lambda *args: replace(save(*args), voids=None))


def without_ended(patch: pytest.MonkeyPatch) -> None:
    within = touched._within
    patch.setattr(
        touched, "_within", lambda view, why, *rest: replace(within(view, why, *rest), where=_where(why, view, *rest))
    )

    def _where(why: str, view: CompiledView, *rest: Any) -> str:
        return "false" if why == "ended" else within(view, why, *rest).where


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "mutation"),
    [
        *[
            pytest.param(name, mutation, id=f"{name}-{label}")
            for name in ("tiled", "rows")
            for label, mutation in (
                ("happened", without_came("happened")),
                ("landed", without_came("landed")),
                ("left", without("left", ())),
                ("aged", without("ages", ())),
            )
        ],
        pytest.param("zoned", without("begins_with_buckets", True), id="zoned-begins"),
        pytest.param("zoned", without("left", ()), id="zoned-left"),
        pytest.param("corrected", without_voids, id="corrected-voids"),
        pytest.param("corrected", without_entities_of_voids, id="corrected-entities"),
        pytest.param("corrected", without("left", ()), id="corrected-left"),
        pytest.param("corrected_zoned", without_voids, id="corrected-zoned-voids"),
        pytest.param("versions", without_superseded, id="versions-superseded"),
        pytest.param("versions", without_rows_of_others, id="versions-of-others"),
        pytest.param("ever", without_superseded, id="ever-superseded"),
        pytest.param("changes", without_superseded, id="changes-superseded"),
        pytest.param("changes", without_rows_of_others, id="changes-of-others"),
        pytest.param("changes", without_ended, id="changes-ended"),
    ],
)
def test_no_condition_can_be_left_out(
    name: str, mutation: Mutation, fortnight: Fortnight, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutation(monkeypatch)
    view = fortnight.views[name]
    days = fortnight.days(view)
    shutil.rmtree(fortnight.full(view, days[0]).path.parent / "_tiles", ignore_errors=True)

    def differs(before: int, as_of: int) -> bool:
        found = fortnight.refreshed(view, as_of, fortnight.full(view, before))
        assert found.frame is not None
        rows = fortnight.engine.to_arrow(found.frame)
        # A row that is there twice is a difference, too.
        expected = kept_bits(view, fortnight.full(view, as_of))
        return rows.num_rows != len(expected) or bits_of(view, rows) != expected

    assert any(differs(before, as_of) for before, as_of in pairwise(days))
