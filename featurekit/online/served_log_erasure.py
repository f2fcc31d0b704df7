"""Forgotten entities and the served-feature log: writers leave them out, and files that hold any are written anew.

    LOG/_forgotten.PROJECT.ENVIRONMENT.json     the tombstones, for writers: they know no registry
    LOG/SERVICE/.….parquet                      a file that is being written

A writer makes its file before it looks at the tombstones. So whoever has put them there sees each file that may have
been written without them, and waits for it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from featurekit.errors import OutsideError
from featurekit.online.forgotten import Forgotten
from featurekit.plan import LookupPlan
from featurekit.served_columns import METADATA, input_column
from featurekit.tombstones import Tombstones, mark_of
from featurekit.types import Field

_POLL_S: Final = 0.1
_WRITE_LIMIT_S: Final = 30.0

Find = Callable[[Sequence[Field], Sequence[str]], Forgotten]
"""Returns what finds rows of some entities by join keys, and by what the columns of a batch call these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogErased:
    """Rows of some entities that were in a file of the log, and are gone."""

    where: Path
    rows: int


def finders(plan: LookupPlan, find: Find) -> tuple[Forgotten, ...]:
    """Return what finds entities in the log's rows of a plan, in each of the roles that its views have."""
    kinds = {key.request: key.type for key in plan.keys}
    roles = {}
    for view in plan.views:
        # A key that two views have in two widths is logged in the wider one.
        keys = tuple(Field(key.name, kinds[key.request]) for key in view.keys)
        columns = tuple(input_column(key.request) for key in view.keys)
        roles[keys, columns] = find(keys, columns)
    return tuple(found for found in roles.values() if found)


def mask_of(table: pa.Table, found: Sequence[Forgotten]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return which rows are of the entities in any role."""
    masks = [np.zeros(0, np.bool_)]
    for batch in table.to_batches():
        mask = np.zeros(batch.num_rows, np.bool_)
        for one in found:
            mask |= one.mask(batch)
        masks.append(mask)
    return np.concatenate(masks)


def tombstones_file(folder: Path, project: str, environment: str) -> Path:
    return folder / f"_forgotten.{project}.{environment}.json"


def write_tombstones(file: Path, tombstones: Tombstones) -> None:
    """Have writers leave out what is forgotten now, from their next file on; OutsideError where it can't be written."""
    known_by = (
        {"mark": mark_of(tombstones.secret).hex()} if tombstones.is_given else {"secret": tombstones.secret.hex()}
    )
    content = {
        **known_by,
        "hashes": [[list(scope), sorted(hashes)] for scope, hashes in tombstones.hashes.items()],
    }
    draft = file.with_name(f".{file.name}.{os.getpid()}.new")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o640)
        with os.fdopen(descriptor, "w", encoding="utf-8") as written:
            json.dump(content, written)
            written.flush()
            os.fsync(written.fileno())
        draft.replace(file)
    except OSError as error:
        raise _unwritable(file, error) from error


def read_tombstones(file: Path, given: bytes | None = None) -> Tombstones | None:
    """Return what writers leave out; None where nothing was ever forgotten here. OSError, ValueError: can't be told.

    `given` is the secret of the settings, where they have one.
    """
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    try:
        hashes = {tuple(scope): frozenset(found) for scope, found in content["hashes"]}
        if "mark" in content and (given is None or mark_of(given).hex() != content["mark"]):
            raise ValueError(f"{file} is by a secret that the setting forget.secret does not give")
        secret = given if "mark" in content else bytes.fromhex(content["secret"])
        return Tombstones(secret=secret or b"", is_given="mark" in content, hashes=hashes)
    except (KeyError, TypeError) as error:
        raise ValueError(f"{file} was not written by featurekit") from error


def await_writers(folder: Path, *, limit_s: float = _WRITE_LIMIT_S) -> tuple[Path, ...]:
    """Wait for the files that are being written now; return those that still are not whole: of writers that died."""
    deadline = time.monotonic() + limit_s
    left = _unfinished(folder)
    while left and time.monotonic() < deadline:
        time.sleep(_POLL_S)
        left = [path for path in left if path.exists()]
    return tuple(left)


def log_paths(folder: Path) -> Iterator[Path]:
    """Yield the log's files that readers see."""
    yield from sorted(path for path in folder.rglob("*.parquet") if not path.name.startswith("."))


def _unfinished(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob(".*.parquet") if path.name.startswith("."))


def told_of(path: Path) -> dict[str, Any] | None:
    """Return what a file of the log says of itself; None where it is no such file."""
    try:
        text = (pq.read_schema(path).metadata or {}).get(METADATA)
    except (OSError, pa.ArrowException):
        return None
    return None if text is None else dict(json.loads(text))


def rows_in_log(path: Path, found: Sequence[Forgotten]) -> int:
    """Return how many rows of the entities a file of the log has; its columns of keys alone are read."""
    columns = sorted({field.name for one in found for scoped in one.scopes for field in scoped.columns})
    with pq.ParquetFile(path) as file:
        batches = file.iter_batches(columns=columns, use_threads=False)
        return sum(int(mask_of(pa.Table.from_batches([batch]), found).sum()) for batch in batches)


def erase_from_log(path: Path, found: Sequence[Forgotten]) -> LogErased | None:
    """Write a file anew without rows of the entities, in its place; None where it has none.

    A reader sees the old file or the new one.
    """
    rows = rows_in_log(path, found)
    if not rows:
        return None
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    kept = 0
    try:
        with pq.ParquetFile(path) as file:
            # With what the file says of itself: only rows go.
            schema = pq.read_schema(path)
            texts = [field.name for field in schema if pa.types.is_string(field.type)]
            with pq.ParquetWriter(draft, schema, compression="zstd", use_dictionary=texts) as writer:
                for batch in file.iter_batches(use_threads=False):
                    table = pa.Table.from_batches([batch])
                    table = table.filter(pa.array(~mask_of(table, found))).cast(schema)
                    kept += table.num_rows
                    if table.num_rows:
                        writer.write_table(table)
        with draft.open("rb") as written:
            os.fsync(written.fileno())
        if kept:
            draft.replace(path)
        else:
            path.unlink()
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
    return LogErased(where=path, rows=rows)


def _unwritable(path: Path, error: OSError) -> OutsideError:
    return OutsideError(
        "a file of the served-feature log can't be written",
        where=str(path),
        why=error.strerror or str(error),
        try_="make room or mend its permissions, then run it again",
    )


def drop_leftover(path: Path) -> LogErased:
    """Delete a file that a writer which died left unfinished: nobody reads it, and what it holds can't be told."""
    path.unlink(missing_ok=True)
    return LogErased(where=path, rows=0)
