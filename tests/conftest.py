"""What more than one folder of tests needs: the flights and, once a run, one Spark session."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from featurekit.compiled import CompiledRepository
from featurekit.compiler import compile_repository
from featurekit.definitions.repo import load_repo
from featurekit.examples.flights import write_sources

ROOT = Path(__file__).parents[1]

settings.register_profile("no deadline", deadline=None)  # what is slow because the machine is busy is no defect
settings.load_profile("no deadline")


@pytest.fixture(scope="session")
def flights_base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder whose data/ holds the event sources of the flights of 2013."""
    base = tmp_path_factory.mktemp("flights")
    write_sources(base / "data")
    return base


@pytest.fixture(scope="session")
def flights(flights_base: Path) -> CompiledRepository:
    """Return feature_defs/ compiled against the flights."""
    return compile_repository(load_repo(ROOT / "feature_defs"), flights_base)
