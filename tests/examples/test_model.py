from __future__ import annotations

import json

import numpy as np
import onnx
import onnxruntime
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from sklearn.pipeline import Pipeline

from featurekit.clock import parse_instant
from featurekit.errors import InputError
from featurekit.examples.flights import FlightSources, label_rows
from featurekit.examples.model import INPUT, OUTPUT, Floats, feature_matrix, fit_pipeline, to_onnx, train_model

COLUMNS = ("distance", "hour", "seats", "year", "is_far")


@pytest.fixture(scope="module")
def flights(flight_sources: FlightSources) -> pa.Table:
    """Return a week of labelled flights with columns of each kind, seats and year null for planes not listed."""
    folder = flight_sources.schedule.path.parent
    labels = label_rows(folder, parse_instant("2013-11-01"), parse_instant("2013-11-08")).table
    planes = pq.read_table(flight_sources.planes.path).select(["tailnum", "seats", "year"])
    table = labels.join(planes, keys="tailnum").sort_by("flight_id")
    table = table.append_column("hour", pc.hour(table["scheduled_at"]))
    return table.append_column("is_far", pc.greater(table["distance"], 1500))


def run_onnx(model: bytes, values: Floats) -> Floats:
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    (probability,) = session.run([OUTPUT], {INPUT: values})
    found: Floats = probability
    return found


def fitted(table: pa.Table) -> tuple[Pipeline, Floats]:
    values = feature_matrix(table, COLUMNS)
    return fit_pipeline(values, table["late"].to_numpy()), values


def test_onnx_gives_what_scikit_learn_gives_with_and_without_missing_values(flights: pa.Table) -> None:
    pipeline, values = fitted(flights)
    nothing_known = np.full((1, len(COLUMNS)), np.nan, dtype=np.float32)
    served = np.concatenate([values, nothing_known])
    assert 0 < np.isnan(values).any(axis=1).sum() < len(values)
    expected = pipeline.predict_proba(served.astype(np.float64))[:, 1]
    found = run_onnx(to_onnx(pipeline, COLUMNS).SerializeToString(), served)
    assert found.shape == (len(served), 1)
    assert found.dtype == np.float32
    assert np.abs(found[:, 0] - expected).max() < 1e-6


def test_model_tells_late_flights_from_others_better_than_chance(flights: pa.Table) -> None:
    trained = train_model(flights, COLUMNS, "late", seed=7)
    assert trained.rows == flights.num_rows
    assert 0.55 < trained.auc < 0.8


def test_same_rows_and_seed_give_the_same_bytes(flights: pa.Table) -> None:
    first, second = (train_model(flights, COLUMNS, "late", seed=7) for _ in range(2))
    assert first == second
    assert train_model(flights, COLUMNS, "late", seed=8).onnx_bytes != first.onnx_bytes


def test_model_names_its_columns_in_order(flights: pa.Table) -> None:
    trained = train_model(flights, COLUMNS, "late", seed=7)
    model = onnx.load_from_string(trained.onnx_bytes)
    assert json.loads({prop.key: prop.value for prop in model.metadata_props}["feature_columns"]) == list(COLUMNS)
    assert [value.name for value in model.graph.input] == [INPUT]
    assert [value.name for value in model.graph.output] == [OUTPUT]


def test_model_uses_no_operators_that_run_on_cpus_only(flights: pa.Table) -> None:
    pipeline, _ = fitted(flights)
    assert {node.domain for node in to_onnx(pipeline, COLUMNS).graph.node} == {""}


def test_column_without_any_value_changes_no_answer() -> None:
    empty = pa.nulls(200, pa.float64())
    table = pa.table({"x": np.arange(200.0), "empty": empty, "late": [0.0, 1.0] * 100})
    trained = train_model(table, ("x", "empty"), "late", seed=1)
    found = run_onnx(trained.onnx_bytes, np.array([[3.0, np.nan], [3.0, 99.0]], dtype=np.float32))
    assert found[0] == found[1]


def test_null_is_nan_and_a_boolean_is_a_number() -> None:
    table = pa.table({"flag": [True, None, False], "count": pa.array([1, None, 3], pa.int64())})
    matrix = feature_matrix(table, ("flag", "count"))
    assert matrix.dtype == np.float32
    np.testing.assert_array_equal(matrix, np.array([[1, 1], [np.nan, np.nan], [0, 3]], dtype=np.float32))


@pytest.mark.parametrize(
    ("columns", "label", "what"),
    [
        (("absent",), "late", "there is no column absent"),
        (("name",), "late", "the column name is string"),
        (("huge",), "late", "the column huge holds values beyond float32"),
        (("x",), "x", "the label x holds ['2.0', '3.0']"),
        (("x",), "unknown", "the label unknown holds ['None']"),
        (("x",), "never", "the 4 rows to fit the model with do not hold both labels"),
    ],
)
def test_table_that_can_not_be_learnt_from_is_an_input_error(columns: tuple[str, ...], label: str, what: str) -> None:
    table = pa.table(
        {
            "x": [0.0, 1.0, 2.0, 3.0, 0.0],
            "name": list("abcde"),
            "huge": [1e300, 0.0, 0.0, 0.0, 0.0],
            "late": [0.0, 1.0, 0.0, 1.0, 0.0],
            "unknown": [0.0, 1.0, None, 1.0, 0.0],
            "never": [0.0, 0.0, 0.0, 0.0, 0.0],
        }
    )
    with pytest.raises(InputError) as raised:
        train_model(table, columns, label, seed=1)
    assert raised.value.what == what
