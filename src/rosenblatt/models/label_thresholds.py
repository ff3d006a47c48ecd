"""From which score on a label is predicted, where a row may have several."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

PRIOR = 50  # labels of all kinds that join those of one where its threshold is chosen


def fitted_thresholds(scores: NDArray[Any], truth: NDArray[Any]) -> NDArray[np.float64]:
    """Return for each label the score above which its F1 on these rows is largest.

    Of equals it is the one nearest to 0. A label that few rows have would take its threshold from
    chance: counts of all labels, worth ``PRIOR`` rows that have it, are added to its own.
    """
    # Between scores of labels that are there and the highest of as many that are not; 0 first
    there = scores[truth]
    others = np.sort(scores[~truth])[-max(len(there), 1) :]
    steps = np.linspace(0.0, 1.0, 101)
    ends = [np.quantile(part, steps) for part in (there, others) if len(part)]
    marks = np.unique(np.concatenate(ends))
    grid = np.array([0.0, *(marks[1:] + marks[:-1]) / 2.0])
    grid = grid[np.argsort(np.abs(grid), kind="stable")]
    above = (scores > t for t in grid)
    right, said = np.swapaxes([((one & truth).sum(0), one.sum(0)) for one in above], 0, 1)
    here = truth.sum(0)
    every = max(int(here.sum()), 1)
    usual = PRIOR * right.sum(1, keepdims=True) / every
    usually_said = PRIOR * (said.sum(1, keepdims=True) / every + 1.0)
    f1 = 2.0 * (right + usual) / (said + here + usually_said)
    found: NDArray[np.float64] = grid[f1.argmax(0)]
    return found
