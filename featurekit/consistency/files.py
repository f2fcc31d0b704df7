"""Reports as files: whole or not at all, for whoever polls the path."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Protocol

from featurekit.errors import InputError


def check_writable(*paths: Path | None) -> None:
    """Raise InputError for a path whose folder is not there: better before an hour's check than after it."""
    for path in paths:
        if path is not None and not path.parent.is_dir():
            raise InputError(
                f"the report can't be written to {path}",
                why=f"{path.parent} is not a folder",
                try_=f"mkdir -p {path.parent}",
            )


class Report(Protocol):
    """What has both forms."""

    def to_html(self) -> str: ...

    def to_json(self) -> str: ...


def write_report(report: Report, *, html: Path | None = None, json: Path | None = None) -> None:
    """Write the report in the forms that have a path; a reader of the path sees the old file or the whole new one."""
    if html is not None:
        write_whole(html, report.to_html())
    if json is not None:
        write_whole(json, report.to_json())


def write_whole(path: Path, text: str) -> None:
    """Write a report's text; a reader of the path sees the old file or the whole new one."""
    check_writable(path)
    # In the same folder, so that the rename stays on one file system.
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).chmod(0o644)  # mkstemp's 0600 would hide the report from the web server that shows it
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
