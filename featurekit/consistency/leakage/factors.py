"""The ways in which a table made elsewhere goes wrong, each as an alternative that can be computed (DESIGN §7).

In the order of their cost: where two explain the same cells, the earlier is named. Those that know more come from the
nearest to the farthest, so that nothing is accused of more than it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from featurekit.clock import Instant
from featurekit.compiled import CompiledView
from featurekit.consistency.diagnosis.as_of_factors import end_of_day, following, previous
from featurekit.consistency.leakage.table import Ints
from featurekit.consistency.leakage.values import Alternative

_STEPS = 3


class Verdict(StrEnum):
    """What the audit says of a feature. Only the first is what serving would have had."""

    AS_SERVED = "as served"
    LEAKS = "leaks"  # its values were known later
    STALE = "stale"  # its values are those of an earlier refresh, or had expired
    FILLED = "filled"  # it holds something in place of no value
    OTHER = "other"  # it differs, and nothing that was tried explains how
    AMBIGUOUS = "ambiguous"  # it differs, and what explains it can't be told from chance, or from something else


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """A way to look, how it is told, and what it makes of a feature whose values it explains."""

    told: str
    verdict: Verdict
    alternative: Alternative


def factors(views: Mapping[str, CompiledView], at: Ints, end: Instant, now: Instant | None) -> tuple[Factor, ...]:
    """Return what is tried for rows asked at some times, of a table whose last row was asked at `end`.

    What can be computed at `now` is tried too, where it is given.
    """
    served = _instants(views, lambda view, t: view.view.grid.served_at(t), at)
    found: list[Factor] = []
    for told, verdict, as_of, knows_all, no_ttl in _tried(views, at, served, end, now):
        alternative = Alternative(as_of=as_of, knows_all=knows_all, no_ttl=no_ttl)
        # Where every as-of is the same it is the same way to look, under another name.
        if not any(_is_same(alternative, each.alternative) for each in found):
            found.append(Factor(told=told, verdict=verdict, alternative=alternative))
    return tuple(found)


def declared(views: Mapping[str, CompiledView], at: Ints) -> Alternative:
    """Return how serving looks: each view as of g(t)."""
    return Alternative(as_of=_instants(views, lambda view, t: view.view.grid.served_at(t), at))


Tried = tuple[str, Verdict, Mapping[str, Ints], bool, bool]


def _tried(
    views: Mapping[str, CompiledView], at: Ints, served: Mapping[str, Ints], end: Instant, now: Instant | None
) -> Iterator[Tried]:
    exact, closed = dict.fromkeys(views, at), dict.fromkeys(views, at + 1)
    leaks, stale = Verdict.LEAKS, Verdict.STALE
    yield "the same refresh, with rows and corrections that landed after it", leaks, served, True, False
    early = _instants(views, lambda view, t: view.view.grid.floor(t), at)
    yield "the refresh of the row's own time, before its availability delay", leaks, early, False, False
    yield "everything up to the row's own time, known by then", leaks, exact, False, False
    yield "everything up to the row's own time and at it", leaks, closed, False, False
    yield "everything up to the row's own time, whenever it landed", leaks, exact, True, False
    yield "everything up to the row's own time and at it, whenever it landed", leaks, closed, True, False
    day = {name: end_of_day(view.view.grid.timezone, at) for name, view in views.items()}
    yield "the whole day that the row lies in", leaks, day, False, False
    if any(view.source.timezone for view in views.values()):
        local = {name: end_of_day(view.source.timezone, at) for name, view in views.items()}
        yield "the whole day that the row lies in, by the source's clock", leaks, local, False, False
    yield "the whole day that the row lies in, whenever it landed", leaks, day, True, False
    for step in range(1, _STEPS + 1):
        later = {name: following(views[name].view.grid, step, as_ofs) for name, as_ofs in served.items()}
        yield f"{_counted(step)} later", leaks, later, False, False
    last = _instants(views, lambda view, _: view.view.grid.next(end), at)
    yield "the end of the table, for all rows", leaks, last, False, False
    yield "the end of the table, for all rows, with the last corrections", leaks, last, True, False
    if now is not None:
        # Whoever computes a column today, from all there is, holds values later than any row of the table.
        latest = {
            name: np.full_like(at, view.view.grid.floor(now - view.view.allowed_lateness))
            for name, view in views.items()
        }
        yield "the latest refresh that can be computed now, for all rows", leaks, latest, False, False
        told = "the latest refresh that can be computed now, for all rows, with the last corrections"
        yield told, leaks, latest, True, False
    for step in range(1, _STEPS + 1):
        earlier = {name: previous(views[name].view.grid, step, as_ofs) for name, as_ofs in served.items()}
        yield f"{_counted(step)} earlier", stale, earlier, False, False
    if any(feature.ttl is not None for view in views.values() for feature in view.features):
        yield "values that had expired: no TTL", stale, served, False, True
        yield "the row's own time and at it, whenever it landed, and no TTL", leaks, closed, True, True


def _counted(step: int) -> str:
    return "1 refresh" if step == 1 else f"{step} refreshes"


def _is_same(one: Alternative, other: Alternative) -> bool:
    return (one.knows_all, one.no_ttl) == (other.knows_all, other.no_ttl) and all(
        np.array_equal(as_ofs, other.as_of[name]) for name, as_ofs in one.as_of.items()
    )


def _instants(
    views: Mapping[str, CompiledView], instant: Callable[[CompiledView, Instant], Instant], at: Ints
) -> dict[str, Ints]:
    times, places = np.unique(at, return_inverse=True)
    return {
        name: np.array([instant(view, t) for t in times.tolist()], np.int64)[places] for name, view in views.items()
    }
