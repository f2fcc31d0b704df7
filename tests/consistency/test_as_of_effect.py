"""How far the three sets of the same labels lie apart, and how much later serving had what one by event time holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from featurekit.clock import HOUR
from featurekit.offline.labels import LabelSpec
from featurekit.offline.manifest import AsOfMode
from featurekit.online import embedded
from tests.offline.test_served_join import ASKED, DAY0, Till, write_sales

pytestmark = pytest.mark.spark


@pytest.fixture
def till(tmp_path: Path) -> Iterator[Till]:
    yield write_sales(Till(tmp_path))
    embedded.stop(tmp_path / "state")


def test_features_differ_by_hand_counted_shares_and_are_known_when_the_next_refresh_is(till: Till) -> None:
    """At 21:00 the refresh of midnight serves; a sale of 10:00 landed by then, one of 20:00 the next day at 16:00."""
    with till.at(DAY0 - HOUR) as store:
        store.register()
    till.refresh("takings", DAY0, DAY0 + HOUR)
    at = DAY0 + 21 * HOUR
    till.ask([at])
    with till.at(DAY0 + 9 * 24 * HOUR) as store:
        found = store.dataset_compare("till", LabelSpec(path=str(till.base / "labels.parquet")))
    assert (found.rows, set(found.sets)) == (len(ASKED), set(AsOfMode))
    by_name = {feature.name: feature for feature in found.features}
    sales = by_name["takings.sales"]
    # Declared 2, 1, 0, 0; by event time 4, 1, 0, 0.
    assert (sales.event_time.share, sales.event_time.mean_absolute, sales.event_time.mean_shift) == (0.25, 0.5, 0.5)
    assert (sales.served.share, sales.served.mean_absolute, sales.served.effect) == (0, 0, 0)
    # Landed 40 hours after midnight, so in the refresh of 48:00, served from 49:00.
    assert sales.known_later == 28 * HOUR
    assert by_name["basket.beside"].known_later == 28 * HOUR
    unserved = by_name["hourly.of_day"]
    assert (unserved.served.share, unserved.served.mean_absolute, unserved.served.effect) == (1, None, 1)
    assert (by_name["basket.doubled"].event_time.share, by_name["basket.doubled"].known_later) == (0, None)
    assert found.features[0].worry == 1
    assert found.to_json()["features"][0]["worry"] == 1
