"""On-demand feature views: features computed at request time from request values and other features."""

from __future__ import annotations

from pydantic import Field as Attribute

from featurekit.definitions.base import ColumnType, Definition, Name
from featurekit.definitions.feature_view import Default, Expectation
from featurekit.types import Field, Schema


class OnDemandFeature(Definition):
    name: Name
    sql: str
    default: Default | None = None
    expect: Expectation | None = None
    owner: str | None = None
    description: str | None = None


class OnDemandFeatureView(Definition):
    """Features over request values (bare names), siblings (bare names) and `view.feature` of the service."""

    name: Name
    request: dict[Name, ColumnType] = Attribute(default_factory=dict)
    features: tuple[OnDemandFeature, ...]
    owner: str | None = None
    description: str | None = None

    @property
    def request_schema(self) -> Schema:
        return Schema(tuple(Field(name, kind) for name, kind in self.request.items()))
