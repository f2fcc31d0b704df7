"""The files for other schedulers: each is well formed, and every command in it is one that there is."""

from __future__ import annotations

import ast
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from jobs import daily_consistency, gc, materialize, schedule
from tests.cli.conftest import Cli, cli, folder, project, registered, served
from tests.cli.served import Served

__all__ = ["cli", "folder", "project", "registered", "served"]

JOBS = Path(__file__).parents[2] / "jobs"
CRONTAB = (JOBS / "cron" / "featurekit.crontab").read_text()
CRONJOB = yaml.safe_load((JOBS / "kubernetes" / "cronjob.yaml").read_text())
UNITS = sorted((JOBS / "systemd").iterdir())
DAG = ast.parse((JOBS / "airflow" / "featurekit_dag.py").read_text())
FIELD = re.compile(r"(\*|\d+(-\d+)?)(/\d+)?(,(\*|\d+(-\d+)?)(/\d+)?)*")


def entries() -> list[tuple[list[str], str]]:
    """Return the entries of the crontab: five fields and a command."""
    lines = [line for line in CRONTAB.splitlines() if line.strip() and not line.startswith("#")]
    entries = [line.split(None, 5) for line in lines if not re.match(r"\w+=", line)]
    return [(words[:5], words[5]) for words in entries]


def dag_commands() -> dict[str, str]:
    """Return the commands that the DAG's tasks run, by task, without importing Airflow."""
    for node in DAG.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "COMMANDS":
            found: dict[str, str] = ast.literal_eval(node.value)
            return found
    raise AssertionError("the DAG names no commands")


def commands() -> list[str]:
    """Return every command line of featurekit in the files."""
    container = CRONJOB["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]
    found = [shlex.join(container["command"]), *dag_commands().values()]
    found += [re.sub(r">.*", "", command.partition("&&")[2]) for _, command in entries()]
    for unit in UNITS:
        found += re.findall(r"^ExecStart=(.*)$", unit.read_text(), re.MULTILINE)
    return [command.strip() for command in found]


@pytest.mark.parametrize("command", commands())
def test_every_command_is_one_that_there_is_with_its_options(command: str, cli: Cli) -> None:
    program, *words = shlex.split(command)
    assert Path(program).name == "featurekit"
    run = cli(*words, "--help")
    assert run.exit_code == 0, run.stderr
    assert cli(*words, "--no-such-option", "--help").exit_code == 2


@pytest.mark.parametrize("command", [command for command in commands() if "schedule" in command])
def test_what_schedules_runs_dry_on_a_project(command: str, served: Served, cli: Cli, tmp_path: Path) -> None:
    words = shlex.split(command)[1:]
    run = cli(*words, "--dry-run", "--now", "2026-01-08T12:00Z", "--json")
    assert run.exit_code == 0, run.stderr
    assert [task["job"] for task in run.document["due"]] == ["check", "gc"]


def test_the_crontab_has_five_fields_a_command_and_no_percent_sign() -> None:
    assert entries()
    for fields, command in entries():
        assert all(FIELD.fullmatch(field) for field in fields)
        assert "%" not in command.replace("\\%", "")  # cron would take it for the end of the line
    assert "CRON_TZ=UTC" in CRONTAB
    assert CRONTAB.endswith("\n")  # or cron refuses its last line


def test_the_cron_job_is_one_at_a_time_in_utc_and_has_its_secrets_as_files() -> None:
    spec = CRONJOB["spec"]
    pod = spec["jobTemplate"]["spec"]["template"]["spec"]
    assert (CRONJOB["apiVersion"], CRONJOB["kind"]) == ("batch/v1", "CronJob")
    assert all(FIELD.fullmatch(field) for field in spec["schedule"].split())
    assert (spec["concurrencyPolicy"], spec["timeZone"], pod["restartPolicy"]) == ("Forbid", "Etc/UTC", "Never")
    (container,) = pod["containers"]
    mounted = {mount["name"] for mount in container["volumeMounts"]}
    assert mounted == {volume["name"] for volume in pod["volumes"]}
    for variable in container["env"]:
        assert not re.search(r"(URL|PASSWORD|SECRET)$", variable["name"]), "a secret belongs into a file"


def test_systemd_takes_the_units(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed: Debian's package systemd")
    for unit in UNITS:
        text = unit.read_text().replace("/srv/featurekit/.venv/bin/featurekit", "/bin/true")
        (tmp_path / unit.name).write_text(text)
    done = subprocess.run(["systemd-analyze", "verify", *map(str, tmp_path.iterdir())], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_timer_runs_the_service_beside_it_and_signals_reach_the_one_that_looks_alone() -> None:
    names = {unit.name: unit.read_text() for unit in UNITS}
    assert {"featurekit-once.timer", "featurekit-once.service"} <= names.keys()
    assert "KillMode=mixed" in names["featurekit-schedule.service"]


def test_the_dag_does_one_thing_after_the_other_and_does_not_repeat_a_check() -> None:
    """Airflow itself is too large to be installed for this: what is read here is the file."""
    text = ast.unparse(DAG)
    assert list(dag_commands()) == ["materialize", "check", "gc"]
    assert "task('check', retries=0) >> task('gc', retries=2)" in text
    assert re.findall(r"schedule='([^']*)'", text) == ["15 * * * *", "0 6 * * *"]
    assert "'catchup': False" in text
    modules = {node.module for node in ast.walk(DAG) if isinstance(node, ast.ImportFrom)}
    assert modules == {"__future__", "datetime", "airflow.providers.standard.operators.bash", "airflow.sdk"}


def test_the_jobs_say_what_is_due_and_what_would_go(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    assert schedule.main(["--dry-run", "--now", "2026-01-08T12:00Z"]) == 0
    assert capsys.readouterr().out == "check: due since 2026-01-08T06:00Z\ngc: due since 2026-01-08T05:00Z\n"
    assert gc.main(["--dry-run"]) == 0
    assert capsys.readouterr().out.startswith("would drop 0 rows")


@pytest.mark.parametrize("job", [schedule, gc, materialize, daily_consistency], ids=lambda job: job.__name__)
def test_every_job_says_how_it_is_used(job: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        job.main(["--help"])
    assert ended.value.code == 0
    assert "Exit codes" in capsys.readouterr().out
