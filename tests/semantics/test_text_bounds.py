"""What text functions would make too long, or raise, is NULL in the SQL we emit as well."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from tests.targets.test_text import BOUNDS, COLUMNS, shown


@pytest.mark.spark
@pytest.mark.parametrize("ansi", ["true", "false"])
def test_spark_gives_null_there_too(spark: Any, ansi: str) -> None:
    rows = [row for _, row, _ in BOUNDS]
    columns = {
        column.name: pa.array([row[place] for row in rows], kind)
        for place, (column, kind) in enumerate(zip(COLUMNS, (pa.string(), pa.int32(), pa.binary()), strict=True))
    }
    table = pa.table({**columns, "place": pa.array(range(len(rows)), pa.int32())})
    spark.createDataFrame(table).createOrReplaceTempView("bounds")
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        for place, (sql, _, value) in enumerate(BOUNDS):
            answer = spark.sql(f"SELECT {shown(sql)} AS v FROM bounds WHERE place = {place}").toArrow()
            assert answer["v"].to_pylist() == [value], sql
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)
