"""Pins and moves between rows and values: who reads a version by its number, and which way readers were moved."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import ColumnElement, Connection, and_, insert, select, update

from featurekit.clock import Instant
from featurekit.registry.state import MoveKind, Pin, ServiceMove
from featurekit.registry.tables import MOVES, PINS


def write_pin(connection: Connection, namespace: str, pin: Pin) -> None:
    """Write a pin; one that is there stays as it is."""
    of_it = _of(namespace, pin.service, pin.number, pin.holder)
    if connection.execute(select(PINS.c.holder).where(of_it)).first() is None:
        row = {"service": pin.service, "number": pin.number, "holder": pin.holder, "pinned_at": pin.pinned_at}
        connection.execute(insert(PINS).values(namespace=namespace, **row))
    else:
        again = update(PINS).where(of_it, PINS.c.released_at.is_not(None))
        connection.execute(again.values(pinned_at=pin.pinned_at, released_at=None))


def write_released(connection: Connection, namespace: str, service: str, number: int, holder: str, at: Instant) -> bool:
    """Release a pin; return whether there was one. Its row stays, and says since when it is needed no more."""
    of_it = and_(_of(namespace, service, number, holder), PINS.c.released_at.is_(None))
    return connection.execute(update(PINS).where(of_it).values(released_at=at)).rowcount > 0


def read_pins(connection: Connection, namespace: str) -> tuple[Pin, ...]:
    """Return all pins, by service, number and holder."""
    query = select(PINS).where(PINS.c.namespace == namespace, PINS.c.released_at.is_(None))
    rows = connection.execute(query.order_by(PINS.c.service, PINS.c.number, PINS.c.holder))
    return tuple(
        Pin(service=row.service, number=row.number, holder=row.holder, pinned_at=row.pinned_at) for row in rows
    )


def write_moves(connection: Connection, namespace: str, moves: Iterable[ServiceMove]) -> None:
    rows = [
        {
            "namespace": namespace,
            "registration": move.registration,
            "service": move.service,
            "before": move.before,
            "number": move.number,
            "at": move.at,
            "kind": move.kind.value,
        }
        for move in moves
    ]
    if rows:
        connection.execute(insert(MOVES), rows)


def read_moves(connection: Connection, namespace: str, registration: int | None = None) -> tuple[ServiceMove, ...]:
    """Return the moves of all registrations or of one, in the order in which they were made."""
    query = select(MOVES).where(MOVES.c.namespace == namespace).order_by(MOVES.c.id)
    if registration is not None:
        query = query.where(MOVES.c.registration == registration)
    return tuple(
        ServiceMove(
            registration=row.registration,
            service=row.service,
            before=row.before,
            number=row.number,
            at=row.at,
            kind=MoveKind(row.kind),
        )
        for row in connection.execute(query)
    )


def _of(namespace: str, service: str, number: int, holder: str) -> ColumnElement[bool]:
    table = PINS
    return and_(
        table.c.namespace == namespace,
        table.c.service == service,
        table.c.number == number,
        table.c.holder == holder,
    )
