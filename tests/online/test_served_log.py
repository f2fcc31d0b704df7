"""What was served is in the log, bit for bit; and whatever becomes of the log, lookups go on."""

from __future__ import annotations

import json
import logging
import os
import statistics
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from featurekit.clock import DAY, HOUR, SECOND
from featurekit.config import Settings
from featurekit.errors import InputError
from featurekit.expr.infer import call, literal
from featurekit.expr.nodes import Column
from featurekit.key_sample import key_hash, threshold
from featurekit.online.client import FeatureClient
from featurekit.online.publish import PlanBody, publish_plans, switch_services
from featurekit.online.redis import RedisStore
from featurekit.online.served_answer import request_name
from featurekit.online.served_log import LogCounts, ServedLog, served_log
from featurekit.plan import LookupPlan, PlanExpression
from featurekit.served_columns import METADATA
from featurekit.status import Status
from featurekit.types import Array, Decimal, Field, Float64, Int32, Int64, Schema, String, Timestamp
from tests.online.servers import NAMESPACE, materialize, offline_batch, plan_field, view_plan

AS_OF = 20 * DAY
NOON = AS_OF + 12 * HOUR
SPEND = view_plan(
    [
        plan_field("orders", Int64(), empty=0),
        plan_field("mean", Float64()),
        plan_field("last", Decimal(10, 2), is_latest=True),
        plan_field("capped", Int64(), default=-1),
        plan_field("items", Array(Int64())),
        plan_field("paid", Timestamp()),
    ],
    name="spend",
)
LOAD = view_plan([plan_field("load", Float64(), default=0.5)], name="load", keys={"model": String()})
TWICE = call("add", Column(type=Int32(), nullable=True, name="basket"), literal(1, Int32()))
PLAN = LookupPlan(
    service="service",
    fingerprint="f" * 64,
    views=(SPEND, LOAD),
    request=Schema((Field("basket", Int32()), Field("due", Timestamp()))),
    on_demand=(PlanExpression(name="cart.more", type=Int32(), node=TWICE, default=None),),
    outputs=(
        *(Field(f"{view.alias}.{field.name}", field.type) for view in (SPEND, LOAD) for field in view.fields),
        Field("cart.more", Int32()),
    ),
)


@pytest.fixture
def world(url: str, store: RedisStore) -> str:
    """A service over two views, one keyed by `model`, which is also the log's name for whom an answer was for."""
    publish_plans(store, NAMESPACE, [PlanBody.of(PLAN)])
    switch_services(store, NAMESPACE, {PLAN.service: PlanBody.of(PLAN).pointer})
    rows = [
        {"user_id": n, "orders": n, "mean": n / 7, "last": None, "capped": None, "items": (n, None), "paid": n * SECOND}
        for n in range(200)
    ]
    materialize(store, url, SPEND, AS_OF, offline_batch(SPEND, rows, {"last": [Status.EXPIRED] * len(rows)}))
    materialize(store, url, LOAD, AS_OF, offline_batch(LOAD, [{"model": "T", "load": 0.25}]))
    return url


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "served"


def log_of(folder: Path, **options: Any) -> ServedLog:
    return ServedLog(folder, project="shop", environment="test", **options)


def client_of(url: str, log: ServedLog) -> FeatureClient:
    return FeatureClient(url, project="shop", environment="test", clock=lambda: NOON, log=log)


def ask(client: FeatureClient, user: Any, **more: Any) -> Any:
    request = {"basket": 3, "due": NOON_TIME}
    return client.lookup("service", {"user_id": user, "model": "T"}, request, **more)


NOON_TIME = pa.scalar(NOON, pa.timestamp("us", tz="UTC")).as_py()


def logged(folder: Path) -> pa.Table:
    """Return all rows of the log, by request id and user."""
    files = sorted((folder / "service").glob("*.parquet"))
    return pa.concat_tables([pq.read_table(file) for file in files]).sort_by([("request_id", "ascending")])


def test_a_row_of_the_log_is_what_was_answered(world: str, folder: Path) -> None:
    with log_of(folder) as log, client_of(world, log) as client:
        found = ask(client, 7, request_id="r1")
    (row,) = logged(folder).to_pylist()
    assert found.request_id == "r1"
    assert {name: row[name] for name in found.names} == found.to_dict()
    assert row["request_id"] == "r1"
    assert row["timestamp"] == NOON_TIME
    assert (row["service"], row["service_fingerprint"]) == ("service", "f" * 64)
    assert (row["model"], row["model_version"], row["__input_model"]) == (None, None, "T")
    assert (row["user_id"], row["basket"], row["due"]) == (7, 3, NOON_TIME)
    assert list(row["__status"].items()) == list(zip(found.names, found.statuses[0].tolist(), strict=True))
    as_of = pa.scalar(AS_OF, pa.timestamp("us", tz="UTC")).as_py()
    assert row["__as_of"] == {"spend": as_of, "load": as_of}
    assert log.counts == LogCounts(written=1)


def test_a_file_says_what_it_is_of(world: str, folder: Path) -> None:
    with log_of(folder) as log, client_of(world, log) as client:
        ask(client, 7)
    (file,) = (folder / "service").iterdir()
    told = json.loads(pq.read_schema(file).metadata[METADATA])
    assert told == {
        "format": 2,
        "project": "shop",
        "environment": "test",
        "service": "service",
        "fingerprint": "f" * 64,
        "views": {view.alias: {"view": view.view, "fingerprint": view.fingerprint} for view in (SPEND, LOAD)},
        "keys": ["user_id", "model"],
        "request": ["basket", "due"],
        "inputs": [],
        "sample": {"share": 1.0, "seed": ""},
    }
    kinds = dict(zip(pq.read_schema(file).names, pq.read_schema(file).types, strict=True))
    assert kinds["spend.last"] == pa.decimal128(10, 2)
    assert kinds["__status"].field("spend.last").type == pa.int8()


def test_what_an_on_demand_value_is_computed_from_is_logged_though_it_is_no_output(
    world: str, store: RedisStore, folder: Path
) -> None:
    """Else nobody could tell whether the value follows from what was read."""
    half = call(
        "multiply", Column(type=Float64(), nullable=True, name="mean", qualifier="spend"), literal(0.5, Float64())
    )
    plan = replace(
        PLAN,
        service="halves",
        on_demand=(PlanExpression(name="cart.half", type=Float64(), node=half, default=None),),
        outputs=(Field("spend.orders", Int64()), Field("cart.half", Float64())),
    )
    publish_plans(store, NAMESPACE, [PlanBody.of(plan)])
    switch_services(store, NAMESPACE, {plan.service: PlanBody.of(plan).pointer})
    with log_of(folder) as log, client_of(world, log) as client:
        found = client.lookup("halves", {"user_id": [7, 404], "model": "T"}, {"basket": 3, "due": NOON_TIME})
    (file,) = (folder / "halves").iterdir()
    rows = pq.read_table(file).to_pylist()
    assert found.names == ("spend.orders", "cart.half")
    assert [(row["spend.mean"], row["cart.half"], row["spend.orders"]) for row in rows] == [
        (1.0, 0.5, 7),
        (None, None, 0),
    ]
    assert [row["__status"]["spend.mean"] for row in rows] == [Status.PRESENT, Status.NULL]
    assert json.loads(pq.read_schema(file).metadata[METADATA])["inputs"] == ["spend.mean"]


def test_many_requests_are_logged_as_each_was_answered(world: str, folder: Path) -> None:
    answers = {}
    with log_of(folder) as log, client_of(world, log) as client:
        for n in range(150):
            user = [n, 404, None] if n % 3 == 0 else n  # the batch in between is of three entities
            found = ask(client.unlogged(), user)
            client.log_served(found, model="delay", model_version=n)
            answers[found.request_id] = found
    table = logged(folder)
    assert table.num_rows == 50 * 3 + 100
    for request_id, found in answers.items():
        rows = [row for row in table.to_pylist() if row["request_id"] == request_id]
        expected = [found.to_dict()] if found.is_single else found.to_dict()
        assert [{name: row[name] for name in found.names} for row in rows] == expected
        assert [list(row["__status"].values()) for row in rows] == found.statuses.tolist()
        assert {row["model"] for row in rows} == {"delay"}


def test_what_the_store_could_not_answer_is_logged_as_unavailable(url: str, store: RedisStore, folder: Path) -> None:
    publish_plans(store, NAMESPACE, [PlanBody.of(PLAN)])
    switch_services(store, NAMESPACE, {PLAN.service: PlanBody.of(PLAN).pointer})
    with log_of(folder, sample=0.5) as log, client_of(url, log) as client:
        ask(client, list(range(40)))
    rows = logged(folder).to_pylist()
    assert 0 < len(rows) < 40
    assert all(row["__status"]["spend.mean"] == Status.UNAVAILABLE for row in rows)
    assert all(row["__as_of"] == {"spend": None, "load": None} for row in rows)


def test_a_share_of_0_1_is_every_tenth_entity_and_the_same_ones_everywhere(world: str, folder: Path) -> None:
    """Case 54: a share of 0.1 that is taken for a percentage logs a tenth of one per cent."""
    users = list(range(2000))
    expected = [user for user in users if key_hash()(b"%d,T" % user) < threshold(0.1)]
    for single in (False, True):
        place = folder / str(single)
        with log_of(place, sample=0.1) as log, client_of(world, log) as client:
            for asked in users if single else [users]:
                ask(client, asked)
        assert sorted(logged(place)["user_id"].to_pylist()) == expected
        assert log.counts == LogCounts(written=len(expected), outside_sample=2000 - len(expected))
    assert 160 < len(expected) < 240


@pytest.mark.parametrize("share", [0.0, -0.1, 10.0, 100.0])
def test_a_share_that_is_none_is_refused(folder: Path, share: float) -> None:
    with pytest.raises(InputError, match="is not a share"):
        log_of(folder, sample=share)


def test_files_appear_when_they_are_old_enough_and_are_whole(world: str, folder: Path) -> None:
    now = [0]
    with log_of(folder, rotate=60 * SECOND, clock=lambda: now[0]) as log, client_of(world, log) as client:
        ask(client, 1)
        time.sleep(0.5)
        assert not folder.exists()
        now[0] = 60 * SECOND
        assert until(lambda: folder.exists() and logged_rows(folder) == 1)
        ask(client, 2)
    assert logged_rows(folder) == 2
    assert len(list((folder / "service").iterdir())) == 2


def test_files_are_closed_when_they_are_large_enough(world: str, folder: Path) -> None:
    with log_of(folder, max_file_bytes=1, rotate=DAY) as log, client_of(world, log) as client:
        ask(client, 1)
        assert until(lambda: folder.exists() and logged_rows(folder) == 1)


def test_several_logs_may_write_into_one_folder(world: str, folder: Path) -> None:
    logs = [log_of(folder) for _ in range(3)]
    for log in logs:
        with log, client_of(world, log) as client:
            ask(client, 1)
    assert logged_rows(folder) == 3


def test_a_forked_process_logs_what_it_answers_and_nothing_twice(world: str, folder: Path) -> None:
    log = log_of(folder)
    with client_of(world, log) as client:
        ask(client, 1, request_id="parent")
        child = os.fork()
        if child == 0:
            status = 1
            try:
                with client_of(world, log) as own:
                    ask(own, 2, request_id="child")
                log.close()
                status = 0 if log.counts.written == 1 else 2
            finally:
                os._exit(status)
        _, status = os.waitpid(child, 0)
        log.close()
    assert os.waitstatus_to_exitcode(status) == 0
    assert logged(folder)["request_id"].to_pylist() == ["child", "parent"]


def test_a_log_is_finished_when_the_program_ends_without_closing_it(world: str, folder: Path, tmp_path: Path) -> None:
    import subprocess
    import sys

    program = (
        "import sys; from pathlib import Path; from datetime import datetime, UTC\n"
        "from featurekit.online.client import FeatureClient; from featurekit.online.served_log import ServedLog\n"
        "log = ServedLog(Path(sys.argv[2]), project='shop', environment='test')\n"
        f"client = FeatureClient(sys.argv[1], project='shop', environment='test', clock=lambda: {NOON}, log=log)\n"
        "request = {'basket': 1, 'due': datetime(2013, 11, 15, tzinfo=UTC)}\n"
        "client.lookup('service', {'user_id': 1, 'model': 'T'}, request)\n"
    )
    subprocess.run([sys.executable, "-c", program, world, str(folder)], check=True, timeout=60)
    assert logged_rows(folder) == 1


# Whatever becomes of the disk, lookups go on and what is lost is counted.


def test_a_stalled_disk_drops_rows_and_delays_no_lookup(
    world: str, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The file that the log opens is a FIFO that nobody reads: opening it waits for ever, as a hung mount does."""
    folder.joinpath("service").mkdir(parents=True)
    fifo = folder / "service" / ".19700101T000000Z-ffffffff-0000000000000000.parquet"
    os.mkfifo(fifo)
    log = log_of(folder, max_file_bytes=1, queue=10, clock=lambda: 0, random=bytes)
    with client_of(world, log) as client, caplog.at_level(logging.WARNING, "featurekit.served_log"):
        ask(client, 1, request_id="stuck")
        assert until(lambda: log.waiting == 0)  # the thread has taken it, and comes no further than the FIFO
        started = time.perf_counter()
        for n in range(50):
            ask(client, n)
        assert time.perf_counter() - started < 5
        assert log.counts.dropped == 40
        assert [record.getMessage() for record in caplog.records] == [
            f"rows of the served-feature log are dropped: {folder} has 10 rows waiting: its disk is slow, or stalled"
        ]
        log.close(timeout_s=0.1)
    assert log.counts == LogCounts(dropped=50)
    thread = log_thread(log)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)  # lets it go
    thread.join(10)
    os.close(reader)


def test_a_disk_that_comes_back_gets_what_waited_and_lookups_never_did(world: str, folder: Path) -> None:
    folder.joinpath("service").mkdir(parents=True)
    fifo = folder / "service" / ".19700101T000000Z-ffffffff-0000000000000000.parquet"
    os.mkfifo(fifo)
    log = log_of(folder, max_file_bytes=1, queue=10, clock=lambda: 0, random=bytes)
    with client_of(world, log) as client:
        ask(client, 1, request_id="stuck")
        assert until(lambda: log.waiting == 0)
        assert not log.flush(timeout_s=0.05)
        took = []
        for n in range(50):
            started = time.perf_counter()
            ask(client, n)
            took.append(time.perf_counter() - started)
        assert statistics.median(took) < 0.02
        reader = os.open(
            fifo, os.O_RDONLY | os.O_NONBLOCK
        )  # opening the file ends; a FIFO can't be synced, so it is lost
        assert log.flush()
        os.close(reader)
        log.close()
    assert log.counts == LogCounts(written=10, dropped=40, failed=1)
    assert logged_rows(folder) == 10


def test_a_full_disk_loses_rows_which_are_counted(world: str, folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder.joinpath("service").mkdir(parents=True)
    (folder / "service" / ".19700101T000000Z-ffffffff-0000000000000000.parquet").symlink_to("/dev/full")
    with (
        caplog.at_level(logging.WARNING, "featurekit.served_log"),
        log_of(folder, clock=lambda: 0, random=bytes) as log,
        client_of(world, log) as client,
    ):
        ask(client, [1, 2])
        assert log.flush()
        assert log.counts == LogCounts(failed=2)
        ask(client, 3)  # by then there is room again: the link is gone
    assert log.counts == LogCounts(failed=2, written=1)
    assert "No space left on device" in caplog.text
    assert logged_rows(folder) == 1


def test_a_folder_that_can_not_be_written_loses_rows_which_are_counted(world: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with log_of(tmp_path / "file" / "served") as log, client_of(world, log) as client:
        assert ask(client, 1).to_dict()["spend.orders"] == 1
    assert log.counts == LogCounts(failed=1)


def test_an_answer_of_more_rows_than_the_queue_holds_is_logged_where_nothing_waits(world: str, folder: Path) -> None:
    with log_of(folder, queue=10) as log, client_of(world, log) as client:
        ask(client, list(range(100)))
    assert log.counts == LogCounts(written=100)


def test_what_comes_after_the_log_was_closed_is_dropped(world: str, folder: Path) -> None:
    log = log_of(folder)
    with client_of(world, log) as client:
        log.close()
        ask(client, 1)
    assert log.counts == LogCounts(dropped=1)
    assert not folder.exists()


def test_many_threads_lose_nothing(world: str, folder: Path) -> None:
    with log_of(folder) as log, client_of(world, log) as client:
        threads = [
            threading.Thread(target=lambda: [ask(client, n) for n in range(50)], name=f"asks {i}") for i in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert log.counts == LogCounts(written=200)
    assert len(set(logged(folder)["request_id"].to_pylist())) == 200


def test_lookups_of_a_check_are_not_logged(world: str, folder: Path) -> None:
    with log_of(folder) as log, client_of(world, log) as client:
        ask(client.unlogged(), 1)
    assert log.counts == LogCounts()


def test_request_ids_sort_by_time_and_differ() -> None:
    log = log_of(Path("served"))
    ids = [request_name(NOON + n * SECOND, log.new_number()) for n in range(100)]
    assert sorted(ids) == ids
    assert (
        len({request_name(NOON, each.new_number()) for each in (log, log_of(Path("served"))) for _ in range(1000)})
        == 2000
    )
    assert all(uuid.UUID(one).version == 7 and uuid.UUID(one).variant == uuid.RFC_4122 for one in ids)


def test_the_settings_name_the_folder_and_the_share(tmp_path: Path) -> None:
    assert served_log(Settings(root=tmp_path)) is None
    log = served_log(Settings(root=tmp_path, served_log=tmp_path / "served", served_log_sample=0.25))
    assert log is not None
    assert log.folder == tmp_path / "served"


def until(holds: Callable[[], bool], limit_s: float = 10) -> bool:
    end = time.monotonic() + limit_s
    while not (found := holds()) and time.monotonic() < end:
        time.sleep(0.02)
    return found


def logged_rows(folder: Path) -> int:
    # As Spark does, pass over what is still being written: `*` of a glob matches a leading dot, too.
    files = [file for file in (folder / "service").glob("*.parquet") if not file.name.startswith(".")]
    return sum(pq.read_metadata(file).num_rows for file in files)


def log_thread(log: ServedLog) -> threading.Thread:
    return next(each for each in threading.enumerate() if each.name == "featurekit-served-log")


@pytest.fixture(autouse=True)
def no_thread_stays() -> Iterator[None]:
    yield
    assert until(lambda: all(each.name != "featurekit-served-log" for each in threading.enumerate()))
