"""A small model on feature values: will a flight be late? Fitted by scikit-learn, handed on as ONNX."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import onnx
import pyarrow as pa
import pyarrow.compute as pc
from onnx import TensorProto, helper, numpy_helper
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from featurekit.errors import InputError

INPUT: Final = "features"
OUTPUT: Final = "probability"
_OPSET: Final = 17  # 2022: new enough for these operators, old enough for the runtimes that are out there
_IR_VERSION: Final = 8  # the one that came with opset 17
_HELD_OUT: Final = 5  # one row in five

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainedModel:
    """An ONNX model: `features` (float32 [N, k], NaN where a value is missing) in, `probability` (float32 [N, 1]) out.

    Its metadata `feature_columns` is a JSON list that names the k columns in order.
    """

    onnx_bytes: bytes
    auc: float  # on the rows that were held out
    rows: int  # in all: four in five to fit, one in five held out


def train_model(table: pa.Table, feature_columns: Sequence[str], label: str, seed: int) -> TrainedModel:
    """Return a logistic regression of `label` (0 or 1) on the columns, with what it is worth on rows held out.

    A missing value counts as the column's mean. The same rows in the same order and the same seed give the same bytes.
    InputError for a column that is not there or holds no numbers, and for labels from which nothing can be learnt.
    """
    values = feature_matrix(table, feature_columns)
    truth = _labels(table, label)
    order = np.random.default_rng(seed).permutation(len(truth))
    held_out, fitted = order[: len(order) // _HELD_OUT], order[len(order) // _HELD_OUT :]
    for rows, use in ((fitted, "fit"), (held_out, "test")):
        if len(np.unique(truth[rows])) < 2:
            raise InputError(
                f"the {len(rows)} rows to {use} the model with do not hold both labels",
                why="a model that only ever saw one outcome tells nothing",
                try_="take a longer period, or another seed",
            )
    pipeline = fit_pipeline(values[fitted], truth[fitted])
    auc = roc_auc_score(truth[held_out], pipeline.predict_proba(values[held_out])[:, 1])
    model = to_onnx(pipeline, tuple(feature_columns))
    return TrainedModel(onnx_bytes=model.SerializeToString(deterministic=True), auc=float(auc), rows=len(truth))


def feature_matrix(table: pa.Table, feature_columns: Sequence[str]) -> Floats:
    """Return the columns as the tensor a model is served: float32 [rows, columns], null as NaN, true as 1."""
    return np.column_stack([_numbers(table, name) for name in feature_columns])


def fit_pipeline(values: Floats, truth: npt.NDArray[np.float64]) -> Pipeline:
    """Return the fitted steps: mean imputer, scaler, logistic regression."""
    steps = [
        ("impute", SimpleImputer(keep_empty_features=True)),  # a column without any value counts as 0, not as an error
        ("scale", StandardScaler()),
        ("classify", LogisticRegression(max_iter=1000)),
    ]
    # From the float32 that serving has, but summed in float64: the fit then depends on the data, not on rounding.
    return Pipeline(steps).fit(values.astype(np.float64), truth)


def to_onnx(pipeline: Pipeline, feature_columns: tuple[str, ...]) -> onnx.ModelProto:
    """Return the fitted steps as a graph of plain tensor operators.

    Not through a converter: those use the classical-ML operators, which ONNX Runtime has for CPUs only, and name
    graphs at random, so that the same model has other bytes each time.
    """
    impute, scale, classify = pipeline["impute"], pipeline["scale"], pipeline["classify"]
    constants = {
        "means": impute.statistics_,
        "centres": scale.mean_,
        "scales": scale.scale_,
        "weights": classify.coef_.T,
        "intercept": classify.intercept_,
    }
    nodes = [
        helper.make_node("IsNaN", [INPUT], ["missing"]),
        helper.make_node("Where", ["missing", "means", INPUT], ["filled"]),
        helper.make_node("Sub", ["filled", "centres"], ["centred"]),
        helper.make_node("Div", ["centred", "scales"], ["scaled"]),
        helper.make_node("MatMul", ["scaled", "weights"], ["weighted"]),
        helper.make_node("Add", ["weighted", "intercept"], ["logit"]),
        helper.make_node("Sigmoid", ["logit"], [OUTPUT]),
    ]
    graph = helper.make_graph(
        nodes,
        "late_flight",
        [helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, ["rows", len(feature_columns)])],
        [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ["rows", 1])],
        [numpy_helper.from_array(np.asarray(value, dtype=np.float32), name) for name, value in constants.items()],
    )
    model = helper.make_model(
        graph, producer_name="featurekit", ir_version=_IR_VERSION, opset_imports=[helper.make_opsetid("", _OPSET)]
    )
    helper.set_model_props(model, {"feature_columns": json.dumps(feature_columns)})
    onnx.checker.check_model(model, full_check=True)
    return model


def _numbers(table: pa.Table, name: str) -> Floats:
    column = _column(table, name)
    kind = column.type
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        raise InputError(
            f"the column {name} is {kind}",
            why="a model of numbers takes numbers and booleans",
            try_=f"leave {name} out, or declare a feature that makes a number of it",
        )
    if pa.types.is_boolean(kind):
        column = column.cast(pa.int8())
    # Unsafe, since above 2^24 an integer is not a float32; a model of float32 can't tell such neighbours apart anyway.
    numbers: npt.NDArray[Any] = pc.cast(column, pa.float64(), safe=False).to_numpy()
    with np.errstate(over="ignore"):  # looked for below, with the column's name
        narrow: Floats = numbers.astype(np.float32)
    if np.isinf(narrow).any():
        raise InputError(
            f"the column {name} holds values beyond float32", try_="bound the feature with least and greatest"
        )
    return narrow


def _labels(table: pa.Table, name: str) -> npt.NDArray[np.float64]:
    column = _column(table, name)
    known = set(pc.unique(column).to_pylist())
    if not known <= {0, 1}:
        raise InputError(
            f"the label {name} holds {sorted(map(str, known - {0, 1}))[:3]}",
            why="a label is 0 or 1, in every row",
            try_="drop the rows whose outcome is not known",
        )
    return np.asarray(column.to_pylist(), dtype=np.float64)


def _column(table: pa.Table, name: str) -> pa.ChunkedArray:
    if name not in table.column_names:
        raise InputError(f"there is no column {name}", try_=f"one of {', '.join(table.column_names)}")
    return table[name]
