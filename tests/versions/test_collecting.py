"""What `gc` drops and what it leaves: by need, grace and lease, wherever it dies, beside runs and readers."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path

import pytest

from featurekit.apply import switch_ready
from featurekit.clock import DAY, HOUR, MINUTE
from featurekit.collecting import Collected, Collector
from featurekit.errors import NotRegisteredError
from featurekit.leasing import leased
from featurekit.online.client import FeatureClient
from featurekit.online.redis import RedisStore
from featurekit.online.refresh import begin_refresh
from featurekit.pinning import pin_version, unpin_version
from featurekit.registration_rollback import rollback_registration
from featurekit.registry.models import drafted
from featurekit.registry.registry import Registry
from featurekit.registry.writer import Writer
from featurekit.status import Status
from tests.refreshed import PLACE, Refreshed
from tests.registry.definitions import compiled
from tests.registry.states import TODAY
from tests.registry.test_registry import RECORD
from tests.versions.rolling import LATER, Killed, dies, roll


def gc(shop: Refreshed, *, dry_run: bool = False, grace: int = HOUR) -> Collected:
    collector = Collector(
        registry=shop.registry, store=shop.store, namespace=PLACE, grace=grace, step=2, pause_s=0, sleep=lambda _: None
    )
    return collector.collect(shop.now, dry_run=dry_run)


def keys(shop: Refreshed) -> set[bytes]:
    return set(shop.store.find(PLACE.prefix))


def statuses(shop: Refreshed, service: str) -> set[int]:
    client = FeatureClient(shop.url, project=PLACE.project, environment=PLACE.environment, clock=lambda: shop.now)
    with client:
        return set(client.lookup(service, {"user_id": 1}).statuses.ravel().tolist())


def test_where_all_is_needed_nothing_goes(shop: Refreshed) -> None:
    before = keys(shop)
    shop.now += DAY

    done = gc(shop)

    assert (done.services, done.views, done.spaces, done.plans, done.rows) == ([], [], [], [], 0)
    assert keys(shop) == before


def test_a_version_that_nothing_needs_goes_with_all_that_it_had(moved: Refreshed) -> None:
    assert statuses(moved, "spend@1") == {Status.PRESENT}
    told = gc(moved, dry_run=True)
    before = keys(moved)

    done = gc(moved)

    assert replace(told, is_dry=False) == done
    assert (done.services, done.views, done.rows) == (["score@1", "spend@1"], ["spend@1"], 9)
    assert len(done.spaces) == 3
    assert len(done.plans) == 2
    version = done.spaces[0].partition(":")[0].encode()
    gone = before - keys(moved)
    # Three refreshes with a marker and three rows each, the head, two plans, two pointers.
    assert len(gone) == 3 * 4 + 1 + 2 + 2
    assert not [key for key in keys(moved) if version in key]
    assert statuses(moved, "spend") == {Status.PRESENT}
    with pytest.raises(NotRegisteredError, match="'spend@1' is not registered") as caught:
        statuses(moved, "spend@1")
    assert "was dropped" in str(caught.value.why)
    assert gc(moved) == Collected()


def test_a_dry_run_changes_nothing(moved: Refreshed) -> None:
    before, uses = keys(moved), moved.registry.uses()
    assert gc(moved, dry_run=True).views == ["spend@1"]
    assert (keys(moved), moved.registry.uses()) == (before, uses)


def test_within_the_grace_it_stays_and_is_told(moved: Refreshed) -> None:
    done = gc(moved, grace=3 * HOUR)
    assert (done.views, done.spaces) == ([], [])
    assert {(one.name, one.since) for one in done.waiting} == {("score@1", LATER), ("spend@1", LATER)}


def test_what_is_pinned_stays_until_the_grace_after_its_release(moved: Refreshed) -> None:
    pin_version(moved.registry, "score@1", "mobile", LATER)
    assert gc(moved).views == []
    client = FeatureClient(moved.url, project=PLACE.project, environment=PLACE.environment, clock=lambda: moved.now)
    with client:
        found = client.lookup("score@1", {"user_id": 1}, {"price": 1.0})
    assert found.status("spend.orders_7d") is Status.PRESENT
    unpin_version(moved.registry, "score@1", "mobile", moved.now)
    assert gc(moved).views == []
    moved.now += HOUR
    assert gc(moved).views == ["spend@1"]


def test_what_a_model_was_trained_on_stays_until_the_grace_after_it_is_deleted(
    moved: Refreshed, tmp_path: Path
) -> None:
    (tmp_path / "model.onnx").write_bytes(b"one")
    with drafted(tmp_path / "model.onnx", moved.registry.models_folder) as draft:
        record = moved.registry.add_model(replace(RECORD, sha256=draft.sha256, file=draft.file), draft)
    assert gc(moved).views == []
    moved.registry.delete_model(record, moved.now)
    assert gc(moved).views == []
    moved.now += HOUR
    assert gc(moved).views == ["spend@1"]


def test_what_is_rolled_back_to_is_needed_again(moved: Refreshed) -> None:
    rollback_registration(2, registry=moved.registry, store=moved.store, namespace=PLACE, now=moved.now)
    moved.now += DAY
    assert gc(moved).views == []  # the first serves, the second is what is defined


def test_a_version_that_a_run_computes_stays(moved: Refreshed) -> None:
    (first, _) = moved.registry.view_versions()
    with leased(moved.registry, "spend", first.fingerprint.data, (TODAY + DAY,), holder="another"):
        assert gc(moved).views == []
    assert gc(moved).views == ["spend@1"]


def test_a_definition_that_comes_back_is_computed_again_where_its_rows_went(moved: Refreshed, tmp_path: Path) -> None:
    gc(moved)
    moved.compiled = compiled(tmp_path)

    moved.register()

    assert statuses(moved, "spend") == {Status.PRESENT}  # those of the second version, until the third has values
    (registration,) = moved.registry.deployed().pending
    assert registration.id == 3
    outcome = moved.refresh(TODAY)
    assert (outcome.is_new, outcome.moved) == (True, ("score", "spend"))
    moved.now += DAY
    assert gc(moved).views == ["spend@2"]
    assert statuses(moved, "spend") == {Status.PRESENT}


def test_what_a_dead_run_left_goes_after_the_grace(shop: Refreshed) -> None:
    record = shop.registry.start_refresh(
        view="spend", fingerprint=shop.view.fingerprint.data, as_of=TODAY + DAY, started_at=shop.now
    )
    space = shop.space(TODAY + DAY, record.restatement)
    begin_refresh(shop.store, space, expires_in_s=600)
    shop.store.write({space.row(b"1"): b"a row", space.row(b"2"): b"a row"})
    shop.now += HOUR - MINUTE
    assert gc(shop).spaces == []
    shop.now += MINUTE
    with leased(shop.registry, "spend", shop.view.fingerprint.data, (TODAY + DAY,), holder="it is not dead"):
        assert gc(shop).spaces == []
    done = gc(shop)
    assert (done.spaces, done.rows) == ([str(space)], 2)


def test_rows_without_a_marker_go_and_those_of_a_run_that_has_just_begun_stay(
    shop: Refreshed, monkeypatch: pytest.MonkeyPatch
) -> None:
    left, begun = shop.space(TODAY - 5 * DAY), shop.space(TODAY + DAY)
    shop.store.write({left.row(b"%d" % i): b"a row" for i in range(5)} | {begun.row(b"1"): b"a row"})

    walk = Collector._walk

    def walked(collector: Collector) -> object:
        found = walk(collector)
        shop.store.write({begun.marker: b"filling"})  # after the walk: it was not seen
        return found

    monkeypatch.setattr(Collector, "_walk", walked)

    assert gc(shop).rows == 5
    assert begun.row(b"1") in keys(shop)
    assert left.row(b"1") not in keys(shop)


def test_a_refresh_that_was_rolled_back_stays_for_the_grace(shop: Refreshed) -> None:
    shop.now += HOUR
    roll(shop)
    assert gc(shop).spaces == []
    shop.now += HOUR
    assert gc(shop).spaces == [str(shop.space(TODAY))]
    assert statuses(shop, "spend") == {Status.PRESENT}


def test_a_registry_that_knows_nothing_drops_nothing(moved: Refreshed, tmp_path: Path) -> None:
    before = keys(moved)
    moved.registry = Registry(
        f"sqlite:///{tmp_path / 'other.db'}",
        project=PLACE.project,
        environment=PLACE.environment,
        models=tmp_path / "models",
    )
    with pytest.raises(NotRegisteredError, match="nothing is registered here"):
        gc(moved)
    assert keys(moved) == before


def test_what_the_registry_does_not_know_stays_and_is_told(shop: Refreshed) -> None:
    space = replace(shop.space(TODAY), fingerprint="f" * 64)
    foreign = {space.marker: b"filling", space.row(b"1"): b"a row", PLACE.prefix + b"plan:other@0011.22": b"{}"}
    shop.store.write(foreign)
    done = gc(shop)
    assert done.unknown == [str(space), "fk:shop:dev:plan:other@0011.22"]
    assert foreign.keys() <= keys(shop)


KILLS = {
    "recorded": (Writer, "collect", range(1, 4)),
    "taken away": (RedisStore, "change", range(1, 7)),
    "deleted": (RedisStore, "remove", range(1, 5)),
}


@pytest.mark.parametrize("what", KILLS)
def test_where_it_dies_the_next_completes_it_and_nobody_notices(
    moved: Refreshed, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    owner, method, calls = KILLS[what]
    died = 0
    for call in calls:
        with monkeypatch.context() as patch:
            dies(patch, owner, method, at=call)
            with contextlib.suppress(Killed):  # the calls that are left are fewer each time
                gc(moved)
                died -= 1
            died += 1
        switch_ready(moved.registry, moved.store, PLACE, moved.now)  # what everybody else does meanwhile
        assert statuses(moved, "spend") == {Status.PRESENT}
        assert statuses(moved, "spend@2") == {Status.PRESENT}
    assert died > 1
    gc(moved)
    version = moved.registry.view_versions()[0]
    assert version.collected_at is not None
    text = f"spend@{version.fingerprint.data[:8]}".encode()
    assert not [key for key in keys(moved) if text in key]
    assert gc(moved) == Collected()
