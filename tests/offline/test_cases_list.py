"""Which test holds which public case: of time, of values and keys, of systems; none of them is without one."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final

import pytest

from tests.offline.test_cases import CASES

TESTS: Final = Path(__file__).parents[1]
TIME: Final = "offline/test_cases_time.py"
RUNS: Final = "cli/test_cases_runs.py"
ONLINE: Final = "online/test_public_cases.py"
HTTP: Final = "serving/test_public_cases.py"
OF_TIME: Final = (1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 14, 15, 16, 17, 18, 19, 20, 22, 23, 24, 26, 27)
OF_VALUES: Final = (29, 30, 31, 32, 34, 35, 37, 38, 40, 41, 42, 43, 46, 47, 49)
OF_SYSTEMS: Final = (51, 52, 53, 54, 55)
NUMBERS: Final = OF_TIME + OF_VALUES + OF_SYSTEMS
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
    29: (
        f"{ONLINE}::test_missing_null_and_zero_do_not_look_alike",
        f"{HTTP}::test_over_http_null_empty_zero_and_missing_do_not_look_alike",
    ),
    30: (
        f"{ONLINE}::test_a_missing_count_has_one_typed_default",
        "online/test_lookup.py::test_on_demand_features_are_computed_from_defaulted_features_and_the_request",
        "online/test_vectors.py::test_lookups_are_answered_as_the_page_says",
        "offline/test_point_in_time.py::test_each_label_has_what_serving_would_have_answered",
    ),
    31: (
        f"{ONLINE}::test_a_null_string_and_an_empty_one_stay_two_things",
        "offline/test_source.py::test_csv_binds_by_header_and_knows_null_from_empty",
    ),
    32: (
        f"{ONLINE}::test_a_null_key_matches_nobody",
        f"{HTTP}::test_over_http_a_null_key_is_nobody",
        "online/test_refresh.py::test_a_row_with_a_null_key_is_counted_and_not_written",
        "offline/test_source.py::test_keys_are_widened_and_a_null_key_is_no_entity",
    ),
    37: (
        f"{ONLINE}::test_a_float_stays_a_float32",
        f"{HTTP}::test_over_http_a_float32_keeps_its_bits_and_money_its_digits",
    ),
    40: (f"{ONLINE}::test_money_is_exact",),
    41: (
        f"{ONLINE}::test_a_key_finds_its_row_whatever_integer_it_comes_as",
        f"{HTTP}::test_an_integer_key_finds_its_row_from_wherever_it_comes",
    ),
    42: (
        f"{HTTP}::test_the_text_of_an_integer_key_has_no_width",
        "online/test_vectors.py::test_keys_are_written_as_the_page_says",
        "online/test_independent_reader.py::test_the_reader_answers_as_the_client_does",
    ),
    43: (
        f"{ONLINE}::test_keys_have_all_64_bits",
        "serving/test_app.py::test_whole_numbers_keep_all_their_digits_in_and_out",
    ),
    47: (
        f"{ONLINE}::test_the_same_request_twice_gives_the_same_answer",
        "offline/test_window_cases.py::test_the_same_request_twice_is_the_same_answer_twice",
    ),
    51: (
        f"{ONLINE}::test_no_answer_mixes_two_refreshes_while_they_come_and_go",
        "online/test_cache_machine.py::test_no_answer_is_older_than_it_may_be_and_none_is_mixed",
        "serving/test_model.py::test_a_model_is_not_run_on_features_of_another_meaning",
        "serving/test_model.py::test_a_model_stays_on_the_version_it_was_registered_for_whichever_serves",
        "serving/test_model.py::test_one_damaged_row_keeps_a_batch_from_being_scored",
    ),
    52: (
        "quality/test_gate.py::test_the_gate_counts_the_rows_that_break_an_expectation",
        "consistency/test_check.py::test_a_refresh_that_breaks_an_expectation_is_never_served",
    ),
    53: (
        "consistency/test_sample.py::test_identical_sides_give_identical_samples",
        "consistency/test_sample.py::test_sampling_each_side_first_loses_no_key_of_the_sample_of_the_union",
    ),
    54: (
        "consistency/test_sample.py::test_a_share_of_a_tenth_is_about_every_tenth_entity",
        "consistency/test_sample.py::test_a_share_in_another_unit_is_refused",
    ),
    55: (
        "quality/test_gate.py::test_a_column_that_is_not_there_fails_rather_than_passing_unseen",
        "quality/test_expectations.py::test_a_missing_column_is_refused_by_validation_too",
        "consistency/test_compare.py::test_a_column_that_one_side_lacks_is_an_error_and_no_agreement",
        "consistency/test_check.py::test_an_empty_sample_does_not_pass",
    ),
}


@pytest.mark.parametrize("number", NUMBERS)
def test_the_case_has_a_test(number: int) -> None:
    assert number in ELSEWHERE or any(case.number == number for case in CASES)


@pytest.mark.parametrize("test", [test for tests in ELSEWHERE.values() for test in tests])
def test_the_test_that_is_named_is_there(test: str) -> None:
    file, _, name = test.partition("::")
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
