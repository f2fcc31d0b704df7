"""Predictions: features looked up, put into the model's columns, run by its runtime."""

from __future__ import annotations

import hashlib
import math
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal, Protocol

import numpy as np

from featurekit.clock import Instant
from featurekit.errors import (
    FeaturekitError,
    FeaturesUnavailableError,
    KeyTypeError,
    ModelError,
    NotRegisteredError,
    OutsideError,
    RegistryError,
)
from featurekit.online.breaker import Elapsed
from featurekit.online.client import FeatureClient
from featurekit.online.columns import Codes
from featurekit.online.reason import Reason
from featurekit.online.result import Features
from featurekit.registry.model_record import ModelRecord
from featurekit.serving.runtime import Array, Device, ModelRuntime, OnnxRuntime
from featurekit.status import Status

OnUnavailable = Literal["refuse", "nan"]
_SHOWN_DIGITS: Final = 8
_SHOWN_NAMES: Final = 5


class ModelSource(Protocol):
    """Where model records and their files come from; a registry is one."""

    def model(self, name: str, version: int | None = None, /) -> ModelRecord:
        """Return a model's version, the newest where none is named; NotRegisteredError where there is none."""

    def model_path(self, record: ModelRecord, /) -> Path: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedModel:
    """A model's record and the runtime that holds it."""

    record: ModelRecord
    runtime: ModelRuntime


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What a model answers, and on what.

    `values` has a row for each entity, in the shape the model gives. `features` are what the model saw: where one is
    NULL, MISSING or EXPIRED (or UNAVAILABLE, for a caller who asked for that), it saw NaN. `provider` is what really
    ran it, such as CUDAExecutionProvider.
    """

    values: Array
    features: Features
    model: str
    version: int
    provider: str

    @property
    def statuses(self) -> Codes:
        """The `Status` of each feature of the service: a row per entity."""
        return self.features.statuses

    @property
    def as_of(self) -> Mapping[str, Instant | None]:
        """The refresh that answered for each view."""
        return self.features.as_of

    def to_python(self) -> Any:
        """Return a number (or a list of them) for one entity, a list of those for many."""
        width = math.prod(self.values.shape[1:])
        answers = self.values.reshape((-1,) if width == 1 else (-1, width)).tolist()
        return answers[0] if self.features.is_single else answers


class ModelClient:
    """Predicts with registered models; safe to share by threads.

        models = ModelClient(FeatureClient(url, project="flights", environment="prod"), registry)
        models.predict("delay", {"carrier": "UA"}, {"distance": 1400.0}).values

    A model is loaded when it is first asked for, in its newest version, and looks its features up in the version of its
    service that it was registered for, whichever serves. Every `look_s` seconds somebody looks, beside the requests,
    whether it was registered again: a newer version takes over when what it takes is what readers of its service get,
    or what the version before it took. `device` and `threads` are how each is run. The feature client stays the
    caller's to close.
    """

    def __init__(
        self,
        features: FeatureClient,
        models: ModelSource,
        *,
        device: Device = Device.AUTO,
        threads: int = 1,
        look_s: float = 10.0,
        elapsed: Elapsed = time.monotonic,
    ) -> None:
        self._features = features
        self._unlogged = features.unlogged()
        self._models = models
        self._device = device
        self._threads = threads
        self._loaded: dict[str, LoadedModel] = {}
        self._loading = threading.Lock()
        self._look_s = look_s
        self._elapsed = elapsed
        self._looked = elapsed()
        self._looking = threading.Lock()

    def predict(
        self,
        model: str,
        entities: Any,
        request: Any = None,
        *,
        at: datetime | Instant | None = None,
        on_unavailable: OnUnavailable = "refuse",
        timeout_ms: float | None = None,
        request_id: str | None = None,
    ) -> Prediction:
        """Return the model's answer for one entity or many; the arguments are those of `FeatureClient.lookup`.

        Raises ModelError where the store gives something else than the model was registered for: a model is served
        exactly what it was trained on, or it does not answer. Raises FeaturesUnavailableError where a feature that it
        takes is UNAVAILABLE for any row: an outage is nothing the model has learned. With `on_unavailable="nan"` it
        sees NaN.
        """
        loaded = self.load(model)
        try:
            features = self._lookup(loaded.record, entities, request, at, timeout_ms, request_id)
        except (KeyTypeError, NotRegisteredError, ModelError) as error:
            # It may have been registered again since: for what the service gives now, or for another service.
            newest = self._newest(loaded.record, error)
            if newest == loaded.record:
                raise
            features = self._lookup(newest, entities, request, at, timeout_ms, request_id)
            loaded = self._load(newest)  # only now: a version that does not fit yet leaves the loaded one in place
        if on_unavailable != "nan":
            _check_available(features, loaded.record)
        return Prediction(
            values=_run(loaded, tensor(features, loaded.record)),
            features=features,
            model=loaded.record.name,
            version=loaded.record.version,
            provider=loaded.runtime.provider,
        )

    def load(self, model: str) -> LoadedModel:
        """Return a model ready to run, loaded now if it was not yet."""
        found = self._loaded.get(model)
        if found is None:
            return self._load(self._models.model(model))
        if self._elapsed() - self._looked >= self._look_s:
            self._look_beside()
        return found

    def newest_service(self, model: str) -> str:
        """Return the pinned service of the model's newest version, or of the loaded one where the registry is away."""
        record = self.load(model).record
        try:
            return self._models.model(model).pinned_service
        except OutsideError:
            return record.pinned_service

    def close(self) -> None:
        """Let go of the loaded models."""
        self._loaded.clear()

    def _look_beside(self) -> None:
        """Look for newer versions, in a thread of its own: no request waits for a registry."""
        if self._looking.acquire(blocking=False):
            self._looked = self._elapsed()
            threading.Thread(target=self._look, name="newer models", daemon=True).start()

    def _look(self) -> None:
        try:
            for loaded in list(self._loaded.values()):
                with suppress(OutsideError, ModelError, NotRegisteredError):  # what is loaded answers on
                    self._look_at(loaded.record)
        finally:
            self._looking.release()

    def _look_at(self, record: ModelRecord) -> None:
        try:
            newest = self._models.model(record.name)
        except NotRegisteredError:
            self._loaded.pop(record.name, None)  # it was deleted
            return
        if newest == record:
            return
        same = newest.service_fingerprint == record.service_fingerprint
        if same or self._features.plan(newest.service).fingerprint == newest.service_fingerprint:
            self._load(newest)

    def _load(self, record: ModelRecord) -> LoadedModel:
        with self._loading:  # one thread loads, the others wait for it
            found = self._loaded.get(record.name)
            if found is None or found.record != record:
                path = self._models.model_path(record)
                found = load_model(record, path, device=self._device, threads=self._threads)
                self._loaded[record.name] = found
            return found

    def _newest(self, record: ModelRecord, error: FeaturekitError) -> ModelRecord:
        """Return the record of the model's newest version; `error` where that can't be told and says enough itself."""
        try:
            return self._models.model(record.name)
        except OutsideError:
            if isinstance(error, KeyTypeError):
                raise error from None  # most likely the question is wrong, whatever was registered since
            raise

    def _lookup(
        self,
        record: ModelRecord,
        entities: Any,
        request: Any,
        at: datetime | Instant | None,
        timeout_ms: float | None,
        request_id: str | None,
    ) -> Features:
        """Return what the model's service gives, if that is what the model was registered for."""
        # Logged below, for the model that takes it: what it refuses is served to nobody.
        features = self._unlogged.lookup(record.pinned_service, entities, request, at=at, timeout_ms=timeout_ms)
        if features.fingerprint != record.service_fingerprint:
            raise ModelError(
                f"model {record.name} v{record.version} is not for what lookups of {record.pinned_service} give",
                where=f"service {features.service}",
                why=f"it was registered for {record.service_fingerprint[:_SHOWN_DIGITS]}, and lookups give"
                f" {features.fingerprint[:_SHOWN_DIGITS]}: the store is not the one of this registry",
                try_="look at the settings of the store and the registry",
            )
        self._features.log_served(features, request_id=request_id, model=record.name, model_version=record.version)
        return features


def load_model(record: ModelRecord, path: Path, *, device: Device = Device.AUTO, threads: int = 1) -> LoadedModel:
    """Return a registered model ready to run; ModelError where its file is not the one that was registered."""
    _check_content(record, path)
    return LoadedModel(record=record, runtime=OnnxRuntime(path, device=device, threads=threads))


def tensor(features: Features, record: ModelRecord) -> Array:
    """Return the features as the model takes them: its columns in its order and dtype, NaN where there is no value."""
    with np.errstate(over="ignore"):  # beyond float32 is infinity, as it was in training
        return features.matrix(record.dtype, names=record.columns)


def _check_available(features: Features, record: ModelRecord) -> None:
    everywhere = features.statuses == Status.UNAVAILABLE
    if not everywhere.any():
        return
    taken = [features.names.index(name) for name in record.columns]
    away, reasons = everywhere[:, taken], features.reasons[:, taken]
    if not away.any():
        return
    names = [name for name, is_away in zip(record.columns, away.any(axis=0), strict=True) if is_away]
    causes = sorted({Reason(code).name for code in reasons[away].tolist()})
    raise FeaturesUnavailableError(
        f"features of model {record.name} are UNAVAILABLE for {int(away.any(axis=1).sum())} of {len(features)} rows",
        where=", ".join(names[:_SHOWN_NAMES])
        + (f" and {len(names) - _SHOWN_NAMES} more" * (len(names) > _SHOWN_NAMES)),
        why=f"{', '.join(causes)}: that says nothing about the entity, and the model would take it for a missing value",
        try_=f"look up {record.service} for the reason of each; once its views are materialized and the store answers,"
        ' ask again. In Python, on_unavailable="nan" scores without them',
    )


def _run(loaded: LoadedModel, rows: Array) -> Array:
    record, runtime = loaded.record, loaded.runtime
    if len(rows):
        return runtime.run(record.input, rows, record.output)
    # Some operators refuse a tensor without rows; one row tells the shape of no answers.
    one = np.full((1, rows.shape[1]), np.nan, dtype=rows.dtype)
    return runtime.run(record.input, one, record.output)[:0]


def _check_content(record: ModelRecord, path: Path) -> None:
    try:
        with path.open("rb") as content:
            found = hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as error:
        raise RegistryError(
            f"the file of model {record.name} v{record.version} can't be read",
            where=str(path),
            why=error.strerror,
            try_="register the model again, from its ONNX file",
        ) from error
    if found != record.sha256:
        raise ModelError(
            f"the file of model {record.name} v{record.version} is not the one that was registered",
            where=str(path),
            why=f"its SHA-256 is {found[:_SHOWN_DIGITS]}…, and {record.sha256[:_SHOWN_DIGITS]}… was registered",
            try_="register the model again, from its ONNX file",
        )
