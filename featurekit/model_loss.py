"""What a model lost by being served other values than it was trained on: the log, labels and the model, wired.

log + labels ─▶ `from_log`: served beside recomputed ─▶ the model's columns, twice ─▶ `consistency.attribution`
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from featurekit.clock import Instant
from featurekit.compiled import CompiledService
from featurekit.consistency.attribution.attribution import (
    ORDERS,
    RESAMPLES,
    Attribution,
    Matrix,
    Rows,
    Score,
    attribute,
)
from featurekit.consistency.attribution.metrics import Floats, Metric, Scores, check_truth
from featurekit.errors import InputError, ModelError
from featurekit.from_log import RECOMPUTED, build_from_log
from featurekit.from_log_files import read_label_table
from featurekit.from_log_values import FromLogSpec, LogCount
from featurekit.lookup_plan import lookup_plan
from featurekit.offline.engine import BatchEngine
from featurekit.registry.registry import Registry
from featurekit.served_columns import REQUEST_ID
from featurekit.serving.model import load_model
from featurekit.serving.register import try_out
from featurekit.serving.runtime import Device, ModelRuntime

_AT_ONCE: Final = 1 << 16  # rows that a model is run on at once
_ONNX: Final = ".onnx"


@dataclass(frozen=True, slots=True, kw_only=True)
class LossSpec:
    """What is asked: whose `label`, a column of the labels' file, is judged by which metric, and how surely."""

    log: FromLogSpec
    label: str
    metric: Metric = Metric.AUC
    resamples: int = RESAMPLES
    orders: int = ORDERS
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LossModel:
    """A model that is scored: `columns` in the order of its input, whose NumPy type is `dtype`."""

    name: str
    service: str
    runtime: ModelRuntime
    columns: tuple[str, ...]
    dtype: str
    input: str
    output: str

    def score(self, values: Matrix) -> Scores:
        """Return one number a row. ModelError where the model gives several, or none."""
        parts = [
            self.runtime.run(self.input, values[at : at + _AT_ONCE].astype(self.dtype), self.output)
            for at in range(0, len(values), _AT_ONCE)
        ]
        scores = np.concatenate(parts)
        scores = scores.reshape(len(scores), -1)
        if scores.shape[1] not in (1, 2):
            raise ModelError(
                f"output {self.output!r} of {self.name} has {scores.shape[1]} numbers a row",
                why="a metric takes one, or the probabilities of 0 and 1",
                try_="name another output, or export the model with one",
            )
        found: Scores = scores[:, -1]
        if np.isnan(found).any():
            raise ModelError(
                f"{self.name} answers NaN for {int(np.isnan(found).sum()):,} of {len(found):,} rows",
                why="it does not say what a missing value means",
                try_="impute missing values inside the model",
            )
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLoss:
    """What a model lost on the labelled requests of a log; `count` says what became of labels and rows."""

    model: str
    service: str
    label: str
    count: LogCount
    attribution: Attribution


def registered_model(text: str, registry: Registry) -> LossModel:
    """Return a registered model by `name` or `name@version`; NotRegisteredError where there is none."""
    name, _, number = text.partition("@")
    if number and not number.isdigit():
        raise InputError(f"{text!r} names no model", try_="NAME, NAME@VERSION, or the path of an ONNX file")
    record = registry.model(name, int(number) if number else None)
    loaded = load_model(record, registry.model_path(record), device=Device.CPU)
    return LossModel(
        name=f"{record.name} v{record.version}",
        service=record.service,
        runtime=loaded.runtime,
        columns=record.columns,
        dtype=record.dtype,
        input=record.input,
        output=record.output,
    )


def model_of_file(path: Path, service: CompiledService) -> LossModel:
    """Return the model of an ONNX file that takes a service's outputs, as `model register` would choose them."""
    tried = try_out(path, lookup_plan(service), shown=path)
    return LossModel(
        name=path.name,
        service=service.name,
        runtime=tried.runtime,
        columns=tried.columns,
        dtype=tried.dtype,
        input=tried.input,
        output=tried.output,
    )


def is_file(model: str) -> bool:
    """Return whether a text means a model's file and not a registered one."""
    return model.endswith(_ONNX)


def attribute_loss(
    service: CompiledService,
    model: LossModel,
    spec: LossSpec,
    *,
    engine: Callable[[], BatchEngine],
    now: Instant,
    causes: Mapping[str, str] | None = None,
) -> ModelLoss:
    """Return what the model lost on what the log says was served, by field, or by `causes` of the service's outputs.

    InputError where log, labels and model do not fit; answers that the store could not give in full are left out.
    """
    _check_label(read_label_table(spec.log.labels, service), spec.label, str(spec.log.labels))
    with tempfile.TemporaryDirectory(prefix="featurekit-attribute-") as folder:
        made = build_from_log(service, spec.log, Path(folder) / "set", now=now, engine=engine)
        table = pq.read_table(made.path)
    rows = labelled_rows(table, model, spec.label, str(spec.log.labels))
    check_truth(spec.metric, rows.truth, f"{spec.log.labels}, column {spec.label}")
    found = attribute(
        rows,
        _checked(model, spec.metric),
        spec.metric,
        causes=causes,
        resamples=spec.resamples,
        orders=spec.orders,
        seed=spec.seed,
    )
    return ModelLoss(model=model.name, service=service.name, label=spec.label, count=made.count, attribution=found)


def labelled_rows(table: pa.Table, model: LossModel, label: str, where: str) -> Rows:
    """Return a set of `from_log` with recomputed values as what the model sees of each side."""
    _check_label(table, label, where)
    if lacking := next((name for name in model.columns if name not in table.column_names), None):
        raise InputError(
            f"{model.name} takes {lacking}, which the service does not give",
            why="it was made for another version of it",
            try_="the definitions that were served, or another model",
        )
    served = np.column_stack([_numbers(table.column(name), model.dtype) for name in model.columns])
    recomputed = np.column_stack([_numbers(table.column(f"{name}{RECOMPUTED}"), model.dtype) for name in model.columns])
    requests = pc.dictionary_encode(table.column(REQUEST_ID).combine_chunks()).indices
    return Rows(
        columns=model.columns,
        served=served,
        recomputed=recomputed,
        truth=np.asarray(_numbers(table.column(label), "float64"), np.float64),
        requests=requests.to_numpy().astype(np.int64),
    )


def _check_label(table: pa.Table, label: str, where: str) -> None:
    if label not in table.column_names:
        raise InputError(f"the labels have no column {label}", where=where, try_="--label names one of theirs")
    kind = table.schema.field(label).type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        raise InputError(f"label {label} is {kind}, no number", where=where)


def _numbers(column: pa.ChunkedArray, dtype: str) -> Matrix:
    """Return numbers in the model's type, NaN where there is none, true as 1."""
    values = column.combine_chunks()
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.int8())
    if pa.types.is_decimal(values.type):
        values = values.cast(pa.float64())
    known = np.asarray(values.is_valid().to_numpy(zero_copy_only=False))
    found = values.fill_null(0).to_numpy(zero_copy_only=False)
    with np.errstate(over="ignore"):  # beyond float32 is infinity, as it was in training
        numbers: Floats = found.astype(dtype)
    return np.where(known, numbers, np.asarray(np.nan, dtype))


def _checked(model: LossModel, metric: Metric) -> Score:
    def score(values: Matrix) -> Scores:
        scores = model.score(values)
        if metric is Metric.LOG_LOSS and len(scores) and not 0 <= scores.min() <= scores.max() <= 1:
            raise ModelError(
                f"{model.name} answers {scores.min():g} to {scores.max():g}",
                why="log-loss takes probabilities",
                try_="another output of the model; or --metric auc, which takes any order",
            )
        return scores

    return score
