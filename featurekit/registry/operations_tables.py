"""The tables of what runs by itself, from version 5 on: the schedule's jobs, and the alerts that are to be sent."""

from __future__ import annotations

from typing import Final

from sqlalchemy import BigInteger, Boolean, Column, Integer, String, Table, Text

from featurekit.registry.tables import TABLES

SCHEDULED_RUNS: Final = Table(
    "scheduled_runs",
    TABLES,
    Column("namespace", String(255), primary_key=True),
    Column("job", String(255), primary_key=True),
    Column("due_at", BigInteger, primary_key=True, autoincrement=False),
    Column("started_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger),
    Column("attempts", Integer, nullable=False),
    Column("failure", Text),
)
ALERT_CONDITIONS: Final = Table(
    "alert_conditions",
    TABLES,
    Column("namespace", String(255), primary_key=True),
    Column("subject", String(255), primary_key=True),
    Column("state", Text, nullable=False),
    Column("since", BigInteger, nullable=False),
)
ALERTS: Final = Table(
    "alerts",
    TABLES,
    Column("namespace", String(255), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("sink", String(40), primary_key=True),
    Column("body", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("is_sent", Boolean, nullable=False),
    Column("claimed_until", BigInteger, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("failure", Text),
)
OPERATIONS_TABLES: Final = (SCHEDULED_RUNS, ALERT_CONDITIONS, ALERTS)
