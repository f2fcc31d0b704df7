"""Conditions over Parquet files keep the rows they mean: what Spark hands down to the file's reader loses none."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from featurekit.expr.nodes import Column
from featurekit.expr.parse import parse_expression
from featurekit.expr.scope import ColumnScope
from featurekit.offline.session import SparkEngine
from featurekit.targets.python import compile_row
from featurekit.targets.spark import render
from featurekit.types import Array, Float32, Float64, Int32, Struct, Timestamp

_NAN: Final = float("nan")
pytestmark = pytest.mark.spark

# Each list is a group of rows in the file: of statistics that pass over NaN, of dictionaries that tell -0.0 from 0.0.
_GROUPS: Final[tuple[list[float | None], ...]] = (
    [-0.0, -0.0, -0.0],
    [0.0, 0.0],
    [0.5, _NAN, 0.25],
    [_NAN, _NAN],
    [None, None],
    [1.0, 2.0, _NAN],
    [float("inf"), float("-inf")],
    [-0.0, 0.0, None],
    [-1.0, _NAN, 0.1],
)
_COLUMNS: Final = (
    Column(name="d", type=Float64(), nullable=True),
    Column(name="f", type=Float32(), nullable=True),
    Column(name="i", type=Int32(), nullable=True),
    Column(name="st", type=Struct((("d", Float64()),)), nullable=True),
    Column(name="a", type=Array(Float64()), nullable=True),
    Column(name="ms", type=Timestamp(), nullable=True),
)
_LITERALS: Final = ("0.0D", "-0.0D", "0.1D", "1.0D", "CAST('NaN' AS DOUBLE)", "CAST('Infinity' AS DOUBLE)", "1e300D")
_CONDITIONS: Final = (
    *(f"d {symbol} {right}" for symbol in ("=", "<", ">=", "<>") for right in _LITERALS),
    *(f"f {symbol} {right}" for symbol in ("=", "<=", ">") for right in _LITERALS[:5]),
    *(f"NOT ({left} {symbol} 0.0D)" for left in ("d", "f", "st.d") for symbol in ("<", ">", "=", "<=>")),
    "f = CAST(0.1 AS FLOAT)", "f >= CAST(0 AS FLOAT)", "st.d >= 0.0D", "i > 1.5D", "d = 0", "d IN (0, 1)",
    "f IN (0, 1)", "d NOT IN (0, 1)", "d BETWEEN 0 AND 1e300D", "d BETWEEN 0.0D AND CAST('NaN' AS DOUBLE)",
    "d IS NULL", "d = f", "coalesce(d, d) >= 0", "array(d)[0] = 0", "named_struct('x', d).x >= 0.0D",
    "CASE WHEN d >= 0 THEN true ELSE false END", "d = 0 AND atan2(d, -1.0D) > 0", "d = 0 AND atan2(d, -1.0D) < 0",
    "nullif(d, 0) IS NULL", "a = array(0.0D)", "st = named_struct('d', 0.0D)", "a[0] = 0.0D", "isnan(d)",
    *(f"ms {symbol} TIMESTAMP '1970-01-01T00:00:0{second}Z'"
      for symbol in ("=", "<", "<=", ">", ">=", "<>", "<=>") for second in ("0.0005", "1", "1.001999")),
    "NOT (ms >= TIMESTAMP '1970-01-01T00:00:01.0005Z')", "NOT (ms = TIMESTAMP '1970-01-01T00:00:01.0005Z')",
    "ms NOT IN (TIMESTAMP '1970-01-01T00:00:01.0005Z')", "ms < TIMESTAMP '1969-12-31T23:59:59.9995Z'",
    "ms NOT IN (TIMESTAMP '1970-01-01T00:00:01.0005Z', TIMESTAMP '1970-01-01T00:00:00.0005Z')",
)  # fmt: skip


@pytest.fixture
def rows(tmp_path: Path) -> list[tuple[Any, ...]]:
    """Write the file, a group for each list; return its rows, held."""
    tables = [_table(place, values) for place, values in enumerate(_GROUPS)]
    with pq.ParquetWriter(tmp_path / "rows.parquet", tables[0].schema) as writer:
        for table in tables:
            writer.write_table(table, row_group_size=table.num_rows)
    return [
        (value, narrow, place, (value,), (value,), place * 1_000_000)
        for place, (values, table) in enumerate(zip(_GROUPS, tables, strict=True))
        for value, narrow in zip(values, table["f"].to_pylist(), strict=True)
    ]


def _table(place: int, values: list[float | None]) -> pa.Table:
    count = len(values)
    return pa.table({
        "d": pa.array(values, pa.float64()),
        "f": pa.array(values, pa.float32()),
        "i": pa.array([place] * count, pa.int32()),
        "st": pa.array([{"d": value} for value in values], pa.struct([("d", pa.float64())])),
        "a": pa.array([[value] for value in values], pa.list_(pa.float64())),
        "ms": pa.array([place * 1000] * count, pa.timestamp("ms", "UTC")),
    })  # fmt: skip


def test_no_condition_loses_a_row(engine: SparkEngine, tmp_path: Path, rows: list[tuple[Any, ...]]) -> None:
    scope = ColumnScope.of(_COLUMNS)
    nodes = [parse_expression(condition, scope, aggregates_allowed=False) for condition in _CONDITIONS]
    frame = engine.read_parquet(str(tmp_path))
    counted = " UNION ALL ".join(
        f"SELECT {place} AS place, count(*) AS n FROM files WHERE {render(node, lambda column: column.name)}"
        for place, node in enumerate(nodes)
    )
    answer = engine.to_arrow(engine.query(counted, {"files": frame})).to_pylist()
    theirs = {row["place"]: row["n"] for row in answer}
    kept = [compile_row([node], _COLUMNS) for node in nodes]
    ours = {place: sum(is_kept(row)[0] is True for row in rows) for place, is_kept in enumerate(kept)}
    assert {_CONDITIONS[place]: (ours[place], theirs[place]) for place in ours if ours[place] != theirs[place]} == {}
