"""The store's password: in nothing that the program prints, and in no file that it writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.online.deployments import Server, running

SECRET = "hunter2-of-the-store"


def test_the_password_is_printed_by_no_command_and_kept_in_no_file(
    cli: Cli, project: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server(tmp_path_factory.mktemp("server"), "valkey", (f"requirepass {SECRET}",), password=SECRET)
    secret = tmp_path_factory.mktemp("secret") / "password"
    secret.write_text(SECRET)
    monkeypatch.setenv("FEATUREKIT_REDIS_PASSWORD_FILE", str(secret))
    monkeypatch.setenv("FEATUREKIT_REDIS_URL", server.url)
    with running(server):
        shown = [cli("doctor", "--json"), cli("register"), cli("status", "--json"), cli("lookup", "no_service")]
        assert "never evicts" in shown[0].stdout
        assert shown[1].exit_code == 0, shown[1].stderr
        assert "no_service" in shown[3].stderr
        secret.write_text("wrong " + SECRET)
        shown += [cli("doctor", "--json"), cli("register")]
        assert "refuses this user" in shown[-2].stdout
    shown += [cli("status", "--json"), cli("lookup", "no_service")]
    assert "can't be reached" in shown[-1].stderr
    assert not [run for run in shown if SECRET in run.stdout + run.stderr]
    files = [path for path in project.rglob("*") if path.is_file()]
    assert any(path.name == "registry.db" for path in files)
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]
