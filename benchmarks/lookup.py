"""Lookups beside a raw MGET of the same rows: redis-py with hiredis, the same server, in turns within one run.

`python -m benchmarks.lookup` prints the table against an embedded server of its own.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import redis

from benchmarks.report import finish
from featurekit.clock import DAY
from featurekit.grid import Grid
from featurekit.online import embedded
from featurekit.online.client import FeatureClient
from featurekit.online.keys import KeySpace, Namespace
from featurekit.online.publish import PlanBody, publish_plans, switch_services
from featurekit.online.redis import RedisStore
from featurekit.online.refresh import begin_refresh, complete_refresh
from featurekit.online.result import Features
from featurekit.online.writer import RedisRowSink
from featurekit.plan import LookupPlan, PlanField, PlanKey, PlanView
from featurekit.rows import LAST_EVENT
from featurekit.types import Field, Float64, Int64, Schema

NAMESPACE: Final = Namespace("bench", "lookup")
ENTITIES: Final = 10_000
SHAPES: Final = ((1, 50), (100, 50))
FORMS: Final = ("raw", "numpy", "matrix", "arrow", "dict")
_BLOCK: Final = 50  # calls before the next form has its turn: what else the machine does hits all alike


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """One form of answer at one shape, in microseconds; `vs_raw` is the median of the rounds' p50 ratios."""

    form: str
    entities: int
    features: int
    p50_us: float
    p99_us: float
    vs_raw: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LookupTimings:
    rows_bytes: int  # of one packed row
    rounds: int
    calls: int
    timings: tuple[Timing, ...]

    def get(self, form: str, entities: int, features: int) -> Timing:
        wanted = (form, entities, features)
        return next(one for one in self.timings if (one.form, one.entities, one.features) == wanted)


def measure(
    url: str, *, shapes: Sequence[tuple[int, int]] = SHAPES, rounds: int = 5, calls: int = 1000, seed: int = 7
) -> LookupTimings:
    """Return the timings of lookups against the store at `url`, into which it writes a world of its own."""
    random = np.random.default_rng(seed)
    found: list[Timing] = []
    size = 0
    for entities, features in shapes:
        space = _write_world(url, features, random)
        with FeatureClient(url, project="bench", environment="lookup", clock=lambda: DAY) as client:
            raw = redis.Redis.from_url(url)
            chosen = [int(user) for user in random.integers(0, ENTITIES, entities)]
            keys = [space.row(b"%d" % user) for user in chosen]
            stored: Any = raw.mget(keys)
            size = len(stored[0])
            asked = {"user_id": chosen[0] if entities == 1 else chosen}
            look_up = partial(client.lookup, f"service_{features}", asked)
            forms = {"raw": partial(raw.mget, keys)} | {form: _answering(look_up, form) for form in FORMS[1:]}
            found += _time(forms, entities, features, rounds, calls)
            raw.close()
    return LookupTimings(rows_bytes=size, rounds=rounds, calls=calls, timings=tuple(found))


def _answering(look_up: Callable[[], Features], form: str) -> Callable[[], Any]:
    methods: dict[str, Callable[[Features], Any]] = {
        "numpy": Features.to_numpy,
        "matrix": Features.matrix,
        "arrow": Features.to_arrow,
        "dict": Features.to_dict,
    }
    answer = methods[form]
    return lambda: answer(look_up())


def _time(
    forms: dict[str, Callable[[], Any]], entities: int, features: int, rounds: int, calls: int
) -> Iterator[Timing]:
    for call in forms.values():
        for _ in range(_BLOCK):
            call()
    samples = [_turns(forms, calls) for _ in range(rounds)]
    for form in forms:
        every = np.concatenate([one[form] for one in samples])
        ratios = [float(np.median(one[form]) / np.median(one["raw"])) for one in samples]
        yield Timing(
            form=form,
            entities=entities,
            features=features,
            p50_us=float(np.percentile(every, 50)),
            p99_us=float(np.percentile(every, 99)),
            vs_raw=statistics.median(ratios),
        )


def _turns(forms: dict[str, Callable[[], Any]], calls: int) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
    """Return each form's microseconds per call, the forms taking turns."""
    spent: dict[str, list[float]] = {form: [] for form in forms}
    for _ in range(-(-calls // _BLOCK)):
        for form, call in forms.items():
            for _ in range(_BLOCK):
                start = time.perf_counter_ns()
                call()
                spent[form].append((time.perf_counter_ns() - start) / 1000)
    return {form: np.array(values) for form, values in spent.items()}


def _write_world(url: str, features: int, random: np.random.Generator) -> KeySpace:
    """Write a service over one view of doubles, and return where its rows are."""
    names = [f"f{i:03}" for i in range(features)]
    view = PlanView(
        alias="view",
        view=f"view_{features}",
        fingerprint=f"{features:08x}" * 8,
        keys=(PlanKey(name="user_id", type=Int64(), request="user_id"),),
        grid=Grid(DAY),
        fields=tuple(PlanField(name=name, type=Float64(), is_latest=False, empty=None, default=None) for name in names),
    )
    plan = LookupPlan(
        service=f"service_{features}",
        fingerprint=view.fingerprint,
        views=(view,),
        request=Schema(()),
        on_demand=(),
        outputs=tuple(Field(f"view.{name}", Float64()) for name in names),
    )
    columns = {"user_id": pa.array(np.arange(ENTITIES)), LAST_EVENT: pa.array(np.zeros(ENTITIES, np.int64))}
    columns |= {name: pa.array(random.normal(size=ENTITIES)) for name in names}
    columns[LAST_EVENT] = columns[LAST_EVENT].cast(pa.timestamp("us", "UTC"))
    space = KeySpace(namespace=NAMESPACE, view=view.view, fingerprint=view.fingerprint, as_of=0)
    sink = RedisRowSink(
        url=url,
        space=space,
        keys=(Field("user_id", Int64()),),
        fields=tuple(Field(name, Float64()) for name in names),
        expires_in_s=3600,
    )
    store = RedisStore(url)
    refresh = begin_refresh(store, space, expires_in_s=3600)
    list(sink(iter([pa.record_batch(columns)])))
    complete_refresh(store, refresh, grid=view.grid, completed_at=0, rows=ENTITIES)
    body = PlanBody.of(plan)
    publish_plans(store, NAMESPACE, [body])
    switch_services(store, NAMESPACE, {body.service: body.pointer})
    store.close()
    return space


@contextmanager
def _own_server() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        try:
            yield embedded.start(Path(folder)).url
        finally:
            embedded.stop(Path(folder))


def print_table(found: LookupTimings) -> None:
    """Print the timings, a line per form and shape."""
    print(f"{'shape':>9} {'form':>8} {'p50 µs':>9} {'p99 µs':>9} {'vs raw':>7}")
    for one in found.timings:
        shape = f"{one.entities}×{one.features}"
        print(f"{shape:>9} {one.form:>8} {one.p50_us:9.1f} {one.p99_us:9.1f} {one.vs_raw:7.2f}")


def main() -> None:
    """Measure against a server of our own."""
    with _own_server() as url:
        found = measure(url)
    print_table(found)
    values = {
        f"{form}_{entities}x{features}_vs_raw": found.get(form, entities, features).vs_raw
        for entities, features in SHAPES
        for form in FORMS
        if form != "raw"
    }
    finish("lookup", values, details=[asdict(one) for one in found.timings], seed=7)


if __name__ == "__main__":
    main()
