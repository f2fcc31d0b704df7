"""Small ONNX models, made for the tests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from onnx import TensorProto, helper, save_model
from onnx.onnx_ml_pb2 import ModelProto, NodeProto, ValueInfoProto

_OPSET = 17
_IR_VERSION = 8


def save(
    path: Path,
    nodes: Sequence[NodeProto],
    inputs: Sequence[ValueInfoProto],
    outputs: Sequence[ValueInfoProto],
    *,
    columns: Sequence[str] | str | None = None,
) -> Path:
    """Write a model; `columns` is its list of feature columns, or any text in their place."""
    model: ModelProto = helper.make_model(
        helper.make_graph(list(nodes), "test", list(inputs), list(outputs)),
        ir_version=_IR_VERSION,
        opset_imports=[helper.make_opsetid("", _OPSET), helper.make_opsetid("ai.onnx.ml", 3)],
    )
    if columns is not None:
        text = columns if isinstance(columns, str) else json.dumps(list(columns))
        helper.set_model_props(model, {"feature_columns": text})
    save_model(model, path)
    return path


def tensor(name: str, shape: Sequence[int | str], kind: int = TensorProto.FLOAT) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, list(shape))


def echo(path: Path, width: int | str, *, kind: int = TensorProto.FLOAT, columns: Sequence[str] | None = None) -> Path:
    """A model whose answer is its input: what a tensor holds can be seen from outside."""
    node = helper.make_node("Identity", ["features"], ["answer"])
    inputs, outputs = [tensor("features", ["rows", width], kind)], [tensor("answer", ["rows", width], kind)]
    return save(path, [node], inputs, outputs, columns=columns)


def classifier(path: Path, width: int, *, floats: int = 1) -> Path:
    """A model with a label of integers and `floats` outputs of floats."""
    nodes = [helper.make_node("ArgMax", ["features"], ["label"], axis=1, keepdims=0)]
    nodes += [helper.make_node("Softmax", ["features"], [f"scores_{number}"]) for number in range(floats)]
    outputs = [tensor("label", ["rows"], TensorProto.INT64)]
    outputs += [tensor(f"scores_{number}", ["rows", width]) for number in range(floats)]
    return save(path, nodes, [tensor("features", ["rows", width])], outputs)
