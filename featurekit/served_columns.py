"""The served-feature log's columns: what its writer and its readers call them (docs/formats.md has the whole)."""

from __future__ import annotations

from typing import Final

LOG_FORMAT: Final = 2
READ_FORMATS: Final = (1, 2)  # a file of format 1 has no reasons: nothing that it holds is degraded
METADATA: Final = b"featurekit_served_log"
"""The key of a file's Parquet metadata under which it says its format, service, fingerprints and sample, as JSON."""

REQUEST_ID: Final = "request_id"
TIMESTAMP: Final = "timestamp"
SERVICE: Final = "service"
FINGERPRINT: Final = "service_fingerprint"
MODEL: Final = "model"
MODEL_VERSION: Final = "model_version"
STATUS: Final = "__status"
REASON: Final = "__reason"
AS_OF: Final = "__as_of"
OWN: Final = (REQUEST_ID, TIMESTAMP, SERVICE, FINGERPRINT, MODEL, MODEL_VERSION)


def input_column(name: str) -> str:
    """Return the column of an entity key or request value: its name, unless that is one of the log's own.

    >>> input_column("carrier"), input_column("Model")
    ('carrier', '__input_Model')
    """
    return f"__input_{name}" if name.lower() in OWN else name
