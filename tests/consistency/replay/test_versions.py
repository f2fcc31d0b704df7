"""A log's rows are asked by the definitions that answered them: those of now, or what the registry keeps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from featurekit.compiled import CompiledRepository, CompiledView
from featurekit.consistency.replay.versions import Definitions, Versions
from featurekit.errors import DefinitionError
from featurekit.lookup_plan import lookup_plan
from featurekit.registered_views import compile_version
from featurekit.registry.desired import desired_state
from featurekit.registry.registry import Registry
from featurekit.registry.state import Registration, RegistrationStatus, ViewVersion
from tests.registry.definitions import compiled
from tests.registry.states import NOW

LONGER = ("sum(amount), window: 7d", "sum(amount), window: 30d")
DOUBLED = ("price / spend.amount_7d", "2.0D * price / spend.amount_7d")


def nothing_before(_: CompiledView) -> tuple[CompiledView, ...]:
    return ()


def defined(repository: CompiledRepository, compile_version: Any) -> Definitions:
    return Definitions(
        services=repository.services,
        views=tuple(repository.views.values()),
        compile_version=compile_version,
        earlier=nothing_before,
    )


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry(
        f"sqlite:///{tmp_path / 'registry.db'}", project="shop", environment="test", models=tmp_path / "models"
    )


def register(registry: Registry, repository: CompiledRepository, number: int) -> None:
    """Register a repository's own service and its view as versions of this number."""
    desired = desired_state(repository)
    with registry.writing() as writer:
        writer.add_registration(
            Registration(id=number, at=NOW, changes=(), services=(), status=RegistrationStatus.SWITCHED)
        )
        for version in (desired.views["spend"], desired.services["score"]):
            writer.add_version(version, number=number, registration=number, at=NOW)


def test_rows_of_an_earlier_version_are_asked_by_what_the_registry_keeps_of_it(
    registry: Registry, tmp_path: Path
) -> None:
    before = compiled(tmp_path)
    register(registry, before, 1)
    now = compiled(tmp_path, LONGER, DOUBLED)
    register(registry, now, 2)

    def again(version: ViewVersion) -> CompiledView:
        return compile_version(version, now.repository.sources, tmp_path)

    versions = Versions(registry, defined(now, again))
    for number, repository in ((1, before), (2, now)):
        service = repository.services["score"]
        found = versions.get("score", service.fingerprint.data)
        assert found is not None
        assert (found.number, found.plan, found.lost) == (number, lookup_plan(service), {})
        assert found.views == {"spend": repository.views["spend"]}


def test_what_was_never_registered_here_is_known_by_its_definition_and_no_other(
    registry: Registry, tmp_path: Path
) -> None:
    now = compiled(tmp_path)
    versions = Versions(registry, defined(now, lambda version: now.views[version.name]))
    found = versions.get("score", now.services["score"].fingerprint.data)
    assert found is not None
    assert (found.number, found.views) == (None, {"spend": now.views["spend"]})
    assert versions.get("score", "0" * 64) is None
    assert versions.get("other", now.services["score"].fingerprint.data) is None


def test_a_view_that_can_not_be_compiled_any_more_is_lost_with_the_reason(registry: Registry, tmp_path: Path) -> None:
    before = compiled(tmp_path)
    register(registry, before, 1)
    asked: list[int] = []

    def gone(version: ViewVersion) -> CompiledView:
        asked.append(version.number)
        raise DefinitionError("spend@1 can't be computed any more", why="its source is gone")

    versions = Versions(registry, defined(compiled(tmp_path, LONGER), gone))
    fingerprint = before.services["score"].fingerprint.data
    for _ in range(2):
        found = versions.get("score", fingerprint)
        assert found is not None
        assert (found.views, found.lost) == ({}, {"spend": "spend@1 can't be computed any more: its source is gone"})
    assert asked == [1]
