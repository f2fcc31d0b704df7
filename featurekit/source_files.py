"""The files of a source: one file, a folder of part files with Hive partitions, or a glob; and a CSV header."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from glob import has_magic
from pathlib import Path
from urllib.parse import unquote

from featurekit.errors import SourceError


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file with rows; `partitions` are the columns that its folders' names give (`day=2013-01-01`), as text."""

    path: Path
    partitions: tuple[tuple[str, str], ...] = ()


def is_remote(path: str) -> bool:
    """Return whether a path names another file system than this machine's, such as s3://bucket/key."""
    return "://" in path and not path.startswith("file://")


def local_path(path: str, base: Path) -> Path:
    """Return a source's path as an absolute one; a relative path is relative to `base`."""
    return base / path.removeprefix("file://")


def source_files(path: str, base: Path) -> tuple[SourceFile, ...]:
    """Return the files that Spark reads for the path, sorted; SourceError where there is none."""
    try:
        return _files(path, base)
    except (OSError, ValueError) as error:  # no permission, a loop of links, a ** that is not a whole folder name
        where = str(local_path(path, base))
        raise SourceError("the path can't be read", where=where, why=str(error), try_="check the path") from error


def _files(path: str, base: Path) -> tuple[SourceFile, ...]:
    where = local_path(path, base)
    if has_magic(path):
        matches = [match for match in _glob(where) if not _is_hidden(match)]
        if not matches:
            why = "Spark would find no rows either"
            raise SourceError("no file matches the path", where=str(where), why=why, try_="check the path's *")
        return tuple(file for match in sorted(matches) for file in _under(match))
    if not where.exists():
        why = "nothing is there" if Path(path).is_absolute() else f"{path} is relative to {base}"
        raise SourceError("the path does not exist", where=str(where), why=why, try_="check the path")
    return _under(where)


def _glob(where: Path) -> Iterator[Path]:
    root = Path(where.anchor)
    return root.glob(str(where.relative_to(root)))


def _under(path: Path) -> tuple[SourceFile, ...]:
    files = (SourceFile(path),) if path.is_file() else tuple(_part_files(path, ()))
    if not files:
        raise SourceError(
            "the source's folder has no files",
            where=str(path),
            why="files and folders that begin with _ or . are not data (Spark skips them too)",
            try_="write the rows first, or correct path: in the source",
        )
    names = {tuple(name for name, _ in file.partitions) for file in files}
    if len(names) > 1:
        shown = " and ".join(sorted("/".join(group) or "no partitions" for group in names))
        why = "a row has a value for each column, or the folder is not one table"
        try_ = "write all partitions alike, or make two sources of them"
        raise SourceError(
            f"the folder's files have different partition columns: {shown}", where=str(path), why=why, try_=try_
        )
    return files


def _part_files(folder: Path, partitions: tuple[tuple[str, str], ...]) -> Iterator[SourceFile]:
    for entry in sorted(folder.iterdir()):
        if _is_hidden(entry):
            continue
        if entry.is_file():
            yield SourceFile(entry, partitions)
            continue
        name, equals, value = entry.name.partition("=")
        if not equals or not name:
            raise SourceError(
                f"{entry.name} is a folder inside the source's folder, and no partition",
                where=str(entry),
                why="Spark reads folders called name=value, and would silently skip the rows of this one",
                try_="a glob such as data/*/*.parquet, or folders called name=value",
            )
        yield from _part_files(entry, (*partitions, (unquote(name), unquote(value))))


def _is_hidden(path: Path) -> bool:
    # As Spark: _SUCCESS, .crc files; but `_day=1` is a partition.
    return path.name.startswith(".") or (path.name.startswith("_") and "=" not in path.name)


def csv_header(path: Path) -> tuple[str, ...]:
    """Return the column names in a CSV file's first row; SourceError where there is none or it can't be read."""
    opened = gzip.open if path.name.endswith(".gz") else open
    try:
        # utf-8-sig: a byte order mark would become part of the first name.
        with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
            header = tuple(next(csv.reader(file), ()))
    except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        why = str(error)
        raise SourceError("the CSV file can't be read", where=str(path), why=why, try_="UTF-8 text") from error
    if not header:
        why = "its first row names the columns"
        raise SourceError("the CSV file has no header", where=str(path), why=why, try_="write a header row")
    seen: set[str] = set()
    for name in header:
        if name.lower() in seen:
            why = "columns are found by name, and Spark does not tell upper and lower case apart"
            raise SourceError(f"the header has {name} twice", where=f"{path}:1", why=why, try_="rename one of them")
        seen.add(name.lower())
    return header
