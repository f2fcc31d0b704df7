"""As-ofs that may have been taken by mistake."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from featurekit.clock import DAY, HOUR, MINUTE, format_instant, parse_instant
from featurekit.consistency.diagnosis.as_of_factors import as_of_factors, end_of_day, following, previous, start_of_day
from featurekit.consistency.diagnosis.causes import Cause
from featurekit.consistency.diagnosis.zones import offsets, read_as_local, read_as_utc, without_saving
from featurekit.definitions.feature_view import Refresh
from featurekit.grid import Grid
from tests.consistency.diagnosis.by_hand import AS_OF, view_of

NEW_YORK = "America/New_York"


def at(*texts: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array([parse_instant(text) for text in texts], np.int64)


def shown(instants: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[str]:
    return [format_instant(int(instant)) for instant in instants]


def test_refreshes_before_and_after_follow_the_grid_across_a_change_of_clocks() -> None:
    grid = Grid(DAY, 0, NEW_YORK)
    # On 8 March 2026 clocks there go forward: that day has 23 hours.
    asked = at("2026-03-09T04:00Z", "2026-03-09T04:00Z")
    assert shown(previous(grid, 2, asked)) == ["2026-03-07T05:00Z"] * 2
    assert shown(following(grid, 1, previous(grid, 1, asked))) == shown(asked)


def test_days_end_where_the_zone_has_it() -> None:
    asked = at("2026-03-08T06:00Z", "2026-03-08T04:59Z")
    assert shown(end_of_day(NEW_YORK, asked)) == ["2026-03-09T04:00Z", "2026-03-08T05:00Z"]
    assert shown(end_of_day(None, asked)) == ["2026-03-09T00:00Z"] * 2
    assert shown(start_of_day(NEW_YORK, asked)) == ["2026-03-08T05:00Z", "2026-03-07T05:00Z"]


def test_clocks_of_a_zone_are_read_for_many_instants_at_once() -> None:
    around = at("2026-03-08T06:59Z", "2026-03-08T07:00Z")
    assert offsets(around, NEW_YORK).tolist() == [-5 * HOUR, -4 * HOUR]
    assert shown(read_as_utc(around, NEW_YORK)) == ["2026-03-08T01:59Z", "2026-03-08T03:00Z"]
    assert read_as_local(read_as_utc(around, NEW_YORK), NEW_YORK).tolist() == around.tolist()
    assert shown(without_saving(around, NEW_YORK)) == ["2026-03-08T06:59Z", "2026-03-08T08:00Z"]


def test_each_as_of_is_told_once_and_another(tmp_path: Path) -> None:
    view = view_of(tmp_path, n={"sql": "count(*)", "window": "1d"})
    as_ofs = np.full(3, AS_OF, np.int64)
    asked_at = as_ofs + np.array([3 * HOUR, 5 * HOUR, 6 * HOUR + MINUTE])
    found = list(as_of_factors(view, as_ofs, asked_at))
    by_cause = {factor.cause: factor for factor in reversed(found)}
    assert len({factor.told for factor in found}) == len(found)

    def moved(cause: Cause) -> list[int]:
        change = by_cause[cause].as_ofs
        assert change is not None
        found: list[int] = (change(as_ofs) - as_ofs).tolist()
        return found

    assert moved(Cause.PREVIOUS_REFRESH) == [-DAY] * 3
    assert moved(Cause.LATER_REFRESH) == [DAY] * 3
    assert moved(Cause.REQUEST_TIME) == (asked_at - as_ofs).tolist()
    assert moved(Cause.WHOLE_DAY) == [DAY] * 3
    assert moved(Cause.BOUND_CLOSED) == [1] * 3
    assert Cause.DST_SHIFT not in by_cause  # no zone is declared that changes its clocks


@pytest.mark.parametrize(("zone", "own"), [(NEW_YORK, {-5, -4, 4, 5}), ("Asia/Kolkata", {-5.5, 5.5})])
def test_a_zones_own_offsets_cost_less_than_any_hour(tmp_path: Path, zone: str, own: set[float]) -> None:
    refresh = Refresh(every=DAY, timezone=zone)
    view = view_of(tmp_path, view={"refresh": refresh}, n={"sql": "count(*)", "window": "1d"})
    as_ofs = np.full(1, view.view.grid.floor(AS_OF), np.int64)
    shifts: dict[float, int] = {}
    for factor in as_of_factors(view, as_ofs, None):
        if factor.cause in (Cause.TIME_ZONE_SHIFT, Cause.DST_SHIFT):
            assert factor.as_ofs is not None
            shifts[int(factor.as_ofs(as_ofs)[0] - as_ofs[0]) / HOUR] = factor.extra
    assert {hours for hours, extra in shifts.items() if not extra and abs(hours) != 1} == own
    assert {hours for hours in shifts if hours % 1 == 0} == {*range(-14, 15)} - {0}
    assert (shifts[1] == 0) == (zone == NEW_YORK)
