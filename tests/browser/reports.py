"""A report as checks of the flights give it, with all that a page can show: causes, folds, trends, definitions."""

from __future__ import annotations

from featurekit.clock import DAY, HOUR, parse_instant
from featurekit.consistency.compare import Verdict
from featurekit.consistency.described import DescribedField, DescribedSlot, DescribedView
from featurekit.consistency.diagnosis.causes import Cause
from featurekit.consistency.diagnosis.findings import Evidence, Finding
from featurekit.consistency.differences import Differences
from featurekit.consistency.replay.freshness import Freshness
from featurekit.consistency.replay.report import (
    Day,
    FieldReplay,
    OnDemandReplay,
    Question,
    ReplayReport,
    ServiceReplay,
    ViewReplay,
)
from featurekit.consistency.report import ConsistencyReport
from featurekit.consistency.view_report import Breach, ExpectedReport, FieldReport, StratumReport, ViewReport
from featurekit.registry.check_trend import FieldDay, Trend, ViewDay

AT = parse_instant("2013-11-15T14:30Z")
AS_OF = parse_instant("2013-11-15T00:00Z")
NAMES = ("flights_7d", "mean_delay_7d", "late_share_7d", "worst_delay_7d", "last_delay")
WRONG = {"mean_delay_7d": 260, "late_share_7d": 12}
BINS = (1, 0, 2, 5, 9, 14, 22, 31, 40, 33, 28, 21, 17, 12, 9, 6, 4, 3, 1, 0, 1, 0, 0, 1)


def wrong_report() -> ConsistencyReport:
    """Return a report with a mean that is filled with 0, a share rounded to float32, and missing rows elsewhere."""
    return ConsistencyReport(
        project="flights",
        environment="prod",
        at=AT,
        seed="2013",
        run=42,
        notes=(),
        views=(_punctuality(), _load(), _agrees()),
        trends={"carrier_punctuality": _trend()},
        descriptions={"carrier_punctuality": _described()},
    )


def right_report() -> ConsistencyReport:
    """Return a report in which everything agrees."""
    return ConsistencyReport(project="flights", environment="prod", at=AT, seed="2013", run=43, views=(_agrees(),))


def _counts(**found: int) -> dict[Verdict, int]:
    return {verdict: found.get(verdict.name.lower(), 0) for verdict in Verdict}


def _field(name: str) -> FieldReport:
    differing = WRONG.get(name, 0)
    apart = Differences(
        unit="",
        least=-31.5,
        median=-7.25,
        most=12.0,
        edges=tuple(-31.5 + at * 43.5 / len(BINS) for at in range(len(BINS) + 1)),
        counts=BINS,
        others=0,
    )
    kind = "bigint" if name.startswith("flights") else "double"
    counts = _counts(match=1000 - differing, null_to_value=differing)
    return FieldReport(name=name, type=kind, counts=counts, differences=apart if differing else None)


def _finding(cause: Cause, field: str | None, count: int, *, remedy: str, also: tuple[Cause, ...] = ()) -> Finding:
    evidence = tuple(
        Evidence(
            entity=f"carrier = '{carrier}'",
            field=field,
            served="0.0",
            recomputed="NULL",
            explanation="Training has no value here; the row holds 0 as if it had been measured.",
            source_rows=(
                "2013-11-14T21:05Z, known 2013-11-14T21:10Z: dep_delay = NULL, cancelled = true",
                "2013-11-13T08:40Z, known 2013-11-13T08:45Z: dep_delay = NULL, cancelled = true",
            ),
        )
        for carrier in ("AA", "B6", "<b>UA</b>")
    )
    return Finding(
        cause=cause,
        field=field,
        count=count,
        evidence=evidence,
        share=1.0 if count > 20 else 0.75,
        confidence=0.998,
        also=also,
        remedy=remedy,
        since=AS_OF - 3 * DAY,
    )


def _punctuality() -> ViewReport:
    return ViewReport(
        view="carrier_punctuality",
        fingerprint="9f3c" * 16,
        as_of=AS_OF,
        promised_as_of=AS_OF,
        online=1000,
        offline=1002,
        sampled=1000,
        found=998,
        fields=tuple(map(_field, NAMES)),
        findings=(
            _finding(
                Cause.NULL_FILLED_WITH_ZERO,
                "mean_delay_7d",
                260,
                remedy="Leave the value NULL where the online path fills it, or declare `default: 0` for both.",
            ),
            _finding(
                Cause.FLOAT32_ROUNDED,
                "late_share_7d",
                9,
                also=(Cause.PREVIOUS_REFRESH,),
                remedy="Keep doubles as doubles on the way to the store.",
            ),
        ),
        strata=(
            StratumReport(name="recently active", population=640, sampled=640, differing=258),
            StratumReport(name="window edge", population=31, sampled=31, differing=4),
            StratumReport(name="never seen", population=None, sampled=20, differing=0),
        ),
        breaches=(
            Breach(
                threshold="mismatch_share",
                field="mean_delay_7d",
                asked_by="flight_delay",
                measured=0.26,
                allowed=0.0,
                told="26 % of mean_delay_7d differ; flight_delay allows none",
            ),
        ),
        expectations=(
            ExpectedReport(field="mean_delay_7d", expected="between: [-60, 600]", passed=True, broken=0, rows=998),
            ExpectedReport(
                field="late_share_7d", expected="between: [0, 1]", passed=False, broken=2, rows=998, examples=("1.5",)
            ),
        ),
    )


def _load() -> ViewReport:
    return ViewReport(
        view="route_load",
        fingerprint="77aa" * 16,
        as_of=AS_OF - DAY,
        promised_as_of=AS_OF + 12 * HOUR,
        online=210,
        offline=214,
        sampled=214,
        found=210,
        fields=(FieldReport(name="flights_1d", type="bigint", counts=_counts(match=210, missing=4)),),
        findings=(
            _finding(
                Cause.MISSING_ROW, None, 4, remedy="Materialize route_load again; then look why a run ended early."
            ),
        ),
    )


def _agrees() -> ViewReport:
    return ViewReport(
        view="airport_place",
        fingerprint="ab12" * 16,
        as_of=AS_OF,
        promised_as_of=AS_OF,
        online=1458,
        offline=1458,
        sampled=1000,
        found=1000,
        fields=tuple(
            FieldReport(name=name, type="double", counts=_counts(match=1000)) for name in ("latitude", "longitude")
        ),
        findings=(),
    )


def _trend() -> Trend:
    first = AT - AT % DAY - 20 * DAY
    wrong = {17: 40, 18: 210, 19: 255, 20: 260}
    days = [at for at in range(21) if at != 9]  # one day without a run

    def of(name: str) -> tuple[FieldDay, ...]:
        part = WRONG.get(name, 0) / 260
        counts = {at: round(wrong.get(at, 0) * part) for at in days}
        return tuple(
            FieldDay(start=first + at * DAY, cells=1000, differing=counts[at], share=counts[at] / 1000, run=22 + at)
            for at in days
        )

    return Trend(
        days=tuple(ViewDay(start=first + at * DAY, coverage=0.998, behind=0, run=22 + at) for at in days),
        fields={name: of(name) for name in NAMES},
    )


def _described() -> DescribedView:
    def field(name: str) -> DescribedField:
        return DescribedField(
            name=name,
            sql="avg(dep_delay)",
            spark_sql="a1",
            owner="ops-ml",
            description="",
            ttl="",
            default="",
            expect="between: [-60, 600]" if name == "mean_delay_7d" else "",
            slots=(
                DescribedSlot(
                    name="a1", aggregate="avg(`dep_delay`)", rows="the last 7d", columns=("dep_delay", "cancelled")
                ),
            ),
            services=("flight_delay",),
        )

    return DescribedView(
        view="carrier_punctuality",
        entity="carrier",
        keys=("carrier from op_carrier",),
        source="departures",
        origin="data/departures.parquet",
        event_timestamp="departed_at",
        created_timestamp="recorded_at",
        where="dep_delay <= 720",
        refresh="every 1d, served 2h later",
        owner="ops-ml",
        description="How punctual a carrier's departures have been.",
        fields=tuple(map(field, NAMES)),
    )


def replay_report() -> ReplayReport:
    """Return a replay in which a view was late, a mean is wrong, and a logarithm was forgotten on demand."""
    service = ServiceReplay(
        service="flight_delay",
        logged=12_480,
        sampled=5_000,
        forgotten=3,
        other_versions=0,
        other_places=120,
        start=AS_OF - 3 * DAY,
        end=AT,
        views=(
            ViewReplay(
                alias="carrier_punctuality",
                view="carrier_punctuality",
                fingerprint="9f3c" * 16,
                rows=5_000,
                freshness=Freshness(on_time=4_700, late={1: 280, 2: 20}, late_share=0.06, oldest=61 * HOUR),
                fields=(
                    _replayed("carrier_punctuality.mean_delay_7d", Question.LOGIC, wrong=310),
                    _replayed("carrier_punctuality.flights_7d", Question.LOGIC),
                ),
                findings=(_finding(Cause.NULL_FILLED_WITH_ZERO, "mean_delay_7d", 310, remedy="Leave the value NULL."),),
            ),
        ),
        on_demand=(
            OnDemandReplay(
                fingerprint="5e1f" * 16,
                fields=(_replayed("trip.flights_log", Question.EVALUATOR, wrong=2_000),),
                findings=(),
            ),
        ),
        answered_by=(),
        most_late=0.01,
    )
    return ReplayReport(
        project="flights",
        environment="prod",
        log="served",
        seed="",
        share=1.0,
        at=AT,
        services=(service,),
        run=44,
    )


def _replayed(name: str, question: Question, *, wrong: int = 0) -> FieldReplay:
    days = tuple(
        Day(start=AS_OF - at * DAY, compared=1_250, differing=part, share=part / 1_250)
        for at, part in ((3, 0), (2, 0), (1, wrong // 2), (0, wrong - wrong // 2))
    )
    counts = _counts(match=5_000 - wrong, mismatch=wrong)
    return FieldReplay(
        name=name,
        type="double",
        question=question,
        counts=counts,
        unavailable=0,
        degraded=0,
        share=wrong / 5_000,
        days=days,
    )
