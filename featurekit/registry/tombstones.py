"""What was forgotten, between rows and values: tombstones, the secret of their hashes, and the proofs.

The tables are those of version 4 on. A tombstone that was remembered stays as a row: what was computed while it stood
lacks the entity, and must not be what a later refresh is computed from.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
    insert,
    select,
    update,
)

from featurekit.clock import Instant
from featurekit.registry.tables import REFRESHES, TABLES
from featurekit.tombstones import SECRET_BYTES, Scope, Tombstones, key_hash

_COUNT: Final = BigInteger().with_variant(Integer(), "sqlite")

SECRETS: Final = Table(
    "tombstone_secrets",
    TABLES,
    Column("namespace", String(255), primary_key=True),
    Column("secret", LargeBinary, nullable=False),
)
TOMBSTONES: Final = Table(
    "tombstones",
    TABLES,
    Column("id", _COUNT, primary_key=True, autoincrement=True),
    Column("namespace", String(255), nullable=False),
    Column("join_keys", Text, nullable=False),
    Column("hash", String(64), nullable=False),
    Column("forgotten_at", BigInteger, nullable=False),
    Column("remembered_at", BigInteger),
    Index("tombstones_by_namespace", "namespace", "remembered_at"),
)
ERASURES: Final = Table(
    "erasures",
    TABLES,
    Column("id", _COUNT, primary_key=True, autoincrement=True),
    Column("namespace", String(255), nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("entity", String(255), nullable=False),
    Column("report", Text, nullable=False),
)
ERASURE_TABLES: Final = (SECRETS, TOMBSTONES, ERASURES)

Random = Callable[[int], bytes]
"""Returns so many random bytes."""


def read_tombstones(connection: Connection, namespace: str) -> Tombstones:
    """Return what is forgotten now."""
    table = TOMBSTONES
    secret = connection.execute(select(SECRETS.c.secret).where(SECRETS.c.namespace == namespace)).scalar()
    if secret is None:
        return Tombstones()
    query = select(table.c.join_keys, table.c.hash, table.c.remembered_at).where(table.c.namespace == namespace)
    hashes: dict[Scope, set[str]] = {}
    remembered: dict[Scope, int] = {}
    changes = 0
    for names, hash_, remembered_at in connection.execute(query):
        scope = tuple(json.loads(names))
        if remembered_at is None:
            hashes.setdefault(scope, set()).add(hash_)
            changes += 1
        else:
            remembered[scope] = remembered.get(scope, 0) + 1
            changes += 2
    return Tombstones(
        secret=secret,
        hashes={scope: frozenset(found) for scope, found in hashes.items()},
        remembered=remembered,
        changes=changes,
    )


def write_forgotten(
    connection: Connection, namespace: str, scope: Scope, texts: Collection[bytes], at: Instant, random: Random
) -> int:
    """Write a tombstone for each key text that has none; return how many are new."""
    before = read_tombstones(connection, namespace)
    secret = before.secret
    if not secret:
        secret = random(SECRET_BYTES)
        connection.execute(insert(SECRETS).values(namespace=namespace, secret=secret))
    new = {key_hash(secret, scope, text) for text in texts} - before.hashes.get(scope, frozenset())
    row = {"namespace": namespace, "join_keys": json.dumps(scope), "forgotten_at": at}
    if new:
        connection.execute(insert(TOMBSTONES), [{**row, "hash": hash_} for hash_ in sorted(new)])
    return len(new)


def write_remembered(
    connection: Connection, namespace: str, scope: Scope, texts: Collection[bytes], at: Instant
) -> int:
    """End the tombstones of key texts, and delete their hashes; return how many there were."""
    table, before = TOMBSTONES, read_tombstones(connection, namespace)
    asked = {key_hash(before.secret, scope, text) for text in texts} if before.secret else set()
    ended = 0
    for hash_ in sorted(asked & before.hashes.get(scope, frozenset())):
        of_it = (table.c.namespace == namespace, table.c.join_keys == json.dumps(scope), table.c.hash == hash_)
        ended += connection.execute(
            update(table).where(*of_it, table.c.remembered_at.is_(None)).values(remembered_at=at, hash="")
        ).rowcount
    return ended


def write_erasure(connection: Connection, namespace: str, *, at: Instant, entity: str, report: str) -> int:
    """Keep the proof of an erasure; return its number."""
    values = {"namespace": namespace, "at": at, "entity": entity, "report": report}
    return int(connection.execute(insert(ERASURES).values(**values).returning(ERASURES.c.id)).scalar_one())


def count_texts(connection: Connection, namespace: str, holds: Callable[[str], bool], instead: str | None) -> int:
    """Return how many texts of refreshes hold something: why one failed, or was restated.

    Where `instead` is given, it takes the text's place.
    """
    if instead is not None and connection.dialect.name == "sqlite":
        connection.exec_driver_sql("PRAGMA secure_delete = ON")  # or the old text stays in the file's free space
    table, found = REFRESHES, 0
    texts = (table.c.failure, table.c.reason)
    rows = connection.execute(select(table.c.id, *texts).where(table.c.namespace == namespace)).all()
    for id_, *values in rows:
        held = {column.name: instead for column, value in zip(texts, values, strict=True) if value and holds(value)}
        found += len(held)
        if held and instead is not None:
            connection.execute(update(table).where(table.c.id == id_).values(**held))
    return found
