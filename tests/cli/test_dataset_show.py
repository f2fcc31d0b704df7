"""A training set as people read it: a line for each thing it was made from."""

from __future__ import annotations

from pathlib import Path

import pytest

from featurekit.cli.answer import Table
from featurekit.cli.dataset_show import shown
from featurekit.offline.manifest import AsOfMode, LabelsRecord, Manifest

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
