"""A disk that takes no more says so, from an executor too, and not that Python failed."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest

from featurekit.errors import HistoryError
from featurekit.offline.failures import as_our_error
from featurekit.offline.history_sink import KeepingSink

ROWS = pa.record_batch({"x": pa.array([f"{n * 7919:x}" for n in range(100_000)])})


@contextmanager
def no_file_longer_than(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def keep(folder: Path) -> None:
    for _ in KeepingSink(inner=lambda batches: batches, folder=folder)(iter([ROWS])):
        pass


def test_a_disk_that_is_full_is_said_and_nothing_is_left(tmp_path: Path) -> None:
    with no_file_longer_than(4096), pytest.raises(HistoryError, match="the history can't be written") as full:
        keep(tmp_path)
    assert "File too large" in str(full.value.why)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_can_not_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HistoryError) as refused:
        keep(tmp_path / "file" / "draft")
    assert refused.value.why == "Not a directory"


def test_the_driver_hears_of_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HistoryError) as refused:
        keep(tmp_path / "file" / "draft")
    heard = as_our_error(RuntimeError(f"featurekit.errors.HistoryError: {refused.value}"))
    assert isinstance(heard, HistoryError)
    assert (heard.why, heard.try_) == (refused.value.why, refused.value.try_)
