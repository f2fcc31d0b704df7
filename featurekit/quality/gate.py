"""The quality gate of a refresh: expectations counted in the same pass as the write, judged before it is published.

rows ──▶ GatedSink ──▶ the online writer          on executors, batch by batch
             └──▶ counters ──▶ verdict() ──▶ publish the head, or GateError and nothing is served
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, assert_never

import pyarrow as pa

from featurekit.compiled import CompiledView
from featurekit.counters import counter_batch
from featurekit.errors import GateError
from featurekit.quality.checks import FeatureCheck, Kind, feature_checks

Sink = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""Takes offline rows, gives batches of counters (name, value); runs on executors, so it has to pickle."""

# The writer's counters: rows written, and rows that belong to no entity and were not.
ROWS: Final = "rows"
NULL_KEYS: Final = "null_keys"
CHECKED: Final = "checked"


@dataclass(frozen=True, slots=True, kw_only=True)
class GatedSink:
    """A sink that hands every batch on to `inner` unchanged, and counts what breaks an expectation on the way."""

    inner: Sink
    checks: tuple[FeatureCheck, ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        counts: Counter[str] = Counter()
        yield from self.inner(self._counted(batches, counts))
        yield counter_batch(counts)

    def _counted(self, batches: Iterator[pa.RecordBatch], counts: Counter[str]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            counts[CHECKED] += batch.num_rows
            for check in self.checks:
                nulls, violations = check.nulls_and_violations(batch)
                counts[nulls_counter(check.feature)] += nulls
                for kind, count in violations.items():
                    counts[violations_counter(check.feature, kind)] += count
            yield batch


def gated(view: CompiledView, inner: Sink) -> GatedSink:
    """Return `inner` behind the gate of the view's expectations."""
    return GatedSink(inner=inner, checks=feature_checks(view))


def nulls_counter(feature: str) -> str:
    return f"nulls.{feature}"


def violations_counter(feature: str, kind: Kind) -> str:
    return f"violations.{feature}.{kind}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """An expectation that `count` of `rows` rows break; `broken` says how, such as "not between 0 and 1".

    Of rows that are too few there is no feature and no kind; `count` is how many are missing.
    """

    feature: str | None
    kind: Kind | None
    count: int
    rows: int
    broken: str

    def __str__(self) -> str:
        if self.feature is None:
            return f"{self.rows:,} rows are {self.broken}"
        share = f"{100 * self.count / self.rows:.3g} %"
        return f"{self.feature}: {self.count:,} of {self.rows:,} rows ({share}) are {self.broken}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateVerdict:
    """What the gate says of one refresh; it passes when nothing is violated. No rows violate nothing but `min_rows`."""

    view: str
    rows: int
    violations: tuple[Violation, ...]

    @property
    def passed(self) -> bool:
        return not self.violations

    def require(self) -> None:
        """Raise GateError unless the refresh passed: call it before the head is published."""
        if self.passed:
            return
        features = list(dict.fromkeys(violation.feature or "its rows" for violation in self.violations))
        raise GateError(
            f"{self.view}: the refresh breaks what is expected of {', '.join(features)}; it was not published",
            where="\n         ".join(str(violation) for violation in self.violations),
            why="the values that were served before still are: no value is better than a wrong one",
            try_="look at the source rows behind these features, or change `expect:` if the world has changed",
        )


def verdict(view: CompiledView, counters: Mapping[str, int]) -> GateVerdict:
    """Return whether the refresh that gave these counters (summed over all partitions) may be published.

    GateError where the counters do not cover every written row: a check that did not look must not pass.
    """
    rows = counters.get(ROWS, 0) + counters.get(NULL_KEYS, 0)
    checked = counters.get(CHECKED, 0)
    if checked != rows:
        raise GateError(
            f"{view.name}: the writer had {rows:,} rows and {checked:,} were checked; it was not published",
            why="each row has to pass the gate as it is written",
            try_="wrap the sink with `quality.gate.gated`; if it is, this is a defect of featurekit",
        )
    found = list(_too_few(view, counters.get(ROWS, 0)))
    for check in feature_checks(view):
        for kind in check.kinds:
            count = _violating(check, kind, counters, rows)
            if count:
                words = _in_words(view, check, kind)
                found.append(Violation(feature=check.feature, kind=kind, count=count, rows=rows, broken=words))
    return GateVerdict(view=view.name, rows=rows, violations=tuple(found))


def _too_few(view: CompiledView, written: int) -> Iterator[Violation]:
    least = 0 if view.view.expect is None else view.view.expect.min_rows
    if written < least:
        words = f"too few: at least {least:,} are expected"
        yield Violation(feature=None, kind=None, count=least - written, rows=written, broken=words)


def _violating(check: FeatureCheck, kind: Kind, counters: Mapping[str, int], rows: int) -> int:
    if not rows:
        return 0
    match kind:
        case Kind.NOT_NULL:
            return counters[violations_counter(check.feature, kind)]
        case Kind.BETWEEN | Kind.IN_SET | Kind.MATCHES | Kind.LENGTH:
            count = counters[violations_counter(check.feature, kind)]
            there = rows - counters[nulls_counter(check.feature)]
            # As exact fractions of the digits written, here too.
            may = 0 if check.mostly is None else 1 - Fraction(repr(check.mostly))
            return count if count and Fraction(count, there) > may else 0
        case Kind.MAX_NULL_SHARE:
            nulls = counters[nulls_counter(check.feature)]
            # As exact fractions of the digits written: 0.7 * 10 is less than 7 in floats.
            return nulls if Fraction(nulls, rows) > Fraction(repr(check.max_null_share)) else 0
        case _:
            assert_never(kind)


def _in_words(view: CompiledView, check: FeatureCheck, kind: Kind) -> str:
    feature = view.feature(check.feature)
    assert feature is not None
    assert feature.expectation is not None
    expectation = feature.expectation
    match kind:
        case Kind.BETWEEN:
            assert expectation.between is not None
            return "not between {} and {}".format(*expectation.between) + _mostly(check)
        case Kind.NOT_NULL:
            return "null"
        case Kind.IN_SET:
            assert expectation.in_set is not None
            return f"not one of {', '.join(map(repr, expectation.in_set))}" + _mostly(check)
        case Kind.MATCHES:
            return f"no match of {expectation.matches}" + _mostly(check)
        case Kind.LENGTH:
            assert expectation.length is not None
            return "not from {} to {} characters long".format(*expectation.length) + _mostly(check)
        case Kind.MAX_NULL_SHARE:
            assert expectation.max_null_share is not None
            return f"null; at most {100 * expectation.max_null_share:.6g} % may be"
        case _:
            assert_never(kind)


def _mostly(check: FeatureCheck) -> str:
    return "" if check.mostly is None else f"; at least {100 * check.mostly:.6g} % have to be right"
