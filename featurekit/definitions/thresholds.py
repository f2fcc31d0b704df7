"""Thresholds: how far what is served may be from what training says before the check fails."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field as Attribute

from featurekit.definitions.base import Definition, PositiveMicros, problem_here
from featurekit.definitions.expectation import Bound
from featurekit.definitions.problem import Problem


class Thresholds(Definition):
    """What the check lets pass: shares of the population of entities, and the age of the as-of that is served.

    What is not declared is a view's default: no mismatch, 99 % coverage, no later than promised, any share of nulls.
    `null_share` is by feature: `feature` of a view, `view.feature` of a service.
    """

    mismatch_share: Bound | None = None
    coverage: Bound | None = None
    freshness: PositiveMicros | None = None
    null_share: dict[str, Bound] = Attribute(default_factory=dict)

    def problems(self) -> Iterator[Problem]:
        if not self.model_dump(exclude_defaults=True):
            why = "thresholds that ask for nothing would look like a check and be none"
            try_ = "mismatch_share, coverage, freshness or null_share; or remove it"
            yield problem_here("it asks for nothing", why=why, try_=try_)
        shares = {("mismatch_share",): self.mismatch_share, ("coverage",): self.coverage}
        for path, share in [*shares.items(), *((("null_share", name), each) for name, each in self.null_share.items())]:
            if share is not None and not 0 <= share <= 1:
                what = f"{path[-1]} is {share}"
                yield problem_here(what, why="a share is between 0 and 1", try_="0.05 for five in a hundred", path=path)
