"""Real servers in every way that featurekit is deployed: on loopback and free ports, ended by their own process.

    with standalone(folder, "valkey", "appendonly yes") as server:
        server.kill()
        server.start()

A server's data stay in its folder from one start to the next. `KINDS` says which servers this machine has.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import redis

from featurekit.online import embedded

HOST: Final = "127.0.0.1"
KINDS: Final[Mapping[str, str | None]] = {
    "valkey": str(embedded.server_binary()),  # Valkey 9; knows no TLS
    "redis": shutil.which("redis-server"),  # Debian's Redis 7
}
_START_LIMIT_S: Final = 30.0
# Below the ports that the kernel gives to clients, so that none of those takes a server's while it is down.
_PORTS: Final = itertools.cycle(range(12_000, 32_000))
for _ in range(os.getpid() * 37 % 20_000):  # tests that run beside each other begin at different places
    next(_PORTS)


@dataclass(eq=False)
class Server:
    """One server process, and where it is; `password` is the default user's, for those who ask here."""

    folder: Path
    kind: str
    lines: tuple[str, ...] = ()
    password: str | None = None
    is_sentinel: bool = False
    port: int = field(default_factory=lambda: free_port())
    tls: Mapping[str, Path] | None = None  # as `certificates` gives them; both sides show theirs
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://{HOST}:{self.port}/0"

    @property
    def address(self) -> str:
        return f"{HOST}:{self.port}"

    @property
    def socket(self) -> Path:
        return self.folder / "socket"

    def start(self) -> None:
        """Start the server and wait until it answers, with its data read back."""
        self.spawn()
        until(self.is_ready, f"the server on port {self.port} ({self.folder}) to answer")

    def spawn(self) -> None:
        """Start the server without waiting for it."""
        assert self.process is None, "it runs already"
        binary = KINDS[self.kind]
        assert binary is not None, f"there is no {self.kind} server on this machine"
        self.folder.mkdir(parents=True, exist_ok=True)
        configured = self.folder / "server.conf"
        if not configured.exists():  # a Sentinel keeps what it learned in it
            configured.write_text("\n".join(self._lines()) + "\n")
        words = [binary, configured.name, *(["--sentinel"] if self.is_sentinel else [])]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(words, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def _lines(self) -> Iterator[str]:
        yield f"bind {HOST}"
        if self.tls is None:
            yield f"port {self.port}"
        else:
            yield from ("port 0", f"tls-port {self.port}", "tls-replication yes")
            yield f"tls-cert-file {self.tls['server.crt']}"
            yield f"tls-key-file {self.tls['server.key']}"
            yield f"tls-ca-cert-file {self.tls['ca.crt']}"
        if not self.is_sentinel:
            yield "unixsocket socket"  # relative: no path is too long
            yield 'save ""'
            yield "maxmemory-policy noeviction"
            yield "repl-diskless-sync-delay 0"
        yield from self.lines

    def client(self, **options: Any) -> redis.Redis:
        """Return a redis-py client of exactly this server."""
        told = {"password": self.password, "socket_timeout": 5, **options}
        if self.tls is not None:
            files = {"ssl_ca_certs": "ca.crt", "ssl_certfile": "client.crt", "ssl_keyfile": "client.key"}
            told |= {"ssl": True, **{option: str(self.tls[name]) for option, name in files.items()}}
        return redis.Redis(host=HOST, port=self.port, **told)

    def ask(self, *words: str | bytes | int) -> Any:
        """Return the server's answer to one command, as redis-py gives it."""
        with self.client() as client:
            return client.execute_command(*words)

    def is_ready(self) -> bool:
        assert self.process is not None
        if self.process.poll() is not None:
            said = (self.folder / "log").read_text(errors="replace")[-2000:]
            raise RuntimeError(f"the server on port {self.port} ended: {said}")
        try:
            return bool(self.ask("PING"))
        except redis.RedisError:
            return False

    def kill(self) -> None:
        """End the server at once, as a crash does."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End the server as an operator does; what its configuration keeps is on disk then."""
        self._end(signal.SIGTERM)

    def pause(self) -> None:
        """Let the server neither answer nor close anything, as a machine that hangs."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)

    def _end(self, by: signal.Signals) -> None:
        if self.process is None:
            return
        self.process.send_signal(by)
        self.process.send_signal(signal.SIGCONT)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None


def free_port() -> int:
    """Return a port of loopback that nobody listens on, and that was not given out before."""
    for port in _PORTS:
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind((HOST, port))
            return port
    raise AssertionError


def until(is_so: Callable[[], bool], what: str, *, limit_s: float = _START_LIMIT_S) -> float:
    """Return after how many seconds it was so; TimeoutError where that takes too long."""
    begun = time.monotonic()
    while not is_so():
        if time.monotonic() - begun > limit_s:
            raise TimeoutError(f"waited {limit_s:.0f} s for {what}")
        time.sleep(0.01)
    return time.monotonic() - begun


@contextlib.contextmanager
def running(*servers: Server) -> Iterator[None]:
    """Start the servers, and end them with the block."""
    try:
        for server in servers:
            server.spawn()
        for server in servers:
            until(server.is_ready, f"the server on port {server.port} to answer")
        yield
    finally:
        for server in servers:
            server.kill()


@contextlib.contextmanager
def emptied(server: Server) -> Iterator[Server]:
    """Give a server that runs and has no data, whatever was done to it before; afterwards it hangs no more."""
    if server.process is None:
        server.start()
    server.ask("FLUSHALL")
    yield server
    if server.process is not None:
        server.resume()


@contextlib.contextmanager
def standalone(folder: Path, kind: str, *lines: str) -> Iterator[Server]:
    """Give one server, on a port and on a Unix socket; `lines` are of its configuration."""
    server = Server(folder, kind, lines)
    with running(server):
        yield server


@dataclass
class Sentinels:
    """A master with replicas, and the Sentinels that watch them."""

    servers: tuple[Server, ...]
    sentinels: tuple[Server, ...]
    name: str = "features"

    @property
    def url(self) -> str:
        servers = ",".join(one.address for one in self.sentinels)
        tls = self.servers[0].tls
        return (
            f"redis+sentinel://{servers}/{self.name}"
            if tls is None
            else (f"rediss+sentinel://{servers}/{self.name}?{tls_options(tls)}")
        )

    def master(self) -> Server:
        """Return the server that the Sentinels name now."""
        for sentinel in self.sentinels:
            with contextlib.suppress(redis.RedisError):
                _, port = sentinel.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", self.name)
                return next(server for server in self.servers if server.port == int(port))
        raise AssertionError("no Sentinel answers")

    def replicas(self) -> list[Server]:
        master = self.master()
        return [server for server in self.servers if server is not master]

    def await_replicas(self) -> None:
        """Wait until every server that runs has all that the master has, and every Sentinel knows of all."""
        until(self._all_follow, "the replicas to follow", limit_s=60)
        until(lambda: all(self._knows_all(sentinel) for sentinel in self.sentinels), "the Sentinels to know all")

    def _all_follow(self) -> bool:
        master = self.master()
        others = [server for server in self.servers if server.process is not None and server is not master]
        return all(follows(server, master) for server in others)

    def _knows_all(self, sentinel: Server) -> bool:
        words = [word.decode() for word in raw(sentinel, "SENTINEL", "MASTER", self.name)]
        told = dict(zip(words[::2], words[1::2], strict=True))
        return (
            int(told["num-slaves"]) >= len(self.servers) - 1
            and int(told["num-other-sentinels"]) == len(self.sentinels) - 1
        )


@contextlib.contextmanager
def sentinels(
    folder: Path,
    kind: str,
    *lines: str,
    replicas: int = 1,
    watchers: int = 3,
    down_ms: int = 400,
    tls: Mapping[str, Path] | None = None,
) -> Iterator[Sentinels]:
    """Give a master, its replicas and Sentinels that promote one of them after `down_ms`; `lines` are the servers'."""
    first = Server(folder / "0", kind, lines, tls=tls)
    others = [
        Server(folder / f"{i}", kind, (*lines, f"replicaof {HOST} {first.port}"), tls=tls)
        for i in range(1, 1 + replicas)
    ]
    watching = [
        Server(
            folder / f"sentinel-{i}",
            kind,
            (
                f"sentinel monitor features {HOST} {first.port} {watchers // 2 + 1}",
                f"sentinel down-after-milliseconds features {down_ms}",
                "sentinel failover-timeout features 2000",
                "sentinel parallel-syncs features 2",
            ),
            is_sentinel=True,
            tls=tls,
        )
        for i in range(watchers)
    ]
    found = Sentinels((first, *others), tuple(watching))
    with running(first, *others):
        # First: a Sentinel looks for replicas when it starts, and only ten seconds later again.
        until(lambda: all(follows(replica, first) for replica in others), "the replicas to follow", limit_s=60)
        with running(*watching):
            found.await_replicas()
            yield found


@dataclass
class Cluster:
    """A cluster; its nodes are numbered, the first masters first."""

    nodes: tuple[Server, ...]
    masters: int

    @property
    def url(self) -> str:
        servers = ",".join(node.address for node in self.nodes[:3])
        tls = self.nodes[0].tls
        return f"redis+cluster://{servers}" if tls is None else f"rediss+cluster://{servers}?{tls_options(tls)}"

    def owner(self, slot: int) -> Server:
        """Return the node that has a slot now, as most nodes see it."""
        for node in self.nodes:
            if node.process is None:
                continue
            with contextlib.suppress(redis.RedisError, OSError):
                for first, last, (_, port, *_), *_ in raw(node, "CLUSTER", "SLOTS"):
                    if first <= slot <= last:
                        return next(one for one in self.nodes if one.port == port)
        raise AssertionError(f"no node has slot {slot}")

    def await_whole(self, limit_s: float = 60) -> float:
        """Wait until every node that runs serves all slots, and every replica follows."""
        return until(
            lambda: all(self._is_whole(node) for node in self.nodes if node.process), "the cluster", limit_s=limit_s
        )

    def _is_whole(self, node: Server) -> bool:
        with contextlib.suppress(redis.RedisError, OSError):
            told = _fields(raw(node, "CLUSTER", "INFO"))
            role, *rest = raw(node, "ROLE")
            return (
                told["cluster_state"] == "ok"
                and told["cluster_slots_ok"] == "16384"
                and int(told["cluster_known_nodes"]) == len(self.nodes)
                and (role == b"master" or rest[2] == b"connected")
            )
        return False

    def move_slot(self, slot: int, to: Server, *, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Move a slot with its keys, as resharding does; `meanwhile` runs after each step."""
        source = self.owner(slot)
        source_id, target_id = (raw(node, "CLUSTER", "MYID").decode() for node in (source, to))
        raw(to, "CLUSTER", "SETSLOT", slot, "IMPORTING", source_id)
        raw(source, "CLUSTER", "SETSLOT", slot, "MIGRATING", target_id)
        meanwhile()
        while keys := raw(source, "CLUSTER", "GETKEYSINSLOT", slot, 1):
            raw(source, "MIGRATE", HOST, to.port, "", 0, 5000, "KEYS", *keys)
            meanwhile()
        for node in (to, source, *self.nodes):
            if node.process is not None:
                with contextlib.suppress(redis.ResponseError):  # a replica takes no slots
                    raw(node, "CLUSTER", "SETSLOT", slot, "NODE", target_id)
        meanwhile()


@contextlib.contextmanager
def cluster(
    folder: Path,
    kind: str,
    *lines: str,
    masters: int = 3,
    replicas: int = 0,
    node_timeout_ms: int = 1000,
    tls: Mapping[str, Path] | None = None,
) -> Iterator[Cluster]:
    """Give a cluster whose masters have so many replicas each; one is promoted after `node_timeout_ms` or so."""
    more = (
        *lines,
        "cluster-enabled yes",
        f"cluster-node-timeout {node_timeout_ms}",
        "cluster-replica-validity-factor 0",
        *([] if tls is None else ["tls-cluster yes"]),
    )
    nodes = tuple(
        Server(folder / f"{i}", kind, (*more, f"cluster-port {free_port()}"), tls=tls)
        for i in range(masters * (1 + replicas))
    )
    found = Cluster(nodes, masters)
    with running(*nodes):
        _join(found)
        yield found


def _join(found: Cluster) -> None:
    first, *_ = nodes = found.nodes
    share = -(-16384 // found.masters)
    for i, node in enumerate(nodes):
        raw(node, "CLUSTER", "SET-CONFIG-EPOCH", i + 1)
        if i < found.masters:
            raw(node, "CLUSTER", "ADDSLOTSRANGE", i * share, min((i + 1) * share, 16384) - 1)
    for node in nodes[1:]:
        bus = next(line.split()[1] for line in node.lines if line.startswith("cluster-port "))
        raw(first, "CLUSTER", "MEET", HOST, node.port, bus)
    until(lambda: all(_known(node) == len(nodes) for node in nodes), "the nodes to meet", limit_s=60)
    for i, node in enumerate(nodes[found.masters :]):
        master_id = raw(nodes[i % found.masters], "CLUSTER", "MYID")
        until(partial(_becomes_replica, node, master_id), "a replica to know its master")
    found.await_whole()


def _becomes_replica(node: Server, master_id: bytes) -> bool:
    with contextlib.suppress(redis.ResponseError):
        raw(node, "CLUSTER", "REPLICATE", master_id)
        return True
    return False


def _known(node: Server) -> int:
    return int(_fields(raw(node, "CLUSTER", "INFO"))["cluster_known_nodes"])


def follows(replica: Server, master: Server) -> bool:
    """Return whether a replica has all that the master has: one that is still loading it may be called online."""
    with contextlib.suppress(redis.RedisError):  # it closes its connections when it gets another master
        told = _fields(raw(replica, "INFO", "REPLICATION"))
        return (
            told["role"] == "slave"
            and told["master_port"] == str(master.port)
            and told["master_link_status"] == "up"
            and bool(replica.ask("DBSIZE") == master.ask("DBSIZE"))
        )
    return False


def raw(server: Server, *words: str | bytes | int) -> Any:
    """Return a server's answer without redis-py's reading of it."""
    with server.client(protocol=2) as client, _disconnected(client) as connection:
        connection.send_command(*words)
        return connection.read_response()


@contextlib.contextmanager
def _disconnected(client: redis.Redis) -> Iterator[Any]:
    connection: Any = client.connection_pool.make_connection()
    try:
        yield connection
    finally:
        connection.disconnect()


def _fields(text: bytes) -> dict[str, str]:
    return {name: value for name, _, value in (line.partition(":") for line in text.decode().splitlines())}


@contextlib.contextmanager
def tls_server(folder: Path, *lines: str) -> Iterator[tuple[Server, str]]:
    """Give Debian's Redis behind TLS, which asks clients for a certificate too, and its URL."""
    files = certificates(folder / "tls")
    server = Server(folder / "server", "redis", lines, tls=files)
    with running(server):
        yield server, f"rediss://localhost:{server.port}/0?{tls_options(files)}"


def tls_options(files: Mapping[str, Path]) -> str:
    """Return what a client's URL says of these files."""
    return f"ca={files['ca.crt']}&cert={files['client.crt']}&key={files['client.key']}"


def certificates(folder: Path) -> dict[str, Path]:
    """Return files of an authority, of a server called localhost, and of a client; made by openssl."""
    folder.mkdir(parents=True, exist_ok=True)

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    new_key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    openssl("req", "-x509", *new_key, "-keyout", "ca.key", "-out", "ca.crt", "-days", "2", "-subj", "/CN=authority")
    for who in ("server", "client"):
        (folder / f"{who}.ext").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        openssl("req", *new_key, "-keyout", f"{who}.key", "-out", f"{who}.csr", "-subj", f"/CN={who}")
        openssl("x509", "-req", "-in", f"{who}.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial",
                "-days", "2", "-extfile", f"{who}.ext", "-out", f"{who}.crt")  # fmt: skip
    return {path.name: path for path in folder.iterdir()}
