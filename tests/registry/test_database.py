"""URLs, errors and schema versions of the registry's database."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import make_url, select

from featurekit.errors import RegistryError, SettingsError
from featurekit.registry.database import Database, shown
from featurekit.registry.tables import SCHEMA, SCHEMA_VERSION


def read(database: Database) -> int:
    with database.reading() as connection:
        return int(connection.execute(select(SCHEMA.c.version)).scalar_one())


@pytest.mark.parametrize(
    ("url", "what"),
    [
        ("not a url with hunter2", "the registry's URL can't be read"),
        ("postgresql://shop:h@hunter2@db/shop", "the registry's URL can't be read"),
        ("postgresql://shop/x:hunter2@db/shop", "the registry's URL can't be read"),
        ("postgresql://db/shop?password=h@hunter2", "the registry's URL can't be read"),
        ("postgresql://shop:pw@db:hunter2/shop", "the registry's URL can't be read"),
        ("mysql://shop:h@hunter2@db/shop", "the registry's URL can't be read"),
        ("mysql://shop:hunter2@db/shop", "the registry can't lie in mysql"),
        ("sqlite://", "the registry can't lie in memory"),
        ("sqlite:///:memory:", "the registry can't lie in memory"),
    ],
)
def test_a_url_that_can_not_be_used_is_a_mistake_in_the_settings(url: str, what: str) -> None:
    with pytest.raises(SettingsError, match=what) as caught:
        Database(url)

    assert caught.value.exit_code == 2
    assert caught.value.try_
    assert "hunter2" not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_url_is_shown_without_user_password_and_options() -> None:
    url = make_url("postgresql://shop:hunter2@db:5432/shop?sslpassword=hunter3")

    assert shown(url) == "postgresql://db:5432/shop"


def test_a_file_that_is_no_database_is_an_error_of_the_registry(tmp_path: Path) -> None:
    file = tmp_path / "registry.db"
    file.write_text("hello, " * 200)

    with pytest.raises(RegistryError, match="the registry's database failed") as caught:
        read(Database(f"sqlite:///{file}"))

    assert caught.value.exit_code == 3
    assert caught.value.where == f"sqlite:///{file}"
    assert caught.value.why == "file is not a database"


def test_a_folder_that_can_not_be_made_is_an_error_of_the_registry(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(RegistryError, match="the registry's folder can't be made"):
        read(Database(f"sqlite:///{tmp_path / 'file' / 'registry.db'}"))


def test_a_registry_of_a_later_schema_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "registry.db"
    assert read(Database(f"sqlite:///{file}")) == SCHEMA_VERSION
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE featurekit_schema SET version = version + 1")
    connection.close()

    told = f"the registry has schema version {SCHEMA_VERSION + 1}; this featurekit knows {SCHEMA_VERSION}"
    with pytest.raises(RegistryError, match=told) as caught:
        read(Database(f"sqlite:///{file}"))

    assert caught.value.try_ == "upgrade this featurekit"


def test_a_registry_whose_folder_was_moved_is_the_same(tmp_path: Path) -> None:
    read(Database(f"sqlite:///{tmp_path / 'here' / 'registry.db'}"))
    (tmp_path / "here").rename(tmp_path / "there")

    assert read(Database(f"sqlite:///{tmp_path / 'there' / 'registry.db'}")) == SCHEMA_VERSION
