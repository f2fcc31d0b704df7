"""A small shop, registered and materialized for real: what the serving tests ask for features and predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from featurekit.apply import register, switch_ready
from featurekit.clock import HOUR, Instant, fixed_clock, parse_instant
from featurekit.online.client import FeatureClient
from featurekit.online.redis import RedisStore
from featurekit.plan import PlanView, decode_plan
from featurekit.registry.desired import desired_state
from featurekit.registry.registry import Registry
from tests.online.servers import NAMESPACE, materialize, offline_batch
from tests.registry.definitions import compiled

TODAY: Final = parse_instant("2013-11-15")
NOW: Final[Instant] = TODAY + 3 * HOUR
BIG: Final = (1 << 53) + 1  # the first whole number that a double does not hold
ROWS: Final[Sequence[dict[str, Any]]] = (
    {"user_id": 1, "amount_7d": 10.0, "orders_7d": 2, "last_items": 3},
    {"user_id": 2, "amount_7d": None, "orders_7d": BIG, "last_items": 4},
    {"user_id": BIG, "amount_7d": 0.5, "orders_7d": 1, "last_items": 5},
    {"user_id": 4, "amount_7d": float("inf"), "orders_7d": 1, "last_items": 1},
)
OUTPUTS: Final = ("spend.amount_7d", "spend.orders_7d", "spend.last_items", "basket.ratio")


@dataclass(frozen=True, kw_only=True)
class Shop:
    """The service `score` over the view `spend`, as of 2013-11-15, with the clock at 03:00."""

    folder: Path
    url: str
    store: RedisStore
    registry: Registry
    client: FeatureClient

    def register(self, *changes: tuple[str, str]) -> None:
        """Register the definitions after replacing texts in them."""
        desired = desired_state(compiled(self.folder, *changes))
        register(desired, self.registry, self.store, NAMESPACE, NOW)

    def materialize(self, rows: Sequence[dict[str, Any]] = ROWS) -> None:
        """Serve the rows, as the job would."""
        view = self.view()
        record = self.registry.start_refresh(view=view.view, fingerprint=view.fingerprint, as_of=TODAY, started_at=NOW)
        materialize(self.store, self.url, view, TODAY, offline_batch(view, rows), restatement=record.restatement)
        self.registry.complete_refresh(record, completed_at=NOW, rows=len(rows), bytes_=0)
        switch_ready(self.registry, self.store, NAMESPACE, NOW)

    def view(self) -> PlanView:
        """The view `spend` as it is registered now."""
        (view,) = decode_plan(self.registry.deployed().services["score"].lookup_plan).views
        return view


def open_shop(folder: Path, url: str) -> Shop:
    """Return the shop, registered and not materialized yet."""
    registry = Registry(
        f"sqlite:///{folder / 'registry.db'}",
        project=NAMESPACE.project,
        environment=NAMESPACE.environment,
        models=folder / "models",
    )
    client = FeatureClient(url, project=NAMESPACE.project, environment=NAMESPACE.environment, clock=fixed_clock(NOW))
    shop = Shop(folder=folder, url=url, store=RedisStore(url), registry=registry, client=client)
    shop.register()
    return shop
