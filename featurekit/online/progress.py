"""How many rows of a refresh are written by now: each task leaves its number in the store, who watches adds them up.

Only where somebody watches. A number is written with the rows it counts, in the same chunk, and expires by itself.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from featurekit.errors import OutsideError
from featurekit.online.keys import KeySpace
from featurekit.online.store import ReadableStore

Watch = Callable[[int], None]
"""Is told how many rows are written so far."""

EXPIRES_IN_S: Final = 600
_SLOTS: Final = 256  # tasks at once; where two share one, the sum is too small for a while
_EVERY_S: Final = 0.5


def any_progress_key(space: KeySpace) -> bytes:
    """Return where one task of a refresh leaves its number."""
    return _key(space, uuid.uuid4().int % _SLOTS)


@contextmanager
def watched(store: ReadableStore, space: KeySpace, watch: Watch | None) -> Iterator[None]:
    """Tell `watch` twice a second how many rows are written, while the block runs."""
    if watch is None:
        yield
        return
    keys = [_key(space, slot) for slot in range(_SLOTS)]
    is_over = threading.Event()

    def look() -> None:
        while not is_over.wait(_EVERY_S):
            with suppress(OutsideError):
                watch(sum(int(number) for number in store.read(keys) if number is not None))

    thread = threading.Thread(target=look, name=f"progress of {space}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _key(space: KeySpace, slot: int) -> bytes:
    return space.namespace.prefix + f"progress:{space}:{slot}".encode()
