from __future__ import annotations

from pathlib import Path

from benchmarks.faults.restart import run


def test_a_server_that_is_killed_under_load_makes_no_answer_wrong(tmp_path: Path) -> None:
    found = run(tmp_path / "server", rounds=2, seed=11, quick=True)
    assert (found["mixed"], found["wrong"], found["unexplained_errors"]) == (0, 0, 0)
    assert found["kills"] == 2
    assert found["lookups"] > 200
