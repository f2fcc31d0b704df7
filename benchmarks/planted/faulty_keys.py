"""Faults of keys and of what is stored: another entity's row, keys that change on the way, bytes that are no row."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa

from benchmarks.planted.kind import Kind, Row, RowsChange, kind


def _with_rows_of(rows: list[Row], key: str, others: list[Row]) -> list[Row]:
    """Return for each entity the row of another."""
    return [{**other, key: row[key]} for row, other in zip(rows, others, strict=True)]


def _shuffled(rows: list[Row], _: pa.Table) -> list[Row]:
    others = rows.copy()
    random.Random(11).shuffle(others)
    return _with_rows_of(rows, "tailnum", others)


def _off_by_one(rows: list[Row], _: pa.Table) -> list[Row]:
    return _with_rows_of(rows, "tailnum", [*rows[1:], rows[0]])


def _one_for_all(rows: list[Row], _: pa.Table) -> list[Row]:
    return _with_rows_of(rows, "tailnum", [rows[len(rows) // 3]] * len(rows))


def _read_by(key: str, change: Callable[[Any], Any]) -> RowsChange:
    """Return what a reader gets who changes the key before he asks: the row of that key, where there is one."""

    def turn(rows: list[Row], _: pa.Table) -> list[Row]:
        by_key = {row[key]: row for row in rows}
        return _with_rows_of(rows, key, [by_key.get(change(row[key]), row) for row in rows])

    return turn


def _extra(rows: list[Row], _: pa.Table) -> list[Row]:
    return [*rows, *({**row, "tailnum": f"{row['tailnum']}#"} for row in rows)]


KEY_KINDS: Final[tuple[Kind, ...]] = (
    kind("rows shuffled among entities", "another entity's row", rows=_shuffled),
    kind("rows off by one", "neighbouring entity's row", rows=_off_by_one),
    kind("one row for all", "one row for all", rows=_one_for_all),
    kind("key trimmed", "key trimmed", view="tag_week", rows=_read_by("tag", str.strip)),
    kind("key lower-cased", "key lower-cased", view="tag_week", rows=_read_by("tag", str.lower)),
    kind(
        "key normalised",
        "key Unicode-normalised",
        view="tag_week",
        rows=_read_by("tag", lambda tag: unicodedata.normalize("NFC", tag)),
    ),
    kind(
        "key cut to 32 bits",
        "key cut to 32 bits",
        view="number_week",
        rows=_read_by("number", lambda number: number & 0xFFFF_FFFF),
    ),
    kind("rows missing", "missing row", stored=lambda _own, _old: None),
    kind("rows of nobody", "extra row", rows=_extra),
    kind("stale rows", "stale row", stored=lambda _own, old: old),
    kind(
        "rows of another definition",
        "other version",
        stored=lambda own, _old: own[:2] + bytes.fromhex("ab12ab12ab12") + own[8:],
    ),
    kind("rows cut short", "broken row", stored=lambda own, _old: own[:-3]),
    kind("default missing", "default missing", "default left out", plan=lambda field: replace(field, default=None)),
    kind(
        "another default",
        "other default",
        plan=lambda field: replace(field, default=-1.0) if field.name == "last_delay" else field,
    ),
)
