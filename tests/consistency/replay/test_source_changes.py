"""What differs proves nothing where the source is another one by now, or was mended and the refresh run again."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest

from featurekit.clock import DAY, HOUR
from featurekit.compiled import CompiledView
from featurekit.consistency.compare import Verdict, compare_fields
from featurekit.consistency.replay.logged import LoggedRows
from featurekit.consistency.replay.logic import Asked, Replayed
from featurekit.consistency.replay.source_changes import SourceChanges, with_changes
from featurekit.consistency.replay.versions import ServedVersion
from featurekit.offline.engine import BatchEngine
from featurekit.offline.snapshot import snapshot_source
from featurekit.registry.registry import Registry
from featurekit.types import Float64
from tests.consistency.sides import field, side
from tests.online.servers import service_plan, view_plan
from tests.registry.definitions import compiled
from tests.registry.states import TODAY

YESTERDAY = TODAY - DAY
MENDED = TODAY + 9 * HOUR
SPEC = field("amount_7d", Float64())
PLAN = service_plan(view_plan([], name="spend"))


@dataclass(frozen=True)
class Root:
    """Where the engine finds files: all that a look at them takes."""

    root: Path


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry(
        f"sqlite:///{tmp_path / 'registry.db'}", project="shop", environment="test", models=tmp_path / "models"
    )


def landing(folder: Path) -> CompiledView:
    """Return the view over a source that says when its rows landed."""
    view = compiled(folder).views["spend"]
    return replace(view, source=view.source.model_copy(update={"created_timestamp": "at"}))


def replayed(view: CompiledView) -> Replayed:
    """Return three answers: of yesterday, of today before and after MENDED; all but the first differ."""
    times = pa.array([TODAY, TODAY + 8 * HOUR, MENDED], pa.timestamp("us", tz="UTC"))
    logged = LoggedRows(
        version=ServedVersion(plan=PLAN, number=1, views={}, lost={}),
        table=pa.table({"timestamp": times}),
        weights=np.ones(3),
    )
    as_ofs = pa.array([YESTERDAY, TODAY, TODAY], pa.timestamp("us", tz="UTC"))
    one, other = side((SPEC,), [(1.0,), (2.0,), (3.0,)]), side((SPEC,), [(1.0,), (5.0,), (5.0,)])
    return Replayed(
        asked=Asked(
            logged=logged, part=PLAN.views[0], view=view, rows=np.arange(3), requests=pa.table({"as_of": as_ofs})
        ),
        fields=(SPEC,),
        served=one,
        recomputed=other,
        comparisons=dict(compare_fields((SPEC,), one, other)),
        open={"amount_7d": np.zeros(3, np.bool_)},
        unproven=np.zeros(3, np.bool_),
    )


def verdicts(registry: Registry, view: CompiledView, folder: Path) -> tuple[list[Verdict], str | None]:
    changes = SourceChanges(registry, cast(BatchEngine, Root(folder)))
    (found,) = with_changes([replayed(view)], changes)
    return [Verdict(code) for code in found.comparisons["amount_7d"].verdicts.tolist()], found.source_change


def refresh(registry: Registry, view: CompiledView, at: int, **record: Any) -> None:
    started = registry.start_refresh(
        view="spend", fingerprint=view.fingerprint.data, as_of=TODAY, started_at=at, **record
    )
    registry.complete_refresh(started, completed_at=at, rows=1, bytes_=1, visible_from=at)


def test_of_a_source_that_says_when_rows_landed_what_differs_differs(registry: Registry, tmp_path: Path) -> None:
    view = landing(tmp_path)
    refresh(registry, view, TODAY + 2 * HOUR)
    (tmp_path / "data" / "orders.csv").write_text("another source by now\n")
    assert verdicts(registry, view, tmp_path) == ([Verdict.MATCH, Verdict.MISMATCH, Verdict.MISMATCH], None)


def test_what_was_answered_before_a_refresh_was_restated_can_not_be_told(registry: Registry, tmp_path: Path) -> None:
    view = landing(tmp_path)
    refresh(registry, view, TODAY + 2 * HOUR)
    refresh(registry, view, MENDED, reason="amounts were in cents")
    found, why = verdicts(registry, view, tmp_path)
    assert found == [Verdict.MATCH, Verdict.INDETERMINATE, Verdict.MISMATCH]
    assert why == "the refresh as of 2013-11-15T00:00Z was restated: amounts were in cents"


def test_without_it_a_source_that_is_what_was_read_proves_the_difference(registry: Registry, tmp_path: Path) -> None:
    view = compiled(tmp_path).views["spend"]
    snapshot = json.dumps(snapshot_source(cast(BatchEngine, Root(tmp_path)), view).to_json())
    refresh(registry, view, TODAY + 2 * HOUR, snapshot=snapshot)
    assert verdicts(registry, view, tmp_path) == ([Verdict.MATCH, Verdict.MISMATCH, Verdict.MISMATCH], None)
    (tmp_path / "data" / "orders.csv").write_text("another source by now\n")
    found, why = verdicts(registry, view, tmp_path)
    assert found == [Verdict.MATCH, Verdict.INDETERMINATE, Verdict.INDETERMINATE]
    assert why is not None
    assert "orders.csv" in why


def test_where_nothing_is_on_record_nothing_is_proven(registry: Registry, tmp_path: Path) -> None:
    view = compiled(tmp_path).views["spend"]
    found, why = verdicts(registry, view, tmp_path)
    assert found == [Verdict.MATCH, Verdict.INDETERMINATE, Verdict.INDETERMINATE]
    assert why == "nothing is recorded of the source that the refresh read"
