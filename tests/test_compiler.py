"""Definitions to compiled views and services: what features become, what is refused and where it is told."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from textwrap import dedent

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from featurekit.clock import DAY
from featurekit.compiled import CompiledRepository, SlotFunction
from featurekit.compiler import compile_repository
from featurekit.definitions.feature_view import Feature
from featurekit.definitions.repo import load_repo
from featurekit.errors import DefinitionErrors
from featurekit.expr.show import show
from featurekit.lookup_plan import empty_values, lookup_plan
from featurekit.plan import decode_plan, encode_plan
from featurekit.types import Float64, Int64, String, Timestamp
from featurekit.windows import Calendar, CalendarUnit, Elapsed, LastRows

BASE = """\
entities:
  user: {join_keys: {user_id: bigint}}
sources:
  orders:
    path: orders.parquet
    event_timestamp: at
    timezone: America/New_York
feature_views:
  spend:
    entity: user
    source: orders
    refresh: 1d
    features:
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    schema = pa.schema(
        [
            ("user_id", pa.int32()),
            ("at", pa.timestamp("us")),
            ("amount", pa.float64()),
            ("shop", pa.string()),
            ("tags", pa.list_(pa.string())),
            ("codes", pa.map_(pa.string(), pa.int64())),
        ]
    )
    pq.write_table(schema.empty_table(), tmp_path / "orders.parquet")
    return tmp_path


def compiled(base: Path, features: str, rest: str = "") -> CompiledRepository:
    folder = base / "defs"
    folder.mkdir(exist_ok=True)
    lines = "".join(f"      {line}\n" for line in dedent(features).strip().splitlines())
    (folder / "defs.yaml").write_text(BASE + lines + rest)
    return compile_repository(load_repo(folder), base)


def mistakes(base: Path, features: str, rest: str = "") -> list[tuple[str, str]]:
    with pytest.raises(DefinitionErrors) as caught:
        compiled(base, features, rest)
    return [(re.sub(r"^\S*defs.yaml:", "", str(one.where)), one.what) for one in caught.value.mistakes]


def test_features_share_the_slots_they_have_in_common(base: Path) -> None:
    view = compiled(
        base,
        """
        n: {sql: count(*), window: 7d}
        mean: {sql: sum(amount) / count(*), window: 7d}
        n_1d: {sql: count(*), window: 1d}
        """,
    ).views["spend"]
    assert [(slot.name, slot.function, slot.window) for slot in view.slots] == [
        ("a0", SlotFunction.COUNT, Elapsed(7 * DAY)),
        ("a1", SlotFunction.SUM, Elapsed(7 * DAY)),
        ("a2", SlotFunction.COUNT, Elapsed(DAY)),
    ]
    assert show(view.features[1].expression).startswith("divide(a1:double?, cast(a0:bigint):double)")


def test_a_sibling_is_its_expression(base: Path) -> None:
    view = compiled(base, "share: {sql: n / n_7d}\nn: {sql: count(*), window: 1d}\nn_7d: {sql: count(*), window: 7d}")
    assert [slot.window for slot in view.views["spend"].slots] == [Elapsed(DAY), Elapsed(7 * DAY)]
    assert view.views["spend"].features[0].type == Float64()


def test_a_bare_expression_is_the_latest_rows_value(base: Path) -> None:
    view = compiled(base, "last: {sql: amount * 2, ttl: 3d}").views["spend"]
    (slot,) = view.slots
    assert (slot.function, slot.window, view.features[0].is_latest) == (SlotFunction.LATEST, None, True)
    assert view.reach == (Elapsed(6 * DAY),)  # EXPIRED until twice the ttl


def test_a_view_with_a_latest_row_without_ttl_looks_back_for_ever(base: Path) -> None:
    assert compiled(base, "last: {sql: amount}\nn: {sql: count(*), window: 1d}").views["spend"].reach is None


def test_a_naive_column_is_an_instant_where_the_zone_is_declared(base: Path) -> None:
    assert compiled(base, "last_at: {sql: at}").views["spend"].features[0].type == Timestamp()


def test_an_entity_without_rows_has_count_0_and_null_otherwise(base: Path) -> None:
    view = compiled(
        base,
        """
        n: {sql: count(*), window: 1d}
        some: {sql: count(*) > 0, window: 1d}
        total: {sql: sum(amount), window: 1d}
        filled: {sql: "coalesce(sum(amount), -1.0D)", window: 1d}
        last: {sql: shop}
        """,
    ).views["spend"]
    assert empty_values(view) == (0, False, None, -1.0, None)


@pytest.mark.parametrize(
    ("features", "found"),
    [
        ("n: {sql: count(*)}", [("14:16", "feature 'n' aggregates rows but declares no window")]),
        ("a: {sql: amount, window: 1d}", [("14:32", "feature 'a' declares a window but aggregates no rows")]),
        ("a: {sql: sum(amount), window: 1d, ttl: 1d}", None),
        ("a: {sql: b}\nb: {sql: a}", [("15:16", "features refer to each other in a circle: a -> b -> a")]),
        ("a: {sql: a + 1}", [("14:16", "feature 'a' refers to itself, and its source has no column 'a'")]),
        (
            "n: {sql: count(*), window: 1d}\na: {sql: amount - n}",
            [("15:16", "column 'amount' stands bare beside another feature")],
        ),
        (
            "l: {sql: amount, ttl: 1d}\na: {sql: l + 1}",
            [("15:16", "feature 'l' has a ttl and can't be used by a sibling")],
        ),
        (
            "a: {sql: 'array(array(array(array(array(array(array(array(tags))))))))'}",
            [("14:16", "feature 'a' is nested 9 deep")],
        ),
        ("a: {sql: tags, default: x}", [("14:31", "the default 'x' is no array<string> value")]),
        ("a: {sql: tags, expect: {between: [0, 1]}}", None),
        ("a: {sql: 'NULL'}", [("14:16", "feature 'a' is NULL and nothing else")]),
        ("a: {sql: size(codes)}", [("14:16", "column 'codes' can't be used")]),
        ("a: {sql: amount, default: x}", [("14:33", "the default 'x' is no double value")]),
        ("n: {sql: count(*), window: 1d, default: 1.5}", [("14:47", "the default 1.5 is no bigint value")]),
        ("s: {sql: shop, expect: {between: [0, 1]}}", None),
        ("a: {sql: amuont}\nb: {sql: a + 1}", None),
    ],
)
def test_a_mistake_is_told_once_where_it_stands(base: Path, features: str, found: list[tuple[str, str]] | None) -> None:
    told = mistakes(base, features)
    if found is None:
        assert len(told) == 1, told
    else:
        assert told == found


def test_all_mistakes_of_a_repo_are_told_at_once_in_their_order(base: Path) -> None:
    told = mistakes(base, "a: {sql: nope}\nb: {sql: rand()}\nc: {sql: count(*)}", "bogus: {}\n")
    assert [where.split(":")[0] for where, _ in told] == ["14", "15", "16", "17"]


def test_a_key_that_would_not_be_the_same_value_is_refused(base: Path) -> None:
    folder = base / "defs"
    folder.mkdir()
    (folder / "defs.yaml").write_text(BASE.replace("bigint", "string") + "      n: {sql: count(*), window: 1d}\n")
    with pytest.raises(DefinitionErrors, match="the join key 'user_id' is string, its column 'user_id' is int"):
        compile_repository(load_repo(folder), base)


SERVICE = """
on_demand_feature_views:
  trip:
    request: {fee: double, unused: string}
    features:
      ratio: {sql: fee / spend.n, default: 0}
      twice: {sql: half * 4}
      half: {sql: fee / 2}
feature_services:
  pay: {features: [trip, spend.n, spend.last]}
"""
FEATURES = "n: {sql: count(*), window: 1d}\nlast: {sql: shop, default: none}\nhidden: {sql: amount}"


def test_a_service_knows_its_keys_its_request_and_its_outputs_in_order(base: Path) -> None:
    service = compiled(base, FEATURES, SERVICE).services["pay"]
    assert [(field.name, field.type) for field in service.keys.fields] == [("user_id", Int64())]
    assert service.request.names == ("fee",)
    assert [(output.name, output.type, output.nullable) for output in service.outputs] == [
        ("trip.ratio", Float64(), False),
        ("trip.twice", Float64(), True),
        ("trip.half", Float64(), True),
        ("spend.n", Int64(), False),
        ("spend.last", String(), False),
    ]


def test_a_view_is_a_service_of_its_own_too(base: Path) -> None:
    assert compiled(base, FEATURES).view_services["spend"].outputs[0].name == "spend.n"


def test_roles_read_one_view_by_other_keys(base: Path) -> None:
    rest = """
on_demand_feature_views:
  gap:
    features:
      more: {sql: giver.n - taker.n}
feature_services:
  gift:
    features:
      - {view: spend, alias: giver, keys: {user_id: from_user}}
      - {view: spend, alias: taker, keys: {user_id: to_user}}
      - gap
"""
    service = compiled(base, FEATURES, rest).services["gift"]
    assert service.keys.names == ("from_user", "to_user")
    assert [(part.alias, part.request_keys) for part in service.views] == [
        ("giver", ("from_user",)),
        ("taker", ("to_user",)),
    ]


@pytest.mark.parametrize(
    ("sql", "what"),
    [
        ("spend.nope", "view 'spend' has no feature 'nope'"),
        ("nowhere.n", "nowhere.n"),
        ("spend.n > 'a'", None),
        ("avg(spend.n)", None),
        ("other.x", "'other' is an on-demand view"),
    ],
)
def test_a_mistake_in_an_on_demand_view_is_told_once(base: Path, sql: str, what: str | None) -> None:
    rest = f"""
on_demand_feature_views:
  gap:
    features:
      more: {{sql: "{sql}"}}
  other:
    features:
      x: {{sql: spend.n}}
feature_services:
  a: {{features: [gap]}}
  b: {{features: [spend, gap]}}
"""
    told = mistakes(base, FEATURES, rest)
    assert len(told) == 1, told
    assert what is None or what in told[0][1]


def test_an_expectation_that_nothing_can_enforce_is_refused(base: Path) -> None:
    rest = """
on_demand_feature_views:
  gap:
    features:
      more: {sql: spend.n + 1, expect: {not_null: true}}
"""
    assert mistakes(base, FEATURES, rest) == [("21:32", "`expect` can't be enforced for on-demand feature 'more'")]


@pytest.mark.parametrize(
    ("change", "data_changes"),
    [
        (("window: 1d", "window: 2d"), True),
        (("refresh: 1d", "refresh: 12h"), True),
        (("default: none", "default: nothing"), True),
        (("sql: shop", "sql: lower(shop)"), True),
        (("timezone: America/New_York", "timezone: UTC"), True),
        (("path: orders.parquet", "path: ./orders.parquet"), False),
        (("refresh: 1d", "refresh: 24h"), False),
        (("refresh: 1d", "refresh: 1d\n    owner: me"), False),
        (("sql: shop", "description: where, sql: shop"), False),
    ],
)
def test_a_fingerprint_covers_what_decides_values_and_nothing_else(
    base: Path, change: tuple[str, str], data_changes: bool
) -> None:
    folder = base / "defs"
    before = compiled(base, FEATURES).views["spend"].fingerprint
    text = (folder / "defs.yaml").read_text()
    assert change[0] in text
    (folder / "defs.yaml").write_text(text.replace(*change))
    after = compile_repository(load_repo(folder), base).views["spend"].fingerprint
    assert (before.data != after.data) == data_changes


def test_the_lookup_plan_survives_its_bytes(base: Path) -> None:
    repository = compiled(base, FEATURES, SERVICE)
    plan = lookup_plan(repository.services["pay"])
    assert decode_plan(encode_plan(plan)) == plan
    assert [field.name for field in plan.views[0].fields] == ["n", "last", "hidden"]


def test_the_flights_compile(flights: CompiledRepository) -> None:
    service = flights.services["flight_delay"]
    assert service.keys.names == ("carrier", "origin", "dest", "tailnum")
    assert service.request.names == ("distance", "scheduled_at")
    assert decode_plan(encode_plan(lookup_plan(service))) == lookup_plan(service)


def test_zeros_of_different_sign_do_not_share_a_slot(base: Path) -> None:
    view = compiled(
        base, "a: {sql: sum(amount / 0.5D * 0.0D), window: 1d}\nb: {sql: sum(amount / 0.5D * -0.0D), window: 1d}"
    ).views["spend"]
    assert len(view.slots) == 2


def test_a_view_with_a_wrong_reference_has_its_sql_checked_all_the_same(base: Path) -> None:
    folder = base / "defs"
    folder.mkdir()
    text = BASE.replace("entity: user", "entity: usr") + "      a: {sql: amuont}\n"
    (folder / "defs.yaml").write_text(text)
    with pytest.raises(DefinitionErrors) as caught:
        compile_repository(load_repo(folder), base)
    assert len(caught.value.mistakes) == 2, [one.what for one in caught.value.mistakes]


def test_request_values_that_spark_does_not_tell_apart_are_refused(base: Path) -> None:
    rest = """
on_demand_feature_views:
  one:
    request: {fee: double, User_id: bigint}
    features:
      more: {sql: fee + User_id}
  other:
    request: {Fee: double}
    features:
      less: {sql: Fee}
feature_services:
  a: {features: [one, spend.n]}
  b: {features: [one, other]}
"""
    assert [what for _, what in mistakes(base, FEATURES, rest)] == [
        "the request values user_id and User_id differ in case only",
        "the request values fee and Fee differ in case only",
    ]


def test_definitions_that_were_there_before_windows_had_kinds_keep_their_fingerprints(base: Path) -> None:
    (base / "defs").mkdir()
    (base / "defs" / "defs.yaml").write_text("""\
entities:
  user: {join_keys: {user_id: bigint}}
sources:
  orders: {path: plain.parquet, event_timestamp: at}
feature_views:
  spend:
    entity: user
    source: orders
    refresh: 1d
    features:
      n_1d: {sql: count(*), window: 1d}
      mean_36h: {sql: avg(amount), window: 1d12h, default: 0.0}
      last: {sql: amount, ttl: 3d}
""")
    columns = {
        "user_id": pa.array([1], pa.int64()),
        "amount": pa.array([1.0]),
        "at": pa.array([0], pa.timestamp("us", "UTC")),
    }
    pq.write_table(pa.table(columns), base / "plain.parquet")
    fingerprint = compile_repository(load_repo(base / "defs"), base).views["spend"].fingerprint
    assert fingerprint.data == "69b481cd919018d1fd1e0f52dd2873ff34357f298ed170a72c4511ce4305e3d6"
    assert fingerprint.metadata == "7e4c3d8b3d5d4cce0b9e829af2ceb49e1fd0b4a81382f13f772f8b3208dd5bac"


def test_each_window_has_a_fingerprint_of_its_own(base: Path) -> None:
    windows = ("1d", "24h", "lifetime", "{rows: 1}", "{rows: 2}", "{rows: 1, within: 1d}", "{calendar: 1d}",
               "{calendar: 1w}", "{calendar: 7d}", "{calendar: 1mo}")  # fmt: skip
    found = {}
    for at, window in enumerate(windows):
        folder = base / str(at)
        folder.mkdir()
        shutil.copy(base / "orders.parquet", folder)
        found[window] = compiled(folder, f"n: {{sql: count(*), window: {window}}}").views["spend"].fingerprint.data
    assert found["1d"] == found["24h"]
    assert len(set(found.values())) == len(windows) - 1


def test_a_calendar_is_that_of_the_refresh(base: Path) -> None:
    text = "n: {sql: count(*), window: {calendar: 7d}}\nm: {sql: sum(amount), window: {rows: 3, within: 1w}}"
    (day, rows) = compiled(base, text).views["spend"].slots
    assert (day.window, rows.window) == (Calendar(7, CalendarUnit.DAY), LastRows(3, 7 * DAY))
    path = base / "defs" / "defs.yaml"
    path.write_text(path.read_text().replace("refresh: 1d", "refresh: {every: 1d, timezone: Asia/Tokyo}"))
    view = compile_repository(load_repo(base / "defs"), base).views["spend"]
    assert view.slots[0].window == Calendar(7, CalendarUnit.DAY, "Asia/Tokyo")
    assert view.reach == (Elapsed(7 * DAY), Calendar(7, CalendarUnit.DAY, "Asia/Tokyo"))


def test_a_calendar_window_with_a_zone_of_its_own_is_refused() -> None:
    with pytest.raises(ValueError, match="zone of its own"):
        Feature(name="n", sql="count(*)", window=Calendar(1, CalendarUnit.DAY, "UTC"))
    assert Feature(name="n", sql="count(*)", window=Calendar(1, CalendarUnit.DAY)).window == Calendar(
        1, CalendarUnit.DAY
    )
