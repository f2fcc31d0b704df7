"""An answered request, as it is handed to the served-feature log."""

from __future__ import annotations

from typing import NamedTuple

from featurekit.online.result import Features


class Served(NamedTuple):  # and no dataclass: made for every request
    """What was answered, to which request, and for which model; None where nobody's model asked."""

    features: Features
    request_id: str
    model: str | None
    model_version: int | None
