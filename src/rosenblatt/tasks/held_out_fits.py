"""What held-out rows fit once weights are trained: probabilities, a threshold or several."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.tasks.calibration import Calibration
from rosenblatt.tasks.metrics import Threshold

NO_CONFUSION = np.zeros((0, 0), np.int64)
Scored = tuple[NDArray[Any], NDArray[Any]]  # scores of rows, and the number of what each has


class Wanted(NamedTuple):
    """What is asked of held-out rows."""

    calibrate: bool
    threshold: str | None  # the metric that it is best by
    moves: bool  # whether a bias can move, so that the answer changes where both are ½
    positive: bool  # whether a score of zero is above it


class HeldOutFits(NamedTuple):
    """What was fitted to held-out rows; None for what was not asked for, or not possible."""

    calibration: Calibration | None = None
    threshold: Threshold | None = None
    error: float | None = None  # of the most probable class
    confusion: NDArray[np.int64] = NO_CONFUSION  # rows of each class predicted as each
    arrays: dict[str, NDArray[Any]] | None = None  # that a task predicts by, as a model holds them
    figures: dict[str, Any] | None = None  # how good the answers by these are on the held-out rows
    folds: int = 0  # in which all rows were held out in turn; 0: some rows were, once
    n_rows: int = 0  # that all this was fitted to
