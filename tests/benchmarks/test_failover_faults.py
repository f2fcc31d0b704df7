from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.faults import cluster, sentinel

BAD = ("wrong", "mixed", "lost", "torn", "stale_over_new", "unexplained_errors")


@pytest.mark.long
@pytest.mark.parametrize("run", [sentinel.run, cluster.run], ids=["sentinel", "cluster"])
def test_a_server_that_is_lost_under_lookups_makes_no_answer_wrong_and_no_refresh_torn(
    run: Callable[..., dict[str, int]], tmp_path: Path
) -> None:
    found = run(tmp_path, rounds=3, seed=11, quick=False)
    assert {name: found[name] for name in BAD} == dict.fromkeys(BAD, 0)
    assert found["lookups"] > 1000
    assert found["refreshes"] >= 4
