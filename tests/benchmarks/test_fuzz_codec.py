from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.fuzz_codec import fuzz
from featurekit.online import codec, nested_columns
from featurekit.online.columns import RowReader


def test_damaged_rows_crash_no_decoder_and_read_alike_in_all() -> None:
    found = fuzz(2_000, seed=11)
    assert (found.crashes, found.wrong, found.hangs) == (0, 0, 0), found.examples
    assert found.rows == 2_000
    assert 100 < found.whole < 1_500  # neither all are refused, nor none


def _any_row_is_ours(self: RowReader, row: bytes, as_of: int) -> Any:
    del as_of
    return np.frombuffer(row.ljust(self._codec.size, b"\0"), self._dtype, 1)


SABOTAGE: list[tuple[str, Any, str, Any]] = [
    ("a single row's header is not looked at", RowReader, "_table_of_one", _any_row_is_ours),
    ("decimals of any size are held", codec, "_decimal", lambda stored, _, scale: codec.scaled(stored, scale)),
    ("arrays of decimals are not looked at", nested_columns, "_are_digits", lambda *_: True),
    ("strings that are no text are mended", codec, "decode_text", lambda stored: stored.decode(errors="replace")),
]


@pytest.mark.parametrize(("what", "owner", "name", "instead"), SABOTAGE)
def test_a_decoder_that_checks_less_is_found(
    what: str, owner: Any, name: str, instead: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, name, instead)
    for seed in range(20):
        found = fuzz(800, seed=seed)
        if found.crashes or found.wrong:
            assert found.examples
            return
    pytest.fail(f"nobody noticed that {what}")
