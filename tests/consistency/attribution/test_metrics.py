"""Metrics of weighted rows, beside scikit-learn's of rows that are really there so often."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import log_loss, roc_auc_score, root_mean_squared_error

from featurekit.consistency.attribution.metrics import Floats, Metric, check_truth, terms
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


def world(digits: int, rows: int = ROWS) -> tuple[Floats, Floats, np.random.Generator]:
    """Return scores, of which many are alike where they have few digits, and what came."""
    draw = np.random.default_rng(digits)
    scores = np.round(draw.random(rows), digits).astype(np.float32).astype(float)
    scores[:2] = 0.0, 1.0
    return scores, (draw.random(rows) < 0.2 + 0.5 * scores).astype(float), draw


@pytest.mark.parametrize("metric", Metric)
@pytest.mark.parametrize("digits", [16, 1, 0])
def test_all_rows_are_worth_what_scikit_learn_says(metric: Metric, digits: int) -> None:
    scores, truth, _ = world(digits)
    assert terms(metric, scores, truth).of_all == pytest.approx(plain(metric, scores, truth), rel=1e-9)


@pytest.mark.parametrize("metric", [Metric.LOG_LOSS, Metric.RMSE])
def test_a_row_that_is_drawn_several_times_is_as_if_it_were_there_so_often(metric: Metric) -> None:
    scores, truth, draw = world(3)
    found = terms(metric, scores, truth)
    times = draw.integers(0, 4, (5, ROWS))
    expected = [plain(metric, np.repeat(scores, each), np.repeat(truth, each)) for each in times]
    assert found.value(times @ found.rows) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("digits", [16, 1])
def test_the_auc_of_rows_that_are_drawn_is_near_that_of_rows_that_are_there_so_often(digits: int) -> None:
    scores, truth, draw = world(digits)
    found = terms(Metric.AUC, scores, truth)
    times = np.array([np.bincount(draw.integers(0, ROWS, ROWS), minlength=ROWS) for _ in range(200)])
    told = found.value(times @ found.rows)
    exact = np.array([plain(Metric.AUC, np.repeat(scores, each), np.repeat(truth, each)) for each in times])
    assert np.abs(told - exact).max() < 2 / ROWS
    assert told.std() == pytest.approx(exact.std(), rel=0.03)
    assert np.quantile(told, [0.025, 0.975]) == pytest.approx(np.quantile(exact, [0.025, 0.975]), abs=1 / ROWS)


def test_a_draw_of_one_outcome_alone_says_nothing() -> None:
    found = terms(Metric.AUC, np.array([0.2, 0.7]), np.array([0.0, 1.0]))
    assert np.isnan(found.value(np.array([[2.0, 0.0]]) @ found.rows)).all()
    assert found.of_all == 1.0


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
