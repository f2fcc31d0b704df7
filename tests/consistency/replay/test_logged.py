"""Which rows of a log are replayed: whole entities, the same ones each time, and what each stands for."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from featurekit.clock import DAY
from featurekit.consistency.compare import Verdict
from featurekit.consistency.replay.logged import LogSample, ReplayRule, sample_log
from featurekit.consistency.replay.tally import tally
from featurekit.consistency.replay.versions import ServedVersion
from featurekit.errors import InputError, SourceError
from featurekit.online.served_log_reading import logged_services
from featurekit.served_columns import METADATA
from featurekit.types import Float64
from tests.online.servers import plan_field, service_plan, view_plan

PLAN = service_plan(view_plan([plan_field("load", Float64())]))
VERSION = ServedVersion(plan=PLAN, number=1, views={}, lost={"view": "not here"})
USERS = 300


def write_log(folder: Path, *files: Sequence[tuple[int | None, int]], share: float = 1.0) -> None:
    """Write files of rows, each a user and a time."""
    for number, rows in enumerate(files):
        count = len(rows)
        codes = pa.StructArray.from_arrays([pa.array([0] * count, pa.int8())], ["view.load"])
        instant = pa.timestamp("us", tz="UTC")
        table = pa.table(
            {
                "request_id": [f"{number}-{row}" for row in range(count)],
                "timestamp": pa.array([at for _, at in rows], instant),
                "user_id": pa.array([user for user, _ in rows], pa.int64()),
                "view.load": pa.array([0.5] * count),
                "__status": codes,
                "__reason": codes,
                "__as_of": pa.StructArray.from_arrays([pa.array([0] * count, instant)], ["view"]),
            }
        )
        told = {
            "format": 2,
            "project": "shop",
            "environment": "test",
            "service": PLAN.service,
            "fingerprint": PLAN.fingerprint,
            "views": {"view": {"view": "view", "fingerprint": "a"}},
            "sample": {"share": share, "seed": ""},
        }
        pq.write_table(
            table.replace_schema_metadata({METADATA: json.dumps(told)}), folder / f"{share}-{number}.parquet"
        )


def sampled(folder: Path, **rule: Any) -> LogSample:
    files = logged_services(folder)[PLAN.service]
    return sample_log(files, {PLAN.fingerprint: VERSION}, ReplayRule(**rule))


def users(sample: LogSample) -> Counter[int | None]:
    return Counter(user for rows in sample.rows for user in rows.table.column("user_id").to_pylist())


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Three files, in each of which every user asked once."""
    write_log(tmp_path, *([(user, day * DAY + user) for user in range(USERS)] for day in range(3)))
    return tmp_path


def test_a_share_takes_whole_entities_over_all_files(log: Path) -> None:
    found = users(sampled(log, share=0.2))
    assert set(found.values()) == {3}
    assert 30 < len(found) < 90
    assert found == users(sampled(log, share=0.2))
    assert set(found) <= set(users(sampled(log, share=0.4)))
    assert set(users(sampled(log, share=0.2, seed="other"))) != set(found)


def test_a_limit_takes_the_first_entities_of_that_order(log: Path) -> None:
    sample = sampled(log, max_rows=31)
    assert (sample.logged, sample.sampled) == (3 * USERS, 31)
    counts = users(sample)
    assert sorted(counts.values()) == [1] + [3] * 10
    assert set(counts) <= set(users(sampled(log, max_rows=60)))


def test_a_sample_of_a_log_that_is_one_itself_is_not_of_those_it_has_first(tmp_path: Path) -> None:
    """Their hashes would all be small: a tenth of a log of a tenth would be all of it."""
    from featurekit.key_sample import key_hash, threshold

    kept = [user for user in range(3000) if key_hash()(b"%d" % user) < threshold(0.1)]
    write_log(tmp_path, [(user, 0) for user in kept], share=0.1)
    sample = sampled(tmp_path, share=0.1)
    assert 0.03 < sample.sampled / len(kept) < 0.2
    assert {weight for rows in sample.rows for weight in rows.weights.tolist()} == {10.0}


def test_files_of_other_times_are_not_read(log: Path) -> None:
    (log / "1.0-0.parquet").write_bytes((log / "1.0-0.parquet").read_bytes()[:-8] + b"\0" * 8)
    with pytest.raises(SourceError, match="a file of the log can't be read"):
        sampled(log)
    write_log(log, [(user, user) for user in range(USERS)])
    sample = sampled(log, since=DAY + 5, until=2 * DAY)
    assert (sample.logged, sample.sampled) == (USERS - 5, USERS - 5)
    assert set(users(sample)) == set(range(5, USERS))


def test_a_file_that_is_written_anew_meanwhile_is_told_as_that(log: Path) -> None:
    """Who forgets an entity takes its rows out of the log's files, in their place."""
    files = logged_services(log)[PLAN.service]
    write_log(log, [(user, user) for user in range(1, USERS)])
    with pytest.raises(SourceError, match="was written anew while it was read"):
        sample_log(files, {PLAN.fingerprint: VERSION}, ReplayRule())


def test_rows_without_an_entity_are_one(tmp_path: Path) -> None:
    write_log(tmp_path, [(None, at) for at in range(50)] + [(1, 0)])
    assert users(sampled(tmp_path, max_rows=1)).total() == 1
    assert users(sampled(tmp_path)) == {None: 50, 1: 1}


@pytest.mark.parametrize("rule", [{"share": 0.0}, {"share": 20}, {"max_rows": 0}])
def test_a_rule_that_chooses_nothing_is_refused(rule: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        ReplayRule(**rule)


def test_cells_are_counted_by_day_and_as_shares_of_the_population() -> None:
    verdicts = np.array(
        [Verdict.MATCH, Verdict.MISMATCH, Verdict.MATCH, Verdict.MISMATCH, Verdict.UNAVAILABLE], np.uint8
    )
    differs = np.array([False, True, False, True, False])
    compared = verdicts != Verdict.UNAVAILABLE
    times = np.array([0, DAY - 1, DAY, DAY + 1, -1])
    found = tally(verdicts, differs, compared, times, np.array([1.0, 1.0, 9.0, 1.0, 5.0]))
    assert (found.counts[Verdict.MATCH], found.counts[Verdict.MISMATCH], found.counts[Verdict.UNAVAILABLE]) == (2, 2, 0)
    assert found.share == pytest.approx(2 / 12)
    assert [(day.start, day.compared, day.differing, day.share) for day in found.days] == [
        (0, 2, 1, 0.5),
        (DAY, 2, 1, 0.1),
    ]
    nothing = tally(verdicts, differs, np.zeros(5, np.bool_), times, np.ones(5))
    assert (nothing.share, nothing.days) == (None, ())
