"""All definitions of one repo, by name."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field as Attribute

from featurekit.definitions.base import Definition, problem_here
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView
from featurekit.definitions.on_demand import OnDemandFeatureView
from featurekit.definitions.problem import Problem
from featurekit.definitions.service import FeatureService
from featurekit.definitions.source import Source


class Repository(Definition):
    entities: dict[str, Entity] = Attribute(default_factory=dict)
    sources: dict[str, Source] = Attribute(default_factory=dict)
    feature_views: dict[str, FeatureView] = Attribute(default_factory=dict)
    on_demand_feature_views: dict[str, OnDemandFeatureView] = Attribute(default_factory=dict)
    feature_services: dict[str, FeatureService] = Attribute(default_factory=dict)

    def problems(self) -> Iterator[Problem]:
        for section in type(self).model_fields:
            for name, definition in getattr(self, section).items():
                if definition.name != name:
                    what = f"{definition.name} stands under the name {name}"
                    why = "other definitions would find it under one name, and its values under the other"
                    yield problem_here(what, why=why, try_="one name", path=(section, name))
