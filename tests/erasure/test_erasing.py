"""A forgotten entity is nowhere, and comes back nowhere."""

from __future__ import annotations

import pyarrow.parquet as pq

from featurekit.clock import DAY
from featurekit.erasure_proof import look
from featurekit.online.served_log_erasure import log_paths
from tests.erasure.world import Shop
from tests.registry.states import TODAY


def test_what_was_kept_of_a_user_is_gone_from_every_place_and_the_rest_stays(shop: Shop) -> None:
    shop.refresh(TODAY - DAY)
    shop.refresh(TODAY)
    shop.serve([{"user_id": 1}, {"user_id": 2}])
    before = look(shop.entities((2,)), shop.places())
    assert {each.place: each.rows for each in before.findings} == {"online": 2, "history": 1, "served log": 1}

    assert shop.forget((2,)) == {"online": 2, "history": 2, "served log": 1}

    after = look(shop.entities((2,)), shop.places())
    assert after.is_clean
    assert not after.findings
    assert shop.serve([{"user_id": 1}, {"user_id": 2}, {"user_id": 3}]) == [1.0, None, 1.0]
    assert shop.history is not None
    entries = shop.history.entries("spend", shop.view.fingerprint.data)
    assert [entry.rows for entry in entries] == [2, 2]
    assert not shop.history.broken("spend", shop.view.fingerprint.data)
    logged = [pq.read_table(path, columns=["user_id"])["user_id"].to_pylist() for path in log_paths(shop.log_folder)]
    assert sorted(logged) == [[1], [1, 3]]  # before, and since
