"""The tables of what checks found, from version 5 on: runs with their reports, views, fields."""

from __future__ import annotations

from typing import Final

from sqlalchemy import BigInteger, Boolean, Column, Double, Index, Integer, LargeBinary, String, Table, Text

from featurekit.registry.tables import TABLES

CHECK_RUNS: Final = Table(
    "check_runs",
    TABLES,
    Column("namespace", String(255), primary_key=True),
    Column("run", Integer, primary_key=True, autoincrement=False),
    Column("kind", String(20), nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("recorded_at", BigInteger, nullable=False),
    Column("passed", Boolean, nullable=False),
    Column("summary", Text, nullable=False),
    Column("cells", BigInteger, nullable=False),
    Column("differing", BigInteger, nullable=False),
    Column("breaches", Integer, nullable=False),
    Column("document", LargeBinary, nullable=False),
    Index("check_runs_by_time", "namespace", "kind", "at"),
)
CHECK_VIEWS: Final = Table(
    "check_views",
    TABLES,
    Column("namespace", String(255), primary_key=True),
    Column("run", Integer, primary_key=True, autoincrement=False),
    Column("view", String(255), primary_key=True),
    Column("fingerprint", String(64), nullable=False),
    Column("outcome", String(40), nullable=False),
    Column("as_of", BigInteger),
    Column("promised_as_of", BigInteger),
    Column("sampled", BigInteger, nullable=False),
    Column("coverage", Double),
    Column("causes", Text, nullable=False),
)
CHECK_FIELDS: Final = Table(
    "check_fields",
    TABLES,
    Column("namespace", String(255), primary_key=True),
    Column("run", Integer, primary_key=True, autoincrement=False),
    Column("view", String(255), primary_key=True),
    Column("field", String(255), primary_key=True),
    Column("cells", BigInteger, nullable=False),
    Column("differing", BigInteger, nullable=False),
    Column("indeterminate", BigInteger, nullable=False),
    Column("share", Double, nullable=False),
    Column("causes", Text, nullable=False),
)
CHECK_TABLES: Final = (CHECK_RUNS, CHECK_VIEWS, CHECK_FIELDS)
