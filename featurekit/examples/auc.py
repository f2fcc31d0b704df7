"""What a model is worth: by its training set's own account, and when the online store feeds it.

    python -m featurekit.examples.auc        prints RESULT auc …; 1 where the declared set's word is not kept

One model, trained three times on the first half of November 2013: on the features as declared, as served in a fortnight
in which somebody refreshed the views by hand twice a week, and by event time. Then the clock goes through the days
after, hour by hour, with refreshes that are on time, and each flight is looked up when it was asked about.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import Pipeline

from featurekit.clock import DAY, HOUR, Instant, format_instant, parse_instant
from featurekit.config import Settings, read_settings
from featurekit.examples.flights import label_rows, write_sources
from featurekit.examples.model import Floats, feature_matrix, fit_pipeline
from featurekit.feature_store import FeatureStore
from featurekit.offline.labels import LabelSpec
from featurekit.offline.manifest import AsOfMode
from featurekit.online import embedded

SERVICE: Final = "flight_delay"
# Days of New York.
BEGIN: Final = parse_instant("2013-11-01T04:00Z")
HELD_OUT: Final = parse_instant("2013-11-15T05:00Z")
BY_HAND: Final = (1, 4, 7, 11, 14)  # the Friday of the registration, then Mondays and Thursdays
_RUN_AT: Final = 2 * HOUR  # before the first question of the day
_FIXED: Final = ("plane_facts", "airport_place")  # lists from before the year: one refresh says all
_KEYS: Final = ["carrier", "origin", "dest", "tailnum"]
_REQUEST: Final = ["distance", "scheduled_at"]
KEPT_WORD: Final = 0.01
Told = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A model by the set that it was trained on: its AUC on that set's own rows held out, and fed by lookups.

    `differing` is how many of the values that were looked up are others in the set.
    """

    as_of: AsOfMode
    promised: float
    online: float
    differing: int

    @property
    def apart(self) -> float:
        return abs(self.promised - self.online)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The three models, trained on so many flights and judged by `rows` held out, a share `late` of them late."""

    judged: tuple[Judged, ...]
    trained: int
    rows: int
    late: float

    @property
    def keeps_its_word(self) -> bool:
        return next(each for each in self.judged if each.as_of is AsOfMode.DECLARED).apart <= KEPT_WORD

    def __str__(self) -> str:
        lines = [
            f"{'trained on':12} {'AUC by its own rows':>19} {'fed by the store':>17} {'apart':>6} {'other values':>13}"
        ]
        lines += [
            f"{each.as_of.value:12} {each.promised:19.3f} {each.online:17.3f} {each.apart:6.3f} {each.differing:13,}"
            for each in self.judged
        ]
        return "\n".join(lines)

    @property
    def result(self) -> str:
        parts = (
            f"{each.as_of.value.replace('-', '_')}{kind}={value:.4f}"
            for each in self.judged
            for kind, value in (("", each.promised), ("_online", each.online))
        )
        return f"RESULT auc {' '.join(parts)} rows={self.rows}"


def write_question_rows(data: Path, folder: Path, days: int) -> Path:
    """Write the label rows of the fortnight and of so many days after it, which are held out; return their file."""
    rows = label_rows(data, BEGIN, HELD_OUT + days * DAY).table
    path = folder / "labels.parquet"
    pq.write_table(rows, path)
    return path


def serve(settings: Settings, labels: Path, answers: Path, told: Told = lambda _: None) -> int:
    """Drive the clock from BEGIN on: refresh, look up the flights held out, write what the store answered.

    Return how many refreshes were made.
    """
    rows = pq.read_table(labels)
    asked = np.asarray(rows["event_timestamp"].cast(pa.int64()).to_numpy(), np.int64)
    new = _refresh(settings, BEGIN + _RUN_AT, _FIXED, register=True)
    for day in BY_HAND:
        told(f"{day} November, a run by hand")
        new += _refresh(settings, BEGIN + (day - 1) * DAY + _RUN_AT, None, serving=True)
    found = []
    for hour in np.unique(asked[asked >= HELD_OUT] // HOUR).tolist():
        told(f"{format_instant(hour * HOUR)}, after {new} refreshes")
        new += _refresh(settings, hour * HOUR, None)
        with _store(settings, hour * HOUR) as store:
            for time in np.unique(asked[asked // HOUR == hour]).tolist():
                mine = rows.filter(pa.array(asked == time))
                features = store.lookup(SERVICE, mine.select(_KEYS), mine.select(_REQUEST), at=time).to_arrow()
                found.append(features.append_column("flight_id", mine["flight_id"]))
    pq.write_table(pa.concat_tables(found), answers)
    return new


def _refresh(
    settings: Settings, now: Instant, views: Sequence[str] | None, *, register: bool = False, serving: bool = False
) -> int:
    with _store(settings, now) as store:
        if register:
            store.register()
        views = views or [view for view in store.definitions.views if view not in _FIXED]
        outcomes = store.materialize(views, at=now if serving or register else None, full=True)
        return sum(outcome.is_new for outcome in outcomes)


def _store(settings: Settings, now: Instant) -> FeatureStore:
    return FeatureStore(replace(settings, now=now))


def judge(sets: Path, answers: Path) -> Verdict:
    """Train the model on each of the sets of `dataset compare`; judge it by the set, and by what lookups answered."""
    tables = {mode: _in_order(pq.read_table(sets / mode.value)) for mode in AsOfMode}
    declared = tables[AsOfMode.DECLARED]
    columns = [field.name for field in declared.schema if "." in field.name and _is_number(field.type)]
    truth = np.asarray(declared["late"].to_pylist(), np.float64)
    held_out = np.asarray(declared["event_timestamp"].cast(pa.int64()).to_numpy(), np.int64) >= HELD_OUT
    online = _beside(pq.read_table(answers), declared.filter(pa.array(held_out))["flight_id"])
    fed = feature_matrix(online, columns)
    judged = []
    for mode, table in tables.items():
        values = feature_matrix(table, columns)
        model = fit_pipeline(values[~held_out], truth[~held_out])
        promised, delivered = (_auc(model, rows, truth[held_out]) for rows in (values[held_out], fed))
        own = table.filter(pa.array(held_out))
        differing = sum(_differing(own[label], online[label]) for label in own.column_names if "." in label)
        judged.append(Judged(as_of=mode, promised=promised, online=delivered, differing=differing))
    return Verdict(
        judged=tuple(judged),
        trained=int((~held_out).sum()),
        rows=int(held_out.sum()),
        late=float(truth[held_out].mean()),
    )


def _auc(model: Pipeline, rows: Floats, truth: npt.NDArray[np.float64]) -> float:
    return float(roc_auc_score(truth, model.predict_proba(rows.astype(np.float64))[:, 1]))


def _in_order(table: pa.Table) -> pa.Table:
    return table.sort_by([("event_timestamp", "ascending"), ("flight_id", "ascending")])


def _beside(answers: pa.Table, flights: pa.ChunkedArray) -> pa.Table:
    return answers.take(pc.index_in(flights, answers["flight_id"]))


def _differing(one: pa.ChunkedArray, other: pa.ChunkedArray) -> int:
    return sum(repr(left) != repr(right) for left, right in zip(one.to_pylist(), other.to_pylist(), strict=True))


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind))


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve November, build three sets, judge three models; return 1 where the declared set's word is not kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=int, default=3, help="held out, from 15 November on (3)")
    days = parser.parse_args(arguments).days
    root = Path(__file__).parents[2]
    write_sources(root / "data")
    with tempfile.TemporaryDirectory(prefix="featurekit-auc-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        settings = replace(read_settings(start=root, environ={}), state=folder / "state", environment="auc")
        labels, answers = write_question_rows(root / "data", folder, days), folder / "answers.parquet"
        try:
            new = serve(settings, labels, answers, told=lambda text: print(text, file=sys.stderr, flush=True))
            with _store(settings, HELD_OUT + days * DAY) as store:
                store.dataset_compare(SERVICE, LabelSpec(path=str(labels)), folder / "sets")
        finally:
            embedded.stop(folder / "state")
        verdict = judge(folder / "sets", answers)
        print(f"{new} refreshes; trained on {verdict.trained:,} flights, judged by {verdict.rows:,}")
        print(verdict)
        print(verdict.result)
    return 0 if verdict.keeps_its_word else 1


if __name__ == "__main__":
    sys.exit(main())
