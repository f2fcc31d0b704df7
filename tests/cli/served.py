"""A project that is registered and served without Spark: its rows go through the real writer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pyarrow as pa

from featurekit.apply import register
from featurekit.clock import DAY, parse_instant
from featurekit.compiled import CompiledRepository
from featurekit.compiler import compile_repository
from featurekit.config import Settings, read_settings
from featurekit.definitions.repo import load_repo
from featurekit.online import embedded
from featurekit.online.keys import KeySpace, Namespace
from featurekit.online.redis import RedisStore
from featurekit.online.refresh import begin_refresh, complete_refresh
from featurekit.online.writer import row_sink
from featurekit.registry.desired import desired_state
from featurekit.registry.registry import Registry
from featurekit.rows import offline_schema

AS_OF = parse_instant("2026-01-08")
NOW = parse_instant("2026-01-08T12:00Z")


@dataclass(frozen=True)
class Served:
    """A registered project, and the key space of its view as of AS_OF."""

    settings: Settings
    definitions: CompiledRepository
    store: RedisStore
    space: KeySpace

    def serve(self) -> None:
        """Write two customers' rows and list them in the view's head."""
        view = self.definitions.views["customer_spend"]
        cells = {
            "customer_id": pa.array([1, 2], pa.int64()),
            "__last_event": pa.array([AS_OF - DAY] * 2, pa.timestamp("us", tz="UTC")),
            "orders_7d": pa.array([3, 2], pa.int64()),
            "spend_7d": pa.array([Decimal("61.25"), Decimal("20.25")], pa.decimal128(20, 2)),
            "last_amount": pa.array([Decimal("5.75"), Decimal("8.00")], pa.decimal128(10, 2)),
            "__status_last_amount": pa.array([0, 0], pa.int8()),
        }
        batch = pa.RecordBatch.from_pydict({name: cells[name] for name in offline_schema(view).names})
        refresh = begin_refresh(self.store, self.space, expires_in_s=3600)
        url = embedded.start(self.settings.state).url
        list(row_sink(view, self.space, url, expires_in_s=3600)(iter([batch])))
        complete_refresh(self.store, refresh, grid=view.view.grid, completed_at=AS_OF, rows=2)


@contextmanager
def registered_project(folder: Path) -> Iterator[Served]:
    """Give the project in `folder`, registered in its own embedded store."""
    settings = read_settings(start=folder, environ={})
    definitions = compile_repository(load_repo(settings.definitions, root=folder), folder)
    store = RedisStore(embedded.start(settings.state).url)
    namespace = Namespace(settings.project, settings.environment)
    registry = Registry(
        settings.registry, project=settings.project, environment=settings.environment, models=settings.models
    )
    register(desired_state(definitions), registry, store, namespace, NOW)
    view = definitions.views["customer_spend"]
    space = KeySpace(namespace=namespace, view=view.name, fingerprint=view.fingerprint.data, as_of=AS_OF)
    yield Served(settings, definitions, store, space)
    store.close()
