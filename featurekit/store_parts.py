"""What a feature store is made of: definitions, engine, online store, registry, each opened when it is first needed."""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

from featurekit.clock import Instant
from featurekit.compiled import CompiledRepository, CompiledService, CompiledView
from featurekit.compiler import compile_repository
from featurekit.config import Settings, read_settings
from featurekit.definitions.repo import load_repo
from featurekit.errors import DefinitionError, InputError, SettingsError, SourceError
from featurekit.materializing import RefreshFailure
from featurekit.offline.history import History
from featurekit.offline.session import SparkEngine, start_engine
from featurekit.online.client import FeatureClient
from featurekit.online.embedded import online_url
from featurekit.online.keys import KeySpace, Namespace
from featurekit.online.lookup_client import client_options
from featurekit.online.redis import open_store
from featurekit.online.served_log import ServedLog, served_log
from featurekit.online.store import OnlineStore
from featurekit.refresh_values import Deployment
from featurekit.registered_views import compile_version, needed, wanted_versions
from featurekit.registry.registry import Registry
from featurekit.registry.state import ViewVersion
from featurekit.serving.model import ModelClient


class StoreParts:
    """The parts of one project and environment, by its settings; `close` closes those that were opened."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._open = ExitStack()

    @classmethod
    def from_settings(
        cls, file: Path | str | None = None, *, now: Instant | None = None, environ: Mapping[str, str] | None = None
    ) -> Self:
        """Return the store of a settings file, or of the one found from the working folder upwards."""
        found = read_settings(
            start=Path.cwd(),
            environ=os.environ if environ is None else environ,
            flags={"now": now},
            file=None if file is None else Path(file),
        )
        return cls(found)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close what was opened; the embedded server and a Spark session that others use stay."""
        self._open.close()

    @cached_property
    def definitions(self) -> CompiledRepository:
        """The definitions, compiled; DefinitionErrors with every mistake."""
        folder = self.settings.definitions
        return compile_repository(load_repo(folder, root=self.settings.root), self.settings.root)

    @cached_property
    def engine(self) -> SparkEngine:
        return start_engine(self.settings)

    @cached_property
    def online_url(self) -> str:
        """The online store's URL: the one in the settings, or the embedded server's, started if need be."""
        return online_url(self.settings)

    @cached_property
    def online(self) -> OnlineStore:
        store = open_store(self.online_url, timeout_ms=self.settings.redis_timeout_ms)
        self._open.callback(store.close)
        return store

    @cached_property
    def client(self) -> FeatureClient:
        client = FeatureClient(
            self.online_url,
            project=self.settings.project,
            environment=self.settings.environment,
            timeout_ms=self.settings.redis_timeout_ms,
            **client_options(self.settings, self.served_log),
        )
        self._open.callback(client.close)
        return client

    @cached_property
    def served_log(self) -> ServedLog | None:
        """The log of what lookups and predictions answer; None where the settings ask for none."""
        log = served_log(self.settings)
        if log is not None:
            self._open.callback(log.close)
        return log

    @cached_property
    def registry(self) -> Registry:
        settings = self.settings
        return Registry(
            settings.registry,
            project=settings.project,
            environment=settings.environment,
            models=settings.models,
            secret=settings.secret,
        )

    @cached_property
    def models(self) -> ModelClient:
        client = ModelClient(self.client, self.registry)
        self._open.callback(client.close)
        return client

    @cached_property
    def history(self) -> History:
        settings = self.settings
        return History(settings.history, project=settings.project, environment=settings.environment)

    @cached_property
    def holder(self) -> str:
        """What other runs are told of this one: no other process has it."""
        return f"process {os.getpid()} on {socket.gethostname()} ({uuid.uuid4().hex[:8]})"

    @property
    def namespace(self) -> Namespace:
        return Namespace(self.settings.project, self.settings.environment)

    def _deployment(self, views: Iterable[CompiledView]) -> Deployment:
        self._check_executors_reach_the_store()  # before a server is started
        keeps = any(view.view.history_keep(self.settings.history_keep) for view in views)
        return Deployment(
            url=self.online_url,
            store=self.online,
            registry=self.registry,
            namespace=self.namespace,
            retention=self.settings.retention,
            history=self._history_for_executors() if keeps else None,
            keep=self.settings.history_keep,
            holder=self.holder,
        )

    def _kept(self, names: Sequence[str] | None) -> Sequence[str] | None:
        """Return the names; InputError where one is of no view, neither defined nor kept from before."""
        there = {view for view, _ in self.history.versions()} | set(self.definitions.views)
        for name in names or ():
            if name not in there:
                raise InputError(f"there is no feature view {name!r}", try_=f"one of {', '.join(sorted(there))}")
        return names or None

    def _keep(self, name: str) -> int:
        view = self.definitions.views.get(name)
        keep = self.settings.history_keep
        return keep if view is None else view.view.history_keep(keep)

    def _history_for_executors(self) -> History:
        if self.settings.history_path is None and not self.engine.is_local:
            raise SettingsError(
                "Spark's executors can't write the history into this machine's state folder",
                why="they run on other machines, and write the kept rows themselves",
                try_="history.path: a folder that all of them share, or history: false in the views",
            )
        return self.history

    def _check_executors_reach_the_store(self) -> None:
        if self.settings.redis_url is None and not self.engine.is_local:
            raise SettingsError(
                "Spark's executors can't write to the embedded server",
                why="it listens on this machine's loopback only, and they run on other machines",
                try_="redis.url: a server that all of them reach, or spark.master = local[*]",
            )

    def _recorded_snapshot(self, space: KeySpace) -> str | None:
        refresh = (space.as_of, space.restatement)
        records = self.registry.refreshes(space.view, fingerprint=space.fingerprint)
        return next((one.snapshot for one in records if (one.as_of, one.restatement) == refresh), None)

    def _views(self, names: Sequence[str] | None) -> tuple[CompiledView, ...]:
        views = self.definitions.views
        for name in names or ():
            if name not in views:
                raise InputError(f"there is no feature view {name!r}", try_=f"one of {', '.join(views)}")
        return tuple(views[name] for name in names) if names else tuple(views.values())

    def _live_views(
        self, names: Sequence[str] | None, now: Instant
    ) -> tuple[tuple[CompiledView, ...], tuple[RefreshFailure, ...]]:
        """Return the named views (all without names) as they are defined and in each version that somebody needs.

        `view@number` is that version, needed or not. Behind them: those that can't be compiled any more.
        """
        defined, sources = self.definitions.views, self.definitions.repository.sources
        self._check_executors_reach_the_store()  # before the registry's file is made
        chosen = [defined[name] for name in names or defined if name in defined]
        found = {view.fingerprint.data: view for view in chosen}
        failures = []
        for version in [each for name in names for each in self._wanted(name)] if names else needed(self.registry):
            view = defined.get(version.name)
            if view is not None and view.fingerprint.data == version.fingerprint.data:
                found[version.fingerprint.data] = view
            elif version.fingerprint.data not in found:
                try:
                    found[version.fingerprint.data] = compile_version(version, sources, self.settings.root)
                except (DefinitionError, SourceError) as error:
                    failures.append(RefreshFailure(view=version.name, as_of=version.grid.served_at(now), error=error))
        return tuple(found.values()), tuple(failures)

    def _wanted(self, name: str) -> tuple[ViewVersion, ...]:
        versions = wanted_versions(name, self.registry)
        if not versions:
            self._views([name])  # defined and not registered, or an error that says what there is
        return versions

    def _service(self, name: str) -> CompiledService:
        services = {**self.definitions.view_services, **self.definitions.services}
        if name not in services:
            raise InputError(f"there is no feature service {name!r}", try_=f"one of {', '.join(services)}")
        return services[name]
