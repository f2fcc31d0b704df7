"""From the shape that reads well in YAML to the shape of the models.

features: {n: {sql: count(*)}}                          a tuple of Feature with names
features: [load, load.n, load as dest_load,             a tuple of ServiceFeatures
           {view: load, alias: dest_load, keys: {airport: dest}}]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from featurekit.definitions.problem import Place, Problem, did_you_mean

ENTRY_PATTERN: Final = r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)?( +as +[A-Za-z_]\w*)?"
_ENTRY: Final = re.compile(
    r"(?P<view>[A-Za-z_]\w*)(?:\.(?P<feature>[A-Za-z_]\w*))?(?:\s+as\s+(?P<alias>[A-Za-z_]\w*))?"
)
_WHY: Final = "a service takes features from views"
_FORMS: Final = "view, view.feature, view as alias, or {view: …, alias: …, keys: {join key: request key}}"
ENTRY_FIELDS: Final = ("view", "feature", "alias", "keys")


def service_entry(value: Any, path: Place) -> tuple[dict[str, Any] | None, tuple[Problem, ...]]:
    """Return an entry of a service's `features` as ServiceFeatures' fields, or None and why not."""
    if isinstance(value, str):
        return _entry_of_text(value, path)
    if not isinstance(value, dict):
        return None, (
            Problem(path=path, what="an entry of features must be the name of a view", why=_WHY, try_=_FORMS),
        )
    problems = tuple(_entry_mistakes(value, path))
    if problems:
        return None, problems
    entry = {"alias" if name == "as" else name: part for name, part in value.items()}
    parts, problems = _entry_of_text(entry.pop("view"), (*path, "view"))
    if parts is None:
        return None, problems
    clash = sorted(parts.keys() & entry.keys())
    if clash:
        what = f"{clash[0]} is said twice, in view and as a field"
        why = "only one of them could be meant"
        return None, (Problem(path=(*path, clash[0]), what=what, why=why, try_="keep one of the two", at_name=True),)
    return {**parts, **entry}, ()


def _entry_of_text(text: Any, path: Place) -> tuple[dict[str, Any] | None, tuple[Problem, ...]]:
    match = _ENTRY.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return None, (Problem(path=path, what=f"{text!r} does not name features of a view", why=_WHY, try_=_FORMS),)
    return {name: part for name, part in match.groupdict().items() if part is not None}, ()


def _entry_mistakes(value: dict[str, Any], path: Place) -> Iterator[Problem]:
    if list(value) == ["keys"]:
        what = "keys stands alone"
        why = "the comma before it ended the entry it belongs to"
        yield Problem(path=path, what=what, why=why, try_="{view: airport_load as dest_load, keys: {airport: dest}}")
        return
    for name in value:
        if name not in (*ENTRY_FIELDS, "as"):
            what = f"{name} is not a field of an entry of features"
            why = "a field that nothing reads would be ignored without a word"
            yield Problem(path=(*path, name), what=what, why=why, try_=did_you_mean(name, ENTRY_FIELDS), at_name=True)
    if "view" not in value:
        yield Problem(path=path, what="the entry names no view", why=_WHY, try_=_FORMS)
    if "as" in value and "alias" in value:
        yield Problem(
            path=(*path, "as"),
            what="it has as and alias",
            why="they are the same thing",
            try_="keep alias",
            at_name=True,
        )
