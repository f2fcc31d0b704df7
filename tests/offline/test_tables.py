"""Sources by the name of a table in Spark's catalog: partitions, columns that change, letter case."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from featurekit.clock import DAY, parse_instant
from featurekit.compiled import CompiledView
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.partition import Partition
from featurekit.definitions.source import Source
from featurekit.errors import DefinitionErrors, SourceError
from featurekit.offline.materialize import explain_sql, materialize
from featurekit.offline.session import SparkEngine
from featurekit.offline.source import count_invisible, frame_name, read_source
from featurekit.types import DataType, Date, Int32, Int64, String, Timestamp
from tests.offline.worlds import compiled, features, materialized

pytestmark = pytest.mark.spark

AT = parse_instant("2013-11-10T00:00Z")
TABLE = "featurekit_test.rows"
COLUMNS: dict[str, DataType] = {"k": String(), "at": Timestamp(), "n": Int64()}
FORMATS = {
    "string": ("yyyy-MM-dd", String(), "date_format(at, 'yyyy-MM-dd')"),
    "date": ("date", Date(), "CAST(at AS DATE)"),
    "int": ("yyyyMMdd", Int32(), "CAST(date_format(at, 'yyyyMMdd') AS INT)"),
}


@pytest.fixture
def sql(engine: SparkEngine, tmp_path: Path) -> Iterator[Any]:
    """Runs a statement in the test's own database."""
    engine.session.sql(f"CREATE DATABASE featurekit_test LOCATION '{tmp_path / 'db'}'")
    yield engine.session.sql
    engine.session.sql("DROP DATABASE featurekit_test CASCADE")


def view_of(
    base: Path, *, columns: dict[str, DataType] | None = None, partition: Partition | None = None
) -> CompiledView:
    return compiled(
        base,
        entities=[Entity(name="thing", join_keys={"k": String()})],
        sources=[
            Source(name="rows", table=TABLE, columns=columns or COLUMNS, event_timestamp="at", partition=partition)
        ],
        views=[
            FeatureView(
                name="v",
                entity="thing",
                source="rows",
                refresh=Refresh(every=DAY),
                features=features(total={"sql": "sum(n)", "window": "2d"}),
            )
        ],
    ).views["v"]


@pytest.mark.parametrize("kind", FORMATS)
def test_a_table_is_read_by_the_partitions_of_the_window(
    kind: str, sql: Any, engine: SparkEngine, tmp_path: Path
) -> None:
    pattern, type_, expression = FORMATS[kind]
    sql(f"CREATE TABLE {TABLE} (k STRING, at TIMESTAMP, n BIGINT, ds {kind}) USING parquet PARTITIONED BY (ds)")
    rows = f"SELECT 'a' AS k, timestamp_micros({AT}L - 1 - id * {DAY}L) AS at, id AS n FROM range(20)"
    sql(f"INSERT INTO {TABLE} SELECT k, at, n, {expression} FROM ({rows})")
    view = view_of(tmp_path, columns={**COLUMNS, "ds": type_}, partition=Partition(column="ds", format=pattern))
    plain = view_of(tmp_path)
    assert materialized(engine, view, AT) == materialized(engine, plain, AT)
    assert materialized(engine, view, AT)["a",]["total"] == 1  # of 0 and 1
    frame = engine.query(explain_sql(view, AT), {frame_name(view): read_source(engine, view)})
    plan = frame._jdf.queryExecution().executedPlan().toString()
    assert "PartitionFilters: [isnotnull(ds" in plan
    (where,) = [line for line in plan.splitlines() if "PartitionFilters" in line]
    assert where.count("ds#") >= 3  # both bounds
    assert count_invisible(engine, view, AT) == 0
    assert len(materialize(engine, view, AT, now=AT).snapshot.files) == 20


@pytest.mark.parametrize(
    ("columns", "what"),
    [
        ("k STRING, at TIMESTAMP, n BIGINT, more STRING", None),
        ("n BIGINT, at TIMESTAMP, k VARCHAR(5)", None),
        ("k STRING, at TIMESTAMP", "source rows has no column n"),
        ("k STRING, at TIMESTAMP, n INT", "source rows: column n is int"),
        ("k STRING, at TIMESTAMP_NTZ, n BIGINT", "source rows: column at is timestamp_ntz"),
        ("k STRING, AT TIMESTAMP, n BIGINT", "source rows has no column at"),
    ],
)
def test_a_table_has_the_columns_that_are_declared(
    columns: str, what: str | None, sql: Any, engine: SparkEngine, tmp_path: Path
) -> None:
    sql(f"CREATE TABLE {TABLE} ({columns}) USING parquet")
    view = view_of(tmp_path)
    if what is None:
        assert materialize(engine, view, AT, now=AT).rows == 0
        return
    with pytest.raises(SourceError) as caught:
        materialize(engine, view, AT, now=AT)
    assert caught.value.what == what
    assert caught.value.where == TABLE


def test_a_table_that_is_not_there_is_wrong_input(sql: Any, engine: SparkEngine, tmp_path: Path) -> None:
    sql(f"DROP TABLE IF EXISTS {TABLE}")
    with pytest.raises(SourceError, match="the source is not there"):
        materialize(engine, view_of(tmp_path), AT, now=AT)


@pytest.mark.parametrize(
    ("columns", "format_", "says"),
    [
        (COLUMNS, "date", "ds is not among the declared columns"),
        ({**COLUMNS, "ds": Date()}, "yyyyMMdd", "ds is date, and no name in yyyyMMdd is"),
        ({**COLUMNS, "ds": Int32()}, "date", "ds is int, and no name in yyyy-MM-dd is"),
        ({**COLUMNS, "ds": Int32()}, "yyyyMMddHH", "ds is int, and no name in yyyyMMddHH is"),
    ],
)
def test_a_partition_column_has_a_type_that_holds_its_names(
    columns: dict[str, DataType], format_: str, says: str, tmp_path: Path
) -> None:
    with pytest.raises(DefinitionErrors, match=says):
        view_of(tmp_path, columns=columns, partition=Partition(column="ds", format=format_))
