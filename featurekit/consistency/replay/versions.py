"""The definitions by which a log's rows were answered: those of now, or of a version that the registry keeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from featurekit.compiled import CompiledService, CompiledView
from featurekit.errors import FeaturekitError
from featurekit.lookup_plan import lookup_plan
from featurekit.plan import LookupPlan, decode_plan
from featurekit.registry.registry import Registry
from featurekit.registry.state import ViewVersion

CompileVersion = Callable[[ViewVersion], CompiledView]
"""Returns a registered view version compiled; a FeaturekitError says why it can't be any more."""

Earlier = Callable[[CompiledView], Sequence[CompiledView]]
"""Returns earlier definitions of a view that can still be computed, the newest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedVersion:
    """A version of a service; `number` is the registry's, None where it was never registered here.

    `views` are its views by alias, `lost` says of the others why nothing can be recomputed of them.
    """

    plan: LookupPlan
    number: int | None
    views: Mapping[str, CompiledView]
    lost: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Definitions:
    """What is defined now: services by name and views by fingerprint; and how the registry's versions are compiled."""

    services: Mapping[str, CompiledService]
    views: Sequence[CompiledView]
    compile_version: CompileVersion
    earlier: Earlier


class Versions:
    """Finds versions of services by fingerprint; each view version is compiled once."""

    def __init__(self, registry: Registry, definitions: Definitions) -> None:
        self._services = {
            (each.name, each.fingerprint.data): (each.lookup_plan, each.number) for each in registry.service_versions()
        }
        self._registered = {(each.name, each.fingerprint.data): each for each in registry.view_versions()}
        self._definitions = definitions
        self._views: dict[tuple[str, str], CompiledView | str] = {
            (view.name, view.fingerprint.data): view for view in definitions.views
        }

    def get(self, service: str, fingerprint: str) -> ServedVersion | None:
        """Return a version of a service; None where neither the registry nor the definitions have it."""
        plan, number = self._plan(service, fingerprint)
        if plan is None:
            return None
        found = {part.alias: self._at(part.view, part.fingerprint) for part in plan.views}
        return ServedVersion(
            plan=plan,
            number=number,
            views={alias: view for alias, view in found.items() if isinstance(view, CompiledView)},
            lost={alias: why for alias, why in found.items() if isinstance(why, str)},
        )

    def _plan(self, service: str, fingerprint: str) -> tuple[LookupPlan | None, int | None]:
        registered = self._services.get((service, fingerprint))
        if registered is not None:
            return decode_plan(registered[0]), registered[1]
        defined = self._definitions.services.get(service)
        if defined is not None and defined.fingerprint.data == fingerprint:
            return lookup_plan(defined), None
        return None, None

    def _at(self, view: str, fingerprint: str) -> CompiledView | str:
        key = view, fingerprint
        if key not in self._views:
            self._views[key] = self._compiled(*key)
        return self._views[key]

    def _compiled(self, view: str, fingerprint: str) -> CompiledView | str:
        version = self._registered.get((view, fingerprint))
        if version is None:
            return f"{view} of definition {fingerprint[:8]} is not in the registry"
        try:
            return self._definitions.compile_version(version)
        except FeaturekitError as error:
            return f"{error.what}: {error.why}" if error.why else error.what
