"""`materialize` as an answer: what is served, what failed and what was not tried stand side by side."""

from __future__ import annotations

from dataclasses import replace

import pytest

from featurekit.cli.answer import Line, Table, Toned
from featurekit.cli.materialize import materialized
from featurekit.clock import DAY
from featurekit.errors import GateError, OnlineStoreError
from featurekit.materializing import MaterializeErrors, RefreshFailure
from featurekit.registry.state import RefreshKind
from tests.cli.conftest import Cli
from tests.registry.states import TODAY
from tests.test_materializing import outcome

GATE, AWAY = GateError("load: the refresh breaks what is expected"), OnlineStoreError("the online store is away")
FAILED = MaterializeErrors(
    (outcome("spend"),),
    (RefreshFailure(view="load", as_of=TODAY, error=GATE), RefreshFailure(view="trips", as_of=TODAY, error=AWAY)),
    (("weather", TODAY),),
)


def test_what_failed_stands_beside_what_is_served_and_decides_the_exit_code() -> None:
    answer = materialized(FAILED.outcomes, FAILED)
    table = answer.blocks[0]
    assert isinstance(table, Table)
    states = {str(row[0]): row[-1].text if isinstance(row[-1], Toned) else row[-1] for row in table.rows}
    assert states == {"spend": "computed", "load": "failed", "trips": "failed", "weather": "not tried"}
    assert answer.errors == (GATE, AWAY)
    assert answer.exit_code == 3
    document = answer.document
    assert [each["view"] for each in document["refreshes"]] == ["spend"]
    assert [(each["view"], each["error"]) for each in document["failures"]] == [
        ("load", "GateError"),
        ("trips", "OnlineStoreError"),
    ]
    assert document["not_tried"] == [{"view": "weather", "as_of": "2013-11-15T00:00Z"}]
    assert document["exit_code"] == 3


def test_without_a_failure_the_document_says_so() -> None:
    answer = materialized((outcome("spend"),))
    assert (answer.exit_code, answer.document["failures"], answer.document["not_tried"]) == (0, [], [])


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (1, "spend: 1 source row has no time or no row key, and counts nowhere"),
        (2_000, "spend: 2,000 source rows have no time or no row key, and count nowhere"),
    ],
)
def test_rows_that_no_refresh_sees_are_told_once_a_view(count: int, said: str) -> None:
    seen = replace(outcome("spend"), invisible=count)
    answer = materialized((seen, replace(seen, as_of=TODAY + DAY), outcome("load")))
    assert [block.text for block in answer.blocks if isinstance(block, Line)] == [said]


def states(answer_rows: tuple[tuple[object, ...], ...]) -> list[str]:
    return [cell.text for row in answer_rows for cell in row[-1:] if isinstance(cell, Toned)]


def test_what_was_computed_of_how_many_is_said() -> None:
    some = replace(outcome("spend"), kind=RefreshKind.INCREMENTAL, computed=1_234, rows=20_000)
    (table,) = materialized((some,)).blocks
    assert isinstance(table, Table)
    assert states(table.rows) == ["computed: 1,234 of 20,000 entities"]
    (document,) = materialized((some,)).document["refreshes"]
    assert (document["kind"], document["computed"]) == ("incremental", 1_234)


def test_a_backfill_is_a_row_a_view_and_all_its_refreshes_in_json() -> None:
    days = [replace(outcome("spend"), as_of=TODAY - day * DAY, is_new=day > 0) for day in (2, 1, 0)]
    answer = materialized(tuple(days), by_view=True)
    (table,) = answer.blocks
    assert isinstance(table, Table)
    assert (table.rows[0][1], states(table.rows)) == (
        "2013-11-13T00:00Z … 2013-11-15T00:00Z",
        ["2 computed, 1 there already"],
    )
    assert len(answer.document["refreshes"]) == 3


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("--as-of", "2013-11-15", "--at", "2013-11-15"), "--as-of and --at are both given"),
        (("--as-of", "2013-11-15", "--from", "2013-11-15"), "--as-of and --from are both given"),
        (("--to", "2013-11-15"), "--to is given without --from"),
        (("--from", "2013-11-15", "--full"), "--from and --full are both given"),
        (("--restate", " "), "--restate has no reason"),
        (("--restate", "--full"), "--restate has no reason"),
    ],
)
def test_options_that_contradict_each_other_are_refused(cli: Cli, words: tuple[str, ...], what: str) -> None:
    shown = cli("materialize", *words)
    assert shown.exit_code == 2
    assert what in shown.stderr
