"""The tour's page is what a fresh run prints."""

from __future__ import annotations

import pytest

from featurekit.examples.tour import run, settled
from tests.conftest import ROOT


@pytest.mark.spark
def test_the_committed_page_is_what_a_fresh_run_prints() -> None:
    page = run(ROOT)
    assert page == (ROOT / "docs" / "tour.md").read_text(encoding="utf-8"), "`make tour` writes the page anew"


def test_what_differs_between_runs_is_left_out_and_columns_stay_in_line() -> None:
    assert settled("a  0.123456789  b\n") == "a  0.123        b\n"
    assert settled("at 127.0.0.1:6379/0, id 0a1b2c3d4e\n") == "at 127.0.0.1:…, id …\n"
    assert settled("deadbeef and 20131115T00 stay\n") == "deadbeef and 20131115T00 stay\n"
