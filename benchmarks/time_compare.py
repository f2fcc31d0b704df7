"""Whether the sides of `benchmarks.time` have the same values; where another tool is known to be wrong, how often."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from benchmarks.time_data import AGGREGATES, LATEST, WINDOWS

# Spark's sums depend on the order of rows; ours are exact. Its own result moves by more than this from run to run.
_RELATIVE = 1e-9


def differing_from_join(world: Path) -> int:
    """Return in how many values the plain join differs: counts and integers exactly, sums of doubles nearly."""
    ours, join = (pq.read_table(world / side).to_pandas().sort_values("row") for side in ("ours", "join"))
    if not np.array_equal(ours["row"].to_numpy(), join["row"].to_numpy()):
        return max(len(ours), len(join))
    differing = 0
    for window in WINDOWS:
        for label in AGGREGATES:
            one = ours[f"spend.{label}_{window}"].to_numpy(np.float64, na_value=np.nan)
            # A label without events has no row in the inner join: its counts are 0, which the join does not say.
            other = join[f"{label}_{window}"].to_numpy(np.float64, na_value=np.nan)
            if label in ("n", "dear"):
                other = np.nan_to_num(other)
            same = np.isclose(one, other, rtol=_RELATIVE, atol=0.0, equal_nan=True)
            differing += int((~same).sum())
    return differing


def against_feast(world: Path, store: str) -> dict[str, int]:
    """Return in how many rows Feast has none, and in how many another answer, by why.

    `at_label`: it takes a row of the label's very instant, which had not happened before it. `unexplained` is ours to
    explain: its row is neither of those, nor one of several of the same instant.
    """
    ours = pq.read_table(world / "ours.parquet").to_pandas().set_index("row").sort_index()
    found = pq.read_table(world / f"{store}.parquet").to_pandas().drop_duplicates("row").set_index("row").sort_index()
    events = pq.read_table(world / "hist.parquet", columns=["user_id", "event_timestamp"]).to_pandas()
    several = set(map(tuple, events[events.duplicated(keep=False)].itertuples(index=False)))
    there = set(map(tuple, events.itertuples(index=False)))
    ours_there = ours.loc[found.index]
    differs = np.zeros(len(found), bool)
    for label, _ in LATEST:
        one, other = ours_there[f"hist.{label}"], found[label]
        differs |= ~((one == other) | (one.isna() & other.isna())).to_numpy()
    at_label = ties = unexplained = 0
    users = {user for user, _ in several}
    for user, at in ours_there.loc[differs, ["user_id", "event_timestamp"]].itertuples(index=False):
        if (user, at) in there:
            at_label += 1
        elif user in users:
            ties += 1
        else:
            unexplained += 1
    return {"dropped": len(ours) - len(found), "at_label": at_label, "ties": ties, "unexplained": unexplained}
