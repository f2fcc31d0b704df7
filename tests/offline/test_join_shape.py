"""Every shape of the point-in-time join gives the same rows, bit for bit; which is chosen follows from sizes."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from decimal import Decimal as PyDecimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from featurekit.clock import DAY, HOUR, parse_instant
from featurekit.compiled import CompiledService, SlotFunction
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.service import FeatureService, ServiceFeatures
from featurekit.definitions.source import Source
from featurekit.offline import join_shape
from featurekit.offline.as_of import sweep_of
from featurekit.offline.direct_source import DirectSource, direct_source
from featurekit.offline.in_memory import slots_in_memory
from featurekit.offline.join_shape import JoinShape, LabelSize, choose_shape
from featurekit.offline.labels import LabelSpec
from featurekit.offline.point_in_time import join_shapes, point_in_time, training_table
from featurekit.offline.session import SparkEngine
from featurekit.types import Boolean, Decimal, Float32, Float64, Int32, Int64, String, Timestamp
from tests.offline.worlds import bits, compiled, features, python_rows, write_rows

DAY0 = parse_instant("2026-03-01")
NAN = math.nan
SHOPS = ("A", "a", "ü", "", None)
SCORES = (0.0, -0.0, 1.5, NAN, None)
NUMBERS = (0.1, -0.0, 1e300, -1e300, 5e-324, NAN, math.inf, None, 2.0**53, 1.0)
FLAT = features(
    n={"sql": "count(*)", "window": "3h"},
    total={"sql": "sum(x)", "window": "1d"},
    mean={"sql": "avg(x)", "window": "1d", "default": -1.0},
    whole={"sql": "sum(k)", "window": "1d"},
    mean_whole={"sql": "avg(k)", "window": {"rows": 3}},
    small={"sql": "sum(f)", "window": "lifetime"},
    money={"sql": "avg(money)", "window": "2d"},
    largest={"sql": "max(x)", "window": {"calendar": "1d"}},
    some={"sql": "sum(x) FILTER (WHERE good AND k > 0)", "window": "1d"},
    ratio={"sql": "sum(k) / count(*)", "window": "1d"},
    shops={"sql": "count(DISTINCT text)", "window": "2d"},
    by={"sql": "max_by(text, k)", "window": "2d"},
    spread={"sql": "stddev_samp(x) FILTER (WHERE abs(x) < 100)", "window": "2d"},
    last_text={"sql": "text", "ttl": "5h", "default": "none"},
    last_x={"sql": "x", "ttl": "2h"},
    last_k={"sql": "k + 1"},
)
NESTED = features(
    top={"sql": "top_k(x, 2)", "window": "1d"},
    lasts={"sql": "collect_last(text, 3)", "window": "1d"},
    about={"sql": "approx_count_distinct(k)", "window": "1d"},
)


def services_of(base: Path, seed: int) -> dict[str, CompiledService]:
    """Return a service of flat features in two roles, one of nested ones, and one whose rows Spark alone can read."""
    draw = random.Random(seed)
    columns = {
        "shop": String(),
        "score": Float64(),
        "at": Timestamp(),
        "seen": Timestamp(),
        "x": Float64(),
        "f": Float32(),
        "k": Int64(),
        "money": Decimal(12, 2),
        "good": Boolean(),
        "text": String(),
    }
    rows = []
    for _ in range(400):
        at = DAY0 + draw.randrange(0, 60) * HOUR // 2
        rows.append(
            {
                "shop": draw.choice(SHOPS),
                "score": draw.choice(SCORES),
                "at": at if draw.random() < 0.97 else None,
                "seen": at + draw.choice((0, 0, HOUR, 7 * HOUR, -HOUR)) if draw.random() < 0.97 else None,
                "x": draw.choice(NUMBERS) if draw.random() < 0.3 else round(draw.gauss(20, 9), 2),
                "f": draw.choice((0.1, -0.0, None, 3.5e38 / 2)),
                "k": draw.choice((1, 2, -3, None, 2**62)),
                "money": draw.choice((PyDecimal("0.01"), PyDecimal("-9999999999.99"), None)),
                "good": draw.choice((True, False, None)),
                "text": draw.choice(("x", "é", "", None, "𝄞")),
            }
        )
    write_rows(base / "rows.parquet", columns, rows)
    rows_source = Source(name="rows", path="rows.parquet", event_timestamp="at", created_timestamp="seen")
    view = FeatureView(
        name="flat",
        entity="seat",
        source="rows",
        where="k IS NULL OR k <> 2 OR good",
        refresh=Refresh(every=HOUR),
        availability_delay=3 * HOUR,
        allowed_lateness=2 * HOUR,
        features=FLAT,
    )
    repository = compiled(
        base,
        entities=[Entity(name="seat", join_keys={"shop": String(), "score": Float64()})],
        sources=[rows_source],
        views=[view, view.model_copy(update={"name": "nested", "features": NESTED})],
        services=[
            FeatureService(
                name="flat",
                features=(
                    ServiceFeatures(view="flat"),
                    ServiceFeatures(view="flat", alias="other", keys={"shop": "other_shop", "score": "score"}),
                ),
            ),
            FeatureService(name="both", features=(ServiceFeatures(view="nested"), ServiceFeatures(view="flat"))),
            FeatureService(name="lists", features=(ServiceFeatures(view="nested", feature="top"),)),
        ],
    )
    return repository.services


def write_labels(base: Path, seed: int) -> None:
    draw = random.Random(seed + 1)
    asked = [
        {
            "row": row,
            "shop": draw.choice((*SHOPS, "never")),
            "other_shop": draw.choice(SHOPS),
            "score": draw.choice((*SCORES, 7.0)),
            "event_timestamp": DAY0 + draw.randrange(0, 50 * HOUR) // (HOUR // 4) * (HOUR // 4),
        }
        for row in range(150)
    ]
    asked += [{**asked[0], "row": 150}, {**asked[1], "row": 151}]
    columns = {"row": Int32(), "shop": String(), "other_shop": String(), "score": Float64()}
    write_rows(base / "labels.parquet", {**columns, "event_timestamp": Timestamp()}, asked)


def rows_of(
    engine: SparkEngine, service: CompiledService, shape: JoinShape | None, *, evidence: bool = True
) -> tuple[list[tuple[str, str]], dict[int, dict[str, Any]]]:
    frame = point_in_time(engine, service, LabelSpec(path="labels.parquet"), shape=shape, evidence=evidence)
    types = [(field.name, field.dataType.simpleString()) for field in frame.schema.fields]
    rows = python_rows(engine.to_arrow(frame))
    return types, {row["row"]: {name: _bits(value) for name, value in row.items()} for row in rows}


def _bits(value: Any) -> Any:
    return tuple(map(bits, value)) if isinstance(value, list) else bits(value)


@pytest.mark.spark
@pytest.mark.parametrize("seed", [pytest.param(1, marks=pytest.mark.long), 2])
def test_all_shapes_give_the_same_rows_and_types(engine: SparkEngine, tmp_path: Path, seed: int) -> None:
    services = services_of(tmp_path, seed)
    write_labels(tmp_path, seed)
    for service in ("flat", "both", "lists"):
        types, expected = rows_of(engine, services[service], JoinShape.ALL)
        assert len(expected) == 152
        table = training_table(engine, services[service], LabelSpec(path="labels.parquet"))
        assert {row["row"] for row in python_rows(table)} == expected.keys()
        for row in python_rows(table):
            assert {name: expected[row["row"]][name] for name in row} == {n: _bits(v) for n, v in row.items()}
        for shape in (JoinShape.LABELLED, JoinShape.IN_MEMORY):
            found_types, found = rows_of(engine, services[service], shape)
            assert found_types == types, (service, shape)
            differing = {
                (row, name): (value, expected[row][name])
                for row, values in found.items()
                for name, value in values.items()
                if value != expected[row][name]
            }
            assert not differing, (service, shape)
            assert found.keys() == expected.keys()


@pytest.mark.spark
def test_the_choice_says_why_with_its_numbers(
    engine: SparkEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = services_of(tmp_path, 3)
    write_labels(tmp_path, 3)
    (choice,) = join_shapes(engine, services["flat"], LabelSpec(path="labels.parquet"))
    assert (choice.view, choice.shape) == ("flat", JoinShape.IN_MEMORY)
    assert choice.labels is not None
    assert choice.labels.rows == 152
    assert choice.events is not None
    assert 0 < choice.events.rows <= 400
    assert choice.pairs is not None
    # One view that Spark has to read takes the other with it: label rows are joined once.
    nested, flat = join_shapes(engine, services["both"], LabelSpec(path="labels.parquet"))
    assert (nested.shape, flat.shape) == (JoinShape.ALL, JoinShape.ALL) or JoinShape.IN_MEMORY not in (
        nested.shape,
        flat.shape,
    )
    assert "approx_count_distinct" in nested.why
    assert "nested is not in memory" in flat.why
    monkeypatch.setattr(join_shape, "MOST_BYTES_IN_MEMORY", 100)
    (choice,) = join_shapes(engine, services["flat"], LabelSpec(path="labels.parquet"))
    assert choice.shape is not JoinShape.IN_MEMORY
    assert "too many for this process" in choice.why


LABELS = LabelSize(rows=1000, entities=3, earliest=DAY0, latest=DAY0 + 10 * DAY)


@pytest.mark.parametrize(
    ("labels", "local", "shape", "why"),
    [
        (LABELS, True, JoinShape.IN_MEMORY, "fit into this process"),
        (replace(LABELS, rows=3_000_000), True, JoinShape.LABELLED, "3,000,000 labels are too many"),
        (replace(LABELS, rows=3_000_000, entities=19), True, JoinShape.ALL, "19 of about 2"),
        (LABELS, False, JoinShape.LABELLED, "other machines"),
        (replace(LABELS, entities=2_000_000), False, JoinShape.ALL, "too many to send"),
        (None, False, JoinShape.ALL, "not known"),
        (None, True, JoinShape.IN_MEMORY, "fit into this process"),
    ],
)
def test_the_shape_follows_from_sizes(
    tmp_path: Path, labels: LabelSize | None, local: bool, shape: JoinShape, why: str
) -> None:
    (part, *_) = services_of(tmp_path, 1)["flat"].views
    choice = choose_shape(part.view, tmp_path, labels, refused=None if local else "the executors run on other machines")
    assert choice.shape is shape
    assert why in choice.why


def test_events_out_of_reach_are_not_counted(tmp_path: Path) -> None:
    (part, *_) = services_of(tmp_path, 1)["flat"].views
    whole = choose_shape(part.view, tmp_path, LABELS, refused=None).events
    early = replace(LABELS, earliest=DAY0 - 9 * DAY, latest=DAY0 - DAY)
    none = choose_shape(part.view, tmp_path, early, refused=None).events
    assert whole is not None
    assert none is not None
    assert (whole.rows, none.rows) == (400, 0)


def test_a_key_with_a_million_rows_costs_as_its_rows_not_as_its_pairs(tmp_path: Path) -> None:
    rows, marks = 1_000_000, 2_000
    draw = np.random.default_rng(5)
    at = DAY0 + np.sort(draw.integers(0, 30 * DAY, rows))
    amounts = np.round(draw.lognormal(3, 1, rows), 2)
    times = pa.array(at).cast(pa.timestamp("us", "UTC"))
    table = pa.table({"shop": pa.array(["hot"] * rows), "at": times, "amount": pa.array(amounts)})
    pq.write_table(table, tmp_path / "hot.parquet")
    view = FeatureView(
        name="hot",
        entity="shop",
        source="hot",
        refresh=Refresh(every=HOUR),
        features=features(
            n={"sql": "count(*)", "window": "20d"},
            total={"sql": "sum(amount)", "window": "20d"},
            last={"sql": "amount"},
        ),
    )
    repository = compiled(
        tmp_path,
        entities=[Entity(name="shop", join_keys={"shop": String()})],
        sources=[Source(name="hot", path="hot.parquet", event_timestamp="at")],
        views=[view],
    )
    hot = repository.views["hot"]
    source = direct_source(hot, tmp_path)
    assert isinstance(source, DirectSource)
    asked = DAY0 + draw.integers(0, 30 * DAY, marks)
    slots, places = slots_in_memory(source, sweep_of(hot), [pa.array(["hot"] * marks)], asked, None)
    low, high = np.searchsorted(at, asked - 20 * DAY), np.searchsorted(at, asked)
    assert (high - low).sum() > 500_000_000
    of_label = slots.take(pa.array(places))
    names = {slot.function: slot.name for slot in hot.slots}
    assert of_label[names[SlotFunction.COUNT]].to_pylist() == (high - low).tolist()
    assert of_label[names[SlotFunction.LATEST]].to_pylist() == amounts[high - 1].tolist()
    totals = of_label[names[SlotFunction.SUM]].to_pylist()
    for mark in range(0, marks, 100):
        assert totals[mark] == math.fsum(amounts[low[mark] : high[mark]].tolist())
