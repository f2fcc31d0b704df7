"""Delta and Iceberg through the data sources of their own Spark packages: rows of one version, and which it is.

The names are those of Delta 4 (`versionAsOf`, DESCRIBE HISTORY) and Iceberg 1.10 (`snapshot-id`, the metadata table
`refs`); VERSION AS OF is Spark's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from featurekit.definitions.source import SourceFormat
from featurekit.errors import BatchEngineError
from featurekit.offline.sql import name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_VERSION_OPTION: Final = {SourceFormat.DELTA: "versionAsOf", SourceFormat.ICEBERG: "snapshot-id"}
_MAIN: Final = "main"  # the branch that a table is read by


def read_lakehouse(
    session: SparkSession, kind: SourceFormat, where: str, version: int | None, *, is_table: bool
) -> DataFrame:
    """Return the rows of a path or of a table of the catalog, of the newest version where none is given."""
    if is_table:
        return (
            session.table(where) if version is None else session.sql(f"SELECT * FROM {where} VERSION AS OF {version}")
        )
    reader = session.read.format(kind.value)
    return (reader if version is None else reader.option(_VERSION_OPTION[kind], str(version))).load(where)


def lakehouse_version(session: SparkSession, kind: SourceFormat, where: str, *, is_table: bool) -> int | None:
    """Return the version that would be read now; None of an Iceberg table that nothing was ever written to."""
    if kind is SourceFormat.ICEBERG:
        refs = session.table(f"{where}.refs") if is_table else session.read.format("iceberg").load(f"{where}#refs")
        found = [row["snapshot_id"] for row in refs.collect() if row["name"] == _MAIN]
        return found[0] if found else None
    read_lakehouse(session, kind, where, None, is_table=is_table)  # first: it says plainly where the package is missing
    target = where if is_table else f"delta.{name(where)}"
    return int(session.sql(f"DESCRIBE HISTORY {target} LIMIT 1").collect()[0]["version"])


def missing_package(kind: str, spark: str) -> BatchEngineError:
    """Return the error for a format whose Spark package is not in the session."""
    packages = {
        "delta": "io.delta:delta-spark_2.13:VERSION, with"
        " spark.sql.extensions = io.delta.sql.DeltaSparkSessionExtension and"
        " spark.sql.catalog.spark_catalog = org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "iceberg": f"org.apache.iceberg:iceberg-spark-runtime-{spark}_2.13:VERSION",
    }
    return BatchEngineError(
        f"Spark can't read {kind}",
        why="the package that brings this data source is not in the session",
        try_=f"spark.conf in featurekit.toml: spark.jars.packages = {packages.get(kind, 'the package of that source')}",
    )
