"""What held-out rows fit once weights are trained, and what a model's record tells of them."""

from collections.abc import Mapping
from typing import Any, NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from rosenblatt.tasks.calibration import Calibration
from rosenblatt.tasks.metrics import Threshold

NO_CONFUSION = np.zeros((0, 0), np.int64)
Scored = tuple[NDArray[Any], NDArray[Any]]  # scores of rows, and the number of what each has


class TriedFacts(TypedDict, total=False):
    """What the record of a training has of the rows that it was tried on."""

    held_out_rows: int
    held_out_by: Any  # files, groups or folds, by name; None: each by itself
    held_out_error: Any  # a float; None without such rows
    held_out_labels: Any  # how good sets of labels were on them, by name


class TriedRows(NamedTuple):
    """What the record of a training tells of the rows that it was tried on, held out of it."""

    n_rows: int = 0
    error: float | None = None  # on them; None where there were none
    by: Mapping[str, Any] | None = None  # the files, groups or folds that say which they were
    figures: Mapping[str, Any] | None = None  # how good sets of labels were on them

    @classmethod
    def told(cls, training: TriedFacts) -> "TriedRows":
        """Return what a record tells."""
        return cls(
            training.get("held_out_rows", 0),
            training.get("held_out_error"),
            training.get("held_out_by"),
            training.get("held_out_labels"),
        )

    def record(self) -> TriedFacts:
        """Return what a record has of them."""
        return {
            "held_out_rows": self.n_rows,
            "held_out_by": self.by,
            "held_out_error": self.error,
        }


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
