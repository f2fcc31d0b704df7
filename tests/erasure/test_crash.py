"""Who forgets may be killed at any line: what others have is whole, and the next run ends it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.pool import NullPool

from featurekit import erasing
from featurekit.clock import DAY
from featurekit.erasure_proof import look
from featurekit.offline import history_erasure, history_folder, history_sink
from featurekit.online import erased_rows, served_log_erasure
from featurekit.online.served_log_erasure import log_paths, told_of
from tests.erasure.conftest import MakeShop
from tests.erasure.world import Shop
from tests.registry.states import TODAY

_MODULES: Final = (erasing, history_erasure, history_folder, history_sink, erased_rows, served_log_erasure)
_FILES: Final = {str(module.__file__) for module in _MODULES}
_KILLED: Final = 9


def killed_at(line: int, run: Callable[[], object]) -> bool:
    """Run in a process of its own that ends at the n-th line of the erasure, as by SIGKILL; return whether it did."""
    child = os.fork()
    if child == 0:
        _end_at(line)
        try:
            run()
        finally:
            os._exit(0 if sys.exc_info()[0] is None else 1)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, _KILLED), status
    return status == _KILLED


def _end_at(line: int) -> None:
    left = line

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if frame.f_code.co_filename not in _FILES:
            return None
        if event == "line":
            left -= 1
            if left == 0:
                os._exit(_KILLED)
        return trace

    sys.settrace(trace)


def world(make_shop: MakeShop, folder: Path) -> Shop:
    shop = make_shop(folder=folder)
    shop.refresh(TODAY - DAY)
    shop.refresh(TODAY)
    shop.serve([{"user_id": 1}, {"user_id": 2}])
    return shop


def killed_and_rerun(shop: Shop, line: int) -> bool:
    """Kill who forgets at a line, and look; then run it again, and look. Return whether the line was reached."""
    was_killed = killed_at(line, lambda: shop.forget((2,)))
    assert shop.history is not None
    entries = shop.history.entries("spend", shop.view.fingerprint.data)
    assert [entry.rows in (2, 3) for entry in entries] == [True, True]
    assert not shop.history.broken("spend", shop.view.fingerprint.data)
    assert all(told_of(path) for path in log_paths(shop.log_folder))
    with create_engine(f"sqlite:///{shop.folder / 'registry.db'}", poolclass=NullPool).begin() as connection:
        connection.execute(text("DELETE FROM leases"))  # as two minutes later
    shop.forget((2,))
    looked = look(shop.entities((2,)), shop.places())
    assert looked.is_clean, (line, looked)
    others = look(shop.entities((1,), (3,)), shop.places())
    assert sum(found.rows for found in others.findings if found.place == "history") == 4
    assert sum(found.rows for found in others.findings if found.place == "online") == 4
    return was_killed


@pytest.mark.parametrize("line", [40, 250, 400, 588, 640, 700])
def test_the_next_run_ends_what_one_that_was_killed_began(make_shop: MakeShop, tmp_path: Path, line: int) -> None:
    killed_and_rerun(world(make_shop, tmp_path), line)


@pytest.mark.long
def test_every_line(make_shop: MakeShop, tmp_path: Path) -> None:
    line = 1
    while killed_and_rerun(world(make_shop, tmp_path / str(line)), line):
        line += 1
    assert line > 500
