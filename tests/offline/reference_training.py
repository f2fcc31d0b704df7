"""What a label row is given, in slow plain Python: each view as of its own g(t), then the defaults (DESIGN T3, T6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.offline.reference import Expected, Row, View, nothing, rows_as_of
from tests.offline.reference_time import Grid


@dataclass(frozen=True, kw_only=True)
class Role:
    """A view as a service uses it: its keys are read from these columns of a label."""

    view: View
    grid: Grid
    log: Sequence[Row]
    keys: tuple[str, ...]
    defaults: Mapping[str, Any] = field(default_factory=dict)


def label_row(label: Row, at: int, roles: Mapping[str, Role], seen: dict[Any, dict[Any, Expected]]) -> Row:
    """Return a label's features as `alias.feature`; `seen` keeps what a view's rows were as of an instant."""
    found: Row = {}
    for alias, role in roles.items():
        as_of = role.grid.served_at(at)
        if (id(role.view), as_of) not in seen:
            seen[id(role.view), as_of] = rows_as_of(role.log, role.view, as_of)
        key = tuple(label[name] for name in role.keys)
        row = seen[id(role.view), as_of].get(key) or nothing(role.view, as_of)
        for name, value in row.values.items():
            found[f"{alias}.{name}"] = role.defaults.get(name) if value is None else value
    return found
