"""A training set as people read it: a line for each thing it was made from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from featurekit.cli.answer import Line, Table
from featurekit.cli.dataset_rebuild import rebuilt
from featurekit.cli.dataset_show import shown
from featurekit.offline.manifest import AsOfMode, LabelsRecord, Manifest
from featurekit.offline.rebuild import Rebuild

LABELS = LabelsRecord(
    path="labels.parquet",
    timestamp="asked_at",
    timezone=None,
    format=None,
    columns={},
    null_tokens=(),
    sha256="9f3c" * 16,
    files=(),
)
MANIFEST = Manifest(
    id="a4",
    service="offer",
    as_of=AsOfMode.DECLARED,
    rows=608,
    content="c0",
    columns=(),
    service_fingerprint="f0",
    view_fingerprints={},
    definitions={},
    versions={"spark": "4.3.0"},
    labels=LABELS,
    sources=(),
    join={"orders": "in memory: 2,000 events", "prices": "all entities: of 9, 9 are named"},
    views=(),
    features=(),
)


@pytest.mark.parametrize("view", ["orders", "prices"])
def test_the_join_of_each_view_has_a_line_of_its_own(view: str) -> None:
    table = next(block for block in shown(MANIFEST, Path("train")).blocks if isinstance(block, Table))
    assert ("join", f"{view}: {MANIFEST.join[view]}") in table.rows


@pytest.mark.parametrize(
    ("after", "says"),
    [
        (MANIFEST, "the same: id a4"),
        (replace(MANIFEST, id="b5"), "not the same: the training set has id a4, the one built now id b5"),
        (None, "the training set, id a4, can't come out the same, so it was not built again"),
    ],
    ids=["the same", "another", "not built"],
)
def test_what_came_of_a_rebuild_is_said_of_both_sets(after: Manifest | None, says: str) -> None:
    answer = rebuilt(Rebuild(before=MANIFEST, after=after, path=None, reasons=("a reason",), rows=None))
    told = answer.blocks[0]
    assert isinstance(told, Line)
    assert told.text == says
    assert answer.exit_code == (0 if after == MANIFEST else 1)
