"""A process that never stops to change what serves: it registers, refreshes, rolls back and forward, pins and collects.

Every value says where it is from: all values of a refresh are one number, made of the definition's and of the refresh's
own. So an answer that is mixed of two definitions, or of two refreshes of a view, is seen in its values alone.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from featurekit import refreshing
from featurekit.apply import register
from featurekit.arrow_types import to_arrow_schema
from featurekit.clock import DAY, HOUR, SECOND, Instant, parse_instant
from featurekit.collecting import Collector
from featurekit.compiled import CompiledView
from featurekit.compiler import compile_repository
from featurekit.counters import add_counters
from featurekit.definitions.repo import load_repo
from featurekit.errors import NotRegisteredError, RefreshRunningError, RollbackError
from featurekit.offline.history import History
from featurekit.offline.materialize import MaterializeResult, Sink
from featurekit.offline.snapshot import SourceSnapshot
from featurekit.online.keys import Namespace
from featurekit.online.redis import open_store
from featurekit.pinning import pin_version, unpin_version
from featurekit.refresh_values import Deployment
from featurekit.refreshing import refresh_view
from featurekit.registered_views import compile_version, needed, wanted_versions
from featurekit.registration_rollback import rollback_registration
from featurekit.registry.desired import desired_state
from featurekit.registry.registry import Registry
from featurekit.registry.state import RegistrationStatus
from featurekit.rolling_back import rollback_view
from featurekit.rows import offline_schema

PLACE: Final = Namespace("switch", "faults")
START: Final = parse_instant("2024-01-01")
VIEWS: Final = ("first", "second")
SERVICE: Final = "both"
USERS: Final = 24
DEFINITIONS: Final = 9
_PER_DEFINITION: Final = 10**9
_FEATURES: Final = 3
_TEXT: Final = """\
entities:
  user: {join_keys: {user_id: bigint}}
sources:
  events: {path: events.csv, columns: {user_id: bigint, at: timestamp, amount: double}, event_timestamp: at}
feature_views:
"""
_VIEW: Final = "  {name}:\n    entity: user\n    source: events\n    refresh: 1h\n    features:\n"
_FEATURE: Final = "      f{number}: {{sql: sum(amount), window: {days}d}}\n"


def value_of(definition: int, hour: int, restatement: int) -> float:
    return float(definition * _PER_DEFINITION + hour * 1000 + restatement)


def origin_of(value: float) -> tuple[int, int, int]:
    """Return the definition, the hour and the restatement that a value is of."""
    definition, rest = divmod(int(value), _PER_DEFINITION)
    return (definition, *divmod(rest, 1000))


def open_registry(folder: Path) -> Registry:
    return Registry(
        f"sqlite:///{folder / 'registry.db'}",
        project=PLACE.project,
        environment=PLACE.environment,
        models=folder / "models",
    )


class Switcher:
    """The project in a folder, at whatever point the process before this one was killed."""

    def __init__(self, folder: Path, url: str, seed: int) -> None:
        self.folder, self.chance = folder, random.Random(seed)
        self.registry, self.store = open_registry(folder), open_store(url, timeout_ms=5000)
        self.history = History(folder / "history", project=PLACE.project, environment=PLACE.environment)
        self.to = Deployment(
            store=self.store, url=url, registry=self.registry, namespace=PLACE, retention=30 * DAY, lease=15 * SECOND
        )
        self.done: Counter[str] = Counter()
        moves = [move.at for move in self.registry.moves()]
        ended = [one.completed_at or one.started_at for one in self.registry.refreshes()]
        self.now: Instant = max([START, *moves, *ended]) + HOUR  # the one that was killed may hold this hour's lease
        self.definition = 0
        setattr(refreshing, "materialize", self.materialize)  # noqa: B010 - as the tests do: there is no Spark here

    def tick(self) -> Instant:
        self.now += SECOND
        return self.now

    def materialize(
        self,
        _engine: object,
        view: CompiledView,
        as_of: Instant,
        *,
        now: Instant,  # noqa: ARG002 - in place of `offline.materialize`
        sink: Sink,
        compute: object = None,  # noqa: ARG002
    ) -> MaterializeResult:
        """Hand rows to the sink whose values say which refresh of which definition they are of."""
        fingerprint = view.fingerprint.data
        restatement = self.registry.refreshes(view.name, fingerprint=fingerprint, limit=1)[0].restatement
        definition = next(feature.window // DAY for feature in view.view.features if feature.window)  # type: ignore[operator]
        value = value_of(definition, (as_of - START) // HOUR, restatement)
        columns = to_arrow_schema(offline_schema(view))
        cells: dict[str, list[Any]] = {name: [value] * USERS for name in columns.names}
        cells |= {"user_id": list(range(USERS)), columns.names[1]: [as_of] * USERS}
        counters = add_counters(list(sink(iter([pa.RecordBatch.from_pydict(cells, schema=columns)]))))
        snapshot = SourceSnapshot(source="events", origin="events.csv", files=())
        return MaterializeResult(
            view=view.name,
            as_of=as_of,
            rows=USERS,
            counters=counters,
            invisible_rows=0,
            snapshot=snapshot,
            sql="",
        )

    def compiled(self, definition: int) -> Any:
        """Return both views and the service, in one of the definitions."""
        features = "".join(_FEATURE.format(number=number, days=definition) for number in range(_FEATURES))
        views = "".join(_VIEW.format(name=name) + features for name in VIEWS)
        folder = self.folder / "defs" / str(definition)
        folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "events.csv").write_text("user_id,at,amount\n")
        services = f"feature_services:\n  {SERVICE}: {{features: [{', '.join(VIEWS)}]}}\n"
        (folder / "all.yaml").write_text(_TEXT + views + services)
        return compile_repository(load_repo(folder), self.folder)

    def refresh(self, *names: str, restate: str | None = None) -> None:
        """Refresh the named versions, or all that somebody needs, as of the next hour."""
        as_of = START + ((self.tick() - START) // HOUR + (restate is None)) * HOUR
        self.now = max(self.now, as_of)
        versions = [one for name in names for one in wanted_versions(name, self.registry)] or needed(self.registry)
        sources = self.compiled(1).repository.sources
        for version in versions:
            view = compile_version(version, sources, self.folder)
            engine: Any = None
            refresh_view(view, as_of, engine=engine, to=self.to, clock=self.tick, restate=restate)

    def register(self) -> None:
        """Register another definition of both views at once, and refresh it: readers move with the second."""
        self.definition = self.chance.randint(1, DEFINITIONS)
        desired = desired_state(self.compiled(self.definition))
        register(desired, self.registry, self.store, PLACE, self.tick())
        self.refresh()

    def restate(self) -> None:
        self.refresh(restate="on purpose")

    def roll_view(self) -> None:
        """Let one view go back, and most times forward again."""
        view = self.chance.choice(VIEWS)
        way = {"registry": self.registry, "store": self.store, "namespace": PLACE, "history": self.history}
        rollback_view(view, now=self.tick(), **way)  # type: ignore[arg-type]
        if self.chance.random() < 0.7:
            rollback_view(view, is_forward=True, now=self.tick(), **way)  # type: ignore[arg-type]

    def roll_registration(self) -> None:
        """Register, let what that moved go back, and most times forward again."""
        self.register()
        last = [one for one in self.registry.registrations() if one.status is RegistrationStatus.SWITCHED][-1]
        before = {(one.service, one.before) for one in self.registry.moves(last.id) if one.before is not None}
        versions = {(one.name, one.number): one for one in self.registry.service_versions()}
        names = {
            f"{view.name}@{view.number}"
            for service in before & versions.keys()
            for view in self.registry.view_versions()
            if versions[service].views.get(view.name) == view.fingerprint.data
        }
        self.refresh()
        self.refresh(*sorted(names))
        for is_forward in (False, True)[: 1 + (self.chance.random() < 0.7)]:
            if is_forward:
                self.refresh()
            rollback_registration(
                last.id,
                is_forward=is_forward,
                registry=self.registry,
                store=self.store,
                namespace=PLACE,
                now=self.tick(),
            )

    def pin(self) -> None:
        """Pin what serves, and let the pin before it go."""
        number = self.registry.deployed().serving[SERVICE].number
        for pin in self.registry.pins():
            unpin_version(self.registry, f"{pin.service}@{pin.number}", pin.holder, self.tick())
        pin_version(self.registry, f"{SERVICE}@{number}", "faults", self.tick())

    def gc(self) -> None:
        """Collect whatever nothing needs now: without a grace, so that what is still needed would be missed."""
        collector = Collector(registry=self.registry, store=self.store, namespace=PLACE, grace=0, step=10, pause_s=0)
        self.done["rows collected"] += collector.collect(self.tick()).rows

    def act(self) -> str:
        """Do one thing, drawn by chance; return what."""
        acts: dict[Callable[[], None], int] = {
            self.register: 2,
            self.refresh: 3,
            self.restate: 2,
            self.roll_view: 4,
            self.roll_registration: 4,
            self.pin: 1,
            self.gc: 2,
        }
        (act,) = self.chance.choices(list(acts), list(acts.values()))
        try:
            act()
        except (RollbackError, NotRegisteredError, RefreshRunningError):  # refused, with the reason
            return f"{act.__name__}-refused"
        return act.__name__


def main(folder: Path, url: str, seed: int) -> None:
    """Go on for ever, and say what was done, line by line."""
    switcher = Switcher(folder, url, seed)
    if not switcher.registry.registrations():
        switcher.register()
    switcher.refresh()
    print("ready", flush=True)
    while True:
        print(switcher.act(), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
