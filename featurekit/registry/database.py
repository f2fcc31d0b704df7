"""The registry's database: SQLite or PostgreSQL by URL, one writer at a time, its errors turned into ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from sqlalchemy import URL, Connection, create_engine, event, insert, inspect, make_url, select, text
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from featurekit.errors import RegistryError, SettingsError
from featurekit.registry.migrations import migrate
from featurekit.registry.tables import SCHEMA, SCHEMA_VERSION, TABLES

LOCK_WAIT_S: Final = 30.0
_LOCK: Final = 0x666B  # any number, the same in every process: PostgreSQL's advisory lock of all registry writers
_WRITES: Final = "featurekit_writes"


class Database:
    """Transactions on the registry's database; the tables are made, or brought to this version, on first use.

    Readers see one moment. Writers come one after the other, from whatever process, and wait for each other at most
    `lock_wait_s`. Raises SettingsError for a URL that can't be used, RegistryError for whatever the database says.
    """

    def __init__(self, url: str, *, lock_wait_s: float = LOCK_WAIT_S) -> None:
        self._url = _parse(url)
        self._is_sqlite = self._url.get_backend_name() == "sqlite"
        self._lock_wait_s = lock_wait_s
        self._has_tables = False
        try:
            # No pool: a registry is asked now and then, and a connection must not cross a fork.
            options = {"connect_args": {"timeout": lock_wait_s}} if self._is_sqlite else {}
            self._engine = create_engine(self._url, poolclass=NullPool, **options)
        except (ImportError, NoSuchModuleError) as error:
            raise SettingsError(
                f"the driver for the registry's URL is not installed: {error}",
                where=str(self),
                try_="pip install 'psycopg[binary]'",
            ) from error
        if self._is_sqlite:
            self._listen()

    def __str__(self) -> str:
        return shown(self._url)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one moment."""
        with self._transaction(writes=False) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that no other writer overlaps; it is committed when the block ends, undone when it raises."""
        with self._transaction(writes=True) as connection:
            yield connection

    @contextmanager
    def _transaction(self, *, writes: bool) -> Iterator[Connection]:
        with self._translated():
            self._ensure_tables()
            with self._begin(writes=writes) as connection:
                yield connection

    @contextmanager
    def _begin(self, *, writes: bool) -> Iterator[Connection]:
        with self._engine.connect() as connection:
            connection = connection.execution_options(**{_WRITES: writes})
            if not writes and not self._is_sqlite:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                if writes and not self._is_sqlite:
                    connection.execute(text(f"SET LOCAL lock_timeout = {round(self._lock_wait_s * 1000)}"))
                    connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
                yield connection

    def _ensure_tables(self) -> None:
        if self._has_tables:
            return
        self._make_folder()
        with self._begin(writes=False) as connection:
            found = _schema_version(connection)
        if found is None or found < SCHEMA_VERSION:
            with self._begin(writes=True) as connection:
                # Looked at again: another process may have made them while this one waited for the lock.
                found = _schema_version(connection)
                if found is None:
                    TABLES.create_all(connection)
                    connection.execute(insert(SCHEMA).values(version=SCHEMA_VERSION))
                    found = SCHEMA_VERSION
                found = migrate(connection, found)
        if found != SCHEMA_VERSION:
            raise RegistryError(
                f"the registry has schema version {found}; this featurekit knows {SCHEMA_VERSION}",
                where=str(self),
                why="a later featurekit has written it",
                try_="upgrade this featurekit",
            )
        self._has_tables = True

    def _make_folder(self) -> None:
        if not self._is_sqlite:
            return
        folder = Path(str(self._url.database)).parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RegistryError(
                "the registry's folder can't be made", where=str(folder), why=error.strerror, try_="another folder"
            ) from error

    def _listen(self) -> None:
        """Begin SQLite's transactions ourselves: the driver would begin none for a SELECT or a CREATE TABLE."""

        def on_connect(connection: Any, _record: object) -> None:
            connection.isolation_level = None

        def on_begin(connection: Connection) -> None:
            # IMMEDIATE: a transaction that reads before it writes could otherwise find itself overtaken in between.
            writes = connection.get_execution_options().get(_WRITES, False)
            connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

        event.listen(self._engine, "connect", on_connect)
        event.listen(self._engine, "begin", on_begin)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            raise self._busy() if _is_lock_timeout(error) else self._failure(error) from error

    def _busy(self) -> RegistryError:
        return RegistryError(
            "the registry is busy",
            where=str(self),
            why=f"another process has been writing for {self._lock_wait_s:g} s",
            try_="run it again",
        )

    def _failure(self, error: SQLAlchemyError) -> RegistryError:
        return RegistryError(
            "the registry's database failed",
            where=str(self),
            why=self._reason(error),
            try_="check that the database can be reached and written, then run it again",
        )

    def _reason(self, error: SQLAlchemyError) -> str:
        # Not str(error): SQLAlchemy adds the statement and its values. The driver's text may quote the password.
        lines = str(error.orig if isinstance(error, DBAPIError) else error).strip().splitlines()
        reason = lines[0] if lines else type(error).__name__
        return reason.replace(str(self._url.password), "***") if self._url.password else reason


def shown(url: URL) -> str:
    """Return a database URL without its user and password, and without its options, which may hold another one."""
    bare = URL.create(url.drivername, host=url.host, port=url.port, database=url.database)
    return bare.render_as_string(hide_password=True)


def _parse(text: str) -> URL:
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        url = None
    if url is None or _is_cut(url):
        # Without the parser's error as its cause: that holds the whole URL, password and all.
        raise SettingsError(
            "the registry's URL can't be read",
            try_="sqlite:///PATH or postgresql://USER:PASSWORD@HOST/DATABASE; in a user or a password, / @ : are"
            " written %2F %40 %3A",
        )
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise SettingsError(
            f"the registry can't lie in {url.get_backend_name()}",
            where=shown(url),
            why="its transactions are tested on SQLite and PostgreSQL",
            try_="sqlite:///PATH or postgresql://USER:PASSWORD@HOST/DATABASE",
        )
    if url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:"):
        raise SettingsError(
            "the registry can't lie in memory", why="other processes need it too", try_="sqlite:///PATH"
        )
    return url


def _is_cut(url: URL) -> bool:
    """Return whether a part of the user or the password was taken for the host, the database or an option."""
    parts = (url.host, url.database, *map(str, url.query.values()))
    return url.get_backend_name() != "sqlite" and any("@" in part for part in parts if part)


def _schema_version(connection: Connection) -> int | None:
    if not inspect(connection).has_table(SCHEMA.name):
        return None
    return int(connection.execute(select(SCHEMA.c.version)).scalar_one())


def _is_lock_timeout(error: SQLAlchemyError) -> bool:
    return "database is locked" in str(error) or "lock timeout" in str(error)
