"""Was an answer of the refresh that was promised? By hand, over grids of fixed spans and of local days."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from featurekit.clock import DAY, HOUR, MINUTE, parse_instant
from featurekit.consistency.replay.freshness import Freshness, ages, freshness
from featurekit.grid import Grid

DAILY = Grid(DAY, 2 * HOUR)
BERLIN = Grid(DAY, 2 * HOUR, "Europe/Berlin")
G = 20_000 * DAY


def told(
    grid: Grid, *answers: tuple[int, int | None], ahead: bool = False, weights: list[float] | None = None
) -> Freshness:
    """Return the freshness of answers, each a request's time and the as-of that was served."""
    times = np.array([at for at, _ in answers], np.int64)
    as_ofs = pa.array([as_of for _, as_of in answers], pa.int64())
    flags, nobody = np.full(len(answers), ahead), np.zeros(len(answers), np.bool_)
    found = ages(grid, times, as_ofs, ahead=flags, last_known=nobody)
    return freshness(found, np.array(weights or [1.0] * len(answers)))


@pytest.mark.parametrize(
    ("at", "as_of", "late"),
    [
        (G + 2 * HOUR, G, None),  # the first instant at which it can be served
        (G + 2 * HOUR - 1, G - DAY, None),
        (G + 2 * HOUR, G - DAY, 1),
        (G + 2 * HOUR + 3 * DAY, G, 3),
        (G + 2 * HOUR, G - 30 * DAY, 30),
    ],
)
def test_an_answer_is_late_by_the_refreshes_that_were_due(at: int, as_of: int, late: int | None) -> None:
    found = told(DAILY, (at, as_of))
    assert (found.on_time, found.late) == ((1, {}) if late is None else (0, {late: 1}))
    assert found.oldest == at - as_of


def test_what_is_newer_than_promised_is_ahead_and_so_is_what_says_so() -> None:
    assert told(DAILY, (G + 2 * HOUR - 1, G)).ahead == 1
    marked = told(DAILY, (G + 2 * HOUR, G), ahead=True)
    assert (marked.ahead, marked.on_time) == (1, 0)


def test_an_as_of_off_the_grid_is_neither_late_nor_on_time() -> None:
    found = told(DAILY, (G + 5 * HOUR, G + MINUTE), (G + 5 * HOUR, None))
    assert (found.off_grid, found.unavailable, found.on_time, found.late, found.ahead) == (1, 1, 0, {}, 0)


@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25"])
def test_days_of_23_and_of_25_hours_are_one_refresh_each(day: str) -> None:
    """The clocks of Berlin change on these days."""
    noon = parse_instant(f"{day}T12:00Z")
    promised = BERLIN.served_at(noon)
    before = BERLIN.served_at(promised - 1)
    two = BERLIN.served_at(before - 1)
    assert told(BERLIN, (noon, promised), (noon, before), (noon, two)).late == {1: 1, 2: 1}
    assert told(BERLIN, (noon + DAY, promised), (noon + DAY, before)).late == {1: 1, 2: 1}


def test_shares_are_of_those_that_the_sampled_rows_stand_for() -> None:
    found = told(DAILY, (G + 2 * HOUR, G), (G + 2 * HOUR, G - DAY), (G + 2 * HOUR, None), weights=[9, 1, 90])
    assert found.late_share == pytest.approx(0.1)
    assert told(DAILY).late_share is None
    assert told(DAILY, (G, None)).oldest is None
