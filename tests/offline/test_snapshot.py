"""What is kept of the files that a run read."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from featurekit.offline import snapshot
from featurekit.offline.engine import BatchEngine
from tests.registry.definitions import compiled


def test_keys_in_a_sources_path_are_in_no_snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edit = ("path: data/orders.csv", 'path: "s3a://KEY:SE/CRET@shop/orders.csv?token=SECRET"\n    format: csv')
    view = compiled(tmp_path, edit).views["spend"]
    files = ["s3a://KEY:SE/CRET@shop/orders.csv?token=SECRET"]

    def read_source(*_: Any) -> Any:
        return SimpleNamespace(inputFiles=lambda: files)

    monkeypatch.setattr(snapshot, "read_source", read_source)

    kept = snapshot.snapshot_source(cast("BatchEngine", None), view).to_json()

    assert kept["origin"] == "s3a://shop/orders.csv"
    assert [file["path"] for file in kept["files"]] == ["s3a://shop/orders.csv"]
    assert "CRET" not in json.dumps(kept)
