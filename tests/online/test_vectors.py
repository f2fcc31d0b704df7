"""The test vectors: those that are committed are what we write and read, and docs/formats.md is enough to read them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.online.independent_reader import (
    Reader,
    RefusedError,
    as_of_text,
    decode_row,
    entity_key,
    parse_type,
    pick,
    space_text,
)
from tests.online.vectors import FOLDER, files


def cases(file: str, name: str = "cases") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((FOLDER / file).read_bytes())[name]
    assert found
    return found


def test_the_committed_vectors_are_those_that_a_fresh_run_writes() -> None:
    written = {path.name: path.read_bytes() for path in FOLDER.glob("*.json")}
    assert written == files(), "they differ: make vectors, and say in the commit which bytes changed"


def test_keys_are_written_as_the_page_says() -> None:
    for case in cases("keys.json"):
        found = entity_key([parse_type(kind) for kind in case["types"]], case["values"])
        assert found == (None if case["text"] is None else case["text"].encode()), case


def test_different_keys_of_one_type_have_different_texts() -> None:
    texts: dict[tuple[str, ...], set[str]] = {}
    for case in cases("keys.json"):
        if case["text"] is not None and case["values"] not in (["8000000000000000"], ["-0.00"]):
            known = texts.setdefault(tuple(case["types"]), set())
            assert case["text"] not in known, case
            known.add(case["text"])


def test_as_ofs_are_written_as_the_page_says() -> None:
    for case in cases("keys.json", "as_of"):
        assert as_of_text(int(case["as_of"])) == case["text"]


@pytest.mark.parametrize("case", cases("rows.json"), ids=lambda case: case["name"])
def test_rows_are_read_as_the_page_says(case: dict[str, Any]) -> None:
    types = [parse_type(kind) for kind in case["types"]]
    found = decode_row(bytes.fromhex(case["row"]), types, case["fingerprint"], int(case["as_of"]))
    assert (found.values, found.statuses) == (case["values"], case["statuses"])
    assert found.last_event == int(case["last_event"])


@pytest.mark.parametrize("case", cases("rows.json", "refused"), ids=lambda case: case["name"])
def test_rows_that_are_none_are_refused_with_the_reason_that_the_page_says(case: dict[str, Any]) -> None:
    types = [parse_type(kind) for kind in case["types"]]
    with pytest.raises(RefusedError) as caught:
        decode_row(bytes.fromhex(case["row"]), types, case["fingerprint"], int(case["as_of"]))
    assert str(caught.value) == case["reason"]


def test_heads_lead_where_the_page_says() -> None:
    for case in cases("heads.json"):
        head = None if case["head"] is None else case["head"].encode()
        for asked in case["picks"]:
            found = pick(head, int(case["availability_delay"]), int(asked["at"]))
            told = None if found is None else {"as_of": str(found.as_of), "restatement": found.restatement}
            assert told == asked["pick"], (case["name"], asked)
            assert (None if found is None else space_text(found)) == asked["space"]


class Kept:
    """The store of lookups.json."""

    def __init__(self) -> None:
        self._values = {
            entry["key"].encode(): bytes.fromhex(entry["hex"]) if "hex" in entry else entry["text"].encode()
            for entry in cases("lookups.json", "store")
        }

    def mget(self, keys: Sequence[bytes]) -> list[bytes | None]:
        return [self._values.get(key) for key in keys]


def test_lookups_are_answered_as_the_page_says() -> None:
    reader = Reader(Kept(), "shop", "test")
    seen = set()
    for case in cases("lookups.json", "lookups"):
        found = reader.lookup(case["service"], case["entity"], int(case["at"]))
        assert {view: None if at is None else str(at) for view, at in found.as_of.items()} == case["as_of"]
        for name, status in case["statuses"].items():
            if name.startswith("calc."):  # on demand: a reader may leave those out
                continue
            assert (found.values[name], found.statuses[name]) == (case["values"][name], status), case
            assert found.reasons.get(name) == case["reasons"].get(name), case
            seen |= {status, case["reasons"].get(name)}
    assert seen >= {"PRESENT", "NULL", "MISSING", "DEFAULTED", "UNAVAILABLE", "EXPIRED", "BROKEN_ROW", "NO_REFRESH"}
