"""The oracle's session, for the tests that need it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.semantics.session import start


@pytest.fixture(scope="session")
def spark() -> Any:
    return start()
