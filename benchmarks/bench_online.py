"""Lookups beside a raw MGET of the very keys, and beside Feast on the same server with the same values.

    python -m benchmarks.bench_online [--rounds 5] [--turns 3] [--only 1x50 100x50] [--no-feast]

All forms take turns in one run: redis-py's MGET, and featurekit's answers as NumPy, Arrow and dicts, mixed call by
call; so redis-py's MGET and featurekit under asyncio; Feast's `to_dict`, in an environment of its own. Figures are
medians of rounds' ratios.
Exits with 1 where any two sides differ in a value.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import pyarrow.parquet as pq
import redis
import redis.asyncio

from benchmarks.online_shapes import ENTITIES, PROJECT, SEED, SERVICES, SHAPES, VIEWS, Shape, output_names
from benchmarks.online_turns import Form, Timing, Turn, in_turns, mixed, mixed_awaiting
from benchmarks.online_world import ENVIRONMENT, NOW, make_tables, publish_services, write_tables, write_view
from benchmarks.report import fail, finish
from benchmarks.sides import Side, feast_python
from featurekit.online.async_client import AsyncFeatureClient
from featurekit.online.client import FeatureClient
from featurekit.online.keys import KeySpace
from featurekit.online.result import Features
from tests.online.deployments import KINDS, Server, standalone

FEAST: Final = "feast[redis]==0.67.0"
_ANSWERS: Final[Mapping[str, Callable[[Features], Any]]] = {
    "numpy": Features.to_numpy,
    "arrow": Features.to_arrow,
    "dict": Features.to_dict,
}
Results = dict[str, dict[str, Timing]]


class Sides:
    """The clients of one world, and what each does for one request of a shape."""

    def __init__(self, url: str, spaces: Mapping[str, KeySpace], runner: asyncio.Runner, feast: Side | None) -> None:
        self._spaces = spaces
        self._runner = runner
        self._feast = feast
        options: dict[str, Any] = {"project": PROJECT, "environment": ENVIRONMENT, "clock": lambda: NOW}
        self.client = FeatureClient(url, **options)
        self.async_client = AsyncFeatureClient(url, **options)
        self.raw = redis.Redis.from_url(url)
        self.async_raw = redis.asyncio.Redis.from_url(url)

    def __enter__(self) -> Sides:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.client.close()
        self.raw.close()
        self._runner.run(self.async_client.close())
        self._runner.run(self.async_raw.aclose())

    def forms(self, shape: Shape) -> dict[str, Form]:
        """Return what is timed at a shape, by name."""
        keys = [self._keys(shape, request) for request in shape.requests]
        asked = [_entities(shape, request) for request in shape.requests]
        calls: dict[str, tuple[Callable[[Any], Any], Sequence[Any]]] = {"raw": (self.raw.mget, keys)}
        calls |= {form: (self._answering(shape.service, answer), asked) for form, answer in _ANSWERS.items()}
        forms = mixed(calls, shape.calls, SEED)
        awaited: dict[str, tuple[Callable[[Any], Awaitable[Any]], Sequence[Any]]]
        awaited = {"async_raw": (self.async_raw.mget, keys), "async": (self._async_numpy(shape.service), asked)}
        forms |= mixed_awaiting(awaited, shape.calls, SEED, self._runner)
        if self._feast is not None:
            forms["feast"] = self._asking_feast(shape)
        return forms

    def _keys(self, shape: Shape, request: list[int]) -> list[bytes]:
        return [self._spaces[view].row(b"%d" % user) for view in SERVICES[shape.service] for user in request]

    def _answering(self, service: str, answer: Callable[[Features], Any]) -> Callable[[Any], Any]:
        look_up = self.client.lookup
        return lambda entities: answer(look_up(service, entities))

    def _async_numpy(self, service: str) -> Callable[[Any], Awaitable[Any]]:
        async def look_up(entities: Any) -> Any:
            return (await self.async_client.lookup(service, entities)).to_numpy()

        return look_up

    def _asking_feast(self, shape: Shape) -> Form:
        feast = self._feast
        assert feast is not None

        def turn() -> Turn:
            taken = feast.ask("time", shape.name)
            return Turn(walls=tuple(taken["walls"]), cpu_us=taken["cpu_us"])

        return turn

    def differing(self, shape: Shape, folder: Path) -> int:
        """Return in how many values the answers to a shape's first request differ, whoever gives them."""
        asked = _entities(shape, shape.requests[0])
        found = self.client.lookup(shape.service, asked)
        expected = found.to_dict() if shape.entities > 1 else [found.to_dict()]
        arrow = found.to_arrow().to_pylist()
        columns = found.to_numpy()
        numpy = [{name: _plain(column[i]) for name, column in columns.items()} for i in range(len(expected))]
        awaited = self._runner.run(self.async_client.lookup(shape.service, asked)).to_dict()
        others = [arrow, numpy, awaited if shape.entities > 1 else [awaited]]
        if self._feast is not None:
            self._feast.ask("values", shape.name)
            table = pq.read_table(folder / f"feast_{shape.name}.parquet")
            names = output_names(shape.service)
            others.append(table.select([name.split(".")[1] for name in names]).rename_columns(names).to_pylist())
        return sum(_differing(expected, other) for other in others)


def _entities(shape: Shape, request: list[int]) -> dict[str, Any]:
    return {"user_id": request[0] if shape.entities == 1 else request}


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def _differing(expected: list[dict[str, Any]], found: list[dict[str, Any]]) -> int:
    if len(expected) != len(found):
        return len(expected)
    return sum(row[name] != other.get(name) for row, other in zip(expected, found, strict=True) for name in row)


def measure_memory(server: Server, tables: Mapping[str, Any], feast: Side) -> dict[str, dict[str, float]]:
    """Return the bytes of server memory that an entity of a view takes, ours and Feast's, each alone in the server."""
    found: dict[str, dict[str, float]] = {}
    for view, table in tables.items():
        found[view] = {}
        writers: dict[str, Callable[[], Any]] = {
            "ours": partial(write_view, server.url, view, table),
            "feast": partial(feast.ask, "write", view),
        }
        for side, write in writers.items():
            server.ask("FLUSHALL", "SYNC")
            before = _used(server)
            write()
            found[view][side] = (_used(server) - before) / ENTITIES
    server.ask("FLUSHALL", "SYNC")
    return found


def _used(server: Server) -> int:
    time.sleep(0.5)  # the writer's connection and its buffers are gone by then, and the tables of keys are resized
    with server.client() as client:
        return int(client.info("memory")["used_memory"])


@contextmanager
def _world(*, with_feast: bool) -> Iterator[tuple[Server, Path, Side | None, dict[str, Any]]]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="featurekit-online-")))
        server = stack.enter_context(standalone(folder / "server", "redis"))
        tables = make_tables()
        write_tables(tables, folder)
        feast = None
        if with_feast:
            python = feast_python("feast-online", FEAST)
            feast = stack.enter_context(Side(python, "benchmarks.online_feast", str(folder), str(server.port)))
        yield server, folder, feast, tables


def _values(results: Results, memory: Mapping[str, Mapping[str, float]], differ: int) -> dict[str, Any]:
    """Return the figures of the RESULT line: the slower of NumPy and Arrow, and NumPy alone."""
    found: dict[str, Any] = {}

    def slower(shape: str) -> float:
        forms = results[shape]
        return max(forms[form].over(forms["raw"]) for form in ("numpy", "arrow"))

    for shape in ("1x50", "1x50_numbers", "100x50", "100x50_numbers"):
        if shape in results:
            found[f"r{shape}_vs_raw"] = slower(shape)
            found[f"r{shape}_numpy_vs_raw"] = results[shape]["numpy"].over(results[shape]["raw"])
    for shape in ("100x50", "100x50_numbers"):
        if shape in results:
            found[f"r{shape}_dict_vs_raw"] = results[shape]["dict"].over(results[shape]["raw"])
    if (one := results.get("1x50")) is not None:
        found["async_1x50_vs_raw"] = one["async"].over(one["async_raw"])
        if "feast" in one:
            found["feast_1x50"] = one["feast"].over(one["dict"])
            found["feast_1x50_cpu"] = one["feast"].cpu_over(one["dict"])
    if (many := results.get("100x50")) is not None and "feast" in many:
        found["feast_100x50"] = many["feast"].over(many["arrow"])
        found["feast_100x50_dict"] = many["feast"].over(many["dict"])
    if memory:
        found["memory_vs_feast"] = memory["wide"]["ours"] / memory["wide"]["feast"]
    return {**found, "differ": differ}


def print_table(results: Results, memory: Mapping[str, Mapping[str, float]]) -> None:
    """Print the timings, a line for each form at each shape, and what the server's memory holds."""
    print(f"{'shape':>15} {'form':>9} {'p50 µs':>9} {'p99 µs':>9} {'CPU µs':>9} {'vs raw':>7}")
    for shape, forms in results.items():
        for form, one in forms.items():
            raw = forms["async_raw" if form.startswith("async") else "raw"]
            print(
                f"{shape:>15} {form:>9} {one.p50_us:9.1f} {one.p99_us:9.1f} {one.cpu_us:9.1f} {one.over(raw):7.2f}",
                flush=True,
            )
    for view, sides in memory.items():
        print(
            f"{view}: bytes of server memory an entity "
            + ", ".join(f"{side} {size:.0f}" for side, size in sides.items())
        )


def main(arguments: Sequence[str]) -> int:
    """Measure, print the table and the RESULT line, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--turns", type=int, default=3, help="of each form in a round")
    parser.add_argument("--only", nargs="*", choices=[shape.name for shape in SHAPES], help="these shapes")
    parser.add_argument("--no-feast", action="store_true", help="featurekit and redis-py alone")
    options = parser.parse_args(arguments)
    if KINDS["redis"] is None:
        fail(
            "there is no redis-server on this machine, with whose allocator memory is measured:"
            " apt-get install redis-server"
        )
    results: Results = {}
    memory: dict[str, dict[str, float]] = {}
    differ = 0
    with _world(with_feast=not options.no_feast) as (server, folder, feast, tables), asyncio.Runner() as runner:
        if feast is not None:
            memory = measure_memory(server, tables, feast)
            for view in VIEWS:
                feast.ask("write", view)
        spaces = {view: write_view(server.url, view, table) for view, table in tables.items()}
        publish_services(server.url)
        with Sides(server.url, spaces, runner, feast) as sides:
            for shape in SHAPES:
                if options.only and shape.name not in options.only:
                    continue
                differ += sides.differing(shape, folder)
                results[shape.name] = in_turns(sides.forms(shape), rounds=options.rounds, turns=options.turns)
    print_table(results, memory)
    told = {"shapes": details(results), "memory_bytes_per_entity": memory, "entities": ENTITIES}
    finish("bench-online", _values(results, memory, differ), details=told, seed=SEED, file="bench-online")
    return 1 if differ else 0


def details(results: Results) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the timings as a results file keeps them."""
    return {
        shape: {
            form: {"p50_us": one.p50_us, "p99_us": one.p99_us, "cpu_us": one.cpu_us, "medians_us": one.medians}
            for form, one in forms.items()
        }
        for shape, forms in results.items()
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
