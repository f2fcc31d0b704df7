"""`history` by command line: which version is read, how many refreshes lack, and a folder that is none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from featurekit.cli.answer import Table
from featurekit.cli.history import listed
from featurekit.clock import DAY
from featurekit.keeping import Gap, ViewHistory
from featurekit.offline.history import HistoryEntry
from tests.cli.conftest import Cli
from tests.registry.states import TODAY

ENTRIES = tuple(
    HistoryEntry(
        view="spend",
        fingerprint="9f3c" * 16,
        as_of=at,
        restatement=0,
        visible_from=at,
        completed_at=at,
    )
    for at in (TODAY, TODAY + 2 * DAY)
)
LIVE = ViewHistory(
    view="spend",
    fingerprint="9f3c" * 16,
    is_live=True,
    entries=ENTRIES,
    broken=(),
    gaps=(Gap(first=TODAY + DAY, last=TODAY + DAY, refreshes=1),),
)


def test_the_list_says_which_version_is_read_and_counts_what_lacks() -> None:
    old = replace(LIVE, fingerprint="0" * 64, is_live=False, gaps=(Gap(first=TODAY, last=TODAY, refreshes=2),))
    (table,) = listed((LIVE, old), "history").blocks
    assert isinstance(table, Table)
    rows = [[cell if isinstance(cell, str) else cell.text for cell in row] for row in table.rows]
    assert [(row[1], row[2], row[-1]) for row in rows] == [
        ("9f3c9f3c", "read now", "1 refresh"),
        ("00000000", "no longer read", "2 refreshes"),
    ]


@pytest.mark.parametrize("command", ["list", "compact", "expire"])
@pytest.mark.parametrize("file", ["kept", "kept/example", "kept/example/dev"])
def test_a_file_in_place_of_the_history_is_an_error_and_not_an_empty_history(
    cli: Cli, project: Path, command: str, file: str
) -> None:
    with (project / "featurekit.toml").open("a") as settings:
        settings.write('\n[history]\npath = "kept"\n')
    assert cli("history", command).exit_code == 0
    (project / file).parent.mkdir(parents=True, exist_ok=True)
    (project / file).write_text("")
    shown = cli("history", command)
    assert shown.exit_code == 3
    assert "the history is not a folder" in shown.stderr
    assert str(project / file) in "".join(shown.stderr.split())
    assert "nothing" not in shown.stdout
