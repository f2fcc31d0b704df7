"""`materialize` as an answer: what is served, what failed and what was not tried stand side by side."""

from __future__ import annotations

from featurekit.cli.answer import Table, Toned
from featurekit.cli.materialize import materialized
from featurekit.errors import GateError, OnlineStoreError
from featurekit.materializing import MaterializeErrors, RefreshFailure
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
