"""Kept rows on disk: each bit of each type comes back, what is not whole is named and never read, files are joined."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from featurekit import keeping
from featurekit.arrow_types import to_arrow_schema
from featurekit.clock import DAY, HOUR
from featurekit.compiled import CompiledView
from featurekit.compiler import compile_repository
from featurekit.counters import add_counters
from featurekit.definitions.repo import load_repo
from featurekit.errors import BatchEngineError, HistoryError, SourceError
from featurekit.keeping import GRACE, compact
from featurekit.leasing import Tenancy, leased
from featurekit.offline import history_folder
from featurekit.offline.history import REFRESH_COLUMN, History, HistoryEntry
from featurekit.offline.history_compaction import compacted, without_retired
from featurekit.offline.history_erasure import Sought, erase_refresh
from featurekit.offline.history_folder import REFRESH_FILE, BrokenRefresh, folder_name, read_entry, rewrite_entry
from featurekit.offline.history_sink import PartFile
from featurekit.registry.registry import Registry
from featurekit.rows import offline_schema
from tests.offline.conftest import EngineAt
from tests.offline.worlds import bits, python_rows
from tests.registry.states import NOW, TODAY

DEFINITIONS: Final = """\
entities:
  thing: {join_keys: {k: bigint, t: string}}
sources:
  log:
    table: all_types
    columns:
      {k: bigint, t: string, at: timestamp, b: boolean, i1: tinyint, i2: smallint, i4: int, i8: bigint, f: float,
       d: double, money: "decimal(38,10)", small: "decimal(5,2)", text: string, raw: binary, day: date,
       list: "array<double>", deep: "array<struct<a:int,b:array<string>>>",
       place: "struct<city:string,at:array<float>>"}
    event_timestamp: at
feature_views:
  _every:
    entity: thing
    source: log
    refresh: 1d
    features:
      b: {sql: b}
      i1: {sql: i1}
      i2: {sql: i2}
      i4: {sql: i4, ttl: 1d}
      i8: {sql: i8}
      f: {sql: f}
      d: {sql: d}
      money: {sql: money}
      small: {sql: small}
      text: {sql: text}
      raw: {sql: raw}
      day: {sql: day}
      local: {sql: CAST(at AS TIMESTAMP_NTZ)}
      list: {sql: list}
      deep: {sql: deep}
      place: {sql: place}
      pairs: {sql: "map_from_arrays(array('x', 'y'), array(money, NULL))"}
"""
ROW: Final[dict[str, Any]] = {
    "k": -(2**63),
    "t": "é, {x}\n",
    "__last_event": -62_135_596_800_000_000,
    "b": False,
    "i1": -128,
    "i2": 32767,
    "i4": None,
    "i8": 2**63 - 1,
    "f": 1.5,
    "d": -0.0,
    "money": "1234567890123456789012345678.0123456789",
    "small": "-0.05",
    "text": "",
    "raw": b"\x00\xff",
    "day": -719_162,
    "local": -62_135_596_800_000_001,
    "list": [float("nan"), -0.0, None, 5e-324],
    "deep": [{"a": None, "b": []}, None, {"a": 1, "b": ["", None]}],
    "place": {"city": None, "at": [0.1]},
    "pairs": [("x", "0E-10"), ("y", None)],
}


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> CompiledView:
    folder = tmp_path_factory.mktemp("definitions")
    (folder / "defs").mkdir()
    (folder / "defs" / "all.yaml").write_text(DEFINITIONS)
    return compile_repository(load_repo(folder / "defs"), folder).views["_every"]


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / ".a [b]* {c}", project="shop", environment="dev")


def rows_of(view: CompiledView, *keys: int) -> pa.Table:
    """Return offline rows of every type, one a key; every second one is NULL wherever it can be."""
    schema = to_arrow_schema(offline_schema(view))
    arrays = []
    for field in schema:
        values: list[Any] = []
        for place, key in enumerate(keys):
            value = ROW.get(field.name, 0)
            value = key if field.name == "k" else None if place % 2 and field.nullable else value
            values.append(value)
        if pa.types.is_decimal(field.type):
            values = [value and Decimal(value) for value in values]
        elif pa.types.is_map(field.type):
            values = [value and [(name, part and Decimal(part)) for name, part in value] for value in values]
        plain = (
            pa.int64() if pa.types.is_timestamp(field.type) else pa.int32() if pa.types.is_date(field.type) else None
        )
        arrays.append(pa.array(values, plain or field.type).cast(field.type))
    return pa.Table.from_arrays(arrays, schema=schema)


def shown(table: pa.Table) -> list[str]:
    """Return rows so that all that differs is told apart: NaN, the sign of zero, timestamps of any year."""
    return [repr(bits(row)) for row in python_rows(table)]


def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for _ in batches:
        pass
    yield from ()


def keep(history: History, view: CompiledView, as_of: int, *tables: pa.Table, restatement: int = 0) -> HistoryEntry:
    """Keep a refresh whose tasks had these rows."""
    draft = history.draft(view, as_of, restatement).begin()
    counters = add_counters(batch for table in tables for batch in draft.sink(count)(iter(table.to_batches())))
    done = draft.written(counters, snapshot=None).save()
    return done.finish(visible_from=as_of + HOUR, completed_at=as_of + HOUR)


@pytest.mark.spark
def test_every_bit_of_every_type_comes_back(history: History, view: CompiledView, engine_at: EngineAt) -> None:
    engine = engine_at(history.root)
    tables = rows_of(view, 1, 2), rows_of(view, 3), rows_of(view)
    entry = keep(history, view, TODAY, *tables)
    other = keep(history, view, TODAY + 1, rows_of(view, 4))
    empty = keep(history, view, TODAY + DAY)
    assert (entry.rows, len(entry.files), empty.rows) == (3, 2, 0)

    frame = history.read(engine, view, entry)

    expected = offline_schema(view)
    assert [(field.name, field.dataType.simpleString()) for field in frame.schema.fields] == [
        (field.name, field.type.name) for field in expected.fields
    ]
    read = engine.to_arrow(frame).sort_by("k")
    written = pa.concat_tables(tables)
    assert shown(read) == shown(written)
    joined = compacted(entry, now=NOW)
    again = engine.to_arrow(history.read(engine, view, joined)).sort_by("k")
    assert shown(again) == shown(read)
    many = engine.to_arrow(history.read_many(engine, view, (joined, other, empty))).sort_by("k")
    assert many[REFRESH_COLUMN].to_pylist() == [joined.label] * 3 + [other.label]
    assert many.column_names == [*expected.names, REFRESH_COLUMN]


def test_refreshes_are_listed_by_as_of_then_restatement(history: History, view: CompiledView) -> None:
    second = 1_000_000
    for as_of, restatement in ((TODAY, 0), (TODAY + 15 * second, 0), (TODAY - DAY, 1), (TODAY - DAY, 10), (TODAY, 2)):
        keep(history, view, as_of, rows_of(view, 1), restatement=restatement)
    found = history.entries("_every", view.fingerprint.data)
    order = [(entry.as_of, entry.restatement) for entry in found]
    assert order == sorted(order)
    latest = history.latest(view, before=TODAY)
    assert latest is not None
    assert (latest.as_of, latest.restatement) == (TODAY - DAY, 10)
    history.withdraw(latest, NOW)
    latest = history.latest(view, before=TODAY)
    assert latest is not None
    assert (latest.as_of, latest.restatement) == (TODAY - DAY, 1)
    newest = history.latest(view, before=TODAY + DAY)
    assert newest is not None
    assert newest.as_of == TODAY + 15 * second
    assert history.latest(view, before=TODAY - DAY) is None


def _drop_file(entry: HistoryEntry) -> None:
    (entry.path / entry.files[0].name).unlink()


def _cut_file(entry: HistoryEntry) -> None:
    file = entry.path / entry.files[0].name
    file.write_bytes(file.read_bytes()[:-1])


def _lose_list(entry: HistoryEntry) -> None:
    (entry.path / REFRESH_FILE).unlink()


def _cut_list(entry: HistoryEntry) -> None:
    file = entry.path / REFRESH_FILE
    file.write_text(file.read_text()[:-20])


def _later_format(entry: HistoryEntry) -> None:
    file = entry.path / REFRESH_FILE
    file.write_text(json.dumps({**json.loads(file.read_text()), "format": 2}))


def _move(entry: HistoryEntry) -> None:
    shutil.move(entry.path, entry.path.with_name(folder_name(TODAY + DAY, 0)))


@pytest.mark.parametrize(
    ("breaks", "why"),
    [
        (_drop_file, "is gone"),
        (_cut_file, "bytes;"),
        (_lose_list, "it has no _refresh.json"),
        (_cut_list, "can't be read"),
        (_later_format, "its format is 2; this featurekit reads 1"),
        (_move, "is of another refresh, _every as of 2013-11-15T00:00Z"),
    ],
)
def test_a_refresh_that_is_not_whole_is_named_and_never_listed(
    history: History, view: CompiledView, breaks: Callable[[HistoryEntry], None], why: str
) -> None:
    good = keep(history, view, TODAY - DAY, rows_of(view, 1))
    breaks(keep(history, view, TODAY, rows_of(view, 1)))
    assert history.entries("_every", view.fingerprint.data) == (good,)
    (broken,) = history.broken("_every", view.fingerprint.data)
    assert why in broken.why
    assert broken.path.name.startswith("as_of=2013111")


@pytest.mark.spark
def test_a_file_that_goes_after_it_was_listed_is_an_error_and_no_fewer_rows(
    history: History, view: CompiledView, engine_at: EngineAt
) -> None:
    entry = keep(history, view, TODAY, rows_of(view, 1))
    _drop_file(entry)
    with pytest.raises(SourceError, match="the history of _every as of 2013-11-15T00:00Z is broken"):
        history.read(engine_at(history.root), view, entry)


def test_a_broken_refresh_gives_way_to_one_that_is_whole(history: History, view: CompiledView) -> None:
    _lose_list(keep(history, view, TODAY, rows_of(view, 1)))
    keep(history, view, TODAY, rows_of(view, 1, 2))
    assert [entry.rows for entry in history.entries("_every", view.fingerprint.data)] == [2]
    assert history.broken("_every", view.fingerprint.data) == ()


def test_files_of_tasks_that_did_not_end_are_not_rows(history: History, view: CompiledView) -> None:
    draft = history.draft(view, TODAY, 0).begin()

    def fails(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.num_rows:
                raise OSError("the store is away")
            yield batch

    with pytest.raises(OSError, match="the store is away"):
        list(draft.sink(fails)(iter(rows_of(view, 1).to_batches())))
    assert list(draft.folder.iterdir()) == []
    lost = draft.sink(count)(iter(rows_of(view, 7).to_batches()))
    list(lost)  # it ended, and Spark did not hear of it: nobody has its counters
    counters = add_counters(draft.sink(count)(iter(rows_of(view, 1).to_batches())))
    entry = draft.written(counters, snapshot=None).save().finish(visible_from=NOW, completed_at=NOW)
    (file,) = entry.path.glob("*.parquet")
    assert pq.read_table(file)["k"].to_pylist() == [1]


def test_rows_on_disks_of_other_machines_are_an_error(history: History, view: CompiledView) -> None:
    draft = history.draft(view, TODAY, 0).begin()
    counters = add_counters(draft.sink(count)(iter(rows_of(view, 1).to_batches())))
    shutil.rmtree(draft.folder)
    with pytest.raises(BatchEngineError, match="the history of _every as of 2013-11-15T00:00Z is not whole") as caught:
        draft.written(counters, snapshot=None)
    assert "history.path" in str(caught.value.try_)


def test_joined_files_have_the_rows_in_their_order_and_readers_keep_theirs(
    history: History, view: CompiledView, tmp_path: Path
) -> None:
    registry = Registry(f"sqlite:///{tmp_path / 'r.db'}", project="shop", environment="dev", models=tmp_path)
    before = keep(history, view, TODAY, rows_of(view, 1, 2), rows_of(view, 3), rows_of(view, 4, 5))
    rows = pa.concat_tables([pq.read_table(before.path / file.name) for file in before.files])

    (changed,) = compact(history, registry, now=NOW, holder="me")

    (after,) = history.entries("_every", view.fingerprint.data)
    assert changed.entry == after
    (file,) = after.files
    joined = pq.read_table(after.path / file.name)
    assert joined.schema == rows.schema
    assert shown(joined) == shown(rows)
    assert all((before.path / one.name).exists() for one in before.files)  # for a reader that has begun

    assert compact(history, registry, now=NOW + GRACE - 1, holder="me") == ()
    assert all((before.path / one.name).exists() for one in before.files)
    assert compact(history, registry, now=NOW + GRACE, holder="me") == ()
    assert sorted(path.name for path in after.path.iterdir()) == sorted([file.name, REFRESH_FILE])
    assert [entry.rows for entry in history.entries("_every", view.fingerprint.data)] == [5]


def test_what_another_process_changed_meanwhile_is_not_written_over(
    history: History, view: CompiledView, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = Registry(f"sqlite:///{tmp_path / 'r.db'}", project="shop", environment="dev", models=tmp_path)
    before = keep(history, view, TODAY, rows_of(view, 1, 2), rows_of(view, 3))

    def after_another(*given: Any, **named: Any) -> AbstractContextManager[Tenancy]:
        without_retired(compacted(before, now=NOW), before=NOW)  # it had the lease until now
        return leased(*given, **named)

    monkeypatch.setattr(keeping, "leased", after_another)
    assert compact(history, registry, now=NOW, holder="me") == ()
    history.withdraw(before, NOW)  # as it was listed then

    (entry,) = history.entries("_every", view.fingerprint.data)
    assert (entry.rows, len(entry.files), entry.withdrawn_at) == (3, 1, NOW)
    assert history.broken("_every", view.fingerprint.data) == ()


def _join(entry: HistoryEntry) -> None:
    compacted(entry, now=NOW)


def _erase(entry: HistoryEntry) -> None:
    found = Sought(columns=("k",), mask=lambda batch: pc.equal(batch["k"], 1).to_numpy(zero_copy_only=False), reach={})
    assert erase_refresh(entry.path, lambda _: found) is not None


@pytest.mark.parametrize("change", [_join, _erase])
def test_a_refresh_that_is_rolled_back_while_its_files_are_written_anew_stays_rolled_back(
    history: History,
    view: CompiledView,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[HistoryEntry], None],
) -> None:
    before = keep(history, view, TODAY, rows_of(view, 1, 2), rows_of(view, 3))
    close = PartFile.close

    def meanwhile(part: PartFile) -> dict[str, int]:
        history.withdraw(before, NOW)  # takes no lease: it can't wait for a run
        return close(part)

    monkeypatch.setattr(PartFile, "close", meanwhile)
    change(before)

    (entry,) = history.entries("_every", view.fingerprint.data)
    assert entry.withdrawn_at == NOW
    assert entry.files != before.files


def test_two_that_change_one_refresh_at_once_both_have_their_way(history: History, view: CompiledView) -> None:
    before = keep(history, view, TODAY, rows_of(view, 1))
    withdrawing = threading.Thread(target=history.withdraw, args=(before, NOW))

    def change(now: HistoryEntry) -> HistoryEntry:
        withdrawing.start()
        withdrawing.join(0.3)  # it has to wait
        return replace(now, reason="read again")

    rewrite_entry(before.path, change)
    withdrawing.join()

    (entry,) = history.entries("_every", view.fingerprint.data)
    assert (entry.withdrawn_at, entry.reason) == (NOW, "read again")


def test_files_that_are_written_anew_while_they_are_looked_at_are_not_taken_for_lost(
    history: History, view: CompiledView, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = keep(history, view, TODAY, rows_of(view, 1, 2), rows_of(view, 3))
    real = history_folder.damaged

    def meanwhile(entry: HistoryEntry, folder: Path) -> BrokenRefresh | None:
        monkeypatch.setattr(history_folder, "damaged", real)
        without_retired(compacted(before, now=NOW), before=NOW)
        return real(entry, folder)

    monkeypatch.setattr(history_folder, "damaged", meanwhile)
    entry = read_entry(before.path)
    assert isinstance(entry, HistoryEntry)
    assert (entry.rows, len(entry.files)) == (3, 1)


def test_files_that_can_not_be_joined_stay_as_they_are(history: History, view: CompiledView) -> None:
    entry = keep(history, view, TODAY, rows_of(view, 1), rows_of(view, 2))
    file = entry.path / entry.files[0].name
    file.write_bytes(b"x" * entry.files[0].bytes)
    with pytest.raises(HistoryError, match="the history of _every as of 2013-11-15T00:00Z is damaged"):
        compacted(entry, now=NOW)
    assert {path.name for path in entry.path.iterdir()} == {REFRESH_FILE, *(one.name for one in entry.files)}


def test_projects_and_environments_have_folders_of_their_own(tmp_path: Path, view: CompiledView) -> None:
    one = History(tmp_path, project="a", environment="b.c")
    other = History(tmp_path, project="a.b", environment="c")
    keep(one, view, TODAY, rows_of(view, 1))
    assert one.versions() == (("_every", view.fingerprint.data),)
    assert other.versions() == ()
