"""The lookup server beside the SDK in process and beside a bare Starlette route that returns the same bytes.

    python -m benchmarks.bench_server [--quick]

One entity and 50 features a request, over kept connections, one and 16 at a time. Each server is a process of its own,
as is the store; they take turns within a run. CPU is that of the server's process, user and system. `threads` is the
server without its short way: each lookup worked out in a thread.
"""

from __future__ import annotations

import argparse
import json
import os
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from benchmarks.report import finish
from featurekit.clock import DAY
from featurekit.grid import Grid
from featurekit.online import embedded
from featurekit.online.async_client import AsyncFeatureClient
from featurekit.online.client import FeatureClient
from featurekit.online.codec import RowCodec
from featurekit.online.keys import KeySpace, Namespace
from featurekit.online.publish import PlanBody, publish_plans, switch_services
from featurekit.online.redis import open_store
from featurekit.online.store import Head, HeadEntry, encode_head
from featurekit.plan import LookupPlan, PlanField, PlanKey, PlanView
from featurekit.serving.app import create_app
from featurekit.serving.arrow_stream import MEDIA_TYPE
from featurekit.serving.server import HttpServer, listen
from featurekit.types import Field, Float64, Int64, Schema

NAMESPACE: Final = Namespace("bench", "server")
FEATURES: Final = 50
CONNECTIONS: Final = (1, 16)
PATH: Final = "/v1/lookup/service"
QUESTION: Final = b'{"entities":{"user_id":7},"at":"1970-01-02T00:00Z"}'
_HEAD: Final = "POST {} HTTP/1.1\r\nhost: bench\r\nuser-agent: bench\r\ncontent-length: {}\r\n{}\r\n"
_REQUESTS: Final = {
    kind: _HEAD.format(PATH, len(QUESTION), accept).encode() + QUESTION
    for kind, accept in (("bare", ""), ("json", ""), ("threads", ""), ("arrow", f"accept: {MEDIA_TYPE}\r\n"))
}
_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What a server did under so many connections: medians of the rounds."""

    kind: str
    connections: int
    per_s: float
    cpu_us: float
    p50_us: float
    p99_us: float


def measure(url: str, *, rounds: int, seconds: float) -> tuple[list[Load], float, float]:
    """Return the loads, and a lookup to JSON in process: its µs and its µs of CPU."""
    write_world(url)
    sdk = [_in_process(url, seconds) for _ in range(rounds)]
    seen: dict[tuple[str, int], list[Load]] = {}
    with ExitStack() as running:
        ours = running.enter_context(_server(["--url", url]))
        content = _answered(ours.port, _REQUESTS["json"])[1]
        threads = running.enter_context(_server(["--url", url, "--threads"]))
        bare = running.enter_context(_server(["--answer", content.decode()]))
        for _ in range(rounds):
            for connections in CONNECTIONS:
                for kind, server in (("bare", bare), ("json", ours), ("threads", threads), ("arrow", ours)):
                    load = _load(kind, server, connections, seconds)
                    seen.setdefault((kind, connections), []).append(load)
    return [_median(loads) for loads in seen.values()], *map(statistics.median, zip(*sdk, strict=True))


def write_world(url: str) -> None:
    """Write a service of doubles for one entity."""
    fields = [PlanField(name=f"f{i:03}", type=Float64(), is_latest=False, empty=None, default=None) for i in range(50)]
    view = PlanView(
        alias="view",
        view="view",
        fingerprint="5a" * 32,
        keys=(PlanKey(name="user_id", type=Int64(), request="user_id"),),
        grid=Grid(DAY),
        fields=tuple(fields[:FEATURES]),
    )
    plan = LookupPlan(
        service="service",
        fingerprint="1f" * 32,
        views=(view,),
        request=Schema(()),
        on_demand=(),
        outputs=tuple(Field(f"view.{field.name}", field.type) for field in view.fields),
    )
    space = KeySpace(namespace=NAMESPACE, view=view.view, fingerprint=view.fingerprint, as_of=0)
    codec = RowCodec([Field(field.name, field.type) for field in view.fields], view.fingerprint)
    row = codec.encode_row([1 / (i + 3) for i in range(FEATURES)], as_of=0, last_event=-1)
    head = Head((HeadEntry(as_of=0, restatement=0, visible_from=0, completed_at=0, rows=1),))
    store = open_store(url)
    store.write({space.row(b"7"): row, space.marker: b"1", space.head: encode_head(head)})
    body = PlanBody.of(plan)
    publish_plans(store, NAMESPACE, [body])
    switch_services(store, NAMESPACE, {body.service: body.pointer})
    store.close()


def _in_process(url: str, seconds: float) -> tuple[float, float]:
    """Return the µs, and the µs of CPU, of a lookup by the SDK that ends as JSON text."""
    with FeatureClient(url, project=NAMESPACE.project, environment=NAMESPACE.environment) as client:
        client.lookup("service", {"user_id": 7}, at=DAY)
        calls, began, cpu = 0, time.perf_counter(), time.process_time()
        while time.perf_counter() < began + seconds:
            json.dumps(client.lookup("service", {"user_id": 7}, at=DAY).to_dict())
            calls += 1
        return (time.perf_counter() - began) / calls * 1e6, (time.process_time() - cpu) / calls * 1e6


class _Server(NamedTuple):
    pid: int
    port: int

    def cpu_s(self) -> float:
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S


@contextmanager
def _server(arguments: Sequence[str]) -> Iterator[_Server]:
    """Give a server that runs as long as the block, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.bench_server", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield _Server(process.pid, int(process.stdout.readline()))
    finally:
        process.terminate()
        process.wait()


def serve(url: str, *, is_quick: bool = True) -> None:
    """Run the lookup server."""
    listening = listen()
    print(listening.getsockname()[1], flush=True)
    store = open_store(url)
    project, environment = NAMESPACE.project, NAMESPACE.environment
    with FeatureClient(project=project, environment=environment, store=store) as client:
        quick = AsyncFeatureClient(url, project=project, environment=environment) if is_quick else None
        HttpServer(create_app(client, store, quick=quick), listening=listening).run()


def serve_bare(answer: bytes) -> None:
    """Run a server that gives the same bytes to everybody, once it has read what is asked."""

    async def lookup(request: Request) -> Response:
        await request.body()
        return Response(answer, media_type="application/json")

    listening = listen()
    print(listening.getsockname()[1], flush=True)
    app = Starlette(routes=[Route("/v1/lookup/{service}", lookup, methods=["POST"])])
    config = uvicorn.Config(app, access_log=False, log_config=None)
    uvicorn.Server(config).run(sockets=[listening])


def _load(kind: str, server: _Server, connections: int, seconds: float) -> Load:
    request = _REQUESTS[kind]
    size = sum(map(len, _answered(server.port, request)))
    took: list[float] = []
    with ExitStack() as opened, selectors.DefaultSelector() as ready:
        for _ in range(connections):
            connection = opened.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            ready.register(connection, selectors.EVENT_READ, [0, time.perf_counter()])
            connection.sendall(request)
        cpu, began = server.cpu_s(), time.perf_counter()
        while (now := time.perf_counter()) < began + seconds:
            for key, _ in ready.select(1.0):
                got = key.data
                got[0] += len(key.fileobj.recv(1 << 20))  # type: ignore[union-attr]
                if got[0] == size:
                    now = time.perf_counter()
                    took.append(now - got[1])
                    got[:] = [0, now]
                    key.fileobj.sendall(request)  # type: ignore[union-attr]
        spent = server.cpu_s() - cpu
    micros = np.array(took) * 1e6
    return Load(
        kind=kind,
        connections=connections,
        per_s=len(took) / (now - began),
        cpu_us=spent / len(took) * 1e6,
        p50_us=float(np.percentile(micros, 50)),
        p99_us=float(np.percentile(micros, 99)),
    )


def _answered(port: int, request: bytes) -> tuple[bytes, bytes]:
    """Return an answer's head and body; every answer to the same request is as long."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(request)
        found = b""
        while True:
            found += connection.recv(1 << 20)
            head, end, body = found.partition(b"\r\n\r\n")
            size = [
                int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")
            ]
            if end and len(body) == size[0]:
                assert head.startswith(b"HTTP/1.1 200"), found
                return head + end, body


def _median(loads: Sequence[Load]) -> Load:
    numbers = {
        name: statistics.median(getattr(load, name) for load in loads)
        for name in ("per_s", "cpu_us", "p50_us", "p99_us")
    }
    return Load(kind=loads[0].kind, connections=loads[0].connections, **numbers)


def compare(*, rounds: int, seconds: float) -> None:
    """Measure against a store of our own, and print what was found."""
    with tempfile.TemporaryDirectory(prefix="featurekit-bench-") as folder:
        try:
            loads, sdk_us, sdk_cpu_us = measure(embedded.start(Path(folder)).url, rounds=rounds, seconds=seconds)
        finally:
            embedded.stop(Path(folder))
    print(f"in process, to JSON: {sdk_us:.0f} µs a lookup, {sdk_cpu_us:.0f} µs of CPU")
    print(f"{'server':>8} {'connections':>11} {'requests/s':>11} {'CPU µs':>7} {'p50 µs':>8} {'p99 µs':>8}")
    for load in loads:
        print(
            f"{load.kind:>8} {load.connections:>11} {load.per_s:11,.0f} {load.cpu_us:7.0f}"
            f" {load.p50_us:8.0f} {load.p99_us:8.0f}"
        )
    by = {(load.kind, load.connections): load for load in loads}
    most = CONNECTIONS[-1]
    finish(
        "bench-server",
        {
            "json_cpu_us": by["json", most].cpu_us,
            "arrow_cpu_us": by["arrow", most].cpu_us,
            "sdk_cpu_us": sdk_cpu_us,
            "threads_cpu_us": by["threads", most].cpu_us,
            "bare_cpu_us": by["bare", most].cpu_us,
            "json_per_s": round(by["json", most].per_s),
            "json_cpu_vs_bare": by["json", most].cpu_us / by["bare", most].cpu_us,
            "json_cpu_vs_sdk": by["json", most].cpu_us / sdk_cpu_us,
        },
        details={"loads": [asdict(load) for load in loads], "sdk_us": sdk_us},
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the table and the RESULT line; or run one of the servers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds: does it run at all?")
    parser.add_argument("--url", help=argparse.SUPPRESS)
    parser.add_argument("--threads", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--answer", help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.url:
        serve(asked.url, is_quick=not asked.threads)
    elif asked.answer:
        serve_bare(asked.answer.encode())
    else:
        compare(rounds=1 if asked.quick else 5, seconds=0.3 if asked.quick else 2.0)


if __name__ == "__main__":
    main()
