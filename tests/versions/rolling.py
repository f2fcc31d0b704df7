"""What the tests of versions share: a rollback by its shop, and how a process dies between two of its steps."""

from __future__ import annotations

from typing import Final

import pytest

from featurekit.clock import HOUR, Instant
from featurekit.rolling_back import RolledBack, rollback_view
from tests.refreshed import PLACE, Refreshed
from tests.registry.states import NOW

LATER: Final = NOW + HOUR
WINDOW: Final = ("sum(amount), window: 7d", "sum(amount), window: 8d")


def roll(shop: Refreshed, view: str = "spend", *, to: Instant | None = None, is_forward: bool = False) -> RolledBack:
    assert shop.history is not None
    return rollback_view(
        view,
        to=to,
        is_forward=is_forward,
        registry=shop.registry,
        store=shop.store,
        namespace=PLACE,
        history=shop.history,
        now=shop.now,
    )


class Killed(BaseException):
    """What takes a process away between two of its steps."""


def dies(patch: pytest.MonkeyPatch, owner: type, method: str, *, at: int) -> None:
    """Let a method raise Killed at its call number `at`, and never do its work."""
    real, calls = getattr(owner, method), [0]

    def counted(*given: object, **named: object) -> object:
        calls[0] += 1
        if calls[0] == at:
            raise Killed
        return real(*given, **named)

    patch.setattr(owner, method, counted)
