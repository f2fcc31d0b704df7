"""A registry on SQLite in a folder of its own; on PostgreSQL too where FEATUREKIT_TEST_POSTGRES names a database."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from featurekit.registry.registry import Registry

POSTGRES = os.environ.get("FEATUREKIT_TEST_POSTGRES")


@pytest.fixture(params=["sqlite", *(["postgresql"] if POSTGRES else [])])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a registry, which need not be there yet."""
    return POSTGRES if request.param == "postgresql" and POSTGRES else f"sqlite:///{tmp_path / 'state' / 'registry.db'}"


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
