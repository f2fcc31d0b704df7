"""A set of the log as a model sees it, scored by a real ONNX model: what fits, and what is told where nothing does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from onnx import helper

from featurekit import model_loss
from featurekit.consistency.attribution.attribution import attribute
from featurekit.consistency.attribution.metrics import Metric
from featurekit.errors import InputError, ModelError, NotRegisteredError
from featurekit.model_loss import LossModel, labelled_rows, registered_model
from featurekit.registry.models import drafted
from featurekit.registry.registry import Registry
from featurekit.serving.runtime import OnnxRuntime
from tests.registry.test_registry import RECORD
from tests.serving.onnx_models import echo, save, tensor

COLUMNS = ("v.amount", "v.orders", "v.is_new", "v.rate")


def model_of(path: Path, columns: tuple[str, ...] = COLUMNS, *, output: str = "answer") -> LossModel:
    return LossModel(
        name="delay v1",
        service="score",
        runtime=OnnxRuntime(path),
        columns=columns,
        dtype="float32",
        input="features",
        output=output,
    )


def weighted(path: Path) -> Path:
    """A model that adds up its columns, a missing one as 0."""
    nodes = [
        helper.make_node("IsNaN", ["features"], ["missing"]),
        helper.make_node("Constant", [], ["zero"], value_float=0.0),
        helper.make_node("Where", ["missing", "zero", "features"], ["filled"]),
        helper.make_node("ReduceSum", ["filled", "axes"], ["answer"], keepdims=1),
    ]
    nodes.insert(0, helper.make_node("Constant", [], ["axes"], value_ints=[1]))
    return save(path, nodes, [tensor("features", ["rows", len(COLUMNS)])], [tensor("answer", ["rows", 1])])


def table_of(**columns: Any) -> pa.Table:
    given: dict[str, Any] = {
        "request_id": ["a", "b", "b"],
        "late": [1, 0, 1],
        "v.amount": pa.array([Decimal("1.50"), None, Decimal("2.00")], pa.decimal128(10, 2)),
        "v.orders": pa.array([(1 << 53) + 1, 0, None], pa.int64()),
        "v.is_new": [True, False, None],
        "v.rate": pa.array([0.1, float("nan"), float("inf")], pa.float64()),
    }
    given |= {f"{name}__recomputed": given[name] for name in COLUMNS}
    return pa.table({**given, **columns})


def test_a_model_sees_each_side_in_its_own_type_and_nulls_as_nan(tmp_path: Path) -> None:
    model = model_of(echo(tmp_path / "echo.onnx", len(COLUMNS)))
    rows = labelled_rows(table_of(), model, "late", "labels")
    nan = np.nan
    expected = np.array([[1.5, 2.0**53, 1, 0.1], [nan, 0, 0, nan], [2.0, nan, nan, np.inf]], np.float32)
    assert rows.served.dtype == np.float32
    np.testing.assert_array_equal(rows.served, expected)
    np.testing.assert_array_equal(rows.recomputed, expected)
    assert not rows.differs.any()
    assert (rows.truth.tolist(), rows.requests.tolist()) == ([1.0, 0.0, 1.0], [0, 1, 1])


def test_what_the_model_can_not_tell_apart_does_not_differ(tmp_path: Path) -> None:
    model = model_of(echo(tmp_path / "echo.onnx", len(COLUMNS)))
    nearly = pa.array([0.1 + 1e-12, float("nan"), float("inf")])
    none = pa.array([0.1, None, float("inf")], pa.float64())
    for served in (nearly, none):
        assert not labelled_rows(table_of(**{"v.rate": served}), model, "late", "labels").differs.any()
    other = labelled_rows(table_of(**{"v.orders": pa.array([1, 0, None], pa.int64())}), model, "late", "labels")
    assert np.argwhere(other.differs).tolist() == [[0, 1]]


def test_what_was_served_wrong_costs_what_the_model_says_of_it(tmp_path: Path) -> None:
    model = model_of(weighted(tmp_path / "sum.onnx"))
    served = {"v.orders": pa.array([0, 0, 8], pa.int64()), "v.rate": pa.array([0.1, 0.0, 0.0])}
    right = {f"{name}__recomputed": served[name] for name in served} | {
        "v.orders__recomputed": pa.array([4, 0, 8], pa.int64())
    }
    rows = labelled_rows(table_of(**served, **right, late=[7.0, 0.0, 10.0]), model, "late", "labels")
    found = attribute(rows, model.score, Metric.RMSE, resamples=20)
    truth = np.array([7.0, 0.0, 10.0])
    assert found.served.value == pytest.approx(np.sqrt(np.mean((truth - [2.6, 0, 10]) ** 2)))
    assert found.recomputed.value == pytest.approx(np.sqrt(np.mean((truth - [6.6, 0, 10]) ** 2)))
    (part,) = found.parts
    assert (part.name, part.cells) == ("v.orders", 1)
    assert part.cost.value == pytest.approx(found.gap.value)
    assert (found.rows, found.requests) == (3, 2)


@pytest.mark.parametrize(
    ("change", "label", "error", "what"),
    [
        ({}, "delayed", InputError, "the labels have no column delayed"),
        ({"late": ["yes", "no", "no"]}, "late", InputError, "label late is string, no number"),
        ({"v.rate": None}, "late", InputError, "delay v1 takes v.rate, which the service does not give"),
    ],
)
def test_a_set_that_the_model_and_the_label_do_not_fit_is_refused(
    tmp_path: Path, change: dict[str, Any], label: str, error: type[Exception], what: str
) -> None:
    model = model_of(echo(tmp_path / "echo.onnx", len(COLUMNS)))
    table = table_of(**{name: values for name, values in change.items() if values is not None})
    table = table.drop_columns([name for name, values in change.items() if values is None])
    with pytest.raises(error, match=what):
        labelled_rows(table, model, label, "labels")


def two_columns(path: Path) -> Path:
    nodes = [helper.make_node("Softmax", ["features"], ["answer"])]
    return save(path, nodes, [tensor("features", ["rows", 2])], [tensor("answer", ["rows", 2])])


@pytest.mark.parametrize(
    ("make", "values", "what"),
    [
        (lambda path: echo(path, 1), [[np.nan], [1.0]], "answers NaN for 1 of 2 rows"),
        (lambda path: echo(path, 3), [[1.0, 2.0, 3.0]], "has 3 numbers a row"),
    ],
)
def test_answers_that_no_metric_takes_are_refused(
    tmp_path: Path, make: Callable[[Path], Path], values: list[list[float]], what: str
) -> None:
    with pytest.raises(ModelError, match=what):
        model_of(make(tmp_path / "model.onnx")).score(np.array(values, np.float32))


def test_of_two_probabilities_the_one_of_1_counts_and_rows_are_run_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = model_of(two_columns(tmp_path / "two.onnx"))
    values = np.random.default_rng(1).normal(size=(10, 2)).astype(np.float32)
    found = model.score(values)
    assert found == pytest.approx(1 / (1 + np.exp(values[:, 0] - values[:, 1])), rel=1e-5)
    monkeypatch.setattr(model_loss, "_AT_ONCE", 3)
    assert (model.score(values) == found).all()


def test_log_loss_takes_probabilities(tmp_path: Path) -> None:
    score = model_loss._checked(model_of(echo(tmp_path / "echo.onnx", 1)), Metric.LOG_LOSS)
    assert score(np.array([[0.5]], np.float32)).tolist() == [0.5]
    with pytest.raises(ModelError, match=r"answers 0\.5 to 1\.5"):
        score(np.array([[0.5], [1.5]], np.float32))


def test_a_registered_model_is_named_with_or_without_its_version(tmp_path: Path) -> None:
    registry = Registry(f"sqlite:///{tmp_path / 'r.db'}", project="shop", environment="dev", models=tmp_path / "models")
    for width in (1, 2):
        with drafted(echo(tmp_path / "echo.onnx", width), registry.models_folder) as draft:
            told = replace(RECORD, sha256=draft.sha256, file=draft.file, columns=COLUMNS[:width], output="answer")
            registry.add_model(told, draft)
    assert registered_model("delay", registry).columns == COLUMNS[:2]
    first = registered_model("delay@1", registry)
    assert (first.name, first.service, first.columns, first.dtype) == ("delay v1", "score", COLUMNS[:1], "float32")
    assert first.score(np.array([[0.25]])).tolist() == [0.25]
    with pytest.raises(NotRegisteredError, match="has no version 3"):
        registered_model("delay@3", registry)
    with pytest.raises(InputError, match="names no model"):
        registered_model("delay@one", registry)
    registry.model_path(registry.model("delay", 1)).write_bytes(b"another")
    with pytest.raises(ModelError, match="is not the one that was registered"):
        registered_model("delay@1", registry)
