"""Events that Arrow reads: what expressions take of them, whichever columns they name."""

from __future__ import annotations

from pathlib import Path

from featurekit.clock import DAY
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.source import Source
from featurekit.offline.direct_source import DirectSource, direct_source, read_events
from featurekit.types import Boolean, String, Timestamp
from tests.offline.worlds import compiled, features, write_rows


def read(base: Path, where: str | None, **definitions: object) -> dict[str, list[object]]:
    columns = {"name": String(), "at": Timestamp(), "b": Boolean()}
    rows = [{"name": "a", "at": 5, "b": True}, {"name": "a", "at": 6, "b": False}, {"name": "a", "at": 7, "b": None}]
    write_rows(base / "rows.parquet", columns, rows)
    view = compiled(
        base,
        entities=[Entity(name="thing", join_keys={"name": String()})],
        sources=[Source(name="rows", path="rows.parquet", event_timestamp="at")],
        views=[
            FeatureView(
                name="view",
                entity="thing",
                source="rows",
                where=where,
                refresh=Refresh(every=DAY),
                features=features(**definitions),
            )
        ],
    ).views["view"]
    source = direct_source(view, base)
    assert isinstance(source, DirectSource)
    _, events = read_events(source, since=None, until=None)
    return {name: values for name, values in events.to_pydict().items() if name.startswith(("$x", "$f"))}


def test_a_constant_has_a_value_for_each_row(tmp_path: Path) -> None:
    assert read(tmp_path, "1 < 2", n={"sql": "sum(1)", "window": "1d"}) == {"$x0": [1, 1, 1]}


def test_a_column_may_be_an_argument_and_a_filter(tmp_path: Path) -> None:
    found = read(tmp_path, None, last={"sql": "max(b) FILTER (WHERE b)", "window": "1d"})
    assert found == {"$x0": [True, False, None], "$f0": [True, False, None]}
