"""A run of the consistency check as its history keeps it: numbers per field, and what their cells differ for."""

from __future__ import annotations

from dataclasses import dataclass

from featurekit.clock import DAY, Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptCause:
    """A cause, how many cells (rows, where it is a view's) it explains, and the as-of since when it is known."""

    cause: str
    count: int
    since: Instant | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedField:
    """What a run found of one field; `share` is that of differing cells in the population, 0 to 1."""

    field: str
    cells: int
    differing: int
    indeterminate: int
    share: float
    causes: tuple[KeptCause, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedView:
    """What a run found of one view; `causes` are those of whole rows. `coverage` is None for an empty sample."""

    view: str
    fingerprint: str
    outcome: str
    as_of: Instant | None
    promised_as_of: Instant | None
    sampled: int
    coverage: float | None
    causes: tuple[KeptCause, ...] = ()
    fields: tuple[CheckedField, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRun:
    """One run: `kind` is store or replay, `at` the time its lookups asked, `run` its number, 0 before it is kept."""

    kind: str
    at: Instant
    recorded_at: Instant
    passed: bool
    summary: str
    cells: int
    differing: int
    breaches: int
    views: tuple[CheckedView, ...]
    run: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How long runs are kept: `age` microseconds after they were recorded, and `runs` of them at most."""

    age: int = 400 * DAY
    runs: int = 2000
