"""A small repo of definitions, loaded and compiled for real; texts in it are replaced to make changes."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from featurekit.compiled import CompiledRepository
from featurekit.compiler import compile_repository
from featurekit.definitions.repo import load_repo

SHOP: Final = """\
entities:
  user: {join_keys: {user_id: bigint}, owner: crm}

sources:
  orders:
    path: data/orders.csv
    columns: {user_id: bigint, at: timestamp_ntz, amount: double, items: int}
    event_timestamp: at
    timezone: UTC

feature_views:
  spend:
    entity: user
    source: orders
    where: amount > 0
    refresh: 1d
    availability_delay: 2h
    owner: ops
    features:
      amount_7d: {sql: sum(amount), window: 7d}
      orders_7d: {sql: count(*), window: 7d, default: 0}
      last_items: {sql: items, ttl: 30d}

on_demand_feature_views:
  basket:
    request: {price: double}
    features:
      ratio: {sql: price / spend.amount_7d}

feature_services:
  score: {features: [spend, basket]}
"""


def compiled(folder: Path, *changes: tuple[str, str]) -> CompiledRepository:
    """Compile SHOP in `folder` after replacing the first of each pair of texts by the second."""
    text = SHOP
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    for part in ("data", "defs"):
        (folder / part).mkdir(exist_ok=True)
    (folder / "data" / "orders.csv").write_text("user_id,at,amount,items\n")
    (folder / "defs" / "shop.yaml").write_text(text)
    return compile_repository(load_repo(folder / "defs"), folder)
