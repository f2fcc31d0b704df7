"""Names that definitions use of each other: each must be there, and mean one thing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from featurekit.definitions.base import ONE_CASE, same_but_for_case
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView
from featurekit.definitions.on_demand import OnDemandFeatureView
from featurekit.definitions.problem import Place, Problem, did_you_mean
from featurekit.definitions.repository import Repository
from featurekit.definitions.service import FeatureService, ServiceFeatures
from featurekit.definitions.thresholds import Thresholds


def reference_problems(repository: Repository, left_out: frozenset[Place] = frozenset()) -> Iterator[Problem]:
    """Yield what is wrong between definitions; names in `left_out` exist, but have mistakes of their own."""
    yield from _shared_names(repository)
    for view in repository.feature_views.values():
        yield from _view_problems(view, repository, left_out)
    for service in repository.feature_services.values():
        yield from _service_problems(service, repository, left_out)


def _shared_names(repository: Repository) -> Iterator[Problem]:
    sections: tuple[tuple[str, Mapping[str, object]], ...] = (
        ("entities", repository.entities),
        ("sources", repository.sources),
        ("feature_services", repository.feature_services),
    )
    for section, definitions in sections:
        yield from _twice([(section, name) for name in definitions])
    views = [("feature_views", name) for name in repository.feature_views]
    yield from _twice([*views, *(("on_demand_feature_views", name) for name in repository.on_demand_feature_views)])


def _twice(places: list[tuple[str, str]]) -> Iterator[Problem]:
    for at, earlier in same_but_for_case(name for _, name in places):
        section, name = places[at]
        what = f"{earlier} and {name} differ in case only"
        why = ONE_CASE
        if earlier == name:
            what, why = f"{name} is a feature view and an on-demand feature view", "a view's name is one view"
        yield Problem(path=(section, name), what=what, why=why, try_="another name for one of them")


def _view_problems(view: FeatureView, repository: Repository, left_out: frozenset[Place]) -> Iterator[Problem]:
    path: Place = ("feature_views", view.name)
    for noun, name, section, known in (
        ("entity", view.entity, "entities", repository.entities),
        ("source", view.source, "sources", repository.sources),
    ):
        names = {*known, *(str(place[1]) for place in left_out if place[0] == section and len(place) == 2)}
        if name and name not in names:  # an empty one is a view's that has mistakes of its own
            what = f"feature view {view.name}: there is no {noun} {name}"
            why = f"no file declares it under {section}"
            try_ = did_you_mean(name, names) or f"declare it under {section}"
            yield Problem(path=(*path, noun), what=what, why=why, try_=try_)
    if entity := repository.entities.get(view.entity):
        yield from _unknown_keys(view.keys, entity, (*path, "keys"), f"feature view {view.name}")
    own = _feature_names(view, left_out)
    yield from _unknown_null_shares(view.thresholds, own, path, f"feature view {view.name}")


def _feature_names(view: FeatureView, left_out: frozenset[Place]) -> list[str]:
    """Return the names of a view's features, those with mistakes of their own too."""
    own = ("feature_views", view.name, "features")
    broken = [str(place[3]) for place in left_out if len(place) == 4 and place[:3] == own]
    return [*(feature.name for feature in view.features), *broken]


def _unknown_null_shares(
    thresholds: Thresholds | None, known: list[str], path: Place, subject: str
) -> Iterator[Problem]:
    for name in () if thresholds is None else thresholds.null_share:
        if name not in known:
            what = f"{subject} has no stored feature {name}"
            why = "a threshold of what is not there would never be broken"
            place = (*path, "thresholds", "null_share", name)
            try_ = did_you_mean(name, known) or f"one of {', '.join(known) or 'none: nothing of it is stored'}"
            yield Problem(path=place, what=what, why=why, try_=try_, at_name=True)


def _unknown_keys(keys: Mapping[str, str], entity: Entity, path: Place, subject: str) -> Iterator[Problem]:
    for key in keys:
        if key not in entity.join_keys:
            what = f"{subject}: {key} is not a join key of the entity {entity.name}"
            why = "keys maps join keys to the names they have here"
            yield Problem(path=(*path, key), what=what, why=why, try_=did_you_mean(key, entity.join_keys), at_name=True)


def _service_problems(service: FeatureService, repository: Repository, left_out: frozenset[Place]) -> Iterator[Problem]:
    for at, entry in enumerate(service.features):
        if not entry.view:  # it has a mistake of its own
            continue
        path: Place = ("feature_services", service.name, "features", at)
        view = repository.feature_views.get(entry.view) or repository.on_demand_feature_views.get(entry.view)
        if view is not None:
            yield from _entry_problems(service, entry, view, repository, left_out, path)
        elif not {("feature_views", entry.view), ("on_demand_feature_views", entry.view)} & left_out:
            broken = [str(place[1]) for place in left_out if str(place[0]).endswith("feature_views")]
            names = [*repository.feature_views, *repository.on_demand_feature_views, *broken]
            what = f"feature service {service.name}: there is no view {entry.view}"
            why = "no file declares it under feature_views or on_demand_feature_views"
            yield Problem(path=path, what=what, why=why, try_=did_you_mean(entry.view, names) or "declare it")
    stored = list(_stored_features(service, repository, left_out))
    subject = f"feature service {service.name}"
    yield from _unknown_null_shares(service.thresholds, stored, ("feature_services", service.name), subject)


def _stored_features(service: FeatureService, repository: Repository, left_out: frozenset[Place]) -> Iterator[str]:
    """Yield the outputs of a service that are looked up, as `view.feature` or `alias.feature`."""
    for entry in service.features:
        if view := repository.feature_views.get(entry.view):
            names = _feature_names(view, left_out) if entry.feature is None else [entry.feature]
            yield from (f"{entry.name}.{name}" for name in names)


def _entry_problems(
    service: FeatureService,
    entry: ServiceFeatures,
    view: FeatureView | OnDemandFeatureView,
    repository: Repository,
    left_out: frozenset[Place],
    path: Place,
) -> Iterator[Problem]:
    subject = f"feature service {service.name}"
    names = [feature.name for feature in view.features]
    section = "feature_views" if isinstance(view, FeatureView) else "on_demand_feature_views"
    is_left_out = (section, view.name, "features", entry.feature or "") in left_out
    if entry.feature is not None and entry.feature not in names and not is_left_out:
        what = f"{subject}: the view {view.name} has no feature {entry.feature}"
        why = "a service names features as the view declares them"
        yield Problem(path=path, what=what, why=why, try_=did_you_mean(entry.feature, names))
    if isinstance(view, OnDemandFeatureView):
        if entry.keys:
            what = f"{subject}: the on-demand view {view.name} has no join keys"
            why = "it reads the request and other views, not rows of an entity"
            yield Problem(path=(*path, "keys"), what=what, why=why, try_="remove keys", at_name=True)
    elif entity := repository.entities.get(view.entity):
        yield from _unknown_keys(entry.keys, entity, (*path, "keys"), subject)
