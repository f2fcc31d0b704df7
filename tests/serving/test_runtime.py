"""ONNX Runtime: what a model takes and gives, which device it really got, and its errors as ours."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper

from featurekit.errors import ModelError, RuntimeUnavailableError
from featurekit.serving.runtime import CPU_PROVIDER, CUDA_PROVIDER, Device, OnnxRuntime, Tensor
from tests.serving.onnx_models import classifier, echo, save, tensor


def test_a_model_says_what_it_takes_and_gives(tmp_path: Path) -> None:
    runtime = OnnxRuntime(classifier(tmp_path / "m.onnx", 3))

    assert runtime.inputs == (Tensor(name="features", kind="tensor(float)", dtype="float32", shape=(None, 3)),)
    assert runtime.outputs == (
        Tensor(name="label", kind="tensor(int64)", dtype=None, shape=(None,)),
        Tensor(name="scores_0", kind="tensor(float)", dtype="float32", shape=(None, 3)),
    )


def test_metadata_is_what_the_file_says_of_itself(tmp_path: Path) -> None:
    runtime = OnnxRuntime(echo(tmp_path / "m.onnx", 2, columns=["a.x", "a.y"]))

    assert runtime.metadata == {"feature_columns": '["a.x", "a.y"]'}


def test_the_named_output_is_returned(tmp_path: Path) -> None:
    runtime = OnnxRuntime(classifier(tmp_path / "m.onnx", 2))
    rows = np.array([[1, 0], [0, 1]], dtype=np.float32)

    assert runtime.run("features", rows, "label").tolist() == [0, 1]


def test_threads_may_run_one_model_at_once(tmp_path: Path) -> None:
    runtime = OnnxRuntime(echo(tmp_path / "m.onnx", 2), threads=2)
    batches = [np.full((3, 2), number, dtype=np.float32) for number in range(64)]

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda rows: runtime.run("features", rows, "answer"), batches))

    assert all(np.array_equal(answer, rows) for answer, rows in zip(answers, batches, strict=True))


@pytest.mark.parametrize("device", [Device.AUTO, Device.CPU])
def test_the_provider_is_the_one_that_really_runs_the_model(tmp_path: Path, device: Device) -> None:
    runtime = OnnxRuntime(echo(tmp_path / "m.onnx", 2), device=device)

    has_gpu = CUDA_PROVIDER in onnxruntime.get_available_providers()
    assert runtime.provider in ({CPU_PROVIDER, CUDA_PROVIDER} if has_gpu and device is Device.AUTO else {CPU_PROVIDER})


@pytest.mark.skipif(CUDA_PROVIDER in onnxruntime.get_available_providers(), reason="this ONNX Runtime has CUDA")
def test_a_gpu_that_is_required_and_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RuntimeUnavailableError, match="there is no GPU") as caught:
        OnnxRuntime(echo(tmp_path / "m.onnx", 2), device=Device.GPU)

    assert caught.value.exit_code == 3
    assert caught.value.why == "this installation of ONNX Runtime has no CUDA provider"
    assert caught.value.try_


@pytest.mark.parametrize("content", [b"", b"hello", bytes(1000)])
def test_a_file_that_is_no_model_is_a_mistake_of_its_giver(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(content)

    with pytest.raises(ModelError, match=r"m\.onnx is not a model that ONNX Runtime can load") as caught:
        OnnxRuntime(path)

    assert caught.value.where == str(path)
    assert caught.value.why


def test_a_model_that_fails_on_its_input_says_so(tmp_path: Path) -> None:
    # A Reshape to a fixed number of rows is found out only when it runs.
    shape = helper.make_tensor("shape", TensorProto.INT64, [2], [7, 2])
    nodes = [
        helper.make_node("Constant", [], ["shape"], value=shape),
        helper.make_node("Reshape", ["features", "shape"], ["answer"]),
    ]
    path = save(tmp_path / "m.onnx", nodes, [tensor("features", ["rows", 2])], [tensor("answer", [7, 2])])

    with pytest.raises(ModelError, match="the model fails on these values"):
        OnnxRuntime(path).run("features", np.zeros((3, 2), dtype=np.float32), "answer")
