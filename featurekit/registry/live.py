"""Which view versions somebody still reads."""

from __future__ import annotations

import json

from sqlalchemy import Connection, select

from featurekit.registry import versions
from featurekit.registry.tables import MODELS, SERVICE_VERSIONS


def read_live_views(connection: Connection, namespace: str) -> frozenset[str]:
    """Return the data fingerprints of the view versions that are deployed, that serve, or that a model is bound to."""
    deployed = versions.read_deployed(connection, namespace)
    found = {view.fingerprint.data for view in deployed.views.values()}
    for service in (*deployed.services.values(), *deployed.serving.values()):
        found |= set(service.views.values())
    bound = select(MODELS.c.service_fingerprint).where(MODELS.c.namespace == namespace)
    pinned = select(SERVICE_VERSIONS.c.views).where(
        SERVICE_VERSIONS.c.namespace == namespace, SERVICE_VERSIONS.c.data_fingerprint.in_(bound)
    )
    for views in connection.scalars(pinned):
        found |= set(json.loads(views).values())
    return frozenset(found)
