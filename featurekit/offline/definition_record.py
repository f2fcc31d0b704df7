"""The definitions behind a training set as they were written, and how they differ from others.

Beside what people wrote stand the types of the source columns that a view reads: they decide values too, and come from
files. URLs are recorded without users and queries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from featurekit.compiled import CompiledService
from featurekit.definitions.base import Definition
from featurekit.definitions.source import Source
from featurekit.urls import shown_path, shown_text

# They decide no value; among names that people give they are names.
_SAID: Final = frozenset({"owner", "description", "expect", "path", "table", "version", "partition"})
_OF_NAMES: Final = frozenset({"features", "columns", "join_keys", "keys", "request"})


def record_definitions(service: CompiledService) -> dict[str, Any]:
    """Return all definitions that a service's values follow from, by section and name, as JSON holds them."""
    views = {part.view.name: part.view for part in service.views}
    return {
        "entities": {view.entity.name: _dump(view.entity) for view in views.values()},
        "sources": {view.source.name: _source(view.source) for view in views.values()},
        "feature_views": {
            name: {
                **_dump(view.view),
                "features": _by_name(view.view.features),
                "columns": {column.name: column.type.name for column in view.columns},
            }
            for name, view in views.items()
        },
        "on_demand_feature_views": {
            view.name: {**_dump(view), "features": _by_name(view.features)} for view in service.on_demand_views
        },
        "feature_services": {service.name: _dump(service.service)},
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionChange:
    """One difference: where (`feature_views.v.features.n.window`), and what stands on each side, None where nothing."""

    where: str
    before: Any
    after: Any

    def __str__(self) -> str:
        if self.before is None:
            return f"{self.where} is new: {_shown(self.after)}"
        if self.after is None:
            return f"{self.where} is gone; it was {_shown(self.before)}"
        return f"{self.where} was {_shown(self.before)}, is {_shown(self.after)}"


def definition_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[DefinitionChange, ...]:
    """Return the differences between two records that can decide values; owners and paths are none."""
    return tuple(_changes("", before, after))


def _changes(where: str, before: Any, after: Any) -> Iterator[DefinitionChange]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        has_names = where.rpartition(".")[2] in _OF_NAMES
        for name in dict.fromkeys((*before, *after)):
            if has_names or name not in _SAID:
                yield from _changes(f"{where}.{name}".lstrip("."), before.get(name), after.get(name))
    elif before != after:
        yield DefinitionChange(where=where, before=before, after=after)


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return str(value["sql"]) if "sql" in value else ", ".join(f"{name}: {_shown(value[name])}" for name in value)
    return str(value)


def _by_name(features: tuple[Any, ...]) -> dict[str, Any]:
    return {feature.name: _dump(feature) for feature in features}


def _source(source: Source) -> dict[str, Any]:
    dumped = _dump(source)
    if source.path is not None:
        dumped["path"] = shown_path(source.path)
    if source.sql is not None:
        dumped["sql"] = shown_text(source.sql)
    return dumped


def _dump(written: Definition) -> dict[str, Any]:
    return written.model_dump(mode="json", exclude_none=True)
