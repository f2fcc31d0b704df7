"""A secret that the settings give: forgotten keys are hashed by it, and it is written down nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from featurekit.clock import DAY
from featurekit.config import read_settings
from featurekit.errors import SettingsError
from featurekit.online.served_log import ServedLog, served_log
from featurekit.online.served_log_erasure import log_paths, tombstones_file
from featurekit.registry.registry import Registry
from featurekit.tombstones import secret_of
from tests.erasure.conftest import MakeShop
from tests.erasure.world import Shop
from tests.registry.states import TODAY

TEXT = "0123456789abcdef0123456789abcdef"
SECRET, ANOTHER = secret_of(TEXT), secret_of(TEXT[::-1])


@pytest.fixture
def shop(make_shop: MakeShop) -> Shop:
    """The shop, with a secret of its settings; its second user is forgotten."""
    shop = make_shop(secret=SECRET)
    shop.refresh(TODAY)
    shop.log_folder.mkdir()
    shop.forget((2,))
    return shop


def registry_of(shop: Shop, secret: bytes | None) -> Registry:
    return Registry(
        f"sqlite:///{shop.folder / 'registry.db'}",
        project="shop",
        environment="dev",
        models=shop.folder / "models",
        secret=secret,
    )


def test_who_is_forgotten_stays_so_and_the_secret_is_written_nowhere(shop: Shop) -> None:
    shop.now += DAY
    shop.refresh(TODAY + DAY)
    assert shop.serve([{"user_id": 1}, {"user_id": 2}]) == [1.0, None]
    files = [path for path in shop.folder.rglob("*") if path.is_file()]
    assert tombstones_file(shop.log_folder, "shop", "dev") in files
    for path in files:
        content = path.read_bytes()
        assert SECRET not in content, path
        assert SECRET.hex().encode() not in content, path
        assert TEXT.encode() not in content, path
    assert shop.registry.remember(("user_id",), shop.entities((2,)).texts, at=shop.now) == 1


@pytest.mark.parametrize("secret", [None, ANOTHER])
def test_without_it_or_by_another_nothing_is_taken_for_remembered(shop: Shop, secret: bytes | None) -> None:
    shop.registry = registry_of(shop, secret)
    shop.now += DAY
    with pytest.raises(SettingsError, match="can't be told by this secret") as caught:
        shop.refresh(TODAY + DAY)
    assert caught.value.where == "forget.secret"
    with pytest.raises(SettingsError):
        shop.forget((3,))


def test_a_registry_that_has_a_secret_of_its_own_keeps_it(make_shop: MakeShop) -> None:
    shop = make_shop()
    shop.refresh(TODAY)
    shop.forget((2,))
    with pytest.raises(SettingsError, match="can't be told by this secret") as caught:
        registry_of(shop, SECRET).tombstones()
    assert "one of its own" in str(caught.value.why)
    assert registry_of(shop, None).tombstones()


@pytest.mark.parametrize(("secret", "written"), [(SECRET, 1), (None, 0), (ANOTHER, 0)])
def test_a_log_leaves_out_who_is_forgotten_by_it_and_without_it_writes_nothing(
    shop: Shop, secret: bytes | None, written: int
) -> None:
    shop.registry.remember(("user_id",), shop.entities((2,)).texts, at=shop.now)
    shop.now += DAY
    shop.refresh(TODAY + DAY)  # the second user is served again
    shop.forget((3,))
    log = ServedLog(shop.log_folder, project="shop", environment="dev", clock=lambda: shop.now, secret=secret)
    before = set(log_paths(shop.log_folder))
    shop.serve([{"user_id": 2}, {"user_id": 3}], log=log)
    log.close()
    new = set(log_paths(shop.log_folder)) - before
    assert (log.counts.written, len(new)) == (written, written)
    assert log.counts.failed == (0 if written else 2)


def test_it_comes_from_the_environment_or_a_file_and_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(f"{TEXT}\n")
    environ = {"FEATUREKIT_FORGET_SECRET_FILE": str(tmp_path / "secret"), "FEATUREKIT_SERVED_LOG_PATH": "served"}
    settings = read_settings(start=tmp_path, environ=environ)
    assert settings.secret == SECRET
    assert TEXT not in repr(settings)
    log = served_log(settings)
    assert log is not None
    assert log._secret == SECRET
    log.close()
    assert read_settings(start=tmp_path, environ={}).secret is None
    with pytest.raises(SettingsError, match="fewer than 32 letters") as caught:
        read_settings(start=tmp_path, environ={"FEATUREKIT_FORGET_SECRET": "hunter2"})
    assert "hunter2" not in str(caught.value)
