"""What a refresh is given, and what comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from featurekit.clock import DAY, Instant
from featurekit.compiled import CompiledView
from featurekit.leasing import LEASE_DEFAULT
from featurekit.offline.history import History
from featurekit.online.keys import Namespace
from featurekit.online.store import OnlineStore
from featurekit.registry.registry import Registry
from featurekit.registry.state import RefreshKind


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshOutcome:
    """A refresh that is served from `visible_from` on.

    `is_new` is False where it was there already and nothing was computed. `invisible` counts source rows without an
    event timestamp; `moved` are services whose readers moved to a new version with it. `notes` tell what went wrong
    beside it and takes nothing from what is served. It `is_withdrawn` where somebody rolled it back: then it is not
    served, and not computed again by itself. `kind`, `reason` and `computed` tell how its rows came about (see
    `Computation`); `rows_per_s` and `seconds` how long what was computed took: to `plan`, to compute and `write`, and
    the `rest`. Of a backfill, `visible_from` is when it was complete: lookups never see it.
    """

    view: str
    fingerprint: str
    as_of: Instant
    restatement: int
    visible_from: Instant
    rows: int
    bytes: int
    invisible: int
    is_new: bool
    moved: tuple[str, ...]
    notes: tuple[str, ...] = ()
    kind: RefreshKind = RefreshKind.FULL
    reason: str | None = None
    computed: int | None = None
    is_withdrawn: bool = False
    rows_per_s: float | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """Where refreshes go: the store and its writable URL, the registry, the namespace of both; the history, if kept.

    `keep` is for how long the history keeps a refresh, unless its view says otherwise. `holder` names this process to
    others, and no other process has its name; `lease` is for how long a run that was killed keeps others away.
    """

    store: OnlineStore
    url: str
    registry: Registry
    namespace: Namespace
    retention: int
    history: History | None = None
    keep: int = 90 * DAY
    holder: str = "the only one"
    lease: int = LEASE_DEFAULT

    def history_of(self, view: CompiledView) -> History | None:
        """Return where the view's rows are kept; None where they are not."""
        return self.history if view.view.history_keep(self.keep) else None
