"""On-demand feature views: features computed at request time from request values and other features."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import BeforeValidator
from pydantic import Field as Attribute

from featurekit.definitions.base import ColumnType, Definition, Name, Text, as_tuple, names_of_one_case, problem_here
from featurekit.definitions.expectation import Default, Expectation
from featurekit.definitions.feature_view import repeated_features
from featurekit.definitions.problem import Problem
from featurekit.types import Field, Schema


class OnDemandFeature(Definition):
    name: Name
    sql: Text
    default: Default | None = None
    expect: Expectation | None = None
    owner: str | None = None
    description: str | None = None


class OnDemandFeatureView(Definition):
    """Features over request values (bare names), siblings (bare names) and `view.feature` of the service."""

    name: Name
    request: dict[Name, ColumnType] = Attribute(default_factory=dict)
    features: Annotated[tuple[OnDemandFeature, ...], BeforeValidator(as_tuple)] = Attribute(min_length=1)
    owner: str | None = None
    description: str | None = None

    @property
    def request_schema(self) -> Schema:
        return Schema(tuple(Field(name, kind) for name, kind in self.request.items()))

    def problems(self) -> Iterator[Problem]:
        yield from names_of_one_case(list(self.request), "request values", ("request",))
        yield from repeated_features([feature.name for feature in self.features])
        requested = {name.lower(): name for name in self.request}
        for at, feature in enumerate(self.features):
            if request := requested.get(feature.name.lower()):
                what = f"{feature.name} is a feature, and {request} a request value"
                why = "a bare name in an expression would mean either"
                yield problem_here(what, why=why, try_="another name for one of them", path=("features", at))
