"""Why people come: three stories of training and serving that part ways, from the definition to the cause named.

A shop's model knows of each customer what a basket holds on average, how much was spent, and how many orders there were
today. Training computes that by featurekit; in the first two stories serving has a job of its own, in the third
training has a table of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from featurekit.clock import DAY, HOUR, MINUTE, Instant, parse_instant
from featurekit.config import Settings
from featurekit.consistency.diagnosis.causes import Cause
from featurekit.consistency.leakage.factors import Verdict
from featurekit.consistency.leakage.table import AuditSpec
from featurekit.feature_store import FeatureStore
from featurekit.online import embedded
from featurekit.online.codec import RowCodec
from featurekit.online.keys import KeySpace
from featurekit.status import Status
from featurekit.types import Field

pytestmark = pytest.mark.spark
TODAY = parse_instant("2026-05-12")
NOW = TODAY + 9 * HOUR
CUSTOMERS = range(1, 61)
DEFINITIONS = """\
entities:
  customer: {join_keys: {customer: bigint}}
sources:
  orders:
    path: data/orders.parquet
    event_timestamp: ordered_at
    created_timestamp: recorded_at
feature_views:
  habits:
    entity: customer
    source: orders
    refresh: 1d
    availability_delay: 1h
    allowed_lateness: 10m
    features:
      mean_basket_7d: {sql: "coalesce(avg(amount), 31.4D)", window: 7d}   # whoever ordered nothing: the mean of all
      log_spent_7d:   {sql: "log1p(sum(amount))", window: 7d, default: 0.0}
      orders_1d:      {sql: count(*), window: 1d, default: 0}
      last_item:      {sql: item, ttl: 30d}
feature_services:
  recommend: {features: [habits]}
"""
Order = tuple[int, Instant, float]


def orders() -> list[Order]:
    """Return who ordered when for how much: every fourth customer nothing for more than a week, the others often."""
    found = []
    for customer in CUSTOMERS:
        days = (9, 12) if customer % 4 == 0 else range(-1, 14, 1 + customer % 3)
        for day in days:
            at = TODAY - day * DAY - (customer * 37 % 24) * HOUR + customer * MINUTE
            found.append((customer, at, 5.0 + customer * 7 % 40 + (day + 1) / 4))
    return found


ORDERS = orders()


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FeatureStore]:
    """The shop, its view refreshed for today by featurekit."""
    folder = tmp_path_factory.mktemp("stories")
    (folder / "data").mkdir()
    (folder / "feature_defs").mkdir()
    (folder / "feature_defs" / "shop.yaml").write_text(DEFINITIONS, encoding="utf-8")
    instant = pa.timestamp("us", tz="UTC")
    table = {
        "customer": pa.array([customer for customer, _, _ in ORDERS]),
        "amount": pa.array([amount for _, _, amount in ORDERS]),
        "item": pa.array([f"item {at % 7}" for _, at, _ in ORDERS]),
        "ordered_at": pa.array([at for _, at, _ in ORDERS], instant),
        "recorded_at": pa.array([at + MINUTE for _, at, _ in ORDERS], instant),
    }
    pq.write_table(pa.table(table), folder / "data" / "orders.parquet")
    settings = Settings(
        root=folder,
        project="shop",
        environment="stories",
        definitions=folder / "feature_defs",
        state=folder / "state",
        now=NOW,
        spark_master="local[2]",
        spark_driver_memory="1g",
    )
    with FeatureStore(settings) as store:
        store.register()
        store.materialize(as_of=TODAY)
        yield store
    embedded.stop(folder / "state")


@contextmanager
def served_by_its_own_job(store: FeatureStore, field: str, job: Callable[[list[float]], float]) -> Iterator[None]:
    """Let a job of serving's own compute a field from each customer's amounts of the last week, and put it back."""
    view = store.definitions.views["habits"]
    space = KeySpace(namespace=store.namespace, view="habits", fingerprint=view.fingerprint.data, as_of=TODAY)
    codec = RowCodec([Field(each.name, each.type) for each in view.features], view.fingerprint.data)
    place = [each.name for each in view.features].index(field)
    keys = [space.row(str(customer).encode()) for customer in CUSTOMERS]
    before = dict(zip(keys, store.online.read(keys), strict=True))
    for customer, key in zip(CUSTOMERS, keys, strict=True):
        amounts = [amount for who, at, amount in ORDERS if who == customer and TODAY - 7 * DAY <= at < TODAY]
        content = before[key]
        assert content is not None
        row = codec.decode_row(content)
        values, statuses = list(row.values), list(row.statuses)
        values[place], statuses[place] = job(amounts), Status.PRESENT
        written = replace(row, values=tuple(values), statuses=tuple(statuses))
        store.online.write(
            {key: codec.encode_row(written.values, as_of=row.as_of, last_event=row.last_event, statuses=statuses)}
        )
    yield
    store.online.write({key: content for key, content in before.items() if content is not None})


WITHOUT_ORDERS = [customer for customer in CUSTOMERS if customer % 4 == 0]


def test_offline_fills_with_the_mean_and_online_with_0(deployed: FeatureStore) -> None:
    assert deployed.check().passed
    with served_by_its_own_job(deployed, "mean_basket_7d", lambda amounts: fmean(amounts) if amounts else 0.0):
        report = deployed.check()
    (finding,) = report.views[0].findings
    assert (finding.field, finding.cause) == ("mean_basket_7d", Cause.NULL_FILLED_WITH_ZERO)
    assert (finding.count, finding.share) == (len(WITHOUT_ORDERS), 1.0)
    evidence = finding.evidence[0]
    assert evidence.entity in {f"customer = {customer}" for customer in WITHOUT_ORDERS}
    assert (evidence.served, evidence.recomputed) == ("0.0", "31.4")
    assert "0" in finding.remedy
    assert report.exit_code == 1


def test_offline_takes_a_logarithm_and_online_forgets_it(deployed: FeatureStore) -> None:
    with served_by_its_own_job(deployed, "log_spent_7d", math.fsum):
        report = deployed.check()
    first = report.views[0].findings[0]
    assert first.field == "log_spent_7d"
    assert first.cause in (Cause.LOGARITHM_LEFT_OUT, Cause.LOGARITHM_UNDONE)
    assert first.count == len(CUSTOMERS) - len(WITHOUT_ORDERS)
    assert report.views[0].fields[0].differing == 0


def test_a_statistic_over_the_whole_day_is_one_that_serving_could_not_have_had(
    deployed: FeatureStore, tmp_path: Path
) -> None:
    at = [TODAY - day * DAY + hour * HOUR for day in (1, 2) for hour in (4, 15)]
    rows = [(customer, moment) for customer in CUSTOMERS for moment in at]

    def orders_of_the_day(customer: int, moment: Instant) -> int:
        day = moment - moment % DAY
        return sum(who == customer and day <= ordered < day + DAY for who, ordered, _ in ORDERS)

    table = pa.table(
        {
            "customer": pa.array([customer for customer, _ in rows]),
            "event_timestamp": pa.array([moment for _, moment in rows], pa.timestamp("us", tz="UTC")),
            "habits.orders_1d": pa.array([orders_of_the_day(*row) for row in rows]),
        }
    )
    pq.write_table(table, tmp_path / "training.parquet")
    spec = AuditSpec(path=str(tmp_path / "training.parquet"), only=("habits.orders_1d",))
    (found,) = deployed.audit("recommend", spec).features
    assert found.verdict is Verdict.LEAKS
    assert found.cause == "the whole day that the row lies in"
    assert found.explained == 1.0
    assert found.later is not None
    assert 0 < found.later.least <= found.later.most <= DAY + HOUR
    shown = found.evidence[0]
    assert shown.served_as_of is not None
    assert shown.as_of is not None
    assert shown.served_as_of <= shown.at < shown.as_of
