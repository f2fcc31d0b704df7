"""Many refreshes, one after the other: one that fails takes none of the others with it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from featurekit.clock import Instant, format_instant
from featurekit.compiled import CompiledView
from featurekit.errors import FeaturekitError, InputError, RefreshRunningError, SettingsError
from featurekit.refresh_values import RefreshOutcome

Wanted = tuple[CompiledView, Instant]
Progress = Callable[[str, int, int], None]


class Shown:
    """Shows how far many refreshes are, and how many rows of the one that is being written are there."""

    def __init__(self, progress: Progress, elapsed: Callable[[], float] = time.monotonic) -> None:
        self._progress = progress
        self._elapsed = elapsed
        self._at = ("", 0, 0)
        self._began = elapsed()

    def refreshes(self, name: str, done: int, total: int) -> None:
        """Show that so many refreshes are done, and what the next one is."""
        self._at, self._began = (name, done, total), self._elapsed()
        self._progress(name, done, total)

    def rows(self, rows: int) -> None:
        """Show how many rows are written, and how many a second since their refresh began."""
        if rows:
            name, done, total = self._at
            per_s = rows / max(self._elapsed() - self._began, 0.001)
            self._progress(f"{name}: {rows:,} rows, {per_s:,.0f} rows/s", done, total)


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshFailure:
    """A refresh that is not served, and why; what the view served before is."""

    view: str
    as_of: Instant
    error: FeaturekitError

    def __str__(self) -> str:
        return f"{self.view} as of {format_instant(self.as_of)}: {self.error}"


class MaterializeErrors(FeaturekitError):  # noqa: N818 - several of them, as DefinitionErrors
    """Some refreshes failed. `outcomes` are served all the same; `left` (view, as-of) were not tried after an outage.

    Its exit code is the worst of its failures'.
    """

    def __init__(
        self,
        outcomes: tuple[RefreshOutcome, ...],
        failures: tuple[RefreshFailure, ...],
        left: tuple[tuple[str, Instant], ...] = (),
    ) -> None:
        total = len(outcomes) + len(failures) + len(left)
        super().__init__(
            f"{len(failures)} of {total} refreshes failed" + (f", {len(left)} were not tried" if left else ""),
            why="an outside system failed: those after it would have too" if left else None,
            try_="materialize again: what is served already is not computed twice",
        )
        self.outcomes = outcomes
        self.failures = failures
        self.left = left
        self.exit_code = max(failure.error.exit_code for failure in failures)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.failures), super().__str__()])

    def parts(self) -> dict[str, Any]:
        failures = [
            {"view": each.view, "as_of": format_instant(each.as_of), **each.error.parts()} for each in self.failures
        ]
        left = [{"view": view, "as_of": format_instant(as_of)} for view, as_of in self.left]
        return {**super().parts(), "failures": failures, "not_tried": left}


def refresh_each(
    wanted: Sequence[Wanted],
    refresh: Callable[[CompiledView, Instant], RefreshOutcome],
    *,
    failed: Sequence[RefreshFailure] = (),
    progress: Progress | None = None,
) -> tuple[RefreshOutcome, ...]:
    """Return the outcome of every refresh; MaterializeErrors, when all were tried, where some failed.

    What is wrong with one view is its own affair, and so is another run that computes it; after an outage, or wrong
    settings, the rest is not tried. Where one refresh failed and none is served, its own error is raised. `failed` are
    those that could not even be tried.
    """
    outcomes: list[RefreshOutcome] = []
    failures = list(failed)
    left: Sequence[Wanted] = ()
    for number, (view, as_of) in enumerate(wanted):
        if progress:
            progress(f"materialize {view.name}", number, len(wanted))
        try:
            outcomes.append(refresh(view, as_of))
        except FeaturekitError as error:
            failures.append(RefreshFailure(view=view.name, as_of=as_of, error=error))
            if concerns_all(error):
                left = wanted[number + 1 :]
                break
        except Exception as error:
            done = ", ".join(f"{each.view} as of {format_instant(each.as_of)}" for each in outcomes)
            error.add_note(f"Served before this: {done or 'nothing'}")
            raise
    if progress:
        progress("materialize", len(wanted), len(wanted))
    if len(failures) == 1 and not outcomes:
        raise failures[0].error
    if failures:
        raise MaterializeErrors(tuple(outcomes), tuple(failures), tuple((view.name, as_of) for view, as_of in left))
    return tuple(outcomes)


def concerns_all(error: FeaturekitError) -> bool:
    """Return whether an error in one view's refresh would come in every other's, too."""
    return isinstance(error, SettingsError) or not isinstance(error, InputError | RefreshRunningError)
