"""`forget` on the command line: which entities its words name, and what its exit code says."""

from __future__ import annotations

from pathlib import Path

import pytest

from featurekit.cli.forget import asked_keys, forgotten
from featurekit.erasing import PlaceErased
from featurekit.erasure_proof import Finding, Looked
from featurekit.errors import InputError, KeyTypeError
from featurekit.forgetting import Forgetting, SourceRows
from featurekit.types import Field, Int64, String

CARRIER = (Field("carrier", String()),)
ROUTE = (Field("origin", String()), Field("dest", String()))


def test_words_are_keys_of_a_single_join_key_or_one_entity_of_several(tmp_path: Path) -> None:
    assert asked_keys(CARRIER, ["UA", "carrier=DL", "x=y"], None) == (
        {"carrier": "UA"},
        {"carrier": "DL"},
        {"carrier": "x=y"},
    )
    assert asked_keys((Field("id", Int64()),), ["-7"], None) == ({"id": -7},)
    assert asked_keys(ROUTE, ["dest=LAX", "origin=JFK"], None) == ({"origin": "JFK", "dest": "LAX"},)
    file = tmp_path / "keys.json"
    file.write_text('{"carrier": "UA"}\n{"carrier": "DL"}\n')
    assert asked_keys(CARRIER, None, file) == ({"carrier": "UA"}, {"carrier": "DL"})
    assert asked_keys(CARRIER, [], None) == ()
    with pytest.raises(InputError, match="both given"):
        asked_keys(CARRIER, ["UA"], file)
    with pytest.raises(KeyTypeError, match="no bigint"):
        asked_keys((Field("id", Int64()),), ["UA"], None)
    with pytest.raises(KeyTypeError, match="dest is missing"):
        asked_keys(ROUTE, ["origin=JFK"], None)


def outcome(*findings: Finding, unread: tuple[str, ...] = (), is_dry_run: bool = False) -> Forgetting:
    looked = Looked(online_keys=3, files=1, rows=2, findings=findings, mentions=(), unread=unread)
    return Forgetting(
        entity="carrier",
        at=0,
        is_dry_run=is_dry_run,
        keys=("0" * 32,),
        new=1,
        erased=(PlaceErased(place="online", where="load@01234567", rows=1),),
        looked=looked,
        sources=(SourceRows(view="load", source="departures", rows=4),),
    )


LEFT = Finding(place="online", where="load@01234567", rows=1)


@pytest.mark.parametrize(
    ("done", "exit_code"),
    [
        (outcome(), 0),
        (outcome(LEFT), 1),
        (outcome(unread=("a file: torn",)), 1),
        (outcome(LEFT, is_dry_run=True), 0),
    ],
)
def test_the_exit_code_says_whether_anything_is_left(done: Forgetting, exit_code: int) -> None:
    answer = forgotten(done)
    assert answer.exit_code == exit_code
    assert answer.document["is_clean"] is (not done.looked.findings and not done.looked.unread)
    assert answer.document["sources"] == ({"view": "load", "source": "departures", "rows": 4},)
