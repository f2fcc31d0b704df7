"""Which test holds which public case of time, windows and lateness; none of them is without one."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final

import pytest

from tests.offline.test_cases import CASES

TESTS: Final = Path(__file__).parents[1]
TIME: Final = "offline/test_cases_time.py"
RUNS: Final = "cli/test_cases_runs.py"
NUMBERS: Final = (1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 14, 15, 16, 17, 18, 19, 20, 22, 23, 24, 26, 27)
"""The classes of the collection: a number that is missing in it was taken into another one."""
ELSEWHERE: Final[dict[int, tuple[str, ...]]] = {
    2: (f"{TIME}::test_the_zone_of_a_session_and_of_a_machine_changes_no_instant",),
    3: (
        f"{TIME}::test_a_time_without_a_zone_is_refused_wherever_it_comes_from",
        f"{TIME}::test_a_time_without_a_zone_is_read_in_the_declared_one",
        f"{TIME}::test_a_label_without_a_time_zone_is_refused",
    ),
    4: (f"{TIME}::test_a_date_is_that_of_the_declared_zone_and_of_no_engine",),
    6: (f"{TIME}::test_a_daily_count_is_of_the_same_day_on_both_sides",),
    8: (f"{TIME}::test_seconds_since_1970_are_the_same_instant_on_the_way_and_back",),
    16: (f"{RUNS}::test_rows_that_land_behind_the_watermark_count_and_replace_nothing_newer",),
    17: (f"{RUNS}::test_a_range_into_the_future_is_refused_and_stalls_nothing",),
    18: (f"{RUNS}::test_registering_the_same_again_leaves_the_watermark",),
    20: ("online/test_lookup.py::test_the_six_statuses_but_unavailable_are_told_apart",),
    24: (
        "online/test_lookup.py::test_a_late_refresh_leaves_the_older_one_served_with_its_age",
        "online/test_refresh.py::test_a_rerun_does_not_promise_rows_that_it_has_not_written_yet",
        "offline/test_cases_time.py::test_a_refresh_is_of_all_that_was_known_and_never_of_the_newest_rows_alone",
    ),
    26: (
        f"{TIME}::test_a_request_just_before_midnight_has_one_time_for_all_views",
        "online/test_public_cases.py::test_a_request_that_lasts_over_midnight_has_one_time",
    ),
    27: (f"{RUNS}::test_each_day_of_a_range_holds_its_own_day",),
}


@pytest.mark.parametrize("number", NUMBERS)
def test_the_case_has_a_test(number: int) -> None:
    assert number in ELSEWHERE or any(case.number == number for case in CASES)


@pytest.mark.parametrize("test", [test for tests in ELSEWHERE.values() for test in tests])
def test_the_test_that_is_named_is_there(test: str) -> None:
    file, _, name = test.partition("::")
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
