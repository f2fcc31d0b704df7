"""A process and all its children: CPU time and memory, from /proc."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from types import TracebackType

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_EVERY_S = 0.05


def tree(root: int) -> tuple[int, ...]:
    """Return the ids of a process and of all below it that run now."""
    children: dict[int, list[int]] = {}
    for process, fields in _stats().items():
        children.setdefault(int(fields[1]), []).append(process)
    found, following = [], [root]
    while following:
        process = following.pop()
        found.append(process)
        following += children.get(process, [])
    return tuple(found)


def tree_cpu_seconds(root: int | None = None) -> float:
    """Return the CPU time of a process (this one) and its children, those that ended and were waited for too."""
    stats = _stats()
    chosen = tree(os.getpid() if root is None else root)
    return sum(sum(map(int, stats[process][11:15])) for process in chosen if process in stats) / _TICKS


def _stats() -> dict[int, list[str]]:
    """Return each process's fields of /proc/PID/stat from the third, its state, on."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                found[int(folder.name)] = (folder / "stat").read_text().rpartition(") ")[2].split()
            except OSError:
                continue  # it has ended
    return found


class PeakMemory:
    """Looks at the proportional memory of a process tree while it is entered; `gib` is the most that it saw.

    Proportional: what forked workers share is counted once.
    """

    def __init__(self, root: int) -> None:
        self.gib = 0.0
        self._root = root
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(_EVERY_S * 4):
            self.gib = max(self.gib, sum(map(_proportional_kib, tree(self._root))) / 2**20)


def _proportional_kib(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
