"""Arrow over HTTP: the same answers as JSON gives, and no small body that is a large table."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featurekit.errors import InputError, KeyTypeError
from featurekit.online.reason import Reason
from featurekit.online.request import request_columns
from featurekit.serving.app import create_app
from featurekit.serving.arrow_stream import MEDIA_TYPE, decode_arrow
from featurekit.serving.server import HttpServer
from featurekit.status import Status
from tests.serving.http import served
from tests.serving.world import BIG, OUTPUTS, Shop

ARROW = {"content-type": MEDIA_TYPE}
WANT = {"accept": MEDIA_TYPE}
QUESTION = {"entities": [{"user_id": 1}, {"user_id": BIG}, {"user_id": 99}], "request": {"price": 5.0}}


@pytest.fixture
def http(shop: Shop) -> Iterator[httpx.Client]:
    with served(HttpServer(create_app(shop.client, shop.store, max_values=100))) as client:
        yield client


def stream(table: pa.Table, **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as out:
        out.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def read(answer: httpx.Response) -> pa.Table:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == MEDIA_TYPE
    return pa.ipc.open_stream(answer.content).read_all()


def test_arrow_holds_what_json_says(http: httpx.Client) -> None:
    told = http.post("/v1/lookup/score", json=QUESTION).json()
    table = read(http.post("/v1/lookup/score", json=QUESTION, headers=WANT))

    assert table.column_names == [*OUTPUTS, "__status", "__reason"]
    assert table.select(OUTPUTS).to_pylist() == told["values"]
    statuses = [dict(zip(OUTPUTS, codes, strict=True)) for codes in table["__status"].to_pylist()]
    reasons = [dict(zip(OUTPUTS, codes, strict=True)) for codes in table["__reason"].to_pylist()]
    assert [{name: Status(code).name for name, code in row.items()} for row in statuses] == told["statuses"]
    assert [{name: Reason(code).name for name, code in row.items() if code} for row in reasons] == told["reasons"]
    header = json.loads(table.schema.metadata[b"featurekit"])
    assert header == {name: told[name] for name in ("service", "at", "as_of")}


def test_one_entity_is_a_table_of_one_row_with_exact_types(http: httpx.Client) -> None:
    table = read(http.post("/v1/lookup/spend", json={"entities": {"user_id": 2}}, headers=WANT))

    assert (table.num_rows, table.schema.field("spend.orders_7d").type) == (1, pa.int64())
    assert table["spend.orders_7d"].to_pylist() == [BIG]


def test_a_table_is_asked_about_as_json_is(http: httpx.Client) -> None:
    table = pa.table({"user_id": [1, BIG, 99], "price": [5.0, 5.0, 5.0]})

    answer = http.post("/v1/lookup/score", content=stream(table), headers=ARROW)
    both = http.post("/v1/lookup/score", content=stream(table), headers={**ARROW, **WANT})

    assert answer.json() == http.post("/v1/lookup/score", json=QUESTION).json()
    assert read(both).select(OUTPUTS).to_pylist() == answer.json()["values"]


def test_the_time_and_name_of_an_arrow_question_stand_in_its_address(http: httpx.Client) -> None:
    body = stream(pa.table({"user_id": [1]}))

    answer = http.post("/v1/lookup/spend?at=2013-11-15T01:59:59Z", content=body, headers=ARROW)

    assert answer.json()["as_of"] == {"spend": None}
    refused = http.post("/v1/lookup/spend?at=yesterday", content=body, headers=ARROW)
    assert (refused.status_code, refused.json()["what"]) == (400, "'yesterday' is not a time")


def test_a_table_without_rows_has_an_answer_without_rows(http: httpx.Client) -> None:
    empty = pa.table({"user_id": pa.array([], pa.int64()), "price": pa.array([], pa.float64())})

    table = read(http.post("/v1/lookup/score", content=stream(empty), headers={**ARROW, **WANT}))

    assert table.num_rows == 0
    assert table.column_names == [*OUTPUTS, "__status", "__reason"]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", None),
        (b"{}", None),
        (stream(pa.table({"user_id": [1]}))[:-20], None),
        (stream(pa.table({"user_id": [0] * 50}), compression="zstd"), "its buffers are compressed"),
        (stream(pa.table({"user_id": [0] * 50}), compression="lz4"), "its buffers are compressed"),
        (stream(pa.table({"user_id": pa.array(["a", "a"]).dictionary_encode()})), "it has dictionaries"),
        (stream(pa.table({"user_id": pa.array(["a"], pa.string_view())})), "user_id is a string_view"),
        (
            stream(pa.table({"user_id": pa.RunEndEncodedArray.from_arrays(pa.array([9], pa.int32()), ["a"])})),
            "user_id is a run_end_encoded",
        ),
        (
            stream(pa.table({"user_id": pa.array([[1]], pa.list_view(pa.int8()))})),
            "user_id is a list_view",
        ),
        (stream(pa.table({"user_id": pa.array([1], pa.timestamp("ns"))})), "times have microseconds"),
    ],
)
def test_a_body_that_is_no_plain_stream_says_why(http: httpx.Client, body: bytes, why: str | None) -> None:
    answer = http.post("/v1/lookup/spend", content=body, headers=ARROW)

    assert (answer.status_code, answer.json()["error"]) == (400, "InputError")
    assert why is None or answer.json()["why"].startswith(why) or why in answer.json()["why"]
    assert http.get("/health/live").status_code == 200


def test_a_stream_of_more_rows_than_an_answer_holds_is_refused(http: httpx.Client) -> None:
    no_bytes = stream(pa.table({"user_id": pa.nulls(10_000_000)}))

    rows = http.post("/v1/lookup/spend", content=no_bytes, headers=ARROW)
    values = http.post("/v1/lookup/spend", content=stream(pa.table({"user_id": range(40)})), headers=ARROW)

    assert len(no_bytes) < 1000
    assert (rows.status_code, values.status_code) == (413, 413)
    assert values.json()["try"] == "ask in parts of at most 33 rows"


NO_BYTES = pa.nulls(1 << 28)


@pytest.mark.parametrize(
    "columns",
    [
        {"user_id": pa.ListArray.from_arrays(pa.array([0, len(NO_BYTES)], pa.int32()), NO_BYTES)},
        {
            "user_id": pa.LargeListArray.from_arrays(
                pa.array([0, len(NO_BYTES)], pa.int64()), pa.StructArray.from_arrays([NO_BYTES], ["a"])
            )
        },
        {f"column_{i}": pa.nulls(200_000) for i in range(100)},
    ],
    ids=["list", "structs", "columns"],
)
def test_values_that_take_no_bytes_do_not_make_a_small_body_large(columns: dict[str, pa.Array]) -> None:
    body = stream(pa.table(columns))

    with pytest.raises(InputError) as error:
        decode_arrow(body, max_rows=200_000)

    assert len(body) < 10_000
    assert error.value.why == "it has more values than bits: nulls without a type, which take none"


def test_a_column_of_nulls_is_no_mistake() -> None:
    table = pa.table({"user_id": pa.array(range(100)), "a": pa.nulls(100), "b": [[None]] * 100})

    assert decode_arrow(stream(table), max_rows=100).equals(table)


def test_a_wrong_column_is_told_as_in_json(http: httpx.Client) -> None:
    wrong = stream(pa.table({"user_id": ["1"]}))

    answer = http.post("/v1/lookup/spend", content=wrong, headers=ARROW)

    assert (answer.status_code, answer.json()["error"]) == (400, "KeyTypeError")


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1 << 62], pa.timestamp("us", "UTC")),
        pa.array([1], pa.timestamp("us", "Mars/Phobos")),
    ],
)
def test_a_time_that_is_none_is_a_mistake_of_the_question(http: httpx.Client, column: pa.Array) -> None:
    answer = http.post("/v1/lookup/spend", content=stream(pa.table({"user_id": column})), headers=ARROW)

    assert (answer.status_code, answer.json()["error"]) == (400, "KeyTypeError")


WHOLE = stream(
    pa.table({"id": [1, 2], "s": ["a", None], "t": [datetime(2013, 11, 15, tzinfo=UTC)] * 2, "l": [[1], []]})
)


@given(st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.integers(0, 255)), max_size=8), st.integers(0, len(WHOLE)))
def test_damaged_streams_are_refused_or_small(changes: list[tuple[int, int]], cut: int) -> None:
    damaged = bytearray(WHOLE)
    for at, byte in changes:
        damaged[at] = byte
    for body in (bytes(damaged), bytes(damaged[:cut])):
        try:
            table = decode_arrow(body, max_rows=10)
        except InputError:
            continue
        assert table.num_rows <= 10
        with contextlib.suppress(KeyTypeError):
            request_columns(table, None, table.column_names)
