"""Versions that somebody needs are refreshed, whatever is defined by now: compiled from what the registry keeps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from featurekit.clock import DAY
from featurekit.compiled import CompiledRepository
from featurekit.config import read_settings
from featurekit.errors import InputError, NotRegisteredError
from featurekit.feature_store import FeatureStore
from featurekit.materializing import MaterializeErrors
from featurekit.registered_views import compile_version, earlier_views
from featurekit.registry.desired import desired_state
from featurekit.registry.state import DesiredView, ViewVersion
from tests.refreshed import Refreshed
from tests.registry.definitions import compiled
from tests.registry.states import NOW
from tests.versions.rolling import WINDOW

TWO_KEYS = (("user: {join_keys: {user_id: bigint}, owner", "user: {join_keys: {user_id: bigint, items: int}, owner"),)
EVERYTHING = (
    (
        "refresh: 1d",
        (
            "refresh: {every: 1d, timezone: America/New_York}\n    history: {keep: 3d}\n    write: in_place\n"
            "    thresholds: {coverage: 0.5, freshness: 26h, null_share: {amount_7d: 0.25}}"
        ),
    ),
    (
        "amount_7d: {sql: sum(amount), window: 7d}",
        "amount_7d: {sql: sum(amount), window: 7d, expect: {max_null_share: 0.5}}",
    ),
    ("items, ttl: 30d", "items, ttl: 30d, default: 3"),
)
WRITTEN = {"plain": (), "two keys in their order": TWO_KEYS, "everything": EVERYTHING}


def version(view: DesiredView) -> ViewVersion:
    """Return a view as the registry gives it back."""
    return ViewVersion(
        name=view.name,
        number=1,
        fingerprint=view.fingerprint,
        definition=view.definition,
        grid=view.grid,
        registration=1,
        registered_at=NOW,
    )


@pytest.mark.parametrize("written", WRITTEN)
def test_what_is_compiled_from_the_registry_is_what_was_registered(tmp_path: Path, written: str) -> None:
    repository = compiled(tmp_path, *WRITTEN[written])
    (desired,) = desired_state(repository).views.values()
    assert compile_version(version(desired), repository.repository.sources, tmp_path) == repository.views["spend"]


def test_all_views_of_the_flights_come_back_as_they_are(flights: CompiledRepository, flights_base: Path) -> None:
    for name, desired in desired_state(flights).views.items():
        assert compile_version(version(desired), flights.repository.sources, flights_base) == flights.views[name]


MOVED = ("path: data/orders.csv", "path: data/elsewhere.csv")
GONE = {
    "a source that is gone": (
        (("  orders:\n", "  sales:\n"), ("source: orders", "source: sales")),
        "its source orders is not defined any more",
    ),
    "a column of another type": ((("items: int", "items: bigint"),), "another meaning now"),
}


def test_rows_are_read_where_they_lie_now(tmp_path: Path) -> None:
    (desired,) = desired_state(compiled(tmp_path)).views.values()
    (tmp_path / "data" / "elsewhere.csv").write_text("user_id,at,amount,items\n")
    now = compiled(tmp_path, MOVED, WINDOW)
    found = compile_version(version(desired), now.repository.sources, tmp_path)
    assert (found.source.path, found.fingerprint) == ("data/elsewhere.csv", desired.fingerprint)


@pytest.mark.parametrize("what", GONE)
def test_a_version_whose_source_is_another_is_not_computed_with_another_meaning(tmp_path: Path, what: str) -> None:
    changes, why = GONE[what]
    (desired,) = desired_state(compiled(tmp_path)).views.values()
    now = compiled(tmp_path, *changes)
    with pytest.raises(InputError) as caught:
        compile_version(version(desired), now.repository.sources, tmp_path)
    assert why in str(caught.value)


def test_earlier_definitions_are_those_that_mean_something_else_and_can_still_be_computed(tmp_path: Path) -> None:
    lost = ("items: int", "items: bigint")
    texts: tuple[tuple[tuple[str, str], ...], ...] = ((), (WINDOW,), (lost,), (("ttl: 30d", "ttl: 31d"),))
    versions = []
    for number, changes in enumerate(texts, start=1):
        (desired,) = desired_state(compiled(tmp_path, *changes)).views.values()
        versions.append(replace(version(desired), number=number))
    now = compiled(tmp_path)
    found = earlier_views(now.views["spend"], versions, now.repository.sources, tmp_path)
    assert [each.fingerprint for each in found] == [versions[3].fingerprint, versions[1].fingerprint]


class Store(FeatureStore):
    """A feature store of the shop's store and registry, whose refreshes are given and not computed."""

    def __init__(self, shop: Refreshed, folder: Path) -> None:
        flags = {"project": "shop", "environment": "dev", "now": shop.now, "redis_url": shop.url}
        super().__init__(read_settings(start=folder, environ={}, flags=flags))
        self.__dict__ |= {"registry": shop.registry, "history": shop.history, "engine": _LOCAL}
        self.__dict__ |= {"definitions": shop.compiled}


class _Local:
    is_local = True


_LOCAL = _Local()


def refreshed(shop: Refreshed, folder: Path, *names: str) -> list[tuple[str, bool]]:
    """Materialize, and return which version was refreshed, by number, and whether it was computed."""
    numbers = {one.fingerprint.data: f"{one.name}@{one.number}" for one in shop.registry.view_versions()}
    with Store(shop, folder) as store:
        return sorted((numbers[one.fingerprint], one.is_new) for one in store.materialize(names))


def test_what_is_pinned_is_refreshed_beside_what_is_defined(moved: Refreshed, tmp_path: Path) -> None:
    moved.now += DAY
    assert refreshed(moved, tmp_path) == [("spend@2", True)]
    with Store(moved, tmp_path) as store:
        store.pin("score@1", "mobile")

    assert refreshed(moved, tmp_path) == [("spend@1", True), ("spend@2", False)]
    moved.now += DAY
    assert refreshed(moved, tmp_path, "spend") == [("spend@1", True), ("spend@2", True)]
    moved.now += DAY
    assert refreshed(moved, tmp_path, "spend@1") == [("spend@1", True)]
    with Store(moved, tmp_path) as store:
        store.unpin("score@1", "mobile")
    assert refreshed(moved, tmp_path) == [("spend@2", True)]


def test_while_readers_wait_for_a_new_version_the_one_they_have_is_refreshed(shop: Refreshed, tmp_path: Path) -> None:
    shop.compiled = compiled(tmp_path, WINDOW)
    shop.register()
    shop.now += DAY
    assert refreshed(shop, tmp_path) == [("spend@1", True), ("spend@2", True)]
    assert shop.registry.deployed().serving["score"].number == 2


def test_one_that_can_not_be_compiled_takes_no_other_with_it(moved: Refreshed, tmp_path: Path) -> None:
    with Store(moved, tmp_path) as store:
        store.pin("score@1", "mobile")
    moved.compiled = compiled(
        tmp_path, ("  orders:\n", "  sales:\n"), ("source: orders", "source: sales"), ("window: 7d", "window: 9d")
    )
    moved.register()
    moved.now += DAY
    with Store(moved, tmp_path) as store, pytest.raises(MaterializeErrors) as caught:
        store.materialize()
    failures = [str(failure.error) for failure in caught.value.failures]
    assert any("spend@1 can't be computed any more, and somebody reads it" in told for told in failures)
    assert any(outcome.is_new for outcome in caught.value.outcomes)


def test_names_that_are_of_no_version_say_what_there_is(moved: Refreshed, tmp_path: Path) -> None:
    with Store(moved, tmp_path) as store:
        with pytest.raises(NotRegisteredError, match="there is no view version 'spend@9'") as caught:
            store.materialize(["spend@9"])
        assert caught.value.try_ == "one of spend@1, spend@2"
        with pytest.raises(InputError, match="there is no feature view 'spent'"):
            store.materialize(["spent"])
        with pytest.raises(NotRegisteredError, match="there is no score@9"):
            store.pin("score@9", "mobile")
        with pytest.raises(NotRegisteredError, match="is not pinned by 'web'"):
            store.unpin("score@1", "web")
        with pytest.raises(InputError, match="'score' names no version of a service"):
            store.pin("score", "mobile")
        with pytest.raises(InputError, match="a pin needs the name"):
            store.pin("score@1", " ")
