"""Whatever a key looks like, its entity is erased, and no other."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from featurekit.clock import DAY
from featurekit.erasing import entities, seek_of
from featurekit.erasure_proof import look
from featurekit.offline.history_erasure import key_fields_of, rows_in
from featurekit.online.forgotten import forgotten_rows
from featurekit.registry.registry import Registry
from featurekit.rows import LAST_EVENT
from featurekit.types import DataType, Date, Field, Float64, Int32, Int64, String, Timestamp
from featurekit.types import Decimal as DecimalType
from tests.erasure.conftest import MakeShop
from tests.erasure.world import held_column
from tests.registry.states import TODAY

ODD: Final = st.text(alphabet="ab%,{}:@~\x00\n*?[\\é\U0001f600", max_size=4)
KEYS: Final[Mapping[DataType, st.SearchStrategy[Any]]] = {
    String(): ODD,
    Int32(): st.integers(-3, 3) | st.just(2**31 - 1),
    Int64(): st.integers(-3, 3) | st.just(2**63 - 1),
    Date(): st.integers(-800_000, 3_000_000),
    Timestamp(): st.integers(-(2**50), 2**50),
    Float64(): st.sampled_from([0.0, -0.0, float("nan"), 1e-300, 0.1, float("inf")]),
    DecimalType(10, 2): st.integers(-200, 200).map(lambda cents: Decimal(cents).scaleb(-2)),
}
_FILES: Final = count()


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[DataType], list[tuple[Any, ...]], int]:
    """Draw the types of join keys, entities with distinct texts, and how many of them are forgotten."""
    kinds = draw(st.lists(st.sampled_from(list(KEYS)), min_size=1, max_size=3))
    rows = draw(st.lists(st.tuples(*(KEYS[kind] for kind in kinds)), min_size=1, max_size=12))
    return kinds, rows, draw(st.integers(0, min(3, len(rows))))


@given(worlds())
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_rows_are_found_by_texts_and_by_hashes_and_by_values_alike(
    tmp_path: Path, world: tuple[list[DataType], list[tuple[Any, ...]], int]
) -> None:
    kinds, rows, asked_rows = world
    names = [f"k{at}" for at in range(len(kinds))]
    fields = [Field(name, kind, nullable=False) for name, kind in zip(names, kinds, strict=True)]
    asked = entities("thing", fields, [dict(zip(names, row, strict=True)) for row in rows[:asked_rows]])
    canonical = {tuple(_one(value) for value in row) for row in rows[:asked_rows]}
    wanted = [tuple(_one(value) for value in row) in canonical for row in rows]
    columns = {name: held_column([row[at] for row in rows], kinds[at]) for at, name in enumerate(names)}
    batch = pa.record_batch({**columns, LAST_EVENT: pa.array([0] * len(rows), pa.timestamp("us", tz="UTC"))})
    path = tmp_path / f"part-{next(_FILES)}.parquet"
    pq.write_table(pa.Table.from_batches([batch]), path, row_group_size=3)

    assert rows_in(path, lambda keys: seek_of(asked, keys)) == sum(wanted)
    sought = seek_of(asked, key_fields_of(batch.schema))
    assert sought is not None
    assert sought.mask(batch).tolist() == wanted

    registry = Registry(f"sqlite:///{tmp_path / f'{path.stem}.db'}", project="p", environment="e", models=tmp_path)
    registry.forget(asked.scope, asked.texts, at=1, random=lambda size: b"k" * size)
    found = forgotten_rows(registry.tombstones(), fields)
    assert bool(found) == bool(asked_rows)
    assert found.mask(batch).tolist() == wanted


def _one(value: Any) -> Any:
    """Return a value as keys compare: one zero, one NaN."""
    if isinstance(value, float):
        return "NaN" if value != value else value + 0.0
    return value


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("string", ["a,b", "%_", "", "{}", "50% {é}", "*", "a\nb", "[ab]", "a:b", "}:spend@"]),
        ("int", [-1, 0, 2**31 - 1]),
        ("date", [0, 19_000, -700_000]),
        ("double", [-0.0, float("nan"), 0.1]),
        ('"decimal(10,2)"', [Decimal("0.10"), Decimal("-0.01"), Decimal("7.00")]),
        ("timestamp", [0, 1_384_473_600_000_001, -1]),
    ],
)
def test_an_entity_with_an_odd_key_is_erased_everywhere(make_shop: MakeShop, kind: str, values: list[Any]) -> None:
    key = ("user_id: bigint}, owner", f"user_id: {kind}}}, owner")
    column = ("{user_id: bigint, at", f"{{user_id: {kind.strip(chr(34)) if '(' not in kind else kind}, at")
    shop = make_shop(key, column)
    shop.users = [(value,) for value in values]
    shop.refresh(TODAY - DAY)
    for at, value in enumerate(values):
        assert shop.forget((value,)) == {"online": 1, "history": 1}, value
        assert not look(shop.entities((value,)), shop.places()).findings
        for other in values[at + 1 :]:
            places = [each.place for each in look(shop.entities((other,)), shop.places()).findings]
            assert places == ["online", "history"], (value, other)


def test_who_forgets_a_user_forgets_what_is_kept_by_user_and_more(make_shop: MakeShop) -> None:
    shop = make_shop(
        ("  user: {join_keys: {user_id: bigint}, owner: crm}", "  user: {join_keys: {item: int, user_id: bigint}}"),
        ("    entity: user\n", "    entity: user\n    keys: {item: items}\n"),
    )
    shop.users = [(7, 1), (8, 1), (1, 2), (2, 3)]
    shop.refresh(TODAY)
    asked = entities("user", [Field("user_id", Int64())], [{"user_id": 2}])
    assert [(each.place, each.rows) for each in look(asked, shop.places()).findings] == [("online", 1), ("history", 1)]
    assert shop.forget_all(asked) == {"online": 1, "history": 1}
    assert not look(asked, shop.places()).findings
    assert shop.forget((7, 1)) == {"online": 1, "history": 1}
    left = entities("user", [Field("user_id", Int64())], [{"user_id": 1}, {"user_id": 3}])
    assert [each.rows for each in look(left, shop.places()).findings] == [2, 2]


def test_of_many_keys_each_file_is_read_once_and_others_are_passed_over(make_shop: MakeShop) -> None:
    shop = make_shop()
    shop.users = [(user,) for user in range(3000)]
    shop.refresh(TODAY)
    found = shop.forget(*((user,) for user in range(0, 3000, 2)))
    assert found == {"online": 1500, "history": 1500}
    assert look(shop.entities(*((user,) for user in range(0, 3000, 2))), shop.places()).is_clean
    assert shop.serve([{"user_id": 0}, {"user_id": 1}]) == [None, 1.0]
