"""Sources of changes and of snapshots, from what is written to compiled views: what they take, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import indent

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from featurekit.clock import parse_instant
from featurekit.compiled import CompiledView
from featurekit.compiler import compile_repository
from featurekit.definitions.repo import load_repo
from featurekit.errors import DefinitionErrors
from featurekit.explain import explain_view
from featurekit.expr.show import show
from featurekit.online.keys import Namespace
from featurekit.registry.desired import desired_state
from featurekit.types import Date, Int32, String

INSTANT = pa.timestamp("us", tz="UTC")
COLUMNS = {
    "user_id": pa.int32(),
    "item": pa.string(),
    "at": INSTANT,
    "known": INSTANT,
    "ends": INSTANT,
    "local": pa.timestamp("us"),
    "day": pa.date32(),
    "op": pa.string(),
    "tags": pa.list_(pa.string()),
    "amount": pa.float64(),
}
CHANGES = "kind: changes\nrow_key: [item]\nvalid_to: ends\ndeleted: op = 'D'"
TOTAL = "total: {sql: sum(amount)}"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    schema = pa.schema(list(COLUMNS.items()))
    pq.write_table(schema.empty_table(), tmp_path / "rows.parquet")
    return tmp_path


def compiled(base: Path, source: str, features: str = TOTAL, *, times: str = "event_timestamp: at") -> CompiledView:
    """Return the view over a source; the source's own fields begin in line 6, the features' in line 30."""
    fields = f"path: rows.parquet\n{times}\n{source}".strip()
    head = "entities:\n  user: {join_keys: {user_id: bigint}}\nsources:\n  rows:\n" + indent(fields, "    ") + "\n"
    view = "feature_views:\n  v:\n    entity: user\n    source: rows\n    refresh: 1d\n    features:\n"
    (base / "defs").mkdir(exist_ok=True)
    text = head + "\n" * (23 - head.count("\n")) + view + indent(features, "      ") + "\n"
    (base / "defs" / "defs.yaml").write_text(text)
    return compile_repository(load_repo(base / "defs"), base).views["v"]


def mistakes(base: Path, source: str, features: str = TOTAL, **more: str) -> list[tuple[str, str]]:
    with pytest.raises(DefinitionErrors) as caught:
        compiled(base, source, features, **more)
    assert all(one.why and one.try_ for one in caught.value.mistakes)
    return [(re.sub(r"^\S*defs.yaml:", "", str(one.where)), one.what) for one in caught.value.mistakes]


def test_view_of_changes_knows_its_row_key_its_end_and_its_deletes(base: Path) -> None:
    view = compiled(base, CHANGES, "total: {sql: sum(amount)}\nlast: {sql: amount, ttl: 7d}\nn: {sql: count(*)}")
    assert [(column.name, column.type) for column in view.row_key] == [("item", String())]
    assert view.deleted is not None
    assert "'D'" in show(view.deleted)
    # What says that a thing is gone orders rows, too.
    assert [(column.name, column.type) for column in view.columns][1:] == [("op", String())]
    assert [slot.window for slot in view.slots] == [None, None, None]
    assert view.since(0) is None


def test_row_key_is_the_join_keys_unless_declared(base: Path) -> None:
    view = compiled(base, "kind: changes")
    assert [(column.name, column.type) for column in view.row_key] == [("user_id", Int32())]
    declared = compiled(base, "kind: changes\nrow_key: [user_id]")
    assert declared.fingerprint == view.fingerprint


def test_date_stays_a_date_for_features_and_may_be_a_time(base: Path) -> None:
    view = compiled(base, "kind: changes\nvalid_to: day\ntimezone: UTC", "d: {sql: day}", times="event_timestamp: day")
    assert [(column.name, column.type) for column in view.columns] == [("day", Date())]
    instant = compiled(
        base, "kind: changes\nvalid_to: ends\ntimezone: UTC", "d: {sql: day}", times="event_timestamp: day"
    )
    assert instant.fingerprint != view.fingerprint


@pytest.mark.parametrize(
    "source",
    [
        "kind: changes",
        CHANGES,
        CHANGES.replace("[item]", "[item, user_id]"),
        CHANGES.replace("'D'", "'X'"),
        CHANGES.replace("valid_to: ends", "valid_to: known"),
        "kind: changes\nrow_key: [item]\ndeleted: op = 'D'",
        "kind: snapshots",
    ],
)
def test_all_that_decides_which_rows_are_visible_is_in_the_fingerprint(base: Path, source: str) -> None:
    others = {compiled(base, other).fingerprint.data for other in ("kind: changes\nrow_key: [op]", "kind: snapshots")}
    found = compiled(base, source).fingerprint.data
    if source != "kind: snapshots":
        assert found not in others
    assert found != compiled(base, "", "total: {sql: sum(amount), window: lifetime}").fingerprint.data
    changed = compiled(base, source + "\nowner: me").fingerprint
    assert changed.data == found


def test_fingerprints_of_all_kinds_differ(base: Path) -> None:
    kinds = (
        "kind: changes",
        CHANGES,
        CHANGES.replace("[item]", "[op]"),
        CHANGES.replace("'D'", "'X'"),
        "kind: snapshots",
    )
    assert len({compiled(base, source).fingerprint.data for source in kinds}) == len(kinds)


def test_source_of_events_keeps_the_fingerprint_it_had(base: Path) -> None:
    features = "n: {sql: count(*), window: 1d}"
    assert compiled(base, "kind: events", features).fingerprint == compiled(base, "", features).fingerprint


def test_plan_names_what_changed(base: Path) -> None:
    def data(source: str) -> dict[str, str]:
        compiled(base, source)
        found = compile_repository(load_repo(base / "defs"), base)
        (view,) = desired_state(found).views.values()
        return dict(view.definition.data)

    one, other = data(CHANGES), data(CHANGES.replace("'D'", "'X'").replace("[item]", "[op]"))
    changed = {name for name in one if one[name] != other[name]}
    assert changed == {"source.deleted", "source.row_key"}


def test_explain_says_what_a_row_means(base: Path) -> None:
    def summary(source: str) -> dict[str, str]:
        view = compiled(base, source)
        explained = explain_view(view, Namespace("shop", "dev"), as_of=parse_instant("2024-01-01"))
        return dict(explained.summary)

    assert summary(CHANGES)["changes"].startswith("the newest row of each item counts, up to ends, unless ")
    assert "the rows of the newest at count, as far as they are known" in summary("kind: snapshots")["snapshots"]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("kind: chnages", [("7:11", "source rows: 'chnages' is not a kind of source")]),
        ("row_key: [item]", [("7:5", "source rows: row_key on a source of events")]),
        ("valid_to: ends", [("7:15", "source rows: valid_to on a source of events")]),
        ("deleted: op = 'D'", [("7:14", "source rows: deleted on a source of events")]),
        (
            "kind: snapshots\ndeleted: op = 'D'\nvalid_to: ends",
            [
                ("8:14", "source rows: deleted on a source of snapshots"),
                ("9:15", "source rows: valid_to on a source of snapshots"),
            ],
        ),
        (
            "kind: changes\ncreated_timestamp: known\nevent_id: item",
            [("9:15", "source rows: event_id on a source of changes")],
        ),
        (
            "kind: snapshots\ncreated_timestamp: known\nevent_id: item",
            [("9:15", "source rows: event_id on a source of snapshots")],
        ),
        ("kind: changes\nrow_key: [item, Item]", [("8:21", "source rows: row_key names item twice")]),
        ("kind: changes\nrow_key: [itme]", [("8:15", "there is no column itme")]),
        ("kind: changes\nrow_key: [tags]", [("8:15", "tags is array<string>")]),
        ("kind: changes\nrow_key: [local]", [("8:15", "local has no zone, and the source declares none")]),
        ("kind: changes\nvalid_to: op", [("8:15", "valid_to op is string")]),
        ("kind: changes\nvalid_to: day", [("8:15", "valid_to day is a date, and the source declares no zone")]),
        ("kind: changes\nvalid_to: local", [("8:15", "local has no zone, and the source declares none")]),
        ("kind: changes\ndeleted: op", [("8:14", "`deleted` is string, not boolean")]),
        ("kind: changes\ndeleted: po = 'D'", [("8:14", "unknown column po")]),
        ("kind: changes\ndeleted: count(*) > 1", [("8:14", None)]),
        ("kind: changes\ntimezone: UTC\nvalid_to: ends", None),
    ],
)
def test_mistake_in_a_source_is_told_at_its_place(
    base: Path, source: str, found: list[tuple[str, str | None]] | None
) -> None:
    if found is None:  # `local` is a column without a zone
        compiled(base, source)
        return
    features = TOTAL if "kind" in source else "total: {sql: sum(amount), window: 1d}"
    told = mistakes(base, source, features)
    assert [where.partition("  ")[0] for where, _ in told] == [where for where, _ in found]
    for (_, what), (_, expected) in zip(told, found, strict=True):
        assert expected is None or what == expected


@pytest.mark.parametrize(
    ("features", "where", "what"),
    [
        ("n: {sql: count(*), window: 7d}", "30:34", "feature 'n' declares a window over changes"),
        ("n: {sql: count(*), window: lifetime}", "30:34", "feature 'n' declares a window over changes"),
        ("n: {sql: count(*), window: {rows: 3}}", "30:26", "feature 'n' declares a window over changes"),
        ("n: {sql: amount, window: 7d}", "30:32", "feature 'n' declares a window over changes"),
        ("n: {sql: sum(amount), ttl: 7d}", "30:34", "feature 'n' declares a ttl but is not a latest row's value"),
    ],
)
def test_states_have_no_windows(base: Path, features: str, where: str, what: str) -> None:
    assert mistakes(base, "kind: changes", features) == [(where, what)]
    told = mistakes(base, "kind: snapshots", features)
    assert told == [(where, what.replace("changes", "snapshots"))]
