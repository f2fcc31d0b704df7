"""What the registry should hold and what it holds, as frozen values: versions, registrations, refreshes."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from featurekit.clock import Instant
from featurekit.compiled import Fingerprint
from featurekit.grid import Grid


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A definition part by part, each part as canonical JSON.

    `data` holds what decides values, `written` what people wrote: a change there alone asks for no rebuild. A feature's
    part is `features/NAME`; sources' paths are in neither half, so no secret in a URL gets here.
    """

    data: dict[str, str]
    written: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class DesiredView:
    name: str
    fingerprint: Fingerprint
    definition: Definition
    grid: Grid


@dataclass(frozen=True, slots=True, kw_only=True)
class DesiredService:
    """A service to register.

    `views` are the data fingerprints of the views it reads, by view name. `is_own` marks a view that is a service of
    its own. `lookup_plan` is the encoded plan that clients look up with.
    """

    name: str
    fingerprint: Fingerprint
    definition: Definition
    views: dict[str, str]
    is_own: bool
    lookup_plan: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Desired:
    views: dict[str, DesiredView]
    services: dict[str, DesiredService]


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewVersion:
    """A feature view as registered; `number` counts 1, 2, … by change of data, `registration` made the version."""

    name: str
    number: int
    fingerprint: Fingerprint
    definition: Definition
    grid: Grid
    registration: int
    registered_at: Instant
    collected_at: Instant | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceVersion:
    """A feature service as registered; its fields as in DesiredService and ViewVersion."""

    name: str
    number: int
    fingerprint: Fingerprint
    definition: Definition
    views: dict[str, str]
    is_own: bool
    lookup_plan: bytes
    registration: int
    registered_at: Instant
    collected_at: Instant | None = None


class RegistrationStatus(StrEnum):
    PENDING = "pending"  # readers of some of its services are still on the version before
    SWITCHED = "switched"
    SUPERSEDED = "superseded"  # a later registration took its services over before they were switched
    ROLLED_BACK = "rolled back"  # its readers are on what served before it, by `rollback`


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """One change set; `services` are those whose readers move to what it registered, all at once."""

    id: int
    at: Instant
    changes: tuple[str, ...]
    services: tuple[str, ...]
    status: RegistrationStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployed:
    """The state of one project and environment.

    `serving` is the version that each service's unpinned readers get, by service. `view_numbers` and `service_numbers`
    are the highest version numbers ever given, also to names that are gone. `registration` is the last one, 0 for none.
    """

    views: dict[str, ViewVersion] = field(default_factory=dict)
    services: dict[str, ServiceVersion] = field(default_factory=dict)
    serving: dict[str, ServiceVersion] = field(default_factory=dict)
    pending: tuple[Registration, ...] = ()
    view_numbers: dict[str, int] = field(default_factory=dict)
    service_numbers: dict[str, int] = field(default_factory=dict)
    registration: int = 0


class MoveKind(StrEnum):
    SWITCH = "switch"  # a registration moved its readers, or took a service away
    ROLLBACK = "rollback"
    FORWARD = "forward"  # what was rolled back, again


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceMove:
    """The readers of a service moved from one version to another; None: there was, or is then, nothing to read."""

    registration: int
    service: str
    before: int | None
    number: int | None
    at: Instant
    kind: MoveKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """Somebody reads a service version by its number: it stays, and is refreshed."""

    service: str
    number: int
    holder: str
    pinned_at: Instant


class RefreshStatus(StrEnum):
    RUNNING = "running"
    COMPLETE = "complete"
    FAILED = "failed"


class RefreshKind(StrEnum):
    """How a refresh's rows came about; they are the same bytes in each way."""

    FULL = "full"
    INCREMENTAL = "incremental"  # from the rows of the refresh before, and what has changed since
    BACKFILL = "backfill"  # with others in one job, for the history alone: lookups never saw it


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshRecord:
    """One run that computes a view as of one grid instant, from its start on.

    `restatement` is 0 for the first run of this fingerprint and as-of and one more for each further one, so no two
    runs share a key space. `snapshot` (the source as it was read) and `counters` are JSON objects; `failure` says why a
    failed run failed. `reason` says why it was computed again, or why an incremental run was not possible;
    `computed` is how many entities were computed and not taken from the refresh before. Lookups see it from
    `visible_from` on, until `withdrawn_at`, and not at all unless it is `online`. `absences` are from when
    until when it was withdrawn before; `dropped_at` is when `gc` took its rows, with all of its view version.
    """

    id: int
    view: str
    fingerprint: str
    as_of: Instant
    restatement: int
    started_at: Instant
    status: RefreshStatus
    completed_at: Instant | None = None
    rows: int | None = None
    bytes: int | None = None
    snapshot: str = "{}"
    counters: str = "{}"
    failure: str | None = None
    kind: RefreshKind = RefreshKind.FULL
    online: bool = True
    reason: str | None = None
    computed: int | None = None
    visible_from: Instant | None = None
    withdrawn_at: Instant | None = None
    absences: tuple[tuple[Instant, Instant], ...] = ()
    dropped_at: Instant | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to compute some refreshes of a view version, for as long as it is renewed; `holder` says who has it."""

    view: str
    fingerprint: str
    as_ofs: tuple[Instant, ...]
    holder: str
    since: Instant = 0
    until: Instant = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Watermark:
    """How far the complete refreshes of one view fingerprint reach.

    `as_ofs` has the latest as-of, and behind it the latest that lookups see at the time it was read for.
    """

    view: str
    fingerprint: str
    as_ofs: tuple[Instant, ...]

    @property
    def as_of(self) -> Instant:
        """The latest one; lookups may not see it yet, if the view's availability delay has not passed."""
        return self.as_ofs[0]

    def visible(self, grid: Grid, now: Instant) -> Instant | None:
        """Return the as-of that lookups see at `now`, the time it was read for; None where they see none."""
        return next((as_of for as_of in self.as_ofs if as_of + grid.availability_delay <= now), None)
