"""A registry that an earlier featurekit wrote is brought to this version without loss."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import pytest
from sqlalchemy import create_engine, inspect, make_url, text
from sqlalchemy.pool import NullPool

from featurekit.clock import DAY, HOUR
from featurekit.registry.registry import Registry
from featurekit.registry.state import RefreshKind, RefreshRecord, RefreshStatus
from featurekit.registry.tables import SCHEMA_VERSION, TABLES
from tests.registry.states import NOW, TODAY

GRID: Final = f"[{DAY}, {5 * HOUR}, null, null]"
# What version 1 made and held, word for word. A shop of one view, refreshed on three days; the second refresh failed.
TABLES_1: Final = """
CREATE TABLE featurekit_schema (version INTEGER NOT NULL);
INSERT INTO featurekit_schema VALUES (1);
CREATE TABLE models (namespace VARCHAR(255) NOT NULL, name VARCHAR(255) NOT NULL, version INTEGER NOT NULL, service VARCHAR(255) NOT NULL, service_fingerprint VARCHAR(64) NOT NULL, sha256 VARCHAR(64) NOT NULL, file TEXT NOT NULL, columns TEXT NOT NULL, dtype VARCHAR(20) NOT NULL, input TEXT NOT NULL, output TEXT NOT NULL, registered_at BIGINT NOT NULL, PRIMARY KEY (namespace, name, version));
CREATE TABLE refreshes (id {serial} NOT NULL, namespace VARCHAR(255) NOT NULL, "view" VARCHAR(255) NOT NULL, fingerprint VARCHAR(64) NOT NULL, as_of BIGINT NOT NULL, restatement INTEGER NOT NULL, started_at BIGINT NOT NULL, status VARCHAR(20) NOT NULL, completed_at BIGINT, rows BIGINT, bytes BIGINT, snapshot TEXT NOT NULL, counters TEXT NOT NULL, failure TEXT, PRIMARY KEY (id));
CREATE UNIQUE INDEX refreshes_by_view ON refreshes (namespace, "view", fingerprint, as_of, restatement);
CREATE TABLE registrations (namespace VARCHAR(255) NOT NULL, id INTEGER NOT NULL, at BIGINT NOT NULL, changes TEXT NOT NULL, services TEXT NOT NULL, status VARCHAR(20) NOT NULL, PRIMARY KEY (namespace, id));
CREATE TABLE service_versions (namespace VARCHAR(255) NOT NULL, name VARCHAR(255) NOT NULL, number INTEGER NOT NULL, data_fingerprint VARCHAR(64) NOT NULL, metadata_fingerprint VARCHAR(64) NOT NULL, definition TEXT NOT NULL, registration INTEGER NOT NULL, registered_at BIGINT NOT NULL, removed_in INTEGER, views TEXT NOT NULL, is_own BOOLEAN NOT NULL, lookup_plan {bytes} NOT NULL, PRIMARY KEY (namespace, name, number));
CREATE TABLE serving (namespace VARCHAR(255) NOT NULL, service VARCHAR(255) NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (namespace, service));
CREATE TABLE view_versions (namespace VARCHAR(255) NOT NULL, name VARCHAR(255) NOT NULL, number INTEGER NOT NULL, data_fingerprint VARCHAR(64) NOT NULL, metadata_fingerprint VARCHAR(64) NOT NULL, definition TEXT NOT NULL, registration INTEGER NOT NULL, registered_at BIGINT NOT NULL, removed_in INTEGER, grid TEXT NOT NULL, PRIMARY KEY (namespace, name, number));
"""  # noqa: E501
VIEW: Final = (
    "INSERT INTO view_versions VALUES"
    " ('shop:dev', 'spend', 1, 'fp', 'm', '{{\"data\": {{}}, \"written\": {{}}}}', 1, {now}, NULL, '{grid}')"
)
SERVICE: Final = (
    "INSERT INTO service_versions VALUES ('shop:dev', 'score', {number}, 'sfp{number}', 'm', '{definition}',"
    " 1, 1, NULL, '{{}}', {false}, {nothing})"
)
MODEL: Final = (
    "INSERT INTO models VALUES ('shop:dev', 'delay', 1, 'score', 'sfp1', 's', 'f', '[]', 'float32', 'i', 'o', 1)"
)
REFRESH: Final = (
    'INSERT INTO refreshes (namespace, "view", fingerprint, as_of, restatement, started_at, status, completed_at, rows,'
    " bytes, snapshot, counters, failure) VALUES ('shop:dev', 'spend', 'fp', {as_of}, 0, {as_of}, '{status}',"
    " {completed_at}, {rows}, 120, '{{}}', '{{}}', {failure})"
)
REFRESHES_1: Final = (
    {"as_of": TODAY - DAY, "status": "complete", "completed_at": TODAY, "rows": 3, "failure": "NULL"},
    {"as_of": TODAY, "status": "failed", "completed_at": TODAY + 1, "rows": "NULL", "failure": "'broken'"},
    {"as_of": TODAY + DAY, "status": "complete", "completed_at": TODAY + DAY + HOUR, "rows": 4, "failure": "NULL"},
    {"as_of": TODAY + 2 * DAY, "status": "running", "completed_at": "NULL", "rows": "NULL", "failure": "NULL"},
)


@pytest.fixture(params=["sqlite", "postgresql"])
def old_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a registry that version 1 wrote."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path / 'registry.db'}"
    else:
        server, name = make_url(request.getfixturevalue("postgres_url")), f"old_{uuid.uuid4().hex[:8]}"
        with create_engine(server, isolation_level="AUTOCOMMIT", poolclass=NullPool).connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name}"))
        url = server.set(database=name).render_as_string(hide_password=False)
    is_sqlite = request.param == "sqlite"
    script = TABLES_1.format(serial="INTEGER" if is_sqlite else "BIGSERIAL", bytes="BLOB" if is_sqlite else "BYTEA")
    statements = [part for part in script.split(";\n") if part.strip()]
    statements.append(VIEW.format(now=NOW, grid=GRID))
    literals = {"false": "0", "nothing": "x''"} if is_sqlite else {"false": "false", "nothing": "''"}
    statements += [
        SERVICE.format(number=number, definition='{"data": {}, "written": {}}', **literals) for number in (1, 2)
    ]
    statements.append(MODEL)
    statements += [REFRESH.format(**refresh) for refresh in REFRESHES_1]
    engine = create_engine(url, poolclass=NullPool)
    with engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
    return url


@pytest.fixture
def open_old(old_url: str, tmp_path: Path) -> Callable[[], Registry]:
    return lambda: Registry(old_url, project="shop", environment="dev", models=tmp_path)


def test_all_refreshes_of_version_1_are_there_and_say_when_lookups_saw_them(open_old: Callable[[], Registry]) -> None:
    found = {one.as_of: one for one in open_old().refreshes("spend")}
    seen = {at: (one.status.value, one.rows, one.failure, one.visible_from) for at, one in found.items()}
    assert seen == {
        TODAY - DAY: ("complete", 3, None, TODAY),  # it was late
        TODAY: ("failed", None, "broken", None),
        TODAY + DAY: ("complete", 4, None, TODAY + DAY + 5 * HOUR),  # the availability delay
        TODAY + 2 * DAY: ("running", None, None, None),
    }
    assert {(one.kind, one.online, one.reason) for one in found.values()} == {(RefreshKind.FULL, True, None)}


def test_what_was_there_goes_on(open_old: Callable[[], Registry]) -> None:
    registry = open_old()
    assert registry.watermarks(TODAY + 3 * DAY)["fp"].as_of == TODAY + DAY
    begun = registry.start_refresh(view="spend", fingerprint="fp", as_of=TODAY, started_at=NOW, reason="again")
    assert (begun.restatement, begun.reason) == (1, "again")
    ended = registry.complete_refresh(begun, completed_at=NOW, visible_from=NOW, rows=5, bytes_=9, computed=2)
    assert (ended.status, ended.computed, ended.reason) == (RefreshStatus.COMPLETE, 2, "again")
    assert open_old().deployed().views["spend"].number == 1


def test_a_model_is_bound_to_the_version_of_its_service_that_it_was_registered_for(
    open_old: Callable[[], Registry],
) -> None:
    assert open_old().model("delay").pinned_service == "score@1"


def test_processes_that_open_it_at_once_bring_it_on_once(open_old: Callable[[], Registry]) -> None:
    def read(_: int) -> tuple[RefreshRecord, ...]:
        return open_old().refreshes("spend")

    with ThreadPoolExecutor(4) as pool:
        assert {len(found) for found in pool.map(read, range(4))} == {len(REFRESHES_1)}


def test_tables_that_were_brought_on_are_those_that_are_made_anew(
    old_url: str, open_old: Callable[[], Registry]
) -> None:
    open_old().deployed()
    engine = create_engine(old_url, poolclass=NullPool)
    with engine.connect() as connection:
        found: dict[str, Any] = {
            name: {column["name"]: column["nullable"] for column in inspect(connection).get_columns(name)}
            for name in inspect(connection).get_table_names()
        }
        assert connection.exec_driver_sql("SELECT version FROM featurekit_schema").scalar_one() == SCHEMA_VERSION
    assert found == {
        table.name: {column.name: column.nullable for column in table.columns} for table in TABLES.sorted_tables
    }
