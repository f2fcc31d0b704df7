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
def open_registry(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Registry]:
    """Opens one registry, each time as another process would."""
    url = POSTGRES if request.param == "postgresql" else f"sqlite:///{tmp_path / 'state' / 'registry.db'}"
    project = f"shop-{uuid.uuid4().hex[:8]}"  # PostgreSQL's tables are shared by all tests, its namespaces are not
    assert url is not None

    def open_() -> Registry:
        return Registry(url, project=project, environment="dev", models=tmp_path / "models")

    return open_


@pytest.fixture
def registry(open_registry: Callable[[], Registry]) -> Registry:
    return open_registry()
