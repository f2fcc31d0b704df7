"""Rows of the served-feature log, sampled by a hash of their entity: what a replay asks again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from featurekit.clock import Instant
from featurekit.consistency.cells import Cells, Codes
from featurekit.consistency.replay.versions import ServedVersion
from featurekit.errors import InputError, SourceError
from featurekit.key_sample import key_hash, threshold
from featurekit.online.arrow_keys import encode_key_columns
from featurekit.online.served_log_reading import LogFile
from featurekit.plan import LookupPlan
from featurekit.served_columns import AS_OF, REASON, STATUS, TIMESTAMP, input_column
from featurekit.types import Field

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_PURPOSE: Final = "replay"  # its own order: a log that holds a tenth of the entities holds those first in its own


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayRule:
    """Which logged rows are replayed: those asked in [since, until), of a share of the entities, and at most so many.

    A seed chooses the same entities in each run. Where `max_rows` cuts, whole entities go, but for one.
    """

    share: float = 1.0
    max_rows: int = 100_000
    seed: str = ""
    since: Instant | None = None
    until: Instant | None = None

    def __post_init__(self) -> None:
        threshold(self.share)
        if self.max_rows < 1:
            raise InputError(f"a replay of {self.max_rows} requests", try_="at least one")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedRows:
    """Rows that one version of a service answered, in the log's columns.

    Each stands for `weights` rows: a log of every tenth entity has one for ten.
    """

    version: ServedVersion
    table: pa.Table
    weights: Floats

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @property
    def plan(self) -> LookupPlan:
        return self.version.plan

    @property
    def times(self) -> Ints:
        """The requests' instants."""
        return np.asarray(self.table.column(TIMESTAMP).cast(pa.int64()).to_numpy(), np.int64)

    def has(self, output: str) -> bool:
        """Whether the log has an output, or a feature that only on-demand features read."""
        return output in self.table.column_names

    def cells(self, output: str) -> Cells:
        return Cells(values=self.table.column(output).combine_chunks(), statuses=self._codes(STATUS, output))

    def reasons(self, output: str) -> Codes:
        if REASON not in self.table.column_names:  # a file of format 1 knows of none
            return np.zeros(len(self), np.uint8)
        return self._codes(REASON, output)

    def as_ofs(self, alias: str) -> pa.Array:
        """Return the as-of that each row was answered from; null where the view could not answer."""
        return self.table.column(AS_OF).combine_chunks().field(alias).cast(pa.int64())

    def take(self, rows: npt.NDArray[np.intp]) -> LoggedRows:
        return LoggedRows(version=self.version, table=self.table.take(pa.array(rows)), weights=self.weights[rows])

    def _codes(self, column: str, output: str) -> Codes:
        codes = self.table.column(column).combine_chunks().field(output)
        return np.asarray(codes.to_numpy(zero_copy_only=False)).astype(np.uint8)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSample:
    """The sampled rows of a log, and how many there are of those asked for: `logged` in all, `sampled` here."""

    rows: tuple[LoggedRows, ...]
    logged: int
    sampled: int


@dataclass(slots=True)
class _Chosen:
    """The rows first in the order of choice, as columns: order of the entity, file, row in it."""

    order: npt.NDArray[np.uint64]
    file: npt.NDArray[np.int32]
    row: npt.NDArray[np.int64]

    def first(self, count: int) -> _Chosen:
        # Stable: rows of the entity that is cut go by file and row, which are in order.
        kept = np.sort(np.argsort(self.order, kind="stable")[:count])
        return _Chosen(self.order[kept], self.file[kept], self.row[kept])

    def with_(self, other: _Chosen) -> _Chosen:
        return _Chosen(
            np.concatenate([self.order, other.order]),
            np.concatenate([self.file, other.file]),
            np.concatenate([self.row, other.row]),
        )


def sample_log(files: Sequence[LogFile], versions: Mapping[str, ServedVersion], rule: ReplayRule) -> LogSample:
    """Return the rows of the files that the rule chooses, by version; memory follows the sample, not the log.

    `versions` are those of the files, by the service's fingerprint. SourceError where a file can't be read.
    """
    chosen = _Chosen(np.zeros(0, np.uint64), np.zeros(0, np.int32), np.zeros(0, np.int64))
    logged = 0
    for number, file in enumerate(files):
        if not _overlaps(file, rule):
            continue
        order, asked = _order(file, versions[file.fingerprint].plan, rule)
        logged += int(asked.sum())
        rows = np.flatnonzero(asked & _in_share(order, rule.share))
        part = _Chosen(order[rows], np.full(len(rows), number, np.int32), rows)
        chosen = chosen.with_(part)
        if len(chosen.order) > 2 * rule.max_rows:
            chosen = chosen.first(rule.max_rows)
    chosen = chosen.first(rule.max_rows)
    groups = tuple(_read(files, versions, chosen))
    return LogSample(rows=groups, logged=logged, sampled=len(chosen.order))


def _overlaps(file: LogFile, rule: ReplayRule) -> bool:
    too_early = rule.since is not None and file.latest is not None and file.latest < rule.since
    too_late = rule.until is not None and file.earliest is not None and file.earliest >= rule.until
    return not (too_early or too_late)


def _order(file: LogFile, plan: LookupPlan, rule: ReplayRule) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
    """Return each row's place in the order of choice, by its entity's, and whether it was asked in time."""
    keys = [Field(input_column(key.request), key.type) for key in plan.keys]
    table = _table(file, [key.name for key in keys] + [TIMESTAMP])
    texts = [text or b"" for batch in table.to_batches() for text in encode_key_columns(batch, keys)]
    hash_of = key_hash(f"{_PURPOSE} {rule.seed}")
    hashes = {text: hash_of(text) for text in set(texts)}
    times = np.asarray(table.column(TIMESTAMP).cast(pa.int64()).to_numpy())
    asked = np.ones(len(times), np.bool_)
    if rule.since is not None:
        asked &= times >= rule.since
    if rule.until is not None:
        asked &= times < rule.until
    return np.array([hashes[text] for text in texts], np.uint64), asked


def _in_share(order: npt.NDArray[np.uint64], share: float) -> npt.NDArray[np.bool_]:
    limit = threshold(share)
    if limit > np.iinfo(np.uint64).max:
        return np.ones(len(order), np.bool_)
    below: npt.NDArray[np.bool_] = order < np.uint64(limit)
    return below


def _read(files: Sequence[LogFile], versions: Mapping[str, ServedVersion], chosen: _Chosen) -> Iterator[LoggedRows]:
    """Yield the chosen rows, those of one version and the same columns together."""
    groups: dict[tuple[str, tuple[Any, ...]], list[tuple[LogFile, pa.Table]]] = {}
    for number in np.unique(chosen.file).tolist():
        file = files[number]
        table = _table(file, None).take(pa.array(chosen.row[chosen.file == number]))
        columns = tuple((field.name, str(field.type)) for field in table.schema)
        groups.setdefault((file.fingerprint, columns), []).append((file, table))
    for (fingerprint, _), parts in groups.items():
        yield LoggedRows(
            version=versions[fingerprint],
            table=pa.concat_tables([table.replace_schema_metadata() for _, table in parts]).combine_chunks(),
            weights=np.concatenate([np.full(table.num_rows, 1 / file.share) for file, table in parts]),
        )


def _table(file: LogFile, columns: list[str] | None) -> pa.Table:
    try:
        table = pq.read_table(file.path, columns=columns, partitioning=None)
    except (OSError, pa.ArrowException) as error:
        raise SourceError("a file of the log can't be read", where=str(file.path), why=str(error)) from error
    if table.num_rows != file.rows:
        # Rows are found again by their places.
        raise SourceError(
            "a file of the log was written anew while it was read",
            where=str(file.path),
            why="an entity was forgotten meanwhile, and its rows are gone",
            try_="run it again",
        )
    return table


def distinct(*columns: Sequence[Any]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the position of the first of each distinct row of some columns, and for each row which of these it is.

    >>> [found.tolist() for found in distinct(["a", "b", "a"], [1, 1, 1])]
    [[0, 1], [0, 1, 0]]
    """
    numbers: dict[tuple[Any, ...], int] = {}
    places = np.array([numbers.setdefault(row, len(numbers)) for row in zip(*columns, strict=True)], np.intp)
    firsts = np.zeros(len(numbers), np.intp)
    firsts[places[::-1]] = np.arange(len(places))[::-1]
    return firsts, places
