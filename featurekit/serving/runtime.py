"""Model runtimes: a tensor in, an array out, and which device really did it. ONNX Runtime is the one in process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Protocol

import numpy.typing as npt
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as _ort

from featurekit.errors import FeaturekitError, ModelError, RuntimeUnavailableError

Array = npt.NDArray[Any]

CPU_PROVIDER: Final = "CPUExecutionProvider"
CUDA_PROVIDER: Final = "CUDAExecutionProvider"
_SEVERITY_FATAL: Final = 4
# ONNX Runtime's exceptions share no class of their own.
_FAILURES: Final = (
    _ort.Fail,
    _ort.InvalidArgument,
    _ort.NoSuchFile,
    _ort.NoModel,
    _ort.EngineError,
    _ort.RuntimeException,
    _ort.InvalidProtobuf,
    _ort.NotImplemented,
    _ort.InvalidGraph,
    _ort.EPFail,
    RuntimeError,
    ValueError,
)
_DTYPES: Final = {"tensor(float16)": "float16", "tensor(float)": "float32", "tensor(double)": "float64"}


class Device(StrEnum):
    AUTO = "auto"  # a GPU where there is one
    CPU = "cpu"
    GPU = "gpu"  # a GPU or an error


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """An input or output of a model.

    `kind` is the runtime's word for its type, `dtype` the NumPy name where it is a tensor of floats. `shape` has an int
    for each dimension of fixed size and None for each that is free.
    """

    name: str
    kind: str
    dtype: str | None
    shape: tuple[int | None, ...]


class ModelRuntime(Protocol):
    """One loaded model; safe to run from several threads."""

    @property
    def provider(self) -> str:
        """What really runs the model, such as CUDAExecutionProvider: found out after loading, not asked for."""

    @property
    def inputs(self) -> tuple[Tensor, ...]: ...

    @property
    def outputs(self) -> tuple[Tensor, ...]: ...

    @property
    def metadata(self) -> Mapping[str, str]:
        """What the model's file says about itself."""

    def run(self, input_: str, tensor: Array, output: str) -> Array:
        """Return the named output for a tensor of rows. Raises ModelError, or RuntimeUnavailableError on a device."""


class OnnxRuntime:
    """An ONNX model in this process.

    `threads` is what one call may use; 1 is best where many calls run at once. With Device.GPU it raises
    RuntimeUnavailableError where no GPU takes the model, with Device.AUTO it then runs on the CPU, and `provider` says
    so. Raises ModelError for a file that is no model.
    """

    def __init__(self, path: Path, *, device: Device = Device.AUTO, threads: int = 1) -> None:
        self._path = path
        self._session = _session(path, device, threads)
        # Not what was asked for and not what the package has: a CUDA session without a GPU is a CPU session.
        self.provider: str = self._session.get_providers()[0]
        if device is Device.GPU and self.provider != CUDA_PROVIDER:
            raise _no_gpu(path, why=f"ONNX Runtime fell back to {self.provider}")
        self.inputs = tuple(_tensor(part) for part in self._session.get_inputs())
        self.outputs = tuple(_tensor(part) for part in self._session.get_outputs())
        self.metadata: Mapping[str, str] = dict(self._session.get_modelmeta().custom_metadata_map)

    def run(self, input_: str, tensor: Array, output: str) -> Array:
        try:
            (values,) = self._session.run([output], {input_: tensor})
        except _FAILURES as error:
            raise self._failed(error) from error
        result: Array = values
        return result

    def _failed(self, error: Exception) -> FeaturekitError:
        if self.provider != CPU_PROVIDER:
            return RuntimeUnavailableError(
                f"the model can't run on {self.provider}",
                where=str(self._path),
                why=_first_line(error),
                try_="look at the device (nvidia-smi), or serve from the CPU",
            )
        return ModelError(
            "the model fails on these values",
            where=str(self._path),
            why=_first_line(error),
            try_="run it on the same rows where it was trained",
        )


def _session(path: Path, device: Device, threads: int) -> onnxruntime.InferenceSession:
    has_cuda = CUDA_PROVIDER in onnxruntime.get_available_providers()
    if device is Device.GPU and not has_cuda:
        raise _no_gpu(path, why="this installation of ONNX Runtime has no CUDA provider")
    load = _loader(path, threads)
    try:
        if has_cuda and device is not Device.CPU:
            try:
                return load([CUDA_PROVIDER, CPU_PROVIDER])
            except _FAILURES as error:
                if device is Device.GPU:
                    raise _no_gpu(path, why=_first_line(error)) from error
        return load([CPU_PROVIDER])
    except _FAILURES as error:
        raise ModelError(
            f"{path.name} is not a model that ONNX Runtime can load",
            where=str(path),
            why=_first_line(error),
            try_="export it as one ONNX file, its weights inside, for an operator set this runtime knows",
        ) from error


def _loader(path: Path, threads: int) -> Callable[[list[str]], onnxruntime.InferenceSession]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = _SEVERITY_FATAL  # what goes wrong is raised; its log would go to stderr as well

    def load(providers: list[str]) -> onnxruntime.InferenceSession:
        # Its own fallback prints to stdout and replaces the session in the middle of a run.
        return onnxruntime.InferenceSession(str(path), options, providers=providers, enable_fallback=0)

    return load


def _tensor(part: Any) -> Tensor:
    shape = part.shape if isinstance(part.shape, list) else []
    return Tensor(
        name=part.name,
        kind=part.type,
        dtype=_DTYPES.get(part.type),
        shape=tuple(size if isinstance(size, int) else None for size in shape),
    )


def _no_gpu(path: Path, *, why: str) -> RuntimeUnavailableError:
    return RuntimeUnavailableError(
        "there is no GPU to run the model on",
        where=str(path),
        why=why,
        try_="pip install onnxruntime-gpu on a machine with a CUDA driver, or don't require a GPU",
    )


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
