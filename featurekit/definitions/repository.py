"""All definitions of one repo, by name."""

from __future__ import annotations

from pydantic import Field as Attribute

from featurekit.definitions.base import Definition
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView
from featurekit.definitions.on_demand import OnDemandFeatureView
from featurekit.definitions.service import FeatureService
from featurekit.definitions.source import Source


class Repository(Definition):
    entities: dict[str, Entity] = Attribute(default_factory=dict)
    sources: dict[str, Source] = Attribute(default_factory=dict)
    feature_views: dict[str, FeatureView] = Attribute(default_factory=dict)
    on_demand_feature_views: dict[str, OnDemandFeatureView] = Attribute(default_factory=dict)
    feature_services: dict[str, FeatureService] = Attribute(default_factory=dict)
