"""What a training set promises is held against what was looked up, for each of the three sets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from featurekit.clock import HOUR
from featurekit.examples.auc import HELD_OUT, judge
from featurekit.offline.manifest import AsOfMode

ROWS = 400


def write_three(folder: Path, *, declared_is_kept: bool = True) -> None:
    """Write sets in which the declared value hints at the label, and the one by event time tells it."""
    random = np.random.default_rng(7)
    late = random.integers(0, 2, ROWS).astype(np.float64)
    hint = late + random.normal(0, 2, ROWS)
    values = {AsOfMode.DECLARED: hint, AsOfMode.SERVED: np.round(hint), AsOfMode.EVENT_TIME: late * 5 + hint}
    times = HELD_OUT + (np.arange(ROWS) - ROWS // 2) * HOUR
    columns = {
        "flight_id": [f"f{at}" for at in range(ROWS)],
        "event_timestamp": pa.array(times).cast(pa.timestamp("us", tz="UTC")),
        "late": late,
    }
    for mode, numbers in values.items():
        (folder / mode.value).mkdir(parents=True)
        order = random.permutation(ROWS)
        table = pa.table({**columns, "v.hint": numbers, "v.name": ["x"] * ROWS})
        pq.write_table(table.take(pa.array(order)), folder / mode.value / "part.parquet")
    served = hint if declared_is_kept else random.normal(0, 2, ROWS)
    order = random.permutation(np.arange(ROWS // 2, ROWS))
    answers = pa.table({"v.hint": served, "v.name": ["x"] * ROWS, "flight_id": columns["flight_id"]})
    pq.write_table(answers.take(pa.array(order)), folder / "answers.parquet")


@pytest.mark.parametrize("kept", [True, False])
def test_a_set_keeps_its_word_where_lookups_have_its_values(tmp_path: Path, kept: bool) -> None:
    write_three(tmp_path, declared_is_kept=kept)
    verdict = judge(tmp_path, tmp_path / "answers.parquet")
    by_set = {each.as_of: each for each in verdict.judged}
    declared, seeing = by_set[AsOfMode.DECLARED], by_set[AsOfMode.EVENT_TIME]
    assert (verdict.trained, verdict.rows) == (ROWS // 2, ROWS // 2)
    assert verdict.keeps_its_word is kept
    assert (declared.apart, declared.differing) == (0, 0) if kept else declared.apart > 0.01
    assert seeing.promised > 0.9
    assert seeing.promised - seeing.online > 0.1
    assert seeing.differing > 0
    assert verdict.result.startswith(f"RESULT auc declared={declared.promised:.4f} declared_online=")
