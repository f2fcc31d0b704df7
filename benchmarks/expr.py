"""Twenty features over 1, 100 and 10,000 rows, beside DuckDB and pandas by hand.

    python -m benchmarks.expr [--quick] [--curve]

Exits with 1 where the row evaluator, its loop and the vector evaluator differ in a bit on the rows measured. `--curve`
also times the loop and the vectors by number of rows: where they cross is what `targets.crossover` chooses by.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from typing import Any, Final

import pandas as pd
import pyarrow as pa

from benchmarks import expr_others
from benchmarks.expr_features import FEATURES, INPUTS, columns, nodes
from benchmarks.report import finish
from featurekit.arrow_types import to_arrow
from featurekit.clock import to_date, to_datetime
from featurekit.expr.nodes import Node
from featurekit.expr.parse import parse_expression
from featurekit.expr.scope import ColumnScope
from featurekit.targets.arrow import compile_batch
from featurekit.targets.crossover import FEWEST_ROWS_OF_VECTORS
from featurekit.targets.python import compile_loop, compile_row
from featurekit.targets.vectors.evaluate import ColumnsEvaluator, compile_columns
from featurekit.targets.vectors.vector import Vector
from featurekit.types import is_float

SEED: Final = 20131115
MANY: Final = 10_000
FEW: Final = 100
CURVE: Final = (1, 4, 8, 16, 24, 32, 48, 64, 100, 200, 400, 1000, 4000, 10_000)
LIMITS: Final = {"row_us": 8.0, "rows100_us": 700.0, "rows10k_ms": 40.0, "compile_ms": 5.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Microseconds a call takes: the median of rounds, and the fastest one."""

    engine: str
    rows: int
    median_us: float
    least_us: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table and the RESULT line, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds: does it run at all?")
    parser.add_argument("--curve", action="store_true", help="the loop beside the vectors, by number of rows")
    options = parser.parse_args(arguments)
    seconds = 0.1 if options.quick else 1.5
    features = nodes()
    data = columns(MANY, SEED)
    timings = measure(features, data, seconds)
    compile_ms = _compile_ms(3 if options.quick else 9)
    each = {name: _row_timing([node], data, seconds / 10) for name, node in zip(FEATURES, features, strict=True)}
    curve = _curve(features, data, seconds / 5) if options.curve else []
    differ = differences(features, data)
    _print(timings, each, curve, compile_ms, differ)
    found = {(timing.engine, timing.rows): timing.median_us for timing in timings}
    finish(
        "bench-expr",
        {
            "row_us": found["featurekit", 1],
            "rows100_us": found["featurekit", FEW],
            "rows10k_ms": found["featurekit", MANY] / 1000,
            "compile_ms": compile_ms,
            "vs_duckdb_row": found["duckdb", 1] / found["featurekit", 1],
            "vs_pandas_10k": found["pandas", MANY] / found["featurekit", MANY],
            "differ": len(differ),
        },
        details={
            "timings": [asdict(timing) for timing in timings],
            "features_us": {name: timing.median_us for name, timing in each.items()},
            "curve": [asdict(timing) for timing in curve],
            "crossover_rows": FEWEST_ROWS_OF_VECTORS,
            "limits": LIMITS,
            "features": FEATURES,
            "nulls": "one value in fifty",
        },
        seed=SEED,
        file="expr",
    )
    return 1 if differ else 0


def measure(features: list[Node], data: dict[str, list[Any]], seconds: float) -> list[Timing]:
    """Return the timings of each engine; 10,000 rows are Arrow at both ends, 100 columns of Python values."""
    table = _table(data)
    few = {name: values[:FEW] for name, values in data.items()}
    return [
        _row_timing(features, data, seconds),
        _time(expr_others.duckdb_row(_as_objects(data)), "duckdb", 1, seconds),
        _time(_rows_call(features, few), "featurekit", FEW, seconds),
        _time(expr_others.duckdb_rows(table.slice(0, FEW)), "duckdb", FEW, seconds),
        _time(expr_others.pandas_rows(_frame(table.slice(0, FEW))), "pandas", FEW, seconds),
        _time(_batch_call(features, table), "featurekit", MANY, seconds),
        _time(expr_others.duckdb_rows(table), "duckdb", MANY, seconds),
        _time(expr_others.pandas_rows(_frame(table)), "pandas", MANY, seconds),
    ]


def _row_timing(features: list[Node], data: dict[str, list[Any]], seconds: float) -> Timing:
    """Time one row, the mean of different ones: kernels remember what they saw last."""
    evaluate = compile_row(features, INPUTS)
    rows = list(islice(_whole_rows(data), FEW))

    def call() -> None:
        for row in rows:
            evaluate(row)

    return _time(call, "featurekit", 1, seconds, each=len(rows))


def _whole_rows(data: dict[str, list[Any]]) -> Iterator[tuple[Any, ...]]:
    return (row for row in zip(*data.values(), strict=True) if None not in row)


def _rows_call(features: list[Node], data: dict[str, list[Any]]) -> Callable[[], Any]:
    """Return the call for some rows, by the evaluator that the planner takes for so many."""
    held = list(data.values())
    count = len(held[0])
    if count < FEWEST_ROWS_OF_VECTORS:
        loop = compile_loop(features, INPUTS)
        return lambda: loop(held, count)
    evaluate = compile_columns(features, INPUTS)
    return lambda: [vector.held(count) for vector in evaluate(_vectors(data), count)]


def _batch_call(features: list[Node], table: pa.Table) -> Callable[[], Any]:
    evaluate = compile_batch(features, INPUTS)
    (batch,) = table.to_batches()
    return lambda: evaluate(batch)


def _vectors(data: dict[str, list[Any]]) -> list[Vector]:
    return [Vector.of_held(data[column.name], column.type) for column in INPUTS]


def _table(data: dict[str, list[Any]]) -> pa.Table:
    return pa.table({column.name: pa.array(data[column.name], to_arrow(column.type)) for column in INPUTS})


def _as_objects(data: dict[str, list[Any]]) -> list[Any]:
    """Return the row that is measured as DuckDB takes it: with datetime objects."""
    row = dict(zip(data, next(_whole_rows(data)), strict=True))
    return list(
        {
            **row,
            "event_time": to_datetime(row["event_time"]).replace(tzinfo=None),
            "signup": to_date(row["signup"]),
        }.values()
    )


def _frame(table: pa.Table) -> pd.DataFrame:
    frame: pd.DataFrame = table.to_pandas()
    frame["signup"] = pd.to_datetime(frame["signup"])
    return frame


def _time(call: Callable[[], Any], engine: str, rows: int, seconds: float, each: int = 1) -> Timing:
    """Time a call, of `each` units, in rounds of about 5 ms for so many seconds."""
    call()
    start = time.perf_counter()
    call()
    calls = max(1, int(0.005 / max(time.perf_counter() - start, 1e-7)))
    found: list[float] = []
    until = time.perf_counter() + seconds
    while time.perf_counter() < until or len(found) < 5:
        start = time.perf_counter()
        for _ in range(calls):
            call()
        found.append((time.perf_counter() - start) / calls / each * 1e6)
    return Timing(engine=engine, rows=rows, median_us=statistics.median(found), least_us=min(found))


def _compile_ms(rounds: int) -> float:
    """Return what a feature takes from its text to its row function, the median of the features' medians."""
    scope = ColumnScope.of(INPUTS)
    found = []
    for text in FEATURES.values():
        times = []
        for _ in range(rounds):
            start = time.perf_counter()
            compile_row([parse_expression(text, scope, aggregates_allowed=False)], INPUTS)
            times.append((time.perf_counter() - start) * 1000)
        found.append(statistics.median(times))
    return statistics.median(found)


def _curve(features: list[Node], data: dict[str, list[Any]], seconds: float) -> list[Timing]:
    """Time both evaluators on columns as a lookup has them: lists for the loop, arrays for the vectors."""
    loop, evaluate = compile_loop(features, INPUTS), compile_columns(features, INPUTS)
    found = []
    for count in CURVE:
        some = {name: values[:count] for name, values in data.items()}
        held = list(some.values())
        found.append(_time(partial(loop, held, count), "loop", count, seconds))
        found.append(_time(partial(_over_vectors, evaluate, some, count), "vectors", count, seconds))
    return found


def _over_vectors(evaluate: ColumnsEvaluator, data: dict[str, list[Any]], count: int) -> list[Vector]:
    return evaluate(_vectors(data), count)


def differences(features: list[Node], data: dict[str, list[Any]]) -> list[str]:
    """Return the cells in which the evaluators differ."""
    count = len(next(iter(data.values())))
    evaluate = compile_row(features, INPUTS)
    rows = [*zip(*map(evaluate, zip(*data.values(), strict=True)), strict=True)]
    loop = compile_loop(features, INPUTS)(list(data.values()), count)
    vectors = [vector.held(count) for vector in compile_columns(features, INPUTS)(_vectors(data), count)]
    batches = compile_batch(features, INPUTS)(_table(data).to_batches()[0])
    found = []
    for place, (name, node) in enumerate(zip(FEATURES, features, strict=True)):
        arrow = pa.array(rows[place], to_arrow(node.type))
        if not _same_array(arrow, batches[place], is_float(node.type)):
            found.append(f"{name}: the batch's Arrow array is another one")
        for row, (one, two, three) in enumerate(zip(rows[place], loop[place], vectors[place], strict=True)):
            if not _bits(one) == _bits(two) == _bits(three):
                found.append(f"{name}, row {row}: {one!r} by row, {two!r} in the loop, {three!r} by vectors")
    return found


def _bits(value: Any) -> str:
    return value.hex() if isinstance(value, float) else repr(value)


def _same_array(left: pa.Array, right: pa.Array, is_floating: bool) -> bool:
    if is_floating:
        return [_bits(value) for value in left.to_pylist()] == [_bits(value) for value in right.to_pylist()]
    return bool(left.equals(right))


def _print(
    timings: list[Timing], each: dict[str, Timing], curve: list[Timing], compile_ms: float, differ: list[str]
) -> None:
    print(f"{len(FEATURES)} features          rows    median µs     least µs   µs a row")
    for timing in timings:
        a_row = timing.median_us / timing.rows
        print(f"{timing.engine:16} {timing.rows:12,} {timing.median_us:12,.1f} {timing.least_us:12,.1f} {a_row:10.2f}")
    print(f"\none feature, one row        µs     (text to function {compile_ms:.2f} ms a feature)")
    for name, timing in sorted(each.items(), key=lambda pair: -pair[1].median_us):
        print(f"{name:24} {timing.median_us:6.2f}     {FEATURES[name]}")
    if curve:
        print("\nrows        loop µs   vectors µs")
    for slow, fast in zip(curve[::2], curve[1::2], strict=True):
        print(f"{slow.rows:6,} {slow.median_us:12,.1f} {fast.median_us:12,.1f}")
    for line in differ[:20]:
        print(f"differs: {line}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
