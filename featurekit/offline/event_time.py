"""The all-seeing join: each label row with all that had happened before it, whether anybody could know it then or not.

It is what many training sets are, and it leaks: serving is refreshed now and then, lands late, and is corrected later.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from featurekit.clock import DAY
from featurekit.compiled import CompiledService, CompiledView
from featurekit.definitions.feature_view import Refresh

_FOREVER: Final = 36_525 * DAY  # by then everything has landed
_EVERY_INSTANT: Final = Refresh(every=1)


def all_seeing(service: CompiledService) -> CompiledService:
    """Return the service with views that are refreshed at every instant, at once, from rows that are all known.

    Windows, filters, ttls and defaults stay what they are; of an event the last version counts, whenever it landed.
    """
    return replace(service, views=tuple(replace(part, view=_all_seeing(part.view)) for part in service.views))


def _all_seeing(view: CompiledView) -> CompiledView:
    changed = {"refresh": _EVERY_INSTANT, "availability_delay": 0, "allowed_lateness": _FOREVER}
    return replace(view, view=view.view.model_copy(update=changed))
