"""One Spark session for the whole folder; each test has a root of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from featurekit.config import Settings
from featurekit.offline.session import SparkEngine, start_engine

EngineAt = Callable[[Path], SparkEngine]


@pytest.fixture(scope="session")
def engine_at(tmp_path_factory: pytest.TempPathFactory) -> EngineAt:
    """Return an engine whose relative paths start at a folder; all share one session."""
    state = tmp_path_factory.mktemp("engine")

    def at(root: Path) -> SparkEngine:
        return start_engine(Settings(root=root, state=state, spark_master="local[2]"))

    return at


@pytest.fixture
def engine(engine_at: EngineAt, tmp_path: Path) -> SparkEngine:
    return engine_at(tmp_path)
