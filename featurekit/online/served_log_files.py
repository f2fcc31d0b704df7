"""Tables of the served-feature log -> Parquet files that appear whole."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from featurekit.clock import SECOND, Clock, Instant, to_datetime
from featurekit.key_sample import key_hash, threshold
from featurekit.online.forgotten import forgotten_rows
from featurekit.online.served_answer import Served
from featurekit.online.served_log_erasure import finders, mask_of, read_tombstones, tombstones_file
from featurekit.online.served_log_rows import KeySample, log_schema_metadata, log_tables
from featurekit.plan import LookupPlan
from featurekit.served_columns import REQUEST_ID

_TOKEN_BYTES: Final = 8
_SHOWN: Final = 8


@dataclass(slots=True, kw_only=True)
class _Unwritten:
    """Rows of one version of a service that will be one file."""

    plan: LookupPlan
    since: Instant
    tables: list[pa.Table] = field(default_factory=list)
    rows: int = 0
    size: int = 0


class LogFiles:
    """Collects rows and writes them, a file for each service version, when they are old or large enough.

    For one thread. Nothing is raised: rows that can't be decoded or written are counted in `failed`, and `problem`
    says what went wrong last.
    """

    def __init__(
        self,
        folder: Path,
        *,
        project: str,
        environment: str,
        share: float,
        seed: str,
        rotate: int,
        max_bytes: int,
        clock: Clock,
        random: Callable[[int], bytes],
        secret: bytes | None = None,
    ) -> None:
        self.written = self.outside_sample = self.failed = 0
        self.problem = ""
        self._folder = folder
        self._project, self._environment = project, environment
        self._sample = KeySample(key_hash(seed), threshold(share), seed, share)
        self._rotate, self._max_bytes = rotate, max_bytes
        self._clock, self._random = clock, random
        self._secret = secret
        self._unwritten: dict[str, _Unwritten] = {}

    def add(self, served: Sequence[Served]) -> None:
        """Take what was served; requests that can't be decoded together are decoded one by one."""
        rows = sum(each.columns.length for each in served)
        try:
            self._keep(served, rows)
        except Exception as error:  # noqa: BLE001  a row that can't be decoded must not end the log
            if len(served) == 1:
                self._lose(rows, error)
                return
            for each in served:
                self.add([each])

    def write_due(self, *, everything: bool) -> None:
        """Write each file that is due, or all."""
        now = self._clock()
        for fingerprint, rows in list(self._unwritten.items()):
            if everything or now - rows.since >= self._rotate or rows.size >= self._max_bytes:
                del self._unwritten[fingerprint]
                try:
                    self._write(rows)
                except (OSError, pa.ArrowException) as error:
                    self._lose(rows.rows, error)

    def _keep(self, served: Sequence[Served], rows: int) -> None:
        made = list(log_tables(served, self._sample))
        now = self._clock()
        for plan, table in made:
            into = self._unwritten.setdefault(plan.fingerprint, _Unwritten(plan=plan, since=now))
            into.tables.append(table)
            into.rows += table.num_rows
            into.size += table.nbytes
        self.outside_sample += rows - sum(table.num_rows for _, table in made)

    def _write(self, rows: _Unwritten) -> None:
        """Write a file under a name that readers pass over, then give it its own."""
        stamp = to_datetime(rows.since - rows.since % SECOND).strftime("%Y%m%dT%H%M%SZ")
        name = f"{stamp}-{rows.plan.fingerprint[:_SHOWN]}-{self._random(_TOKEN_BYTES).hex()}.parquet"
        folder = self._folder / rows.plan.service
        unfinished = folder / f".{name}"
        metadata = log_schema_metadata(
            rows.plan, project=self._project, environment=self._environment, sample=self._sample
        )
        folder.mkdir(parents=True, exist_ok=True)
        try:
            # First of all: who forgets an entity waits for the files that are begun by then.
            with unfinished.open("wb") as file:
                table = self._without_forgotten(rows.plan, pa.concat_tables(rows.tables))
                file.write(_content(table.replace_schema_metadata(metadata)))
                file.flush()
                os.fsync(file.fileno())
            if table.num_rows:
                unfinished.rename(folder / name)
            else:
                unfinished.unlink()
        except (OSError, pa.ArrowException):
            with contextlib.suppress(OSError):
                unfinished.unlink()
            raise
        self.written += table.num_rows
        self.outside_sample += rows.rows - table.num_rows

    def _without_forgotten(self, plan: LookupPlan, table: pa.Table) -> pa.Table:
        try:
            tombstones = read_tombstones(tombstones_file(self._folder, self._project, self._environment), self._secret)
        except ValueError as error:
            raise OSError(f"which entities are forgotten can't be told: {error}") from error
        if not tombstones:
            return table
        found = finders(plan, partial(forgotten_rows, tombstones))
        return table.filter(pa.array(~mask_of(table, found))) if found else table

    def _lose(self, rows: int, error: Exception) -> None:
        self.failed += rows
        self.problem = f"{type(error).__name__}: {error}"


def _content(table: pa.Table) -> pa.Buffer:
    content = pa.BufferOutputStream()
    # What repeats is text; dictionaries of numbers would take six times as long for a larger file.
    texts = [field.name for field in table.schema if pa.types.is_string(field.type) and field.name != REQUEST_ID]
    pq.write_table(table, content, compression="zstd", use_dictionary=texts)
    return content.getvalue()
