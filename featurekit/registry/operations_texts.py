"""Why jobs failed, and what alerts tell of it, may name an entity: who is forgotten is taken out of them too."""

from __future__ import annotations

import json
from collections.abc import Callable

from sqlalchemy import Connection, select, update

from featurekit.registry.operations_tables import ALERTS, SCHEDULED_RUNS

Holds = Callable[[str], bool]


def count_operation_texts(connection: Connection, namespace: str, holds: Holds, instead: str | None) -> int:
    """Return how many failures of jobs, and alerts, hold something; with `instead`, their texts become it."""
    return _failures(connection, namespace, holds, instead) + _alerts(connection, namespace, holds, instead)


def _failures(connection: Connection, namespace: str, holds: Holds, instead: str | None) -> int:
    table, found = SCHEDULED_RUNS, 0
    query = select(table.c.job, table.c.due_at, table.c.failure)
    for row in connection.execute(query.where(table.c.namespace == namespace, table.c.failure.is_not(None))).all():
        if holds(row.failure):
            found += 1
            if instead is not None:
                own = (table.c.namespace == namespace, table.c.job == row.job, table.c.due_at == row.due_at)
                connection.execute(update(table).where(*own).values(failure=instead))
    return found


def _alerts(connection: Connection, namespace: str, holds: Holds, instead: str | None) -> int:
    table, found = ALERTS, 0
    query = select(table.c.number, table.c.sink, table.c.body).where(table.c.namespace == namespace)
    for row in connection.execute(query).all():
        message = json.loads(row.body)
        named = [change for change in message["changes"] if holds(change["told"])]
        found += bool(named)
        if named and instead is not None:
            for change in named:
                change["told"] = instead
            own = (table.c.namespace == namespace, table.c.number == row.number, table.c.sink == row.sink)
            body = json.dumps(message, ensure_ascii=False)
            connection.execute(update(table).where(*own).values(body=body))
    return found
