from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.faults import kill_materialize


@pytest.mark.long
def test_a_killed_refresh_is_run_again_to_the_same_bytes_and_no_lookup_sees_half_of_it(tmp_path: Path) -> None:
    found = kill_materialize.run(tmp_path, rounds=4, seed=11, quick=True)
    assert found["kills"] == 4
    assert found["lookups"] > 100
    assert [found[what] for what in ("torn", "lost", "stale_over_new", "wrong", "unexplained_errors")] == [0] * 5
