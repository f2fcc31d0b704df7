"""Report files appear whole, and a folder that is missing is told before the check runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from featurekit.consistency.files import check_writable, write_report
from featurekit.errors import InputError
from tests.consistency.test_report import report, view


def test_a_report_is_written_in_the_forms_asked_for(tmp_path: Path) -> None:
    result = report(view())
    write_report(result, html=tmp_path / "check.html", json=tmp_path / "check.json")
    assert (tmp_path / "check.html").read_text() == result.to_html()
    assert json.loads((tmp_path / "check.json").read_text())["passed"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["check.html", "check.json"]


def test_an_old_report_stays_whole_when_the_new_one_can_not_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "check.html"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write_report(report(view()), html=path)
    assert [each.read_text() for each in tmp_path.iterdir()] == ["old"]


def test_a_report_can_be_read_by_others(tmp_path: Path) -> None:
    write_report(report(view()), json=tmp_path / "check.json")
    assert (tmp_path / "check.json").stat().st_mode & 0o777 == 0o644


def test_a_folder_that_is_not_there_is_told_with_what_to_try(tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        check_writable(None, tmp_path / "no" / "check.html")
    assert raised.value.try_ == f"mkdir -p {tmp_path}/no"
