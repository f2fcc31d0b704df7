"""A registered model, as a frozen value; it needs no database and no definitions to be read."""

from __future__ import annotations

from dataclasses import dataclass

from featurekit.clock import Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRecord:
    """A model bound to one version of a feature service.

    `columns` are the service's outputs in the order of the model's input tensor, whose element type is `dtype`
    (a NumPy name). `file` is its ONNX file, relative to the registry's model folder.
    """

    name: str
    version: int
    service: str
    service_fingerprint: str
    sha256: str
    file: str
    columns: tuple[str, ...]
    dtype: str
    input: str
    output: str
    registered_at: Instant
    service_number: int

    @property
    def pinned_service(self) -> str:
        """The version of its service that the model is bound to, as lookups name it."""
        return f"{self.service}@{self.service_number}"
