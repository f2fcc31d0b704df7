"""All definitions of one repo, by name."""

from __future__ import annotations

from featurekit.definitions.base import Definition
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView
from featurekit.definitions.on_demand import OnDemandFeatureView
from featurekit.definitions.service import FeatureService
from featurekit.definitions.source import Source


class Repository(Definition):
    entities: dict[str, Entity] = {}
    sources: dict[str, Source] = {}
    feature_views: dict[str, FeatureView] = {}
    on_demand_feature_views: dict[str, OnDemandFeatureView] = {}
    feature_services: dict[str, FeatureService] = {}
