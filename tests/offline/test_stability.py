"""What a query of one's own may not contain: another answer on another run, or anything but a query (DESIGN V6).

Spark only analyses these queries; no test here runs a job, apart from the one that counts tables.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from featurekit.clock import DAY
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.source import Source
from featurekit.errors import SourceError
from featurekit.offline.session import SparkEngine
from featurekit.offline.source import read_source
from featurekit.types import DataType, Int64, String, Timestamp
from tests.offline.worlds import compiled, features

pytestmark = pytest.mark.spark
COLUMNS: dict[str, DataType] = {"k": String(), "at": Timestamp(), "v": Int64()}
UNSTABLE = {
    "SELECT * FROM t LIMIT 1": "LIMIT",
    "SELECT * FROM t ORDER BY k, at, v LIMIT 1": "LIMIT",
    "SELECT k, v FROM t ORDER BY k, v, at LIMIT 2": "LIMIT",
    "SELECT k FROM t SORT BY k LIMIT 1": "LIMIT",
    "FROM t |> SELECT k |> LIMIT 1": "LIMIT",
    "SELECT * FROM t OFFSET 1": "OFFSET",
    "SELECT * FROM t WHERE v IN (SELECT v FROM t LIMIT 1)": "LIMIT",
    "SELECT * FROM t TABLESAMPLE (1 ROWS)": "LIMIT",
    "SELECT * FROM t TABLESAMPLE (50 PERCENT) REPEATABLE (1)": "TABLESAMPLE",
    "SELECT * FROM t TABLESAMPLE (BUCKET 1 OUT OF 2)": "TABLESAMPLE",
    "SELECT TRANSFORM (k) USING 'cat' AS (k STRING) FROM t": "TRANSFORM",
    "SELECT *, row_number() OVER (PARTITION BY k ORDER BY at) AS n FROM t": "row_number()",
    "SELECT *, ntile(2) OVER (PARTITION BY k ORDER BY at) AS n FROM t": "ntile()",
    "SELECT k, lag(v) OVER (PARTITION BY k ORDER BY at) AS n FROM t": "lag()",
    "SELECT k, lead(v) OVER (PARTITION BY k ORDER BY at) AS n FROM t": "lead()",
    "SELECT k, first_value(v) OVER (PARTITION BY k ORDER BY at) AS n FROM t": "first_value()",
    "SELECT k, nth_value(v, 2) OVER (PARTITION BY k ORDER BY at) AS n FROM t": "nth_value()",
    "SELECT k, v, sum(v) OVER (PARTITION BY k ORDER BY at ROWS 2 PRECEDING) AS n FROM t": "sum() over ROWS",
    "SELECT max_by(v, at) FROM t": "max_by()",
    "SELECT mode(v) FROM t": "mode()",
    "SELECT k, sum(x) FROM t GROUP BY k": "sum() of floats",
    "SELECT k, try_avg(x) FROM t GROUP BY k": "try_avg() of floats",
    "SELECT stddev(v) FROM t": "stddev() of floats",
    "SELECT * FROM t, LATERAL (SELECT min_by(v, at) AS m FROM t AS u WHERE u.k = t.k)": "min_by()",
    "WITH c AS (SELECT rand() AS r, k FROM t) SELECT * FROM c": "rand()",
    "SELECT (SELECT first(v) FROM t) AS v FROM t": "first()",
}
STABLE = (
    "SELECT k, max(v), count(*), sum(v), avg(v), percentile(v, 0.5) FROM t GROUP BY k",
    "SELECT DISTINCT k FROM t ORDER BY k",
    "SELECT * FROM t ORDER BY v, k, at, x LIMIT 1 OFFSET 1",
    "SELECT *, row_number() OVER (PARTITION BY k ORDER BY at DESC, v, x) AS n FROM t",
    "SELECT *, first_value(v) OVER (PARTITION BY k ORDER BY at DESC, v, x) AS n FROM t",
    "SELECT *, rank() OVER (PARTITION BY k ORDER BY at), dense_rank() OVER (ORDER BY at) FROM t",
    "SELECT *, sum(v) OVER (PARTITION BY k ORDER BY at), max(v) OVER (PARTITION BY k) FROM t",
    "SELECT * FROM (SELECT k, v FROM t) PIVOT (sum(v) FOR k IN ('a', 'b'))",
    "SELECT * FROM t LIMIT ALL",
)
NO_QUERIES = (
    "CREATE TABLE made USING parquet AS SELECT 1 AS one",
    "CREATE TEMPORARY VIEW made AS SELECT 1 AS one",
    "DROP VIEW t",
    "INSERT INTO kept VALUES (2)",
    "WITH c AS (SELECT 2 AS one) INSERT INTO kept SELECT * FROM c",
    "FROM t INSERT INTO kept SELECT 2",
    "SELECT 1; DROP VIEW t",
    "SELECT 1) AS a; DROP VIEW t; SELECT * FROM (SELECT 1",
    "BEGIN DROP VIEW t; END",
    "EXECUTE IMMEDIATE 'DROP VIEW t'",
    "SET spark.sql.session.timeZone = Asia/Tokyo",
    "CACHE TABLE t",
    "SHOW TABLES",
    "EXPLAIN SELECT 1",
)


@pytest.fixture
def engine(engine: SparkEngine) -> SparkEngine:
    one_row = "SELECT 'a' AS k, TIMESTAMP '2013-12-31 00:00:00Z' AS at, 1L AS v, 1.5D AS x"
    engine.session.sql(one_row).createOrReplaceTempView("t")
    return engine


def read(engine: SparkEngine, base: Path, sql: str) -> None:
    """Read a source of this query, as a view does."""
    view = compiled(
        base,
        entities=[Entity(name="thing", join_keys={"k": String()})],
        sources=[Source(name="q", sql=sql, columns=COLUMNS, event_timestamp="at")],
        views=[
            FeatureView(
                name="view", entity="thing", source="q", refresh=Refresh(every=DAY), features=features(v={"sql": "v"})
            )
        ],
    ).views["view"]
    read_source(engine, view)


def test_what_can_answer_otherwise_on_another_run_is_named(engine: SparkEngine) -> None:
    found = {sql: engine.unstable_parts(engine.query(sql)) for sql in UNSTABLE}
    assert {sql: part for sql, (part, *_) in found.items() if not part.startswith(UNSTABLE[sql])} == {}
    assert {sql: parts for sql, parts in found.items() if len(parts) != 1} == {}


def test_what_no_order_of_rows_changes_is_let_through(engine: SparkEngine) -> None:
    assert {sql: parts for sql in STABLE if (parts := engine.unstable_parts(engine.query(sql)))} == {}


def test_a_source_whose_query_is_not_stable_is_refused(engine: SparkEngine, tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        read(engine, tmp_path, "SELECT k, at, v FROM t LIMIT 5")
    assert caught.value.what == "the query of source q uses LIMIT without an ORDER BY of every column"
    assert caught.value.exit_code == 2
    assert "order by every column" in str(caught.value.try_)


def test_a_source_runs_nothing_but_a_query(engine: SparkEngine, tmp_path: Path) -> None:
    engine.session.sql(f"CREATE TABLE kept (one INT) USING parquet LOCATION '{tmp_path / 'kept'}'")
    try:
        for sql in NO_QUERIES:
            with pytest.raises(SourceError) as caught:
                read(engine, tmp_path, sql)
            assert caught.value.where == "the sql of source q", sql
            assert (
                caught.value.try_
                == "correct its sql: one query, and no other statement; paths in it begin at featurekit.toml's folder"
            ), sql
        tables = {row.tableName for row in engine.session.sql("SHOW TABLES").collect()}
        assert tables & {"t", "made", "kept"} == {"t", "kept"}
        assert engine.session.table("kept").count() == 0
        assert engine.session.conf.get("spark.sql.session.timeZone") == "UTC"
    finally:
        engine.session.sql("DROP TABLE kept")


@pytest.mark.parametrize("tail", ["", ";", " ;\n ; ", " -- done", " /* done */", "\n-- done;\n"])
def test_a_query_may_end_in_a_semicolon_or_a_comment(tail: str, engine: SparkEngine, tmp_path: Path) -> None:
    read(engine, tmp_path, f"/* first; */ WITH c AS (SELECT k, at, v FROM t) SELECT * FROM c WHERE k <> ';'{tail}")
