"""What was forgotten, between rows and values: tombstones, the secret of their hashes, and the proofs.

The tables are those of version 4 on. A tombstone that was remembered stays as a row: what was computed while it stood
lacks the entity, and must not be what a later refresh is computed from.
"""

from __future__ import annotations

import hmac
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
from featurekit.errors import SettingsError
from featurekit.registry.tables import REFRESHES, TABLES
from featurekit.tombstones import MARK_BYTES, SECRET_BYTES, Scope, Tombstones, key_hash, mark_of

_COUNT: Final = BigInteger().with_variant(Integer(), "sqlite")

SECRETS: Final = Table(
    "tombstone_secrets",
    TABLES,
    Column("namespace", String(255), primary_key=True),
    Column("secret", LargeBinary, nullable=False),  # or the mark of one that the settings give
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


def read_tombstones(connection: Connection, namespace: str, given: bytes | None = None) -> Tombstones:
    """Return what is forgotten now; `given` is the secret of the settings. SettingsError where it was another."""
    table = TOMBSTONES
    kept = connection.execute(select(SECRETS.c.secret).where(SECRETS.c.namespace == namespace)).scalar()
    if kept is None:
        return Tombstones()
    is_given = len(kept) == MARK_BYTES
    secret = _given_again(kept, given) if is_given else kept
    if given is not None and not is_given:
        raise _other_secret(
            "it has one of its own, under which somebody was forgotten",
            "leave the setting out; a new project or environment takes it from the beginning",
        )
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
        is_given=is_given,
        hashes={scope: frozenset(found) for scope, found in hashes.items()},
        remembered=remembered,
        changes=changes,
    )


def _given_again(mark: bytes, given: bytes | None) -> bytes:
    if given is None:
        raise _other_secret(
            "somebody was forgotten by a secret of the settings, and they have none",
            "FEATUREKIT_FORGET_SECRET_FILE names the file that holds it",
        )
    if not hmac.compare_digest(mark, mark_of(given)):
        raise _other_secret("the settings have another than it was forgotten by", "give the one that it was")
    return given


def _other_secret(why: str, try_: str) -> SettingsError:
    return SettingsError("who is forgotten can't be told by this secret", where="forget.secret", why=why, try_=try_)


def write_forgotten(
    connection: Connection,
    namespace: str,
    scope: Scope,
    texts: Collection[bytes],
    at: Instant,
    random: Random,
    given: bytes | None = None,
) -> int:
    """Write a tombstone for each key text that has none; return how many are new."""
    before = read_tombstones(connection, namespace, given)
    secret = before.secret
    if not secret:
        secret = random(SECRET_BYTES) if given is None else given
        kept = secret if given is None else mark_of(given)
        connection.execute(insert(SECRETS).values(namespace=namespace, secret=kept))
    new = {key_hash(secret, scope, text) for text in texts} - before.hashes.get(scope, frozenset())
    row = {"namespace": namespace, "join_keys": json.dumps(scope), "forgotten_at": at}
    if new:
        connection.execute(insert(TOMBSTONES), [{**row, "hash": hash_} for hash_ in sorted(new)])
    return len(new)


def write_remembered(
    connection: Connection,
    namespace: str,
    scope: Scope,
    texts: Collection[bytes],
    at: Instant,
    given: bytes | None = None,
) -> int:
    """End the tombstones of key texts, and delete their hashes; return how many there were."""
    table, before = TOMBSTONES, read_tombstones(connection, namespace, given)
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
