"""The session: what is pinned, how much memory it asks for, and what is said where it does not start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from featurekit.errors import BatchEngineError, SettingsError, SourceError
from featurekit.offline.failures import as_our_error
from featurekit.offline.session import PINNED, SparkEngine, _driver_memory_mb

ROOT = Path(__file__).parents[2]


def test_driver_memory_is_what_is_asked_for_within_what_the_machine_has() -> None:
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    assert _driver_memory_mb("600m") == min(600, machine * 6 // 10)
    assert _driver_memory_mb("1g") == min(1024, machine * 6 // 10)
    assert _driver_memory_mb("900000g") == machine * 6 // 10
    for text in ("4", "four", "4gb", "-1g"):
        with pytest.raises(SettingsError, match="is not a size"):
            _driver_memory_mb(text)


def test_an_unknown_failure_is_the_engines_and_never_the_users() -> None:
    error = as_our_error(RuntimeError("[SOMETHING_NEW] went wrong SQLSTATE: 1"))
    assert isinstance(error, BatchEngineError)
    assert (error.what, error.why, error.exit_code) == ("Spark failed: went wrong", "SOMETHING_NEW", 3)


@pytest.mark.spark
def test_the_session_is_pinned_where_values_depend_on_it(engine: SparkEngine) -> None:
    assert {key: engine.session.conf.get(key) for key in PINNED} == PINNED


@pytest.mark.spark
def test_a_query_of_a_table_that_is_not_there_is_told(engine: SparkEngine) -> None:
    with pytest.raises(SourceError, match="the source is not there"):
        engine.read_table("nowhere")


@pytest.mark.spark
def test_a_session_is_quiet_and_a_failed_start_says_where_to_look(tmp_path: Path) -> None:
    program = """
import sys
from pathlib import Path
from featurekit.config import Settings
from featurekit.errors import FeaturekitError
from featurekit.offline.session import start_engine
conf = (("spark.driver.extraJavaOptions", "-XX:+UseSerialGC -XX:+UseG1GC"),) if sys.argv[1] == "broken" else ()
try:
    engine = start_engine(Settings(root=Path("."), state=Path("state"), spark_master="local[1]", spark_conf=conf))
except FeaturekitError as error:
    print(error.parts())
    sys.exit(error.exit_code)
try:
    engine.to_arrow(engine.query("SELECT raise_error('loud')"))
except FeaturekitError as error:
    print(error.what)
"""
    for argument, code, expected in (("fine", 0, "Spark failed: loud"), ("broken", 3, "Spark does not start")):
        run = subprocess.run(
            [sys.executable, "-c", program, argument],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert (run.returncode, run.stderr) == (code, "")
        assert run.stdout.count("\n") == 1
        assert expected in run.stdout
        if code:
            assert str(Path("state") / "spark.log") in run.stdout
            assert "Multiple garbage collectors selected" in run.stdout
