"""View versions compiled from what the registry keeps of them: whoever reads one needs it refreshed, defined or not.

The registry keeps a version's definition as it was written, but not where its source's rows lie: a path may hold a
secret, and files move. So the place comes from the source of that name as it is defined now; the fingerprint tells
whether what comes of it is the version that was registered.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from featurekit.compiled import CompiledView
from featurekit.compiler import compile_view
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView
from featurekit.definitions.problem import Place
from featurekit.definitions.source import Source
from featurekit.errors import DefinitionError, FeaturekitError, NotRegisteredError
from featurekit.online.keys import SERVICE_VERSION
from featurekit.registry.registry import Registry
from featurekit.registry.state import ViewVersion
from featurekit.source_schema import check_source, read_source_schema
from featurekit.urls import shown_text

_EARLIER: Final = 3
_FEATURE: Final = "features/"
_PLACE: Final = ("path", "table", "format", "version", "columns", "partition")


def compile_version(version: ViewVersion, sources: Mapping[str, Source], base: Path) -> CompiledView:
    """Return a registered view version as it was compiled then; source paths are relative to `base`.

    DefinitionError where the sources, as they are now, don't give it any more: with the reason.
    """
    written = {name: json.loads(part) for name, part in version.definition.written.items()}
    order, keys = (json.loads(version.definition.data[part]) for part in ("order of features", "entity"))
    entity, recorded = written.pop("entity"), written.pop("source")
    # The registry's objects are sorted by name; the order of join keys is the order in a row's key.
    entity["join_keys"] = {name: entity["join_keys"][name] for name, _ in keys}
    view = {name: part for name, part in written.items() if not name.startswith(_FEATURE)}
    view |= {"entity": entity["name"], "source": recorded["name"]}
    view |= {"features": [written[f"{_FEATURE}{name}"] for name in order]}
    where = f"{version.name}@{version.number}"
    try:
        source = _placed(recorded, sources, where)
        compiled = _compiled(FeatureView.model_validate(view), Entity.model_validate(entity), source, base)
    except ValueError as error:
        raise _lost(where, f"what the registry keeps of it can't be read: {error}") from error
    if compiled.fingerprint.data != version.fingerprint.data:
        raise _lost(where, f"{source.name}, or the catalogue of this featurekit, gives its columns another meaning now")
    return compiled


def earlier_views(
    view: CompiledView, versions: Iterable[ViewVersion], sources: Mapping[str, Source], base: Path
) -> tuple[CompiledView, ...]:
    """Return a few of the versions of a view that mean something else and can still be computed, newest first."""
    others = [
        version
        for version in versions
        if version.name == view.name and version.fingerprint.data != view.fingerprint.data
    ]
    found = []
    for version in sorted(others, key=lambda each: -each.number):
        with suppress(DefinitionError):  # its source is another one by now
            found.append(compile_version(version, sources, base))
        if len(found) == _EARLIER:
            break
    return tuple(found)


def _compiled(view: FeatureView, entity: Entity, source: Source, base: Path) -> CompiledView:
    def report(_: Place, error: FeaturekitError) -> None:
        raise error

    schema = read_source_schema(source, base)
    for problem in check_source(source, schema):
        raise DefinitionError(problem.what, where=source.name, why=problem.why, try_=problem.try_)
    compiled = compile_view(view, entity, source, schema, report)
    assert compiled is not None, "what is wrong is reported, and raised there"
    return compiled


def _placed(recorded: dict[str, Any], sources: Mapping[str, Source], where: str) -> Source:
    """Return the source as it was registered, its rows where they lie now."""
    now = sources.get(recorded["name"])
    if now is None:
        raise _lost(where, f"its source {recorded['name']} is not defined any more, and the registry keeps no paths")
    if "sql" in recorded:
        # Where the registry's text has its secrets taken out, the one that is defined now may be the same.
        same = now.sql is not None and shown_text(now.sql) == recorded["sql"]
        return Source.model_validate({**recorded, "sql": now.sql} if same else recorded)
    here = now.model_dump(mode="json", include=set(_PLACE), exclude_none=True)
    return Source.model_validate({**{name: part for name, part in recorded.items() if name not in _PLACE}, **here})


def _lost(where: str, why: str) -> DefinitionError:
    return DefinitionError(
        f"{where} can't be computed any more, and somebody reads it",
        where=where,
        why=why,
        try_="define the source as it was, under its name; or let its readers go, which `featurekit status` tells",
    )


def wanted_versions(name: str, registry: Registry) -> tuple[ViewVersion, ...]:
    """Return the versions of a view that somebody needs; of `view@number` that version, needed or not.

    NotRegisteredError where that version is not there, or was collected.
    """
    view, pinned, number = name.partition(SERVICE_VERSION)
    if not pinned:
        return tuple(each for each in needed(registry) if each.name == view)
    versions = [each for each in registry.view_versions() if each.name == view]
    for version in versions:
        if str(version.number) == number and version.collected_at is None:
            return (version,)
    there = ", ".join(f"{view}@{each.number}" for each in versions if each.collected_at is None)
    raise NotRegisteredError(
        f"there is no view version {name!r}",
        where=str(registry),
        why="it was collected: nobody needed it" if any(str(one.number) == number for one in versions) else None,
        try_=f"one of {there}" if there else "featurekit register",
    )


def needed(registry: Registry) -> tuple[ViewVersion, ...]:
    """Return the view versions that somebody needs, by name and number."""
    return tuple(use.version for use in registry.uses().needed_views.values() if isinstance(use.version, ViewVersion))
