from __future__ import annotations

import pytest

from featurekit.examples.flights import FlightSources, write_sources


@pytest.fixture(scope="session")
def flight_sources(tmp_path_factory: pytest.TempPathFactory) -> FlightSources:
    """Return the event sources of the flights of 2013, made once for the run."""
    return write_sources(tmp_path_factory.mktemp("flights") / "data")
