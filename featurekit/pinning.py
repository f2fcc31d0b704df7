"""Pins: who reads a version of a service by its number, so that it stays and is refreshed."""

from __future__ import annotations

from featurekit.clock import Instant
from featurekit.errors import InputError, NotRegisteredError
from featurekit.online.keys import SERVICE_VERSION, pinned_name
from featurekit.registry.registry import Registry
from featurekit.registry.state import Pin
from featurekit.registry.writer import Writer


def pin_version(registry: Registry, version: str, holder: str, now: Instant) -> Pin:
    """Pin `service@number` for `holder`, who may have pinned it already; NotRegisteredError where it is not there."""
    service, number = _read(version)
    with registry.writing() as writer:
        _check_there(writer, service, number, where=str(registry))
        pin = Pin(service=service, number=number, holder=_holder(holder), pinned_at=now)
        writer.pin(pin)
    return pin


def unpin_version(registry: Registry, version: str, holder: str, now: Instant) -> None:
    """Release a pin; NotRegisteredError where there is none of that holder."""
    service, number = _read(version)
    with registry.writing() as writer:
        was_there = writer.unpin(service, number, _holder(holder), now)
    if not was_there:
        found = [pin for pin in registry.pins() if (pin.service, pin.number) == (service, number)]
        raise NotRegisteredError(
            f"{version} is not pinned by {holder!r}",
            where=str(registry),
            try_=f"--by one of {', '.join(pin.holder for pin in found)}" if found else "featurekit pin lists all pins",
        )


def _read(version: str) -> tuple[str, int]:
    service, _, number = version.partition(SERVICE_VERSION)
    if not service or not number.isdecimal() or not number.isascii():
        raise InputError(f"{version!r} names no version of a service", try_="SERVICE@NUMBER, such as flight_delay@3")
    return service, int(number)


def _holder(name: str) -> str:
    if not name.strip() or len(name) > 255 or not name.isprintable():
        raise InputError("a pin needs the name of whoever reads the version", try_="--by NAME, such as --by mobile-app")
    return name.strip()


def _check_there(writer: Writer, service: str, number: int, *, where: str) -> None:
    versions = [version for version in writer.services() if version.name == service]
    if any(version.number == number and version.collected_at is None for version in versions):
        return
    there = ", ".join(pinned_name(service, one.number) for one in versions if one.collected_at is None)
    raise NotRegisteredError(
        f"there is no {pinned_name(service, number)}",
        where=where,
        why="it was collected: nobody needed it" if any(one.number == number for one in versions) else None,
        try_=f"one of {there}" if there else "featurekit register",
    )
