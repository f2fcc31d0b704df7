"""What another as-of would have said: that of another refresh, of the request, of a closed bound, of a zone's clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt

from featurekit.clock import DAY, HOUR, Instant, format_duration
from featurekit.compiled import CompiledView
from featurekit.consistency.diagnosis.causes import Cause
from featurekit.consistency.diagnosis.factors import Factor
from featurekit.consistency.diagnosis.source_rows import REFRESHES_AFTER, REFRESHES_BEFORE
from featurekit.consistency.diagnosis.zones import offsets_around
from featurekit.grid import Grid, first_instant
from featurekit.windows import date_at

Ints = npt.NDArray[np.int64]
_MOST_HOURS: Final = 14
_ANY_HOUR: Final = 3
"""Bits on top of an offset's cost where it is no offset of the view's own zones: it is one of many."""


def as_of_factors(view: CompiledView, as_ofs: Ints, asked_at: Ints | None) -> Iterator[Factor]:
    """Yield the as-ofs that may have been taken by mistake, cheapest first; those that change none are left out.

    `as_ofs` are what the rows were answered as of, `asked_at` when each was asked for, where that is known.
    """
    for factor in _candidates(view, as_ofs, asked_at):
        assert factor.as_ofs is not None
        if (factor.as_ofs(as_ofs) != as_ofs).any():
            yield factor


def _candidates(view: CompiledView, as_ofs: Ints, asked_at: Ints | None) -> Iterator[Factor]:
    grid = view.view.grid
    for steps in range(1, REFRESHES_BEFORE + 1):
        told = "The value is that of the refresh before."
        if steps > 1:
            told = f"The value is that of the refresh {steps} refreshes before."
        yield Factor(
            cause=Cause.PREVIOUS_REFRESH, told=told, as_ofs=partial(previous, grid, steps), extra=_rarer(steps)
        )
    told = "Rows at the very as-of are counted, and those at the window's start are not."
    yield Factor(cause=Cause.BOUND_CLOSED, told=told, as_ofs=partial(moved, 1))
    if asked_at is not None:
        told = "The value is as of the request's own time, not of the refresh that answers it."
        yield Factor(cause=Cause.REQUEST_TIME, told=told, as_ofs=lambda _: asked_at)
    for steps in range(1, REFRESHES_AFTER + 1):
        told = "The value knows what came after the refresh, up to the next one."
        if steps > 1:
            told = f"The value knows what came after the refresh, up to the {steps} next ones."
        yield Factor(cause=Cause.LATER_REFRESH, told=told, as_ofs=partial(following, grid, steps), extra=_rarer(steps))
    for zone in dict.fromkeys((grid.timezone, view.source.timezone, None)):
        yield from _whole_days(zone, asked_at)
    yield from _shifts(view, as_ofs)


def _whole_days(zone: str | None, asked_at: Ints | None) -> Iterator[Factor]:
    where = "" if zone is None else f" in {zone}"
    told = f"The value is over the whole day{where} that the as-of is in, to its end."
    yield Factor(cause=Cause.WHOLE_DAY, told=told, as_ofs=partial(end_of_day, zone))
    if asked_at is not None:
        told = f"The value is over the whole day{where} of the request, to its end."
        yield Factor(cause=Cause.WHOLE_DAY, told=told, as_ofs=lambda _: end_of_day(zone, asked_at))
        told = f"The value is as of the start of the day{where} of the request."
        yield Factor(cause=Cause.REQUEST_TIME, told=told, as_ofs=lambda _: start_of_day(zone, asked_at), extra=2)


def _shifts(view: CompiledView, as_ofs: Ints) -> Iterator[Factor]:
    """Yield as-ofs that are a zone's offset away, then those that are any number of hours away."""
    own: dict[int, str] = {}
    saving = False
    for zone in dict.fromkeys((view.view.refresh.timezone, view.source.timezone)):
        if zone is not None and len(as_ofs):
            found = offsets_around(int(as_ofs.max()), zone)
            saving |= len(found) > 1
            own |= {way * offset: zone for offset in found for way in (1, -1) if offset}
    for offset, zone in own.items():
        told = f"The as-of is off by the offset of {zone}: {_signed(offset)}."
        yield Factor(cause=Cause.TIME_ZONE_SHIFT, told=told, as_ofs=partial(moved, offset))
    for hours in (each for size in range(1, _MOST_HOURS + 1) for each in (-size, size)):
        if hours * HOUR in own:
            continue
        is_saving = saving and abs(hours) == 1
        cause = Cause.DST_SHIFT if is_saving else Cause.TIME_ZONE_SHIFT
        told = f"The as-of is off by {_signed(hours * HOUR)}."
        extra = 0 if is_saving else _ANY_HOUR
        yield Factor(cause=cause, told=told, as_ofs=partial(moved, hours * HOUR), extra=extra)


def _rarer(steps: int) -> int:
    """Return the bits that it takes to say how many steps it was."""
    return (steps - 1).bit_length()


def _signed(micros: int) -> str:
    return f"{'−' if micros < 0 else '+'}{format_duration(abs(micros))}"


def previous(grid: Grid, steps: int, at: Ints) -> Ints:
    """Return the grid instant so many steps before each instant."""
    return _each(lambda instant: _stepped(grid, instant, -steps), at)


def following(grid: Grid, steps: int, at: Ints) -> Ints:
    """Return the grid instant so many steps after each instant."""
    return _each(lambda instant: _stepped(grid, instant, steps), at)


def moved(by: int, at: Ints) -> Ints:
    """Return each instant so many microseconds later."""
    return at + by


def end_of_day(zone: str | None, at: Ints) -> Ints:
    """Return the end of the day that each instant is in, in a zone; in UTC where that is None."""
    return _each(lambda instant: _day_start(date_at(instant, zone) + 1, zone), at)


def start_of_day(zone: str | None, at: Ints) -> Ints:
    """Return the start of the day that each instant is in."""
    return _each(lambda instant: _day_start(date_at(instant, zone), zone), at)


def _day_start(day: int, zone: str | None) -> Instant:
    return day * DAY if zone is None else first_instant(day, zone)


def _stepped(grid: Grid, at: Instant, steps: int) -> Instant:
    for _ in range(abs(steps)):
        at = grid.next(at) if steps > 0 else grid.floor(at - 1)
    return at


def _each(change: Callable[[Instant], Instant], at: Ints) -> Ints:
    instants, of_row = np.unique(at, return_inverse=True)
    found = np.array([change(instant) for instant in instants.tolist()], np.int64)
    return found[of_row.reshape(-1)]
