"""Registering for real: a registry, an online store, and readers that move when they should and not before."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from featurekit.apply import apply, register, switch_ready
from featurekit.clock import MINUTE
from featurekit.errors import OnlineStoreError, RegistryError
from featurekit.on_unavailable import Instead, OnUnavailable
from featurekit.online import embedded
from featurekit.online.client import FeatureClient
from featurekit.online.keys import KeySpace, Namespace, pointer_text
from featurekit.online.publish import published_services
from featurekit.online.redis import RedisStore
from featurekit.online.refresh import begin_refresh, complete_refresh, withdraw_refresh
from featurekit.plan import decode_plan
from featurekit.registry.desired import desired_state
from featurekit.registry.explain import explain
from featurekit.registry.models import drafted
from featurekit.registry.plan import plan_registration
from featurekit.registry.registry import Registry
from featurekit.registry.state import Desired, RegistrationStatus
from tests.registry.definitions import compiled
from tests.registry.states import NOW, TODAY
from tests.registry.test_registry import RECORD

PLACE = Namespace("shop", "dev")
WINDOW = ("sum(amount), window: 7d", "sum(amount), window: 8d")
OTHER_VIEW = (
    "on_demand_feature_views:",
    """\
  load:
    entity: user
    source: orders
    refresh: 1d
    features:
      items_1d: {sql: max(items), window: 1d}

on_demand_feature_views:""",
)
OTHER_SERVICE = (
    "  score: {features: [spend, basket]}",
    "  score: {features: [spend, basket]}\n  rank: {features: [load]}",
)

REGISTER = """
import sys
from pathlib import Path
from featurekit.apply import register
from featurekit.online.redis import RedisStore
from featurekit.registry.desired import desired_state
from tests.registry.definitions import compiled
from tests.test_apply import PLACE, registry_in
from tests.registry.states import NOW
folder, url, window = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
work = folder / window
work.mkdir()
desired = desired_state(compiled(work, ("sum(amount), window: 7d", f"sum(amount), window: {window}")))
register(desired, registry_in(folder), RedisStore(url), PLACE, NOW)
"""


def registry_in(folder: Path) -> Registry:
    url = f"sqlite:///{folder / 'registry.db'}"
    return Registry(url, project=PLACE.project, environment=PLACE.environment, models=folder / "models")


@pytest.fixture(scope="module")
def server_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("state")
    yield embedded.start(folder).url
    embedded.stop(folder)


@pytest.fixture
def store(server_url: str) -> Iterator[RedisStore]:
    """The embedded server, emptied."""
    store = RedisStore(server_url)
    store.delete(b"*")
    yield store
    store.close()


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return registry_in(tmp_path)


def shop(folder: Path, *changes: tuple[str, str]) -> Desired:
    return desired_state(compiled(folder, *changes))


def materialize(registry: Registry, store: RedisStore, *views: str) -> None:
    """List and record a complete refresh, of no rows, of the views as they are registered now."""
    for name in views:
        view = registry.deployed().views[name]
        fingerprint = view.fingerprint.data
        refresh = registry.start_refresh(view=name, fingerprint=fingerprint, as_of=TODAY, started_at=NOW)
        space = space_of(registry, name, restatement=refresh.restatement)
        begun = begin_refresh(store, space, expires_in_s=60)
        complete_refresh(store, begun, grid=view.grid, completed_at=NOW, rows=0)
        registry.complete_refresh(refresh, completed_at=NOW, rows=0, bytes_=0)


def space_of(registry: Registry, view: str, *, restatement: int = 0) -> KeySpace:
    """Return today's key space of the view as it is registered now."""
    fingerprint = registry.deployed().views[view].fingerprint.data
    return KeySpace(namespace=PLACE, view=view, fingerprint=fingerprint, as_of=TODAY, restatement=restatement)


def pointers(store: RedisStore, *services: str) -> list[str | None]:
    """Return the plan fingerprints that the readers of the services get."""
    return [
        None if value is None else value.decode().partition(".")[0]
        for value in store.read([PLACE.pointer(service) for service in services])
    ]


def fingerprint(desired: Desired, service: str) -> str:
    return desired.services[service].fingerprint.data


def plan_key(desired: Desired, service: str) -> bytes:
    found = desired.services[service]
    return PLACE.plan(service, pointer_text(found.fingerprint.data, found.lookup_plan))


def test_a_first_registration_serves_all_its_services_at_once(
    registry: Registry, store: RedisStore, tmp_path: Path
) -> None:
    desired = shop(tmp_path)

    done = register(desired, registry, store, PLACE, NOW)

    assert [(move.registration.id, move.is_whole) for move in done.moved] == [(1, True)]
    assert published_services(store, PLACE) == ("score", "spend")
    assert pointers(store, "score", "spend") == [fingerprint(desired, "score"), fingerprint(desired, "spend")]
    (body,) = store.read([plan_key(desired, "score")])
    assert body == desired.services["score"].lookup_plan
    (registration,) = registry.registrations()
    assert registration.status is RegistrationStatus.SWITCHED
    assert registration.changes == ("+ spend v1 (new)", "+ service score v1 (new)")


def test_registering_the_same_again_is_no_registration(registry: Registry, store: RedisStore, tmp_path: Path) -> None:
    register(shop(tmp_path), registry, store, PLACE, NOW)
    before = registry.deployed()

    done = register(shop(tmp_path), registry, store, PLACE, NOW + 1)

    assert explain(done.plan) == ("nothing changes",)
    assert done.moved == ()
    assert registry.deployed() == before


def test_readers_stay_on_the_old_version_until_the_changed_view_is_materialized(
    registry: Registry, store: RedisStore, tmp_path: Path
) -> None:
    old, new = shop(tmp_path), shop(tmp_path, WINDOW)
    register(old, registry, store, PLACE, NOW)
    materialize(registry, store, "spend")

    assert register(new, registry, store, PLACE, NOW).moved == ()

    assert pointers(store, "score") == [fingerprint(old, "score")]
    assert switch_ready(registry, store, PLACE, NOW) == ()
    (body,) = store.read([plan_key(new, "score")])
    assert body is not None
    assert decode_plan(body).fingerprint == fingerprint(new, "score")

    materialize(registry, store, "spend")
    (move,) = switch_ready(registry, store, PLACE, NOW)

    assert sorted(version.name for version in move.services) == ["score", "spend"]
    assert pointers(store, "score", "spend") == [fingerprint(new, "score"), fingerprint(new, "spend")]
    assert [each.status for each in registry.registrations()] == [RegistrationStatus.SWITCHED] * 2


LOSSES: dict[str, Callable[[RedisStore, KeySpace], object]] = {
    "a store that restarted empty": lambda store, _: store.delete(b"*"),
    "a refresh that was withdrawn": withdraw_refresh,
    "rows that expired": lambda store, space: store.delete(space.marker),
}


@pytest.mark.parametrize("lose", LOSSES.values(), ids=LOSSES)
def test_nobody_is_moved_to_values_that_are_not_in_the_store(
    registry: Registry, store: RedisStore, tmp_path: Path, lose: Callable[[RedisStore, KeySpace], object]
) -> None:
    old, new = shop(tmp_path), shop(tmp_path, WINDOW)
    register(old, registry, store, PLACE, NOW)
    materialize(registry, store, "spend")
    register(new, registry, store, PLACE, NOW)
    materialize(registry, store, "spend")
    lose(store, space_of(registry, "spend"))

    assert switch_ready(registry, store, PLACE, NOW) == ()
    assert pointers(store, "score") == [fingerprint(old, "score")]

    materialize(registry, store, "spend")
    assert len(switch_ready(registry, store, PLACE, NOW)) == 1


def test_a_service_does_not_begin_to_read_a_view_that_the_store_has_lost(
    registry: Registry, store: RedisStore, tmp_path: Path
) -> None:
    alone = shop(tmp_path, OTHER_VIEW, OTHER_SERVICE)
    register(alone, registry, store, PLACE, NOW)
    materialize(registry, store, "spend", "load")
    store.delete(space_of(registry, "load").marker)
    both = ("rank: {features: [load]}", "rank: {features: [load]}\n  both: {features: [load, spend]}")
    reads_more = ("score: {features: [spend, basket]}", "score: {features: [spend, basket, load]}")
    register(shop(tmp_path, OTHER_VIEW, OTHER_SERVICE, both, reads_more), registry, store, PLACE, NOW)

    # A new service has no readers to lose anything.
    assert registry.deployed().serving["both"].number == 1
    assert registry.deployed().serving["score"].number == 1


def test_a_model_that_stays_behind_a_registration_is_told_when_it_is_registered(
    registry: Registry, store: RedisStore, tmp_path: Path
) -> None:
    old = shop(tmp_path)
    register(old, registry, store, PLACE, NOW)
    (tmp_path / "model.onnx").write_bytes(b"one")
    with drafted(tmp_path / "model.onnx", registry.models_folder) as draft:
        record = replace(RECORD, service_fingerprint=fingerprint(old, "score"), sha256=draft.sha256, file=draft.file)
        registry.add_model(record, draft)

    plan = register(shop(tmp_path, WINDOW), registry, store, PLACE, NOW).plan

    told = (
        "  model delay v1 stays on score@1 when its service moves to v2: that version is refreshed until the model is"
    )
    assert f"{told} deleted" in explain(plan)


def test_a_registration_moves_as_a_whole_with_its_last_view(
    registry: Registry, store: RedisStore, tmp_path: Path
) -> None:
    old = shop(tmp_path, OTHER_VIEW, OTHER_SERVICE)
    new = shop(tmp_path, OTHER_VIEW, OTHER_SERVICE, WINDOW, ("max(items), window: 1d", "max(items), window: 2d"))
    register(old, registry, store, PLACE, NOW)
    materialize(registry, store, "spend", "load")
    register(new, registry, store, PLACE, NOW)

    materialize(registry, store, "spend")
    assert switch_ready(registry, store, PLACE, NOW) == ()
    assert pointers(store, "score", "rank") == [fingerprint(old, "score"), fingerprint(old, "rank")]

    materialize(registry, store, "load")
    switch_ready(registry, store, PLACE, NOW)
    assert pointers(store, "score", "rank") == [fingerprint(new, "score"), fingerprint(new, "rank")]


def test_a_later_registration_takes_over_what_the_one_before_left_waiting(
    registry: Registry, store: RedisStore, tmp_path: Path
) -> None:
    old, last = shop(tmp_path), shop(tmp_path, ("sum(amount), window: 7d", "sum(amount), window: 9d"))
    register(old, registry, store, PLACE, NOW)
    materialize(registry, store, "spend")
    register(shop(tmp_path, WINDOW), registry, store, PLACE, NOW)
    register(last, registry, store, PLACE, NOW)
    assert [each.status for each in registry.registrations()] == [
        RegistrationStatus.SWITCHED,
        RegistrationStatus.SUPERSEDED,
        RegistrationStatus.PENDING,
    ]

    materialize(registry, store, "spend")
    switch_ready(registry, store, PLACE, NOW)

    assert pointers(store, "score") == [fingerprint(last, "score")]
    assert registry.registrations()[2].status is RegistrationStatus.SWITCHED


def test_a_change_that_is_taken_back_before_it_was_served_moves_nobody(
    registry: Registry, store: RedisStore, tmp_path: Path
) -> None:
    old = shop(tmp_path)
    register(old, registry, store, PLACE, NOW)
    materialize(registry, store, "spend")
    register(shop(tmp_path, WINDOW), registry, store, PLACE, NOW)

    register(old, registry, store, PLACE, NOW)

    assert pointers(store, "score") == [fingerprint(old, "score")]
    assert registry.deployed().pending == ()
    assert registry.deployed().serving["score"].number == 3


def test_a_change_that_is_taken_back_the_same_day_is_served_again_at_once(
    registry: Registry, store: RedisStore, tmp_path: Path
) -> None:
    old = shop(tmp_path)
    register(old, registry, store, PLACE, NOW)
    materialize(registry, store, "spend")
    register(shop(tmp_path, WINDOW), registry, store, PLACE, NOW)
    materialize(registry, store, "spend")
    assert len(switch_ready(registry, store, PLACE)) == 1

    (move,) = register(old, registry, store, PLACE, NOW).moved

    assert {version.number for version in move.services} == {3}
    assert pointers(store, "score") == [fingerprint(old, "score")]


def test_a_service_that_is_removed_is_withdrawn_from_its_readers(
    registry: Registry, store: RedisStore, tmp_path: Path
) -> None:
    register(shop(tmp_path, OTHER_VIEW, OTHER_SERVICE), registry, store, PLACE, NOW)

    register(shop(tmp_path, OTHER_VIEW), registry, store, PLACE, NOW)

    assert published_services(store, PLACE) == ("load", "score", "spend")
    assert "rank" not in registry.deployed().services


def test_metadata_alone_touches_no_reader_and_no_refresh(registry: Registry, store: RedisStore, tmp_path: Path) -> None:
    register(shop(tmp_path), registry, store, PLACE, NOW)
    before = pointers(store, "score", "spend")
    watermarks = registry.watermarks()

    register(shop(tmp_path, ("owner: ops", "owner: ml")), registry, store, PLACE, NOW)

    state = registry.deployed()
    assert state.views["spend"].definition.written["owner"] == '"ml"'
    assert state.views["spend"].number == 1
    assert pointers(store, "score", "spend") == before
    assert registry.watermarks() == watermarks
    assert state.pending == ()


def test_a_plan_is_carried_out_as_it_was_shown(registry: Registry, store: RedisStore, tmp_path: Path) -> None:
    plan = plan_registration(shop(tmp_path), registry.deployed(), registry.watermarks(NOW), NOW)

    assert apply(plan, registry, store, PLACE, NOW).plan == plan

    assert registry.deployed().views.keys() == {"spend"}


def test_a_plan_is_refused_when_somebody_has_registered_since(
    registry: Registry, store: RedisStore, tmp_path: Path
) -> None:
    plan = plan_registration(shop(tmp_path), registry.deployed(), registry.watermarks(NOW), NOW)
    register(shop(tmp_path, WINDOW), registry, store, PLACE, NOW)
    before = registry.deployed()

    with pytest.raises(RegistryError, match="the registry has changed since this was planned"):
        apply(plan, registry, store, PLACE, NOW)

    assert registry.deployed() == before


def test_a_store_that_is_away_leaves_the_registry_as_it_was(registry: Registry, tmp_path: Path) -> None:
    nowhere = RedisStore("redis://127.0.0.1:1/0", timeout_ms=100)

    with pytest.raises(OnlineStoreError):
        register(shop(tmp_path), registry, nowhere, PLACE, NOW)

    assert registry.deployed().registration == 0
    assert registry.registrations() == ()


class CutShort(RedisStore):
    """A store whose connection goes away before the first pointer moves."""

    def write(self, values: object, **options: object) -> None:
        keys = [key for key in values if isinstance(key, bytes)] if isinstance(values, dict) else []
        if any(key.startswith(PLACE.pointer("")) for key in keys):
            raise OnlineStoreError("cut short")
        super().write(values, **options)  # type: ignore[arg-type]


def test_a_registration_that_was_cut_short_is_finished_by_the_next_call(
    registry: Registry, store: RedisStore, server_url: str, tmp_path: Path
) -> None:
    desired = shop(tmp_path)
    with pytest.raises(OnlineStoreError, match="cut short"):
        register(desired, registry, CutShort(server_url), PLACE, NOW)
    assert registry.deployed().views.keys() == {"spend"}
    assert pointers(store, "score") == [None]

    assert register(desired, registry, store, PLACE, NOW).plan.is_empty

    assert pointers(store, "score", "spend") == [fingerprint(desired, "score"), fingerprint(desired, "spend")]
    assert registry.deployed().pending == ()


def test_a_store_that_restarted_empty_gets_its_plans_and_pointers_back(
    registry: Registry, store: RedisStore, tmp_path: Path
) -> None:
    old = shop(tmp_path)
    register(old, registry, store, PLACE, NOW)
    materialize(registry, store, "spend")
    register(shop(tmp_path, WINDOW), registry, store, PLACE, NOW)
    store.delete(b"*")

    assert switch_ready(registry, store, PLACE, NOW) == ()

    assert pointers(store, "score") == [fingerprint(old, "score")]
    (body,) = store.read([plan_key(old, "score")])
    assert body == old.services["score"].lookup_plan


def test_a_plan_that_changes_under_the_same_fingerprint_is_followed_by_its_readers(
    registry: Registry, store: RedisStore, tmp_path: Path
) -> None:
    old = shop(tmp_path)
    register(old, registry, store, PLACE, NOW)
    score = old.services["score"]
    again = replace(score, lookup_plan=score.lookup_plan[:-1] + b" }")
    new = replace(old, services={**old.services, "score": again})
    (before,) = store.read([PLACE.pointer("score")])

    register(new, registry, store, PLACE, NOW)

    (after,) = store.read([PLACE.pointer("score")])
    assert before != after == pointer_text(score.fingerprint.data, again.lookup_plan)
    assert before is not None
    bodies = store.read([PLACE.plan("score", before), PLACE.plan("score", after)])
    assert bodies == [score.lookup_plan, again.lookup_plan]  # a reader in flight finishes with the one it began with
    assert registry.deployed().service_numbers["score"] == 1


STAND_INS = {
    "error": OnUnavailable(Instead.ERROR),
    "null": OnUnavailable(Instead.NULL),
    "default": OnUnavailable(Instead.DEFAULT),
    "{last_known: 90m}": OnUnavailable(Instead.LAST_KNOWN, 90 * MINUTE),
}


def test_what_stands_in_for_the_store_is_declared_moved_to_and_taken_back_under_one_version(
    registry: Registry, store: RedisStore, tmp_path: Path
) -> None:
    plain = shop(tmp_path)
    register(plain, registry, store, PLACE, NOW)
    materialize(registry, store, "spend")
    with FeatureClient(project=PLACE.project, environment=PLACE.environment, store=store, clock=lambda: NOW) as client:
        for written, policy in STAND_INS.items():
            change = (
                "score: {features: [spend, basket]}",
                f"score: {{features: [spend, basket], on_unavailable: {written}}}",
            )
            desired = shop(tmp_path, change)
            assert fingerprint(desired, "score") == fingerprint(plain, "score")

            done = register(desired, registry, store, PLACE, NOW)

            assert explain(done.plan) == (
                "~ service score v1 (metadata changed: on_unavailable)",
                "  publish the lookup plan of score v1",
            )
            assert client.plan("score").on_unavailable == policy
            assert client.lookup("score", {"user_id": 1}, {"price": 1.0}).fingerprint == fingerprint(plain, "score")
            assert register(desired, registry, store, PLACE, NOW).plan.is_empty

        register(plain, registry, store, PLACE, NOW)
        assert client.plan("score").on_unavailable is None
    assert registry.deployed().service_numbers["score"] == 1


def test_processes_that_register_at_once_each_make_a_version(
    registry: Registry, store: RedisStore, server_url: str, tmp_path: Path
) -> None:
    root = Path(__file__).parents[1]
    windows = ("10d", "11d", "12d")
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", REGISTER, str(tmp_path), server_url, window], cwd=root, stderr=subprocess.PIPE
        )
        for window in windows
    ]

    assert [(run.communicate(timeout=120)[1], run.returncode) for run in runs] == [(b"", 0)] * 3

    state = registry.deployed()
    assert state.registration == state.view_numbers["spend"] == state.service_numbers["score"] == 3
    assert [each.id for each in registry.registrations()] == [1, 2, 3]
    # Whichever was first to switch serves: a later version waits for values, unless it came before that switch.
    assert pointers(store, "score") == [state.serving["score"].fingerprint.data]
