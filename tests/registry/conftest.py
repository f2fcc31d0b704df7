"""A registry on each database it is for: SQLite in a folder of its own, and a PostgreSQL server of the tests' own.

FEATUREKIT_TEST_POSTGRES names another PostgreSQL database to test on.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from featurekit.registry.registry import Registry
from tests.registry.postgres import NOT_INSTALLED, binaries, server


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The URL of a PostgreSQL database, one server for the run."""
    if named := os.environ.get("FEATUREKIT_TEST_POSTGRES"):
        yield named
    elif binaries() is None:
        pytest.skip(NOT_INSTALLED)
    else:
        with server() as url:
            yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a registry, which need not be there yet."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'state' / 'registry.db'}"
    found: str = request.getfixturevalue("postgres_url")
    return found


@pytest.fixture
def project() -> str:
    """A project of this test's own: PostgreSQL's tables are shared by all tests, its namespaces are not."""
    return f"shop-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def open_registry(url: str, project: str, tmp_path: Path) -> Callable[[], Registry]:
    """Opens one registry, each time as another process would."""
    return lambda: Registry(url, project=project, environment="dev", models=tmp_path / "models")


@pytest.fixture
def registry(open_registry: Callable[[], Registry]) -> Registry:
    return open_registry()
