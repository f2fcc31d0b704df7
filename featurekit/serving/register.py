"""Registering a model: its file is tried out against the service it is bound to, before anything is kept."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from featurekit.clock import Instant
from featurekit.errors import ModelError, NotRegisteredError
from featurekit.plan import LookupPlan, decode_plan
from featurekit.registry.model_record import ModelRecord
from featurekit.registry.models import drafted
from featurekit.registry.registry import Registry
from featurekit.serving.runtime import Device, ModelRuntime, OnnxRuntime, Tensor
from featurekit.types import Boolean, DataType, is_numeric

COLUMNS_KEY: Final = "feature_columns"
"""The name under which an ONNX file's metadata may list its input's columns, as a JSON array."""

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,62}")
_TRIAL_ROWS: Final = 2  # not 1: a model that was exported for one row fails here


def register_model(
    registry: Registry,
    *,
    name: str,
    onnx: Path,
    service: str,
    now: Instant,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    output: str | None = None,
) -> ModelRecord:
    """Return the record of a model's next version, bound to the service as it is registered now.

    The input's columns are `columns`, or what the file's metadata lists, or the service's outputs but for `exclude`, in
    the service's order. A column that is not a number or a boolean is refused: leaving it out is a choice that somebody
    must have made. `output` names the output to answer with, where the model has several. Raises ModelError with
    nothing kept, NotRegisteredError for a service that nobody registered.
    """
    if not _NAME.fullmatch(name):
        raise ModelError(
            f"{name!r} can't be a model's name", try_="letters, digits, _ and -, not starting with a digit or -"
        )
    version = registry.deployed().services.get(service)
    if version is None:
        raise NotRegisteredError(
            f"service {service!r} is not registered", where=str(registry), try_="featurekit register"
        )
    plan = decode_plan(version.lookup_plan)
    with drafted(onnx, registry.models_folder) as draft:
        tried = try_out(draft.path, plan, shown=onnx, columns=columns, exclude=exclude, output=output)
        record = ModelRecord(
            name=name,
            version=0,  # given with the record's place in the registry
            service=service,
            service_fingerprint=version.fingerprint.data,
            sha256=draft.sha256,
            file=draft.file,
            columns=tried.columns,
            dtype=tried.dtype,
            input=tried.input,
            output=tried.output,
            registered_at=now,
            service_number=version.number,
        )
        return registry.add_model(record, draft)


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedModel:
    """A model's file that takes a service's outputs: `columns` in the order of its input, whose type is `dtype`."""

    runtime: ModelRuntime
    columns: tuple[str, ...]
    dtype: str
    input: str
    output: str


def try_out(
    path: Path,
    plan: LookupPlan,
    *,
    shown: Path,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    output: str | None = None,
) -> TriedModel:
    """Return a model's file as it takes a service's outputs, as `register_model` chooses them; it ran on nulls.

    `shown` is what the file is called in errors. ModelError where it can't take them.
    """
    runtime = _load(path, shown)
    input_ = _input(runtime, shown)
    chosen = _columns(plan, runtime, shown, columns, exclude)
    _check_width(input_, chosen, shown)
    answer = _output(runtime, shown, output)
    _try_out(runtime, input_, answer, len(chosen), shown)
    return TriedModel(runtime=runtime, columns=chosen, dtype=str(input_.dtype), input=input_.name, output=answer.name)


def _load(draft: Path, onnx: Path) -> ModelRuntime:
    try:
        # Always on the CPU: every model runs there, and registering needs no device.
        return OnnxRuntime(draft, device=Device.CPU)
    except ModelError as error:  # told of the file that was given, not of our copy
        raise ModelError(
            error.what.replace(draft.name, onnx.name),
            where=str(onnx),
            why=str(error.why).replace(str(draft), str(onnx)),
            try_=error.try_,
        ) from error


def _input(runtime: ModelRuntime, onnx: Path) -> Tensor:
    if len(runtime.inputs) != 1:
        names = ", ".join(f"{part.name} {part.kind}" for part in runtime.inputs)
        raise ModelError(
            f"the model has {len(runtime.inputs)} inputs, not one",
            where=str(onnx),
            why=f"featurekit hands over one tensor, a column for each feature; the model takes {names or 'nothing'}",
            try_="concatenate the inputs into one inside the model, before exporting it",
        )
    (only,) = runtime.inputs
    if only.dtype is None:
        raise ModelError(
            f"the model's input {only.name!r} is {only.kind}",
            where=str(onnx),
            why="a feature can be NULL, and only a tensor of floats can say so, as NaN",
            try_="export it with an input of float32 or float64, and cast inside the model",
        )
    if len(only.shape) != 2 or only.shape[0] is not None:
        shape = [size if size is not None else "?" for size in only.shape]
        raise ModelError(
            f"the model's input {only.name!r} has shape {shape}",
            where=str(onnx),
            why="it is handed any number of rows, and a column for each feature",
            try_="export it with shape [any, number of features]",
        )
    return only


def _columns(
    plan: LookupPlan, runtime: ModelRuntime, onnx: Path, columns: Sequence[str] | None, exclude: Sequence[str]
) -> tuple[str, ...]:
    types = {field.name: field.type for field in plan.outputs}
    own = _own_columns(runtime, onnx)
    for name in (*(columns or ()), *(own or ()), *exclude):
        if name not in types:
            close = difflib.get_close_matches(name, types, n=1)
            raise ModelError(
                f"service {plan.service!r} has no feature {name!r}",
                where=str(onnx),
                try_=f"{close[0]!r}" if close else f"one of {', '.join(types)}",
            )
    if columns is not None and own is not None and tuple(columns) != own:
        raise ModelError(
            "the columns given are not those that the model's file lists",
            where=str(onnx),
            why=f"its {COLUMNS_KEY} are {', '.join(own)}",
            try_="leave the columns out: the file's are taken",
        )
    chosen = tuple(columns) if columns is not None else own
    if chosen is None:
        chosen = tuple(name for name in types if name not in exclude)
    for name in chosen:
        _check_number(name, types[name], onnx)
    if len(set(chosen)) != len(chosen):
        raise ModelError("a column is named twice", where=str(onnx), try_="name each feature once")
    return chosen


def _own_columns(runtime: ModelRuntime, onnx: Path) -> tuple[str, ...] | None:
    text = runtime.metadata.get(COLUMNS_KEY)
    if text is None:
        return None
    try:
        names = json.loads(text)
    except ValueError:
        names = None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ModelError(
            f"the model's metadata {COLUMNS_KEY!r} is no JSON list of names",
            where=str(onnx),
            try_=f'write it as ["view.feature", …], or leave {COLUMNS_KEY!r} away',
        )
    return tuple(names)


def _check_number(name: str, kind: DataType, onnx: Path) -> None:
    if not (is_numeric(kind) or isinstance(kind, Boolean)):
        raise ModelError(
            f"feature {name} is a {kind}",
            where=str(onnx),
            why="a tensor holds numbers",
            try_=f"leave it out by name (--exclude {name}), or declare a feature that makes a number of it",
        )


def _check_width(input_: Tensor, columns: tuple[str, ...], onnx: Path) -> None:
    width = input_.shape[1]
    if width is not None and width != len(columns):
        raise ModelError(
            f"the model takes {width} columns, and {len(columns)} were chosen",
            where=str(onnx),
            why=f"chosen: {', '.join(columns)}",
            try_="name the columns it was trained on, in their order",
        )


def _output(runtime: ModelRuntime, onnx: Path, name: str | None) -> Tensor:
    by_name = {part.name: part for part in runtime.outputs}
    tensors = [part for part in runtime.outputs if part.kind.startswith("tensor(")]
    listed = ", ".join(f"{part.name} {part.kind}" for part in runtime.outputs)
    if name is not None:
        if name not in by_name:
            raise ModelError(f"the model has no output {name!r}", where=str(onnx), try_=f"one of {listed}")
        if by_name[name] not in tensors:
            raise ModelError(
                f"the model's output {name!r} is {by_name[name].kind}",
                where=str(onnx),
                why="an answer is one array of numbers",
                try_="export it as a tensor (for a classifier, with zipmap off)",
            )
        return by_name[name]
    if len(runtime.outputs) == len(tensors) == 1:
        return tensors[0]
    # A classifier has its label beside its probabilities: the one output of floats is meant.
    floats = [part for part in tensors if part.dtype is not None]
    if len(floats) == 1:
        return floats[0]
    raise ModelError(
        f"the model has {len(runtime.outputs)} outputs, and it is not plain which to answer with",
        where=str(onnx),
        why=f"they are {listed}",
        try_="name one (--output NAME); a classifier's probabilities must be a tensor (zipmap off)",
    )


def _try_out(runtime: ModelRuntime, input_: Tensor, output: Tensor, width: int, onnx: Path) -> None:
    """Run the model on rows of nulls: what it can't do there it would not do for an entity nobody has seen."""
    rows = np.full((_TRIAL_ROWS, width), np.nan, dtype=input_.dtype)
    try:
        values = runtime.run(input_.name, rows, output.name)
    except ModelError as error:
        raise ModelError(
            f"the model can't run on {width} columns of NaN",
            where=str(onnx),
            why=error.why,
            try_="look at its input's width; impute missing values inside the model",
        ) from error
    if values.ndim < 1 or values.shape[0] != _TRIAL_ROWS:
        raise ModelError(
            f"the model's output {output.name!r} has shape {list(values.shape)} for {_TRIAL_ROWS} rows",
            where=str(onnx),
            why="an answer has a row for each row asked about",
            try_="export it with an output of shape [any, …], or name another output",
        )
