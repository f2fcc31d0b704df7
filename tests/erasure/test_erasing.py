"""A forgotten entity is nowhere, and comes back nowhere; what others have stays as it was."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from featurekit.clock import DAY, HOUR
from featurekit.erasing import refuse
from featurekit.erasure_proof import look
from featurekit.errors import RefreshRunningError
from featurekit.keeping import compact
from featurekit.leasing import leased
from featurekit.offline.history_sink import Draft
from featurekit.online import embedded
from featurekit.online.forgotten import FORGOTTEN
from featurekit.online.redis import RedisStore
from featurekit.online.served_log import ServedLog
from featurekit.online.served_log_erasure import await_writers, log_paths, tombstones_file
from tests.erasure.conftest import MakeShop
from tests.erasure.world import Shop
from tests.registry.states import TODAY
from tests.test_refreshing import broken


def kept(shop: Shop) -> list[list[int]]:
    """Return the users of each kept refresh, as its record lists its files; none of them is broken."""
    assert shop.history is not None
    fingerprint = shop.view.fingerprint.data
    assert not shop.history.broken("spend", fingerprint)
    entries = shop.history.entries("spend", fingerprint)
    files = [[pq.read_table(entry.path / file.name) for file in entry.files] for entry in entries]
    assert [entry.rows for entry in entries] == [sum(table.num_rows for table in each) for each in files]
    return [sorted(user for table in each for user in table["user_id"].to_pylist()) for each in files]


def assert_gone(shop: Shop, *users: tuple[int]) -> None:
    looked = look(shop.entities(*users), shop.places())
    assert looked.is_clean, looked
    assert looked.online_keys


def test_what_was_kept_of_a_user_is_gone_from_every_place_and_the_rest_stays(shop: Shop) -> None:
    shop.refresh(TODAY - DAY)
    shop.refresh(TODAY)
    shop.serve([{"user_id": 1}, {"user_id": 2}])
    before = look(shop.entities((2,)), shop.places())
    assert [(each.place, each.rows) for each in before.findings] == [
        ("online", 2),
        ("history", 1),
        ("history", 1),
        ("served log", 1),
    ]

    assert shop.forget((2,)) == {"online": 2, "history": 2, "served log": 1}

    assert_gone(shop, (2,))
    assert shop.serve([{"user_id": 1}, {"user_id": 2}, {"user_id": 3}]) == [1.0, None, 1.0]
    assert kept(shop) == [[1, 3], [1, 3]]
    logged = [pq.read_table(path, columns=["user_id"])["user_id"].to_pylist() for path in log_paths(shop.log_folder)]
    assert sorted(logged) == [[1], [1, 3]]  # before, and since


def test_a_forgotten_user_comes_back_by_no_refresh_until_it_is_remembered(shop: Shop) -> None:
    shop.refresh(TODAY - DAY)
    shop.forget((2,))
    shop.refresh(TODAY)
    assert shop.serve([{"user_id": 1}, {"user_id": 2}]) == [1.0, None]
    assert_gone(shop, (2,))
    assert f'"{FORGOTTEN}": 1' in shop.registry.refreshes("spend", limit=1)[0].counters

    assert shop.registry.remember(("user_id",), shop.entities((2,)).texts, at=shop.now) == 1
    shop.now += DAY
    shop.refresh(TODAY + DAY)
    assert shop.serve([{"user_id": 1}, {"user_id": 2}]) == [1.0, 1.0]
    assert kept(shop) == [[1, 3], [1, 3], [1, 2, 3]]
    assert shop.history is not None
    assert [one.remembered for one in shop.history.entries("spend", shop.view.fingerprint.data)] == [0, 0, 1]


def test_a_run_that_began_before_ends_without_publishing_and_is_waited_for(shop: Shop) -> None:
    shop.refresh(TODAY - DAY)
    began, forgotten = threading.Event(), threading.Event()
    errors: list[BaseException] = []

    def run() -> None:
        try:
            shop.refresh(TODAY)
        except RefreshRunningError as error:
            errors.append(error)

    def hold() -> None:
        began.set()
        assert forgotten.wait(10)

    shop.computed = hold
    runner = threading.Thread(target=run)
    runner.start()
    assert began.wait(10)
    refuse(shop.entities((2,)), shop.places(), at=shop.now, random=bytes)
    with pytest.raises(RefreshRunningError, match="since before"):
        shop.forget((2,), wait_s=0.3)
    forgotten.set()
    shop.forget((2,))
    runner.join()

    assert "forgotten or remembered" in str(errors[0])
    assert kept(shop) == [[1, 3]]
    assert_gone(shop, (2,))
    shop.computed = lambda: None
    shop.refresh(TODAY)
    assert kept(shop) == [[1, 3], [1, 3]]


def test_a_draft_of_a_run_that_died_when_its_refresh_served_is_finished_without_the_user(shop: Shop) -> None:
    with broken(Draft, "finish", error=SystemExit()), pytest.raises(SystemExit):
        shop.refresh(TODAY)
    assert shop.forget((2,)) == {"online": 1, "history": 1}
    assert_gone(shop, (2,))
    shop.refresh(TODAY)
    assert kept(shop) == [[1, 3]]


def test_files_that_wait_for_their_deletion_and_files_that_nobody_lists_are_erased(shop: Shop) -> None:
    shop.refresh(TODAY)
    assert shop.history is not None
    (entry,) = shop.history.entries("spend", shop.view.fingerprint.data)
    (file,) = entry.files
    stray = entry.path / "part-stray.parquet"
    stray.write_bytes((entry.path / file.name).read_bytes())
    table = pq.read_table(entry.path / file.name)
    second = Draft(entry=entry).sink(lambda batches: batches)
    part = list(second(iter(table.to_batches())))  # a second file in the draft's folder
    assert part
    shop.now += HOUR
    torn = entry.path.with_name("_dropped.as_of=20131101T0000Z-0")
    torn.mkdir()
    (torn / "part-cut.parquet").write_bytes(stray.read_bytes()[:100])

    shop.forget((2,))

    assert not stray.exists()
    assert not torn.exists()
    assert kept(shop) == [[1, 3]]
    assert_gone(shop, (2,))
    assert not compact(shop.history, shop.registry, now=shop.now, holder="upkeep")


def test_only_files_that_hold_the_user_are_written_anew(shop: Shop) -> None:
    shop.users = ((1,), (2,))
    shop.refresh(TODAY - DAY)
    shop.users = ((1,), (3,))
    shop.refresh(TODAY)
    assert shop.history is not None

    def names() -> list[str]:
        assert shop.history is not None
        return [one.files[0].name for one in shop.history.entries("spend", shop.view.fingerprint.data)]

    before = names()
    shop.forget((2,))
    after = names()
    assert before[0] != after[0]
    assert before[1] == after[1]
    shop.forget((2,))
    assert names() == after


def test_a_refresh_whose_only_user_is_forgotten_stays_one_of_no_rows(shop: Shop) -> None:
    shop.users = ((2,),)
    shop.refresh(TODAY)
    shop.forget((2,))
    assert kept(shop) == [[]]
    assert_gone(shop, (2,))


def test_what_a_log_holds_in_memory_is_not_written(shop: Shop) -> None:
    shop.refresh(TODAY)
    with ServedLog(shop.log_folder, project="shop", environment="dev", clock=lambda: shop.now) as log:
        shop.serve([{"user_id": 1}, {"user_id": 2}], log=log)
        shop.forget((2,))
    assert log.counts.written == 1
    assert_gone(shop, (2,))


@pytest.mark.parametrize("damaged", ["{", "[]", "{}", '{"secret": 1, "hashes": []}'])
def test_a_log_that_can_not_read_what_is_forgotten_writes_nothing(shop: Shop, damaged: str) -> None:
    shop.refresh(TODAY)
    shop.log_folder.mkdir()
    tombstones_file(shop.log_folder, "shop", "dev").write_text(damaged)
    log = ServedLog(shop.log_folder, project="shop", environment="dev", clock=lambda: shop.now)
    shop.serve([{"user_id": 1}], log=log)
    log.close()
    assert (log.counts.written, log.counts.failed) == (0, 1)
    assert not list(log_paths(shop.log_folder))


def test_what_a_dead_writer_left_unfinished_is_deleted(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.refresh(TODAY)
    monkeypatch.setattr("featurekit.erasing.await_writers", partial(await_writers, limit_s=0.2))
    shop.serve([{"user_id": 1}])
    (path,) = log_paths(shop.log_folder)
    left = path.with_name(f".{path.name}x.parquet")
    left.write_bytes(path.read_bytes()[:-4])
    shop.forget((2,))
    assert not left.exists()
    assert path.exists()


def test_a_failure_on_record_that_names_the_user_no_longer_does(make_shop: MakeShop) -> None:
    shop = make_shop(("bigint", "string"))
    shop.users = (("ada.lovelace",), ("bob",))

    def fail() -> None:
        raise RuntimeError("no room for user ada.lovelace")

    shop.compute = fail
    with pytest.raises(RuntimeError):
        shop.refresh(TODAY)
    asked = shop.entities(("ada.lovelace",))
    assert any("registry.db" in path for path in look(asked, shop.places()).mentions)
    assert shop.forget(("ada.lovelace",)) == {"registry": 1}
    assert not look(asked, shop.places()).mentions
    assert "taken out" in str(shop.registry.refreshes("spend")[0].failure)


def test_the_embedded_servers_file_names_the_user_no_more(tmp_path: Path, make_shop: MakeShop) -> None:
    state = tmp_path / "own"
    server = embedded.start(state)
    try:
        shop = make_shop()
        shop.url = server.url
        shop.store = RedisStore(server.url)
        shop.register()
        shop.refresh(TODAY)
        log = state / "valkey" / "appendonlydir"
        assert any(b"{2}:spend" in path.read_bytes() for path in log.iterdir())
        shop.forget((2,))
        assert any(b"{2}:spend" in path.read_bytes() for path in log.iterdir())
        embedded.rewrite_log(state)
        assert not any(b"{2}:spend" in path.read_bytes() for path in log.iterdir())
        assert any(b"{1}:spend" in path.read_bytes() for path in log.iterdir())
        shop.store.close()
    finally:
        embedded.stop(state)
    assert embedded.rewrite_log(state) is None


def test_clients_that_keep_rows_are_told_each_time(shop: Shop) -> None:
    shop.refresh(TODAY)
    shop.forget((2,))
    (told,) = shop.store.read([b"fk:shop:dev:erased"])
    assert told


def test_who_forgets_waits_for_nobody_elses_views(shop: Shop) -> None:
    shop.refresh(TODAY)
    with leased(shop.registry, "other", "f" * 64, (TODAY,), holder="another run"):
        shop.forget((2,), wait_s=0)
    assert_gone(shop, (2,))


def test_tiles_that_hold_the_user_are_deleted(shop: Shop) -> None:
    shop.refresh(TODAY)
    assert shop.history is not None
    (entry,) = shop.history.entries("spend", shop.view.fingerprint.data)
    tiles = entry.path.parent / "_tiles" / "20131115T0000Z-0011"
    tiles.mkdir(parents=True)
    pq.write_table(pa.table({"$key0": pa.array([1, 3], pa.int64()), "n": [1, 1]}), tiles / "part-0.parquet")
    shop.forget((2,))
    assert tiles.exists()
    shop.forget((3,))
    assert not tiles.exists()
    assert_gone(shop, (3,))
