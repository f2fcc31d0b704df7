"""Faults of known cost planted in what was served: is what the model lost told of the right ones, and how much?

`python -m benchmarks.attribution` trains the flights' delay model on the first half of some days of November 2013 and
writes the other half as a served-feature log. A fault's known cost is the AUC that the model loses where it is the only
one. Each hits a quarter of the requests, others for each. Planted are each alone, all pairs and all at once; and three
of them in the log itself, which then goes the whole way of `check attribute`: log, labels, recomputation by Spark, the
model as ONNX.

Exits with 1 where one that is alone, or in a pair, is told more than 0.01 off, or a log without faults shows a loss.
Beside seven others a fault costs more or less than alone: that is shown, and is no error of who tells it. So it is
where a fault ruins every score: what else is wrong then costs nothing more.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.report import finish
from featurekit.clock import DAY, parse_instant
from featurekit.config import Settings, read_settings
from featurekit.consistency.attribution.attribution import Matrix, Rows, Score, attribute
from featurekit.consistency.attribution.metrics import Floats, Metric, terms
from featurekit.examples.flights import label_rows, write_sources
from featurekit.examples.model import feature_matrix, fit_pipeline, to_onnx
from featurekit.feature_store import FeatureStore
from featurekit.from_log_values import FromLogSpec
from featurekit.lookup_plan import lookup_plan
from featurekit.model_loss import LossModel, LossSpec, labelled_rows, model_of_file
from featurekit.offline.labels import LabelSpec
from featurekit.online.served_log_rows import KeySample, log_schema_metadata
from featurekit.plan import LookupPlan
from featurekit.served_columns import (
    AS_OF,
    FINGERPRINT,
    MODEL,
    MODEL_VERSION,
    REASON,
    REQUEST_ID,
    SERVICE,
    STATUS,
    TIMESTAMP,
    input_column,
)

SERVED: Final = "flight_delay"
BEGIN: Final = parse_instant("2013-11-01T04:00Z")
TOLERANCE: Final = 0.01
LABEL: Final = "late"
SHARE: Final = 0.25  # of the requests that a fault hits
_A_DAY: Final = 900  # flights, about
_IN_LOG: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is served in place of some fields: made of each right column, in the order of the requests."""

    name: str
    fields: tuple[str, ...]
    plant: Callable[[Floats], Floats]

    def served(self, right: Floats) -> Floats:
        """Return a column as it was served: wrong where the fault hits, in the same requests for all its fields."""
        hit = np.random.default_rng(list(self.name.encode())).random(len(right)) < SHARE
        return np.where(hit, self.plant(right), right)


FAULTS: Final = (
    Fault(name="hour of another zone", fields=("trip.hour_local",), plant=lambda right: (right + 5) % 24),
    Fault(
        name="a day old",
        fields=("origin_load.mean_delay_1d", "origin_load.late_share_7d", "origin_load.worst_delay_1d"),
        plant=lambda right: np.roll(right, _A_DAY),
    ),
    Fault(name="hours for minutes", fields=("carrier_punctuality.mean_delay_7d",), plant=lambda right: right / 60),
    Fault(name="per cent", fields=("carrier_punctuality.late_share_7d",), plant=lambda right: right * 100),
    Fault(name="0 for null", fields=("plane_history.last_arr_delay",), plant=np.nan_to_num),
    Fault(name="never there", fields=("dest_load.late_share_7d",), plant=lambda right: right * np.nan),
    Fault(
        name="another airport's weather",
        fields=("airport_weather.wind", "airport_weather.visibility", "airport_weather.lowest_pressure_24h"),
        plant=lambda right: np.roll(right, _A_DAY // 3),
    ),
    Fault(name="log left out", fields=("trip.flights_log",), plant=np.expm1),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One fault in one world: what it costs alone, and what it was told to cost there."""

    world: tuple[str, ...]
    fault: str
    known: float
    told: float
    low: float
    high: float

    @property
    def error(self) -> float:
        return abs(self.told - self.known)


def planted(rows: Rows, faults: Sequence[Fault]) -> Rows:
    """Return the rows as they would have been served with the faults."""
    served = rows.recomputed.copy()
    for fault in faults:
        for field in fault.fields:
            place = rows.columns.index(field)
            served[:, place] = fault.served(rows.recomputed[:, place].astype(np.float64))
    return replace(rows, served=served)


def told(rows: Rows, faults: Sequence[Fault], score: Score, known: dict[str, float], resamples: int) -> list[Told]:
    """Return what each fault is told to cost where these are planted."""
    causes = {field: fault.name for fault in faults for field in fault.fields}
    found = attribute(planted(rows, faults), score, Metric.AUC, causes=causes, resamples=resamples)
    parts = {part.name: part for part in found.parts}
    world = tuple(fault.name for fault in faults)
    return [
        Told(
            world=world,
            fault=name,
            known=known[name],
            told=parts[name].cost.value,
            low=parts[name].cost.low,
            high=parts[name].cost.high,
        )
        for name in world
    ]


def auc(rows: Rows, values: Matrix, score: Score) -> float:
    return terms(Metric.AUC, score(values), rows.truth).of_all


def write_log(place: Path, plan: LookupPlan, rows: pa.Table, faults: Sequence[Fault] = ()) -> None:
    """Write training rows as the log would have them, had they been answers: with the faults planted in them."""
    count = rows.num_rows
    outputs = [output.name for output in plan.outputs]
    values = {name: rows.column(name).combine_chunks() for name in outputs}
    for fault in faults:
        for field in fault.fields:
            right = np.asarray(values[field].cast(pa.float64()).to_numpy(zero_copy_only=False))
            wrong = fault.served(right)
            values[field] = pa.array(wrong, mask=np.isnan(wrong)).cast(values[field].type)
    inputs = [key.request for key in plan.keys] + list(plan.request.names)
    codes = pa.StructArray.from_arrays([pa.array(np.zeros(count, np.int8))] * len(outputs), outputs)
    times = rows.column("event_timestamp").combine_chunks()
    columns = {
        REQUEST_ID: rows.column("flight_id").cast(pa.string()).combine_chunks(),
        TIMESTAMP: times,
        SERVICE: pa.repeat(plan.service, count),
        FINGERPRINT: pa.repeat(plan.fingerprint, count),
        MODEL: pa.nulls(count, pa.string()),
        MODEL_VERSION: pa.nulls(count, pa.int64()),
        **{input_column(name): rows.column(name).combine_chunks() for name in inputs},
        **values,
        STATUS: codes,
        REASON: codes,
        AS_OF: pa.StructArray.from_arrays([times] * len(plan.views), [view.alias for view in plan.views]),
    }
    sample = KeySample(hash_of=lambda _: 0, threshold=1, seed="", share=1.0)
    told_of = log_schema_metadata(plan, project="flights", environment="attribution", sample=sample)
    (place / plan.service).mkdir(parents=True)
    pq.write_table(pa.table(columns).replace_schema_metadata(told_of), place / plan.service / "part.parquet")


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The second half of the days as a clean log and labels, and the model that was trained on the first."""

    settings: Settings
    folder: Path
    answers: pa.Table
    plan: LookupPlan
    labels: Path
    onnx: Path

    def spec(self, log: Path) -> FromLogSpec:
        return FromLogSpec(log=log, labels=self.labels)

    def rows(self, model: LossModel) -> Rows:
        """Return the clean log's rows beside what Spark recomputes for them."""
        write_log(self.folder / "clean", self.plan, self.answers)
        with FeatureStore(self.settings) as store:
            made = store.dataset_from_log(SERVED, self.spec(self.folder / "clean"), self.folder / "set", recompute=True)
        return labelled_rows(pq.read_table(made.path), model, LABEL, str(self.labels))


def make_world(folder: Path, days: int) -> World:
    """Build the training set of some days, train the model on the first half, and label the other."""
    root = Path(__file__).parents[1]
    write_sources(root / "data")
    settings = replace(read_settings(start=root, environ={}), state=folder / "state", now=BEGIN + 60 * DAY)
    pq.write_table(label_rows(root / "data", BEGIN, BEGIN + days * DAY).table, folder / "flights.parquet")
    with FeatureStore(settings) as store:
        store.dataset(SERVED, LabelSpec(path=str(folder / "flights.parquet")), folder / "training")
        plan = lookup_plan(store.definitions.services[SERVED])
    table = pq.read_table(folder / "training").sort_by([("event_timestamp", "ascending"), ("flight_id", "ascending")])
    columns = [field.name for field in table.schema if "." in field.name and _is_number(field.type)]
    half = pa.scalar(BEGIN + days * DAY // 2).cast(table.schema.field("event_timestamp").type)
    is_first = pc.less(table["event_timestamp"], half)
    first, second = table.filter(is_first), table.filter(pc.invert(is_first))
    truth = np.asarray(first[LABEL].to_numpy(), np.float64)
    model = to_onnx(fit_pipeline(feature_matrix(first, columns), truth), tuple(columns))
    (folder / "delay.onnx").write_bytes(model.SerializeToString())
    labels = pa.table({REQUEST_ID: second["flight_id"].cast(pa.string()), LABEL: second[LABEL]})
    pq.write_table(labels, folder / "labels.parquet")
    return World(
        settings=settings,
        folder=folder,
        answers=second,
        plan=plan,
        labels=folder / "labels.parquet",
        onnx=folder / "delay.onnx",
    )


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind))


def whole_way(world: World, known: dict[str, float], resamples: int) -> tuple[list[Told], float]:
    """Return what the log with the costliest faults is told to have cost, by `check attribute`; and its seconds."""
    costly = sorted(FAULTS, key=lambda fault: -known[fault.name])[:_IN_LOG]
    write_log(world.folder / "faulty", world.plan, world.answers, costly)
    begun = time.monotonic()
    with FeatureStore(world.settings) as store:
        asked = LossSpec(log=world.spec(world.folder / "faulty"), label=LABEL, resamples=resamples)
        found = store.attribute(str(world.onnx), asked, service=SERVED).attribution
    by_field = {part.name: part.cost for part in found.parts}
    names = tuple(fault.name for fault in costly)
    return [
        Told(
            world=("in the log", *names),
            fault=fault.name,
            known=known[fault.name],
            told=sum(by_field[field].value for field in fault.fields),
            low=sum(by_field[field].low for field in fault.fields),
            high=sum(by_field[field].high for field in fault.fields),
        )
        for fault in costly
    ], time.monotonic() - begun


def main(arguments: Sequence[str] | None = None) -> int:
    """Plant, attribute, print; return 1 where something is told wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=int, default=20, help="of November, half of them to train on (20)")
    parser.add_argument("--resamples", type=int, default=200)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="featurekit-attribution-", ignore_cleanup_errors=True) as name:
        world = make_world(Path(name), options.days)
        with FeatureStore(world.settings) as store:
            model = model_of_file(world.onnx, store.definitions.services[SERVED])
        rows = world.rows(model)
        clean = attribute(rows, model.score, Metric.AUC, resamples=options.resamples)
        known = {
            fault.name: clean.recomputed.value - auc(rows, planted(rows, [fault]).served, model.score)
            for fault in FAULTS
        }
        worlds = [*((fault,) for fault in FAULTS), *combinations(FAULTS, 2)]
        found = [one for faults in worlds for one in told(rows, faults, model.score, known, 20)]
        everything = told(rows, FAULTS, model.score, known, options.resamples)
        in_log, seconds = whole_way(world, known, options.resamples)
    judged = [*found, *in_log]
    error = max(one.error for one in judged)
    print(f"{len(rows.truth):,} requests, AUC {clean.recomputed.value:.4f}; all at once, beside what each costs alone:")
    for one in everything:
        print(f"  {one.fault:28} {one.known:8.4f} {one.told:8.4f}   {one.low:8.4f} to {one.high:.4f}")
    print("in the log, by `check attribute`:")
    for one in in_log:
        print(f"  {one.fault:28} {one.known:8.4f} {one.told:8.4f}")
    finish(
        "attribution",
        {
            "planted": len(judged),
            "attributed": sum(one.error <= TOLERANCE for one in judged),
            "error": error,
            "all_at_once_error": max(one.error for one in everything),
            "clean_gap": clean.gap.value,
            "attribute_s": seconds,
            "requests": len(rows.truth),
        },
        details={"known": known, "all": [asdict(one) for one in everything], "told": [asdict(one) for one in judged]},
        seed=0,
    )
    return 0 if error <= TOLERANCE and clean.gap.value == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
