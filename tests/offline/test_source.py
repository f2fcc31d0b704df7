"""Sources of every kind, as rows of features see them; and what is said where one can't be read as declared."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from featurekit.clock import DAY, HOUR, MINUTE, SECOND, local_to_instant, parse_instant
from featurekit.compiled import CompiledView
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.source import Source
from featurekit.errors import FeaturekitError, OnlineStoreTimeoutError, SourceError, TimeError
from featurekit.expr.nodes import Column
from featurekit.offline.materialize import explain_sql, materialize
from featurekit.offline.session import SparkEngine
from featurekit.offline.snapshot import snapshot_source
from featurekit.offline.source import column_name, count_invisible
from featurekit.types import DataType, Decimal, Float64, Int32, Int64, String, Timestamp, TimestampNtz
from tests.offline.worlds import compiled, features, materialized, swept, write_rows

pytestmark = pytest.mark.spark
AS_OF = parse_instant("2014-01-01T00:00Z")
LATER = AS_OF + DAY
NAIVE_COLUMNS: dict[str, DataType] = {"k": Int32(), "at": TimestampNtz()}


def view_of(base: Path, source: Source, *, key: DataType | None = None, **definitions: Any) -> CompiledView:
    """Return a view over a source by the key column `k`; features are `name={"sql": …}`."""
    return compiled(
        base,
        entities=[Entity(name="thing", join_keys={"k": key or String()})],
        sources=[source],
        views=[
            FeatureView(
                name="view",
                entity="thing",
                source=source.name,
                refresh=Refresh(every=DAY),
                features=features(**definitions),
            )
        ],
    ).views["view"]


def csv_view(base: Path, text: str, **columns: DataType) -> CompiledView:
    (base / "rows.csv").write_text(text, encoding="utf-8")
    source = Source(
        name="rows",
        path="rows.csv",
        columns={"k": String(), "at": Timestamp(), **columns},
        null_tokens=("NA",),
        event_timestamp="at",
    )
    last: dict[str, Any] = {f"last_{name}": {"sql": name} for name in columns}
    return view_of(base, source, **last)


def test_csv_binds_by_header_and_knows_null_from_empty(engine: SparkEngine, tmp_path: Path) -> None:
    text = (
        "unused,s,k,n,x,at,m\n"
        'u,"",a,NA,1.5,2013-12-31T00:00:00Z,0.10\n'
        "u,,b,7,NaN,2013-12-31 01:00:00+01:00,NA\n"
        'u,"say ""hi"",\nthen go", c ,-1,NA,2013-12-30 19:00-05:00,12345678.90\n'
        "u,NA,d,9223372036854775807,-0.0,2013-12-31T00:00Z,1\n"
    )
    view = csv_view(tmp_path, text, s=String(), n=Int64(), x=Float64(), m=Decimal(10, 2))
    rows = materialized(engine, view, AS_OF)
    assert {key[0]: (row["last_s"], row["last_n"], str(row["last_m"])) for key, row in rows.items()} == {
        "a": ("", None, "0.10"),
        "b": ("", 7, "None"),
        " c ": ('say "hi",\nthen go', -1, "12345678.90"),
        "d": (None, 2**63 - 1, "1.00"),
    }
    assert [repr(rows[key,]["last_x"]) for key in ("a", "b", " c ", "d")] == ["1.5", "nan", "None", "0.0"]
    assert {row["__last_event"] for row in rows.values()} == {parse_instant("2013-12-31T00:00Z")}


BAD_ROWS = {
    "a number that is none": ("k,at,n\na,2013-12-31T00:00:00Z,seven\n", 'column n holds "seven", which is no bigint'),
    "an empty cell that is no declared null": (
        "k,at,n\na,2013-12-31T00:00:00Z,\n",
        'column n holds "", which is no bigint',
    ),
    "a number too large": (
        "k,at,n\na,2013-12-31T00:00:00Z,9223372036854775808\n",
        'column n holds "9223372036854775808", which is no bigint',
    ),
    "a timestamp without a zone": (
        "k,at,n\na,2013-12-31T00:00:00,1\n",
        'column at holds "2013-12-31T00:00:00", which is no timestamp with a zone',
    ),
    "a time of day": ("k,at,n\na,12:30Z,1\n", 'column at holds "12:30Z", which is no timestamp with a zone'),
    "a row that is too short": ("k,at,n\na,2013-12-31T00:00:00Z\n", "a CSV row does not have the header's columns"),
    "a quote that is not closed": (
        'k,at,n\n"a,2013-12-31T00:00:00Z,1\n',
        "a CSV row does not have the header's columns",
    ),
}


@pytest.mark.parametrize("name", BAD_ROWS)
def test_a_csv_cell_that_can_not_be_read_fails_and_says_where(name: str, engine: SparkEngine, tmp_path: Path) -> None:
    text, what = BAD_ROWS[name]
    view = csv_view(tmp_path, text, n=Int64())
    with pytest.raises(SourceError) as caught:
        materialized(engine, view, AS_OF)
    assert caught.value.what == what
    assert caught.value.where == str(tmp_path / "rows.csv")
    assert caught.value.why
    assert caught.value.exit_code == 2


def test_nanosecond_parquet_keeps_its_microseconds_also_before_1970(engine: SparkEngine, tmp_path: Path) -> None:
    nanos = [1_388_448_000_000_000_999, -1, -1_000, -1_001, None]
    at = parse_instant("2013-12-31T00:00Z") * 1000
    table = pa.table(
        {
            "k": ["a", "b", "c", "d", "e"],
            "at": pa.array([at] * 5, pa.timestamp("ns", tz="UTC")),
            "t": pa.array(nanos, pa.timestamp("ns", tz="Asia/Tokyo")),
            "naive": pa.array(nanos, pa.timestamp("ns")),
        }
    )
    pq.write_table(table, tmp_path / "ns.parquet", version="2.6")
    source = Source(name="ns", path="ns.parquet", event_timestamp="at", timezone="Asia/Tokyo")
    view = view_of(tmp_path, source, t={"sql": "t"}, naive={"sql": "naive"})
    expected = [None if value is None else value // 1000 for value in nanos]
    rows = materialized(engine, view, AS_OF)
    assert [rows[key,]["t"] for key in "abcde"] == expected
    assert [rows[key,]["naive"] for key in "abcde"] == [
        None if value is None else local_to_instant(value, "Asia/Tokyo") for value in expected
    ]


ZONES = ("America/New_York", "Australia/Lord_Howe", "America/Santiago", "Asia/Kathmandu", "Africa/Casablanca", "UTC")


def test_readings_of_a_clock_are_the_instants_that_the_clock_module_says(engine: SparkEngine, tmp_path: Path) -> None:
    start = parse_instant("2013-01-01T00:00Z")
    readings = [start + quarter * 15 * MINUTE for quarter in range(365 * 24 * 4)]
    write_rows(
        tmp_path / "naive.parquet",
        NAIVE_COLUMNS,
        [{"k": number, "at": reading} for number, reading in enumerate(readings)],
    )
    for zone in ZONES:
        source = Source(name="naive", path="naive.parquet", event_timestamp="at", timezone=zone)
        view = view_of(tmp_path, source, key=Int64(), at={"sql": "at"})
        rows = materialized(engine, view, parse_instant("2014-01-03T00:00Z"))
        wrong = [
            (number, reading)
            for number, reading in enumerate(readings)
            if rows[number,]["at"] != local_to_instant(reading, zone)
        ]
        assert wrong == [], zone


def test_a_time_that_occurs_twice_is_not_visible_before_it_happened(engine: SparkEngine, tmp_path: Path) -> None:
    reading = parse_instant("2013-11-03T01:30Z")  # New York's clocks show it at 05:30Z and 06:30Z
    write_rows(tmp_path / "naive.parquet", NAIVE_COLUMNS, [{"k": 1, "at": reading}])
    source = Source(name="naive", path="naive.parquet", event_timestamp="at", timezone="America/New_York")
    view = view_of(tmp_path, source, key=Int32(), at={"sql": "at"})
    instants = [parse_instant("2013-11-03T06:30Z"), parse_instant("2013-11-03T06:30Z") + 1]
    found = swept(engine, view, instants)
    assert [len(found[at]) for at in instants] == [0, 1]


def rows_at(base: Path, rows: list[dict[str, Any]]) -> None:
    columns: dict[str, DataType] = {"k": String(), "at": Timestamp(), "made": Timestamp(), "v": Int64()}
    write_rows(base / "rows.parquet", columns, rows)


def test_a_table_and_a_query_are_read_as_a_file_is(engine: SparkEngine, tmp_path: Path) -> None:
    at = parse_instant("2013-12-31T00:00Z")
    rows_at(tmp_path, [{"k": "a", "at": at, "made": at, "v": 1}, {"k": "b", "at": at, "made": at, "v": 2}])
    engine.session.read.parquet(str(tmp_path / "rows.parquet")).createOrReplaceTempView("a_table")
    columns = {"k": String(), "at": Timestamp(), "v": Int64()}
    table = Source(name="table", table="a_table", columns=columns, event_timestamp="at")
    query = Source(name="query", sql="SELECT k, at, v FROM a_table", columns=columns, event_timestamp="at")
    expected = {("a",): 1, ("b",): 2}
    for source in (table, query):
        found = materialized(engine, view_of(tmp_path, source, v={"sql": "v"}), AS_OF)
        assert {key: row["v"] for key, row in found.items()} == expected


@pytest.mark.parametrize(
    ("sql", "word"),
    [
        ("SELECT k, at, v + CAST(rand() AS BIGINT) AS v FROM a_table", "rand()"),
        ("SELECT k, current_timestamp() AS at, v FROM a_table", "current_timestamp()"),
        ("SELECT k, at, v FROM a_table WHERE at < now()", "now()"),
        ("SELECT uuid() AS k, at, v FROM a_table", "uuid()"),
        ("SELECT k, at, first(v) AS v FROM a_table GROUP BY k, at", "first()"),
    ],
)
def test_a_query_that_may_answer_otherwise_next_time_is_refused(
    sql: str, word: str, engine: SparkEngine, tmp_path: Path
) -> None:
    at = parse_instant("2013-12-31T00:00Z")
    rows_at(tmp_path, [{"k": "a", "at": at, "made": at, "v": 1}])
    engine.session.read.parquet(str(tmp_path / "rows.parquet")).createOrReplaceTempView("a_table")
    columns = {"k": String(), "at": Timestamp(), "v": Int64()}
    view = view_of(tmp_path, Source(name="q", sql=sql, columns=columns, event_timestamp="at"), v={"sql": "v"})
    with pytest.raises(SourceError, match="uses") as caught:
        materialized(engine, view, AS_OF)
    assert word in caught.value.what


def test_a_query_that_spark_can_not_run_is_the_sources_mistake(engine: SparkEngine, tmp_path: Path) -> None:
    columns = {"k": String(), "at": Timestamp(), "v": Int64()}
    source = Source(name="q", sql="SELECT k FROM nowhere", columns=columns, event_timestamp="at")
    with pytest.raises(SourceError) as caught:
        materialized(engine, view_of(tmp_path, source, v={"sql": "v"}), AS_OF)
    assert caught.value.where == "the sql of source q"


def parquet_view(base: Path, **more: Any) -> CompiledView:
    at = parse_instant("2013-12-31T00:00Z")
    rows = [{"k": f"k{number % 50}", "at": at - number * MINUTE, "made": at, "v": number} for number in range(20_000)]
    rows_at(base, rows)
    source = Source(name="rows", path="rows.parquet", event_timestamp="at", created_timestamp="made", **more)
    return view_of(base, source, n={"sql": "count(v)", "window": "7d"})


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[200 : len(content) * 3 // 4] = bytes(len(content) * 3 // 4 - 200)
    path.write_bytes(bytes(content))


def retype(path: Path) -> None:
    table = pq.read_table(path)
    column = table["v"].cast(pa.string())
    pq.write_table(table.set_column(table.column_names.index("v"), "v", column), path)


BREAKAGES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "gone": (lambda path: path.unlink(), "the source is not there"),
    "cut short": (cut_short, "a source file can't be read to its end"),
    "damaged": (damage, "a source file can't be read to its end"),
    "of another type": (retype, "source rows: column v is string"),
}


@pytest.mark.parametrize("breakage", BREAKAGES)
def test_a_source_that_broke_after_it_was_compiled_is_told(breakage: str, engine: SparkEngine, tmp_path: Path) -> None:
    view = parquet_view(tmp_path)
    change, what = BREAKAGES[breakage]
    change(tmp_path / "rows.parquet")
    with pytest.raises(SourceError) as caught:
        materialized(engine, view, AS_OF)
    assert caught.value.what == what
    assert "rows.parquet" in str(caught.value.where)
    assert caught.value.why
    assert caught.value.try_
    assert caught.value.exit_code == 2


def test_rows_without_a_time_are_invisible_and_counted(engine: SparkEngine, tmp_path: Path) -> None:
    at = parse_instant("2013-12-31T00:00Z")
    row = {"k": "a", "at": at, "made": at, "v": 1}
    rows_at(tmp_path, [row, {**row, "at": None}, {**row, "made": None}, {**row, "at": None, "made": None}])
    source = Source(name="rows", path="rows.parquet", event_timestamp="at", created_timestamp="made")
    view = view_of(tmp_path, source, n={"sql": "count(*)", "window": "7d"})
    result = materialize(engine, view, AS_OF, now=LATER)
    assert (result.rows, result.invisible_rows) == (1, 3)
    assert materialized(engine, view, AS_OF)["a",]["n"] == 1
    assert count_invisible(engine, view) == 3


def test_history_loaded_in_bulk_is_known_its_lag_after_it_happened(engine: SparkEngine, tmp_path: Path) -> None:
    loaded = parse_instant("2013-12-20T00:00Z")
    rows = [
        {"k": "old", "at": AS_OF - 20 * DAY, "made": loaded - DAY, "v": 1},
        {"k": "old", "at": AS_OF - 10 * DAY - HOUR, "made": loaded - 1, "v": 2},
        {"k": "old", "at": AS_OF - 10 * DAY - HOUR + 1, "made": loaded - 1, "v": 3},
        {"k": "new", "at": AS_OF - 10 * DAY - 5 * HOUR, "made": loaded + 5 * DAY, "v": 4},
    ]
    rows_at(tmp_path, rows)
    source = Source(
        name="rows",
        path="rows.parquet",
        event_timestamp="at",
        created_timestamp="made",
        known_from="2013-12-20T00:00Z",
        assumed_lag=HOUR,
    )
    view = view_of(tmp_path, source, v={"sql": "v"})
    found = swept(engine, view, [AS_OF - 10 * DAY, AS_OF])
    assert {key[0]: row["v"] for key, row in found[AS_OF - 10 * DAY].items()} == {"old": 2}
    assert {key[0]: row["v"] for key, row in found[AS_OF].items()} == {"old": 3, "new": 4}
    assert found[AS_OF] == materialized(engine, view, AS_OF)


def test_keys_are_widened_and_a_null_key_is_no_entity(engine: SparkEngine, tmp_path: Path) -> None:
    at = parse_instant("2013-12-31T00:00Z")
    columns: dict[str, DataType] = {"k": Int32(), "at": Timestamp()}
    write_rows(tmp_path / "rows.parquet", columns, [{"k": 7, "at": at}, {"k": None, "at": at}])
    source = Source(name="rows", path="rows.parquet", event_timestamp="at")
    view = view_of(tmp_path, source, key=Int64(), n={"sql": "count(*)", "window": "7d"})
    assert materialized(engine, view, AS_OF).keys() == {(7,)}


def test_float_keys_have_one_nan_and_one_zero(engine: SparkEngine, tmp_path: Path) -> None:
    at = parse_instant("2013-12-31T00:00Z")
    columns: dict[str, DataType] = {"k": Float64(), "at": Timestamp()}
    values = [0.0, -0.0, float("nan"), -float("nan"), 1.5]
    write_rows(tmp_path / "rows.parquet", columns, [{"k": value, "at": at} for value in values])
    source = Source(name="rows", path="rows.parquet", event_timestamp="at")
    view = view_of(tmp_path, source, key=Float64(), n={"sql": "count(*)", "window": "7d"})
    for rows in (materialized(engine, view, AS_OF), swept(engine, view, [AS_OF])[AS_OF]):
        assert sorted((repr(key[0]), row["n"]) for key, row in rows.items()) == [("0.0", 2), ("1.5", 1), ("nan", 2)]


def test_partition_folders_are_columns_of_their_declared_types(engine: SparkEngine, tmp_path: Path) -> None:
    at = parse_instant("2013-12-31T00:00Z")
    for number in (1, 2):
        write_rows(
            tmp_path / f"rows/part={number}/x.parquet", {"k": String(), "at": Timestamp()}, [{"k": "a", "at": at}]
        )
    source = Source(name="rows", path="rows", event_timestamp="at")
    view = view_of(tmp_path, source, total={"sql": "sum(part)", "window": "7d"})
    assert materialized(engine, view, AS_OF)["a",]["total"] == 3


def test_a_run_says_what_it_read_and_refuses_what_is_not_complete(engine: SparkEngine, tmp_path: Path) -> None:
    view = parquet_view(tmp_path)
    result = materialize(engine, view, AS_OF, now=AS_OF)
    assert [file.path for file in result.snapshot.files] == [str(tmp_path / "rows.parquet")]
    assert result.snapshot == snapshot_source(engine, view)
    assert result.sql == explain_sql(view, AS_OF)
    with pytest.raises(TimeError, match="has no refresh at") as off_grid:
        materialize(engine, view, AS_OF + SECOND, now=LATER)
    assert off_grid.value.try_ == "2014-01-01T00:00Z or 2014-01-02T00:00Z"
    with pytest.raises(TimeError, match="can't be computed as of") as early:
        materialize(engine, view, AS_OF, now=AS_OF - 1)
    assert early.value.try_ == "2013-12-31T00:00Z, the latest that is complete"


def test_an_error_of_ours_in_an_executor_arrives_whole(engine: SparkEngine, tmp_path: Path) -> None:
    def sink(batches: Any) -> Any:
        for _ in batches:
            raise OnlineStoreTimeoutError(
                "Redis did not answer", where="localhost:1", why="it is away", try_="start it"
            )
        yield from ()

    with pytest.raises(FeaturekitError) as caught:
        materialize(engine, parquet_view(tmp_path), AS_OF, now=LATER, sink=sink)
    assert type(caught.value) is OnlineStoreTimeoutError
    assert caught.value.parts() == {
        "error": "OnlineStoreTimeoutError",
        "what": "Redis did not answer",
        "where": "localhost:1",
        "why": "it is away",
        "try": "start it",
    }


def test_no_column_is_called_what_a_lambdas_variable_is() -> None:
    for name in ("$0", "$bound", "$long0", "$key"):
        column = Column(name=name, type=Int32(), nullable=True)
        assert not column_name(column).startswith("$$")
