"""On-demand feature views: features computed at request time from request values and other features."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BeforeValidator, model_validator
from pydantic import Field as Attribute

from featurekit.definitions.base import (
    ColumnType,
    Definition,
    Name,
    Text,
    as_tuple,
    problem_here,
    refuse,
    same_but_for_case,
)
from featurekit.definitions.expectation import Default, Expectation
from featurekit.definitions.feature_view import repeated_features
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

    @model_validator(mode="after")
    def _names_are_clear(self) -> Self:
        found = list(repeated_features([feature.name for feature in self.features]))
        names = [*self.request, *(feature.name for feature in self.features)]
        for at, earlier in same_but_for_case(names):
            own = at - len(self.request)
            if own < 0:
                what = f"the request values {earlier} and {names[at]} differ in case only"
                why = "Spark does not tell upper and lower case in column names apart"
                found.append(problem_here(what, why=why, path=("request", names[at])))
            elif earlier in self.request:
                what = f"{names[at]} is a request value and a feature"
                why = "a bare name in an expression would mean either"
                found.append(problem_here(what, why=why, try_="another name for one", path=("features", own)))
        refuse(found)
        return self
