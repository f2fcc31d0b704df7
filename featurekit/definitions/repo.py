"""Load feature_defs/: YAML files to a Repository, executing nothing, with every mistake and every position.

files ──read_files──▶ plain values ──build──▶ definitions ──reference_problems──▶ LoadedRepo
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from featurekit.definitions.base import Definition
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import Feature, FeatureView
from featurekit.definitions.mistakes import build
from featurekit.definitions.on_demand import OnDemandFeature, OnDemandFeatureView
from featurekit.definitions.positions import Positions, by_position
from featurekit.definitions.problem import Place, Problem
from featurekit.definitions.references import reference_problems
from featurekit.definitions.repo_files import SECTIONS, Written, read_files
from featurekit.definitions.repository import Repository
from featurekit.definitions.service import FeatureService, ServiceFeatures
from featurekit.definitions.shapes import service_entry
from featurekit.definitions.source import Source
from featurekit.definitions.yaml_values import REFUSED
from featurekit.errors import DefinitionError, DefinitionErrors

_MODELS: Final[dict[str, type[Definition]]] = {
    "entities": Entity,
    "sources": Source,
    "feature_views": FeatureView,
    "on_demand_feature_views": OnDemandFeatureView,
    "feature_services": FeatureService,
}
_FEATURES: Final[dict[str, type[Definition]]] = {
    "feature_views": Feature,
    "on_demand_feature_views": OnDemandFeature,
}


@dataclass(frozen=True, slots=True)
class LoadedRepo:
    """What a folder declares, where it stands, and what is wrong with it.

    `repository` holds the definitions that have no mistake and name only what is there, so it can be compiled to find
    more mistakes. `left_out` names the others: ("sources", "departures"), or one feature of a view that stays,
    ("feature_views", "load", "features", "n"). A mistake about a name that is left out would be told twice.
    """

    repository: Repository
    positions: Positions
    mistakes: tuple[DefinitionError, ...]
    left_out: frozenset[Place] = frozenset()
    set_aside: Mapping[str, FeatureView] = field(default_factory=dict)
    """Views that are left out for what they refer to, while their source is there: their SQL can still be checked."""


def load_repo(path: Path, *, root: Path | None = None) -> LoadedRepo:
    """Return what the YAML files under `path` declare, with all mistakes; `path` may also be one file.

    Positions name files relative to `root`, the folder's parent where it is not given.
    """
    return check_written(read_files(path, path.parent if root is None else root))


def check_repository(repository: Repository) -> LoadedRepo:
    """Return definitions that were built in Python as load_repo returns written ones; positions are dotted paths."""
    problems = tuple(reference_problems(repository))
    left_out: set[Place] = {problem.path[:2] for problem in problems}
    closed = _closed(repository, left_out)
    positions = Positions()
    return LoadedRepo(closed, positions, by_position(map(positions.mistake, problems)), frozenset(left_out))


def raise_mistakes(loaded: LoadedRepo, more: Iterable[Problem | DefinitionError] = ()) -> None:
    """Raise DefinitionErrors with all mistakes, those of `more` too, in the order of their positions; or return."""
    found = [loaded.positions.mistake(one) if isinstance(one, Problem) else one for one in more]
    if mistakes := by_position([*loaded.mistakes, *found]):
        raise DefinitionErrors(mistakes)


def check_written(written: Written) -> LoadedRepo:
    """Return what was written as definitions, with what is wrong with them and between them."""
    positions = Positions(written.spots)
    builder = _Builder(written)
    for section, definitions in written.sections.items():
        for name, body in definitions.items():
            builder.add(section, name, body)
    # A definition that was left out can still name others that are not there.
    everything = {section: builder.partial[section] | builder.built[section] for section in SECTIONS}
    references: tuple[Problem, ...] = ()
    if written.is_complete:
        references = tuple(
            reference_problems(Repository.model_construct(None, **everything), frozenset(builder.left_out))
        )
    left_out = builder.left_out | {problem.path[:2] for problem in references}
    whole = Repository.model_validate(builder.built)
    repository = _closed(whole, left_out)
    found = [positions.mistake(problem) for problem in (*builder.problems, *references)]
    set_aside = {
        name: view
        for name, view in whole.feature_views.items()
        if name not in repository.feature_views and view.source in repository.sources
    }
    return LoadedRepo(repository, positions, by_position([*written.mistakes, *found]), frozenset(left_out), set_aside)


class _Builder:
    """Builds definitions one by one; those with mistakes are left out, and of a view only those features.

    `partial` has of the definitions that are left out what names other definitions.
    """

    def __init__(self, written: Written) -> None:
        self.written = written
        self.built: dict[str, dict[str, Definition]] = {section: {} for section in SECTIONS}
        self.partial: dict[str, dict[str, Definition]] = {section: {} for section in SECTIONS}
        self.left_out: set[Place] = set()
        self.problems: list[Problem] = []

    def add(self, section: str, name: str, body: Any) -> None:
        path: Place = (section, name)
        subject = f"{SECTIONS[section]} {name}"
        definition = None
        if isinstance(body, dict):
            value = {**self._without_name(path, body, subject), "name": name}
            features = self._features_or_entries(path, body, subject)
            if body.get("features", REFUSED) is not REFUSED:  # else: not there, as the model tells; or told already
                value["features"] = tuple(features.values()) or REFUSED
            definition = self._build(_MODELS[section], path, value, subject, list(features))
            self._keep_references(section, name, body, tuple(features.values()))
        elif body is not REFUSED:
            self._tell([_not_a_mapping(path, subject, "field: …")])
        if (
            definition is None
            or path in self.left_out
            or any(spot[:2] == path and spot[2:3] != ("features",) for spot in self.written.spoiled)
        ):
            self.left_out.add(path)
        else:
            self.built[section][name] = definition

    def _features_or_entries(self, path: Place, body: dict[str, Any], subject: str) -> dict[str | int, Definition]:
        """Return what is right in `features`, by its name (in a service: its position) as written."""
        written = body.get("features", REFUSED)
        if written is REFUSED:
            return {}
        if model := _FEATURES.get(str(path[0])):
            return self._features((*path, "features"), written, model, subject)
        return self._entries((*path, "features"), written, subject) if path[0] == "feature_services" else {}

    def _features(self, path: Place, value: Any, model: type[Definition], subject: str) -> dict[str | int, Definition]:
        if not isinstance(value, dict) or not value:
            self._refuse_features(path, f"{subject}: features must be a mapping", "features: {name: {sql: …}}")
            return {}
        good: dict[str | int, Definition] = {}
        for name, body in value.items():
            here = (*path, name)
            label = f"feature {path[1]}.{name}"
            feature = None
            if isinstance(body, dict):
                fields = {**self._without_name(here, body, label), "name": name}
                feature = self._build(model, here, fields, label, [])
            elif body is not REFUSED:
                self._tell([_not_a_mapping(here, label, "sql: …")])
            if feature is None or any(spot[:4] == here for spot in self.written.spoiled):
                self.left_out.add(here)
            else:
                good[name] = feature
        if not good:  # each was told; that none is left is no mistake of its own
            self.written.spoiled.add(path)
        return good

    def _entries(self, path: Place, value: Any, subject: str) -> dict[str | int, Definition]:
        if not isinstance(value, list) or not value:
            self._refuse_features(path, f"{subject}: features must be a list", "features: [view, view.feature]")
            return {}
        entries: dict[str | int, Definition] = {}
        for at, written in enumerate(value):
            fields, problems = service_entry(written, (*path, at)) if written is not REFUSED else (None, ())
            self._tell(problem.about(subject) for problem in problems)
            entry = None if fields is None else self._build(ServiceFeatures, (*path, at), fields, subject, [])
            if entry is None:  # a service without one of its features would be another service
                self.left_out.add(path[:2])
            entries[at] = entry or ServiceFeatures.model_construct(view="")
        return entries

    def _keep_references(self, section: str, name: str, body: dict[str, Any], features: tuple[Any, ...]) -> None:
        match section:
            case "feature_views":
                entity, source, keys = (body.get(field) for field in ("entity", "source", "keys"))
                self.partial[section][name] = FeatureView.model_construct(
                    name=name,
                    entity=entity if isinstance(entity, str) else "",
                    source=source if isinstance(source, str) else "",
                    keys=keys if isinstance(keys, dict) else {},
                    features=features,
                )
            case "on_demand_feature_views":
                self.partial[section][name] = OnDemandFeatureView.model_construct(name=name, features=features)
            case "feature_services":
                self.partial[section][name] = FeatureService.model_construct(name=name, features=features)
            case _:  # entities and sources name no other definition
                pass

    def _refuse_features(self, path: Place, what: str, try_: str) -> None:
        self._tell([Problem(path=path, what=what, why="there is nothing to serve without one", try_=try_)])
        self.written.spoiled.add(path)

    def _without_name(self, path: Place, body: dict[str, Any], subject: str) -> dict[str, Any]:
        if "name" in body:
            what = f"{subject}: name is not a field"
            why = "the name is the key above"
            self._tell([Problem(path=(*path, "name"), what=what, why=why, try_="remove it", at_name=True)])
        return {field: value for field, value in body.items() if field != "name"}

    def _build(
        self, model: type[Definition], path: Place, value: dict[str, Any], subject: str, names: list[str | int]
    ) -> Definition | None:
        definition, problems = build(model, value, subject=subject)
        for problem in problems:
            inner = problem.path
            if inner[:1] == ("features",) and len(inner) > 1 and names:  # by position in the model, by name in the file
                inner = ("features", names[int(inner[1])], *inner[2:])
            inner = () if inner == ("name",) else inner
            self._tell([replace(problem, path=path + inner)])
        return definition

    def _tell(self, problems: Iterable[Problem]) -> None:
        self.problems += [problem for problem in problems if not self.written.is_spoiled(problem.path)]


def _not_a_mapping(path: Place, subject: str, inner: str) -> Problem:
    why = "what is said of it has names"
    return Problem(path=path, what=f"{subject} must be a mapping", why=why, try_=f"{path[-1]}: {{{inner}}}")


def _closed(repository: Repository, left_out: set[Place]) -> Repository:
    """Return the definitions that are not left out and need nothing that is; what falls away is added to `left_out`."""

    def kept(section: str, definitions: dict[str, Any]) -> dict[str, Any]:
        left_out.update((section, name) for name in getattr(repository, section) if name not in definitions)
        return {name: one for name, one in definitions.items() if (section, name) not in left_out}

    entities = kept("entities", repository.entities)
    sources = kept("sources", repository.sources)
    all_views = repository.feature_views
    views = kept("feature_views", {n: v for n, v in all_views.items() if v.entity in entities and v.source in sources})
    on_demand = kept("on_demand_feature_views", repository.on_demand_feature_views)
    features = {(name, None) for name in (*views, *on_demand)}
    features |= {(name, f.name) for name, view in (views | on_demand).items() for f in view.features}
    services = {
        name: service
        for name, service in repository.feature_services.items()
        if all((entry.view, entry.feature) in features for entry in service.features)
    }
    return Repository(
        entities=entities,
        sources=sources,
        feature_views=views,
        on_demand_feature_views=on_demand,
        feature_services=kept("feature_services", services),
    )
