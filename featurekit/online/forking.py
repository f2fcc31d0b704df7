"""Locks and what they guard, made anew in forked children: the thread that held one stayed in the parent."""

from __future__ import annotations

import os
import weakref
from typing import Final, Protocol


class Renewed(Protocol):
    """What must begin anew in a child."""

    def begin_in_child(self) -> None: ...


_EACH: Final[weakref.WeakSet[Renewed]] = weakref.WeakSet()


def renew_in_children(one: Renewed) -> None:
    """Have `begin_in_child` called in every process that is forked from this one, for as long as `one` lives."""
    _EACH.add(one)


def _renew() -> None:
    for one in list(_EACH):
        one.begin_in_child()


os.register_at_fork(after_in_child=_renew)
