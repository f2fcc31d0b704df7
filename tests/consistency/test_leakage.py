"""A training table made elsewhere is told from what serving would have had: what leaks, how much later it was known."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from featurekit.clock import DAY, parse_instant
from featurekit.config import Settings
from featurekit.consistency.leakage.audit import audit_training_table
from featurekit.consistency.leakage.factors import Verdict
from featurekit.consistency.leakage.report import AuditReport, FeatureAudit
from featurekit.consistency.leakage.table import AuditSpec
from featurekit.errors import FeaturekitError, InputError, SourceError, TimeError
from featurekit.offline.labels import LabelSpec
from featurekit.offline.session import SparkEngine, start_engine
from featurekit.offline.training import build_dataset
from tests.consistency.airport import (
    DELAY,
    Label,
    Way,
    end_of_day,
    everything,
    flights_of,
    labels_of,
    served_at,
    write_airport,
    write_table,
)

pytestmark = pytest.mark.spark
NOW = parse_instant("2026-06-01")
FLIGHTS = flights_of(1)
LABELS = labels_of(1)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("airport")


@pytest.fixture(scope="module")
def engine(base: Path) -> SparkEngine:
    return start_engine(Settings(root=base, state=base / "state", spark_master="local[2]", spark_driver_memory="1g"))


@pytest.fixture(scope="module")
def audit(base: Path, engine: SparkEngine) -> Callable[..., AuditReport]:
    """Return the function that audits rows of features, one for each label, as a table."""
    repository = write_airport(base, FLIGHTS)
    (base / "tables").mkdir()

    def audited(
        rows: Any, *, labels: Any = LABELS, service: str = "late", kinds: Any = None, now: int = NOW, **spec: Any
    ) -> AuditReport:
        path = write_table(base / "tables" / "table.parquet", labels, rows, **(kinds or {}))
        return audit_training_table(engine, repository.services[service], AuditSpec(path=str(path), **spec), now=now)

    return audited


def rows_of(way: Way) -> list[dict[str, Any]]:
    return [way.row(FLIGHTS, label) for label in LABELS]


SERVED = rows_of(Way())


def feature(report: AuditReport, name: str) -> FeatureAudit:
    return next(each for each in report.features if each.name == name)


def test_a_table_of_what_serving_had_has_no_finding(audit: Callable[..., AuditReport]) -> None:
    report = audit(SERVED)
    assert [each.verdict for each in report.features] == [Verdict.AS_SERVED] * 4, report.to_json()
    assert [each.differing for each in report.features] == [0] * 4
    assert (report.rows, report.audited, report.exit_code) == (len(LABELS), len(LABELS), 0)


MEAN, COUNT, LAST = "delays.mean_1d", "delays.n_3d", "delays.last"

NO_DELAY = "the refresh of the row's own time, before its availability delay"
LEAKS: list[tuple[str, Way, str, str]] = [
    (
        "the mean of the whole day, also of the flights that are still to come",
        Way(as_of=end_of_day),
        MEAN,
        "the whole day that the row lies in",
    ),
    ("one refresh too early", Way(as_of=lambda at: served_at(at) + DAY), MEAN, "1 refresh later"),
    ("a refresh without its delay", Way(as_of=lambda at: at - at % DAY), MEAN, NO_DELAY),
    (
        "created ignored: late and corrected values (case 15)",
        Way(known=everything),
        MEAN,
        "the same refresh, with rows and corrections that landed after it",
    ),
    ("everything before the row", Way(as_of=lambda at: at), MEAN, "everything up to the row's own time, known by then"),
    (
        "the all-seeing join",
        Way(as_of=lambda at: at, known=everything),
        COUNT,
        "everything up to the row's own time, whenever it landed",
    ),
    (
        "an all-seeing join that keeps no TTL",
        Way(as_of=lambda at: at + 1, known=everything, ttl=None),
        LAST,
        "the row's own time and at it, whenever it landed, and no TTL",
    ),
    (
        "the last values of the table for all rows",
        Way(as_of=lambda _: max(one.at for one in LABELS) // DAY * DAY + DAY, known=everything),
        COUNT,
        "the end of the table, for all rows, with the last corrections",
    ),
]


_LONG = {
    "a refresh without its delay",
    "everything before the row",
    "the all-seeing join",
    "the last values of the table for all rows",
}


@pytest.mark.parametrize(
    ("way", "name", "cause"),
    [pytest.param(*case[1:], id=case[0], marks=[pytest.mark.long] if case[0] in _LONG else []) for case in LEAKS],
)
def test_what_was_known_later_is_found_and_named(
    audit: Callable[..., AuditReport], way: Way, name: str, cause: str
) -> None:
    report = audit(rows_of(way))
    found = feature(report, name)
    assert (found.verdict, report.exit_code) == (Verdict.LEAKS, 1), report.to_json()
    assert cause in (found.cause, *found.also), (found.cause, found.also)
    assert found.later is not None
    assert found.later.most > 0
    assert found.explained == 1.0


def test_a_mean_over_the_whole_day_is_told_with_how_much_later_serving_could_have_had_it(
    audit: Callable[..., AuditReport],
) -> None:
    """The third story: the table's mean of the day knows flights that leave after the row was asked."""
    found = feature(audit(rows_of(Way(as_of=end_of_day))), MEAN)
    assert found.cause == "the whole day that the row lies in"
    assert found.later is not None
    # Never before the day has ended and its refresh is served, two hours later: up to 26 hours after the row.
    assert DELAY <= found.later.least <= found.later.median <= found.later.most <= DAY + DELAY
    for each in found.evidence:
        assert each.later is not None
        assert each.as_of == end_of_day(each.at)
        assert each.at + each.later == end_of_day(each.at) + DELAY
        assert each.hidden >= len(each.rows) > 0
        for event, landed in each.rows:
            assert event < end_of_day(each.at)
            assert event >= served_at(each.at) or landed > served_at(each.at)


def test_values_computed_from_everything_there_was_when_the_table_was_made_leak(
    audit: Callable[..., AuditReport],
) -> None:
    """The table ends on 13 March; its columns are those of 15 March, the same for all rows of a carrier."""
    built = parse_instant("2026-03-15T20:00Z")
    latest = parse_instant("2026-03-15")
    found = feature(audit(rows_of(Way(as_of=lambda _: latest, known=everything)), now=built), COUNT)
    assert found.verdict is Verdict.LEAKS, found
    assert found.cause == "the latest refresh that can be computed now, for all rows, with the last corrections"
    assert found.later is not None
    assert found.later.least > 0
    assert found.later.most > latest - 2 * DAY - min(one.at for one in LABELS)
    assert {each.as_of for each in found.evidence} == {latest}


def test_corrections_are_told_with_when_they_landed(audit: Callable[..., AuditReport]) -> None:
    """Case 15: a value that was corrected eight hours later, in a row that was asked before."""
    found = feature(audit(rows_of(Way(known=everything))), MEAN)
    assert found.cause == "the same refresh, with rows and corrections that landed after it"
    shown = [landed for each in found.evidence for _, landed in each.rows]
    assert shown
    assert all(landed > served_at(each.at) for each in found.evidence for _, landed in each.rows)


def test_a_closed_bound_is_found_where_rows_are_asked_at_the_moment_of_an_event(
    audit: Callable[..., AuditReport],
) -> None:
    labels = [Label(carrier=one.carrier, at=one.at) for one in FLIGHTS if one.at - FLIGHTS[0].at % 1 - 0 > 4 * DAY]
    labels = [one for one in labels if parse_instant("2026-03-05") < one.at < parse_instant("2026-03-13")][:200]
    closed = Way(as_of=lambda at: at + 1, known=everything)
    rows = [closed.row(FLIGHTS, label) for label in labels]
    found = feature(audit(rows, labels=labels), COUNT)
    assert found.verdict is Verdict.LEAKS
    assert found.cause == "everything up to the row's own time and at it, whenever it landed"


def test_values_of_earlier_refreshes_are_stale(audit: Callable[..., AuditReport]) -> None:
    report = audit(rows_of(Way(as_of=lambda at: served_at(at) - 2 * DAY)))
    for name in (MEAN, COUNT):
        assert (feature(report, name).verdict, feature(report, name).cause) == (Verdict.STALE, "2 refreshes earlier")
        assert feature(report, name).later is None


def test_values_that_had_expired_are_stale(audit: Callable[..., AuditReport]) -> None:
    report = audit(rows_of(Way(ttl=None)))
    assert feature(report, LAST).verdict is Verdict.STALE
    assert feature(report, LAST).cause == "values that had expired: no TTL"
    assert feature(report, MEAN).verdict is Verdict.AS_SERVED


def filled(name: str, value: Any, where: Any = None) -> list[dict[str, Any]]:
    return [{**row, name: value if row[name] == where else row[name]} for row in SERVED]


def test_what_stands_in_place_of_no_value_is_named(audit: Callable[..., AuditReport]) -> None:
    own = [row[MEAN] for row in SERVED if row[MEAN] is not None]
    cases = [
        (MEAN, filled(MEAN, 0.0), "0 in place of no value"),
        (MEAN, filled(MEAN, sum(own) / len(own)), "the mean of the table's other values in place of no value"),
        (MEAN, filled(MEAN, float("nan")), "NaN in place of no value"),
        ("delays.last_or", filled("delays.last_or", None, -1.0), "no value in place of the default"),
        ("delays.last_or", filled("delays.last_or", 0.0, -1.0), "0 in place of no value"),
    ]
    for name, rows, cause in cases:
        report = audit(rows)
        assert (feature(report, name).verdict, feature(report, name).cause) == (Verdict.FILLED, cause), cause
        assert report.exit_code == 1
        others = [each.verdict for each in report.features if each.name != name]
        assert others == [Verdict.AS_SERVED] * 3


def test_float32_is_named_and_noise_is_not(audit: Callable[..., AuditReport]) -> None:
    rounded = [{**row, MEAN: None if row[MEAN] is None else float(np.float32(row[MEAN]))} for row in SERVED]
    found = feature(audit(rounded), MEAN)
    assert (found.verdict, found.cause) == (Verdict.OTHER, "rounded to float32")
    noise = [{**row, MEAN: None if row[MEAN] is None else row[MEAN] + n} for n, row in enumerate(SERVED, 1)]
    found = feature(audit(noise), MEAN)
    assert (found.verdict, found.cause, found.later) == (Verdict.OTHER, None, None)
    assert len(found.evidence) == 5


def test_a_tolerance_counts_only_where_it_is_asked_for(audit: Callable[..., AuditReport]) -> None:
    near = [{**row, MEAN: None if row[MEAN] is None else math.nextafter(row[MEAN], math.inf)} for row in SERVED]
    assert feature(audit(near), MEAN).verdict is Verdict.OTHER
    found = feature(audit(near, ulps={MEAN: 1}), MEAN)
    assert (found.verdict, found.differing) == (Verdict.AS_SERVED, 0)
    assert found.within_tolerance == sum(row[MEAN] is not None for row in SERVED)


def test_a_feature_that_is_nearly_constant_accuses_nobody(audit: Callable[..., AuditReport]) -> None:
    """Each count is wrong, and 5 in nearly every row: that it is 5 in other refreshes too is no proof."""
    rows = [{**row, COUNT: row[COUNT] if n % 40 else row[COUNT] + 1000} for n, row in enumerate(SERVED)]
    assert feature(audit(rows), COUNT).verdict is Verdict.OTHER


def test_integers_that_pandas_made_floats_are_compared_as_integers(audit: Callable[..., AuditReport]) -> None:
    rows = [{**row, COUNT: float(row[COUNT])} for row in SERVED]
    assert feature(audit(rows, kinds={COUNT: pa.float64()}), COUNT).verdict is Verdict.AS_SERVED
    rows = [{**row, COUNT: row[COUNT] + 0.5} for row in SERVED]
    found = feature(audit(rows, kinds={COUNT: pa.float64()}), COUNT)
    assert (found.foreign, found.differing) == (len(LABELS), len(LABELS))


def test_an_on_demand_feature_leaks_as_what_it_is_computed_from_does(audit: Callable[..., AuditReport]) -> None:
    rows = rows_of(Way(as_of=end_of_day))
    rows = [{**row, "trip.share": None if row[MEAN] is None else row[MEAN] / 2.0} for row in rows]
    found = feature(audit(rows, service="trips"), "trip.share")
    assert (found.verdict, found.cause) == (Verdict.LEAKS, "the whole day that the row lies in")
    assert found.later is not None
    served = [{**row, "trip.share": None if row[MEAN] is None else row[MEAN] / 2.0} for row in SERVED]
    assert audit(served, service="trips").passed


def test_some_features_alone_and_columns_of_other_names(audit: Callable[..., AuditReport]) -> None:
    rows = [{"mean": row[MEAN]} for row in SERVED]
    report = audit(rows, only=(MEAN,), columns={MEAN: "mean"})
    assert [(each.name, each.column, each.verdict) for each in report.features] == [(MEAN, "mean", Verdict.AS_SERVED)]


def test_of_a_large_table_some_rows_are_looked_at(audit: Callable[..., AuditReport]) -> None:
    report = audit(SERVED, max_rows=100)
    assert report.rows == len(LABELS)
    assert 60 < report.audited < 150
    assert report.passed


REFUSED: list[tuple[str, dict[str, Any], type[FeaturekitError], str]] = [
    ("a column is missing", {"rows": [{COUNT: 1}] * len(LABELS)}, SourceError, "no column delays.mean_1d"),
    ("no rows", {"rows": [], "labels": []}, InputError, "no rows"),
    ("an unknown output", {"rows": SERVED, "only": ("delays.mean_2d",)}, InputError, "no output delays.mean_2d"),
    ("no time", {"rows": SERVED, "timestamp": "asked"}, SourceError, "no column asked"),
]


def test_who_calls_a_feature_otherwise_is_told_how_to_say_so(audit: Callable[..., AuditReport]) -> None:
    with pytest.raises(SourceError) as refused:
        audit([{"average": None, COUNT: 1}] * len(LABELS), only=(MEAN,))
    said = str(refused.value.try_)
    assert "--map COLUMN=delays.mean_1d" in said
    assert "--only" in said
    assert "did you mean delays.n_3d?" in said


@pytest.mark.parametrize(("given", "kind", "words"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_what_can_not_be_compared_is_refused(
    audit: Callable[..., AuditReport], given: dict[str, Any], kind: type[FeaturekitError], words: str
) -> None:
    with pytest.raises(kind, match=words) as refused:
        audit(**given)
    assert refused.value.exit_code == 2


def test_rows_that_serving_could_not_have_answered_yet_are_refused(base: Path, engine: SparkEngine) -> None:
    repository = write_airport(base, FLIGHTS)
    path = write_table(base / "future.parquet", LABELS, SERVED)
    with pytest.raises(TimeError, match="can't be answered yet"):
        audit_training_table(
            engine, repository.services["late"], AuditSpec(path=str(path)), now=max(one.at for one in LABELS) - 1
        )


@pytest.mark.parametrize("seed", range(5))
def test_a_built_training_set_has_no_finding(base: Path, engine: SparkEngine, seed: int, tmp_path: Path) -> None:
    flights, labels = flights_of(seed + 10), labels_of(seed + 10)
    repository = write_airport(tmp_path, flights)
    own = start_engine(Settings(root=tmp_path, state=base / "state", spark_master="local[2]", spark_driver_memory="1g"))
    path = write_table(tmp_path / "labels.parquet", labels, [{"label": n} for n in range(len(labels))])
    built = build_dataset(own, repository.services["trips"], LabelSpec(path=str(path)), tmp_path / "set", now=NOW)
    report = audit_training_table(own, repository.services["trips"], AuditSpec(path=str(built.path)), now=NOW)
    assert report.passed, report.to_json()
    assert sum(each.equal for each in report.features) == 5 * len(labels)
