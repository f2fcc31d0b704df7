"""A training set of what was really served: labels joined to answers, and what does not join counted."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from featurekit.apply import register
from featurekit.clock import DAY, HOUR, SECOND, Instant
from featurekit.compiled import CompiledRepository
from featurekit.config import Settings
from featurekit.consistency.attribution.metrics import Metric
from featurekit.errors import FeaturekitError, InputError, KeyTypeError, SourceError
from featurekit.from_log import build_from_log
from featurekit.from_log_values import FromLogResult, FromLogSpec
from featurekit.model_loss import LossSpec, attribute_loss, model_of_file
from featurekit.offline.session import start_engine
from featurekit.online import embedded
from featurekit.online.client import FeatureClient
from featurekit.online.keys import Namespace
from featurekit.online.reason import Reason
from featurekit.online.redis import RedisStore
from featurekit.online.served_log import ServedLog
from featurekit.refresh_values import Deployment
from featurekit.refreshing import refresh_view
from featurekit.registry.desired import desired_state
from featurekit.registry.registry import Registry
from featurekit.served_columns import METADATA
from featurekit.status import Status
from tests.consistency.airport import DELAY, START, flights_of, write_airport
from tests.serving.onnx_models import echo

pytestmark = pytest.mark.spark
TODAY = START + 6 * DAY
ASKED = TODAY + 5 * HOUR
NOW = TODAY + 3 * DAY
PLACE = Namespace("air", "port")
FEATURES = ("delays.mean_1d", "delays.n_3d", "delays.last", "delays.last_or", "trip.share")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="module")
def airport(folder: Path) -> CompiledRepository:
    return write_airport(folder, flights_of(3))


@pytest.fixture(scope="module")
def engine(folder: Path) -> Any:
    return start_engine(
        Settings(root=folder, state=folder / "state", spark_master="local[2]", spark_driver_memory="1g")
    )


@pytest.fixture(scope="module")
def log(folder: Path, airport: CompiledRepository, engine: Any) -> Iterator[Path]:
    """What was served: ten requests of one entity, one of three, one that came again, one that was not answered."""
    url = embedded.start(folder / "state").url
    store = RedisStore(url)
    registry = Registry(f"sqlite:///{folder / 'registry.db'}", project="air", environment="port", models=folder / "m")
    register(desired_state(airport), registry, store, PLACE, TODAY)
    to = Deployment(url=url, store=store, registry=registry, namespace=PLACE, retention=30 * DAY)
    refresh_view(airport.views["delays"], TODAY, engine=engine, to=to, clock=lambda: TODAY + DELAY)
    place = folder / "log"
    with (
        ServedLog(place, project="air", environment="port") as served,
        FeatureClient(url, project="air", environment="port", clock=lambda: ASKED, log=served) as client,
    ):
        for n in range(10):
            carrier = ("AA", "UA", "WN", "ZZ")[n % 4]
            client.lookup("trips", {"carrier": carrier}, {"hours": 2.0}, at=ASKED + n * SECOND, request_id=f"r{n}")
        client.lookup("trips", {"carrier": ["AA", "UA", None]}, {"hours": 4.0}, request_id="many")
        client.lookup("trips", {"carrier": "AA"}, {"hours": 1.0}, request_id="again")
        client.lookup("trips", {"carrier": "AA"}, {"hours": 5.0}, at=ASKED + HOUR, request_id="again")
        client.lookup("trips", {"carrier": "AA"}, {"hours": 1.0}, at=TODAY - DAY, request_id="away")
        client.lookup("late", {"carrier": "AA"}, request_id="other service")
        client.lookup("trips", {"carrier": ["AA", "AA", "UA"]}, {"hours": [1.0, 2.0, 3.0]}, request_id="twice")
        client.lookup("trips", {"carrier": ["WN", "WN"]}, {"hours": [1.0, 1.0]}, request_id="same")
        client.lookup("pairs", {"carrier": ["AA", "UA", "UA"], "rival": [None, None, "AA"]}, request_id="pairs")
    yield place
    store.close()
    embedded.stop(folder / "state")


def labels_file(path: Path, **columns: Any) -> Path:
    arrays = {
        name: values
        if isinstance(values, pa.Array)
        else pa.array(values, pa.string() if name == "request_id" else None)
        for name, values in columns.items()
    }
    pq.write_table(pa.table(arrays), path)
    return path


def times(*instants: Instant | None) -> pa.Array:
    return pa.array(instants, pa.timestamp("us", tz="UTC"))


@pytest.fixture
def built(airport: CompiledRepository, log: Path, tmp_path: Path) -> Any:
    """Return the function that builds a set from label columns: its result and its rows."""

    def build(engine: Any = None, **given: Any) -> tuple[FromLogResult, list[dict[str, Any]]]:
        options = {name: given.pop(name) for name in list(given) if name in FromLogSpec.__slots__}
        labels = labels_file(tmp_path / "labels.parquet", **given)
        spec = FromLogSpec(log=log, labels=labels, **options)
        out = tmp_path / "set"
        found = build_from_log(airport.services["trips"], spec, out, now=NOW, engine=engine)
        return found, pq.read_table(out).to_pylist()

    return build


def test_each_label_has_what_its_request_was_served(built: Any, log: Path) -> None:
    found, rows = built(request_id=["r3", "r0", "r1"], label=[1, 0, 1])
    (file,) = (log / "trips").glob("*.parquet")
    served = {(row["request_id"], row["carrier"]): row for row in pq.read_table(file).to_pylist()}
    assert [(row["request_id"], row["label"]) for row in rows] == [("r3", 1), ("r0", 0), ("r1", 1)]
    for row in rows:
        logged = served[row["request_id"], row["carrier"]]
        assert {name: row[name] for name in (*FEATURES, "hours")} == {
            name: logged[name] for name in (*FEATURES, "hours")
        }
        assert row["event_timestamp"] == logged["timestamp"]
    assert list(rows[0]) == ["request_id", "label", "event_timestamp", "carrier", "hours", *FEATURES]
    assert (found.count.rows, found.count.labels, found.count.logged) == (3, 3, 21)
    assert found.environments == {"air/port": 21}
    assert found.count.rows_without_label == 21 - 3


def test_labels_of_a_request_with_several_rows_join_by_key_too(built: Any) -> None:
    _, rows = built(request_id=["many", "many", "many"], carrier=["UA", None, "AA"], label=[1, 2, 3])
    assert [(row["carrier"], row["label"]) for row in rows] == [("UA", 1), (None, 2), ("AA", 3)]


def test_a_key_that_is_null_does_not_blur_the_other_keys(
    airport: CompiledRepository, log: Path, tmp_path: Path
) -> None:
    labels = labels_file(
        tmp_path / "labels.parquet",
        request_id=["pairs", "pairs", "pairs"],
        carrier=["UA", "AA", "UA"],
        rival=["AA", None, None],
    )
    found = build_from_log(airport.services["pairs"], FromLogSpec(log=log, labels=labels), tmp_path / "set", now=NOW)
    (file,) = (log / "pairs").glob("*.parquet")
    answers = {(row["carrier"], row["rival"]): row["delays.mean_1d"] for row in pq.read_table(file).to_pylist()}
    assert answers["AA", None] != answers["UA", None]
    for row in pq.read_table(found.path).to_pylist():
        assert row["delays.mean_1d"] == answers[row["carrier"], row["rival"]]
    assert (found.count.rows, found.count.repeated_rows) == (3, 0)


@pytest.mark.parametrize("keys", [{}, {"carrier": ["AA"]}], ids=["by request", "by key"])
def test_an_entity_that_was_asked_for_with_several_values_at_once_is_refused(
    built: Any, log: Path, keys: dict[str, list[str]]
) -> None:
    with pytest.raises(InputError, match="request twice asked for one entity with several request values") as refused:
        built(request_id=["twice"], **keys)
    assert refused.value.why == "its label does not say for which hours it is"


def test_other_entities_of_such_a_request_and_equal_values_are_not(built: Any) -> None:
    _, rows = built(request_id=["twice", "same"], carrier=["UA", "WN"])
    assert [row["hours"] for row in rows] == [3.0, 1.0]


def test_without_keys_such_labels_are_refused(built: Any) -> None:
    with pytest.raises(InputError, match="was answered for 3 entities") as refused:
        built(request_id=["many"], label=[1])
    assert refused.value.try_ == "write the entity keys beside the request id"


def test_what_does_not_join_is_counted(built: Any) -> None:
    found, rows = built(request_id=["r0", "nobody", None, "r0", "again", "away"], label=[1, 2, 3, 4, 5, 6])
    count = found.count
    assert [row["label"] for row in rows] == [1, 4, 5]
    assert rows[-1]["hours"] == 5.0  # the answer that the request went on with
    assert (count.labels_without_request, count.repeated_labels, count.repeated_rows) == (2, 1, 1)
    assert (count.unavailable, count.rows) == (1, 3)
    told = json.loads((found.path / "_from_log.json").read_text())
    assert (told["unavailable"], told["labels_without_request"], told["id"]) == (1, 2, found.id)


def rewritten(log: Path, to: Path, reasons: dict[str, dict[str, tuple[Status, Reason]]] | None) -> Path:
    """Return a copy of the log of trips with some statuses and reasons changed; without any: in format 1."""
    (to / "trips").mkdir(parents=True)
    (file,) = (log / "trips").glob("*.parquet")
    table = pq.read_table(file)
    told = json.loads(table.schema.metadata[METADATA])
    if reasons is None:
        table = table.drop_columns(["__reason"])
        told["format"] = 1
    for row, request in enumerate(table.column("request_id").to_pylist()):
        for column, of in (("__status", 0), ("__reason", 1)):
            if changes := (reasons or {}).get(request):
                codes = table.column(column).to_pylist()
                codes[row] |= {name: int(both[of]) for name, both in changes.items()}
                at, kind = table.schema.get_field_index(column), table.schema.field(column).type
                table = table.set_column(at, column, pa.array(codes, kind))
    pq.write_table(table.replace_schema_metadata({METADATA: json.dumps(told)}), to / "trips" / file.name)
    return to


def test_what_stood_in_for_an_answer_is_no_training_row(airport: CompiledRepository, log: Path, tmp_path: Path) -> None:
    degraded = rewritten(
        log,
        tmp_path / "log",
        {
            "r0": {"delays.mean_1d": (Status.PRESENT, Reason.LAST_KNOWN)},
            "r1": {"delays.mean_1d": (Status.DEFAULTED, Reason.STORE_TIMEOUT)},
            "r2": {"delays.mean_1d": (Status.DEFAULTED, Reason.NULL)},  # as declared, by the view's own value
            "r3": {"delays.mean_1d": (Status.UNAVAILABLE, Reason.STORE_TIMEOUT)},
            "r4": {"delays.mean_1d": (Status.PRESENT, Reason.AHEAD)},
        },
    )
    labels = labels_file(tmp_path / "labels.parquet", request_id=[f"r{n}" for n in range(6)])
    found = build_from_log(
        airport.services["trips"], FromLogSpec(log=degraded, labels=labels), tmp_path / "set", now=NOW
    )
    assert [row["request_id"] for row in pq.read_table(found.path).to_pylist()] == ["r2", "r5"]
    assert (found.count.rows, found.count.unavailable, found.count.degraded) == (2, 1, 3)
    assert json.loads((found.path / "_from_log.json").read_text())["degraded"] == 3


def test_a_log_of_the_format_before_there_were_reasons_is_read(
    airport: CompiledRepository, log: Path, tmp_path: Path
) -> None:
    service, ids = airport.services["trips"], [f"r{n}" for n in range(6)]
    labels = labels_file(tmp_path / "labels.parquet", request_id=ids)
    old = rewritten(log, tmp_path / "log", None)
    found = build_from_log(service, FromLogSpec(log=old, labels=labels), tmp_path / "old", now=NOW)
    same = build_from_log(service, FromLogSpec(log=log, labels=labels), tmp_path / "new", now=NOW)
    assert (found.id, found.count.rows) == (same.id, 6)


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({}, [0, 1, 2, 3]),
        ({"mature_after": NOW - ASKED - SECOND}, [0, 1]),  # after the request, and up to the very moment
        ({"label_time": "at", "mature_after": DAY}, [0, 1]),
        ({"label_known": "known"}, [2, 3]),
    ],
    ids=["always", "after the request", "after the label's time", "when it was known"],
)
def test_labels_that_are_not_mature_are_left_out_and_counted(
    built: Any, options: dict[str, Any], kept: list[int]
) -> None:
    found, rows = built(
        request_id=["r0", "r1", "r2", "r3"],
        label=[0, 1, 2, 3],
        at=times(ASKED, NOW - DAY, NOW - DAY + 1, None),
        known=times(None, NOW + 1, NOW, ASKED),
        **options,
    )
    assert [row["label"] for row in rows] == kept
    assert found.count.immature == 4 - len(kept)


def test_statuses_are_there_where_they_are_asked_for(built: Any) -> None:
    _, rows = built(request_id=["r3"], label=[1], statuses=True)  # of an entity that has no row
    assert rows[0]["delays.last__status"] == Status.MISSING
    assert rows[0]["delays.last_or__status"] == Status.DEFAULTED


def test_served_and_recomputed_are_one_beside_the_other(built: Any, engine: Any) -> None:
    found, rows = built(
        engine=lambda: engine,
        request_id=[*(f"r{n}" for n in range(10)), *["many"] * 3],
        carrier=[*(("AA", "UA", "WN", "ZZ")[n % 4] for n in range(10)), "AA", "UA", None],
    )
    assert found.differing == dict.fromkeys(FEATURES, 0)
    assert all(row[name] == row[f"{name}__recomputed"] for row in rows for name in FEATURES)


def test_what_was_served_wrong_is_counted(
    built: Any, engine: Any, log: Path, airport: CompiledRepository, tmp_path: Path
) -> None:
    (file,) = (log / "trips").glob("*.parquet")
    table = pq.read_table(file)
    at = table.column_names.index("delays.n_3d")
    place = tmp_path / "wrong" / "trips"
    place.mkdir(parents=True)
    wrong = pa.array(
        [None if value is None else value + (n < 2) for n, value in enumerate(table.column(at).to_pylist())]
    )
    pq.write_table(table.set_column(at, "delays.n_3d", wrong), place / file.name)
    labels = labels_file(tmp_path / "labels.parquet", request_id=["r0", "r1", "r2"])
    spec = FromLogSpec(log=tmp_path / "wrong", labels=labels)
    found = build_from_log(airport.services["trips"], spec, tmp_path / "set", now=NOW, engine=lambda: engine)
    assert found.differing == {**dict.fromkeys(FEATURES, 0), "delays.n_3d": 2}


def test_what_a_model_lost_by_what_was_served_wrong_is_told_of_the_field(
    engine: Any, log: Path, airport: CompiledRepository, tmp_path: Path
) -> None:
    (file,) = (log / "trips").glob("*.parquet")
    table = pq.read_table(file)
    at = table.column_names.index("delays.n_3d")
    place = tmp_path / "wrong" / "trips"
    place.mkdir(parents=True)
    right = table.column(at).to_pylist()
    wrong = pa.array([None if value is None else 10 - 4 * value for value in right])
    pq.write_table(table.set_column(at, "delays.n_3d", wrong), place / file.name)
    ids = [f"r{n}" for n in range(10)]
    by_id = dict(zip(table.column("request_id").to_pylist(), right, strict=True))
    asked = labels_file(tmp_path / "labels.parquet", request_id=ids, orders=[float(by_id[one] or 0) for one in ids])
    onnx = echo(tmp_path / "echo.onnx", 1, columns=["delays.n_3d"])
    service = airport.services["trips"]
    spec = LossSpec(log=FromLogSpec(log=tmp_path / "wrong", labels=asked), label="orders", metric=Metric.RMSE)

    found = attribute_loss(service, model_of_file(onnx, service), spec, engine=lambda: engine, now=NOW)

    told = found.attribution
    errors = [float(10 - 4 * (by_id[one] or 0) - (by_id[one] or 0)) for one in ids]
    assert (found.count.rows, told.rows, told.requests) == (10, 10, 10)
    assert told.recomputed.value == 0
    assert told.gap.value == told.served.value == pytest.approx(np.sqrt(np.mean(np.square(errors))))
    assert told.gap.low > 0
    assert [(part.name, part.share) for part in told.parts] == [("delays.n_3d", 1.0)]


def test_rows_of_another_version_are_kept_counted_and_refused_by_strict(
    log: Path, airport: CompiledRepository, tmp_path: Path
) -> None:
    (file,) = (log / "trips").glob("*.parquet")
    schema = pq.read_schema(file)
    told = json.loads(schema.metadata[b"featurekit_served_log"])
    place = tmp_path / "older" / "trips"
    place.mkdir(parents=True)
    metadata = {b"featurekit_served_log": json.dumps({**told, "fingerprint": "0" * 64}).encode()}
    table = pq.read_table(file).replace_schema_metadata(metadata)
    pq.write_table(table, place / "older.parquet")
    pq.write_table(table.drop_columns(["delays.last"]), place / "oldest.parquet")
    labels = labels_file(tmp_path / "labels.parquet", request_id=["r0", "r1"])
    spec = FromLogSpec(log=tmp_path / "older", labels=labels)
    found = build_from_log(airport.services["trips"], spec, tmp_path / "set", now=NOW)
    assert (found.count.rows, found.count.other_version, found.count.other_outputs) == (2, 2, 21)
    strict = FromLogSpec(log=tmp_path / "older", labels=labels, strict=True)
    with pytest.raises(InputError, match="2 of 2 rows are of another version"):
        build_from_log(airport.services["trips"], strict, tmp_path / "strict", now=NOW)
    assert not (tmp_path / "strict").exists()


def test_what_several_environments_served_is_not_mixed_unless_all_are_asked_for(
    airport: CompiledRepository, log: Path, tmp_path: Path
) -> None:
    (file,) = (log / "trips").glob("*.parquet")
    table = pq.read_table(file)
    place = tmp_path / "log" / "trips"
    place.mkdir(parents=True)
    for project, environment, only in (("air", "dev", "r0"), ("air", "prod", "r1"), ("sea", "prod", "r4")):
        told = json.loads(table.schema.metadata[b"featurekit_served_log"])
        told |= {"project": project, "environment": environment}
        rows = table.filter(pc.equal(table.column("request_id"), only))
        rows = rows.replace_schema_metadata({b"featurekit_served_log": json.dumps(told).encode()})
        pq.write_table(rows, place / f"{project}-{environment}.parquet")
    labels = labels_file(tmp_path / "labels.parquet", request_id=["r0", "r1", "r4"])
    out = tmp_path / "set"

    def build(*environments: str) -> FromLogResult:
        spec = FromLogSpec(log=tmp_path / "log", labels=labels, environments=environments)
        return build_from_log(airport.services["trips"], spec, out, now=NOW)

    refused = {
        (): r"what 3 environments served",
        ("prod",): r"what prod of 2 projects served",
        ("test",): r"nothing of environment test",
        ("dev", "sea/dev"): r"nothing of environment sea/dev",
    }
    for environments, what in refused.items():
        with pytest.raises(InputError, match=what) as error:
            build(*environments)
        assert error.value.why is not None
        assert "rows of air/dev (1), air/prod (1), sea/prod (1)" in error.value.why
        assert not out.exists()
    taken = {
        ("dev",): ({"air/dev": 1}, ["r0"]),
        ("air/prod",): ({"air/prod": 1}, ["r1"]),
        ("sea/prod", "dev"): ({"air/dev": 1, "sea/prod": 1}, ["r0", "r4"]),
    }
    for environments, (read, ids) in taken.items():
        found = build(*environments)
        assert found.environments == read
        assert found.count.other_environments == 3 - len(read)
        assert found.count.logged == len(read)
        assert pq.read_table(out).column("request_id").to_pylist() == ids
        assert json.loads((out / "_from_log.json").read_text())["environments"] == read
        shutil.rmtree(out)


def test_the_same_set_has_the_same_id(built: Any, tmp_path: Path) -> None:
    one, _ = built(request_id=["r0", "r1"])
    one.path.rename(tmp_path / "one")
    again, _ = built(request_id=["r0", "r1"])
    again.path.rename(tmp_path / "again")
    other, _ = built(request_id=["r1", "r0"])
    assert one.id == again.id
    assert one.id != other.id


def test_csv_labels_are_read_with_ids_as_text(log: Path, airport: CompiledRepository, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("request_id,label,at\nr0,1,2026-03-08T05:00:00Z\n7,0,2026-03-08T05:00:00Z\n")
    spec = FromLogSpec(log=log, labels=labels, label_time="at", mature_after=HOUR)
    found = build_from_log(airport.services["trips"], spec, tmp_path / "set", now=NOW)
    assert (found.count.rows, found.count.labels_without_request) == (1, 1)


REFUSED: list[tuple[str, dict[str, Any], type[FeaturekitError], str]] = [
    ("no request id", {"label": [1]}, SourceError, "no column request_id"),
    ("ids that are numbers", {"request_id": pa.array([1])}, KeyTypeError, "not a text"),
    ("a key of another type", {"request_id": ["r0"], "carrier": [1]}, KeyTypeError, "join key carrier is int64"),
    ("a column of ours", {"request_id": ["r0"], "Event_Timestamp": [1]}, InputError, "a column Event_Timestamp"),
    ("an output's name", {"request_id": ["r0"], "trip.share": [1]}, InputError, "a column trip.share"),
    ("nothing joins", {"request_id": ["x"]}, InputError, "no label could be joined"),
    ("a time without maturity", {"request_id": ["r0"], "label_time": "at"}, InputError, "says not when it is mature"),
    (
        "a time without a zone",
        {"request_id": ["r0"], "at": pa.array([1], pa.timestamp("us")), "label_known": "at"},
        SourceError,
        "column at is timestamp",
    ),
    ("an unknown time", {"request_id": ["r0"], "label_known": "at"}, SourceError, "no column at"),
]


@pytest.mark.parametrize(("given", "kind", "words"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_what_can_not_be_meant_is_refused_and_nothing_is_written(
    built: Any, tmp_path: Path, given: dict[str, Any], kind: type[FeaturekitError], words: str
) -> None:
    with pytest.raises(kind, match=words) as refused:
        built(**given)
    assert refused.value.exit_code == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["labels.parquet"]


def test_a_folder_that_is_no_log_is_refused(airport: CompiledRepository, tmp_path: Path) -> None:
    labels = labels_file(tmp_path / "labels.parquet", request_id=["r0"])
    spec = FromLogSpec(log=tmp_path, labels=labels)
    with pytest.raises(SourceError, match="not a file of the served-feature log"):
        build_from_log(airport.services["trips"], spec, tmp_path / "set", now=NOW)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="there is no log of trips"):
        build_from_log(
            airport.services["trips"], FromLogSpec(log=tmp_path / "empty", labels=labels), tmp_path / "set", now=NOW
        )
