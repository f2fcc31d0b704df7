"""Feature services: the features a model is trained on and served with, in order."""

from __future__ import annotations

from featurekit.definitions.base import Definition, Name


class ServiceFeatures(Definition):
    """A whole view (`feature` None) or one feature of it; under `alias` and other request keys where given.

    `keys` maps the view's join keys to the names they have in the request: `{airport: dest}`.
    """

    view: str
    feature: str | None = None
    alias: Name | None = None
    keys: dict[str, str] = {}

    @property
    def name(self) -> str:
        return self.alias or self.view


class FeatureService(Definition):
    name: Name
    features: tuple[ServiceFeatures, ...]
    owner: str | None = None
    description: str | None = None
