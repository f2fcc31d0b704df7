"""Model records between rows and values, and the folder that keeps the models' files."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, case, func, insert, select, update

from featurekit.clock import Instant
from featurekit.errors import ModelError, RegistryError
from featurekit.registry.model_record import ModelRecord
from featurekit.registry.tables import MODELS, SERVICE_VERSIONS

_SUFFIX: Final = ".onnx"


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftModel:
    """A model file copied beside those that are kept, not one of them yet."""

    path: Path
    sha256: str

    @property
    def file(self) -> str:
        return f"{self.sha256}{_SUFFIX}"


@contextlib.contextmanager
def drafted(source: Path, folder: Path) -> Iterator[DraftModel]:
    """A copy of a model file in `folder`; it is gone when the block ends, unless `keep` made it one of the folder's.

    What is checked inside the block is the copy: what is kept is what was checked, whoever writes `source` meanwhile.
    """
    if not source.is_file():
        raise ModelError(f"there is no model file {str(source)!r}", try_="give the path of an ONNX file")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=folder, prefix=".draft-", suffix=_SUFFIX)
        draft = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as target, source.open("rb") as content:
                shutil.copyfileobj(content, target)
                target.flush()
                os.fsync(target.fileno())
            yield DraftModel(path=draft, sha256=file_sha256(draft))
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise RegistryError(
            "the model file can't be kept",
            where=str(folder),
            why=error.strerror,
            try_="look at the folder's rights and space",
        ) from error


def keep(draft: DraftModel, folder: Path) -> Path:
    """Return the file under its content's name in `folder`: whole from the first moment it can be seen."""
    kept = folder / draft.file
    draft.path.chmod(0o644)
    draft.path.replace(kept)  # also one that is there: its content may be damaged, and this is how to mend it
    return kept


def file_sha256(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def write_model(connection: Connection, namespace: str, record: ModelRecord) -> None:
    connection.execute(
        insert(MODELS).values(
            namespace=namespace,
            name=record.name,
            version=record.version,
            service=record.service,
            service_fingerprint=record.service_fingerprint,
            sha256=record.sha256,
            file=record.file,
            columns=json.dumps(record.columns, ensure_ascii=False),
            dtype=record.dtype,
            input=record.input,
            output=record.output,
            registered_at=record.registered_at,
            service_number=record.service_number,
        )
    )


def last_version(connection: Connection, namespace: str, name: str) -> int:
    """Return the highest version that a model ever had, 0 where it had none."""
    query = select(func.max(MODELS.c.version)).where(MODELS.c.namespace == namespace, MODELS.c.name == name)
    return connection.execute(query).scalar() or 0


def write_deleted(connection: Connection, namespace: str, record: ModelRecord, at: Instant) -> None:
    """Mark a model's version as deleted."""
    table = MODELS
    of_it = (table.c.namespace == namespace, table.c.name == record.name, table.c.version == record.version)
    connection.execute(update(table).where(*of_it).values(deleted_at=at))


def drop_unused(connection: Connection, record: ModelRecord, folder: Path) -> None:
    """Delete a record's file unless it is of a model that is there, in whatever namespace."""
    users = select(func.count()).where(MODELS.c.file == record.file, MODELS.c.deleted_at.is_(None))
    if connection.execute(users).scalar_one() == 0:
        path = folder / record.file
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise RegistryError(
                f"model {record.name} v{record.version} is deleted, and its file can't be",
                where=str(path),
                why=error.strerror,
                try_="look at the folder's rights, then delete the file: nothing needs it any more",
            ) from error


def newest_number() -> ColumnElement[int]:
    """Return, of a row of MODELS, the newest number of its service with its fingerprint; 0 where there is none."""
    versions = SERVICE_VERSIONS
    number = select(func.max(versions.c.number)).where(
        versions.c.namespace == MODELS.c.namespace,
        versions.c.name == MODELS.c.service,
        versions.c.data_fingerprint == MODELS.c.service_fingerprint,
    )
    return func.coalesce(number.scalar_subquery(), 0)


def bound_number() -> ColumnElement[int]:
    """Return, of a row of MODELS, the number of its service's version.

    Processes that opened the registry when models did not name it yet go on registering models without.
    """
    return case((MODELS.c.service_number > 0, MODELS.c.service_number), else_=newest_number())


def read_models(connection: Connection, namespace: str, name: str | None = None) -> tuple[ModelRecord, ...]:
    """Return the versions of all models or of one, by name, newest first."""
    there = (MODELS.c.namespace == namespace, MODELS.c.deleted_at.is_(None))
    query = (
        select(MODELS, bound_number().label("bound_number"))
        .where(*there)
        .order_by(MODELS.c.name, MODELS.c.version.desc())
    )
    if name is not None:
        query = query.where(MODELS.c.name == name)
    return tuple(_record(row) for row in connection.execute(query))


def _record(row: Row[Any]) -> ModelRecord:
    return ModelRecord(
        name=row.name,
        version=row.version,
        service=row.service,
        service_fingerprint=row.service_fingerprint,
        sha256=row.sha256,
        file=row.file,
        columns=tuple(json.loads(row.columns)),
        dtype=row.dtype,
        input=row.input,
        output=row.output,
        registered_at=row.registered_at,
        service_number=row.bound_number,
    )
