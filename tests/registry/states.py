"""States built by hand: the values that diff and plan are tested with."""

from __future__ import annotations

from featurekit.clock import DAY, Instant, parse_instant
from featurekit.compiled import Fingerprint
from featurekit.grid import Grid
from featurekit.registry.state import (
    Definition,
    Deployed,
    Desired,
    DesiredService,
    DesiredView,
    Registration,
    RegistrationStatus,
    ServiceVersion,
    ViewVersion,
    Watermark,
)

NOW: Instant = parse_instant("2013-11-15T03:00Z")
TODAY: Instant = parse_instant("2013-11-15")


def view(
    name: str, data: str = "a", *, owner: str = "ops", delay: int = 0, every: int = DAY, **features: str
) -> DesiredView:
    """A view, daily by default; its data fingerprint is NAME-DATA; `features` are the texts of its features' parts."""
    return DesiredView(
        name=name,
        fingerprint=Fingerprint(data=f"{name}-{data}", metadata=f"{name}-{owner}"),
        definition=Definition(
            data={"where": "null", **{f"features/{feature}": text for feature, text in features.items()}},
            written={"owner": f'"{owner}"'},
        ),
        grid=Grid(every, delay),
    )


def service(name: str, *views: DesiredView, plan: bytes = b"plan", is_own: bool = False) -> DesiredService:
    """A service that reads the views; its fingerprint is NAME(FINGERPRINTS)."""
    parts = ",".join(part.fingerprint.data for part in views)
    return DesiredService(
        name=name,
        fingerprint=Fingerprint(data=f"{name}({parts})", metadata=name),
        definition=Definition(data={part.name: part.fingerprint.data for part in views}, written={}),
        views={part.name: part.fingerprint.data for part in views},
        is_own=is_own,
        lookup_plan=plan,
    )


def desired(views: list[DesiredView], services: list[DesiredService]) -> Desired:
    return Desired(views={each.name: each for each in views}, services={each.name: each for each in services})


def registered_view(of: DesiredView, number: int = 1, *, registration: int = 1) -> ViewVersion:
    return ViewVersion(
        name=of.name,
        number=number,
        fingerprint=of.fingerprint,
        definition=of.definition,
        grid=of.grid,
        registration=registration,
        registered_at=NOW,
    )


def registered_service(of: DesiredService, number: int = 1, *, registration: int = 1) -> ServiceVersion:
    return ServiceVersion(
        name=of.name,
        number=number,
        fingerprint=of.fingerprint,
        definition=of.definition,
        views=of.views,
        is_own=of.is_own,
        lookup_plan=of.lookup_plan,
        registration=registration,
        registered_at=NOW,
    )


def deployed(
    views: list[ViewVersion],
    services: list[ServiceVersion],
    *,
    serving: list[ServiceVersion] | None = None,
    pending: tuple[Registration, ...] = (),
    registration: int = 1,
) -> Deployed:
    """A deployed state; what is registered also serves, unless `serving` says otherwise."""
    return Deployed(
        views={each.name: each for each in views},
        services={each.name: each for each in services},
        serving={each.name: each for each in (services if serving is None else serving)},
        pending=pending,
        view_numbers={each.name: each.number for each in views},
        service_numbers={each.name: each.number for each in services},
        registration=registration,
    )


def pending(id_: int, *services: str) -> Registration:
    return Registration(id=id_, at=NOW, changes=(), services=services, status=RegistrationStatus.PENDING)


def watermarks(*found: tuple[DesiredView, Instant]) -> dict[str, Watermark]:
    """The latest complete as-of of each view."""
    return {
        of.fingerprint.data: Watermark(view=of.name, fingerprint=of.fingerprint.data, as_ofs=(as_of,))
        for of, as_of in found
    }
