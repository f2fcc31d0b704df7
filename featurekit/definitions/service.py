"""Feature services: the features a model is trained on and served with, in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import BeforeValidator
from pydantic import Field as Attribute

from featurekit.definitions.base import ONE_CASE, Definition, Name, Text, as_tuple, problem_here
from featurekit.definitions.problem import Problem
from featurekit.definitions.stand_in import WrittenPolicy
from featurekit.definitions.thresholds import Thresholds


class ServiceFeatures(Definition):
    """A whole view (`feature` None) or one feature of it; under `alias` and other request keys where given.

    `keys` maps the view's join keys to the names they have in the request: `{airport: dest}`.
    """

    view: Text
    feature: str | None = None
    alias: Name | None = None
    keys: dict[str, Name] = Attribute(default_factory=dict)

    @property
    def name(self) -> str:
        return self.alias or self.view


class FeatureService(Definition):
    """Features under one name; `on_unavailable` is no part of what they mean, and None where nothing was declared.

    `thresholds` are asked for of the views that it reads, beside what these ask for themselves.
    """

    name: Name
    features: Annotated[tuple[ServiceFeatures, ...], BeforeValidator(as_tuple)] = Attribute(min_length=1)
    on_unavailable: WrittenPolicy = None
    thresholds: Thresholds | None = None
    owner: str | None = None
    description: str | None = None

    def problems(self) -> Iterator[Problem]:
        return _clashes(self.features)


def _clashes(entries: tuple[ServiceFeatures, ...]) -> Iterator[Problem]:
    for at, entry in enumerate(entries):
        for earlier in entries[:at]:
            if clash := _clash(entry, earlier):
                what, why, try_ = clash
                yield problem_here(what, why=why, try_=try_, path=("features", at))
                break


def _clash(entry: ServiceFeatures, earlier: ServiceFeatures) -> tuple[str, str | None, str] | None:
    if entry.name.lower() != earlier.name.lower():
        return None
    alias = f"an alias: {{view: {entry.view}, alias: …, keys: {{…}}}}"
    if entry.name != earlier.name:
        return (
            f"{earlier.name} and {entry.name} differ in case only",
            ONE_CASE,
            alias,
        )
    if entry.view != earlier.view:
        return (
            f"{entry.name} names both {earlier.view} and {entry.view}",
            "a name in a service is one view",
            "another alias",
        )
    if entry.keys != earlier.keys:
        return f"{entry.name} is there twice with different keys", "a name in a service is one lookup", alias
    if entry.feature is None or earlier.feature is None:
        return f"{entry.name} is there twice", "its features would be there twice", f"remove one, or give one {alias}"
    if entry.feature.lower() == earlier.feature.lower():
        return (
            f"{entry.name}.{entry.feature} is there twice",
            "its values would be there twice",
            f"remove one, or give one {alias}",
        )
    return None
