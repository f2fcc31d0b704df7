"""A source's columns, read from real files without Spark; and what is wrong with the files or the declaration."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from featurekit.definitions.source import Source
from featurekit.errors import SourceError
from featurekit.source_schema import SourceSchema, check_source, read_source_schema

INSTANT = pa.timestamp("us", tz="UTC")
NAIVE = pa.timestamp("us")
CSV_COLUMNS = {"t": "timestamp", "n": "bigint"}


def declare(**fields: Any) -> Source:
    return Source.model_validate({"name": "s", "event_timestamp": "t", **fields})


def write(path: Path, **columns: Any) -> None:
    """Write a Parquet file with one null in each column of these types."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({name: pa.nulls(1, kind) for name, kind in columns.items()}), path)


def read(base: Path, path: str = "a.parquet", **fields: Any) -> SourceSchema:
    return read_source_schema(declare(path=path, **fields), base)


def types(found: SourceSchema) -> dict[str, str]:
    return {field.name: field.type.name for field in found.schema.fields}


def problems(base: Path, **fields: Any) -> list[tuple[str, str, str | None]]:
    """What check_source says of a.parquet, as (field, what, try)."""
    source = declare(**{"path": "a.parquet", **fields})
    found = check_source(source, read_source_schema(source, base))
    assert all(problem.path[:2] == ("sources", "s") and problem.why for problem in found)
    return [(str(problem.path[2]), problem.what, problem.try_) for problem in found]


def refused(base: Path, path: str = "a.parquet", **fields: Any) -> SourceError:
    """The error of reading the source, which has its four parts and exit code 2."""
    with pytest.raises(SourceError) as caught:
        read(base, path, **fields)
    error = caught.value
    assert error.where
    assert error.why
    assert error.try_
    assert error.exit_code == 2
    return error


# -- Parquet


def test_parquet_footer_gives_the_types_that_spark_reads(tmp_path: Path) -> None:
    columns = {
        "t": (INSTANT, "timestamp"),
        "local": (NAIVE, "timestamp_ntz"),
        "millis": (pa.timestamp("ms", tz="Asia/Tokyo"), "timestamp"),
        "seconds": (pa.timestamp("s"), "timestamp_ntz"),
        "ok": (pa.bool_(), "boolean"),
        "i8": (pa.int8(), "tinyint"),
        "i16": (pa.int16(), "smallint"),
        "i32": (pa.int32(), "int"),
        "i64": (pa.int64(), "bigint"),
        "u8": (pa.uint8(), "smallint"),
        "u16": (pa.uint16(), "int"),
        "u32": (pa.uint32(), "bigint"),
        "u64": (pa.uint64(), "decimal(20,0)"),
        "f32": (pa.float32(), "float"),
        "f64": (pa.float64(), "double"),
        "money": (pa.decimal128(12, 2), "decimal(12,2)"),
        "text": (pa.large_string(), "string"),
        "code": (pa.dictionary(pa.int8(), pa.string()), "string"),
        "raw": (pa.binary(4), "binary"),
        "day": (pa.date32(), "date"),
        "day64": (pa.date64(), "date"),
    }
    write(tmp_path / "a.parquet", **{name: arrow for name, (arrow, _) in columns.items()})
    found = read(tmp_path)
    assert types(found) == {name: kind for name, (_, kind) in columns.items()}
    assert found.zoned == {"t", "millis"}
    assert found.naive == {"local", "seconds"}
    assert found.nanosecond_columns == ()
    assert found.unsupported == {}
    assert all(field.nullable for field in found.schema.fields)


def test_nanosecond_timestamps_are_known_with_their_zone(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", t=pa.timestamp("ns", tz="UTC"), local=pa.timestamp("ns"), us=INSTANT)
    found = read(tmp_path)
    assert found.nanosecond_columns == ("t", "local")
    assert types(found) == {"t": "timestamp", "local": "timestamp_ntz", "us": "timestamp"}


def test_int96_timestamps_are_instants_and_not_nanoseconds(tmp_path: Path) -> None:
    table = pa.table({"t": pa.array([1_000], NAIVE)})
    pq.write_table(table, tmp_path / "a.parquet", use_deprecated_int96_timestamps=True)
    found = read(tmp_path)
    assert types(found) == {"t": "timestamp"}
    assert found.zoned == {"t"}
    assert found.nanosecond_columns == ()


def test_unit_is_the_files_and_not_that_of_the_schema_kept_beside_it(tmp_path: Path) -> None:
    table = pa.table({"t": pa.array([1_000], pa.timestamp("ns", tz="UTC"))})
    pq.write_table(table, tmp_path / "a.parquet", coerce_timestamps="us")
    assert read(tmp_path).nanosecond_columns == ()


def test_columns_that_no_feature_can_use_are_left_out_with_the_reason(tmp_path: Path) -> None:
    write(
        tmp_path / "a.parquet",
        whens=pa.list_(pa.timestamp("ns", tz="UTC")),
        t=INSTANT,
        readings=pa.struct([("x", pa.int64()), ("y", pa.list_(NAIVE))]),
        nowhere=pa.map_(pa.string(), pa.null()),
        n=pa.int64(),
        at=pa.time64("us"),
        took=pa.duration("us"),
        half=pa.float16(),
        nothing=pa.null(),
        local=NAIVE,
    )
    found = read(tmp_path)
    assert types(found) == {"t": "timestamp", "n": "bigint", "local": "timestamp_ntz"}
    assert found.unsupported.keys() == {"whens", "readings", "nowhere", "at", "took", "half", "nothing"}
    assert "timestamps in nanoseconds" in found.unsupported["whens"]
    assert "timestamps without a zone" in found.unsupported["readings"]
    assert "no type for a part of it" in found.unsupported["nowhere"]
    assert "forgets its unit" in found.unsupported["took"]


def test_columns_with_parts_have_the_types_that_spark_reads(tmp_path: Path) -> None:
    write(
        tmp_path / "a.parquet",
        t=INSTANT,
        items=pa.list_(pa.int64()),
        vector=pa.list_(pa.float32(), 2),
        point=pa.struct([("x", pa.uint8()), ("y", pa.list_(pa.string()))]),
        tags=pa.map_(pa.string(), pa.timestamp("us", tz="UTC")),
    )
    found = read(tmp_path)
    assert not found.unsupported
    assert types(found) == {
        "t": "timestamp",
        "items": "array<bigint>",
        "vector": "array<float>",
        "point": "struct<x:smallint,y:array<string>>",
        "tags": "map<string,timestamp>",
    }


def test_folder_of_part_files_is_one_source(tmp_path: Path) -> None:
    write(tmp_path / "rows" / "part-0.parquet", t=INSTANT, n=pa.int64())
    write(tmp_path / "rows" / "part-1.parquet", n=pa.int64(), t=INSTANT)
    (tmp_path / "rows" / "_SUCCESS").touch()
    (tmp_path / "rows" / ".part-0.parquet.crc").write_bytes(b"x")
    assert types(read(tmp_path, "rows")) == {"t": "timestamp", "n": "bigint"}


def test_folders_names_are_columns(tmp_path: Path) -> None:
    for year, kind, code in ((2012, "a%20b", "01"), (2013, "c", "2"), (2014, "__HIVE_DEFAULT_PARTITION__", "03")):
        write(tmp_path / "rows" / f"year={year}" / f"kind={kind}" / f"code={code}" / "p.parquet", t=INSTANT)
    found = read(tmp_path, "rows")
    assert types(found) == {"t": "timestamp", "year": "int", "kind": "string"}
    assert found.partitions == ("year", "kind", "code")
    assert "declare its type under columns:" in found.unsupported["code"]
    declared = read(tmp_path, "rows", columns={"code": "string", "year": "bigint"})
    assert types(declared) == {"t": "timestamp", "year": "bigint", "kind": "string", "code": "string"}


@pytest.mark.parametrize("value", ["2013-01-02", "1.5", "01", "1e3", "+1", "99999999999999999999"])
def test_folders_name_that_can_mean_several_things_is_not_guessed(tmp_path: Path, value: str) -> None:
    write(tmp_path / "rows" / f"x={value}" / "p.parquet", t=INSTANT)
    assert "x" in read(tmp_path, "rows").unsupported


def test_glob_names_files_and_folders(tmp_path: Path) -> None:
    write(tmp_path / "rows" / "2013" / "a.parquet", t=INSTANT)
    write(tmp_path / "rows" / "2014" / "a.parquet", t=INSTANT)
    assert types(read(tmp_path, "rows/*/*.parquet")) == {"t": "timestamp"}
    assert types(read(tmp_path, "rows/201?")) == {"t": "timestamp"}


def test_path_may_be_absolute_and_a_file_url(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", t=INSTANT)
    assert types(read(Path("/nowhere"), str(tmp_path / "a.parquet"))) == {"t": "timestamp"}
    assert types(read(Path("/nowhere"), f"file://{tmp_path}/a.parquet")) == {"t": "timestamp"}


def test_remote_path_needs_declared_columns(tmp_path: Path) -> None:
    found = read(tmp_path, "s3://bucket/rows", columns={"t": "timestamp", "local": "timestamp_ntz"})
    assert found.zoned == {"t"}
    assert found.naive == {"local"}
    error = refused(tmp_path, "s3://bucket/rows")
    assert error.what == "the source s declares no columns"
    assert error.where == "s3://bucket/rows"


@pytest.mark.parametrize("fields", [{"table": "db.rows"}, {"sql": "SELECT * FROM rows"}])
def test_table_and_sql_have_the_columns_they_declare(tmp_path: Path, fields: dict[str, str]) -> None:
    source = declare(columns={"t": "timestamp", "n": "decimal(10,2)"}, **fields)
    assert types(read_source_schema(source, tmp_path)) == {"t": "timestamp", "n": "decimal(10,2)"}


def test_missing_path_says_what_it_is_relative_to(tmp_path: Path) -> None:
    error = refused(tmp_path)
    assert error.what == "the path does not exist"
    assert error.where == str(tmp_path / "a.parquet")
    assert str(tmp_path) in str(error.why)
    # Labels and training tables are read by it too: nothing in it is about sources alone.
    assert "source" not in f"{error.what} {error.try_}"


def test_glob_without_a_match_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path, "rows/*.parquet").what == "no file matches the path"


def test_path_that_can_not_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert refused(tmp_path, "loop/a**b").what == "the path can't be read"
    assert refused(tmp_path, "loo?").what == "the path can't be read"


def test_folder_without_rows_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "_SUCCESS").touch()
    assert refused(tmp_path, "rows").what == "the source's folder has no files"


def test_folder_that_spark_would_skip_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "rows" / "a.parquet", t=INSTANT)
    write(tmp_path / "rows" / "old" / "a.parquet", t=INSTANT)
    error = refused(tmp_path, "rows")
    assert error.what == "old is a folder inside the source's folder, and no partition"


def test_uneven_partitions_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "rows" / "year=2013" / "a.parquet", t=INSTANT)
    write(tmp_path / "rows" / "a.parquet", t=INSTANT)
    assert "different partition columns" in refused(tmp_path, "rows").what


@pytest.mark.parametrize("keep", [0, 3, 12, 400])
def test_parquet_cut_short_is_refused(tmp_path: Path, keep: int) -> None:
    write(tmp_path / "a.parquet", t=INSTANT, n=pa.int64())
    data = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "a.parquet").write_bytes(data[:keep])
    error = refused(tmp_path)
    assert error.what == "the file is not Parquet, or was cut short"
    assert error.where == str(tmp_path / "a.parquet")


def test_damaged_footer_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", t=INSTANT)
    data = bytearray((tmp_path / "a.parquet").read_bytes())
    data[-60:-20] = b"\xff" * 40
    (tmp_path / "a.parquet").write_bytes(bytes(data))
    assert refused(tmp_path).what == "the file is not Parquet, or was cut short"


def test_one_broken_part_file_is_named(tmp_path: Path) -> None:
    write(tmp_path / "rows" / "a.parquet", t=INSTANT)
    (tmp_path / "rows" / "b.parquet").write_bytes(b"PAR1 and no more")
    assert refused(tmp_path, "rows").where == str(tmp_path / "rows" / "b.parquet")


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        ({"t": INSTANT}, "n is missing"),
        ({"t": INSTANT, "n": pa.int64(), "m": pa.int64()}, "m is new"),
        ({"t": INSTANT, "n": pa.int32()}, "n is int and not bigint"),
        ({"t": NAIVE, "n": pa.int64()}, "t is timestamp_ntz in microseconds and not timestamp in microseconds"),
        (
            {"t": pa.timestamp("ns", tz="UTC"), "n": pa.int64()},
            "t is timestamp in nanoseconds and not timestamp in mic",
        ),
        ({"t": INSTANT, "n": pa.list_(pa.int64())}, "n is array<bigint> and not bigint"),
    ],
)
def test_part_files_with_other_columns_are_refused(tmp_path: Path, other: dict[str, Any], difference: str) -> None:
    write(tmp_path / "rows" / "a.parquet", t=INSTANT, n=pa.int64())
    write(tmp_path / "rows" / "b.parquet", **other)
    error = refused(tmp_path, "rows")
    assert error.where == str(tmp_path / "rows" / "b.parquet")
    assert difference in str(error.why)


def test_columns_that_differ_in_case_only_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", t=INSTANT, n=pa.int64(), N=pa.int64())
    assert refused(tmp_path).what == "the columns n and N differ in case only"


def test_partition_named_like_a_column_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "rows" / "n=1" / "a.parquet", t=INSTANT, n=pa.int64())
    assert refused(tmp_path, "rows").what == "n is there twice"


def test_declared_columns_of_parquet_are_held_against_the_footer(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", t=INSTANT, n=pa.int64())
    assert types(read(tmp_path, columns={"n": "bigint"})) == {"t": "timestamp", "n": "bigint"}
    assert refused(tmp_path, columns={"n": "int"}).what == "n is bigint in the file"
    missing = refused(tmp_path, columns={"N": "bigint"})
    assert missing.what == "the file has no column N"
    assert str(missing.try_).startswith("did you mean n?")


# -- CSV


def test_csv_has_the_declared_columns_found_in_its_header(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('extra,"n",t\n1,2,3\n')
    found = read(tmp_path, "a.csv", columns=CSV_COLUMNS)
    assert types(found) == {"t": "timestamp", "n": "bigint"}
    assert found.header == ("extra", "n", "t")
    assert found.zoned == {"t"}


def test_byte_order_mark_and_compression_do_not_change_the_header(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbft,n\r\n")
    assert read(tmp_path, "a.csv", columns=CSV_COLUMNS).header == ("t", "n")
    with gzip.open(tmp_path / "a.csv.gz", "wt") as file:
        file.write("t,n\n")
    assert read(tmp_path, "a.csv.gz", columns=CSV_COLUMNS).header == ("t", "n")


@pytest.mark.parametrize(
    ("data", "what", "try_"),
    [
        (b"", "the CSV file has no header", "write a header row"),
        (b"\n1,2\n", "the CSV file has no header", "write a header row"),
        (b"t,m\n", "the header has no column n", "one of m, t"),
        (b"t,N\n", "the header has no column n", "did you mean N? Names are matched exactly, upper and lower case too"),
        (b"t,n,n\n", "the header has n twice", "rename one of them"),
        (b"t,n,T\n", "the header has T twice", "rename one of them"),
        (b"t,\xff\n", "the CSV file can't be read", "UTF-8 text"),
    ],
)
def test_header_that_does_not_fit_is_refused(tmp_path: Path, data: bytes, what: str, try_: str) -> None:
    (tmp_path / "a.csv").write_bytes(data)
    error = refused(tmp_path, "a.csv", columns=CSV_COLUMNS)
    assert (error.what, error.try_) == (what, try_)


def test_damaged_compressed_csv_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"t,n\n" * 1000)[:15])
    assert refused(tmp_path, "a.csv.gz", columns=CSV_COLUMNS).what == "the CSV file can't be read"


def test_csv_files_with_other_headers_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("t,n\n")
    (tmp_path / "b.csv").write_text("n,t\n")
    error = refused(tmp_path, "*.csv", format="csv", columns=CSV_COLUMNS)
    assert error.what == "two CSV files of the source have different headers"


# -- the declaration against the columns


def test_source_that_fits_its_columns_has_no_problems(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", t=INSTANT, local=NAIVE, i=pa.string())
    assert problems(tmp_path) == []
    assert problems(tmp_path, created_timestamp="local", event_id="i", timezone="America/New_York") == []
    write(tmp_path / "a.parquet", t=pa.date32(), c=INSTANT, k=pa.string())
    assert problems(tmp_path, created_timestamp="c", timezone="UTC", kind="changes", row_key=["k"]) == []


@pytest.mark.parametrize(
    ("columns", "fields", "expected"),
    [
        ({"T": INSTANT}, {}, ("event_timestamp", "there is no column t", "did you mean T?")),
        ({"at": INSTANT, "n": INSTANT}, {}, ("event_timestamp", "there is no column t", "did you mean at?")),
        ({"n": INSTANT}, {}, ("event_timestamp", "there is no column t", "one of n")),
        ({"t": pa.string()}, {}, ("event_timestamp", "event_timestamp t is string", "declare a CAST in sql:")),
        ({"t": pa.int64()}, {}, ("event_timestamp", "event_timestamp t is bigint", "CAST(t AS TIMESTAMP)")),
        ({"t": pa.int64()}, {}, ("event_timestamp", "event_timestamp t is bigint", "or write one of these")),
        ({"t": pa.date32()}, {}, ("event_timestamp", "event_timestamp t is a date, and the source", "timezone: UTC")),
        ({"t": pa.time64("us")}, {}, ("event_timestamp", "the column t can't be used", "convert it")),
        ({"t": NAIVE}, {}, ("event_timestamp", "t has no zone, and the source declares none", "timezone: UTC")),
        (
            {"t": INSTANT, "c": pa.string()},
            {"created_timestamp": "c"},
            ("created_timestamp", "created_timestamp c is string", "declare a CAST in sql:"),
        ),
        (
            {"t": INSTANT, "c": NAIVE},
            {"created_timestamp": "c"},
            ("created_timestamp", "c has no zone, and the source declares none", "timezone: UTC"),
        ),
        (
            {"t": INSTANT, "recorded_at": INSTANT},
            {"created_timestamp": "recordedat"},
            ("created_timestamp", "there is no column recordedat", "did you mean recorded_at?"),
        ),
        (
            {"t": INSTANT, "c": INSTANT},
            {"created_timestamp": "c", "event_id": "flight"},
            ("event_id", "there is no column flight", "one of c, t"),
        ),
        (
            {"t": INSTANT},
            {"timezone": "America/New_York"},
            ("timezone", "source s: no column is without a zone", "remove timezone"),
        ),
    ],
)
def test_problem_is_told_at_the_field_that_declares_it(
    tmp_path: Path, columns: dict[str, Any], fields: dict[str, str], expected: tuple[str, str, str]
) -> None:
    write(tmp_path / "a.parquet", **columns)
    [(field, what, try_)] = problems(tmp_path, **fields)
    assert field == expected[0]
    assert what.startswith(expected[1])
    assert expected[2] in str(try_)


def test_all_problems_of_a_source_come_at_once(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", t=pa.string(), c=pa.string())
    found = problems(tmp_path, created_timestamp="c", event_id="x", timezone="UTC")
    assert [field for field, _, _ in found] == ["event_timestamp", "created_timestamp", "event_id", "timezone"]
