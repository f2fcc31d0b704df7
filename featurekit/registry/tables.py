"""The registry's tables. Texts that hold values are JSON; instants are microseconds; every row names its namespace.

Types are those that SQLite and PostgreSQL share. A change here raises SCHEMA_VERSION, with a step in `migrations` that
leads from the version before.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, LargeBinary, MetaData, String, Table, Text, true

SCHEMA_VERSION: Final = 5

TABLES: Final = MetaData()
_COUNT: Final = BigInteger().with_variant(Integer(), "sqlite")  # SQLite counts up only what it calls INTEGER


def _name(name: str, *, key: bool = False) -> Column[Any]:
    return Column(name, String(255), primary_key=key, nullable=False)


def _instant(name: str, *, nullable: bool = False) -> Column[Any]:
    return Column(name, BigInteger, nullable=nullable)


SCHEMA: Final = Table("featurekit_schema", TABLES, Column("version", Integer, nullable=False))

REGISTRATIONS: Final = Table(
    "registrations",
    TABLES,
    _name("namespace", key=True),
    Column("id", Integer, primary_key=True, autoincrement=False),
    _instant("at"),
    Column("changes", Text, nullable=False),
    Column("services", Text, nullable=False),
    Column("status", String(20), nullable=False),
)


def _versions(name: str, *more: Column[Any]) -> Table:
    """A table of versions; those that are deployed have no `removed_in` and the highest number of their name."""
    return Table(
        name,
        TABLES,
        _name("namespace", key=True),
        _name("name", key=True),
        Column("number", Integer, primary_key=True, autoincrement=False),
        Column("data_fingerprint", String(64), nullable=False),
        Column("metadata_fingerprint", String(64), nullable=False),
        Column("definition", Text, nullable=False),
        Column("registration", Integer, nullable=False),
        _instant("registered_at"),
        Column("removed_in", Integer),
        *more,
        # From version 3 on.
        _instant("collected_at", nullable=True),
    )


VIEW_VERSIONS: Final = _versions("view_versions", Column("grid", Text, nullable=False))
SERVICE_VERSIONS: Final = _versions(
    "service_versions",
    Column("views", Text, nullable=False),
    Column("is_own", Boolean, nullable=False),
    Column("lookup_plan", LargeBinary, nullable=False),
)

SERVING: Final = Table(
    "serving",
    TABLES,
    _name("namespace", key=True),
    _name("service", key=True),
    Column("number", Integer, nullable=False),
)

REFRESHES: Final = Table(
    "refreshes",
    TABLES,
    Column("id", _COUNT, primary_key=True, autoincrement=True),
    _name("namespace"),
    _name("view"),
    Column("fingerprint", String(64), nullable=False),
    _instant("as_of"),
    Column("restatement", Integer, nullable=False),
    _instant("started_at"),
    Column("status", String(20), nullable=False),
    _instant("completed_at", nullable=True),
    Column("rows", BigInteger),
    Column("bytes", BigInteger),
    Column("snapshot", Text, nullable=False),
    Column("counters", Text, nullable=False),
    Column("failure", Text),
    # From version 2 on.
    Column("kind", String(20), nullable=False, server_default="full"),
    Column("online", Boolean, nullable=False, server_default=true()),
    Column("reason", Text),
    Column("computed", BigInteger),
    _instant("visible_from", nullable=True),
    _instant("withdrawn_at", nullable=True),
    # From version 3 on.
    Column("absences", Text, nullable=False, server_default="[]"),
    _instant("dropped_at", nullable=True),
    Index("refreshes_by_view", "namespace", "view", "fingerprint", "as_of", "restatement", unique=True),
)

LEASES: Final = Table(
    "leases",
    TABLES,
    _name("namespace", key=True),
    _name("view", key=True),
    Column("fingerprint", String(64), primary_key=True, nullable=False),
    Column("as_of", BigInteger, primary_key=True, autoincrement=False),
    Column("holder", String(255), nullable=False),
    _instant("since"),
    _instant("until"),
)

MODELS: Final = Table(
    "models",
    TABLES,
    _name("namespace", key=True),
    _name("name", key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    _name("service"),
    Column("service_fingerprint", String(64), nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("file", Text, nullable=False),
    Column("columns", Text, nullable=False),
    Column("dtype", String(20), nullable=False),
    Column("input", Text, nullable=False),
    Column("output", Text, nullable=False),
    _instant("registered_at"),
    # From version 3 on.
    Column("service_number", Integer, nullable=False, server_default="0"),
    _instant("deleted_at", nullable=True),
)

# From version 3 on.
PINS: Final = Table(
    "pins",
    TABLES,
    _name("namespace", key=True),
    _name("service", key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    _name("holder", key=True),
    _instant("pinned_at"),
    _instant("released_at", nullable=True),
)

# From version 3 on.
MOVES: Final = Table(
    "moves",
    TABLES,
    Column("id", _COUNT, primary_key=True, autoincrement=True),
    _name("namespace"),
    Column("registration", Integer, nullable=False),
    _name("service"),
    Column("before", Integer),
    Column("number", Integer),
    _instant("at"),
    Column("kind", String(20), nullable=False),
    Index("moves_by_registration", "namespace", "registration"),
)
