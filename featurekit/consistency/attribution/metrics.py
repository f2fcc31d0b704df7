"""What a model is worth on labelled rows, as sums over rows: so that rows can be drawn again and again at little cost.

A metric turns scores into a few terms for each row, and their sums, over whichever rows were drawn, into its value.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final, NamedTuple, assert_never

import numpy as np
import numpy.typing as npt

from featurekit.errors import InputError

Floats = npt.NDArray[np.float64]
Scores = npt.NDArray[np.floating[Any]]

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


class Terms(NamedTuple):
    """What each row adds to a metric, a column for each sum; `value` is the metric by such sums, row by row.

    It is NaN where the rows that were summed say nothing.
    """

    rows: Floats
    value: Callable[[Floats], Floats]

    @property
    def of_all(self) -> float:
        """The metric on all rows, each once."""
        return float(self.value(self.rows.sum(axis=0)[None])[0])


def terms(metric: Metric, scores: Scores, truth: Floats) -> Terms:
    """Return the metric of some scores."""
    match metric:
        case Metric.AUC:
            return _auc(scores, truth)
        case Metric.LOG_LOSS:
            sure = np.clip(scores.astype(np.float64), _CLIP, 1 - _CLIP)
            return _mean(-np.where(truth == 1, np.log(sure), np.log1p(-sure)))
        case Metric.RMSE:
            mean = _mean((scores.astype(np.float64) - truth) ** 2)
            return Terms(mean.rows, lambda sums: np.sqrt(mean.value(sums)))
        case _:
            assert_never(metric)


def _mean(losses: Floats) -> Terms:
    return Terms(np.column_stack([losses, np.ones_like(losses)]), lambda sums: sums[:, 0] / sums[:, 1])


def _auc(scores: Scores, truth: Floats) -> Terms:
    """Return the share of pairs of both outcomes that the scores put in the right order; half of those they tie.

    A row's term is its share of right pairs with all rows of the other outcome. Of rows that are drawn these make the
    AUC but for a part in the number of rows, which is the draw's effect on those it is paired with at once.
    """
    order = np.argsort(scores, kind="stable")
    ascending, is_one = scores[order], truth[order] == 1
    starts = np.flatnonzero(np.append(True, ascending[1:] != ascending[:-1]))
    group = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(ascending))))
    ones, zeros = np.add.reduceat(is_one, starts, dtype=float), np.add.reduceat(~is_one, starts, dtype=float)
    zeros_below, ones_above = np.cumsum(zeros) - zeros / 2, ones.sum() - np.cumsum(ones) + ones / 2
    won = np.empty(len(scores))
    won[order] = np.where(is_one, zeros_below[group] / zeros.sum(), ones_above[group] / ones.sum())
    one = (truth == 1).astype(np.float64)
    auc = float(won @ one) / float(ones.sum())

    def value(sums: Floats) -> Floats:
        with np.errstate(invalid="ignore"):  # a draw without one of the outcomes
            return sums[:, 0] / sums[:, 2] + sums[:, 1] / sums[:, 3] - auc

    return Terms(np.column_stack([won * one, won * (1 - one), one, 1 - one]), value)
