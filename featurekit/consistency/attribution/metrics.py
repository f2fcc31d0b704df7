"""What a model is worth on labelled rows, each counted any number of times: so one sort is enough for all resamples.

Every metric is `of` scores and truth, and then takes weights: an array with a row for each scored row and a column for
each way to count them. It returns a value for each column, NaN where those rows tell nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final, assert_never

import numpy as np
import numpy.typing as npt

from featurekit.errors import InputError

Floats = npt.NDArray[np.float64]
Scores = npt.NDArray[np.floating[Any]]
Judge = Callable[[Scores], Floats]

_CLIP: Final = float(np.finfo(np.float64).eps)  # scikit-learn's: a 0 that was wrong costs 36, not infinity


class Metric(StrEnum):
    """How a model is judged: `auc` is better when higher, `log-loss` (nats) and `rmse` (the label's unit) lower."""

    AUC = "auc"
    LOG_LOSS = "log-loss"
    RMSE = "rmse"

    @property
    def sign(self) -> int:
        """1 where higher is better, -1 where lower is."""
        return 1 if self is Metric.AUC else -1


def check_truth(metric: Metric, truth: Floats, where: str) -> None:
    """Raise InputError where nothing can be judged by these labels."""
    if not np.isfinite(truth).all():
        raise InputError(
            "a label is no number", where=where, why="NULL, NaN or infinite", try_="leave such labels out of the file"
        )
    if metric is Metric.RMSE:
        return
    found = np.unique(truth)
    if not np.isin(found, (0.0, 1.0)).all():
        raise InputError(
            f"{metric} takes labels of 0 and 1",
            where=where,
            why=f"they hold {', '.join(f'{value:g}' for value in found[:5])}",
            try_="--metric rmse for a number; or a column of 0 and 1",
        )
    if metric is Metric.AUC and len(found) < 2:
        raise InputError(
            f"all labels are {found[0]:g}",
            where=where,
            why="AUC says how a model tells two outcomes apart",
            try_="a longer period, or --metric log-loss",
        )


def judge(metric: Metric, scores: Scores, truth: Floats) -> Judge:
    """Return the metric of some scores, as a function of how often each row counts."""
    match metric:
        case Metric.AUC:
            return _auc(scores, truth)
        case Metric.LOG_LOSS:
            sure = np.clip(scores.astype(np.float64), _CLIP, 1 - _CLIP)
            return _mean(-np.where(truth == 1, np.log(sure), np.log1p(-sure)))
        case Metric.RMSE:
            mean = _mean((scores.astype(np.float64) - truth) ** 2)
            return lambda weights: np.sqrt(mean(weights))
        case _:
            assert_never(metric)


def _mean(losses: Floats) -> Judge:
    return lambda weights: (losses @ weights) / weights.sum(axis=0)


def _auc(scores: Scores, truth: Floats) -> Judge:
    """Return the share of pairs of both outcomes that the scores put in the right order; half of those they tie."""
    order = np.argsort(scores, kind="stable")
    ascending = scores[order]
    starts = np.flatnonzero(np.append(True, ascending[1:] != ascending[:-1]))
    positive = truth[order].astype(bool)[:, None]

    def of(weights: Scores) -> Floats:
        counted = weights[order].astype(np.float64)
        ones = np.add.reduceat(np.where(positive, counted, 0.0), starts, axis=0)
        zeros = np.add.reduceat(np.where(positive, 0.0, counted), starts, axis=0)
        below = np.cumsum(zeros, axis=0) - zeros / 2
        pairs = ones.sum(axis=0) * zeros.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(pairs > 0, (ones * below).sum(axis=0) / pairs, np.nan)

    return of
