"""Metrics of weighted rows, beside scikit-learn's of rows that are really there so often."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import log_loss, roc_auc_score, root_mean_squared_error

from featurekit.consistency.attribution.metrics import Floats, Metric, check_truth, judge
from featurekit.errors import InputError

ROWS = 300


def plain(metric: Metric, scores: Floats, truth: Floats) -> float:
    match metric:
        case Metric.AUC:
            return float(roc_auc_score(truth, scores))
        case Metric.LOG_LOSS:
            return float(log_loss(truth, scores, labels=[0, 1]))
        case Metric.RMSE:
            return float(root_mean_squared_error(truth, scores))


@pytest.mark.parametrize("metric", Metric)
@pytest.mark.parametrize("digits", [16, 1, 0])
def test_a_row_that_counts_several_times_is_as_if_it_were_there_so_often(metric: Metric, digits: int) -> None:
    draw = np.random.default_rng(digits)
    scores = np.round(draw.random(ROWS), digits)  # of one digit or none, many are alike
    scores[:2] = 0.0, 1.0
    truth = (draw.random(ROWS) < 0.3).astype(float)
    weights = np.column_stack([np.ones(ROWS), draw.integers(0, 4, (ROWS, 5))]).astype(np.float32)

    found = judge(metric, scores.astype(np.float32), truth)(weights)

    for column in range(weights.shape[1]):
        times = weights[:, column].astype(int)
        expected = plain(metric, np.repeat(scores.astype(np.float32), times).astype(float), np.repeat(truth, times))
        assert found[column] == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_rows_of_one_outcome_alone_say_nothing() -> None:
    weights = np.array([[1.0, 1.0], [0.0, 1.0]])
    found = judge(Metric.AUC, np.array([0.2, 0.7]), np.array([0.0, 1.0]))(weights)
    assert np.isnan(found[0])
    assert found[1] == 1.0


@pytest.mark.parametrize(
    ("metric", "truth", "what"),
    [
        (Metric.AUC, [0.0, 2.0], "auc takes labels of 0 and 1"),
        (Metric.LOG_LOSS, [0.5], "log-loss takes labels of 0 and 1"),
        (Metric.AUC, [1.0, 1.0], "all labels are 1"),
        (Metric.RMSE, [float("nan")], "a label is no number"),
    ],
)
def test_labels_by_which_nothing_can_be_judged_are_refused(metric: Metric, truth: list[float], what: str) -> None:
    with pytest.raises(InputError, match=what):
        check_truth(metric, np.array(truth), "labels.csv")


def test_labels_by_which_it_can_are_not() -> None:
    check_truth(Metric.RMSE, np.array([3.5, -1.0]), "labels.csv")
    check_truth(Metric.LOG_LOSS, np.array([1.0, 1.0]), "labels.csv")
    check_truth(Metric.AUC, np.array([1.0, 0.0]), "labels.csv")
