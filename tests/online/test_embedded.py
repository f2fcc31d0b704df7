"""The embedded server, with the real binary: one server per folder, whatever happens to the processes around it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from featurekit.errors import EmbeddedServerError
from featurekit.online import embedded
from featurekit.online.embedded import EmbeddedServer

START_AND_PRINT = """
import sys
from pathlib import Path
from featurekit.online import embedded
server = embedded.start(Path(sys.argv[1]))
print(server.pid, server.port)
"""


@pytest.fixture
def state_dir(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / ".featurekit"
    yield folder
    if folder.exists():
        embedded.stop(folder)


def put(server: EmbeddedServer, key: str, value: str) -> None:
    with Redis.from_url(server.url) as client:
        client.set(key, value)


def get(server: EmbeddedServer, key: str) -> bytes | None:
    with Redis.from_url(server.url) as client:
        value = client.get(key)
        assert value is None or isinstance(value, bytes)
        return value


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def kill(server: EmbeddedServer) -> None:
    os.kill(server.pid, signal.SIGKILL)
    while is_listening(server.port):
        time.sleep(0.005)


def test_a_second_start_finds_the_first_server(state_dir: Path) -> None:
    first = embedded.start(state_dir)

    assert embedded.start(state_dir) == first
    assert embedded.status(state_dir) == first


def test_processes_that_start_at_once_get_one_server(state_dir: Path) -> None:
    root = Path(embedded.__file__).parents[2]
    starters = [
        subprocess.Popen(
            [sys.executable, "-c", START_AND_PRINT, str(state_dir)], cwd=root, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    answers = {starter.communicate(timeout=60)[0] for starter in starters}

    found = embedded.status(state_dir)
    assert found is not None
    assert answers == {f"{found.pid} {found.port}\n"}


def test_a_server_outlives_the_process_that_started_it(state_dir: Path) -> None:
    root = Path(embedded.__file__).parents[2]
    subprocess.run(
        [sys.executable, "-c", START_AND_PRINT, str(state_dir)], cwd=root, check=True, stdout=subprocess.DEVNULL
    )

    found = embedded.status(state_dir)
    assert found is not None
    assert os.getsid(found.pid) != os.getsid(0)


def test_status_of_a_folder_without_a_server_is_none_and_makes_nothing(state_dir: Path) -> None:
    assert embedded.status(state_dir) is None
    assert embedded.stop(state_dir) is False
    assert not state_dir.exists()


def test_stop_ends_the_server_and_says_whether_there_was_one(state_dir: Path) -> None:
    server = embedded.start(state_dir)

    assert embedded.stop(state_dir) is True
    assert embedded.status(state_dir) is None
    assert embedded.stop(state_dir) is False
    assert not is_listening(server.port)


def test_data_and_port_survive_stop_and_start(state_dir: Path) -> None:
    before = embedded.start(state_dir)
    put(before, "kept", "1")
    embedded.stop(state_dir)

    after = embedded.start(state_dir)
    assert after.pid != before.pid
    assert after.url == before.url
    assert get(after, "kept") == b"1"


def test_data_synced_before_a_kill_are_there_after_the_next_start(state_dir: Path) -> None:
    before = embedded.start(state_dir)
    put(before, "kept", "1")
    time.sleep(1.2)  # appendfsync is everysec
    kill(before)

    assert embedded.status(state_dir) is None
    assert get(embedded.start(state_dir), "kept") == b"1"


def test_a_killed_server_that_is_not_there_any_more_is_not_stopped_twice(state_dir: Path) -> None:
    kill(embedded.start(state_dir))

    assert embedded.stop(state_dir) is False


def test_a_stranger_that_has_the_pid_of_a_killed_server_is_left_alone(state_dir: Path) -> None:
    kill(embedded.start(state_dir))
    with subprocess.Popen(["sleep", "60"]) as stranger:
        (state_dir / "valkey" / "pid").write_text(f"{stranger.pid}\n")

        assert embedded.stop(state_dir) is False
        assert embedded.start(state_dir).pid != stranger.pid
        assert embedded.stop(state_dir) is True
        assert stranger.poll() is None
        stranger.kill()


def test_a_strange_server_on_the_recorded_port_is_neither_used_nor_stopped(state_dir: Path, tmp_path: Path) -> None:
    other_dir = tmp_path / "other"
    other = embedded.start(other_dir)
    try:
        kill(embedded.start(state_dir))
        (state_dir / "valkey" / "port").write_text(f"{other.port}\n")
        (state_dir / "valkey" / "pid").write_text(f"{other.pid}\n")

        assert embedded.status(state_dir) is None
        assert embedded.stop(state_dir) is False
        assert embedded.start(state_dir).port != other.port
        assert embedded.status(other_dir) == other
    finally:
        embedded.stop(other_dir)


def test_a_start_that_was_killed_half_way_leaves_a_server_that_the_next_one_finds(state_dir: Path) -> None:
    server = embedded.start(state_dir)
    (state_dir / "valkey" / "pid").unlink()  # as if it had not come to write it

    assert embedded.start(state_dir) == server


def test_a_server_stays_found_when_its_folder_moves(state_dir: Path, tmp_path: Path) -> None:
    server = embedded.start(state_dir)
    moved = tmp_path / "moved"
    state_dir.rename(moved)

    try:
        assert embedded.status(moved) == server
    finally:
        embedded.stop(moved)


def test_a_server_that_does_not_answer_is_an_error_and_no_second_one_is_started(
    state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "_ANSWER_LIMIT_S", 0.1)
    monkeypatch.setattr(embedded, "_SILENCE_LIMIT_S", 0.3)
    server = embedded.start(state_dir)
    os.kill(server.pid, signal.SIGSTOP)
    try:
        with pytest.raises(EmbeddedServerError, match="does not answer") as raised:
            embedded.start(state_dir)
        assert str(server.pid) in str(raised.value)
        assert raised.value.exit_code == 3
        with pytest.raises(EmbeddedServerError, match="does not answer"):
            embedded.stop(state_dir)
    finally:
        os.kill(server.pid, signal.SIGCONT)

    monkeypatch.undo()
    assert embedded.start(state_dir) == server


def test_the_server_listens_on_loopback_alone_and_never_evicts(state_dir: Path) -> None:
    server = embedded.start(state_dir)

    with Redis.from_url(server.url, decode_responses=True) as client:
        settings = client.config_get("bind", "maxmemory-policy", "appendonly")
    assert settings == {"bind": "127.0.0.1", "maxmemory-policy": "noeviction", "appendonly": "yes"}


def test_a_server_that_cannot_read_its_data_back_says_why_and_where(state_dir: Path) -> None:
    embedded.start(state_dir)
    embedded.stop(state_dir)
    (manifest,) = (state_dir / "valkey" / "appendonlydir").glob("*.manifest")
    manifest.write_text("not a manifest\n")

    with pytest.raises(EmbeddedServerError) as raised:
        embedded.start(state_dir)
    assert raised.value.where == str(state_dir / "valkey" / "server.log")
    assert "manifest" in (raised.value.why or "")


def test_a_deep_folder_is_no_obstacle(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["a-folder-with-a-long-name"] * 20)
    server = embedded.start(deep)
    try:
        assert embedded.status(deep) == server
    finally:
        embedded.stop(deep)
