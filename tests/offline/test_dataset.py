"""Training sets that can be trusted: manifests are true, differences are found, a rebuild is the same or says why."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from jsonschema import Draft202012Validator

from featurekit.clock import DAY, HOUR, parse_instant
from featurekit.compiled import CompiledService
from featurekit.config import Settings
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.service import FeatureService, ServiceFeatures
from featurekit.definitions.source import Source
from featurekit.errors import FeaturekitError, InputError, SourceError
from featurekit.feature_store import FeatureStore
from featurekit.offline.join_shape import JoinShape
from featurekit.offline.labels import LabelSpec, check_label_file
from featurekit.offline.manifest import Manifest, read_manifest
from featurekit.offline.manifest_diff import diff_manifests
from featurekit.offline.manifest_schema import manifest_schema
from featurekit.offline.point_in_time import point_in_time
from featurekit.offline.rebuild import Rebuild, rebuild_dataset
from featurekit.offline.row_diff import diff_rows
from featurekit.offline.session import SparkEngine
from featurekit.offline.training import build_dataset
from featurekit.types import DataType, Float64, String, Timestamp
from tests.offline.worlds import compiled, features, write_rows

DAY0 = parse_instant("2013-11-10T00:00Z")
NOW = DAY0 + 30 * DAY
ROWS: dict[str, DataType] = {
    "shop": String(),
    "at": Timestamp(),
    "kept": Timestamp(),
    "amount": Float64(),
    "what": String(),
}
LABELS: dict[str, DataType] = {"shop": String(), "event_timestamp": Timestamp(), "note": String()}
SPEC = LabelSpec(path="labels.parquet")


def sale(shop: str, at: int, amount: float | None, what: str = "tea", *, kept: int | None = None) -> dict[str, Any]:
    return {"shop": shop, "at": at, "kept": at if kept is None else kept, "amount": amount, "what": what}


SALES: list[dict[str, Any]] = [
    sale("a", DAY0 - 3 * HOUR, 1.0),
    sale("a", DAY0 - 2 * HOUR, 3.0, "coffee"),
    sale("b", DAY0 - 5 * DAY, 10.0),
    sale("b", DAY0 + DAY + HOUR, None),
]
ASKED: list[dict[str, Any]] = [
    {"shop": "a", "event_timestamp": DAY0 + HOUR, "note": "x"},
    {"shop": "a", "event_timestamp": DAY0 + HOUR, "note": "x"},  # the same row twice
    {"shop": "b", "event_timestamp": DAY0 + HOUR, "note": "y"},
    {"shop": None, "event_timestamp": DAY0 + HOUR, "note": None},
    {"shop": "nobody", "event_timestamp": DAY0 + 2 * DAY, "note": "z"},
]


def world(
    base: Path, *, window: str = "1d", created: bool = True, more: dict[str, Any] | None = None
) -> CompiledService:
    view = FeatureView(
        name="sales",
        entity="shop",
        source="sales",
        refresh=Refresh(every=DAY),
        features=features(
            n={"sql": "count(*)", "window": window},
            spent={"sql": "sum(amount)", "window": window},
            last={"sql": "what", "ttl": "3d", "owner": "shops"},
            **(more or {}),
        ),
    )
    source = Source(
        name="sales", path="sales", event_timestamp="at", created_timestamp="kept" if created else None, owner="ops"
    )
    return compiled(
        base,
        entities=[Entity(name="shop", join_keys={"shop": String()})],
        sources=[source],
        views=[view],
        services=[FeatureService(name="till", features=(ServiceFeatures(view="sales"),))],
    ).services["till"]


@dataclass
class Shop:
    """A folder with sources and labels, and the engine to build training sets there."""

    base: Path
    engine: SparkEngine

    def sell(self, file: str, rows: list[dict[str, Any]]) -> None:
        write_rows(self.base / "sales" / file, ROWS, rows)

    def ask(self, rows: list[dict[str, Any]], columns: dict[str, DataType] | None = None) -> None:
        write_rows(self.base / "labels.parquet", columns or LABELS, rows)

    def build(self, name: str, service: CompiledService | None = None) -> Manifest:
        return build_dataset(self.engine, service or world(self.base), SPEC, self.base / name, now=NOW).record

    def rebuild(self, name: str, service: CompiledService | None = None, out: str | None = None) -> Rebuild:
        found = service or world(self.base)
        return rebuild_dataset(
            lambda: self.engine,
            lambda _: found,
            self.base,
            self.base / name,
            out=None if out is None else self.base / out,
            now=NOW,
        )


@pytest.fixture
def shop(engine: SparkEngine, tmp_path: Path) -> Shop:
    found = Shop(tmp_path, engine)
    found.sell("one.parquet", SALES)
    found.ask(ASKED)
    return found


def no_engine() -> SparkEngine:
    raise AssertionError("nothing had to be computed")


@pytest.mark.spark
def test_a_manifest_says_what_a_set_was_made_from_and_what_it_holds(shop: Shop) -> None:
    found = shop.build("set")
    written = json.loads((shop.base / "set" / "_manifest.json").read_text())
    schema = manifest_schema()
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(written)
    assert [error.json_path for error in Draft202012Validator(schema).iter_errors({**written, "rows": -1})] == [
        "$.rows"
    ]
    assert read_manifest(shop.base / "set") == found
    assert found.rows == 5
    assert [label for label, _ in found.columns] == pq.read_table(shop.base / "set").column_names
    # A null key, and an entity that never was. The row of b is too old for its ttl, and still in reach.
    assert [(view.alias, view.unseen) for view in found.views] == [("sales", 2)]
    spent, last = (next(part for part in found.features if part.name == f"sales.{name}") for name in ("spent", "last"))
    assert (spent.low, spent.high, spent.mean, spent.stddev) == (4.0, 4.0, 4.0, 0.0)
    assert spent.null_share == 3 / 5
    assert spent.quantiles is not None
    assert spent.quantiles["0.5"] == 4.0
    assert (last.expired_share, last.null_share, last.distinct) == (1 / 5, 3 / 5, 1)
    assert last.top == (("coffee", 2),)
    (source,) = found.sources
    assert [(Path(file.path).name, file.rows) for file in source.files] == [("one.parquet", 4)]
    assert found.definitions["feature_views"]["sales"]["features"]["n"]["sql"] == "count(*)"
    assert found.definitions["feature_views"]["sales"]["columns"] == {"amount": "double", "what": "string"}
    assert {"featurekit", "spark", "java", "tzdata", "catalogue", "python"} <= found.versions.keys()
    assert found.join["sales"].startswith("in memory: 0 MiB of events fit into this process (4 events in reach")
    assert found.labels.sha256 is not None
    assert found.labels.files[0].size == (shop.base / "labels.parquet").stat().st_size


@pytest.mark.spark
def test_every_shape_of_the_join_has_the_same_evidence(shop: Shop) -> None:
    service = world(shop.base)
    found = {}
    for shape in JoinShape:
        taken: dict[str, str] = {}
        frame = point_in_time(shop.engine, service, SPEC, evidence=True, shape=shape, told=taken.update)
        rows = shop.engine.to_arrow(frame).to_pylist()
        found[shape] = sorted(rows, key=lambda row: str((row["shop"], row["note"])))
        assert taken["sales"].startswith(f"{shape}: asked for")
    assert found[JoinShape.ALL] == found[JoinShape.LABELLED] == found[JoinShape.IN_MEMORY]
    seen = {row["shop"]: (row["$found sales"], row["$expired sales.last"]) for row in found[JoinShape.ALL]}
    assert seen == {"a": (True, False), "b": (True, True), None: (False, False), "nobody": (False, False)}


@pytest.mark.spark
def test_a_rebuild_is_the_same_where_rows_only_landed_later(shop: Shop) -> None:
    before = shop.build("set")
    shop.sell("two.parquet", [sale("a", DAY0 - HOUR, 100.0, kept=DAY0 + 5 * DAY)])
    found = shop.rebuild("set")
    assert found.is_same
    assert found.reasons == ()
    assert found.after is not None
    assert len(found.after.sources[0].files) == 2
    assert sorted(path.name for path in shop.base.iterdir()) == ["labels.parquet", "sales", "set"]
    kept = shop.rebuild("set", out="again")
    assert kept.is_same
    assert read_manifest(shop.base / "again").id == before.id
    with pytest.raises(InputError, match="exists already"):
        shop.rebuild("set", out="again")


@pytest.mark.spark
def test_a_rebuild_that_is_not_the_same_says_why(shop: Shop) -> None:
    shop.build("set")

    changed = shop.rebuild("set", world(shop.base, window="2d"))
    assert not changed.is_same
    assert changed.after is None  # the id can't be the same: nothing was computed
    assert changed.reasons == (
        "definition feature_views.sales.features.n.window was 1d, is 2d",
        "definition feature_views.sales.features.spent.window was 1d, is 2d",
    )

    shop.ask(ASKED[:-1])
    others = rebuild_dataset(no_engine, lambda _: world(shop.base), shop.base, shop.base / "set")
    assert [reason.partition(" have ")[0] for reason in others.reasons] == ["the labels labels.parquet"]
    (shop.base / "labels.parquet").unlink()
    gone = rebuild_dataset(no_engine, lambda _: world(shop.base), shop.base, shop.base / "set")
    assert gone.reasons == (f"the path does not exist: {shop.base / 'labels.parquet'}",)
    shop.ask(ASKED)

    shop.sell("one.parquet", [sale("a", DAY0 - HOUR, 2.0)])
    rewritten = shop.rebuild("set", out="other")
    assert [reason.endswith("one.parquet was written again") for reason in rewritten.reasons] == [True]
    assert rewritten.rows is not None
    assert rewritten.rows.differing == {"sales.n": 2, "sales.spent": 2, "sales.last": 2}
    assert not rewritten.is_same


@pytest.mark.spark
def test_files_that_were_added_change_a_set_where_nothing_says_when_rows_landed(shop: Shop) -> None:
    service = world(shop.base, created=False)
    shop.build("set", service)
    shop.sell("two.parquet", [sale("a", DAY0 - HOUR, 100.0)])
    found = shop.rebuild("set", service)
    assert not found.is_same
    assert len(found.reasons) == 1
    assert "two.parquet is new: without a created_timestamp, rows that landed later count too" in found.reasons[0]


@pytest.mark.spark
def test_two_sets_are_compared_by_definitions_labels_and_each_label_row(shop: Shop) -> None:
    first = shop.build("first")
    again = shop.build("again")
    same = diff_manifests(first, again)
    assert same.is_same
    assert not any((same.definitions, same.labels, same.sources, same.versions, same.properties))
    rows = diff_rows(shop.engine, (shop.base / "first", first), (shop.base / "again", again))
    assert (rows.both, rows.only_before, rows.only_after) == (5, 0, 0)
    assert rows.is_same

    shop.ask([*ASKED[1:], {"shop": "b", "event_timestamp": DAY0 + 2 * DAY, "note": "new"}])
    other = shop.build("other", world(shop.base, window="6d", more={"top": {"sql": "max(amount)", "window": "6d"}}))
    found = diff_manifests(first, other)
    assert not found.is_same
    assert [change.where for change in found.definitions] == [
        f"feature_views.sales.features.{part}" for part in ("n.window", "spent.window", "top")
    ]
    assert str(found.definitions[-1]) == "feature_views.sales.features.top is new: max(amount)"
    rows = diff_rows(shop.engine, (shop.base / "first", first), (shop.base / "other", other))
    # One of two equal rows is in both, the other only in the first.
    assert (rows.both, rows.only_before, rows.only_after) == (4, 1, 1)
    assert rows.differing == {"sales.n": 1, "sales.spent": 1, "sales.last": 0}
    assert rows.identity == ("shop", "event_timestamp", "note")


@pytest.mark.spark
def test_arrays_and_maps_are_compared_and_counted_like_other_values(shop: Shop) -> None:
    nested = {
        "last_two": {"sql": "collect_last(amount, 2)", "window": "7d"},
        "counts": {"sql": "map('n', count(*), 'known', count(amount))", "window": "7d"},
    }
    first = shop.build("first", world(shop.base, more=nested))
    shop.sell("one.parquet", [*SALES[:1], sale("a", DAY0 - 2 * HOUR, 4.0, "coffee"), *SALES[2:]])
    second = shop.build("second", world(shop.base, more=nested))
    rows = diff_rows(shop.engine, (shop.base / "first", first), (shop.base / "second", second))
    assert rows.differing == {"sales.n": 0, "sales.spent": 2, "sales.last": 0, "sales.last_two": 2, "sales.counts": 0}
    by_name = {part.name: part for part in first.features}
    # [1, 3], [10], and none for the others: a count of none is 0, and its map is one.
    assert (by_name["sales.last_two"].distinct, by_name["sales.last_two"].null_share) == (2, 2 / 5)
    assert (by_name["sales.counts"].distinct, by_name["sales.counts"].null_share) == (3, 0.0)
    assert by_name["sales.counts"].mean is None


@pytest.mark.spark
def test_no_labels_make_an_empty_set_that_is_shown_compared_and_rebuilt(shop: Shop) -> None:
    shop.ask([])
    found = shop.build("empty")
    assert (found.rows, [part.null_share for part in found.features]) == (0, [0.0, 0.0, 0.0])
    assert read_manifest(shop.base / "empty") == found
    rows = diff_rows(shop.engine, *[(shop.base / "empty", found)] * 2)
    assert (rows.both, rows.only_before, rows.only_after) == (0, 0, 0)
    assert shop.rebuild("empty").is_same


@pytest.mark.spark
def test_labels_are_told_apart_by_all_they_carry_and_a_set_of_other_labels_has_none_in_common(shop: Shop) -> None:
    first = shop.build("first")
    kinds = {**LABELS, "weight": Float64()}
    shop.ask([{**row, "weight": weight} for row, weight in zip(ASKED, (1.0, 2.0, None, 0.0, 5.0), strict=True)], kinds)
    second = shop.build("second")
    rows = diff_rows(shop.engine, (shop.base / "first", first), (shop.base / "second", second))
    assert (rows.both, rows.only_before, rows.only_after) == (5, 0, 0)  # by the columns that both have
    assert rows.identity == ("shop", "event_timestamp", "note")
    shop.ask([{**row, "weight": 1.0} for row in ASKED], kinds)
    third = shop.build("third")
    rows = diff_rows(shop.engine, (shop.base / "second", second), (shop.base / "third", third))
    assert (rows.both, rows.only_before, rows.only_after) == (1, 4, 4)
    shop.ask(
        [{"shop": "a", "asked": DAY0 + HOUR, "note": "x"}], {"shop": String(), "asked": Timestamp(), "note": String()}
    )
    spec = LabelSpec(path="labels.parquet", timestamp="asked")
    fourth = build_dataset(shop.engine, world(shop.base), spec, shop.base / "fourth", now=NOW).record
    with pytest.raises(InputError, match="no timestamp in common"):
        diff_rows(shop.engine, (shop.base / "first", first), (shop.base / "fourth", fourth))


@pytest.mark.spark
def test_a_source_or_labels_that_change_meanwhile_are_refused_and_nothing_is_left(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = SparkEngine.write_parquet

    def late(change: Any) -> Iterator[None]:
        def write(self: SparkEngine, frame: Any, folder: Path) -> None:
            written(self, frame, folder)
            change()

        with monkeypatch.context() as patched:
            patched.setattr(SparkEngine, "write_parquet", write)
            yield

    cases = [
        (lambda: shop.sell("one.parquet", SALES[:1]), "source sales changed while being read"),
        (lambda: shop.ask(ASKED[:1]), "the labels changed while being read"),
    ]
    for change, what in cases:
        for _ in late(change):
            with pytest.raises(SourceError) as caught:
                shop.build("set")
        assert caught.value.what == what
        assert caught.value.exit_code == 2
        assert not [path for path in shop.base.iterdir() if "set" in path.name]
        shop.sell("one.parquet", SALES)
        shop.ask(ASKED)
    for _ in late(lambda: shop.sell("two.parquet", SALES[:1])):  # the source says itself when rows landed
        assert shop.build("set").rows == 5


@pytest.mark.parametrize(
    ("columns", "timezone", "what"),
    [
        ({"shop": pa.int64()}, None, "the labels' join key shop is bigint, not string"),
        ({"event_timestamp": pa.string()}, None, "event_timestamp event_timestamp is string"),
        ({"event_timestamp": pa.timestamp("us")}, None, "event_timestamp has no zone, and the source declares none"),
        ({"event_timestamp": pa.timestamp("us")}, "UTC", None),
        ({"sales.n": pa.int64()}, None, "the labels have a column sales.n, which is a name of ours"),
        ({}, None, None),
    ],
)
def test_wrong_label_columns_are_found_in_the_footer_before_anything_starts(
    tmp_path: Path, columns: dict[str, pa.DataType], timezone: str | None, what: str | None
) -> None:
    write_rows(tmp_path / "sales" / "one.parquet", ROWS, SALES)
    kinds = {"shop": pa.string(), "event_timestamp": pa.timestamp("us", "UTC"), **columns}
    pq.write_table(pa.table({label: pa.array([], kind) for label, kind in kinds.items()}), tmp_path / "labels.parquet")
    spec = LabelSpec(path="labels.parquet", timezone=timezone)
    if what is None:
        check_label_file(world(tmp_path), spec, tmp_path)
        return
    with pytest.raises(FeaturekitError) as caught:
        check_label_file(world(tmp_path), spec, tmp_path)
    assert caught.value.what == what
    assert caught.value.exit_code == 2


def test_a_wrong_label_file_starts_no_spark(tmp_path: Path) -> None:
    write_rows(tmp_path / "sales" / "one.parquet", ROWS, SALES)
    write_rows(tmp_path / "labels.parquet", {"shop": String()}, [{"shop": "a"}])
    with FeatureStore(Settings(root=tmp_path, state=tmp_path / "state")) as store:
        store.__dict__["_service"] = lambda _: world(tmp_path)
        with pytest.raises(SourceError, match="the labels have no column event_timestamp"):
            store.dataset("till", SPEC, tmp_path / "set")
        assert "engine" not in store.__dict__
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (None, "that is no training set"),
        ("{", "the training set's manifest can't be read"),
        ("[]", "the training set's manifest can't be read"),
        ('{"format": 1}', "the training set's manifest has format 1"),
        ('{"id": "x"}', "the training set's manifest has format None"),
        ('{"format": 2}', "the training set's manifest can't be read"),
    ],
)
def test_a_folder_that_is_no_training_set_is_refused(tmp_path: Path, content: str | None, what: str) -> None:
    if content is not None:
        (tmp_path / "_manifest.json").write_text(content)
    with pytest.raises(InputError) as caught:
        read_manifest(tmp_path)
    assert caught.value.what == what
