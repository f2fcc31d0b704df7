"""A PostgreSQL server of the tests' own: Debian's binaries, a folder, a loopback port; stopped by its pid."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

_DEBIAN: Final = Path("/usr/lib/postgresql")
_START_S: Final = 30.0
NOT_INSTALLED: Final = "PostgreSQL's server is not on this machine: apt-get install postgresql"


def binaries() -> Path | None:
    """Return the folder of the newest server's programs, or None."""
    found = sorted(path.parent for path in _DEBIAN.glob("*/bin/postgres"))
    return found[-1] if found else None


@contextmanager
def server() -> Iterator[str]:
    """Give the URL of a database on a new server."""
    programs = binaries()
    assert programs is not None, NOT_INSTALLED
    # Not in pytest's folders: those are for the user who runs the tests, and the server runs as another.
    with tempfile.TemporaryDirectory(prefix="featurekit-postgres-") as folder:
        yield from _serve(programs, Path(folder))


def _serve(programs: Path, folder: Path) -> Iterator[str]:
    account = _account(folder)
    data = folder / "data"
    run: dict[str, Any] = {**account, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": "/"}
    subprocess.run([programs / "initdb", "-D", data, "-U", "test", "-A", "trust", "--no-sync"], check=True, **run)
    port = _free_port()
    options = ["-c", "listen_addresses=127.0.0.1", "-c", f"port={port}", "-c", f"unix_socket_directories={folder}"]
    process = subprocess.Popen([programs / "postgres", "-D", data, "-F", *options], **run)
    try:
        _wait_until_ready(programs, port, run)
        yield f"postgresql+psycopg://test@127.0.0.1:{port}/postgres"
    finally:
        process.send_signal(signal.SIGINT)  # its fast shutdown: sessions are ended, not waited for
        process.wait(_START_S)


def _account(folder: Path) -> dict[str, Any]:
    """Return the user to run as: the server refuses root."""
    if os.getuid() != 0:
        return {}
    user = pwd.getpwnam("postgres")
    shutil.chown(folder, user.pw_uid, user.pw_gid)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_ready(programs: Path, port: int, run: dict[str, Any]) -> None:
    deadline = time.monotonic() + _START_S
    while subprocess.run([programs / "pg_isready", "-h", "127.0.0.1", "-p", str(port)], check=False, **run).returncode:
        if time.monotonic() > deadline:
            raise TimeoutError("PostgreSQL does not answer")
        time.sleep(0.05)
