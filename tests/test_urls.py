"""What of a URL may be shown: cases of passwords that end early for a parser."""

from __future__ import annotations

import pytest

from featurekit.definitions.source import Source
from featurekit.urls import UNREADABLE, shown_path, shown_text, shown_url


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://:pw@h:1/2", "redis://h:1/2"),
        ("rediss://u:p%40w@h/0?ssl_ca_certs=x", "rediss://h/0"),
        ("unix://u@/run/redis.sock?db=1&password=x", "unix:///run/redis.sock"),
        ("redis://:pw@[::1]:6379", "redis://[::1]:6379"),
        ("redis://:pa/ss@cache:6379/0", "redis://cache:6379/0"),
        ("redis://u:p@ss@cache", "redis://cache"),
        ("redis://job:s3cr#t@cache:6379", UNREADABLE),
        ("redis://job:s3cr?t@cache:6379", UNREADABLE),
        ("redis://cache?password=a@b", UNREADABLE),  # b may be a server or the end of a password
        ("redis+cluster://u:pw@a:1,b:2", "redis+cluster://a:1,b:2"),
        ("rediss+sentinel://u:pw@a:1,[::1]/m/1?sentinel_password=x&ca=y", "rediss+sentinel://a:1,[::1]/m/1"),
        ("redis+cluster://a,:pw", UNREADABLE),
        ("redis://:secret", UNREADABLE),
        ("redis://:pw@[::1", UNREADABLE),
        ("secret", UNREADABLE),
    ],
)
def test_a_servers_url_is_shown_without_its_secrets(url: str, shown: str) -> None:
    assert shown_url(url) == shown


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("data/2013-??.csv", "data/2013-??.csv"),
        ("/data/me@here/x.parquet", "/data/me@here/x.parquet"),
        ("file:///data/me@here/x.parquet", "file:///data/me@here/x.parquet"),
        ("s3a://KEY:SECRET@bucket/x.parquet", "s3a://bucket/x.parquet"),
        ("s3a://KEY:SE/CR@ET@bucket/x.parquet", "s3a://bucket/x.parquet"),
        ("https://TOKEN@host/x.csv", "https://host/x.csv"),
        ("https://host/x.csv?sv=1&sig=SECRET", "https://host/x.csv"),
        ("https://host/x.csv?sig=SEC@RET", UNREADABLE),
        ("s3a://bucket/me@here/x.parquet", "s3a://bucket/me@here/x.parquet"),
        ("abfss://rows@store.dfs.core.windows.net/x?sig=S", "abfss://rows@store.dfs.core.windows.net/x"),
        ("abfss://rows:SECRET@store/x", "abfss://store/x"),
    ],
)
def test_a_path_is_shown_without_user_and_query(path: str, shown: str) -> None:
    assert shown_path(path) == shown


def test_every_url_in_a_text_is_shown_without_its_secrets() -> None:
    text = "[PATH_NOT_FOUND] no s3a://KEY:SECRET@bucket/a, 's3a://KEY:SEC/RET@bucket/b' at 'https://h/x?token=SECRET'."

    assert shown_text(text) == "[PATH_NOT_FOUND] no s3a://bucket/a, 's3a://bucket/b' at 'https://h/x'."


@pytest.mark.parametrize(
    "where",
    [
        {"path": "s3a://KEY:SECRET@bucket/x.parquet?token=SECRET"},
        {"sql": "SELECT * FROM parquet.`s3a://KEY:SECRET@bucket/x.parquet`"},
    ],
)
def test_a_source_says_where_its_rows_come_from_without_secrets(where: dict[str, str]) -> None:
    source = Source.model_validate({"name": "orders", "event_timestamp": "at", "columns": {"at": "timestamp"}, **where})

    assert "s3a://bucket/x.parquet" in source.shown_origin
    assert "SECRET" not in source.shown_origin
